"""rubato model train, show and predict: a file, what it says of itself, and what it says of a workload."""

import json
import unittest

import at_terminal
from harness import MachineTest

HEADER = "gpu,workload,group,power_limit_w,sm_clock_mhz,memory_clock_mhz,time_s,power_w,energy_j\n"


def workload(name, time, gpu="V"):
    """At 200 W one second of 200 W; at 100 W slower, drawing 100 W."""
    return "%s,%s,%s,200,,,1,200,200\n%s,%s,%s,100,,,%g,100,%g\n" % (gpu, name, name, gpu, name, name, time, time * 100)


class ModelFiles(MachineTest):
    def setUp(self):
        self.box = self.machine()
        self.file = self.box.folder / "m.json"

    def table(self, rows, name="t.csv"):
        file = self.box.folder / name
        file.write_text(HEADER + rows)
        return file

    def trained(self, *words):
        rows = "".join(workload(n, t) for n, t in (("a", 1.1), ("b", 1.2), ("c", 1.3)))
        done = self.box.run("model", "train", "--table", self.table(rows), "--knobs", "power-limit", "--model",
                            "mean-curve", "-o", self.file, *words)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def predicted(self, *words):
        done = self.box.run("model", "predict", self.file, "--json", *words)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def refused(self, *words):
        done = self.box.run("model", *words)
        self.assertEqual(done.returncode, 125, done.stdout)
        self.assertEqual(done.stdout, "")
        return done.stderr

    def test_what_was_trained_is_what_is_shown(self):
        said = json.loads(self.trained("--json"))
        self.assertEqual(said["schema"], "rubato.model_info/1")
        self.assertEqual((said["learner"], said["rows"], said["workloads_distinct"]), ("mean-curve", 6, 3))
        self.assertEqual(said["gpus"], [{"name": "V", "settings": 2}])
        shown = self.box.run("model", "show", self.file, "--json")
        self.assertEqual(json.loads(shown.stdout), said)
        text = self.box.run("model", "show", self.file)
        self.assertIn("mean-curve", text.stdout)
        self.assertIn(said["fingerprint"], text.stdout)

    def test_a_person_sees_how_far_the_training_is(self):
        rows = "".join(workload(n, t) for n, t in (("a", 1.1), ("b", 1.2), ("c", 1.3)))
        status, seen = at_terminal.said(self.box, "model", "train", "--table", self.table(rows), "--knobs", "power-limit", "--model", "mean-curve", "-o", self.file)
        self.assertEqual(status, 0, seen)
        self.assertIn("4 of 4 models", seen, "of all, and without each of the three groups")

    def test_a_typed_default_is_enough(self):
        self.trained()
        found = self.predicted("--default-time", "2", "--default-power", "150")
        self.assertEqual(found["schema"], "rubato.prediction/1")
        low, high = found["settings"]
        self.assertEqual((low["power_limit_w"], low["kind"], high["kind"]), (100, "predicted", "measured"))
        # The mean curve: 1.2 times the time, half the power.
        self.assertAlmostEqual(low["time_s"], 2.4, 9)
        self.assertAlmostEqual(low["energy_j"], 300 * 0.6, 9)
        self.assertLess(low["time_low_s"], 2.4)
        self.assertGreater(low["time_high_s"], 2.4)
        self.assertEqual((high["time_s"], high["time_low_s"]), (2, 2))

    def test_a_workload_of_a_table_is_compared_with_its_rows(self):
        self.trained()
        table = self.table(workload("new", 1.5) + workload("other", 1.6), "new.csv")
        found = self.predicted("--table", table, "--workload", "new")
        self.assertEqual(found["workload"], "new")
        low = [s for s in found["settings"] if s["power_limit_w"] == 100][0]
        self.assertAlmostEqual(low["measured"]["time_s"], 1.5, 9)
        self.assertAlmostEqual(low["time_s"], 1.2, 9)
        text = self.box.run("model", "predict", self.file, "--table", table, "--workload", "new")
        self.assertIn("predicted", text.stdout)
        self.assertIn("energy, J", text.stdout)

    def test_counters_that_are_missing_are_named(self):
        lines = (HEADER.strip() + ",feature_dram_active",) + tuple(
            row + "," + str(active) for name, time, active in (("a", 1.1, 0.6), ("b", 1.2, 0.2), ("c", 1.3, 0.8), ("d", 1.4, 0.4))
            for row in workload(name, time).split())
        table = self.box.folder / "counters.csv"
        table.write_text("\n".join(lines) + "\n")
        done = self.box.run("model", "train", "--table", table, "--knobs", "power-limit", "-o", self.file)
        self.assertEqual(done.returncode, 0, done.stderr)
        typed = ("--default-time", "2", "--default-power", "150")
        self.assertEqual(self.predicted(*typed)["counters_missing"], ["dram_active"])
        self.assertIn("not known here: dram_active", self.box.run("model", "predict", self.file, *typed).stdout)
        given = (*typed, "--feature", "dram_active=0.5")
        self.assertEqual(self.predicted(*given)["counters_missing"], [])
        self.assertNotIn("dram_active", self.box.run("model", "predict", self.file, *given).stdout)

    def test_a_file_that_is_there_stays(self):
        self.trained()
        before = self.file.read_bytes()
        again = self.refused("train", "--table", self.box.folder / "t.csv", "--knobs", "power-limit", "--model",
                             "mean-curve", "-o", self.file)
        self.assertIn("--force", again)
        self.assertEqual(self.file.read_bytes(), before)
        self.trained("--force")

    def test_what_cannot_be_trained_leaves_no_file(self):
        self.refused("train", "--table", self.table("V,a,g,200,,,-1,200,200\n"), "--knobs", "power-limit", "-o", self.file)
        self.assertFalse(self.file.exists())
        self.assertEqual(list(self.box.folder.glob("*.part")), [])

    def test_another_gpu_is_refused_by_name(self):
        self.trained()
        table = self.table(workload("new", 1.5, "W") + workload("other", 1.6, "W"), "new.csv")
        said = self.refused("predict", self.file, "--table", table, "--workload", "new")
        self.assertIn("'W'", said)
        self.assertIn("'V'", said)
        self.assertIn("'W'", self.refused("predict", self.file, "--default-time", "1", "--default-power", "1",
                                          "--gpu-name", "W"))

    def test_edited_and_cut_off_files_are_refused(self):
        self.trained()
        text = self.file.read_text()
        self.file.write_text(text.replace('"rows":6', '"rows":7'))
        self.assertIn("changed since it was written", self.refused("show", self.file))
        self.file.write_text(text[: len(text) // 2])
        self.assertIn("cut off", self.refused("show", self.file))
        self.file.write_text(text.replace("rubato.model/1", "rubato.model/9"))
        self.assertIn("rubato.model/9", self.refused("show", self.file))

    def test_half_a_question_is_refused(self):
        self.trained()
        for words in ((), ("--default-time", "1"), ("--table", "t.csv"),
                      ("--default-time", "1", "--default-power", "1", "--table", "t", "--workload", "w")):
            self.assertIn("--default-time S --default-power W", self.refused("predict", self.file, *words))
        for words in (("--default-time", "0", "--default-power", "1"), ("--default-time", "1", "--default-power", "x")):
            self.assertIn("above 0", self.refused("predict", self.file, *words))
        typed = ("--default-time", "1", "--default-power", "1")
        for probe in ("power-limit=100", "time=1,power=1", "power-limit=100,time=-1,power=1", "nonsense"):
            self.assertIn("--probe", self.refused("predict", self.file, *typed, "--probe", probe))

    def test_probes_that_do_not_fit_the_model_or_the_default_are_refused(self):
        self.trained()
        typed = ("predict", self.file, "--default-time", "1", "--default-power", "150")
        good = ("--probe", "power-limit=100,time=1.2,power=95")
        for probe, why in (("sm-clock=1000,time=1.2,power=95", "knows nothing of the sm-clock"),
                           ("power-limit=100000,time=1.2,power=95", "goes to"),
                           ("power-limit=100,time=1200,power=95", "units"),
                           ("power-limit=100,time=1.2,power=95000", "units"),
                           ("power-limit=100,time=1.3,power=95", "another probe")):
            self.assertIn(why, self.refused(*typed, *good, "--probe", probe))
        self.assertIn("units", self.refused("predict", self.file, "--default-time", "1", "--default-power", "150000"))

    def test_counters_that_would_not_be_looked_at_or_are_in_percent_are_refused(self):
        self.trained()
        words = ("predict", self.file, "--default-time", 1, "--default-power", 200)
        self.assertIn("learned with no counters", self.refused(*words, "--feature", "dram_activ=0.4"))
        rows = "".join(line + ",0.4\n" for n, t in (("a", 1.1), ("b", 1.2), ("c", 1.3)) for line in workload(n, t).splitlines())
        table = self.box.folder / "counters.csv"
        table.write_text(HEADER.strip() + ",feature_dram_active\n" + rows)
        done = self.box.run("model", "train", "--table", table, "--knobs", "power-limit", "--model", "mean-curve",
                            "-o", self.file, "--force")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("its counters are dram_active", self.refused(*words, "--feature", "dram_activ=0.4"))
        self.assertIn("40 % is 0.4", self.refused(*words, "--feature", "dram_active=40"))
        self.assertIn("given twice", self.refused(*words, "--feature", "dram_active=0.4", "--feature", "dram_active=0.5"))
        self.predicted(*words[2:], "--feature", "dram_active=0.4")

    def test_the_model_and_json_are_not_both_printed(self):
        done = self.box.run("model", "train", "--table", self.table(workload("a", 1.1)), "--knobs", "power-limit",
                            "-o", "-", "--json")
        self.assertEqual(done.returncode, 125)
        self.assertIn("both want standard output", done.stderr)


if __name__ == "__main__":
    unittest.main()
