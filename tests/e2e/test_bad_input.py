"""What is wrong on the command line is found before the job starts; what goes wrong later never changes the job."""

import json
import os
import pathlib
import subprocess
import unittest

import harness
from harness import FOUND_W, MachineTest

TOUCH = ["sh", "-c", "echo started > started"]


class BeforeTheJob(MachineTest):
    def refused(self, *arguments, words, status=125):
        machine = self.machine()
        done = machine.run(*arguments, cwd=machine.folder)
        self.assertEqual(done.returncode, status, done.stderr)
        for word in words:
            self.assertIn(word, done.stderr)
        self.assertFalse((machine.folder / "started").exists(), "the job must not have been started")
        self.assertEqual(len([line for line in done.stderr.splitlines() if "error:" in line]), 1, done.stderr)
        self.assertEqual(machine.gpu().limit(), FOUND_W)

    def test_an_unknown_gpu_is_named_with_those_there_are(self):
        self.refused("run", "--gpu", "7", "--", *TOUCH, words=["7", "Tesla V100"])

    def test_an_unknown_profile_is_answered_with_the_known_ones(self):
        self.refused("run", "--gpu", "sim:v1000", "--", *TOUCH, words=["v1000", "v100-pcie-16gb"])

    def test_a_limit_outside_the_range_says_the_range(self):
        self.refused("run", "--gpu", "0", "--power-limit", "90", "--", *TOUCH, words=["90 W", "100 W", "250 W"])

    def test_a_clock_above_the_highest_says_the_range(self):
        self.refused("run", "--gpu", "0", "--sm-clock", "9000", "--", *TOUCH, words=["9000 MHz", "1380 MHz"])

    def test_a_negative_limit(self):
        self.refused("run", "--gpu", "0", "--power-limit", "-5", "--", *TOUCH, words=["--power-limit"])

    def test_a_found_lock_the_gpu_cannot_have(self):
        self.refused("run", "--gpu", "0", "--sm-clock", "1005", "--found-sm-clock", "100:99999", "--", *TOUCH,
                     words=["--found-sm-clock", "1380 MHz"])

    def test_a_figure_that_is_not_a_number(self):
        for words in (("run", "--host-watts", "nan"), ("measure", "--seconds", "nan"),
                      ("advise", "--confidence", "nan"), ("advise", "--idle-watts", "NaN")):
            job = () if "--seconds" in words else ("--", *TOUCH)
            self.refused(words[0], "--gpu", "0", *words[1:], *job, words=[words[1], "is not a number"])

    def test_a_cycle_of_recording_that_is_none(self):
        for cycle in ("2s", "60s/2s", "often"):
            self.refused("measure", "--gpu", "0", "--kernels", cycle, "--", *TOUCH, words=["--kernels", cycle, "2s/60s"])

    def test_a_process_that_does_not_exist(self):
        self.refused("measure", "--gpu", "0", "--pid", "4194303", words=["no process 4194303"])
        self.refused("measure", "--gpu", "0", "--seconds", "5", "--kernels", "2s/60s", words=["inside a command"])

    def test_an_unknown_option(self):
        machine = self.machine()
        done = machine.run("run", "--no-such-option", "--", *TOUCH, cwd=machine.folder)
        self.assertEqual(done.returncode, 125)
        self.assertFalse((machine.folder / "started").exists())

    def test_an_empty_command(self):
        self.refused("run", "--gpu", "0", "--", words=["no command", "rubato run"])
        self.refused("run", "--gpu", "0", words=["no command", "--"])
        self.refused("measure", "--gpu", "0", "--", words=["no command"])

    def test_a_command_that_does_not_exist(self):
        self.refused("run", "--gpu", "0", "--", "no-such-command-anywhere", words=["no-such-command-anywhere"], status=127)

    def test_a_command_that_is_not_executable(self):
        self.refused("run", "--gpu", "0", "--", "/etc/passwd", words=["/etc/passwd"], status=126)


class TheJobGoesOn(MachineTest):
    def test_a_clock_the_gpu_lacks_becomes_the_nearest_and_it_is_said(self):
        machine = self.machine()
        done = machine.run("run", "--gpu", "0", "--sm-clock", "1000", "--", "true")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("using the nearest", done.stderr)

    def test_without_the_right_it_says_which_and_measures(self):
        machine = self.machine(rights="none")
        done = machine.run("run", "--gpu", "0", "--power-limit", "150", "--", *machine.train(60))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("cannot set the power limit", done.stderr)
        self.assertIn("measuring only", done.stderr)
        self.assertEqual(machine.last()["gpus"][0]["restoration"], "not_needed")
        self.assertGreater(machine.last()["gpus"][0]["energy_j"], 0)

    def test_nothing_that_outlives_the_job_means_measure_only(self):
        machine = self.machine(rate=40, outlives_job=False)
        done = machine.run("run", "--gpu", "0", "--power-limit", "150", "--", *machine.train(20))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("nothing outlives the job here", done.stderr)
        self.assertIn("--accept-unrestored", done.stderr)

    def test_the_exit_status_is_the_jobs_own(self):
        machine = self.machine()
        self.assertEqual(machine.run("run", "--gpu", "0", "--", "sh", "-c", "exit 7").returncode, 7)
        self.assertEqual(machine.run("measure", "--gpu", "0", "--", "sh", "-c", "kill -USR1 $$").returncode, -10)

    def test_standard_streams_are_the_jobs_own(self):
        machine = self.machine()
        process = machine.start("measure", "--gpu", "0", "--quiet", "--", "cat", stdin=subprocess.PIPE)
        out, errors = process.communicate("through\n", timeout=harness.PATIENCE)
        self.assertEqual((out, errors), ("through\n", ""))

    def test_no_driver_at_all_still_runs_the_command(self):
        machine = self.machine()
        del machine.environment["LD_LIBRARY_PATH"]
        done = machine.run("measure", "--", "sh", "-c", "echo ran")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout, "ran\n")
        self.assertIn("libnvidia-ml.so.1", done.stderr)

    @unittest.skipIf(os.geteuid() != 0, "only root can mount a small file system")
    def test_a_full_disk_costs_the_record_and_nothing_else(self):
        machine = self.machine(rate=40)
        small = machine.folder / "small"
        small.mkdir()
        script = (
            f"mount -t tmpfs -o size=64k tmpfs {small} && export XDG_STATE_HOME={small} && "
            f"exec {' '.join(machine.command('run', '--gpu', '0', '--power-limit', '150', '--', *machine.train(60)))}"
        )
        done = subprocess.run(["unshare", "-m", "sh", "-c", script], env=machine.environment, capture_output=True, text=True, timeout=harness.PATIENCE)
        if "unshare" in done.stderr and done.returncode != 0:
            self.skipTest(f"no private mounts here: {done.stderr.strip()}")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("record", done.stderr)
        self.assertEqual(machine.gpu().limit(), FOUND_W)

    def test_a_limit_of_file_sizes_costs_the_record_and_nothing_else(self):
        machine = self.machine(rate=40)
        machine.run("devices")  # makes the simulated machine, whose file is longer
        script = f"ulimit -f 10; exec {' '.join(machine.command('run', '--gpu', '0', '--power-limit', '150', '--', 'echo', 'survived'))}"
        done = subprocess.run(["sh", "-c", script], env=machine.environment, capture_output=True, text=True, timeout=harness.PATIENCE)
        self.assertEqual((done.returncode, done.stdout), (0, "survived\n"), done.stderr)
        self.assertIn("without a record", done.stderr)
        self.assertNotIn("no GPU", done.stderr)
        self.assertEqual(machine.gpu().limit(), FOUND_W)

    def test_an_empty_value_is_not_as_if_the_option_were_left_out(self):
        machine = self.machine()
        for option in ("--power-limit", "--max-slowdown", "--sm-clock", "--strategy", "--objective", "--gpu"):
            with self.subTest(option=option):
                done = machine.run("run", option, "", "--", "sh", "-c", "echo ran")
                self.assertEqual((done.returncode, done.stdout), (125, ""), done.stderr)
                self.assertIn(f"{option}: no value is given", done.stderr)

    def test_a_home_that_cannot_be_written(self):
        machine = self.machine(rate=40)
        # A file where a folder is needed: refused for root as well, unlike a read-only folder.
        blocked = machine.folder / "blocked"
        blocked.write_text("")
        done = machine.run("measure", "--gpu", "0", "--", *machine.train(10), environment={"XDG_STATE_HOME": str(blocked)})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(str(blocked), done.stderr)
        self.assertIn("record", done.stderr)

    def test_a_corrupt_journal_is_reported_and_kept(self):
        machine = self.machine(rate=40)
        machine.run("run", "--gpu", "0", "--power-limit", "150", "--", *machine.train(60))
        locks = list((machine.folder / "runtime" / "rubato").glob("GPU-*.lock"))
        self.assertEqual(len(locks), 1)
        journal = pathlib.Path(str(locks[0])[: -len(".lock")])
        journal.write_bytes(b"\x00rubbish\n" * 40)
        journal.chmod(0o600)
        done = machine.run("devices", "--gpu", "0")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("journal", done.stderr)
        kept = [p for p in journal.parent.iterdir() if "corrupt" in p.name]
        self.assertEqual(len(kept), 1)
        self.assertEqual(kept[0].read_bytes(), b"\x00rubbish\n" * 40)

    def test_a_corrupt_record_is_reported_and_kept(self):
        machine = self.machine(rate=40)
        machine.run("measure", "--gpu", "0", "--", *machine.train(10))
        record = next((machine.folder / "state" / "rubato" / "runs").glob("2*.sqlite"))
        record.write_bytes(b"not a database" * 100)
        done = machine.run("show", "last", "--json")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn(record.stem, done.stderr)
        self.assertEqual(record.read_bytes(), b"not a database" * 100)


class UnderSudo(MachineTest):
    @unittest.skipIf(os.geteuid() != 0, "needs root to become somebody else")
    def test_everything_but_the_guard_becomes_the_caller_again(self):
        # What sudo sets; the real sudo is tried on a bare machine by tools/clean-machine-test.
        machine = self.machine()
        done = machine.run("run", "--", "id", "-u", environment={"SUDO_UID": "65534", "SUDO_GID": "65534", "SUDO_USER": "nobody"})
        self.assertEqual(done.stdout, "65534\n", done.stderr)


if __name__ == "__main__":
    unittest.main()
