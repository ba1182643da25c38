"""Where everything dies with the job, as in a container: measure only, unless the user accepts what that means."""

import os
import pathlib
import signal
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import harness  # noqa: E402
from harness import FOUND_W, MachineTest, children  # noqa: E402
from place import why_not_here  # noqa: E402


@unittest.skipIf(why_not_here(), why_not_here())
class Unrestored(MachineTest):
    def container(self, machine, lent=False):
        """A run in a process namespace of its own, whose end ends its guard as well."""
        folder = machine.folder / "runtime" / "rubato"
        folder.mkdir(mode=0o700, exist_ok=True)
        lend = f"mount --bind {folder} {folder} && " if lent else ""
        run = " ".join(machine.command("run", "--power-limit", "150", "--accept-unrestored", "--", *machine.train(100_000)))
        process = subprocess.Popen(
            ["unshare", "-m", "-p", "-f", "--kill-child", "--mount-proc", "sh", "-c", f"{lend}exec {run}"],
            env=machine.environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        )
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def end_everything(self, process):
        (first,) = children(process.pid)  # all others of its namespace go with it
        # The kernel kills them one after the other: a guard that is stopped cannot use the moment in between.
        guard = harness.guard_of(first)
        if guard:
            os.kill(guard, signal.SIGSTOP)
        os.kill(first, signal.SIGKILL)
        _, said = process.communicate(timeout=harness.PATIENCE)
        return said

    def test_without_the_users_word_nothing_is_set(self):
        machine = self.machine(rate=40, outlives_job=False)
        done = machine.run("run", "--power-limit", "150", "--", *machine.train(60))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("nothing outlives the job here", done.stderr)
        self.assertIn("--accept-unrestored", done.stderr)
        self.assertEqual(machine.last()["gpus"][0]["restoration"], "not_needed")

    def test_with_it_an_ordinary_end_puts_everything_back(self):
        machine = self.machine(rate=40, outlives_job=False)
        done = machine.run("run", "--power-limit", "150", "--accept-unrestored", "--", *machine.train(100))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(machine.last()["gpus"][0]["restoration"], "restored")

    def test_the_next_rubato_that_sees_the_journal_puts_it_back(self):
        machine = self.machine(rate=20, outlives_job=False)
        process = self.container(machine, lent=True)
        self.wait_for_limit(machine, 150, "the run to set its limit")
        said = self.end_everything(process)
        self.assertEqual(machine.gpu().limit(), 150, "guard and rubato are dead, so nobody has put it back")
        self.assertIn("which the host lends, puts it back", said)
        doctor = machine.run("doctor")
        self.assertIn("a dead run left its setting behind", doctor.stdout)
        self.assertIn("rubato restore --gpu sim", doctor.stdout)
        done = machine.run("restore", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn('"outcome": "restored"', done.stdout)
        self.assertEqual(machine.gpu().limit(), FOUND_W)

    def test_otherwise_it_says_that_nothing_can(self):
        machine = self.machine(rate=20, outlives_job=False)
        process = self.container(machine)
        self.wait_for_limit(machine, 150, "the run to set its limit")
        said = self.end_everything(process)
        self.assertIn("nothing can put it back once", said)
        # The folder is still there in this test, so that next rubato is this one.
        machine.run("devices", "--gpu", "0")
        self.assertEqual(machine.gpu().limit(), FOUND_W)


if __name__ == "__main__":
    unittest.main()
