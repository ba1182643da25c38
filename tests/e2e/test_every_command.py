"""Every command of `rubato help --json`: --json parses and names its schema, nothing piped holds an escape sequence or a
progress line, and what was typed wrong ends with 125 and one error, as docs/exit-codes.md says."""

import json
import subprocess
import unittest

from harness import MachineTest

TABLE = "gpu,workload,group,power_limit_w,sm_clock_mhz,memory_clock_mhz,time_s,power_w,energy_j\n" + "".join(
    "V100,%s,%s,%d,,,%g,%g,%g\n" % (name, name, limit, time, energy / time, energy)
    for name, slow in (("a", 1.1), ("b", 1.2), ("c", 1.3))
    for limit, time, energy in ((250, 1, 200), (200, 1.01 * slow**0.2, 180), (150, slow, 160)))
PROFILE = "stage,instruction,frequency,time,energy\n" + "".join(
    f"{stage},{name},{mhz},{s},{j}\n" for stage in range(2) for name in ("forward", "backward")
    for mhz, s, j in ((1400, 1, 500), (700, 2, 300), (350, 3, 380)))
ZEUS = "dataset,network,batch_size,optimizer,power_limit,time_per_epoch,average_power\ncifar100,resnet50,64,adam,250,10,200\n"
TRACE = "time_s,power_w\n" + "".join(f"{0.1 * i:.1f},{200 if i % 10 < 7 else 90}\n" for i in range(600))

# What has no result to tell as JSON, and why.
WITHOUT_JSON = {
    "rubato completion": "a script for a shell",
    "rubato export": "the format is --format",
    "rubato layers trace": "its file is JSON, its output the job's",
    "rubato sim train": "a job, which rubato measures",
}
# Standard output is the job's own: the report is on standard error.
ON_STANDARD_ERROR = {"rubato run", "rubato sweep", "rubato advise"}


class EveryCommand(MachineTest):
    def setUp(self):
        self.box = self.machine(rate=40)
        for name, text in (("table.csv", TABLE), ("profile.csv", PROFILE), ("summary_power_v100.csv", ZEUS), ("trace.csv", TRACE)):
            (self.box.folder / name).write_text(text)

    def file(self, name):
        return self.box.folder / name

    def commands(self):
        document = json.loads(self.box.run("help", "--json").stdout)
        self.assertEqual(document["schema"], "rubato.help/1")
        return [command for command in document["commands"] if not command["group"]]

    def examples(self):
        """Of every command the quickest that has a result."""
        table, job = self.file("table.csv"), ["--", *self.box.train(60)]
        model = self.file("model.json")
        learn = ["--table", table, "--knobs", "power-limit"]
        board = ["--gpu", "sim:v100"]
        return {
            "rubato devices": ["--gpu", "0"],
            "rubato doctor": ["--gpu", "0"],
            "rubato measure": ["--gpu", "0", "--seconds", "8"],
            "rubato run": ["--gpu", "0", "--power-limit", "150", "-q", *job],
            "rubato sweep": [*board, "--knob", "power-limit=150", "--warmup", "0", "--repeats", "1", "-q",
                             "-o", self.file("sweep.csv"), *job],
            "rubato runs": [],
            "rubato show": ["last"],
            "rubato compare": ["last", "last"],
            "rubato period": ["--trace", self.file("trace.csv")],
            "rubato model train": [*learn, "--model", "mean-curve", "-o", model],
            "rubato model validate": [*learn, "--model", "mean-curve"],
            "rubato model show": [model],
            "rubato model predict": [model, "--default-time", "1", "--default-power", "200"],
            "rubato restore": board,
            "rubato sim gpus": [],
            "rubato sim workloads": [],
            "rubato sim reset": [],
            "rubato calibrate-meter": None,  # needs another meter: test_show_meters.py
            "rubato calibrate": None,  # needs a machine without other work: test_calibrate.py
            "rubato windows": None,  # a conversation, of JSON lines: test_export.py
            "rubato help": [],
            "rubato import": ["zeus-power", self.file("summary_power_v100.csv"), "-o", self.file("imported.csv")],
            "rubato advise": [*board, "--table", table, "-q", *job],
            "rubato evidence": [*board, "--dry-run", "-o", self.file("evidence.json")],
            "rubato lab run": ["--table", table, "--strategies", "oracle", "--iterations", "50"],
            "rubato lab suites": [],
            "rubato layers show": ["resnet50", "--batch", "8", *board],
            "rubato layers plan": ["resnet50", "--batch", "8", *board],
            "rubato pipeline frontier": [self.file("profile.csv"), "--microbatches", "2", "--blocking-power", "83"],
            "rubato latency": [*board, "--dry-run"],
            "rubato top": ["--gpu", "0", "--once"],
        }

    def test_json_parses_and_what_is_piped_is_plain(self):
        examples = self.examples()
        for command in sorted(self.commands(), key=lambda c: list(examples).index(c["command"]) if c["command"] in examples else -1):
            name = command["command"]
            words = examples.get(name)
            if name in WITHOUT_JSON or (words is None and name in examples):
                continue
            with self.subTest(name):
                self.assertIn(name, examples, "a new command: say here how it is called")
                self.assertIn("--json", [n for option in command["options"] for n in option["names"]])
                before, behind = words, []
                if "--" in words:
                    at = words.index("--")
                    before, behind = words[:at], words[at:]
                done = self.box.run(*name.split()[1:], *before, "--json", *behind, stdin=subprocess.DEVNULL)
                self.assertIn(done.returncode, (0, 1) if name == "rubato doctor" else (0,), done.stderr)
                said = done.stderr if name in ON_STANDARD_ERROR else done.stdout
                self.assertRegex(json.loads(said)["schema"], r"^rubato\.[a-z_-]+/[0-9]+$")
                for stream in (done.stdout, done.stderr):
                    self.assertNotIn("\x1b", stream)
                    self.assertNotIn("\r", stream)

    def test_text_into_a_pipe_has_no_colour_and_no_progress(self):
        for name, words in self.examples().items():
            if words is None:
                continue
            with self.subTest(name):
                done = self.box.run(*name.split()[1:], *words, stdin=subprocess.DEVNULL)
                self.assertIn(done.returncode, (0, 1) if name == "rubato doctor" else (0,), done.stderr)
                for stream in (done.stdout, done.stderr):
                    self.assertNotIn("\x1b", stream)
                    self.assertNotIn("\r", stream)

    def test_colour_is_forced_and_forbidden_by_the_usual_variables(self):
        self.box.run("measure", "--gpu", "0", "--", "true")
        self.assertIn("\x1b[", self.box.run("show", environment={"CLICOLOR_FORCE": "1"}).stdout)
        self.assertNotIn("\x1b", self.box.run("show", environment={"CLICOLOR_FORCE": "1", "NO_COLOR": "1"}).stdout)

    def test_an_option_that_does_not_exist_is_refused_everywhere(self):
        for command in self.commands():
            name = command["command"]
            with self.subTest(name):
                done = self.box.run(*name.split()[1:], "--no-such-option", stdin=subprocess.DEVNULL)
                self.assertEqual(done.returncode, 125, done.stderr)
                errors = [line for line in done.stderr.splitlines() if line.startswith("rubato: error: ")]
                self.assertEqual(len(errors), 1, done.stderr)
                self.assertEqual(done.stdout, "")

    def test_help_of_every_command_is_there(self):
        for command in self.commands():
            with self.subTest(command["command"]):
                done = self.box.run(*command["command"].split()[1:], "--help")
                self.assertEqual(done.returncode, 0)
                self.assertIn(command["command"], done.stdout)
                self.assertTrue(command["description"])
                for option in command["options"]:
                    self.assertTrue(option["description"], (command["command"], option["names"]))


if __name__ == "__main__":
    unittest.main()
