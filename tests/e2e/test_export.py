"""What leaves rubato for other programs: traces, emissions.csv, and the joules of named windows."""

import csv
import io
import json
import os
import shutil
import subprocess
import unittest

import at_terminal
import harness


class Export(harness.MachineTest):
    def setUp(self):
        self.machine = harness.MachineTest.machine(self)

    def measured(self):
        done = self.machine.run("measure", "--gpu", "0", "--", *self.machine.train(40))
        self.assertEqual(done.returncode, 0, done.stderr)

    def exported(self, *options):
        done = self.machine.run("export", "last", *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_a_trace_has_counters_and_bars(self):
        self.measured()
        events = json.loads(self.exported("--format", "perfetto"))["traceEvents"]
        names = {(event["ph"], event["name"]) for event in events}
        self.assertIn(("C", "power"), names)
        self.assertIn(("X", "iteration 5"), names)
        for event in events:
            if event["ph"] == "X":
                self.assertGreaterEqual(event["dur"], 0)

    def test_perfettos_own_trace_processor_reads_the_trace(self):
        program = os.environ.get("RUBATO_TRACE_PROCESSOR") or shutil.which("trace_processor_shell")
        if not program:
            self.skipTest("no trace_processor_shell in PATH and none named by RUBATO_TRACE_PROCESSOR; "
                          "no package registry has it")
        self.measured()
        trace = self.machine.folder / "trace.json"
        self.exported("--format", "perfetto", "-o", trace)
        query = self.machine.folder / "query.sql"
        query.write_text("select (select count(*) from slice) as slices, (select count(*) from counter) as counters, "
                         "(select value from stats where name = 'json_parser_failure') as failures;")
        answer = subprocess.run([program, "-q", query, trace], capture_output=True, text=True, check=True).stdout
        slices, counters, failures = (int(cell) for cell in answer.strip().splitlines()[-1].split(","))
        self.assertGreaterEqual(slices, 40)
        self.assertGreater(counters, 0)
        self.assertEqual(failures, 0)

    def test_a_person_sees_how_far_a_page_is_and_a_pipe_sees_nothing(self):
        self.measured()
        status, seen = at_terminal.said(self.machine, "export", "last", "--format", "html", "-o", self.machine.folder / "page.html")
        self.assertEqual(status, 0, seen)
        self.assertIn("steps: reading the record", seen)
        self.assertRegex(seen, r"4 of 4 steps: packing its series")
        self.assertTrue(seen.endswith("\x1b[K"), "the line is taken away at the end")
        piped = self.machine.run("export", "last", "--format", "html", "-o", self.machine.folder / "piped.html")
        self.assertEqual((piped.returncode, piped.stderr), (0, ""))

    def test_emissions_agree_with_the_report(self):
        self.measured()
        report = json.loads(self.machine.run("show", "last", "--json").stdout)
        row = next(csv.DictReader(io.StringIO(self.exported("--format", "emissions", "--co2", "380"))))
        joules = report["gpus"][0]["energy_j"]
        self.assertAlmostEqual(float(row["gpu_energy"]) * 3.6e6, joules, delta=1e-6 * joules)
        self.assertAlmostEqual(float(row["emissions"]), joules / 3.6e6 * 0.38, delta=1e-6)
        self.assertEqual(row["cpu_energy"], "")

    def test_windows_are_rows_with_what_each_source_used(self):
        code = "import time, rubato\nwith rubato.window('warm'): time.sleep(0.3)\nwith rubato.window('work'): time.sleep(0.3)\n"
        # The program's clock is the wall's, and what a window holds has to last for it.
        machine = harness.MachineTest.machine(self, rate=1)
        machine.run("measure", "--gpu", "0", "-q", "--", "/usr/bin/python3", "-c", code)
        text = machine.run("export", "last", "--format", "csv", "--what", "windows").stdout
        rows = list(csv.DictReader(line for line in text.splitlines() if not line.startswith("#")))
        self.assertEqual([row["name"] for row in rows], ["warm", "work"])
        told = machine.last()
        for row, window in zip(rows, told["windows"]):
            self.assertEqual(row["source"], window["energy"][0]["source"])
            self.assertAlmostEqual(float(row["energy_j"]), window["energy"][0]["energy"]["energy_j"], 6)
        refused = machine.run("export", "last", "--format", "json", "--what", "windows")
        self.assertEqual(refused.returncode, 125)
        self.assertIn("run.windows", refused.stderr)

    def test_options_that_do_not_fit_the_format_are_refused(self):
        self.measured()
        for wrong in (("--format", "perfetto", "--what", "samples"), ("--format", "csv", "--co2", "380")):
            self.assertEqual(self.machine.run("export", "last", *wrong).returncode, 125)


class Windows(harness.MachineTest):
    def setUp(self):
        self.machine = harness.MachineTest.machine(self)

    def talk(self, *requests, gpu="0"):
        """One request after the other, each answered before the next."""
        process = self.machine.start("windows", *(() if gpu is None else ("--gpu", gpu)), stdin=subprocess.PIPE)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stderr.close)
        answers = []
        for request in requests:
            process.stdin.write(request + "\n")
            process.stdin.flush()
            answers.append(json.loads(process.stdout.readline()))
        process.stdin.close()
        self.assertEqual(process.wait(harness.PATIENCE), 0)
        return answers

    def test_a_window_around_a_training_holds_its_joules(self):
        process = self.machine.start("windows", "--gpu", "0", stdin=subprocess.PIPE)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stderr.close)

        def ask(request):
            process.stdin.write(request + "\n")
            process.stdin.flush()
            return json.loads(process.stdout.readline())

        self.assertTrue(ask("begin whole run")["open"])
        self.machine.run("measure", "--gpu", "0", "--", *self.machine.train(40))
        window = ask("end whole run")
        process.stdin.close()
        self.assertEqual(process.wait(harness.PATIENCE), 0)
        inside, of_gpu = self.machine.last(), window["gpus"][0]
        more = of_gpu["energy_j"] - inside["gpus"][0]["energy_j"]
        band = of_gpu["band_sampling_j"] + inside["gpus"][0]["energy_band_sampling_j"]
        # The window begins before the measured run and ends after it, at no more than the board's 250 W.
        self.assertGreater(more, -band)
        self.assertLess(more, 250 * (window["seconds"] - inside["duration_s"]) + band)
        self.assertEqual(of_gpu["kind"], inside["gpus"][0]["quality"])

    def test_what_the_gpus_read_now_is_told_at_any_time(self):
        alone, _, within, _ = self.talk("now", "begin a", "now", "end a")
        for answer in (alone, within):
            (gpu,) = answer["gpus"]
            self.assertEqual((gpu["index"], gpu["kind"], gpu["why_missing"]), (0, "modelled", ""))
            self.assertGreater(gpu["power_w"], 10)
            self.assertGreater(gpu["power_limit_w"], gpu["power_w"])
            self.assertTrue(20 < gpu["temperature_c"] < 95 and gpu["sm_clock_mhz"] > 100 and gpu["memory_clock_mhz"] > 100)

    def test_nonsense_is_answered_and_survived(self):
        answers = self.talk("what", "end never", "begin a", "begin a", "end a")
        self.assertEqual(["error" in answer for answer in answers], [True, True, False, True, False])

    def test_without_a_gpu_the_program_is_told_why(self):
        self.machine.environment["LD_LIBRARY_PATH"] = "/nonexistent"
        answers = self.talk("begin a", "end a", gpu=None)
        self.assertEqual((answers[1]["gpus"], answers[1]["meters"]), ([], []))
        self.assertIn("driver", answers[1]["why_missing"])


if __name__ == "__main__":
    unittest.main()
