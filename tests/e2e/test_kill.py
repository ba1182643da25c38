"""Whatever dies, at whatever moment, the found limit comes back: from what survives, or at rubato's next start.

Every call by which the guard leaves a trace is a point (kill_point.c); each test stops the world at every one of them.
"""

import concurrent.futures
import os
import pathlib
import shlex
import signal
import subprocess
import unittest

import harness
from harness import FOUND_W, MachineTest, alive, guard_of, job_of, wait_until
from terminal import Terminal

# Simulated seconds per wall second: a run of 20 s takes a fraction of one. A machine busier than expected loses the
# lease and gets it back, which changes the number of points but no outcome.
RATE = 40
ITERATIONS = 50
WANTED_W = 150


def stride(full):
    """Every point in full runs; the fixed sample of every check takes each third, and so does a sanitized build."""
    return 1 if harness.FULL or (full and not harness.SANITIZED) else 3


class EveryPoint(MachineTest):
    def one_run(self, machine, at=None, who="", number=signal.SIGKILL):
        log = machine.folder / "points"
        environment = {"LD_PRELOAD": str(harness.KILL_POINT), "KILL_POINT_LOG": str(log)}
        if harness.SANITIZED:
            environment["LD_PRELOAD"] = harness.preload_sanitizer({})["LD_PRELOAD"] + ":" + environment["LD_PRELOAD"]
        if at is not None:
            environment |= {"KILL_POINT_AT": str(at), "KILL_POINT_WHO": who, "KILL_POINT_SIGNAL": str(int(number))}
        process = machine.start(
            "run", "--gpu", "0", "--power-limit", WANTED_W, "--quiet", "--", *machine.train(ITERATIONS),
            environment=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        )
        wait_until(lambda: process.poll() is not None, "rubato to end")
        errors = process.stderr.read() if who.find("rubato") < 0 else ""
        process.stderr.close()
        return process.returncode, errors, log

    def count_points(self):
        machine = self.machine(rate=RATE)
        status, errors, log = self.one_run(machine)
        self.assertEqual(status, 0, errors)
        self.assertEqual(machine.gpu().limit(), FOUND_W)
        self.assertEqual(machine.last()["gpus"][0]["requested"]["power_limit_w"], WANTED_W, "nothing was set: nothing is proved")
        points = log.read_text().splitlines()
        self.assertGreater(len(points), 20, "the guard was not seen at work")
        self.assertTrue(any("fsync" in p for p in points), points)
        return len(points)

    def at_every_point(self, who, number, check, every=1):
        count = self.count_points()

        def one(at):
            machine = self.machine(rate=RATE)
            try:
                status, errors, _ = self.one_run(machine, at, who, number)
                check(machine, status, errors)
            except AssertionError as failure:
                raise AssertionError(f"signal {int(number)} to {who} at point {at} of {count}: {failure}") from failure

        with concurrent.futures.ThreadPoolExecutor(max_workers=os.cpu_count() or 1) as pool:
            list(pool.map(one, range(1, count + 1, every)))

    def survivors_restore(self, machine, _status, _errors):
        # Without another rubato: what survived must do it. The job may still be running; nobody waits for it.
        self.wait_for_limit(machine, FOUND_W, f"the limit to be {FOUND_W} W again")

    def job_is_unharmed(self, machine, status, errors):
        self.assertEqual(status, 0, errors)
        self.assertEqual(machine.gpu().limit(), FOUND_W)
        self.assertEqual(machine.journals(), [])

    def next_start_restores(self, machine, _status, _errors):
        shown = machine.run("devices", "--gpu", "0", "--json")
        self.assertEqual(shown.returncode, 0, shown.stderr)
        self.assertEqual(machine.gpu().limit(), FOUND_W, shown.stderr)
        self.assertEqual(machine.journals(), [])

    def test_the_guard_is_killed(self):
        self.at_every_point("guard", signal.SIGKILL, self.job_is_unharmed, stride(full=True))

    def test_the_guard_is_told_to_end(self):
        self.at_every_point("guard", signal.SIGTERM, self.job_is_unharmed, stride(full=False))

    def test_rubato_is_killed(self):
        self.at_every_point("rubato", signal.SIGKILL, self.survivors_restore, stride(full=True))

    def test_rubato_is_told_to_end(self):
        # SIGTERM goes to the job, which dies of it; rubato puts everything back and dies of it too.
        def check(machine, status, errors):
            self.assertIn(status, (-signal.SIGTERM, 0), errors)
            self.assertEqual(machine.gpu().limit(), FOUND_W)

        self.at_every_point("rubato", signal.SIGTERM, check, stride(full=False))

    def test_guard_and_rubato_are_killed_together(self):
        self.at_every_point("rubato,guard", signal.SIGKILL, self.next_start_restores, stride(full=True))

    def test_the_job_is_killed(self):
        def check(machine, status, errors):
            self.assertIn(status, (-signal.SIGKILL, 0), errors)
            self.assertEqual(machine.gpu().limit(), FOUND_W)

        self.at_every_point("job", signal.SIGKILL, check, stride(full=False))


class AtTheTerminal(MachineTest):
    """Signals as a person sends them, once the setting is in force."""

    def running_at_the_limit(self, machine, *command, **options):
        process = machine.start(
            "run", "--gpu", "0", "--power-limit", WANTED_W, "--", *(command or machine.train(100_000)),
            stdout=subprocess.DEVNULL, **options,
        )
        self.wait_for_limit(machine, WANTED_W, "the wanted limit to be in force")
        return process

    def test_ctrl_c_ends_the_job_and_puts_back(self):
        machine = self.machine(rate=RATE)
        process = self.running_at_the_limit(machine, start_new_session=True)
        os.killpg(process.pid, signal.SIGINT)
        _, errors = process.communicate(timeout=harness.PATIENCE)
        self.assertEqual(process.returncode, -signal.SIGINT, errors)
        self.assertEqual(machine.gpu().limit(), FOUND_W)
        self.assertEqual(machine.last()["exit_status"], {"signal": int(signal.SIGINT)})

    def test_a_second_ctrl_c_ends_the_waiting_for_a_job_that_ignores_it(self):
        machine = self.machine(rate=RATE)
        train = " ".join(machine.train(100_000))
        process = self.running_at_the_limit(machine, "sh", "-c", f"trap '' INT; {train}; :", start_new_session=True)
        job = job_of(process.pid)
        os.kill(process.pid, signal.SIGINT)
        self.assertTrue(alive(process.pid))
        self.assertAlmostEqual(machine.gpu().limit(), WANTED_W)
        os.kill(process.pid, signal.SIGINT)
        # Not communicate(): the job that was left running still has the pipe.
        process.wait(timeout=harness.PATIENCE)
        process.stderr.close()
        self.assertEqual(process.returncode, 130)
        self.assertEqual(machine.gpu().limit(), FOUND_W)
        self.assertTrue(alive(job), "the job must be left running")

    def test_ctrl_z_puts_back_after_the_guards_patience_and_fg_sets_again(self):
        machine = self.machine(rate=RATE)
        shell = Terminal(["bash", "--norc", "--noprofile", "-i"], {**machine.environment, "TERM": "xterm"}, columns=200)
        self.addCleanup(shell.close)
        command = machine.command("run", "--gpu", "0", "--power-limit", WANTED_W, "--quiet", "--", *machine.train(100_000))
        shell.type(shlex.join(map(str, command)).encode() + b"\n")
        self.wait_for_limit(machine, WANTED_W, "the wanted limit to be in force")
        shell.type(b"\x1a")
        shell.wait_for(lambda text: "Stopped" in text, "the shell to see both stop")
        self.wait_for_limit(machine, FOUND_W, "the guard to put back")
        shell.type(b"fg\n")
        self.wait_for_limit(machine, WANTED_W, "the setting to be made again after fg")
        shell.type(b"\x03")
        self.wait_for_limit(machine, FOUND_W, "the limit to be put back at the end")
        shell.type(b"exit\n")
        shell.end()

    def test_a_job_that_is_stopped_and_continued_by_itself_ends_as_ever(self):
        machine = self.machine(rate=RATE)
        process = self.running_at_the_limit(machine, start_new_session=True)
        job = job_of(process.pid)
        os.kill(job, signal.SIGSTOP)
        stat = pathlib.Path(f"/proc/{job}/stat")
        wait_until(lambda: stat.read_text().rsplit(")", 1)[1].split()[0] == "T", "the job to stop")
        os.kill(job, signal.SIGCONT)
        os.killpg(process.pid, signal.SIGINT)
        process.communicate(timeout=harness.PATIENCE)
        self.assertEqual(process.returncode, -signal.SIGINT)
        self.assertEqual(machine.gpu().limit(), FOUND_W)

    def test_an_interrupt_for_rubato_alone_reaches_the_job(self):
        machine = self.machine(rate=RATE)
        train = " ".join(machine.train(100_000))
        script = f"trap 'kill $!; exit 7' INT; {train} & wait"
        process = self.running_at_the_limit(machine, "sh", "-c", script, start_new_session=True)
        os.kill(process.pid, signal.SIGINT)
        process.communicate(timeout=harness.PATIENCE)
        self.assertEqual(process.returncode, 7)
        self.assertEqual(machine.gpu().limit(), FOUND_W)

    def test_any_other_signal_for_rubato_reaches_the_job_too(self):
        machine = self.machine(rate=RATE)
        train = " ".join(machine.train(100_000))
        numbers = (signal.SIGALRM, signal.SIGXCPU, signal.SIGPROF, signal.SIGRTMIN + 1)
        for number in numbers:
            script = f"trap 'kill $!; exit 7' {int(number)}; {train} & wait"
            process = self.running_at_the_limit(machine, "sh", "-c", script, start_new_session=True)
            os.kill(process.pid, number)
            process.communicate(timeout=harness.PATIENCE)
            self.assertEqual(process.returncode, 7, number)
            self.assertEqual(machine.gpu().limit(), FOUND_W)

    def test_what_has_no_job_ends_by_any_signal_and_an_alarm_from_before_is_the_jobs(self):
        machine = self.machine(rate=RATE)
        for number in (signal.SIGALRM, signal.SIGXCPU, signal.SIGTERM):
            process = machine.start("measure", "--gpu", "0", "--seconds", "100000")
            wait_until(lambda: list((machine.folder / "state").rglob("*.sqlite*")), "the record to be opened")
            process.send_signal(number)
            process.communicate(timeout=harness.PATIENCE)
            for record in (machine.folder / "state").rglob("*.sqlite*"):
                record.unlink(missing_ok=True)
        done = subprocess.run(["perl", "-e", "alarm 1; exec @ARGV", *machine.command("measure", "--gpu", "0", "-q", "--", "sleep", "60")],
                              env=machine.environment, stdin=subprocess.DEVNULL, capture_output=True, timeout=harness.PATIENCE)
        self.assertEqual(done.returncode, -signal.SIGALRM)

    def test_where_children_that_end_are_ignored_the_job_keeps_its_status(self):
        machine = self.machine(rate=RATE)
        done = machine.run("measure", "--gpu", "0", "--", "sh", "-c", "exit 3",
                           preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN))
        self.assertEqual(done.returncode, 3, done.stderr)

    def test_closed_standard_streams_are_nobodys_files(self):
        machine = self.machine(rate=RATE)
        train = shlex.join(machine.train(150))
        for closed in (">&-", "2>&-", "<&- >&-", "<&- 2>&-", "<&- >&- 2>&-"):
            command = shlex.join(map(str, machine.command("run", "--gpu", "0", "--power-limit", WANTED_W, "--", "sh", "-c",
                                                          f"exec </dev/null >/dev/null 2>&1; {train}; exit 5")))
            done = subprocess.run(["sh", "-c", f"exec {command} {closed}"], env=machine.environment,
                                  capture_output=True, timeout=harness.PATIENCE)
            self.assertEqual(done.returncode, 5, closed)
            (gpu,) = machine.last()["gpus"]
            self.assertEqual(gpu["restoration"], "restored", closed)
            self.assertEqual(machine.gpu().limit(), FOUND_W, closed)

    def test_the_job_finds_closed_what_was_closed(self):
        machine = self.machine(rate=RATE)
        seen = machine.folder / "seen"
        command = shlex.join(map(str, machine.command("measure", "--gpu", "0", "-q", "--", "sh", "-c", f"[ -e /proc/$$/fd/2 ] && echo open > {seen} || echo closed > {seen}")))
        subprocess.run(["sh", "-c", f"exec {command} 2>&-"], env=machine.environment, check=True, timeout=harness.PATIENCE)
        self.assertEqual(seen.read_text().strip(), "closed")

    def test_a_session_that_stands_still_keeps_nothing_in_force(self):
        machine = self.machine(rate=RATE, faults=[{"effect": "hang", "call": "read_power", "role": "rubato", "at_s": 60}])
        process = self.running_at_the_limit(machine, "env", "RUBATO_SIM_ROLE=job", *machine.train(100_000),
                                            environment={"RUBATO_SIM_ROLE": "rubato"}, start_new_session=True)
        self.wait_for_limit(machine, FOUND_W, "the guard to put back")
        self.assertIsNone(process.poll(), "the job goes on")
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=harness.PATIENCE)

    def test_rubato_alone_is_stopped(self):
        machine = self.machine(rate=RATE)
        process = self.running_at_the_limit(machine, start_new_session=True)
        os.kill(process.pid, signal.SIGSTOP)
        self.wait_for_limit(machine, FOUND_W, "the guard to put back")
        os.kill(process.pid, signal.SIGCONT)
        self.wait_for_limit(machine, WANTED_W, "the setting to be made again")
        os.killpg(process.pid, signal.SIGINT)
        process.communicate(timeout=harness.PATIENCE)
        self.assertEqual(machine.gpu().limit(), FOUND_W)

    def test_the_job_daemonises(self):
        machine = self.machine(rate=RATE)
        train = " ".join(machine.train(100_000))
        # The command ends at once; its grandchild trains on, in a session of its own.
        process = machine.start(
            "run", "--gpu", "0", "--power-limit", WANTED_W, "--", "sh", "-c", f"setsid {train} >/dev/null 2>&1 & sleep 2",
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        )
        self.wait_for_limit(machine, WANTED_W, "the daemon to count as the job's")
        _, errors = process.communicate(timeout=harness.PATIENCE)
        self.assertEqual(process.returncode, 0, errors)
        self.assertEqual(machine.gpu().limit(), FOUND_W)

    def test_the_guard_is_killed_from_outside_and_the_job_goes_on(self):
        machine = self.machine(rate=RATE)
        process = self.running_at_the_limit(machine, *machine.train(400))
        os.kill(guard_of(process.pid), signal.SIGKILL)
        self.wait_for_limit(machine, FOUND_W, "another guard to put back")
        self.assertIsNone(process.poll(), "the job must still be at work")
        _, errors = process.communicate(timeout=harness.PATIENCE)
        self.assertEqual(process.returncode, 0, errors)
        self.assertIn("the guard has died", errors)
        self.assertEqual(machine.gpu().limit(), FOUND_W)
        self.assertEqual(machine.last()["gpus"][0]["restoration"], "restored")


class AnyDriverCallFails(MachineTest):
    CALLS = (
        "open", "read_power", "read_energy_counter", "read_clocks", "read_utilisation", "read_temperature",
        "read_limiter", "read_power_limits", "read_supported_clocks", "read_processes", "set_power_limit",
    )

    def check(self, call, effect, after):
        machine = self.machine(rate=RATE, faults=[{"call": call, "after": after, "count": 1, **effect}])
        done = machine.run("run", "--gpu", "0", "--power-limit", WANTED_W, "--", *machine.train(ITERATIONS))
        if after > 0 or call != "open":
            # 125: the fault hit before the job was started, and the run was refused in words.
            self.assertIn(done.returncode, (0, 125), done.stderr)
        machine.run("devices", "--gpu", "0")
        try:
            limit = machine.gpu().limit()
        except AssertionError:  # the one failure was still to come, and met us
            limit = machine.gpu().limit()
        self.assertEqual(limit, FOUND_W, done.stderr)
        machine.run("devices", "--gpu", "0")
        self.assertEqual(machine.journals(), [])

    def test_one_error_anywhere_is_survived(self):
        cases = [
            (call, {"effect": "error", "error": error}, after)
            for call in self.CALLS
            for error in ("unknown", "device_lost")
            for after in ((0, 1, 2, 3, 5, 8, 13) if harness.FULL else (0, 1, 3))
        ]
        with concurrent.futures.ThreadPoolExecutor(max_workers=os.cpu_count() or 1) as pool:
            list(pool.map(lambda case: self.check(*case), cases))

    def test_a_write_that_lies_is_seen(self):
        machine = self.machine(rate=RATE, faults=[{"call": "set_power_limit", "after": 0, "count": 1, "effect": "lie"}])
        done = machine.run("run", "--gpu", "0", "--power-limit", WANTED_W, "--", *machine.train(ITERATIONS))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(machine.gpu().limit(), FOUND_W)


class SomeoneElse(MachineTest):
    def test_their_limit_is_seen_reported_and_left_alone(self):
        machine = self.machine(rate=RATE)
        process = machine.start("run", "--gpu", "0", "--power-limit", WANTED_W, "--", *machine.train(600), stdout=subprocess.DEVNULL)
        self.wait_for_limit(machine, WANTED_W, "the wanted limit to be in force")
        machine.gpu().set_limit(180)
        _, errors = process.communicate(timeout=harness.PATIENCE)
        self.assertEqual(process.returncode, 0, errors)
        self.assertEqual(machine.gpu().limit(), 180)
        self.assertIn("someone else set the power limit to 180 W", errors)
        self.assertEqual(machine.last()["gpus"][0]["restoration"], "left_alone")


if __name__ == "__main__":
    unittest.main()
