"""What a first session stumbles over: rights under sudo, flags that do nothing here, files that cannot be written."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from harness import FOUND_W, PATIENCE, MachineTest, alive, guard_of, job_of, wait_until  # noqa: E402

NOBODY = 65534
TOUCH = ["sh", "-c", "echo started > started"]


class Refused(MachineTest):
    def refused(self, *arguments, words, environment=None):
        machine = self.machine()
        done = machine.run(*arguments, environment=environment, cwd=machine.folder)
        self.assertEqual(done.returncode, 125, done.stderr)
        for word in words:
            self.assertIn(word, done.stderr)
        self.assertFalse((machine.folder / "started").exists(), "the job must not have been started")

    def test_a_slowdown_that_is_no_share(self):
        self.refused("run", "--max-slowdown", "much", "--", *TOUCH, words=["--max-slowdown much", "5%"])

    def test_a_report_that_could_not_be_written_is_found_before_the_job(self):
        self.refused("run", "--report", "no/such/folder/report.txt", "--", *TOUCH, words=["no/such/folder"])
        self.refused("measure", "--report", "no/such/folder/report.txt", "--", *TOUCH, words=["no/such/folder"])

    def test_a_knob_the_gpu_lacks(self):
        self.refused("run", "--memory-clock", "877", "--", *TOUCH, words=["cannot set memory clocks", "V100"])

    @unittest.skipIf(os.geteuid() != 0, "needs root, as sudo gives it")
    def test_a_sudo_uid_that_is_no_id_does_not_run_the_job_as_root(self):
        for command in (["run", "--", *TOUCH], ["measure", "--", *TOUCH], ["devices"]):
            self.refused(*command, environment={"SUDO_UID": "abc"}, words=["SUDO_UID is 'abc'"])


class Said(MachineTest):
    def test_only_what_was_asked_for_is_said_to_be_set(self):
        machine = self.machine(rate=40, found={"power_limit_w": 250})
        done = machine.run("run", "--sm-clock", "1005", "--found-sm-clock", "135:1380", "--", *machine.train(150))
        self.assertEqual(done.returncode, 0, done.stderr)
        (gpu,) = machine.last()["gpus"]
        self.assertEqual(gpu["restoration"], "restored", done.stderr)
        self.assertIsNone(gpu["requested"]["power_limit_w"], "no limit was asked for")
        self.assertEqual(gpu["requested"]["sm_clock_mhz"], {"min": 1005, "max": 1005})
        self.assertEqual(gpu["found"]["sm_clock_mhz"], {"min": 135, "max": 1380}, "as stated")

    def test_a_bound_is_taken_and_kept_in_the_record(self):
        machine = self.machine(rate=40)
        done = machine.run("run", "--max-slowdown", "3%", "--", *machine.train(10))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("at most 3 % slower", machine.last()["decisions"][0]["why"])

    def test_sudo_is_not_needed_for_simulated_gpus(self):
        machine = self.machine(rate=40)
        done = machine.run("run", "--gpu", "sim:v100", "--sudo", "--power-limit", "150", "--", "true")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("--sudo changes nothing here", done.stderr)

    def test_no_gpu_sends_nobody_to_sudo(self):
        machine = self.machine()
        del machine.environment["LD_LIBRARY_PATH"]
        done = machine.run("run", "--power-limit", "150", "--", "true")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("sudo", done.stderr)
        self.assertIn("nothing was measured", done.stderr)

    def test_seconds_and_a_process_end_at_whichever_is_first(self):
        machine = self.machine(rate=40)
        with subprocess.Popen(["sleep", "60"]) as sleeper:
            done = machine.run("measure", "--seconds", "4", "--pid", sleeper.pid)
            sleeper.kill()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertAlmostEqual(machine.last()["duration_s"], 4, delta=2)

    def test_doctor_and_restore_speak_json(self):
        machine = self.machine()
        doctor = json.loads(machine.run("doctor", "--json").stdout)
        self.assertEqual(doctor["schema"], "rubato.doctor/1")
        self.assertEqual(doctor["missing"], sum(f["state"] == "missing" for f in doctor["findings"]))
        self.assertIn("driver", [f["subject"] for f in doctor["findings"]])
        restore = json.loads(machine.run("restore", "--json").stdout)
        self.assertEqual(restore, {"schema": "rubato.restore/1", "failed": 0, "gpus": []})


class OtherWorlds(MachineTest):
    """Simulated GPUs as a user has them, by their profile and without an environment."""

    def test_what_a_dead_run_left_is_named_with_the_command_and_restored_without_arguments(self):
        machine = self.machine(rate=20)
        for name in ("RUBATO_SIM_WORLD", "RUBATO_SIM_PROFILES", "LD_LIBRARY_PATH"):
            del machine.environment[name]
        process = machine.start("run", "--gpu", "sim:v100", "--power-limit", "150", "--quiet", "--", *machine.train(100_000),
                                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(process.wait)
        wait_until(lambda: self.limit(machine) == 150, "the run to set its limit")
        held = machine.run("doctor", "--gpu", "sim:v100").stdout
        self.assertIn("a run holds it now", held)
        left = [process.pid, guard_of(process.pid), job_of(process.pid)]
        for pid in left[:2]:
            os.kill(pid, signal.SIGSTOP)
        for pid in left:
            os.kill(pid, signal.SIGKILL)
        process.wait(PATIENCE)
        wait_until(lambda: not any(map(alive, left)), "all of them to be gone")
        self.assertIn("rubato restore --gpu sim:v100-pcie-16gb", machine.run("doctor").stdout)
        restored = json.loads(machine.run("restore", "--json").stdout)
        self.assertEqual([g["outcome"] for g in restored["gpus"]], ["restored"])
        self.assertEqual(self.limit(machine), FOUND_W)
        self.assertEqual(machine.run("restore").stdout, "nothing was left behind\n")

    @staticmethod
    def limit(machine):
        return json.loads(machine.run("devices", "--gpu", "sim:v100", "--json").stdout)["gpus"][0]["power_limits"]["requested_w"]


@unittest.skipIf(os.geteuid() != 0, "needs root, as sudo gives it")
class UnderSudo(MachineTest):
    """What sudo sets; test_first_run.py and tools/clean-machine-test use sudo itself."""

    def callers_machine(self):
        machine = self.machine(rate=40)
        for path in (machine.folder, *machine.folder.iterdir()):
            os.chown(path, NOBODY, NOBODY)
        machine.folder.chmod(0o755)
        machine.environment |= {"SUDO_UID": str(NOBODY), "SUDO_GID": str(NOBODY), "TMPDIR": str(machine.folder / "tmp")}
        (machine.folder / "tmp").mkdir()
        (machine.folder / "tmp").chmod(0o1777)
        return machine

    def test_devices_makes_the_callers_files(self):
        machine = self.callers_machine()
        done = machine.run("devices")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual((machine.folder / "world").stat().st_uid, NOBODY)

    def test_the_callers_runtime_folder_is_neither_used_nor_spoiled_by_root(self):
        machine = self.callers_machine()
        self.assertEqual(machine.run("devices").returncode, 0)
        done = machine.run("run", "--power-limit", "150", "--", *machine.train(100))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(machine.last()["gpus"][0]["restoration"], "restored", done.stderr)
        self.assertEqual((machine.folder / "runtime" / "rubato").stat().st_uid, NOBODY)


if __name__ == "__main__":
    unittest.main()
