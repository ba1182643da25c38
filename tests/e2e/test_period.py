"""rubato period on traces made here and on a recorded training; bad traces lose nothing but what is bad in them."""

import json
import random
import statistics
import unittest

from harness import MachineTest

PERIOD_S = 1.6
DETECTORS = ("rubato", "gpoeo")


def rows(seconds=60, load=None, seed=1):
    """A sensor read about twenty times a second, with jitter."""
    rng = random.Random(seed)
    load = load or (lambda t: 0.9 if t % PERIOD_S < 0.65 * PERIOD_S else 0.1)
    t = 0.0
    while t < seconds:
        now = load(t)
        yield t, 60 + 180 * now + rng.gauss(0, 2), min(100, max(0, 100 * now + rng.gauss(0, 2))), 1410
        t += rng.uniform(0.04, 0.06)


def text_of(points, header="time_s,power_w,sm_util_pct,sm_clock_mhz"):
    return header + "\n" + "".join("%.4f,%.2f,%.1f,%d\n" % point for point in points)


class PeriodTest(MachineTest):
    def setUp(self):
        self.box = self.machine(rate=40)

    def trace(self, text):
        file = self.box.folder / "trace.csv"
        file.write_bytes(text.encode() if isinstance(text, str) else text)
        return file

    def said(self, text, *words):
        done = self.box.run("period", "--trace", self.trace(text), "--json", *words)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)


class Traces(PeriodTest):
    def test_every_detector_finds_the_period_of_a_steady_load(self):
        for detector in DETECTORS:
            found = self.said(text_of(rows()), "--detector", detector)
            self.assertEqual(found["schema"], "rubato.period/1")
            self.assertEqual(found["detector"], detector)
            self.assertIs(found["periodic"], True)
            tolerance = 0.02 if detector == "rubato" else 0.1
            for key in ("period_s", "period_first_s", "period_last_s"):
                self.assertAlmostEqual(found[key] / PERIOD_S, 1, delta=tolerance, msg=(detector, key))
            self.assertEqual(found["relation"], "exact")
            self.assertTrue(0 < found["confidence"] <= 1)
            self.assertTrue(0 < found["decided_after_s"] < 60)
            self.assertIsNone(found["progress_rate"], "there is a period: nothing stands in for it")
            self.assertEqual(found["trace"]["columns"], ["power_w", "sm_util_pct", "sm_clock_mhz"])
            self.assertEqual(found["trace"]["dropped_points"], 0)

    def test_rubatos_detector_is_the_default(self):
        self.assertEqual(self.said(text_of(rows()))["detector"], "rubato")

    def test_a_load_without_iterations_is_told_so_and_a_rate_stands_in(self):
        rng = random.Random(3)
        ends, level = [0.0], [0.5]
        while ends[-1] < 120:
            ends.append(ends[-1] + rng.expovariate(1 / 1.2))
            level.append(rng.random())
        load = lambda t: level[next(i for i, end in enumerate(ends) if t <= end)]
        text = text_of(rows(120, load))
        for detector in DETECTORS:
            found = self.said(text, "--detector", detector)
            self.assertIs(found["periodic"], False, detector)
            self.assertIsNone(found["period_s"])
            self.assertIsNone(found["relation"])
            self.assertEqual(found["progress_rate"]["kind"], "busy_time")
            self.assertTrue(0 < found["progress_rate"]["per_second"] <= 1)

    def test_too_short_a_trace_is_undecided_and_says_why(self):
        for text in (text_of(rows(1)), "time_s,power_w\n", "time_s,power_w\n1,100\n"):
            for detector in DETECTORS:
                found = self.said(text, "--detector", detector)
                self.assertIsNone(found["periodic"])
                self.assertIsNone(found["confidence"])
                self.assertTrue(found["why"])

    def test_the_page_says_what_was_found_in_one_screen(self):
        done = self.box.run("period", "--trace", self.trace(text_of(rows())))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"An iteration takes 1\.(5|6)\d* s .*confidence 0\.\d\d|confidence 1\.00")
        self.assertIn("power_w, sm_util_pct, sm_clock_mhz", done.stdout)
        self.assertLessEqual(max(map(len, done.stdout.splitlines())), 80)


class BadTraces(PeriodTest):
    def test_what_is_bad_is_dropped_counted_and_named(self):
        lines = text_of(rows()).splitlines()
        lines[20] = "0.95,nan,1e99,-5"
        lines[40] = "soon,100,50,1410"
        lines.insert(60, lines[59])
        found = self.said("# from a friend\n" + "\n".join(lines) + "\r\n61.0,1")
        self.assertEqual(found["trace"]["dropped_cells"], 3)
        self.assertEqual(found["trace"]["dropped_rows"], 2)
        self.assertGreaterEqual(found["trace"]["dropped_points"], 1)
        self.assertIn("line 22", found["trace"]["first_drops"][0])
        self.assertAlmostEqual(found["period_s"] / PERIOD_S, 1, delta=0.02)

    def test_columns_in_any_order_and_others_beside_them(self):
        text = "fan,sm_util_pct,time_s\n" + "".join(f"x,{p[2]:.1f},{p[0]:.4f}\n" for p in rows())
        found = self.said(text)
        self.assertEqual(found["trace"]["ignored_columns"], ["'fan'"])
        self.assertAlmostEqual(found["period_s"] / PERIOD_S, 1, delta=0.02)

    def test_hours_without_a_reading_and_a_clock_that_went_back_are_survived(self):
        first, second = list(rows(30)), list(rows(30, seed=2))
        late = [(t + 7200, *rest) for t, *rest in second]
        for points in (first + late, late + first, [first[0]] * 100, list(reversed(first))):
            for detector in DETECTORS:
                found = self.said(text_of(points), "--detector", detector)
                self.assertEqual(found["trace"]["points"] + found["trace"]["dropped_points"], len(points))

    def test_constant_zero_is_no_period(self):
        zero = text_of((i / 20, 0, 0, 0) for i in range(2000))
        found = self.said(zero)
        self.assertIsNot(found["periodic"], True)

    def test_what_is_no_trace_is_refused_by_name(self):
        for content, word in ((b"", "header"), (b"a,b\n1,2\n", "time_s"), (b"\x00\x01\x02" * 99, "line 1")):
            done = self.box.run("period", "--trace", self.trace(content))
            self.assertEqual(done.returncode, 1)
            self.assertIn("trace.csv", done.stderr)
            self.assertIn(word, done.stderr)
        done = self.box.run("period", "--trace", self.box.folder / "none.csv")
        self.assertEqual(done.returncode, 1)
        self.assertIn("none.csv", done.stderr)

    def test_a_trace_where_a_run_is_named_is_told_how_to_be_read(self):
        file = self.trace(text_of(rows(1)))
        done = self.box.run("period", file)
        self.assertEqual(done.returncode, 1)
        self.assertIn("is no record of a run", done.stderr)
        self.assertIn(f"rubato period --trace {file}", done.stderr)

    def test_wrong_use_is_told(self):
        file = self.trace(text_of(rows(1)))
        for words in (("last", "--trace", file), ("--trace", file, "--gpu", "0"), ("--detector", "magic")):
            self.assertEqual(self.box.run("period", *words).returncode, 125, words)
        self.assertIn("gpoeo", self.box.run("period", "--detector", "magic").stderr)


class Runs(PeriodTest):
    def test_a_recorded_training_is_found_in_its_telemetry(self):
        machine = self.machine(rate=10, seed=4)
        done = machine.run("measure", "--gpu", "0", "--", *machine.train(300))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.box = machine
        found = json.loads(machine.run("period", "last", "--json").stdout)
        self.assertEqual(found["schema"], "rubato.period/1")
        self.assertEqual(found["run_id"], machine.last()["run_id"])
        (gpu,) = found["gpus"]
        self.assertEqual(gpu["kind"], "modelled")
        self.assertIn("power_w", gpu["trace"]["columns"])
        # What the trainer's own marks say; telemetry may show a whole number of iterations.
        export = json.loads(machine.run("export", "last", "--format", "json", "--what", "iterations").stdout)
        series = export["series"]["iterations"]
        column = series["columns"].index("duration_s")
        truth = statistics.median(row[column] for row in series["rows"])
        if gpu["periodic"] and gpu["confidence"] > 0.9 and gpu["relation"] != "beat":
            ratio = gpu["period_s"] / truth
            times = round(ratio) if gpu["relation"] == "multiple" else 1
            self.assertAlmostEqual(ratio / times, 1, delta=0.02)
        self.assertIn(found["run_id"], machine.run("period").stdout)
        self.assertEqual(machine.run("period", "last", "--gpu", "0", "--json").stdout,
                         machine.run("period", "last", "--gpu", gpu["uuid"][:12], "--json").stdout)
        wrong = machine.run("period", "--gpu", "7")
        self.assertEqual(wrong.returncode, 1)
        self.assertIn(gpu["uuid"], wrong.stderr)

    def test_a_run_that_is_not_there_is_named(self):
        done = self.box.run("period", "20200101")
        self.assertEqual(done.returncode, 1)
        self.assertIn("20200101", done.stderr)


if __name__ == "__main__":
    unittest.main()
