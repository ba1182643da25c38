"""Zeus's own optimizer and rubato on the same stand-in GPU and the same simulated training: what each costs from its first
iteration on, and what each leaves behind. bench/zeus_comparison.py prints the longer comparison."""

import os
import signal
import subprocess
import unittest

import zeus_comparison
from clients import ClientTest, needs
from harness import FOUND_W, alive, job_of, wait_until

STRATEGY = os.environ.get("RUBATO_COMPARED_STRATEGY", "rubato")
WORKLOAD = "resnet50"
ITERATIONS = 700
HIGHEST = {"found": {"power_limit_w": 250}}


@needs("zeus")
class ZeusComparison(ClientTest):
    def fresh(self, **options):
        machine = self.machine(rate=20, **options)
        self.truth(machine)  # makes the world
        return machine

    def with_rubato(self, **options):
        """Skips where this rubato cannot be asked for the strategy."""
        machine = self.fresh(**options)
        asked = machine.run("run", "--gpu", "0", "--strategy", STRATEGY, "--dry-run", "--", "true")
        if asked.returncode == 125:
            self.skipTest(f"strategy '{STRATEGY}': {asked.stderr.splitlines()[0]}")
        return machine

    def test_zeus_pays_for_every_limit_it_tries(self):
        plain = zeus_comparison.alone(self.fresh(**HIGHEST), WORKLOAD, ITERATIONS)
        zeus = zeus_comparison.under_zeus(self.fresh(**HIGHEST), WORKLOAD, ITERATIONS, "max_slowdown", "1.05")
        self.assertEqual(zeus["iterations"], ITERATIONS)
        # 1 step of waiting, 7 limits of 10 + 40 steps.
        self.assertEqual(zeus["decided_after"], 351)
        self.assertGreater(zeus["time_s"], plain["time_s"] * 1.03, "half of the run was spent on the whole range")

    def test_rubato_saves_close_to_the_bound_or_inside(self):
        machine = self.with_rubato(**HIGHEST)
        plain = zeus_comparison.alone(self.fresh(**HIGHEST), WORKLOAD, ITERATIONS)
        rubato = zeus_comparison.under_rubato(machine, WORKLOAD, ITERATIONS, STRATEGY)
        self.assertEqual(rubato["iterations"], ITERATIONS)
        # docs/evidence/zeus.md keeps the bound on a quiet machine. The point beyond it is for one that is shared: what
        # stalls for 0.1 s here lasts two of the simulated seconds, more than half a percent of this run.
        self.assertLess(rubato["time_s"], plain["time_s"] * (1 + zeus_comparison.BOUND + 0.01))
        self.assertLess(rubato["energy_j"], plain["energy_j"])

    def test_rubatos_zeus_tries_and_chooses_as_zeus_itself(self):
        bound = f"{1 + zeus_comparison.BOUND}"
        zeus = zeus_comparison.under_zeus(self.fresh(**HIGHEST), WORKLOAD, 400, "max_slowdown", bound)
        machine = self.with_rubato(**HIGHEST)
        ours = zeus_comparison.under_rubato(machine, WORKLOAD, 500, "zeus", "--knobs", "power-limit")
        self.assertEqual([s["power_limit_w"] for s in ours["tried"]], [225, 200, 175, 150, 125, 100])
        # One window of 40 steps each: a limit close to the bound may fall on either side.
        self.assertAlmostEqual(ours["chosen"]["power_limit_w"], zeus["chosen_w"], delta=25)

    def test_zeus_leaves_the_highest_limit(self):
        left = zeus_comparison.under_zeus(self.fresh(), WORKLOAD, 60, "max_slowdown", "1.05")["left_w"]
        self.assertEqual(left, 250)

    def test_rubato_leaves_what_it_found(self):
        rubato = zeus_comparison.under_rubato(self.with_rubato(), WORKLOAD, 400, STRATEGY)
        self.assertEqual(rubato["left_w"], FOUND_W)

    def test_killed_zeus_leaves_the_limit_it_was_trying(self):
        for how in (signal.SIGTERM, signal.SIGKILL):
            with self.subTest(how=how.name):
                machine = self.fresh()
                process = self.start_zeus(machine)
                gpu = machine.gpu()
                wait_until(lambda: gpu.limit() < FOUND_W, "Zeus to try a limit below the found one")
                process.send_signal(how)
                process.wait()
                self.assertLess(gpu.limit(), FOUND_W)

    def start_zeus(self, machine):
        return subprocess.Popen(
            zeus_comparison.training(machine, WORKLOAD, 100_000, "max_slowdown", "1.05"),
            env=machine.environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def test_killed_rubato_or_job_leaves_what_was_found(self):
        self.with_rubato()
        for victim in ("rubato", "job"):
            with self.subTest(victim=victim):
                machine = self.fresh()
                command = zeus_comparison.training(machine, WORKLOAD, 100_000)
                process = machine.start(*zeus_comparison.rubato_command(STRATEGY, command))
                gpu = machine.gpu()
                wait_until(lambda: not zeus_comparison.as_found(gpu, FOUND_W), "rubato to try another setting")
                job = job_of(process.pid)
                os.kill(process.pid if victim == "rubato" else job, signal.SIGKILL)
                process.wait()
                process.stdout.close()
                process.stderr.close()
                wait_until(lambda: zeus_comparison.as_found(gpu, FOUND_W), "the found setting to come back")
                if victim == "rubato":
                    self.assertTrue(alive(job), "the job runs on")


if __name__ == "__main__":
    unittest.main()
