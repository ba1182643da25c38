"""The iteration of a training that tells nothing, found through the NVML stand-in: against the trainer's own log, from
marks, from kernels and from telemetry alone."""

import re
import unittest

from harness import FULL, RUBATO, MachineTest

WORKLOADS = ("data-starved", "gemm", "resnet50", "rl-ppo", "rnn", "shufflenet", "transformer", "vgg16")
BOARDS = ("v100", "v100-sxm2-32gb", "a100", "a100-sxm4-80gb", "h100", "h200", "gh200-480gb", "rtx3080ti", "rtx3090",
          "rtx4090", "rtxa4000", "t4", "k80", "rtx2000-ada-laptop")
# What a sensor of 20 ms shows of the simulated trainings: all but one that is a single product without an inside.
SHOWN = [(workload, board) for workload in WORKLOADS if workload != "gemm" for board in BOARDS[:2]]
# On the other boards an iteration is two to ten sensor updates: every workload once and every board once.
# conduct_iterations_test goes through every pair, in virtual time.
COARSE = [(WORKLOADS[i % len(WORKLOADS)], board) for i, board in enumerate(BOARDS[2:])]
# Simulated seconds in one of the wall: at 10 a sensor of 20 ms is read every 2 ms. What a busy machine delays is then
# ten times as long in the trace, so a run that shows nothing is made again in a slower world.
RATES = (10, 5, 2.5)
NO_MARKS = ("env", "-u", "RUBATO_MARKS")


def log_seconds(output):
    """The trainer's last line: mean time of its iterations."""
    return float(re.findall(r"([\d.]+) s/iteration", output)[-1])


class IterationTest(MachineTest):
    def statements(self, board, workload, *options, command=(), iterations=150, rate=RATES[0]):
        machine = MachineTest.machine(self, rate=rate, profiles=board, found={})
        train = [*command, str(RUBATO), "sim", "train", workload, "--iterations", str(iterations)]
        done = machine.run("run", "--gpu", "0", "--dry-run", *options, "--", *train)
        self.assertEqual(done.returncode, 0, done.stderr)
        run = machine.last()
        return run, log_seconds(done.stdout)

    def check_source(self, iteration, source, seconds):
        told = [s for s in iteration["statements"] if s["source"] == source and s["periodic"]]
        self.assertTrue(told, f"{source} said nothing: {iteration}")
        self.assertEqual(told[-1]["relation"], "exact")
        self.assertLess(abs(told[-1]["period_s"] / seconds - 1), 0.01, told[-1])

    def check_sources(self, sources, board, workload, *options, command=()):
        for rate in RATES:
            run, seconds = self.statements(board, workload, *options, command=command, rate=rate)
            try:
                for source in sources:
                    self.check_source(run["iteration"], source, seconds)
                break
            except AssertionError:
                if rate == RATES[-1]:
                    raise
        self.assertEqual(run["iteration"]["source"], sources[0])


class Telemetry(IterationTest):
    def test_a_sensor_of_20_ms_shows_it_and_it_is_found(self):
        for workload, board in SHOWN if FULL else SHOWN[::2]:
            with self.subTest(workload=workload, board=board):
                self.check_sources(("telemetry",), board, workload, command=NO_MARKS)

    def test_where_the_sensor_is_coarse_nothing_wrong_is_said_for_sure(self):
        for workload, board in COARSE:
            with self.subTest(workload=workload, board=board):
                run, seconds = self.statements(board, workload, command=NO_MARKS)
                iteration = run["iteration"] or {"statements": []}
                for said in iteration["statements"]:
                    if said["periodic"] and said["relation"] == "exact" and said["confidence"] > 0.9:
                        self.assertLess(abs(said["period_s"] / seconds - 1), 0.05, said)


class Kernels(IterationTest):
    def test_marks_kernels_and_telemetry_agree(self):
        for workload in WORKLOADS if FULL else ("vgg16", "rnn"):
            with self.subTest(workload=workload):
                self.check_sources(("marks", "kernels", "telemetry"), "v100", workload, "--kernels", "10s/15s")


class WhatThePersonSees(IterationTest):
    def test_a_pipe_is_told_nothing_while_the_job_runs_and_the_report_tells_all(self):
        machine = MachineTest.machine(self, rate=RATES[0], profiles="a100")
        train = [str(RUBATO), "sim", "train", "vgg16", "--iterations", "60"]
        done = machine.run("run", "--gpu", "0", "--dry-run", "--", *train)
        self.assertNotIn("after ", done.stderr.split("rubato: run")[0])
        shown = machine.run("show", "last")
        self.assertIn("Iteration", shown.stdout)
        self.assertIn("marks", shown.stdout)

    def test_counters_are_read_once_the_iteration_is_known_and_can_be_left_out(self):
        for counters, expected in (("auto", True), ("off", False)):
            with self.subTest(counters=counters):
                run, _ = self.statements("a100", "vgg16", "--counters", counters, iterations=120)
                self.assertEqual(bool(run["iteration"].get("counters")), expected, run["iteration"])

    def test_a_provider_that_is_none_is_refused_before_the_job_starts(self):
        machine = MachineTest.machine(self)
        done = machine.run("run", "--gpu", "0", "--counters", "abacus", "--", "true")
        self.assertEqual(done.returncode, 125)
        self.assertIn("abacus", done.stderr)
        self.assertIn("utilisation", done.stderr)


if __name__ == "__main__":
    unittest.main()
