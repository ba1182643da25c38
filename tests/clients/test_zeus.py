"""Zeus: its monitor agrees with rubato and with the truth, its optimizer works, and rubato does not fight it."""

import json
import unittest

from clients import HERE, PYTHON, RUBATO, ClientTest, client_command, needs
from harness import FOUND_W


@needs("zeus")
class Zeus(ClientTest):
    def program(self, machine, name, *arguments):
        machine.environment["PYTHONPATH"] = str(HERE / "stand_ins")
        return client_command(machine, PYTHON, "-W", "ignore", HERE / name, RUBATO, *arguments)

    def test_its_monitors_energy_agrees_with_rubatos_and_with_the_truth(self):
        machine = self.machine(rate=10)
        before = self.truth(machine)
        done = machine.run("measure", "--gpu", "0", "--", *self.program(machine, "zeus_monitor.py", 150))
        self.assertEqual(done.returncode, 0, done.stderr)
        ends = self.truth(machine) - before
        inside = json.loads(done.stdout.splitlines()[-1])
        ends -= inside["truth_j"]
        (gpu,) = machine.last()["gpus"]
        sampling, calibration = gpu["energy_band_sampling_j"], gpu["energy_band_calibration_j"]
        self.assertEqual(inside["iterations"], 150)
        # One sensor for both; rubato's window is the wider one, by what was used at the ends.
        self.assertGreaterEqual(gpu["energy_j"], inside["zeus_j"] - sampling)
        self.assertLessEqual(gpu["energy_j"], inside["zeus_j"] + ends + sampling)
        self.assertAlmostEqual(inside["zeus_j"], inside["truth_j"], delta=calibration)

    def test_its_optimizer_tries_every_limit_and_keeps_the_one_that_used_least(self):
        machine = self.machine(rate=20)
        self.truth(machine)  # makes the world
        said = self.call(machine, *self.program(machine, "zeus_optimizer.py", 60, FOUND_W))
        found = json.loads(said.splitlines()[-1])
        energy = {int(w): j for w, j in found["energy_j"].items()}
        self.assertEqual(sorted(energy), [100, 150, 200, 250])
        self.assertEqual(found["chosen_w"], min(energy, key=energy.get))
        self.assertEqual(found["limits_w"][-1], found["chosen_w"])
        # It leaves the maximum behind, not what it found.
        self.assertEqual(machine.gpu().limit(), 250)

    def test_rubato_leaves_alone_what_zeus_sets(self):
        machine = self.machine(rate=10)
        # Zeus comes when rubato's limit is in force.
        done = machine.run(
            "run", "--gpu", "0", "--power-limit", "170", "--", *self.program(machine, "zeus_optimizer.py", 60, 170)
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        found = json.loads(done.stdout.splitlines()[-1])
        self.assertNotIn(170, found["limits_w"], "rubato overwrote what Zeus had set")
        self.assertEqual(found["limits_w"][-1], found["chosen_w"])
        shown = machine.last()
        self.assertEqual(shown["gpus"][0]["restoration"], "left_alone", done.stderr)
        self.assertTrue(any("someone else set the power limit" in d["why"] for d in shown["decisions"]), done.stderr)
        self.assertEqual(machine.gpu().limit(), 250, "what Zeus left is still there")


if __name__ == "__main__":
    unittest.main()
