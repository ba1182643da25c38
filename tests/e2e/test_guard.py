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


class DriversThatRefuse(GuardTest):
    def refusing(self, tries, rate=20):
        # The first write sets; each try at the end makes two.
        fault = {"effect": "error", "error": "timeout", "call": "set_power_limit", "after": 1, "count": 2 * tries}
        return self.machine(rate=rate, faults=[fault])

    def test_are_asked_again_before_the_release_is_answered(self):
        machine = self.refusing(tries=5)
        guard = self.at_the_limit(machine)
        verb, lines = guard.ask("release")
        self.assertIn(("outcome", "restored"), lines, verb)
        self.assertEqual(machine.gpu().limit(), FOUND_W)
        self.assertEqual(guard.end(), 0)

    def test_are_asked_again_when_the_client_is_gone(self):
        machine = self.refusing(tries=5)
        self.assertEqual(self.at_the_limit(machine).end(), 0)
        self.assertEqual(machine.gpu().limit(), FOUND_W)
        self.assertEqual(machine.journals(), [])

    def test_are_given_up_in_the_end_and_the_journal_stays(self):
        machine = self.refusing(tries=30)
        guard = self.at_the_limit(machine)
        _, lines = guard.ask("release")
        self.assertIn(("outcome", "failed"), lines)
        self.assertEqual(len(machine.journals()), 1)

    def test_a_run_waits_for_the_guard_and_says_yes(self):
        # In real time: longer than rubato waits for a driver that does not move.
        machine = self.refusing(tries=12, rate=1)
        done = machine.run(
            "run", "--gpu", "0", "--power-limit", WANTED_W, "--", "sh", "-c",
            f"{' '.join(machine.train(100_000))} & sleep 14; kill $!; wait; exit 3",
        )
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertEqual(machine.gpu().limit(), FOUND_W)
        last = machine.last()["gpus"][0]
        self.assertEqual((last["restoration"], last["requested"]["power_limit_w"]), ("restored", WANTED_W))
        self.assertNotIn("could not be put back", done.stderr)


if __name__ == "__main__":
    unittest.main()
