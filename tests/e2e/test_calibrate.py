"""rubato calibrate on simulated GPUs: a table models can learn from, everything put back, and what it refuses."""

import csv
import json
import unittest

from harness import BUILD, FOUND_W, RUBATO, STANDIN, MachineTest, in_one_world_of

GPU = "sim:v100"
RATES = (10, 3)
# A CUDA driver that computes on the host.
CUDA = BUILD / "tests" / "experiment" / "calibrate" / "fake"
# Enough to tell compute from memory; each run is 14 simulated seconds.
QUICK = ("--benchmarks", "fp32,bandwidth", "--knob", "power-limit=150:200:50")


def read_table(path):
    lines = [line for line in path.read_text().splitlines() if not line.startswith("#")]
    return list(csv.DictReader(lines))


class CalibrateTest(MachineTest):
    def setUp(self):
        self.enter(RATES[0])

    def enter(self, rate):
        self.box = self.machine(rate=rate)
        # Ten benchmarks, each up to three times where the machine has other work.
        self.box.patience = 400
        self.table = self.box.folder / "calibration.csv"

    def calibrate(self, *words):
        return self.box.run("calibrate", "--gpu", GPU, *words)


class Measured(CalibrateTest):
    @in_one_world_of(*RATES)
    def test_a_table_with_defaults_settings_and_features(self):
        done = self.calibrate("--benchmarks", "fp32,bandwidth", "--knob", "power-limit=150,250", "-o", self.table, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        told = json.loads(done.stdout)
        self.assertEqual(told["schema"], "rubato.calibrate/1")
        self.assertEqual(told["kind"], "modelled")
        self.assertIs(told["complete"], True)
        self.assertEqual([b["name"] for b in told["benchmarks"]], ["fp32", "bandwidth"])
        fp32, copy = told["benchmarks"]
        self.assertEqual(fp32["runs"], 2)
        low = {b["name"]: b["settings"][0] for b in told["benchmarks"]}
        self.assertEqual(low["fp32"]["power_limit_w"], 150)
        # A limit below what compute draws costs it time; a copy gets by with less.
        self.assertGreater(low["fp32"]["time_over_default"], 1.05)
        self.assertLess(low["bandwidth"]["time_over_default"], low["fp32"]["time_over_default"])
        self.assertEqual(copy["roofline"]["side"], "memory")

        rows = read_table(self.table)
        self.assertEqual(len(rows), 6)
        self.assertEqual([r["workload"] for r in rows if r["default"] == "1"], ["fp32", "bandwidth"])
        self.assertEqual({float(r["power_limit_w"]) for r in rows if r["default"] == "1"}, {FOUND_W})
        self.assertTrue(all(float(r["feature_sm_active"]) > 0.5 for r in rows))
        self.assertEqual(self.box.gpu().limit(), FOUND_W)

    @in_one_world_of(*RATES)
    def test_the_same_list_runs_whole_at_the_present_setting(self):
        done = self.calibrate("--dry-run", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        told = json.loads(done.stdout)
        self.assertIs(told["dry_run"], True)
        skipped = {s["name"]: s["why"] for s in told["skipped"]}
        self.assertLessEqual({"tensor-bf16", "tensor-tf32"}, set(skipped))
        # A machine with other work may disturb one or another, and then it says so.
        disturbed = [name for name, why in skipped.items() if "busy with something else" in why]
        self.assertEqual(len(skipped), 2 + len(disturbed), skipped)
        self.assertEqual(len(told["benchmarks"]), 10 - len(disturbed))
        self.assertLess(len(disturbed), 5)
        self.assertGreater(len(told["settings"]), 10)
        self.assertTrue(all(b["settings"] == [] for b in told["benchmarks"]))
        self.assertIsNone(told["table"])
        sides = {b["name"]: b["roofline"]["side"] for b in told["benchmarks"] if b["roofline"]}
        expected = {"fp32": "compute", "bandwidth": "memory", "mixed-6": "memory", "mixed-48": "compute"}
        for name in set(expected) & set(sides):
            self.assertEqual(sides[name], expected[name], name)
        self.assertEqual(self.box.gpu().limit(), FOUND_W)

    @in_one_world_of(*RATES)
    def test_through_the_drivers_own_library_as_on_hardware(self):
        done = self.box.run("calibrate", "--gpu", "0", "--knob", "power-limit=150", "--benchmarks", "fp32", "-o", self.table)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("--knobs power-limit -o model.json", done.stdout, "a command that can be typed as it stands")
        default, limited = read_table(self.table)
        self.assertEqual((default["power_limit_w"], limited["power_limit_w"]), (str(FOUND_W), "150"))
        self.assertLess(float(limited["power_w"]), 155)
        self.assertEqual(self.box.gpu().limit(), FOUND_W)


class Refused(CalibrateTest):
    def refusal(self, *words):
        done = self.calibrate(*words)
        self.assertEqual(done.returncode, 125, done.stderr)
        self.assertEqual(self.box.journals(), [])
        return done.stderr

    def test_what_was_typed_wrong_is_named_before_anything_starts(self):
        self.assertIn("fp32, fp64", self.refusal("--benchmarks", "fp8"))
        self.assertIn("memory-clock", self.refusal("--knobs", "memory-clock"), "a V100 has one memory clock")
        self.assertIn("500", self.refusal("--knob", "power-limit=500", "--benchmarks", "fp32"))
        self.assertIn("rubato sweep", self.refusal("--", "true"))
        self.assertIn("--settings", self.refusal(*QUICK, "--settings", "3"))

    def test_a_table_that_is_there_stays(self):
        self.table.write_text("mine\n")
        self.assertIn("--force", self.refusal(*QUICK, "-o", self.table))
        self.assertEqual(self.table.read_text(), "mine\n")

    def test_a_table_that_cannot_be_written_is_told_before_anything_is_measured(self):
        self.assertIn("no-such-folder", self.refusal(*QUICK, "-o", self.box.folder / "no-such-folder" / "t.csv"))

    def test_without_the_right_to_set_it_does_not_begin(self):
        self.box = self.machine(rate=10, rights="none")
        self.assertIn("--dry-run", self.refusal(*QUICK, "-o", self.table))
        self.assertFalse(self.table.exists())


class Kernel(CalibrateTest):
    def test_each_unit_is_an_iteration_of_the_run_that_measures_it(self):
        if not (CUDA / "libcuda.so.1").exists():
            self.skipTest("the CUDA driver of the tests is not built: ninja test_computing_cuda")
        self.box = self.machine(rate=1)
        paths = {"LD_LIBRARY_PATH": f"{STANDIN}:{CUDA}"}
        done = self.box.run("measure", "--json", "--report", self.box.folder / "report.json", "--",
                            str(RUBATO), "calibrate-kernel", "latency", "--seconds", "2", environment=paths)
        self.assertEqual(done.returncode, 0, done.stderr)
        kernel = json.loads(done.stdout)
        self.assertIs(kernel["proved"], True)
        self.assertEqual(kernel["bytes"], 32 * 131072, "a sector for each pointer")
        measured = json.loads((self.box.folder / "report.json").read_text())
        self.assertEqual(measured["iteration"]["count"], kernel["units"])

    def test_without_a_driver_it_says_what_is_missing(self):
        done = self.box.run("calibrate-kernel", "fp32")
        self.assertEqual(done.returncode, 1)
        self.assertIn("libcuda.so.1", done.stderr)


if __name__ == "__main__":
    unittest.main()
