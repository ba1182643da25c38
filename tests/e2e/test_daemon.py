"""rubatod as an administrator and its users meet it: the same command, the same report, and whatever dies in whichever
order, what was found comes back."""

import json
import os
import signal
import subprocess
import unittest

import harness
from daemon_world import MANAGE, Client, DaemonTest
from harness import FOUND_W, alive, guard_of, job_of, wait_until

RATE = 40
WANTED_W = 150


class TheSameCommand(DaemonTest):
    def test_a_run_is_set_by_rubatod_and_reported_as_ever(self):
        machine = self.machine(rate=RATE)
        self.daemon(machine)
        process = machine.start("run", "--gpu", "0", "--power-limit", WANTED_W, "--", *machine.train(100))
        self.wait_for_limit(machine, WANTED_W, "rubatod to set the limit")
        self.assertIsNone(guard_of(process.pid), "no guard of its own beside rubatod")
        _, errors = process.communicate(timeout=harness.PATIENCE)
        self.assertEqual(process.returncode, 0, errors)
        self.assertEqual(machine.gpu().limit(), FOUND_W)
        gpu = machine.last()["gpus"][0]
        self.assertEqual(gpu["requested"]["power_limit_w"], WANTED_W)
        self.assertEqual(gpu["found"]["power_limit_w"], FOUND_W)
        self.assertEqual(gpu["restoration"], "restored")
        self.assertEqual(machine.journals(), [])
        decisions = self.decisions(machine)
        self.assertEqual(decisions[:2], ["start done", "lease granted"])
        self.assertIn("set done", decisions)
        self.assertEqual(decisions[-1], "end done")

    def test_a_searched_run_promises_its_bound_and_a_rule_may_ask_for_less(self):
        machine = self.machine(rate=RATE)
        self.daemon(machine, MANAGE + '[[rule]]\nname = "careful"\nmax_slowdown = "3%"\n')
        for bound, decision in (("5%", "lease refused"), ("3%", "lease granted")):
            process = machine.start(
                "run", "--gpu", "0", "--max-slowdown", bound, "--", *machine.train(100_000), start_new_session=True
            )
            wait_until(lambda: decision in self.decisions(machine), f"the {decision}")
            os.killpg(process.pid, signal.SIGINT)
            process.communicate(timeout=harness.PATIENCE)
            self.assertEqual(machine.gpu().limit(), FOUND_W)
        refused = next(line["why"] for line in self.audit(machine) if line["decision"] == "refused")
        self.assertIn("rule 'careful' allows at most 3 % more time, and 5 % is asked for", refused)

    def test_observing_nothing_is_set_and_the_log_says_what_would_be(self):
        machine = self.machine(rate=RATE)
        self.daemon(machine, 'mode = "observe"\n')
        done = machine.run("run", "--gpu", "0", "--power-limit", WANTED_W, "--", *machine.train(60))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("only observes", done.stderr)
        self.assertEqual(machine.last()["gpus"][0]["restoration"], "not_needed")
        would = [line for line in self.audit(machine) if line["decision"] == "would_set"]
        self.assertEqual(would[0]["power_limit_w"], WANTED_W)
        self.assertEqual(machine.gpu().limit(), FOUND_W)

    def test_what_the_rules_refuse_is_measured_only_and_doctor_explains_it(self):
        machine = self.machine(rate=RATE)
        self.daemon(machine, MANAGE + '[[rule]]\nname = "others"\nusers = [4711]\n')
        done = machine.run("run", "--gpu", "0", "--power-limit", WANTED_W, "--", *machine.train(60))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("no rule of rubatod is for", done.stderr)
        self.assertEqual(machine.gpu().limit(), FOUND_W)
        doctor = machine.run("doctor", "--gpu", "0")
        self.assertIn("it would refuse 1 GPU", doctor.stdout)
        self.assertIn("the last thing it refused you", doctor.stdout)

    def test_a_second_rubatod_is_told_of_the_first(self):
        machine = self.machine(rate=RATE)
        self.daemon(machine)
        second = self.daemon(machine, wait=False)
        _, errors = second.communicate(timeout=harness.PATIENCE)
        self.assertEqual(second.returncode, 1)
        self.assertIn("another rubatod listens", errors)


class WhateverDies(DaemonTest):
    def running_at_the_limit(self, machine, iterations=100_000):
        process = machine.start(
            "run", "--gpu", "0", "--power-limit", WANTED_W, "--", *machine.train(iterations),
            stdout=subprocess.DEVNULL, start_new_session=True,
        )
        self.wait_for_limit(machine, WANTED_W, "the wanted limit to be in force")
        return process

    def test_top_shows_whether_a_gpu_is_lent(self):
        machine = self.machine(rate=RATE)

        def told():
            return json.loads(machine.run("top", "--gpu", "0", "--once", "--json").stdout)["gpus"][0]["rubatod"]

        self.assertIsNone(told())
        self.daemon(machine)
        self.assertEqual(told(), {"mode": "manage", "state": "free", "slurm_job": None})
        process = self.running_at_the_limit(machine)
        self.assertEqual(told()["state"], "leased")
        process.kill()
        self.wait_for_limit(machine, FOUND_W, "rubatod to put back")
        self.assertEqual(told()["state"], "free")
        self.end(process)

    def test_the_client_is_killed(self):
        machine = self.machine(rate=RATE)
        self.daemon(machine)
        process = self.running_at_the_limit(machine)
        job = job_of(process.pid)
        process.kill()
        self.wait_for_limit(machine, FOUND_W, "rubatod to put back")
        self.assertTrue(alive(job), "the job runs on")
        self.end(process)

    def test_the_whole_process_group_is_killed(self):
        machine = self.machine(rate=RATE)
        self.daemon(machine)
        process = self.running_at_the_limit(machine)
        os.killpg(process.pid, signal.SIGKILL)
        self.wait_for_limit(machine, FOUND_W, "rubatod to put back")
        self.end(process)

    def test_the_client_is_stopped_and_goes_on(self):
        machine = self.machine(rate=RATE)
        self.daemon(machine)
        process = self.running_at_the_limit(machine)
        os.kill(process.pid, signal.SIGSTOP)
        self.wait_for_limit(machine, FOUND_W, "rubatod to put back")
        os.kill(process.pid, signal.SIGCONT)
        self.wait_for_limit(machine, WANTED_W, "the setting to be made again")
        os.killpg(process.pid, signal.SIGINT)
        process.communicate(timeout=harness.PATIENCE)
        self.assertEqual(machine.gpu().limit(), FOUND_W)

    def test_rubatod_is_killed_and_the_job_goes_on(self):
        machine = self.machine(rate=RATE)
        daemon = self.daemon(machine)
        process = self.running_at_the_limit(machine, 600)
        daemon.kill()
        self.wait_for_limit(machine, FOUND_W, "what it left to be put back")
        _, errors = process.communicate(timeout=harness.PATIENCE)
        self.assertEqual(process.returncode, 0, errors)
        self.assertEqual(machine.gpu().limit(), FOUND_W)

    def test_both_are_killed_in_either_order(self):
        for order in ("daemon first", "client first"):
            for by in ("the next start", "ExecStopPost"):
                with self.subTest(order=order, by=by):
                    machine = self.machine(rate=RATE)
                    daemon = self.daemon(machine)
                    process = self.running_at_the_limit(machine)
                    both = [daemon, process] if order == "daemon first" else [process, daemon]
                    # Stopped first: neither may notice the other's end.
                    for one in both:
                        one.send_signal(signal.SIGSTOP)
                    for one in both:
                        one.kill()
                        one.wait()
                    self.end(process)  # the job that was left running has its pipe
                    self.assertEqual(machine.gpu().limit(), WANTED_W)
                    if by == "ExecStopPost":
                        done = self.restore_only(machine)
                        self.assertEqual(done.returncode, 0, done.stderr)
                        self.assertIn("restored", done.stderr)
                    else:
                        self.daemon(machine)
                    self.wait_for_limit(machine, FOUND_W, "the found limit")
                    self.assertEqual(machine.journals(), [])

    def test_rules_that_cannot_be_read_keep_nothing_from_being_put_back(self):
        for wrong in ("max_slowdwon = 3\n", '[[rule]]\nusers = ["a-user-who-left"]\n', 'gpus = ["7"]\n'):
            for by in ("ExecStopPost", "the start that is refused"):
                with self.subTest(wrong=wrong, by=by):
                    machine = self.left_at_the_limit()
                    machine.config.write_text(machine.config.read_text().replace(MANAGE, "") + wrong)
                    if by == "ExecStopPost":
                        done = self.restore_only(machine)
                        self.assertEqual(done.returncode, 0, done.stderr)
                        errors = done.stderr
                    else:
                        again = self.start(machine, stderr=subprocess.PIPE)
                        _, errors = again.communicate(timeout=harness.PATIENCE)
                        self.assertEqual(again.returncode, 1, errors)
                    self.assertIn("restored", errors)
                    self.assertEqual(machine.gpu().limit(), FOUND_W)
                    self.assertEqual(machine.journals(), [])

    def test_a_gpu_that_is_missing_keeps_nobody_from_the_others(self):
        machine = self.left_at_the_limit()
        machine.config.write_text('gpus = ["0", "7"]\n' + machine.config.read_text())
        daemon = self.start(machine, stderr=subprocess.PIPE)
        self.wait_for_limit(machine, FOUND_W, "what was left to be put back")
        wait_until(lambda: self.ready(machine), "rubatod to be ready")
        self.assertEqual(len(Client(machine.socket).gpus()), 1)
        daemon.terminate()
        _, errors = daemon.communicate(timeout=harness.PATIENCE)
        self.assertEqual(daemon.returncode, 0, errors)
        self.assertIn("no GPU '7'", errors)

    def client_at_the_limit(self, machine):
        """Whoever has it has the lease: without it the connection ends."""
        client = Client(machine.socket)
        (gpu,) = client.gpus()
        client.acquire(gpu)
        self.assertEqual(client.set_limit(gpu, WANTED_W)[0], "applied")
        return client

    def left_at_the_limit(self):
        """By a rubatod that was killed, with a client that nobody follows."""
        machine = self.machine(rate=1)
        daemon = self.daemon(machine)
        _held = self.client_at_the_limit(machine)
        self.end(daemon)
        self.assertEqual(machine.gpu().limit(), WANTED_W)
        return machine

    def test_the_disable_file_restores_and_ends_rubatod(self):
        machine = self.machine(rate=RATE)
        daemon = self.daemon(machine)
        process = self.running_at_the_limit(machine, 600)
        machine.disable_file.touch()
        wait_until(lambda: daemon.poll() is not None, "rubatod to end", patience=30)
        self.assertEqual(daemon.returncode, 0)
        self.assertEqual(machine.gpu().limit(), FOUND_W)
        _, errors = process.communicate(timeout=harness.PATIENCE)
        self.assertEqual(process.returncode, 0, errors)
        self.assertEqual(machine.journals(), [])

    def test_told_to_end_it_restores_first(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            machine = self.machine(rate=RATE)
            daemon = self.daemon(machine)
            _held = self.client_at_the_limit(machine)
            daemon.send_signal(number)
            self.assertEqual(daemon.wait(timeout=harness.PATIENCE), 0)
            self.assertEqual(machine.gpu().limit(), FOUND_W)

    def test_told_to_end_while_a_driver_refuses_it_says_so(self):
        refuses = {"call": "set_power_limit", "after": 1, "count": "always", "effect": "error", "error": "unknown"}
        machine = self.machine(rate=1, faults=[refuses])
        daemon = self.daemon(machine)
        _held = self.client_at_the_limit(machine)
        daemon.terminate()
        self.assertEqual(daemon.wait(timeout=harness.PATIENCE), 1)
        self.assertEqual(machine.gpu().limit(), WANTED_W)
        decisions = self.decisions(machine)
        self.assertIn("end failed", decisions)
        self.assertEqual(decisions[-1], "stop failed")

    def test_rules_are_read_anew(self):
        machine = self.machine(rate=RATE)
        daemon = self.daemon(machine)
        client = Client(machine.socket)
        (gpu,) = client.gpus()
        client.acquire(gpu)
        client.set_limit(gpu, WANTED_W)
        machine.config.write_text(machine.config.read_text() + "[[rule]]\nusers = [4711]\n")
        daemon.send_signal(signal.SIGHUP)
        self.wait_for_limit(machine, FOUND_W, "the lease to end")
        verb, lines = client.set_limit(gpu, WANTED_W)
        self.assertEqual(verb, "refused")
        self.assertIn("no rule of rubatod is for", dict(lines)["what"])


class EveryPoint(DaemonTest):
    """rubatod is killed at every call by which it leaves a trace, over one lease."""

    def life(self, machine):
        """False where rubatod died on the way."""
        try:
            client = Client(machine.socket)
            (gpu,) = client.gpus()
            client.acquire(gpu)
            client.set_limit(gpu, WANTED_W)
            client.ask("apply", f"gpu {gpu}", "sm-clock 1005 1005")
            client.ask("restore", f"gpu {gpu}")
            client.set_limit(gpu, 120)
            verb, _ = client.ask("release")
            client.close()
            return verb == "restored"
        except (OSError, ValueError):
            return False

    def one_life(self, at=None):
        machine = self.machine(rate=1)  # no heartbeats are sent: the lease is over in moments
        log = machine.folder / "points"
        environment = {"LD_PRELOAD": str(harness.KILL_POINT), "KILL_POINT_LOG": str(log)}
        if harness.SANITIZED:
            environment["LD_PRELOAD"] = harness.preload_sanitizer({})["LD_PRELOAD"] + ":" + environment["LD_PRELOAD"]
        if at is not None:
            environment |= {"KILL_POINT_AT": str(at), "KILL_POINT_WHO": "guard", "KILL_POINT_SIGNAL": "9"}
        daemon = self.daemon(machine, environment=environment)
        whole = self.life(machine)
        if at is None:
            daemon.terminate()
        else:
            self.end(daemon)
        daemon.wait()
        return machine, whole, log

    def test_every_point(self):
        machine, whole, log = self.one_life()
        self.assertTrue(whole)
        self.assertEqual(machine.gpu().limit(), FOUND_W)
        count = len(log.read_text().splitlines())
        self.assertGreater(count, 40, "rubatod was not seen at work")
        for at in range(1, count + 1, 1 if harness.FULL else 4):
            machine, whole, log = self.one_life(at)
            if at % 2:
                self.daemon(machine)
            else:
                self.restore_only(machine)
            self.assertEqual(machine.gpu().limit(), FOUND_W, f"killed at point {at} of {count}")
            self.assertIsNone(machine.gpu().sm_lock(), f"killed at point {at} of {count}")
            self.assertEqual(machine.journals(), [], f"killed at point {at} of {count}")


if __name__ == "__main__":
    unittest.main()
