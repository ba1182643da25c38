"""Several rubatos in one job: one of them measures and sets, the others run their part."""

import json
import pathlib
import signal
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from harness import FOUND_W, RUBATO, MachineTest, alive, wait_until  # noqa: E402


def rank(number, port=29500):
    return {
        "LOCAL_RANK": str(number), "LOCAL_WORLD_SIZE": "2", "WORLD_SIZE": "2", "TORCHELASTIC_RUN_ID": "none",
        "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port),
    }


class Ranks(MachineTest):
    def two_gpus(self):
        return self.machine(rate=20, profiles="v100,v100")

    def start_rank(self, machine, number, *command, **options):
        return machine.start("run", "--power-limit", "150", "-v", "--", *command, environment=rank(number), **options)

    def start_leader(self, machine, *command, **options):
        leader = self.start_rank(machine, 0, *command, **options)
        # Written before the job starts.
        wait_until(lambda: len(list((machine.folder / "runtime" / "rubato").glob("leader-GPU*"))) == 2, "rank 0 to lead")
        return leader

    def start_lasting_leader(self, machine):
        """One that is killed at the end; its job outlives it, so nobody waits for the end of its output."""
        leader = self.start_leader(machine, *self.train(100_000, 0), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(leader.wait)
        self.addCleanup(leader.kill)
        return leader

    def train(self, iterations, device):
        return [str(RUBATO), "sim", "train", "resnet50", "--iterations", str(iterations), "--device", str(device)]

    def records(self, machine):
        return json.loads(machine.run("runs", "--json").stdout)["runs"]

    def test_one_leads_and_sets_the_gpus_of_all(self):
        machine = self.two_gpus()
        # Long enough for a rank that starts late on a busy machine to be set as well.
        leader = self.start_leader(machine, *self.train(400, 0))
        follower = self.start_rank(machine, 1, *self.train(400, 1))
        _, leader_said = leader.communicate(timeout=60)
        _, follower_said = follower.communicate(timeout=60)
        self.assertEqual((leader.returncode, follower.returncode), (0, 0), leader_said + follower_said)
        self.assertIn("local rank 0 measures and sets for all of them", follower_said)
        (record,) = self.records(machine)
        shown = json.loads(machine.run("show", record["run_id"], "--json").stdout)
        self.assertEqual([g["restoration"] for g in shown["gpus"]], ["restored", "restored"], leader_said)
        self.assertEqual(machine.gpu().limit(), FOUND_W)

    def test_a_followers_exit_status_is_its_jobs_own(self):
        machine = self.two_gpus()
        self.start_lasting_leader(machine)
        for status in (0, 7):
            follower = self.start_rank(machine, 1, "sh", "-c", f"exit {status}")
            follower.communicate(timeout=60)
            self.assertEqual(follower.returncode, status)
        follower = self.start_rank(machine, 1, "sh", "-c", "kill -USR1 $$")
        follower.communicate(timeout=60)
        self.assertEqual(follower.returncode, -signal.SIGUSR1)

    def test_a_leader_that_ends_early_puts_everything_back_and_says_so(self):
        machine = self.two_gpus()
        leader = self.start_leader(machine, *self.train(120, 0))
        follower = self.start_rank(machine, 1, *self.train(100_000, 1))
        _, said = leader.communicate(timeout=60)
        self.assertEqual(leader.returncode, 0, said)
        self.assertIn("has ended before 1 other on this node", said)
        self.assertTrue(alive(follower.pid), "the other rank goes on")
        self.assertEqual(machine.gpu().limit(), FOUND_W)
        follower.terminate()
        follower.communicate(timeout=60)

    def test_a_leader_that_is_killed_leaves_nothing_and_no_lock(self):
        machine = self.two_gpus()
        leader = self.start_lasting_leader(machine)
        self.wait_for_limit(machine, 150, "the leader to set its limit")
        leader.kill()
        leader.wait()
        self.wait_for_limit(machine, FOUND_W, "the guard to put it back")
        # A new start of the same job, as torchrun makes one after a failure.
        again = self.start_rank(machine, 1, *self.train(60, 1))
        _, said = again.communicate(timeout=60)
        self.assertNotIn("measures and sets for all of them", said)

    def test_another_job_on_the_node_is_nobodys_rank(self):
        machine = self.two_gpus()
        self.start_lasting_leader(machine)
        other = machine.run("run", "-v", "--", *self.train(20, 1), environment=rank(1, port=29777))
        self.assertEqual(other.returncode, 0, other.stderr)
        self.assertNotIn("measures and sets for all of them", other.stderr)
        report = machine.last()
        self.assertEqual(len(report["gpus"]) + len(report["bystanders"]), 2, "it measures for itself")

    def test_a_rubato_under_a_rubato_only_runs_its_command(self):
        machine = self.machine(rate=40)
        inner = [str(RUBATO), "run", "--power-limit", "120", "--", *machine.train(100)]
        done = machine.run("run", "--power-limit", "150", "--", *inner)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("the setting asked for here is not made", done.stderr)
        (record,) = self.records(machine)
        self.assertEqual(machine.last()["gpus"][0]["requested"]["power_limit_w"], 150)
        self.assertEqual(record["command"][:2], [str(RUBATO), "run"], "the outer one's")


if __name__ == "__main__":
    unittest.main()
