"""The ring writer, claims and rounds, without any framework and in every Python found here."""

import os
import shutil
import subprocess
import sys

import jobs

sys.path.insert(0, str(jobs.PYTHON))
from rubato import _claims, _marks  # noqa: E402
from rubato._hooks._rounds import Rounds  # noqa: E402


def pythons():
    """Every CPython from 3.8 on that PATH names and that runs."""
    for minor in range(8, 15):
        path = shutil.which(f"python3.{minor}")
        if path and subprocess.run([path, "-c", ""], capture_output=True, check=False).returncode == 0:
            yield path


class Marks(jobs.JobTest):
    def job(self, text, **more):
        result = self.run_job("from rubato import _marks as m\n" + text, **more)
        self.assertEqual((result.code, result.err), (0, ""), result.out)
        return result

    def test_every_python_writes_what_the_reader_expects(self):
        for python in [sys.executable, *pythons()]:
            with self.subTest(python):
                result = self.job(
                    "m.begin_training(); m.begin_epoch(0, 3)\n"
                    "m.begin_iteration(7, 2, 50); m.end_iteration(7)\n"
                    "m.point('é' * 40); m.end_epoch(0); m.end_training(); m.hook('h 1'); m.problem('no')",
                    python=python,
                    problems=["no"],
                )
                kinds = [mark.kind for mark in result.marks]
                told = "training begin, epoch begin, iteration begin, iteration end, point, "
                told += "epoch end, training end, hook, problem"
                self.assertEqual(kinds, told.split(", "))
                self.assertEqual((result.marks[2].id, result.marks[2].detail[:2]), (7, (2, 50)))
                self.assertEqual(result.marks[4].name, "é" * 40)
                self.assertEqual(result.marks[4].id, _marks.hash_name("é" * 40))

    def test_the_hash_is_fnv_1a(self):
        self.assertEqual(_marks.hash_name(""), 0xCBF29CE484222325)
        self.assertEqual(_marks.hash_name("a"), 0xAF63DC4C8601EC8C)

    def test_a_full_ring_keeps_the_newest_and_the_gap_is_seen(self):
        result = self.job("for i in range(5000): m.begin_iteration(i)")
        self.assertEqual([mark.id for mark in result.marks], list(range(5000 - 4096, 5000)))

    def test_threads_forks_and_ended_threads_have_rings_of_their_own(self):
        result = self.job("""
import os, threading
m.begin_iteration(0)
for i in (1, 2):
    thread = threading.Thread(target=m.begin_iteration, args=(i,)); thread.start(); thread.join()
if os.fork() == 0:
    m.begin_iteration(3); os._exit(0)
os.wait()
m.end_iteration(0)
""")
        self.assertEqual(sorted(mark.id for mark in result.of("iteration begin")), [0, 1, 2, 3])
        self.assertEqual(len({mark.file for mark in result.of("iteration begin")}), 4)
        self.assertEqual(len({mark.pid for mark in result.marks}), 2)

    def test_the_rank_may_become_known_after_a_hook_has_said_hello(self):
        result = self.job("m.hook('h')\nimport os; os.environ['RANK'] = '5'; m.begin_iteration(0)")
        self.assertEqual(result.of("iteration begin")[0].rank, 5)

    def test_marks_of_a_signal_handler_do_not_spoil_those_it_interrupts(self):
        result = self.job("""
import signal
signal.signal(signal.SIGALRM, lambda *_: m.point("alarm"))
signal.setitimer(signal.ITIMER_REAL, 0.001, 0.0005)
for i in range(1500): m.begin_iteration(i); sum(range(50))
signal.setitimer(signal.ITIMER_REAL, 0)
""")
        self.assertEqual([mark.id for mark in result.of("iteration begin")], list(range(1500)))

    def test_nothing_is_written_and_nothing_raised_where_it_cannot_be(self):
        gone = self.job("m.begin_iteration(0); m.point('x'); m.hook('h')", RUBATO_MARKS=self.folder / "gone")
        unset = self.job("m.begin_iteration(0); m.point('x'); print(m.active())", RUBATO_MARKS="")
        self.assertEqual((gone.marks, unset.marks, unset.out), ([], [], "False\n"))
        wrong = self.job(
            "m.begin_iteration('x'); m.begin_iteration(-1); m.point(3); m.begin_phase(99); m.end_phase(None)"
        )
        self.assertEqual((wrong.code, wrong.err), (0, ""))

    def test_a_disk_that_is_full_costs_marks_and_nothing_else(self):
        if os.geteuid() != 0:
            self.skipTest("mounting a small file system needs root")
        small = self.folder / "small"
        small.mkdir()
        mount = f"mount -t tmpfs -o size=64k none {small}"
        if (
            subprocess.run(["unshare", "-m", "sh", "-c", mount], capture_output=True, check=False).returncode
            != 0
        ):
            self.skipTest("no mount namespace can be made here")
        code = f"import sys; sys.path.insert(0, {str(jobs.PYTHON)!r})\nfrom rubato import _marks as m\n"
        code += "for i in range(9): m.begin_iteration(i)\nprint('on')"
        command = (
            f"{mount} && RUBATO_MARKS={small} exec {sys.executable} -c '{code.replace(chr(39), chr(34))}'"
        )
        done = subprocess.run(
            ["unshare", "-m", "sh", "-c", command], capture_output=True, text=True, check=False
        )
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "on\n", ""))

    def test_a_phase_inside_itself_is_marked_once_and_what_is_left_open_can_be_ended(self):
        result = self.job("""
m.begin_phase(m.EVALUATION); m.begin_phase(m.EVALUATION)
m.past_phase(m.EVALUATION, 1, 2); m.past_phase(m.DATA, 1, 2)
m.end_phase(m.EVALUATION); m.begin_phase(m.CHECKPOINT); m.end_phases(); m.end_phase(m.EVALUATION)
""")
        names = ("checkpoint", "data", "evaluation")
        expected = [(f"phase {way}", name) for way in ("begin", "end") for name in names]
        self.assertEqual(sorted((m.kind, m.name) for m in result.marks), expected)

    def test_numbers_that_no_mark_can_hold_are_left_out_and_told_once(self):
        told = [f"rubato.{of} is left out: it is no whole number from 0 to 2**64 - 1"
                for of in ("iteration(index='a')", "iteration(steps=-1)", "epoch(planned=1.5)")]  # fmt: skip
        result = self.run_job("""
            import rubato
            for _ in range(2):
                with rubato.iteration(index="a"): pass
            with rubato.iteration(index=7, steps=-1): pass
            with rubato.epoch(planned=1.5): pass
            with rubato.epoch(planned=10.0): pass
        """, problems=None)  # fmt: skip
        self.assertEqual((result.code, result.err), (0, ""))
        self.assertEqual([mark.id for mark in result.of("iteration begin")], [0, 1, 7])
        self.assertEqual(result.log.splitlines(), told)
        self.assertEqual([mark.name for mark in result.of("problem")], told)

    def test_a_programs_own_iterations_silence_the_hooks(self):
        result = self.job("""
import rubato, sys
with rubato.iteration(): pass
with rubato.iteration(steps=4): pass
for _ in range(2):
    with rubato.epoch(planned=9): pass
hooks = sys.modules["_rubato._claims"]
print(hooks.above(hooks.FIT), hooks.holder())
rubato.mark("there")
""")
        self.assertEqual(result.out, "True rubato.iteration\n")
        expected = [(f"iteration {way}", index) for index in (0, 1) for way in ("begin", "end")]
        self.assertEqual([(m.kind, m.id) for m in result.marks[:4]], expected)
        self.assertEqual([(m.id, m.detail[0]) for m in result.of("epoch begin")], [(0, 9), (1, 9)])
        self.assertEqual([m.id for m in result.of("epoch end")], [0, 1])
        self.assertEqual(len({mark.file for mark in result.marks}), 1)


class Claims(jobs.JobTest):
    def test_the_higher_claim_wins_and_gives_way_when_released(self):
        steps = _claims.claim(_claims.OPTIMIZER, "steps")
        fit = _claims.claim(_claims.FIT, "fit")
        self.assertTrue(steps.silent())
        self.assertIsNone(_claims.claim(_claims.FIT, "a fit in a fit"))
        self.assertEqual(_claims.holder(), "fit")
        fit.release()
        fit.release()
        self.assertFalse(steps.silent() or _claims.above(_claims.OPTIMIZER))
        steps.release()
        self.assertIsNone(_claims.holder())


class Optimizer:
    pass


class RoundsOfSteps(jobs.JobTest):
    def ends(self, rounds, steps):
        return "".join("|" if rounds.step(one) else "." for one in steps)

    def test_one_optimizer_ends_a_round_with_each_step(self):
        self.assertEqual(self.ends(Rounds(), [Optimizer()] * 3), "|||")

    def test_the_one_that_steps_least_sets_the_round(self):
        rounds, fast, slow = Rounds(), Optimizer(), Optimizer()
        rounds.add(fast)
        rounds.add(slow)
        self.assertEqual(self.ends(rounds, [fast, fast, fast, slow] * 2), "...|...|")

    def test_one_that_never_steps_is_left_out_soon(self):
        rounds, used, unused = Rounds(), Optimizer(), Optimizer()
        rounds.add(used)
        rounds.add(unused)
        self.assertEqual(self.ends(rounds, [used] * 14), "." * 10 + "||||")

    def test_one_that_is_gone_is_not_waited_for(self):
        rounds, used, gone = Rounds(), Optimizer(), Optimizer()
        rounds.add(used)
        rounds.add(gone)
        del gone
        self.assertEqual(self.ends(rounds, [used] * 3), "|||")

    def test_a_second_stage_with_another_optimizer_gets_its_rounds(self):
        rounds, first, second = Rounds(), Optimizer(), Optimizer()
        rounds.add(first)
        self.ends(rounds, [first] * 20)
        rounds.add(second)
        told = self.ends(rounds, [second] * 30)
        self.assertLessEqual(told.index("|"), 20)
        self.assertEqual(told[-5:], "|||||")

    def test_one_that_comes_back_counts_again(self):
        rounds, fast, slow = Rounds(), Optimizer(), Optimizer()
        rounds.add(fast)
        rounds.add(slow)
        self.ends(rounds, [fast] * 100)
        told = self.ends(rounds, ([fast] * 5 + [slow]) * 5)
        self.assertEqual(told[-12:], ".....|.....|")
