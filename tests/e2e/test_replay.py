"""A table of measurements as a GPU: live, through the guard, with the trainer in a process of its own."""

import json
import subprocess
import unittest

from harness import MachineTest, wait_until

# The default is the highest limit. On a row a number is replayed, between rows it is interpolated.
TABLE = """# made up
gpu,workload,group,power_limit_w,sm_clock_mhz,memory_clock_mhz,time_s,power_w,energy_j
V100,small net,nets,100,,,0.6,95,57
V100,small net,nets,150,,,0.44,140,61.6
V100,small net,nets,200,,,0.4,190,76
V100,other,nets,200,,,1,190,190
"""


class Replay(MachineTest):
    def replay_machine(self, **options):
        machine = self.machine(**{"rate": 40, "found": {"power_limit_w": 200}, **options})
        (machine.folder / "table.csv").write_text(TABLE)
        machine.environment["RUBATO_REPLAY_WORLD"] = str(machine.folder / "replay.world")
        return machine

    @staticmethod
    def gpu(machine, rest="#small net"):
        return f"replay:{machine.folder / 'table.csv'}{rest}"

    @staticmethod
    def train(machine, iterations):
        return [*machine.command("sim", "train", "replay"), "--iterations", str(iterations)]

    def test_a_lower_limit_gives_what_the_table_says_and_is_put_back(self):
        # Slow enough that the trainer is woken in time on a busy machine.
        machine = self.replay_machine(rate=10)
        done = machine.run("run", "--gpu", self.gpu(machine), "--power-limit", "150", "--", *self.train(machine, 200))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("Replayed from a table of measurements", done.stderr)
        shown = machine.last()
        (gpu,) = shown["gpus"]
        self.assertEqual(gpu["quality"], "replayed")
        self.assertIn("small net", gpu["name"])
        self.assertEqual(gpu["restoration"], "restored")
        self.assertEqual(gpu["found"]["power_limit_w"], 200)
        rows = {s["role"]: s for s in shown["settings"]}
        self.assertAlmostEqual(rows["baseline"]["iteration_time_s"], 0.4, delta=0.02)
        self.assertAlmostEqual(rows["baseline"]["energy_per_iteration_j"], 76, delta=2)
        self.assertAlmostEqual(rows["hold"]["iteration_time_s"], 0.44, delta=0.02)
        self.assertAlmostEqual(rows["hold"]["energy_per_iteration_j"], 61.6, delta=2)
        self.assertAlmostEqual(shown["savings"]["energy_per_iteration_saved"]["fraction"], 1 - 61.6 / 76, delta=0.03)

    def test_between_rows_the_run_is_interpolated_and_says_so(self):
        machine = self.replay_machine(rate=10)
        done = machine.run("run", "--gpu", self.gpu(machine), "--power-limit", "160", "--", *self.train(machine, 120))
        self.assertEqual(done.returncode, 0, done.stderr)
        (gpu,) = machine.last()["gpus"]
        self.assertEqual(gpu["quality"], "interpolated")
        rows = {s["role"]: s for s in machine.last()["settings"]}
        self.assertLess(rows["baseline"]["iteration_time_s"], rows["hold"]["iteration_time_s"])
        self.assertEqual(gpu["restoration"], "restored")

    def test_iterations_may_be_shorter_than_the_tables_unit_of_work(self):
        machine = self.replay_machine()
        done = machine.run("measure", "--gpu", self.gpu(machine, "#other@0.2"), "--", *self.train(machine, 100))
        self.assertEqual(done.returncode, 0, done.stderr)
        last = done.stdout.splitlines()[-1]
        self.assertIn("other: iteration 100/100", last)
        # A trainer that is woken late leaves the GPU idle for a moment, never the other way round.
        self.assertAlmostEqual(float(last.split()[-2]), 0.2, delta=0.05)

    def test_a_killed_run_leaves_nothing_changed(self):
        machine = self.replay_machine()
        # The training outlives rubato, so it must not hold what this test waits for.
        running = machine.start(
            "run", "--gpu", self.gpu(machine), "--power-limit", "100", "--", *self.train(machine, 100000),
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )
        try:
            wait_until(lambda: self.limits(machine)["requested_w"] == 100, "the limit to be set")
        finally:
            running.kill()
            running.wait()
        wait_until(lambda: self.limits(machine)["requested_w"] == 200, "the guard to put it back")

    def test_what_cannot_be_replayed_is_said_before_the_job_starts(self):
        machine = self.replay_machine()
        for gpu, part in ((self.gpu(machine, ""), "2 workloads"), (self.gpu(machine, "#none"), "no workload 'none'"),
                          ("replay:/nowhere.csv", "/nowhere.csv"), (self.gpu(machine, "#other@x"), "'x'")):
            done = machine.run("run", "--gpu", gpu, "--power-limit", "150", "--", "sh", "-c", "echo started")
            self.assertEqual(done.returncode, 125, done.stderr)
            self.assertIn(part, done.stderr)
            self.assertEqual(done.stdout, "")

    def test_a_workload_of_the_simulator_is_refused_with_the_way_out(self):
        machine = self.replay_machine()
        done = machine.run("measure", "--gpu", self.gpu(machine), "--", *machine.train(5))
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("rubato sim train replay", done.stderr)

    def test_reset_removes_the_world(self):
        machine = self.replay_machine()
        self.limits(machine)
        world = machine.folder / "replay.world"
        self.assertTrue(world.exists())
        machine.run("sim", "reset")
        self.assertFalse(world.exists())

    def limits(self, machine):
        shown = machine.run("devices", "--gpu", self.gpu(machine), "--json")
        self.assertEqual(shown.returncode, 0, shown.stderr)
        (gpu,) = json.loads(shown.stdout)["gpus"]
        self.assertEqual(gpu["kind"], "replayed")
        return gpu["power_limits"]


if __name__ == "__main__":
    unittest.main()
