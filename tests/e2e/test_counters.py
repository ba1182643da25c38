"""What `devices` and `doctor` say of counters, by a real read through the NVML path and without it."""

import json
import unittest

from harness import MachineTest

REFUSED = {"call": "read_counters", "count": 1000, "effect": "error", "error": "no_permission"}


class Counters(MachineTest):
    def counters(self, machine, *arguments):
        shown = json.loads(machine.run("devices", *arguments, "--json").stdout)
        (gpu,) = shown["gpus"]
        return gpu["capabilities"], {source["provider"]: source for source in gpu["counters"]}

    def findings(self, machine):
        done = machine.run("doctor", "--json")
        told = [f for f in json.loads(done.stdout)["findings"] if f["subject"] == "counters"]
        return done.returncode, told

    def test_a_hopper_board_is_counted_through_its_driver(self):
        machine = self.machine(profiles="h100")
        can, sources = self.counters(machine)
        self.assertTrue(can["read_counters"]["available"])
        self.assertEqual(list(sources), ["simulated", "utilisation"], "best first, and none that needs hardware")
        self.assertTrue(sources["simulated"]["available"])
        self.assertIn("dram_active", sources["simulated"]["features"])
        self.assertEqual(sources["simulated"]["disturbs"], "nobody")

    def test_an_older_board_has_only_utilisation_and_says_why(self):
        can, sources = self.counters(self.machine(profiles="a100"))
        self.assertFalse(can["read_counters"]["available"])
        self.assertIn("Hopper", can["read_counters"]["why_not"])
        self.assertFalse(sources["simulated"]["available"])
        self.assertEqual(sources["simulated"]["features"], [])
        self.assertTrue(sources["utilisation"]["available"])

    def test_the_simulated_gpus_own_backend_counts_on_older_boards_too(self):
        _, sources = self.counters(self.machine(profiles="a100"), "--gpu", "sim:a100")
        self.assertTrue(sources["simulated"]["available"])

    def test_devices_names_every_reading(self):
        can, _ = self.counters(self.machine(profiles="gh200-480gb"))
        for reading in ("limiter_times", "average_power", "module_power", "memory_power", "application_clocks", "counters"):
            self.assertIn("read_" + reading, can)
        self.assertTrue(can["read_module_power"]["available"])
        text = self.machine(profiles="v100").run("devices").stdout
        self.assertIn("limiter times", text)
        self.assertIn("not module power:", text)

    def test_doctor_tells_what_a_read_told(self):
        status, (finding,) = self.findings(self.machine(profiles="h100"))
        self.assertEqual((status, finding["state"]), (0, "ok"))
        self.assertIn("told just now: sm_active, dram_active", finding["what"])
        self.assertIn("disturbs nobody", finding["what"])

    def test_doctor_gives_the_remedy_where_a_right_is_missing(self):
        status, (refused, instead) = self.findings(self.machine(profiles="h100", faults=[REFUSED]))
        self.assertEqual(status, 0, "counters are not needed")
        self.assertEqual(refused["state"], "note")
        self.assertIn("NVML_ERROR_NO_PERMISSION", refused["what"])
        self.assertIn("NVreg_RestrictProfilingToAdminUsers=0", refused["mend"])
        self.assertIn("utilisation", instead["what"])

    def test_doctor_does_not_believe_a_first_sample(self):
        """The one that probes succeeds; the reading fails."""
        _, (failed, instead) = self.findings(self.machine(profiles="h100", faults=[{**REFUSED, "after": 1}]))
        self.assertIn("failed", failed["what"])
        self.assertIn("NVreg_RestrictProfilingToAdminUsers=0", failed["mend"])
        self.assertIn("utilisation", instead["what"])


if __name__ == "__main__":
    unittest.main()
