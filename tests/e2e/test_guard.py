"""The guard against drivers that lie or refuse for a while, spoken to without a run."""

import unittest

from guard_world import Guard, uuid_of
from harness import FOUND_W, MachineTest

WANTED_W = 150


class GuardTest(MachineTest):
    def at_the_limit(self, machine, role="guard"):
        """A guard that has set limit and clock; the role tells a scenario's faults from those of others."""
        gpu = uuid_of(machine)
        guard = Guard(machine, environment={"RUBATO_SIM_ROLE": role})
        self.addCleanup(guard.process.wait)
        self.addCleanup(guard.process.kill)
        self.assertEqual(guard.acquire(gpu)[0], "granted")
        self.assertEqual(guard.ask("apply", f"gpu {gpu}", f"power-limit {WANTED_W}", "sm-clock 997 997")[0], "applied")
        self.assertEqual(machine.gpu().limit(), WANTED_W)
        return guard


class CountersThatLie(GuardTest):
    def put_back_after_a_kill(self, **fault):
        machine = self.machine(faults=[{"effect": "absurd_reading", "call": "read_energy_counter", **fault}])
        self.at_the_limit(machine).kill()
        done = machine.run("restore", environment={"RUBATO_SIM_ROLE": "restore"})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("restored", done.stdout)
        self.assertEqual(machine.gpu().limit(), FOUND_W)
        self.assertIsNone(machine.gpu().sm_lock())
        self.assertEqual(machine.journals(), [])

    def test_readings_that_were_too_high_when_the_lease_began(self):
        self.put_back_after_a_kill(role="guard", count="always", jump_j=1e6)

    def test_readings_that_are_too_low_afterwards(self):
        self.put_back_after_a_kill(role="restore", count="always", jump_j=-1e6)


if __name__ == "__main__":
    unittest.main()
