"""One command under many settings: measured, checked, recorded, put back, interrupted and gone on with."""

import csv
import json
import os
import signal
import unittest

from harness import FOUND_W, MachineTest, wait_until

# Long enough that the moments before a run's setting is made are a small part of it.
ITERATIONS = 120
RATE = 15
KNOB = ("--knob", "power-limit=120,160")


class Sweep(MachineTest):
    def sweep(self, machine, *options, command=None, **more):
        table = machine.folder / "table.csv"
        done = machine.run(
            "sweep", "--gpu", "sim:v100", "--warmup", "0", "-o", table, *options, "--",
            *(command or machine.train(ITERATIONS)), **more,
        )
        return done, table

    @staticmethod
    def rows(table):
        return list(csv.DictReader(line for line in table.read_text().splitlines() if not line.startswith("#")))

    def test_a_table_a_report_and_everything_put_back(self):
        machine = self.machine(rate=RATE)
        report = machine.folder / "report.json"
        done, table = self.sweep(machine, *KNOB, "--max-slowdown", "50%", "--json", "--report", report)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(machine.gpu().limit(), FOUND_W)
        self.assertEqual(machine.journals(), [])
        rows = {float(row["power_limit_w"]): row for row in self.rows(table)}
        self.assertEqual(set(rows), {FOUND_W, 120, 160}, done.stderr)
        self.assertEqual([limit for limit, row in rows.items() if row["default"] == "1"], [FOUND_W])
        self.assertGreater(float(rows[120]["time_s"]), float(rows[FOUND_W]["time_s"]))
        self.assertLess(float(rows[120]["power_w"]), 121)
        shown = json.loads(report.read_text())
        self.assertEqual(shown["schema"], "rubato.sweep/1")
        self.assertTrue(shown["complete"])
        self.assertEqual(shown["quality"], "modelled", "a simulated GPU must not pass for hardware")
        self.assertEqual(shown["best_inside_bound"]["setting"]["power_limit_w"], 120)
        self.assertEqual(sum(s["default"] for s in shown["settings"]), 1)
        self.assertFalse((machine.folder / "table.csv.state").exists())
        self.assertIn("iteration", done.stdout, "standard output is the job's own")

    def test_after_an_interruption_the_same_command_goes_on(self):
        machine = self.machine(rate=RATE)
        table = machine.folder / "table.csv"
        state = machine.folder / "table.csv.state"
        command = ("sweep", "--gpu", "sim:v100", "--warmup", "0", "-o", table, *KNOB, "--", *machine.train(ITERATIONS))
        first = machine.start(*command, start_new_session=True)
        wait_until(lambda: state.exists() and state.read_text().count("\n") == 3, "two measurements")
        os.killpg(first.pid, signal.SIGINT)
        _, err = first.communicate(timeout=30)
        self.assertEqual(first.returncode, 128 + signal.SIGINT, err)
        self.assertIn("interrupted", err)
        self.assertEqual(machine.gpu().limit(), FOUND_W)
        kept = state.read_text().splitlines()[:3]
        self.assertEqual(len(self.rows(table)), 2, "what was measured is in the table")

        other = machine.run(*command[:-len(machine.train())], *machine.train(7))
        self.assertEqual(other.returncode, 125, other.stderr)
        self.assertIn("another sweep", other.stderr)
        self.assertEqual(state.read_text().splitlines()[:3], kept)

        again = machine.run(*command)
        self.assertEqual(again.returncode, 0, again.stderr)
        self.assertIn("going on", again.stderr)
        self.assertEqual(len(self.rows(table)), 3, again.stderr)

    def interrupted(self, machine, *command, after):
        """The sweep `command`, ended by Ctrl-C once `after` holds for the lines of measurements in its state."""
        state = machine.folder / "table.csv.state"

        def measured():
            return [json.loads(line) for line in state.read_text().splitlines(True)[1:] if line.endswith("\n")]

        process = machine.start(*command, start_new_session=True)
        wait_until(lambda: process.poll() is not None or (state.exists() and after(measured())), "what ends this stretch")
        os.killpg(process.pid, signal.SIGINT)
        _, err = process.communicate(timeout=30)
        self.assertEqual(process.returncode, 128 + signal.SIGINT, err)
        return measured()

    def command(self, machine, *options):
        table = machine.folder / "table.csv"
        return ("sweep", "--gpu", "sim:v100", "--warmup", "0", "-o", table, *options, "--", *machine.train(ITERATIONS))

    def test_interrupted_twice_nothing_that_was_measured_is_missing(self):
        machine = self.machine(rate=RATE)
        report = machine.folder / "report.json"
        command = self.command(machine, *KNOB, "--order", "ascending", "--json", "--report", report)
        self.interrupted(machine, *command, after=lambda measured: len(measured) == 1)
        second = self.interrupted(machine, *command, after=lambda measured: any(m["at"] for m in measured))
        self.assertEqual([bool(m["at"]) for m in second], [False, False, True], "a stretch begins with a control run")
        done = machine.run(*command)
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = {float(row["power_limit_w"]) for row in self.rows(machine.folder / "table.csv")}
        self.assertEqual(rows, {FOUND_W, 120, 160}, done.stderr)
        shown = json.loads(report.read_text())
        self.assertTrue(shown["complete"])
        self.assertEqual([d["session"] for d in shown["drift"]], [0, 1, 2])

    def test_what_was_measured_beside_no_usable_control_run_is_measured_again(self):
        machine = self.machine(rate=RATE)
        state = machine.folder / "table.csv.state"
        command = self.command(machine, *KNOB, "--order", "ascending")
        self.interrupted(machine, *command, after=lambda measured: len(measured) == 2)
        header, control, setting = state.read_text().splitlines()[:3]
        lost = {**json.loads(control), "not_used": "its record was cut short"}
        state.write_text("\n".join((header, json.dumps(lost), setting)) + "\n")
        done = machine.run(*command)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("its 2 stretches", done.stderr)
        self.assertEqual(len(self.rows(machine.folder / "table.csv")), 3, done.stderr)

    def test_another_limit_than_the_one_it_began_at_is_refused(self):
        machine = self.machine(rate=RATE)
        state = machine.folder / "table.csv.state"
        command = self.command(machine, *KNOB)
        self.interrupted(machine, *command, after=lambda measured: len(measured) == 1)
        kept = state.read_text()
        machine.gpu().set_limit(230)
        for more in ((), ("--dry-run",)):
            again = machine.run(*command[:1], *more, *command[1:])
            self.assertEqual(again.returncode, 125, again.stderr)
            self.assertIn("power limit of GPU 0 (Tesla V100-PCIE-16GB) was 200 W and is 230 W", again.stderr)
            self.assertIn("nvidia-smi -pl", again.stderr)
        self.assertEqual(state.read_text(), kept)
        machine.gpu().set_limit(FOUND_W)
        done = machine.run(*command)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_clock_lock_that_is_gone_ends_the_sweep_before_a_setting_is_measured(self):
        machine = self.machine(rate=RATE, found={"power_limit_w": 250, "sm_clock_mhz": [900, 900]})
        command = self.command(machine, *KNOB)
        first = self.interrupted(machine, *command, after=lambda measured: len(measured) == 1)
        machine.gpu().reset_sm_lock()
        again = machine.run(*command)
        self.assertEqual(again.returncode, 1, again.stderr)
        self.assertIn("ran at 900 MHz before the interruption", again.stderr)
        self.assertEqual(len((machine.folder / "table.csv.state").read_text().splitlines()), 1 + len(first))

    def test_a_table_that_cannot_be_written_costs_no_measurement(self):
        machine = self.machine(rate=RATE)
        table = machine.folder / "table.csv"
        state = machine.folder / "table.csv.state"
        command = self.command(machine, "--knob", "power-limit=120")
        process = machine.start(*command)
        wait_until(lambda: state.exists() and state.read_text().count("\n") == 2, "a measurement")
        table.mkdir()  # as a disk that is full by now
        _, err = process.communicate(timeout=machine.patience)
        self.assertEqual(process.returncode, 1, err)
        self.assertIn("the same command writes it without measuring anew", err)
        runs = state.read_text().count("\n")
        table.rmdir()
        again = machine.run(*command)
        self.assertEqual(again.returncode, 0, again.stderr)
        self.assertIn(f"going on with the {runs - 1} runs", again.stderr)
        self.assertNotIn("iteration", again.stdout, "no job ran")
        self.assertEqual(len(self.rows(table)), 2)
        self.assertFalse(state.exists())

    def test_a_job_that_fails_ends_the_sweep_with_its_status(self):
        machine = self.machine(rate=RATE)
        done, table = self.sweep(machine, *KNOB, command=["sh", "-c", "exit 3"])
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertFalse(table.exists())
        self.assertEqual(machine.gpu().limit(), FOUND_W)

    def test_without_the_right_to_set_no_job_is_started(self):
        machine = self.machine(rate=RATE, rights="none")
        trace = machine.folder / "started"
        done, _ = self.sweep(machine, *KNOB, command=["touch", str(trace)])
        self.assertEqual(done.returncode, 125, done.stderr)
        self.assertIn("cannot set the power limit", done.stderr)
        self.assertFalse(trace.exists())

    def test_a_limit_that_ends_elsewhere_is_marked_and_not_used(self):
        clamp = {"call": "set_power_limit", "effect": "clamp", "to_w": 180, "after": 0, "count": 1}
        machine = self.machine(rate=RATE, faults=[clamp])
        report = machine.folder / "report.json"
        done, table = self.sweep(machine, "--knob", "power-limit=120", "--json", "--report", report)
        self.assertEqual(done.returncode, 1, "nothing could be compared")
        self.assertIn("nothing to compare", json.loads(report.read_text())["why_no_result"])
        self.assertEqual(machine.gpu().limit(), FOUND_W)
        self.assertEqual([float(row["power_limit_w"]) for row in self.rows(table)], [FOUND_W], done.stderr)
        lost = [s for s in json.loads(report.read_text())["settings"] if not s["used"]]
        self.assertEqual(len(lost), 1, done.stderr)
        self.assertIn("180", lost[0]["not_used"][0])

    def test_what_was_typed_wrong_is_refused_before_anything_runs(self):
        machine = self.machine(rate=RATE)
        for options, word in (
            (("--knob", "power-limit=10:20:5"), "outside"),
            (("--knob", "power-limit"), "no '='"),
            ((), "--knob"),
            (("--knob", "power-limit=200"), "nothing to sweep"),
            ((*KNOB, "--order", "sideways"), "--order"),
        ):
            done, table = self.sweep(machine, *options, command=["true"])
            self.assertEqual(done.returncode, 125, (options, done.stderr))
            self.assertIn(word, done.stderr)
            self.assertFalse(table.exists())

    def test_a_table_that_is_there_is_kept(self):
        machine = self.machine(rate=RATE)
        (machine.folder / "table.csv").write_text("mine")
        done, table = self.sweep(machine, *KNOB, command=["true"])
        self.assertEqual(done.returncode, 125, done.stderr)
        self.assertEqual(table.read_text(), "mine")

    def test_a_dry_run_says_what_would_be_run_and_touches_nothing(self):
        machine = self.machine(rate=RATE)
        done, table = self.sweep(machine, *KNOB, "--dry-run", "--json", command=["false"])
        self.assertEqual(done.returncode, 0, done.stderr)
        steps = json.loads(done.stdout)["steps"]
        self.assertEqual(sorted(s["power_limit_w"] for s in steps if s["power_limit_w"]), [120, 160])
        self.assertFalse(table.exists())
        self.assertFalse((machine.folder / "table.csv.state").exists())

    def test_one_run_can_take_all_settings(self):
        machine = self.machine(rate=RATE)
        done, table = self.sweep(machine, *KNOB, "--within", command=machine.train(900))
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = {float(row["power_limit_w"]): row for row in self.rows(table)}
        self.assertEqual(set(rows), {FOUND_W, 120, 160}, done.stderr)
        self.assertLess(float(rows[FOUND_W]["time_s"]), 1, "time of an iteration, not of the run")
        self.assertGreater(float(rows[120]["time_s"]), float(rows[160]["time_s"]))
        self.assertEqual(machine.gpu().limit(), FOUND_W)

    def test_an_sm_clock_is_swept_and_unlocked(self):
        machine = self.machine(rate=RATE, found={"power_limit_w": 250})
        done, table = self.sweep(machine, "--knob", "sm-clock=1005")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual([row["sm_clock_mhz"] for row in self.rows(table)], ["", "1005"], done.stderr)
        self.assertIsNone(machine.gpu().sm_lock())

    def test_clocks_that_were_locked_before_are_not_touched(self):
        machine = self.machine(rate=RATE, found={"power_limit_w": 250, "sm_clock_mhz": [900, 900]})
        done, table = self.sweep(machine, "--knob", "sm-clock=1005")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("lock", done.stderr)
        self.assertEqual(machine.gpu().sm_lock(), 900)


if __name__ == "__main__":
    unittest.main()
