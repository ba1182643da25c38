"""`rubato run --pid`: a job that runs already is searched and held as any other, and goes on when rubato ends."""

import os
import signal
import subprocess
import unittest

from daemon_world import WITHOUT_RIGHT, DaemonTest
from harness import FOUND_W, PATIENCE, alive, in_one_world_of, job_of, wait_until

FOREVER = 1_000_000


class Attach(DaemonTest):
    def enter(self, rate):
        self.world = self.machine(rate=rate)

    def start_job(self, machine, iterations=FOREVER, command=(), device=0):
        before = machine.gpu().processes()
        train = machine.train(iterations) if device == 0 else [*machine.train(iterations), "--device", str(device)]
        job = subprocess.Popen([*command, *train], env=machine.environment, stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(job.wait)
        self.addCleanup(job.kill)
        if device == 0:
            wait_until(lambda: machine.gpu().processes() > before, "the job to compute")
        return job

    @in_one_world_of(20, 10)
    def test_a_search_settles_beside_a_job_that_tells_nothing(self):
        job = self.start_job(self.world, 600)
        done = self.world.run("run", "--pid", job.pid, "--strategy", "bisection", "--knobs", "power-limit", "--max-slowdown", "12%")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.world.gpu().limit(), FOUND_W)
        self.assertEqual(self.world.journals(), [])
        report = self.world.last()
        self.assertEqual(report["decisions"][0]["action"], "attached")
        self.assertIn(f"process {job.pid}, which has run for", report["decisions"][0]["why"])
        self.assertEqual(report["command"][1:3], ["sim", "train"])
        self.assertIsNone(report["exit_status"], "whose child it is not, nobody tells how it ended")
        self.assertEqual(report["iteration"]["source"], "telemetry")
        self.assertGreaterEqual(report["search"]["settings_tried"], 3)
        self.assertIn("hold", [s["role"] for s in report["settings"]])
        self.assertEqual(report["gpus"][0]["restoration"], "restored")
        self.assertIn("a job that ran already", done.stdout)
        self.assertIn("not seen", self.world.run("runs").stdout)

    @in_one_world_of(60, 20)
    def test_what_was_learned_of_the_same_command_is_taken_up(self):
        search = ("--strategy", "bisection", "--knobs", "power-limit", "--max-slowdown", "12%")
        done = self.world.run("run", "--gpu", "0", *search, "--", *self.world.train(900))
        self.assertEqual(done.returncode, 0, done.stderr)
        job = self.start_job(self.world, 900)
        self.world.run("run", "--pid", job.pid, *search)
        intents = [d["why"] for d in self.world.last()["decisions"] if d["action"] == "strategy"]
        self.assertIn("an earlier run settled at", intents[0])

    @unittest.skipIf(os.geteuid() != 0, "only root can give a right to rubatod and not to its client")
    def test_rubatod_sets_for_it(self):
        machine = self.machine(rate=20, rights="cap_sys_admin")
        self.daemon(machine)
        job = self.start_job(machine, 300)
        done = subprocess.run([*WITHOUT_RIGHT, *machine.command("run", "--pid", job.pid, "--power-limit", "150")],
                              env=machine.environment, capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(machine.last()["gpus"][0]["restoration"], "restored", done.stderr)
        self.assertIn("set done", self.decisions(machine))
        self.assertEqual(machine.gpu().limit(), FOUND_W)

    def test_ctrl_c_puts_back_and_leaves_the_job(self):
        machine = self.machine(rate=20)
        job = self.start_job(machine)
        rubato = machine.start("run", "--pid", job.pid, "--power-limit", "150")
        self.wait_for_limit(machine, 150, "the setting asked for")
        rubato.send_signal(signal.SIGINT)
        out, err = rubato.communicate(timeout=machine.patience)
        self.assertEqual(rubato.returncode, 0, err)
        self.assertIn(f"process {job.pid} goes on", err)
        self.assertIn("150 W", out)
        self.assertEqual(machine.gpu().limit(), FOUND_W)
        self.assertTrue(alive(job.pid))

    def test_a_process_that_computes_nowhere_is_warned_of(self):
        machine = self.machine(rate=20)
        sleeper = subprocess.Popen(["sleep", "0.5"])
        done = machine.run("run", "--gpu", "0", "--pid", sleeper.pid, "--power-limit", "150")
        sleeper.wait()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("computes on no GPU here so far", " ".join(done.stderr.split()))
        self.assertEqual(machine.last()["gpus"][0]["restoration"], "not_needed")

    def test_what_descends_from_it_is_the_job(self):
        machine = self.machine(rate=20)
        shell = self.start_job(machine, 300, command=("sh", "-c", '"$@"; true', "-"))
        done = machine.run("run", "--pid", shell.pid, "--power-limit", "150")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(machine.last()["gpus"][0]["restoration"], "restored", done.stderr)

    def test_only_the_gpus_that_it_computes_on_are_measured_and_set(self):
        machine = self.machine(rate=20, profiles="v100,v100")
        self.start_job(machine, device=1)
        job = self.start_job(machine, 300)
        for mode in (("run", "--power-limit", "150"), ("measure",)):
            done = machine.run(*mode, "--pid", job.pid)
            self.assertEqual(done.returncode, 0, done.stderr)
            report = machine.last()
            self.assertEqual([g["index"] for g in report["gpus"]], [0])
            self.assertEqual(report["bystanders"], [])
            self.assertEqual(report["gpus"][0]["restoration"], "restored" if mode[0] == "run" else "not_needed")
            job = self.start_job(machine, 60)

    def test_where_another_rubato_sets_it_measures(self):
        machine = self.machine(rate=20)
        machine.gpu().limit()
        first = machine.start("run", "--gpu", "0", "--power-limit", "150", "--", *machine.train(FOREVER))
        self.wait_for_limit(machine, 150, "the first one's setting")
        second = machine.start("run", "--gpu", "0", "--pid", job_of(first.pid), "--power-limit", "120")
        try:
            _, err = second.communicate(timeout=8)
        except subprocess.TimeoutExpired:
            second.send_signal(signal.SIGINT)
            _, err = second.communicate(timeout=machine.patience)
        self.assertEqual(machine.gpu().limit(), 150)
        self.assertIn("in the hands of another rubato guard", " ".join(err.split()))
        first.send_signal(signal.SIGTERM)
        first.communicate(timeout=machine.patience)
        self.assertEqual(machine.gpu().limit(), FOUND_W)

    def test_what_cannot_be_asked_of_it_is_refused(self):
        machine = self.machine()
        job = subprocess.Popen(["sleep", "100"])
        self.addCleanup(job.wait)
        self.addCleanup(job.kill)
        for arguments, words in (
            (("--pid", job.pid, "--", "true"), "no command stands beside it"),
            (("--pid", job.pid, "--plan", "plan.json"), "no --plan runs there"),
            (("--pid", job.pid, "--kernels", "2s/60s"), "its kernels cannot be recorded"),
            (("--pid", job.pid, "--agents", "job"), "cannot be agreed with"),
            (("--pid", "4194303"), "there is no process 4194303"),
            (("--pid", "0"), "--pid"),
            (("--pid", job.pid, "--sm-clock", "1"), "1 MHz"),
        ):
            with self.subTest(arguments=arguments):
                done = machine.run("run", "--gpu", "0", *arguments)
                self.assertEqual(done.returncode, 125)
                self.assertIn(words, " ".join(done.stderr.split()))


if __name__ == "__main__":
    unittest.main()
