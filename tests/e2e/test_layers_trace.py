"""`rubato layers trace`: a real PyTorch training, its network file, and how the job ends."""

import json
import pathlib
import subprocess
import sys
import unittest

from harness import BUILD, SOURCE, MachineTest, alive, wait_until

TRAIN = """
import os, sys, torch
model = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3, padding=1), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(512, 10))
optimizer = torch.optim.Adam(model.parameters())
child = os.fork() if "fork" in sys.argv else None
if child == 0:
    import time
    time.sleep(600)
    os._exit(0)
print(child, flush=True)
for number in range(int(sys.argv[1])):
    optimizer.zero_grad()
    torch.nn.functional.cross_entropy(model(torch.ones(4, 3, 8, 8)), torch.zeros(4, dtype=torch.long)).backward()
    optimizer.step()
print("trained", flush=True)
sys.exit(int(sys.argv[2]))
"""


def python_with_torch():
    for python in (str(SOURCE / "build/venvs/torch2/bin/python"), "/usr/bin/python3"):
        if pathlib.Path(python).exists() and subprocess.run([python, "-c", "import torch"], capture_output=True).returncode == 0:
            return python
    raise unittest.SkipTest("no PyTorch: tools/make-test-venv torch2")


@unittest.skipUnless(BUILD.parent.parent == SOURCE, "the build folder does not lie in the source tree")
class LayersTrace(MachineTest):
    @classmethod
    def setUpClass(cls):
        cls.python = python_with_torch()

    def setUp(self):
        self.machine = MachineTest.machine(self)
        self.file = self.machine.folder / "network.json"

    def trace(self, *job, options=()):
        return self.machine.run("layers", "trace", "-o", self.file, *options, "--", self.python, "-c", TRAIN, *job)

    def test_the_network_is_written_and_the_job_with_its_children_is_ended(self):
        done = self.trace("1000000000", "5", "fork")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("trained", done.stdout)
        wait_until(lambda: not alive(int(done.stdout)), "the job's child to end")
        self.assertIn("the job was ended", done.stderr)
        self.assertRegex(done.stderr, r"Sequential, batch 4, 3x8x8: 3 layers, 5\.4 thousand parameters .*PyTorch .*3 iterations")
        network = json.loads(self.file.read_text())
        kinds = [(layer["name"], layer["kind"]) for layer in network["layers"]]
        self.assertEqual((network["schema"], kinds), ("rubato.network/1", [("0", "conv"), ("1", "relu"), ("3", "linear")]))
        shown = self.machine.run("layers", "show", self.file, "--json")
        self.assertEqual(shown.returncode, 0, shown.stderr)

    def test_a_job_that_ends_by_itself_hands_its_status_on(self):
        for iterations, options in (("2", ()), ("6", ("--keep-running",))):
            with self.subTest(iterations):
                done = self.trace(iterations, "7", options=(*options, "--force"))
                self.assertEqual(done.returncode, 7, done.stderr)
                self.assertIn("trained", done.stdout)
                self.assertEqual(len(json.loads(self.file.read_text())["layers"]), 3)

    def test_what_cannot_be_traced_is_said_and_nothing_is_written(self):
        for words, status, said in (
            ([], 125, "no command to trace"),
            ([self.python, "-I", "-c", "print('ran')"], 125, "does not look at PYTHONPATH"),
            (["/nonexistent"], 127, "cannot run"),
            ([sys.executable, "-c", "print('ran')"], 1, "no process of the job imported"),
            ([self.python, "-c", "import torch; print('ran')"], 1, "no model was called"),
            ([self.python, "-c", "import torch, sys; sys.exit(3)"], 3, "no model was called"),
        ):
            with self.subTest(said):
                done = self.machine.run("layers", "trace", "-o", self.file, "--", *words)
                self.assertEqual(done.returncode, status, done.stderr)
                self.assertIn(said, done.stderr)
                self.assertIn("rubato: hint:", done.stderr)
                self.assertEqual("ran" in done.stdout, status == 1)
                self.assertFalse(self.file.exists())
        self.file.write_text("mine")
        done = self.machine.run("layers", "trace", "-o", self.file, "--", "true")
        self.assertEqual((done.returncode, self.file.read_text()), (125, "mine"))


if __name__ == "__main__":
    unittest.main()
