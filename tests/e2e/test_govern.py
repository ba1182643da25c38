"""`rubato run` that chooses the setting itself: what is searched, told, kept and put back."""

import json
import stat
import unittest

import at_terminal
from harness import FOUND_W, MachineTest, in_one_world_of

ITERATIONS = 900


def roles(report):
    return [s["role"] for s in report["settings"]]


class Govern(MachineTest):
    def enter(self, rate):
        self.world = self.machine(rate=rate)

    def govern(self, *options, iterations=ITERATIONS, machine=None):
        machine = machine or self.world
        bound = [] if "--max-slowdown" in options else ["--max-slowdown", "12%"]
        done = machine.run("run", "--gpu", "0", "--strategy", "bisection", "--knobs", "power-limit", *bound, *options,
                           "--", *machine.train(iterations))
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    @in_one_world_of(60, 20)
    def test_a_search_ends_in_hold_and_the_found_limit_is_back(self):
        done = self.govern()
        self.assertEqual(self.world.gpu().limit(), FOUND_W)
        self.assertEqual(self.world.journals(), [])
        report = self.world.last()
        self.assertIn("hold", roles(report))
        search = report["search"]
        self.assertGreaterEqual(search["settings_tried"], 3)
        self.assertEqual(len(search["tried"]), search["settings_tried"])
        self.assertGreater(search["settled_s"], search["began_s"])
        for tried in search["tried"]:
            self.assertIsNone(tried["setting"]["sm_clock_mhz"])
            self.assertTrue(100 <= tried["setting"]["power_limit_w"] <= FOUND_W)
        goal = report["goal"]
        self.assertEqual((goal["strategy"], goal["objective"], goal["max_slowdown"]), ("bisection", "energy", 0.12))
        self.assertIsNone(search["expected"], "a bisection predicts nothing")
        self.assertEqual(report["decisions"][0]["action"], "strategy")
        self.assertIn("100 to 200 W", report["decisions"][0]["why"])
        self.assertGreater(report["savings"]["energy_per_iteration_saved"]["fraction"], 0.02)
        self.assertIn("were tried in", done.stderr)
        shown = self.world.run("show", "last").stdout
        self.assertIn("Tried, against the found setting (modelled)", shown)

    @in_one_world_of(60, 20)
    def test_what_was_learned_is_kept_for_the_same_program_and_offered_again(self):
        self.govern()
        self.assertEqual(self.world.last()["savings"]["kind"], "modelled")
        files = list((self.world.folder / "state" / "rubato" / "learned").iterdir())
        self.assertEqual(len(files), 1)
        self.assertEqual(stat.S_IMODE(files[0].stat().st_mode), 0o600)
        kept = json.loads(files[0].read_text())
        self.assertLess(kept["energy_ratio"], 1)
        self.assertNotIn("train", files[0].read_text(), "no word of the command is kept")
        self.govern()
        intent = self.world.last()["decisions"][0]["why"]
        self.assertIn(f"an earlier run settled at {kept['power_limit_w']:g} W", intent)
        self.govern("--no-memory")
        self.assertNotIn("earlier run", self.world.last()["decisions"][0]["why"])
        files[0].write_text("{ garbage")
        spoilt = self.govern()
        self.assertIn("does not hold a learned setting", spoilt.stderr)

    @in_one_world_of(60, 20)
    def test_a_person_at_a_terminal_sees_tries_and_what_came_of_them(self):
        status, seen = at_terminal.said(self.world, "run", "--gpu", "0", "--strategy", "bisection", "--knobs", "power-limit",
                                        "--max-slowdown", "12%", "--", *self.world.train(ITERATIONS))
        self.assertEqual(status, 0)
        words = " ".join(seen.split())
        self.assertRegex(words, r"bisection chooses among a power limit of 100 to 200 W")
        self.assertRegex(words, r"after [0-9.]+ s: trying [0-9]+ W: ")
        self.assertRegex(words, r"after [0-9.]+ s: holding [0-9]+ W: ")
        self.assertRegex(words, r"iteration [0-9]+ at [0-9]+ W: .* energy and .* time .*\(modelled, 90 % sure\)")

    def test_a_dry_run_says_what_would_be_searched_and_changes_nothing(self):
        machine = self.machine(rate=60)
        done = self.govern("--dry-run", "--max-slowdown", "1%", iterations=40, machine=machine)
        self.assertIn("would let bisection choose among a power limit of 100 to 200 W", done.stderr)
        self.assertIn("at most 1 % slower", done.stderr)
        self.assertEqual(machine.last()["setting_changes"], [])
        published = machine.run("run", "--gpu", "0", "--dry-run", "--strategy", "zeus@published", "--", "true")
        self.assertIn("by its own rule and without this run's bound", published.stderr)
        self.assertNotIn("slower", published.stderr)

    def test_without_the_right_to_set_the_job_runs_measured(self):
        machine = self.machine(rate=60, rights="none")
        done = self.govern(iterations=200, machine=machine)
        self.assertIn("measuring only", done.stderr)
        self.assertEqual([c["outcome"] for c in machine.last()["setting_changes"] if c["outcome"] == "applied"], [])
        self.assertEqual(machine.gpu().limit(), FOUND_W)

    def test_what_makes_no_sense_is_refused_before_the_job_starts(self):
        machine = self.machine(rate=60)
        for words, told in [
            (["--strategy", "magic"], "bisection"),
            (["--strategy", "bisection", "--power-limit", "150"], "chooses the setting itself"),
            (["--strategy", "fixed"], "no setting was given"),
            (["--knobs", "fan"], "fan"),
            (["--objective", "joy"], "joy"),
            (["--deadline", "soon"], "--deadline soon"),
        ]:
            done = machine.run("run", "--gpu", "0", *words, "--", "touch", str(machine.folder / "started"))
            self.assertEqual(done.returncode, 125, done.stderr)
            self.assertIn(told, done.stderr)
        self.assertFalse((machine.folder / "started").exists())

    def test_the_jobs_exit_status_is_its_own(self):
        machine = self.machine(rate=60)
        done = machine.run("run", "--gpu", "0", "--strategy", "bisection", "--", "sh", "-c",
                           " ".join(machine.train(30)) + "; exit 7")
        self.assertEqual(done.returncode, 7, done.stderr)
        self.assertEqual(machine.gpu().limit(), FOUND_W)
        self.assertIsNone(machine.gpu().sm_lock())


if __name__ == "__main__":
    unittest.main()
