"""What rubato says about itself: usage errors, where reports go, completion, manual pages, the version."""

import json
import os
import shutil
import subprocess
import unittest

from harness import RUBATO, MachineTest


class UsageErrors(MachineTest):
    def setUp(self):
        self.box = self.machine()

    def said(self, *words):
        done = self.box.run(*words)
        self.assertEqual(done.returncode, 125, done.stderr)
        errors = [line for line in done.stderr.splitlines() if line.startswith("rubato: error: ")]
        self.assertEqual(len(errors), 1, done.stderr)
        return done.stderr

    def test_a_missing_separator_is_put_where_it_belongs(self):
        self.assertIn("hint: rubato run -- python train.py", self.said("run", "python", "train.py"))
        self.assertIn("hint: rubato run --power-limit 150 -- python3 x.py", self.said("run", "--power-limit", "150", "python3", "x.py"))

    def test_a_number_with_its_unit_is_named(self):
        self.assertIn("hint: --power-limit 150", self.said("run", "--power-limit", "150W", "--", "true"))

    def test_the_nearest_word_is_named(self):
        self.assertIn("the nearest is --power-limit", self.said("run", "--power-limt", "150", "--", "true"))
        self.assertIn("hint: rubato show", self.said("shwo"))
        self.assertIn("the nearest is measure", self.said("measur", "--help"))
        self.assertIn("the nearest is run", self.said("lab", "rnu", "--help"))

    def test_nothing_at_all_names_the_commands(self):
        self.assertIn("measure", self.said())

    def test_a_folder_is_no_run(self):
        done = self.box.run("show", self.box.folder)
        self.assertEqual(done.returncode, 1)
        self.assertIn("is a folder", done.stderr)
        self.assertIn("rubato runs", done.stderr)

    def test_a_report_that_could_not_be_written_is_found_before_the_job(self):
        for target in ("/no/such/folder/report", "/proc/report", "fd:77", str(self.box.folder)):
            self.assertIn("--report", self.said("measure", "--report", target, "--", "touch", str(self.box.folder / "ran")))
        self.assertFalse((self.box.folder / "ran").exists())


    def test_a_page_is_asked_for_where_one_is_made(self):
        page = self.box.folder / "p.html"
        for words in (("advise", "--report", page, "--", "true"),
                      ("sweep", "--gpu", "sim:v100", "--knob", "power-limit=150", "--report", page, "--dry-run", "--", "true")):
            self.assertIn("no page", self.said(*map(str, words)))
        self.assertFalse(page.exists())


class Reports(MachineTest):
    def test_a_report_named_html_is_a_page(self):
        machine = self.machine(rate=40)
        page = machine.folder / "p.html"
        done = machine.run("measure", "--gpu", "0", "--report", page, "--", "sleep", "0.1")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(page.read_text().startswith("<!doctype html>"))
        machine.run("measure", "--gpu", "0", "--json", "--report", page, "--", "sleep", "0.1")
        self.assertEqual(json.loads(page.read_text())["schema"], "rubato.run/1")
        both = machine.run("compare", "last", "last", "--report", page)
        self.assertEqual(both.returncode, 0, both.stderr)
        self.assertTrue(page.read_text().startswith("<!doctype html>"))

    def test_the_jobs_output_stays_its_own(self):
        machine = self.machine(rate=40)
        done = machine.run("measure", "--gpu", "0", "-q", "--json", "--", "echo", "mine")
        self.assertEqual(done.stdout, "mine\n")
        self.assertEqual(json.loads(done.stderr)["schema"], "rubato.run/1")

    def test_without_a_job_the_report_is_the_output(self):
        machine = self.machine(rate=40)
        done = machine.run("measure", "--gpu", "0", "--seconds", "4", "--json")
        self.assertEqual(json.loads(done.stdout)["schema"], "rubato.run/1")
        self.assertIn("The GPU used", machine.run("measure", "--gpu", "0", "--seconds", "4").stdout)

    def test_a_report_to_a_descriptor_ends_with_rubato_and_not_with_the_job(self):
        machine = self.machine(rate=40)
        reading, writing = os.pipe()
        done = machine.run("measure", "--gpu", "0", "-q", "--json", "--report", f"fd:{writing}", "--",
                           "sh", "-c", f"echo leaked >&{writing} || true; sleep 5 >/dev/null 2>&1 &", pass_fds=[writing])
        os.close(writing)
        self.assertEqual(done.returncode, 0, done.stderr)
        with os.fdopen(reading) as report:
            self.assertEqual(json.loads(report.read())["schema"], "rubato.run/1")

    def test_a_report_to_a_standard_stream_leaves_it_to_the_job(self):
        machine = self.machine(rate=40)
        for number, stream in ((1, "stdout"), (2, "stderr")):
            done = machine.run("measure", "--gpu", "0", "-q", "--json", "--report", f"fd:{number}", "--", "sh", "-c", f"echo from the job >&{number}")
            self.assertEqual(done.returncode, 0, done.stderr)
            first, rest = getattr(done, stream).split("\n", 1)
            self.assertEqual(first, "from the job")
            self.assertEqual(json.loads(rest)["schema"], "rubato.run/1")

    def test_every_command_that_prints_has_json(self):
        machine = self.machine(rate=40)
        machine.run("measure", "--gpu", "0", "--", "true")
        for words in (["runs"], ["show"], ["compare", "last", "last"], ["devices", "--gpu", "0"], ["sim", "gpus"], ["sim", "workloads"], ["sim", "reset"]):
            done = machine.run(*words, "--json")
            self.assertTrue(json.loads(done.stdout)["schema"].startswith("rubato."), words)


class AboutItself(MachineTest):
    def setUp(self):
        self.box = self.machine()

    def test_the_version_says_how_it_was_built(self):
        lines = self.box.run("--version").stdout.splitlines()
        self.assertRegex(lines[0], r"^rubato \d+\.\d+\.\d+$")
        self.assertTrue(any(line.startswith("  build") for line in lines))

    def test_help_is_the_same_by_both_ways(self):
        for command in ([], ["run"], ["sim", "train"]):
            self.assertEqual(self.box.run("help", *command).stdout, self.box.run(*command, "--help").stdout)
            self.assertEqual(self.box.run(*command, "--help").returncode, 0)

    def test_bash_completes_commands_options_and_runs(self):
        machine = self.machine(rate=40)
        machine.run("measure", "--gpu", "0", "--", "true")
        (run,) = machine.run("runs", "--ids").stdout.split()
        script = (
            "source <(rubato completion bash)\n"
            'try() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _rubato; echo "${COMPREPLY[*]}"; }\n'
            'try rubato mea; try rubato run --power-l; try rubato show 2; try rubato sim train resn; try rubato export --format ""\n'
        )
        path = f"{RUBATO.parent}:{machine.environment['PATH']}"
        done = subprocess.run(["bash", "-c", script], env={**machine.environment, "PATH": path}, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.stdout.splitlines(), ["measure", "--power-limit", run, "resnet50", "csv json perfetto emissions html"], done.stderr)

    def test_other_shells_can_read_their_scripts(self):
        for shell, check in (("bash", "bash"), ("zsh", "zsh"), ("fish", "fish")):
            script = self.box.run("completion", shell).stdout
            self.assertIn("power-limit", script)
            with self.subTest(shell):
                if shutil.which(check) is None:
                    self.skipTest(f"no {check} here")
                done = subprocess.run([check, "-n", "/dev/stdin"], input=script, capture_output=True, text=True, timeout=60)
                self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_every_command_has_a_manual_page_without_warnings(self):
        pages = self.box.folder / "man"
        pages.mkdir()
        self.assertEqual(self.box.run("help", "--man-pages", pages).returncode, 0)
        names = {page.name for page in pages.iterdir()}
        self.assertLessEqual({"rubato.1", "rubato-run.1", "rubato-compare.1", "rubato-sim-train.1"}, names)
        if shutil.which("groff") is None:
            self.skipTest("no groff here")
        for page in pages.iterdir():
            done = subprocess.run(["groff", "-man", "-ww", "-Tutf8", page], capture_output=True, text=True, timeout=60)
            self.assertEqual((done.returncode, done.stderr), (0, ""), page.name)
            self.assertIn("rubato manual", done.stdout)


if __name__ == "__main__":
    unittest.main()
