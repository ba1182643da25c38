"""rubato.repeat: how many blocks it takes, when it is warm, and what it says of what it could not know. In virtual time."""

import math
import random
import sys
import unittest

import jobs

sys.path.insert(0, str(jobs.PYTHON))
from rubato import _repeat  # noqa: E402


class Made:
    """A function of `call_s` on a GPU that draws `watts`, warms to `warm_c` with a time constant of 20 s, and scatters."""

    def __init__(self, call_s=0.01, watts=200.0, scatter=0.01, warm_c=70.0, knows=True):
        self.call_s, self.watts, self.scatter, self.warm_c, self.knows = call_s, watts, scatter, warm_c, knows
        self.s, self.calls, self.chance = 0.0, 0, random.Random(7)

    def now(self):
        return self.s

    def temperature(self):
        return self.warm_c - (self.warm_c - 30) * math.exp(-self.s / 20) if self.warm_c else None

    def block(self, calls):
        self.s += calls * self.call_s
        self.calls += calls
        made = self

        class Window:
            seconds = calls * made.call_s
            joules = seconds * made.watts * made.chance.gauss(1, made.scatter) if made.knows else None
            band_calibration_joules = None if joules is None else 0.05 * joules
            why = None if made.knows else "there is no GPU"

        return Window()

    def measured(self, target=0.01, seconds=120.0):
        return _repeat.measure(self.block, self.temperature, self.now, target, seconds)


class Repeat(unittest.TestCase):
    def test_a_call_is_measured_once_it_is_warm(self):
        told = Made().measured(seconds=240)
        self.assertAlmostEqual(told.joules, 2.0, delta=0.06)
        self.assertAlmostEqual(told.seconds, 0.01, places=9)
        self.assertAlmostEqual(told.watts, 200, delta=6)
        self.assertLessEqual(told.joules_half_width, 0.01 * told.joules)
        self.assertAlmostEqual(told.band_calibration_joules, 0.1, delta=0.01)
        self.assertTrue(told.steady)
        self.assertIsNone(told.why)
        # 40 °C to go: less than 1 °C in 10 s after 20 s * ln(40 * (e^0.5 - 1)) = 65 s.
        self.assertGreater(told.warm_up_s, 55)
        self.assertIn("J", repr(told))

    def test_a_noisier_one_takes_more_blocks_and_the_interval_holds(self):
        blocks = [Made(scatter=s, warm_c=30).measured().blocks for s in (0.002, 0.02)]
        self.assertEqual(blocks[0], 5)
        self.assertGreater(blocks[1], 10)
        held = 0
        for seed in range(400):
            made = Made(scatter=0.02, warm_c=30)
            made.chance = random.Random(seed)
            told = made.measured()
            held += abs(told.joules - 2.0) <= told.joules_half_width
        # Stopping where the interval happens to be narrow costs some of its 90 %.
        self.assertGreater(held / 400, 0.80)

    def test_a_slow_call_is_a_block_by_itself(self):
        made = Made(call_s=7.0, warm_c=30)
        told = made.measured()
        self.assertEqual(told.calls, told.blocks)
        self.assertAlmostEqual(told.seconds, 7.0)

    def test_time_that_runs_out_and_warmth_that_does_not_come_are_said(self):
        told = Made(scatter=0.5, warm_c=30).measured(seconds=60)
        self.assertIn("not known to 0.01 within 60 s", told.why)
        self.assertAlmostEqual(told.joules, 2.0, delta=1)
        self.assertIn("steady temperature", Made(warm_c=300).measured(seconds=60).why)
        told = Made(warm_c=None).measured()
        self.assertIn("does not tell it", told.why)
        self.assertLess(told.warm_up_s, 10)

    def test_without_a_gpu_the_time_is_known_and_the_reason_is_said(self):
        told = Made(knows=False, warm_c=None).measured()
        self.assertEqual((told.joules, told.watts, told.why), (None, None, "there is no GPU"))
        self.assertAlmostEqual(told.seconds, 0.01)
        self.assertEqual(repr(told), "<rubato.Repeated: there is no GPU>")
        self.assertEqual(told.blocks, 5)


class RepeatInAProgram(jobs.JobTest):
    def test_what_the_function_raises_is_raised_and_its_window_ends(self):
        result = self.run_job(
            """
            import rubato
            def broken(): raise ValueError("mine")
            try: rubato.repeat(broken, name="broken")
            except ValueError as error: print(error)
            """,
            RUBATO_BINARY="/nonexistent",
        )
        self.assertEqual((result.code, result.out, result.err), (0, "mine\n", ""))
        self.assertEqual([(m.kind, m.name) for m in result.marks], [("window begin", "broken"), ("window end", "broken")])


if __name__ == "__main__":
    unittest.main()
