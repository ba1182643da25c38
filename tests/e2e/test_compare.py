"""compare, export, and the list of runs, on recorded trainings of a simulated GPU with a fixed seed."""

import csv
import json
import os
import signal
import unittest

from harness import MachineTest, wait_until

# How fast the world runs decides how much of it one late wake-up hides; these tests need samples, not speed.
RATE = 10


class Recorded(MachineTest):
    """One machine with two runs for all the tests of a class: a training as found and one at 150 W."""

    def setUp(self):
        self.box = self.machine(rate=RATE, seed=11)
        for words in (["measure"], ["run", "--power-limit", "150"]):
            done = self.box.run(*words, "--gpu", "0", "--", *self.box.train(120), "--seed", "5")
            self.assertEqual(done.returncode, 0, done.stderr)
        self.ids = self.box.run("runs", "--ids").stdout.split()

    def export(self, *words):
        done = self.box.run("export", *words)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_compare_and_export(self):
        # One set-up of some seconds for all of it.
        for part in (
            self.a_slower_setting_is_told_from_the_found_one,
            self.a_run_against_itself_has_no_difference,
            self.samples_are_one_table_in_order_of_time,
            self.every_series_has_its_units_in_its_names,
            self.json_holds_the_report_and_the_series,
            self.nothing_is_overwritten_unasked,
            self.a_failed_export_leaves_no_file,
        ):
            with self.subTest(part.__name__):
                part()

    def a_slower_setting_is_told_from_the_found_one(self):
        done = self.box.run("compare", *self.ids, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        compared = json.loads(done.stdout)
        self.assertEqual(compared["schema"], "rubato.compare/1")
        time = compared["per_iteration"]["time_s"]
        self.assertTrue(time["distinguishable"])
        self.assertGreater(time["low"], 0, "150 W is below what this training draws")
        self.assertEqual(compared["b"]["settled_setting"]["power_limit_w"], 150)
        self.assertEqual(compared["a"]["iterations"], compared["b"]["iterations"])
        self.assertIn("set_to", [fact["name"] for fact in compared["differing"]])
        self.assertNotIn("different_command", [warning["code"] for warning in compared["warnings"]])
        text = self.box.run("compare", *self.ids).stdout
        self.assertIn("B at 150 W", text)
        self.assertLessEqual(max(map(len, text.splitlines())), 80)
        there = self.box.folder / "compare.txt"
        self.box.run("compare", *self.ids, "--report", there)
        self.assertEqual(there.read_text(), text)

    def a_run_against_itself_has_no_difference(self):
        compared = json.loads(self.box.run("compare", "last", "last", "--json").stdout)
        self.assertEqual([warning["code"] for warning in compared["warnings"]], ["same_run"])
        self.assertEqual(compared["differing"], [])
        self.assertFalse(compared["per_iteration"]["energy_j"]["distinguishable"])

    def samples_are_one_table_in_order_of_time(self):
        text = self.export("--format", "csv")
        facts = [line for line in text.splitlines() if line.startswith("#")]
        self.assertTrue(any("modelled" in fact for fact in facts), "the kind of number stands before the numbers")
        rows = list(csv.DictReader(line for line in text.splitlines() if not line.startswith("#")))
        times = [float(row["time_s"]) for row in rows]
        self.assertEqual(times, sorted(times))
        powers = [float(row["power_w"]) for row in rows if row["power_w"]]
        self.assertGreater(len(powers), 100)
        self.assertTrue(all(20 < watts < 260 for watts in powers), "a V100 never draws less or more")
        self.assertTrue(any(row["sm_clock_mhz"] for row in rows))
        self.assertTrue(all(row["power_w"] != "0" for row in rows), "missing is empty, never zero")

    def every_series_has_its_units_in_its_names(self):
        shown = self.box.last()
        for series, column, count in (("iterations", "duration_s", shown["iterations"]), ("decisions", "time_s", len(shown["decisions"]))):
            text = self.export("--format", "csv", "--what", series)
            rows = list(csv.DictReader(line for line in text.splitlines() if not line.startswith("#")))
            self.assertIn(column, rows[0])
            self.assertEqual(len(rows), count)
        blocks = self.export("--format", "csv", "--what", "blocks")
        rows = list(csv.DictReader(line for line in blocks.splitlines() if not line.startswith("#")))
        self.assertIn("hold", [row["role"] for row in rows])
        self.assertEqual({row["power_limit_w"] for row in rows if row["role"] == "hold"}, {"150"})

    def json_holds_the_report_and_the_series(self):
        document = json.loads(self.export("--format", "json"))
        self.assertEqual(document["schema"], "rubato.export/1")
        self.assertEqual(document["run"], self.box.last())
        self.assertEqual(set(document["series"]),
                         {"samples", "meters", "marks", "kernels", "iterations", "blocks", "decisions", "statements",
                          "rates", "shifts", "features", "expectations"})
        samples = document["series"]["samples"]
        self.assertTrue(all(len(row) == len(samples["columns"]) for row in samples["rows"]))
        only = json.loads(self.export("--format", "json", "--what", "iterations"))
        self.assertEqual(set(only["series"]), {"iterations"})

    def nothing_is_overwritten_unasked(self):
        there = self.box.folder / "there.csv"
        there.write_text("mine\n")
        done = self.box.run("export", "--format", "csv", "-o", there)
        self.assertEqual(done.returncode, 125)
        self.assertIn("--force", done.stderr)
        self.assertEqual(there.read_text(), "mine\n")
        self.export("--format", "csv", "-o", there, "--force")
        self.assertIn("power_w", there.read_text())
        new = self.box.folder / "new.csv"
        self.export("--format", "csv", "-o", new)
        self.assertEqual(new.read_text(), there.read_text())

    def a_failed_export_leaves_no_file(self):
        broken = self.box.folder / "broken.sqlite"
        broken.write_bytes(b"not a database" * 100)
        before = set(self.box.folder.iterdir())
        done = self.box.run("export", broken, "--format", "csv", "-o", self.box.folder / "out.csv")
        self.assertEqual(done.returncode, 1)
        self.assertIn("broken.sqlite", done.stderr)
        self.assertEqual(set(self.box.folder.iterdir()), before)


class Live(MachineTest):
    def listed(self, machine):
        return json.loads(machine.run("runs", "--json").stdout)["runs"]

    def test_a_run_that_goes_on_is_running_and_one_that_was_killed_was_cut_short(self):
        machine = self.machine(rate=RATE)
        process = machine.start("measure", "--gpu", "0", "--", "sleep", "600", start_new_session=True)
        try:
            wait_until(lambda: self.listed(machine), "the record to be there")
            (run,) = self.listed(machine)
            self.assertTrue(run["running"])
            self.assertFalse(run["complete"])
            self.assertIn("running", machine.run("runs").stdout)
            self.assertIn("still running", machine.run("show").stdout)
            self.assertTrue(json.loads(machine.run("show", "--json").stdout)["running"])
        finally:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
        (run,) = self.listed(machine)
        self.assertFalse(run["running"])
        self.assertIn("cut short", machine.run("runs").stdout)

    def test_a_finished_run_is_not_running(self):
        machine = self.machine(rate=40)
        machine.run("measure", "--gpu", "0", "--", "true")
        (run,) = self.listed(machine)
        self.assertFalse(run["running"])
        self.assertTrue(run["complete"])


if __name__ == "__main__":
    unittest.main()
