"""The main job: a training is wrapped, set to another limit, measured, recorded, reported, and put back."""

import json
import subprocess
import unittest

from harness import FOUND_W, MachineTest, preload_sanitizer, wait_until


class Run(MachineTest):
    def test_a_lower_limit_saves_energy_and_is_put_back(self):
        machine = self.machine(rate=40)
        done = machine.run("run", "--gpu", "0", "--power-limit", "150", "--", *machine.train(200))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(machine.gpu().limit(), FOUND_W)
        shown = machine.last()
        self.assertEqual(shown["schema"], "rubato.run/1")
        self.assertEqual(shown["exit_status"], {"code": 0})
        (gpu,) = shown["gpus"]
        self.assertEqual(gpu["restoration"], "restored")
        self.assertEqual(gpu["quality"], "modelled", "the stand-in must not pass for hardware")
        self.assertEqual(gpu["found"]["power_limit_w"], FOUND_W)
        self.assertEqual(gpu["requested"]["power_limit_w"], 150)
        self.assertGreater(gpu["energy_j"], 0)
        self.assertGreater(gpu["energy_band_calibration_j"], 0)

    def test_the_energy_agrees_with_another_nvml_client(self):
        machine = self.machine(rate=40)
        client = (
            'import ctypes; n = ctypes.CDLL("libnvidia-ml.so.1"); n.nvmlInit_v2(); h = ctypes.c_void_p(); '
            "n.nvmlDeviceGetHandleByIndex_v2(0, ctypes.byref(h)); e = ctypes.c_ulonglong(); "
            "n.nvmlDeviceGetTotalEnergyConsumption(h, ctypes.byref(e)); print(e.value / 1000)"
        )
        # The trainer between the two must not get the preloaded runtime.
        runtime = preload_sanitizer({}).get("LD_PRELOAD")
        python = f"env LD_PRELOAD={runtime} ASAN_OPTIONS=detect_leaks=0 /usr/bin/python3" if runtime else "/usr/bin/python3"
        script = f"{python} -c '{client}'; {' '.join(machine.train(60))} >/dev/null; {python} -c '{client}'"
        done = machine.run("measure", "--gpu", "0", "--", "sh", "-c", script)
        self.assertEqual(done.returncode, 0, done.stderr)
        before, after = map(float, done.stdout.split())
        (gpu,) = machine.last()["gpus"]
        # The client reads inside the job, rubato around it: idle watts at both ends are the difference.
        self.assertGreaterEqual(gpu["energy_j"] + gpu["energy_band_sampling_j"], after - before)

    def test_a_bare_run_too_short_for_a_search_is_measured_and_says_that_nothing_was_tried(self):
        machine = self.machine(rate=40)
        done = machine.run("run", "--gpu", "0", "--", *machine.train(20))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("ended before another setting was tried", " ".join(done.stderr.split()))
        self.assertEqual(machine.last()["gpus"][0]["restoration"], "not_needed")

    def test_marks_that_cannot_be_read_are_told_of(self):
        machine = self.machine(rate=40)
        done = machine.run("run", "--gpu", "0", "--", "sh", "-c", "yes | head -c 200 > $RUBATO_MARKS/1-1.ring; sleep 1")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("marks in 1-1.ring are not read: it is no mark ring", " ".join(done.stderr.split()))

    def test_a_dry_run_changes_nothing(self):
        machine = self.machine(rate=40)
        done = machine.run("run", "--gpu", "0", "--power-limit", "150", "--dry-run", "--", *machine.train(60))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("would set 150 W", done.stderr)
        self.assertEqual(machine.last()["gpus"][0]["restoration"], "not_needed")

    def test_an_sm_clock_is_locked_and_released(self):
        machine = self.machine(rate=40, found={"power_limit_w": 250})
        done = machine.run("run", "--gpu", "0", "--sm-clock", "1005", "--", *machine.train(150))
        self.assertEqual(done.returncode, 0, done.stderr)
        (gpu,) = machine.last()["gpus"]
        self.assertEqual(gpu["restoration"], "restored", done.stderr)

    def test_two_gpus_in_one_world(self):
        machine = self.machine(rate=40, profiles="v100,v100")
        done = machine.run("run", "--power-limit", "150", "--", *machine.train(120))
        self.assertEqual(done.returncode, 0, done.stderr)
        report = machine.last()
        (first,), (second,) = report["gpus"], report["bystanders"]
        self.assertEqual(first["restoration"], "restored")
        self.assertNotEqual(first["uuid"], second["uuid"], "the job never used the second GPU")
        self.assertEqual(report["energy_j"], first["energy_j"])

    def test_another_tenant_keeps_the_limit_where_it_is(self):
        machine = self.machine(rate=40)
        self.assertEqual(machine.gpu().processes(), 0)
        tenant = machine.start("sim", "train", "resnet50", "--iterations", "100000")
        try:
            wait_until(lambda: machine.gpu().processes() == 1, "the tenant to hold a context")
            done = machine.run("run", "--gpu", "0", "--power-limit", "150", "--", *machine.train(60))
        finally:
            tenant.kill()
            tenant.communicate()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(machine.last()["gpus"][0]["restoration"], "not_needed")
        self.assertTrue(any("not part of this job" in d["why"] for d in machine.last()["decisions"]), done.stderr)

    def test_runs_lists_what_was_run(self):
        machine = self.machine(rate=40)
        machine.run("measure", "--gpu", "0", "--", "true")
        machine.run("measure", "--gpu", "0", "--", "sh", "-c", "exit 3")
        listed = json.loads(machine.run("runs", "--json").stdout)
        self.assertEqual([r["exit_status"] for r in listed["runs"]], [{"code": 0}, {"code": 3}], "newest last")

    def test_devices_says_what_can_be_read_and_set_and_why_not(self):
        machine = self.machine(rights="none")
        shown = json.loads(machine.run("devices", "--gpu", "sim:v100", "--json").stdout)
        self.assertEqual(shown["schema"], "rubato.devices/1")
        (gpu,) = shown["gpus"]
        self.assertEqual(gpu["power_limits"]["requested_w"], FOUND_W)
        self.assertTrue(gpu["capabilities"]["read_power"]["available"])
        self.assertFalse(gpu["capabilities"]["set_power_limit"]["available"])
        self.assertNotEqual(gpu["capabilities"]["set_power_limit"]["why_not"], "")

    def test_measure_without_a_command(self):
        machine = self.machine(rate=40)
        done = machine.run("measure", "--gpu", "0", "--seconds", "4")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertAlmostEqual(machine.last()["duration_s"], 4, delta=1)
        sleeper = subprocess.Popen(["sleep", "0.2"])
        done = machine.run("measure", "--gpu", "0", "--pid", sleeper.pid)
        sleeper.wait()
        self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    unittest.main()
