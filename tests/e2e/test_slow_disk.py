"""A disk under the run records that is slow or hangs: no driver is blamed for it, and the job never waits for it."""

import json
import signal
import subprocess
import time
import unittest

import harness
from harness import FOUND_W, MachineTest, wait_until

RATE = 40
WANTED_W = 150


class SlowDisk(MachineTest):
    def preloaded(self, machine, **settings):
        environment = {"LD_PRELOAD": str(harness.SLOW_DISK), "SLOW_DISK_LOG": str(machine.folder / "slow")}
        if harness.SANITIZED:
            environment["LD_PRELOAD"] = harness.preload_sanitizer({})["LD_PRELOAD"] + ":" + environment["LD_PRELOAD"]
        return environment | {name: str(value) for name, value in settings.items()}

    def end_by(self, process, number, patience=20):
        process.send_signal(number)
        try:
            return process.communicate(timeout=patience)[1]
        except subprocess.TimeoutExpired:
            raise AssertionError(f"still running {patience} s after signal {int(number)}") from None

    def test_a_sync_of_six_seconds_at_the_end_costs_nothing_but_time(self):
        machine = self.machine(rate=RATE)
        report = machine.folder / "report.json"
        done = machine.run(
            "run", "--gpu", "0", "--power-limit", WANTED_W, "--json", "--report", report, "--", *machine.train(60),
            environment=self.preloaded(machine, SLOW_DISK_SYNC_S=6),
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue((machine.folder / "slow").exists(), "nothing was slow: nothing is proved")
        self.assertNotIn("error", done.stderr)
        self.assertIn("disk of the run record is slow", done.stderr)
        self.assertEqual(json.loads(report.read_text())["gpus"][0]["restoration"], "restored")
        self.assertEqual(machine.last()["exit_status"], {"code": 0})
        self.assertEqual(machine.gpu().limit(), FOUND_W)

    def test_who_does_not_want_to_wait_for_the_disk_ends_it_by_a_signal(self):
        machine = self.machine(rate=RATE)
        process = machine.start(
            "run", "--gpu", "0", "--power-limit", WANTED_W, "--", "sh", "-c", f"{' '.join(machine.train(40))}; exit 3",
            environment=self.preloaded(machine, SLOW_DISK_SYNC_S=600),
        )
        wait_until((machine.folder / "slow").exists, "the sync to begin")
        self.assertEqual(machine.gpu().limit(), FOUND_W, "the GPU is put back before anything waits for a disk")
        errors = self.end_by(process, signal.SIGTERM)
        self.assertEqual(process.returncode, 3, errors)
        self.assertIn("the disk of the run record does not answer: no report", errors)
        self.assertIn("rubato show /", errors)
        self.assertNotIn("a driver call", errors)

    def test_signals_reach_the_job_while_the_home_hangs(self):
        machine = self.machine(rate=RATE)
        ready = machine.folder / "ready"
        process = machine.start(
            "run", "--gpu", "0", "--power-limit", WANTED_W, "--",
            "sh", "-c", f"trap 'exit 7' TERM; : > {ready}; while :; do sleep 0.05; done",
            environment=self.preloaded(machine, SLOW_DISK_MAKE_S=600),
        )
        wait_until(lambda: ready.exists() and (machine.folder / "slow").exists(), "the job, and the home to hang")
        job = harness.job_of(process.pid)
        began = time.monotonic()
        process.send_signal(signal.SIGTERM)
        wait_until(lambda: not harness.alive(job), "the job to end", 20)
        self.assertLess(time.monotonic() - began, 4)
        errors = self.end_by(process, signal.SIGTERM)
        self.assertEqual(process.returncode, 7, errors)
        self.assertIn("the disk of the run record does not answer: no report", errors)
        self.assertEqual(machine.gpu().limit(), FOUND_W)


if __name__ == "__main__":
    unittest.main()
