"""`rubato top` in a terminal: what is seen, what keys do, and that the terminal is as it was before, whatever ends it."""

import json
import os
import re
import signal
import subprocess
import time
import unittest

from harness import RUBATO, MachineTest, alive, job_of, wait_until

try:
    from terminal import Terminal
except ModuleNotFoundError as missing:  # pyte
    raise unittest.SkipTest(f"{missing.name} is missing: apt-get install python3-pyte") from None

LEAVE = b"\x1b[?25h\x1b[?1049l"


class Top(MachineTest):
    def world(self, **options):
        options.setdefault("rate", 20)
        self.box = self.machine(profiles="v100,h100", found={}, **options)
        return self.box

    def top(self, *arguments, rows=24, columns=80, **environment):
        environment = {"TERM": "xterm-256color", "LANG": "C.UTF-8", **environment}
        terminal = Terminal(self.box.command("top", "--gpu", "0,1", *arguments), {**self.box.environment, **environment},
                            rows, columns)
        self.addCleanup(terminal.close)
        return terminal

    def governed(self):
        """A run that goes on until the test is over."""
        run = self.box.start("run", "--gpu", "0", "--power-limit", "150", "--", *self.box.train(10_000_000),
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(lambda: (run.terminate(), run.wait(60)))
        return run

    def assert_as_before(self, terminal):
        self.assertEqual(terminal.modes(), terminal.modes_before)
        self.assertTrue(bytes(terminal.sent).endswith(LEAVE), bytes(terminal.sent)[-80:])


class WhatIsSeen(Top):
    def test_a_run_its_setting_its_reason_its_process_and_what_came_of_it(self):
        self.world(rate=60)
        self.governed()
        top = self.top("--interval", "0.2")
        top.wait_for(lambda text: "holding 150 W" in text, "the setting that is held")
        shown = top.wait_for(lambda text: re.search(r"\d % ±\d", text) and "why: " in text, "what it saved")
        gpu = next(line for line in shown.splitlines() if "V100" in line)
        self.assertRegex(gpu, r"\d W +150 W +150 W ")
        self.assertIn("modelled", shown.splitlines()[0])
        top.type(b"q")
        self.assertEqual(top.end(), 0)
        self.assert_as_before(top)

    def test_the_processes_on_the_gpus(self):
        self.world()
        run = self.governed()
        wait_until(lambda: job_of(run.pid), "the job")
        top = self.top("--interval", "0.2", columns=120)
        top.wait_for(lambda text: re.search(rf"{job_of(run.pid)} .*rubato sim train", text), "the job's process")

    def test_a_run_that_ended_is_gone_and_so_is_one_that_was_killed(self):
        self.world()
        run = self.governed()
        top = self.top("--interval", "0.2")
        top.wait_for(lambda text: "ITERATION" in text, "the run")
        job = job_of(run.pid)
        run.kill()
        run.wait(60)
        self.addCleanup(lambda: alive(job) and os.kill(job, signal.SIGKILL))
        top.wait_for(lambda text: "no run of yours goes on" in text, "the end of the run")

    def test_another_size_is_drawn_anew(self):
        self.world()
        top = self.top()
        top.wait_for(lambda text: "ENFORCED" in text and "q quit" in text, "the first frame")
        top.resize(10, 40)
        small = top.wait_for(lambda text: "q quit" in text and "ENFORCED" not in text, "the small one")
        self.assertTrue(small.splitlines()[9].startswith("q quit"), small)
        top.resize(40, 160)
        top.wait_for(lambda text: "LIMITED BY" in text and text.splitlines()[39].startswith("q quit"), "the large one")

    def test_keys_select_sort_freeze_and_help(self):
        self.world()
        top = self.top("--interval", "0.1")
        top.wait_for(lambda text: ">  0 " in text, "the first GPU selected")
        top.type(b"\x1b[B")
        top.wait_for(lambda text: ">  1 " in text, "the second one")
        top.type(b"s")
        top.wait_for(lambda text: "s sort: power" in text, "sorted by power")
        top.type(b" ")
        frozen = top.wait_for(lambda text: "frozen at" in text, "frozen").splitlines()[0]
        for _ in range(5):
            top.take(0.3)
        self.assertEqual(top.text().splitlines()[0], frozen)
        top.type(b"?")
        top.wait_for(lambda text: "rubato top: help" in text, "help")
        top.type(b"\x1b")
        top.wait_for(lambda text: "frozen at" in text, "back from help")
        top.type(b" ")
        top.wait_for(lambda text: "frozen" not in text, "on again")

    def test_only_what_changed_is_sent(self):
        self.world()
        top = self.top("--interval", "0.1")
        top.wait_for(lambda text: "q quit" in text, "the first frame")
        before = len(top.sent)
        frames = 0
        while frames < 20:
            sent = len(top.sent)
            top.take(1)
            frames += len(top.sent) > sent
        # A frame is 1.5 to 3 kB; of an idle GPU a watt, of the clock a digit.
        self.assertLess((len(top.sent) - before) / frames, 400)

    def test_no_colour_where_none_is_wanted(self):
        self.world()
        top = self.top("--interval", "0.1", NO_COLOR="1")
        top.wait_for(lambda text: ">  0 " in text, "the first frame")
        self.assertEqual(set(re.findall(rb"\x1b\[[0-9;]*m", bytes(top.sent))), {b"\x1b[0m"})

    def test_ascii_where_the_locale_is(self):
        self.world()
        top = self.top(LANG="C", LC_ALL="C")
        top.wait_for(lambda text: ">  0 " in text, "the first frame")
        bytes(top.sent).decode("ascii")

    def test_a_driver_that_hangs_is_named_and_keys_still_work(self):
        self.world(rate=1, faults=[{"call": "read_clocks", "at_s": 10, "effect": "hang", "count": "always"}])
        top = self.top("--interval", "0.2")
        top.wait_for(lambda text: "no answer from the driver" in text, "what hangs")
        top.type(b"q")
        self.assertEqual(top.end(), 0)
        self.assert_as_before(top)


class HowItEnds(Top):
    def started(self, *arguments):
        self.world()
        top = self.top("--interval", "0.2", *arguments)
        top.wait_for(lambda text: "q quit" in text, "the first frame")
        self.assertNotEqual(top.modes(), top.modes_before)
        return top

    def test_by_ctrl_c(self):
        top = self.started()
        top.type(b"\x03")
        self.assertEqual(top.end(), 0)
        self.assert_as_before(top)

    def test_by_every_signal_that_can_be_caught(self):
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGSEGV, signal.SIGABRT):
            with self.subTest(number):
                top = self.started()
                os.kill(top.pid, number)
                self.assertEqual(top.end(), -number)
                self.assert_as_before(top)

    def test_suspended_it_gives_the_terminal_back_and_takes_it_again(self):
        top = self.started()
        top.type(b"\x1a")
        wait_until(top.stopped, "suspended")
        top.take(0.5)
        self.assert_as_before(top)
        os.kill(top.pid, signal.SIGCONT)
        frames = bytes(top.sent).count(b"\x1b[2J")
        top.wait_for(lambda text: bytes(top.sent).count(b"\x1b[2J") > frames and "q quit" in text, "drawn anew")
        self.assertNotEqual(top.modes(), top.modes_before)
        top.type(b"q")
        self.assertEqual(top.end(), 0)
        self.assert_as_before(top)

    def test_a_terminal_that_takes_nothing_keeps_nobody_waiting(self):
        self.world()
        top = self.top("--interval", "0.1", rows=100, columns=300)
        # Nothing is read: frame after frame is asked for, and skipped once the line is full.
        time.sleep(1)
        for _ in range(40):
            top.type(b"\x0c")
            time.sleep(0.02)
        top.type(b"q")
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            pid, status = os.waitpid(top.pid, os.WNOHANG)
            if pid:
                top.status = os.waitstatus_to_exitcode(status)
                break
            time.sleep(0.02)
        self.assertEqual(top.status, 0)
        self.assertEqual(top.modes(), top.modes_before)

    def test_in_the_background_it_leaves_the_terminal_alone(self):
        self.world()
        top = Terminal(["bash", "-c", f"set -m; {RUBATO} top --gpu 0 --interval 0.2 & sleep 2; kill %1; wait"],
                       {**self.box.environment, "TERM": "xterm", "LANG": "C.UTF-8"})
        self.addCleanup(top.close)
        top.end()
        self.assertEqual(top.modes(), top.modes_before)
        self.assertNotIn(b"\x1b[?1049h", bytes(top.sent))


class AsText(Top):
    def test_once_as_text_and_as_json(self):
        self.world()
        text = self.box.run("top", "--gpu", "0,1", "--once")
        self.assertEqual(text.returncode, 0, text.stderr)
        self.assertIn("POWER", text.stdout)
        self.assertIn("V100", text.stdout)
        self.assertNotIn("\x1b", text.stdout)
        document = json.loads(self.box.run("top", "--gpu", "0,1", "--once", "--json").stdout)
        self.assertEqual(document["schema"], "rubato.top/1")
        self.assertEqual([gpu["kind"] for gpu in document["gpus"]], ["modelled", "modelled"])

    def test_json_tells_of_a_run_line_by_line(self):
        self.world()
        self.governed()
        watching = self.box.start("top", "--gpu", "0,1", "--json", "--interval", "0.2")
        self.addCleanup(lambda: (watching.kill(), watching.communicate()))
        for line in watching.stdout:
            document = json.loads(line)
            if document["runs"] and document["runs"][0]["doing"]:
                break
        (run,) = document["runs"]
        self.assertEqual(run["schema"], "rubato.run_state/1")
        self.assertEqual(run["gpus"][0]["uuid"], document["gpus"][0]["uuid"])
        watching.send_signal(signal.SIGINT)
        self.assertEqual(watching.wait(60), 0)

    def test_a_terminal_that_cannot_place_text_gets_a_table_per_interval(self):
        self.world()
        top = self.top("--interval", "0.3", TERM="dumb")
        top.wait_for(lambda _: bytes(top.sent).count(b"POWER") >= 2, "two tables")
        self.assertNotIn(b"\x1b", bytes(top.sent))
        self.assertEqual(top.modes(), top.modes_before)

    def test_a_pipe_that_nobody_reads_any_more_ends_it(self):
        self.world()
        done = subprocess.run(f"{RUBATO} top --gpu 0 --interval 0.1 | head -1", shell=True, env=self.box.environment,
                              capture_output=True, text=True, timeout=60)
        self.assertTrue(done.stdout.startswith("rubato top"), done.stdout)

    def test_what_cannot_be_is_refused(self):
        self.world()
        for words in (["--interval", "0"], ["--gpu", "7"], ["--", "true"]):
            done = self.box.run("top", "--once", *words)
            self.assertEqual(done.returncode, 125, words)
            self.assertIn("rubato: error: ", done.stderr)

    def test_a_run_elsewhere_is_named_where_there_is_no_gpu(self):
        box = self.machine(rate=20)
        box.environment["LD_LIBRARY_PATH"] = ""
        run = box.start("run", "--gpu", "sim:v100", "--power-limit", "150", "--", *box.train(10_000_000),
                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(lambda: (run.terminate(), run.wait(60)))
        wait_until(lambda: "rubato top --gpu sim:v100" in box.run("top", "--once").stderr, "the hint")


if __name__ == "__main__":
    unittest.main()
