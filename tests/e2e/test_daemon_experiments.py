"""Experiments where rubatod manages the GPU: set by it, or refused in its own words before anything runs."""

import json
import os
import subprocess
import unittest

import harness
from daemon_world import MANAGE, WITHOUT_RIGHT, DaemonTest
from harness import FOUND_W

RATE = 20
KNOB = ("--knob", "power-limit=150")
NOT_YOURS = MANAGE + '[[rule]]\nname = "others"\nusers = [4711]\n'


class ExperimentTest(DaemonTest):
    def experiment(self, machine, *words, prefix=()):
        done = subprocess.run(
            [*prefix, *machine.command(*words)], env=machine.environment, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=harness.PATIENCE, cwd=machine.folder,
        )  # fmt: skip
        self.assertEqual(machine.gpu().limit(), FOUND_W)
        self.assertEqual(machine.journals(), [])
        return done

    def sweep(self, machine, *words, command, gpu="0", prefix=()):
        return self.experiment(
            machine, "sweep", "--gpu", gpu, "--warmup", "0", *KNOB, *words, "--", *command, prefix=prefix
        )


class Granted(ExperimentTest):
    @unittest.skipIf(os.geteuid() != 0, "only root can give a right to rubatod and not to its client")
    def test_a_sweep_needs_no_right_of_its_own(self):
        machine = self.machine(rate=RATE, rights="cap_sys_admin")
        report = machine.folder / "report.json"
        alone = self.sweep(machine, command=["true"], prefix=WITHOUT_RIGHT)
        self.assertEqual(alone.returncode, 125, alone.stderr)
        self.assertIn("cannot set the power limit", alone.stderr)
        self.daemon(machine)
        done = self.sweep(machine, "--json", "--report", report, command=machine.train(100), prefix=WITHOUT_RIGHT)
        self.assertEqual(done.returncode, 0, done.stderr)
        told = json.loads(report.read_text())
        self.assertEqual([s["setting"]["power_limit_w"] for s in told["settings"] if not s["default"]], [150])
        self.assertIn("set done", self.decisions(machine))

    def test_a_calibration_is_set_by_rubatod(self):
        machine = self.machine(rate=RATE)
        self.daemon(machine)
        done = self.experiment(machine, "calibrate", "--gpu", "0", "--benchmarks", "fp32", *KNOB, "-o", "table.csv")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue((machine.folder / "table.csv").exists())
        watts = [line.get("power_limit_w") for line in self.audit(machine) if line["event"] == "set"]
        self.assertIn(150, watts)


class Refused(ExperimentTest):
    def experiments(self, machine):
        """Each ends before its job, with its status and its words."""
        started = machine.folder / "started"
        yield self.sweep(machine, command=["touch", str(started)])
        self.assertFalse(started.exists())
        yield self.experiment(machine, "calibrate", "--gpu", "0", "--benchmarks", "fp32", *KNOB)
        yield self.experiment(machine, "evidence", "--gpu", "0", "--minutes", "1")
        yield self.experiment(machine, "latency", "--gpu", "0", "--pairs", "1", "--repeats", "1")

    def test_the_words_are_rubatods_and_doctor_has_them_too(self):
        machine = self.machine(rate=RATE)
        self.daemon(machine, NOT_YOURS)
        for done in self.experiments(machine):
            self.assertNotEqual(done.returncode, 0, done.args)
            self.assertIn("no rule of rubatod is for", done.stderr, done.args)
        self.assertIn("the last thing it refused you", machine.run("doctor", "--gpu", "0").stdout)
        self.assertNotIn("set done", self.decisions(machine))

    def test_where_it_only_observes_an_experiment_would_measure_nothing(self):
        machine = self.machine(rate=RATE)
        self.daemon(machine, 'mode = "observe"\n')
        for done in self.experiments(machine):
            self.assertEqual(done.returncode, 125, done.args)
            self.assertIn("only observes", done.stderr, done.args)

    def test_one_knob_that_is_not_granted_is_left_out_of_the_evidence(self):
        machine = self.machine(rate=RATE)
        self.daemon(machine, MANAGE + '[[rule]]\nname = "limits"\nknobs = ["power-limit"]\n')
        done = self.experiment(machine, "evidence", "--gpu", "0", "--dry-run", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("rule 'limits' does not allow the knob sm-clock", done.stdout)
        whole = self.experiment(machine, "sweep", "--gpu", "0", "--knob", "sm-clock=1005", "--dry-run", "--", "true")
        self.assertIn("rule 'limits' does not allow the knob sm-clock", whole.stdout)


class InPart(ExperimentTest):
    def test_managed_and_other_gpus_together_are_not_set_and_it_is_said_why(self):
        machine = self.machine(rate=RATE, profiles="v100,v100")
        self.daemon(machine, MANAGE, "--gpu", "0")
        run = self.experiment(machine, "run", "--gpu", "0,1", "--power-limit", "150", "--", *machine.train(30))
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("manages 1 of the 2 GPUs of this run", run.stderr)
        self.assertEqual({g["restoration"] for g in machine.last()["gpus"]}, {"not_needed"})
        sweep = self.sweep(machine, command=["true"], gpu="0,1")
        self.assertEqual(sweep.returncode, 125, sweep.stderr)
        self.assertIn("manages 1 of the 2 GPUs of this run", sweep.stderr)
        told = machine.run("doctor", "--json")
        (apart,) = [f for f in json.loads(told.stdout)["findings"] if "choose them apart" in f["mend"]]
        own = apart["mend"].split(" or --gpu ")[1]
        done = self.experiment(machine, "run", "--gpu", own, "--power-limit", "150", "--", *machine.train(60))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(machine.last()["gpus"][0]["requested"]["power_limit_w"], 150)
        self.assertNotIn("set done", self.decisions(machine), "the other GPU has a guard of its own")


if __name__ == "__main__":
    unittest.main()
