"""rubato lab run: the fixed output, what it refuses, and the measured tables where they are."""

import json
import unittest

from harness import SOURCE, MachineTest

HEADER = "gpu,workload,group,power_limit_w,sm_clock_mhz,memory_clock_mhz,time_s,power_w,energy_j\n"
TABLES = SOURCE.parent / "shared" / "data" / "tables"

# A watt down costs a thousandth of the time; 140 W and below cost nearly 10 % less energy than 150 W.
STEEP = [(100, 1.1, 0.7), (140, 1.01, 0.9), (150, 1.0, 1.0)]


def workload(name, rows):
    return "".join("V100,%s,%s,%d,,,%g,%g,%g\n" % (name, name, limit, time, 140 * energy / time, 140 * energy)
                   for limit, time, energy in rows)


class Lab(MachineTest):
    def setUp(self):
        self.box = self.machine()

    def table(self, rows=None, name="t.csv"):
        file = self.box.folder / name
        file.write_text(HEADER + (rows or workload("a", STEEP)))
        return file

    def text(self, *words):
        done = self.box.run("lab", "run", *words)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def said(self, *words):
        return json.loads(self.text("--json", *words))

    def refused(self, *words):
        done = self.box.run("lab", "run", *words)
        self.assertEqual(done.returncode, 125, done.stdout)
        self.assertEqual(done.stdout, "")
        return done.stderr

    def test_the_oracle_captures_all_and_measuring_nothing(self):
        found = self.said("--table", self.table(), "--strategies", "oracle,measure-only", "--iterations", "200")
        self.assertEqual(found["schema"], "rubato.lab/1")
        self.assertEqual((found["resolution"], found["truth"], found["kind"]), ("hardware", "denoised", "interpolated"))
        self.assertEqual((found["workloads"], found["iteration_s"], found["default_assumed"]), (1, 0.3, True))
        self.assertNotIn("correction", found)
        oracle, nothing = found["strategies"]
        self.assertAlmostEqual(oracle["captured"], 1, 9)
        self.assertLessEqual(oracle["slowdown_max"], 0.05)
        self.assertEqual(oracle["bound_violations"], 0)
        self.assertIsNone(oracle["worst_running_slowdown_after_300_s"])  # 200 iterations last one minute
        self.assertEqual((nothing["saving_mean"], nothing["settled_after_iterations_mean"]), (0, None))
        self.assertNotIn("rows", oracle)

    def test_at_table_resolution_the_correction_stands_beside(self):
        found = self.said("--table", self.table(), "--strategies", "oracle", "--iterations", "10", "--resolution", "table",
                          "--truth", "raw", "-v")
        self.assertEqual(found["kind"], "replayed")
        oracle = found["strategies"][0]
        self.assertAlmostEqual(oracle["saving_mean"], 0.1, 9)
        # 40 of the 90 thousandths between 140 and 100 W are left below 5 %.
        self.assertAlmostEqual(oracle["mixed_oracle_saving_mean"], 0.1 + 0.2 * 40 / 90, 9)
        self.assertEqual(oracle["rows"][0]["workload"], "a")
        table, hardware = found["correction"]["resolutions"]
        self.assertEqual((table["resolution"], hardware["resolution"]), ("table", "hardware"))
        self.assertAlmostEqual(table["fixed_saving"]["apparent"], 0.1, 9)
        self.assertGreater(hardware["fixed_saving"]["apparent"], 0.1)

    def test_the_same_seed_gives_the_same_bytes_on_any_number_of_threads(self):
        rows = "".join(workload(name, [(w, t + i / 1000, e) for w, t, e in STEEP]) for i, name in enumerate("abcde"))
        words = ("--table", self.table(rows), "--strategies", "bisection", "--noise-model", "heavy-tail", "--seeds", "3", "-v",
                 "--json")
        self.assertEqual(self.text(*words, "--threads", "1"), self.text(*words, "--threads", "4"))
        self.assertNotEqual(self.text(*words), self.text(*words, "--seed", "2"))

    def test_a_strategy_that_lacks_something_says_so_and_counts_neither_way(self):
        fixed, oracle = self.said("--table", self.table(), "--strategies", "fixed,oracle", "--iterations", "10")["strategies"]
        self.assertEqual((fixed["applicable"], oracle["applicable"]), (False, True))
        self.assertIn("no setting was given", fixed["needs"][0])
        self.assertNotIn("saving_mean", fixed)

    def test_the_page_has_the_oracles_and_a_scatter_beside_the_means(self):
        page = self.text("--table", self.table(), "--strategies", "oracle", "--iterations", "10")
        for words in ("best fixed setting", "best share of two", "Saving against slowdown: oracle", "Interpolated",
                      "No row says that it is the default"):
            self.assertIn(words, " ".join(page.split()))

    def test_host_watts_count_with_the_board(self):
        found = self.said("--table", self.table(), "--strategies", "oracle", "--host-watts", "100000", "--iterations", "10")
        self.assertEqual(found["strategies"][0]["saving_mean"], 0)

    def test_where_time_weighs_more_less_is_saved_and_lost(self):
        found = self.said("--suite", "v100", "--strategies", "rubato", "--iterations", "600", "--second-watts", "150")
        self.assertEqual(found["second_watts"], 150)
        (weighed,) = found["strategies"]
        (alone,) = self.said("--suite", "v100", "--strategies", "rubato", "--iterations", "600")["strategies"]
        self.assertLess(weighed["slowdown_mean"], alone["slowdown_mean"])
        self.assertLess(weighed["saving_mean"], alone["saving_mean"])
        self.assertEqual(weighed["fixed_oracle_saving_mean"], alone["fixed_oracle_saving_mean"], "no figure counts it")

    def test_the_length_of_iterations_is_told_where_it_was_asked_for(self):
        words = ("--suite", "v100", "--strategies", "oracle", "--iterations", 2)
        self.assertEqual(self.said(*words, "--iteration-seconds", 0.5)["iteration_s"], 0.5)
        self.assertIsNone(self.said(*words)["iteration_s"])

    def test_learning_from_what_is_steered_is_told(self):
        same = self.table(workload("a", STEEP) + workload("b", STEEP[:1] + STEEP[2:]))
        done = self.box.run("lab", "run", "--table", same, "--train", same, "--strategies", "oracle",
                            "--iterations", 2)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("all 2 workloads", done.stderr)

    def test_what_is_wrong_is_refused(self):
        table = self.table()
        for words, said in (
            (("--strategies", "oracle"), "--table"),
            (("--table", table, "--suite", "x", "--strategies", "oracle"), "--table"),
            (("--suite", "none-such", "--strategies", "oracle"), "none-such"),
            (("--suite", "gpoeo-71", "--resolution", "table", "--strategies", "oracle"), "--suite"),
            (("--table", table, "--strategies", "luck"), "luck"),
            (("--table", table, "--strategies", "oracle+mix"), "oracle"),
            (("--table", table, "--strategies", "oracle", "--noise", "30%"), "--noise 30%"),
            (("--table", table, "--strategies", "oracle", "--noise-model", "white"), "heavy-tail"),
            (("--table", table, "--strategies", "oracle", "--truth", "false"), "--truth"),
            (("--table", table, "--strategies", "oracle", "--knobs", "memory-clock"), "memory-clock"),
            (("--table", table, "--strategies", "oracle", "--iterations", "0"), "--iterations"),
            (("--table", table, "--strategies", "rubato", "--second-watts", "-1"), "--second-watts"),
            (("--table", table.parent / "absent.csv", "--strategies", "oracle"), "absent.csv"),
        ):
            self.assertIn(said, self.refused(*words), words)

    def test_measured_tables_have_the_oracles_that_were_worked_out_elsewhere(self):
        # tools/search_baselines.py beside the data, which uses scikit-learn and SciPy: bound 5 %, 1 W or 15 MHz.
        for name, workloads, fixed, mixed in (("v100-power-limit-training", 68, 0.1074, 0.1101),
                                              ("p100-power-limit-training", 45, 0.0810, 0.0829),
                                              ("a100sxm-sm-clock-pipeline-stages", 8, 0.1159, 0.1278)):
            table = TABLES / (name + ".csv")
            if not table.exists():
                self.skipTest("%s is not there" % table)
            found = self.said("--table", table, "--strategies", "oracle", "--iterations", "50")
            oracle = found["strategies"][0]
            self.assertEqual(found["workloads"], workloads)
            self.assertAlmostEqual(oracle["fixed_oracle_saving_mean"], fixed, 4)
            self.assertAlmostEqual(oracle["mixed_oracle_saving_mean"], mixed, 4)


if __name__ == "__main__":
    unittest.main()
