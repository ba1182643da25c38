"""`rubato run --power-budget`: what is refused, what is set on which board, and that the sum is never above the budget."""

import unittest

from harness import MachineTest, in_one_world_of

FOUND = 250
BUDGET = 360
BOARDS = "v100-pcie-16gb,v100-sxm2-32gb"
LEAST = 100 + 150


def limits_over_time(report):
    """The requested limits of all boards after each moment at which rubato changed some."""
    now = {g["uuid"]: FOUND for g in report["gpus"]}
    out = {}
    for change in sorted(report["setting_changes"], key=lambda c: c["at_s"]):
        if change["who"] == "rubato" and change["outcome"] == "applied":
            now[change["gpu"]] = change["requested"]["power_limit_w"]
            out[change["at_s"]] = dict(now)
    return list(out.values())


class PowerBudget(MachineTest):
    def enter(self, rate):
        self.world = self.machine(rate=rate, profiles=BOARDS, found={"power_limit_w": FOUND})

    def run_job(self, *options, iterations=1100, machine=None, job=None):
        machine = machine or self.world
        return machine.run("run", "--gpu", "0,1", *options, "--",
                           *(job or [*machine.train(iterations), "--device", "0,1"]))

    @in_one_world_of(40, 15)
    def test_boards_in_step_share_the_watts_and_get_their_own_limits_back(self):
        done = self.run_job("--power-budget", f"{BUDGET}W")
        self.assertEqual(done.returncode, 0, done.stderr)
        report = self.world.last()
        goal = report["goal"]
        self.assertEqual((goal["strategy"], goal["objective"], goal["power_budget_w"]), ("power-budget", "time", BUDGET))
        self.assertIsNone(goal["max_slowdown"])
        sums = [sum(limits.values()) for limits in limits_over_time(report)]
        self.assertLessEqual(max(sums), BUDGET, sums)
        self.assertGreaterEqual(sums[-1], BUDGET - 2, "what there is is given out")
        self.assertTrue(all(g["restoration"] == "restored" for g in report["gpus"]))
        self.assertTrue(all(g["found"]["power_limit_w"] == FOUND for g in report["gpus"]))
        said = [d["why"] for d in report["decisions"] if d["action"] == "shares"]
        self.assertIn(f"180, 180 W, together 360 W: even shares of {BUDGET} W", said)
        self.assertTrue(any("W: held" in s for s in said), said)
        self.assertEqual(self.world.journals(), [])
        shown = self.world.run("show", "last").stdout
        words = " ".join(shown.split())
        self.assertIn(f"power limits of together {BUDGET} W at most", words)
        self.assertIn(f"Of a power budget of {BUDGET} W, the limits in the order of the GPUs: ", words)

    def test_a_dry_run_says_how_it_would_begin_and_changes_nothing(self):
        machine = self.machine(rate=60, profiles=BOARDS, found={"power_limit_w": FOUND})
        done = self.run_job("--dry-run", "--power-budget", "0.36kW", iterations=40, machine=machine)
        self.assertIn(f"would divide {BUDGET} W among", done.stderr)
        self.assertEqual(machine.last()["setting_changes"], [])

    def test_a_budget_above_what_was_found_changes_nothing(self):
        machine = self.machine(rate=60, profiles=BOARDS, found={"power_limit_w": FOUND})
        done = self.run_job("--power-budget", "600", iterations=40, machine=machine)
        self.assertEqual(done.returncode, 0)
        self.assertIn("come to 500 W, which is inside the budget of 600 W", done.stderr)
        self.assertEqual(machine.last()["setting_changes"], [])

    def test_what_cannot_be_held_or_contradicts_is_refused_before_the_job_starts(self):
        machine = self.machine(rate=60, profiles=BOARDS, found={"power_limit_w": FOUND})
        for words, told in [
            ([f"{LEAST - 1}W"], f"is below {LEAST} W, the sum of the least limits"),
            (["plenty"], "--power-budget plenty is no amount of power"),
            ([f"{BUDGET}W", "--max-slowdown", "5%"], "holds at every moment, and --max-slowdown"),
            ([f"{BUDGET}W", "--objective", "edp"], "--objective edp asks for something else"),
            ([f"{BUDGET}W", "--power-limit", "150"], "a setting of your own asks for something else"),
            ([f"{BUDGET}W", "--strategy", "bisection"], "--strategy bisection asks for something else"),
            ([f"{BUDGET}W", "--knobs", "sm-clock"], "--knobs asks for something else"),
        ]:
            done = self.run_job("--power-budget", *words, machine=machine, job=["touch", str(machine.folder / "started")])
            self.assertEqual(done.returncode, 125, done.stderr)
            self.assertIn(told, done.stderr)
        self.assertFalse((machine.folder / "started").exists())

    def test_without_the_right_to_set_the_job_runs_measured(self):
        machine = self.machine(rate=60, rights="none", profiles=BOARDS, found={"power_limit_w": FOUND})
        done = self.run_job("--power-budget", f"{BUDGET}W", iterations=100, machine=machine)
        self.assertEqual(done.returncode, 0)
        self.assertIn("measuring only", done.stderr)
        self.assertNotIn("applied", [c["outcome"] for c in machine.last()["setting_changes"]])


if __name__ == "__main__":
    unittest.main()
