"""rubato model validate: the fixed output, what it refuses, and the measured tables where they are."""

import json
import unittest

from harness import SOURCE, MachineTest

HEADER = "gpu,workload,group,power_limit_w,sm_clock_mhz,memory_clock_mhz,time_s,power_w,energy_j\n"
TABLES = SOURCE.parent / "shared" / "data" / "tables"


def workload(name, group, time, power):
    """At 200 W one second of 200 W, at 100 W what is given."""
    return "V,%s,%s,200,,,1,200,200\nV,%s,%s,100,,,%g,%g,%g\n" % (name, group, name, group, time, power, time * power)


class ModelValidate(MachineTest):
    def setUp(self):
        self.box = self.machine()

    def table(self, rows, name="t.csv"):
        file = self.box.folder / name
        file.write_text("# made by hand\n" + HEADER + rows)
        return file

    def said(self, table, *words):
        done = self.box.run("model", "validate", "--table", table, "--json", "--model", "mean-curve", *words)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def refused(self, *words):
        done = self.box.run("model", "validate", *words)
        self.assertEqual(done.returncode, 125, done.stdout)
        self.assertEqual(done.stdout, "")
        return done.stderr

    def test_equal_curves_count_once(self):
        table = self.table(workload("a", "g", 1.2, 100) + workload("b", "h", 1.2, 100) + workload("c", "i", 1.8, 100))
        found = self.said(table, "--knobs", "power-limit")
        self.assertEqual((found["groups"], found["workloads"], found["workloads_distinct"]), (2, 3, 2))

    def test_the_errors_are_those_of_the_head(self):
        rows = [workload(n, n, t, 100) for n, t in (("a", 1.1), ("b", 1.2), ("c", 1.3))]
        found = self.said(self.table("".join(rows)), "--knobs", "power-limit", "--max-slowdown", "15%")
        # a is taken for 1.25, b for 1.2, c for 1.15; energy is half of that.
        expected = (1.25 / 1.1 - 1 + 0 + 1 - 1.15 / 1.3) / 3
        self.assertAlmostEqual(found["time_mape"], expected, 9)
        self.assertAlmostEqual(found["energy_mape"], expected, 9)
        self.assertAlmostEqual(found["energy_regret"], 0, 9)
        self.assertAlmostEqual(found["at_bound"]["oracle_saving"], 0.45 / 3, 9)
        self.assertEqual(found["mean_curve"]["time_mape"], found["time_mape"])
        self.assertNotIn("per_workload", found)
        self.assertEqual(len(self.said(self.table("".join(rows)), "--knobs", "power-limit", "-v")["per_workload"]), 3)

    def test_it_learns_from_another_table_where_told(self):
        train = self.table(workload("x", "g", 1.1, 100) + workload("y", "g", 1.3, 100), "train.csv")
        found = self.said(self.table(workload("a", "g", 1.5, 100)), "--train", train, "--knobs", "power-limit")
        self.assertAlmostEqual(found["time_mape"], 1 - 1.2 / 1.5, 9)

    def test_a_model_that_has_seen_the_workloads_is_told(self):
        seen = self.table("".join(workload(n, n, 1.2, 100) for n in "ab"), "seen.csv")
        table = self.table(workload("a", "a", 1.1, 100) + workload("c", "c", 1.3, 100))
        words = ("--knobs", "power-limit", "--model", "mean-curve")
        done = self.box.run("model", "validate", "--table", table, "--train", seen, *words)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("1 of 2 workloads", done.stderr)
        done = self.box.run("model", "validate", "--table", table, *words)
        self.assertNotIn("workloads of", done.stderr)

    def test_what_is_wrong_is_refused_with_file_and_line(self):
        good = workload("a", "g", 1.1, 100) + workload("b", "h", 1.2, 100)
        for rows, line, word in (
            (good + "V,c,i,200,,,1,200,0.2\nV,c,i,100,,,1,100,100\n", 7, "units"),
            (good + "V,c,i,200,,,nan,200,200\n", 7, "time_s"),
            (good + "V,c,i,200,,,-1,200,200\n", 7, "time_s"),
            (good + "V,c,i,200,,,1,200,200\n", 7, "one setting"),
            (good + "V,a,g,100,,,1,200,200\n", 7, "already"),
            (good + "V,c,i,200,900,,1,1,1\nV,c,i,100,1000,,1,1,1\n", 7, "no default row"),
        ):
            said = self.refused("--table", self.table(rows), "--knobs", "power-limit", "--model", "mean-curve")
            self.assertIn("t.csv, line %d" % line, said)
            self.assertIn(word, said)

    def test_words_that_make_no_sense_are_refused(self):
        table = self.table(workload("a", "g", 1.1, 100) + workload("b", "h", 1.2, 100))
        good = ("--table", table, "--knobs", "power-limit")
        self.assertIn("no model 'oracle'", self.refused(*good, "--model", "oracle"))
        self.assertIn("--max-slowdown", self.refused(*good, "--max-slowdown", "much"))
        self.assertIn("fan", self.refused("--table", table, "--knobs", "fan"))
        self.assertIn("sm-clock", self.refused("--table", table, "--knobs", "sm-clock"))
        self.assertIn("--knobs", self.refused("--table", table))
        self.assertIn("--probes", self.refused(*good, "--probes", "-1"))
        self.assertIn("none.csv", self.refused("--table", "none.csv", "--knobs", "power-limit"))
        self.assertIn("--host-watts", self.refused(*good, "--host-watts", "-5"))

    def test_the_page_shows_the_baseline_and_the_floor(self):
        table = self.table("".join(workload(n, n, t, 100) for n, t in (("a", 1.1), ("b", 1.2), ("c", 1.3))))
        done = self.box.run("model", "validate", "--table", table, "--knobs", "power-limit", "--model", "mean-curve")
        self.assertEqual(done.returncode, 0, done.stderr)
        for word in ("mean curve", "noise floor", "captured", "At most 5.0 % slower"):
            self.assertIn(word, done.stdout)

    @unittest.skipUnless((TABLES / "v100-power-limit-training.csv").exists(), "the measured tables are not there")
    def test_the_measured_v100_table(self):
        found = self.said(TABLES / "v100-power-limit-training.csv", "--knobs", "power-limit")
        self.assertEqual((found["groups"], found["workloads"], found["workloads_distinct"]), (6, 68, 68))
        self.assertAlmostEqual(found["time_mape"], 0.103, delta=0.001)
        self.assertAlmostEqual(found["energy_mape"], 0.100, delta=0.001)


if __name__ == "__main__":
    unittest.main()
