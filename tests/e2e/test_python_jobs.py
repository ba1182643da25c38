"""Python programs that do odd things to their own start: they run under rubato as they run without it."""

import shutil
import subprocess
import sys
import unittest

from harness import BUILD, RUBATO, SOURCE, MachineTest

TORCH = SOURCE / "build/venvs/torch2/bin/python"

# A program's own hooks, as a sitecustomize in its own PYTHONPATH.
OWN = "import sys; sys.own = True; print('own sitecustomize')"
RAISING = "raise RuntimeError('this one never worked')"
BROKEN_HOOK = """
import sys
class Broken:
    def find_spec(self, name, path=None, target=None):
        if name not in ("json", "json.decoder"): raise TypeError("a hook of another Python")
sys.meta_path.insert(0, Broken())
"""
TELL_LITTLE = "import sys, json; print(getattr(sys, 'own', False), json.dumps([1])); sys.exit(7)"
TELL = "import sys; print(sys.path); " + TELL_LITTLE
TRAIN = """
import torch
weights = torch.nn.Linear(4, 4)
optimizer = torch.optim.SGD(weights.parameters(), lr=0.01)
for _ in range(30):
    optimizer.zero_grad()
    weights(torch.ones(2, 4)).sum().backward()
    optimizer.step()
import sys
print(getattr(sys, 'own', False), torch.isfinite(weights.weight).all().item())
"""


@unittest.skipUnless(BUILD.parent.parent == SOURCE, "the build folder does not lie in the source tree")
class OddPythons(MachineTest):
    def setUp(self):
        self.machine = MachineTest.machine(self)

    def folder(self, sitecustomize):
        folder = self.machine.folder / f"own-{len(list(self.machine.folder.iterdir()))}"
        folder.mkdir()
        (folder / "sitecustomize.py").write_text(sitecustomize)
        return str(folder)

    def both(self, command, **environment):
        """The program alone and under rubato: the same output and status. What rubato said."""
        whole = {**self.machine.environment, **environment}
        alone = subprocess.run(command, env=whole, capture_output=True, text=True)
        options = ("--gpu", "0", "--report", self.machine.folder / "report")
        done = self.machine.run("measure", *options, "--", *command, environment=environment)
        self.assertEqual((done.stdout, done.returncode), (alone.stdout, alone.returncode), done.stderr)
        return done.stderr

    def test_own_hooks_options_and_paths_change_nothing(self):
        python = [sys.executable, "-c", TELL]
        own, raising, broken = (self.folder(text) for text in (OWN, RAISING, BROKEN_HOOK))
        for name, command, environment in (
            ("nothing odd", python, {}),
            ("its own sitecustomize", python, {"PYTHONPATH": own}),
            ("one that raises", python, {"PYTHONPATH": raising}),
            ("a broken import hook", python, {"PYTHONPATH": broken}),
            ("a path that is not there", python, {"PYTHONPATH": "/nonexistent:"}),
            ("PYTHONSAFEPATH", python, {"PYTHONSAFEPATH": "1", "PYTHONPATH": own}),
            ("no user site", [sys.executable, "-s", "-B", "-c", TELL], {"PYTHONPATH": own}),
            ("warnings are errors", [sys.executable, "-W", "error", "-c", TELL], {"PYTHONPATH": own}),
        ):
            with self.subTest(name):
                said = self.both(command, **environment)
                self.assertNotIn("cannot be active", said)

    def test_options_that_keep_hooks_out_are_said_and_harmless(self):
        for option in ("-I", "-S", "-E"):
            with self.subTest(option):
                said = self.both([sys.executable, option, "-c", TELL_LITTLE], PYTHONPATH=self.folder(OWN))
                self.assertIn("cannot be active", said)
                self.assertIn(option, said)

    @unittest.skipUnless(TORCH.exists(), "no PyTorch in build/venvs/torch2: tools/make-test-venv")
    def test_a_venv_with_its_own_sitecustomize_and_a_safe_path_still_has_its_iterations(self):
        self.both([str(TORCH), "-c", TRAIN], PYTHONSAFEPATH="1", PYTHONPATH=self.folder(OWN))
        self.assertEqual(self.machine.last()["iterations"], 30)


ONE_WINDOW = """
import rubato, sys, time
with rubato.window("w", gpu=eval(sys.argv[1])) as w: time.sleep(0.5)
print(w.joules is not None and w.joules > 0, [g["index"] for g in w.gpus if "index" in g], w.why)
"""


class OwnInstallation(MachineTest):
    """rubato copied into a folder of its own, whose Python files a test may damage."""

    def setUp(self):
        self.machine = MachineTest.machine(self)
        self.prefix = self.machine.folder / "prefix"
        (self.prefix / "bin").mkdir(parents=True)
        shutil.copy(RUBATO, self.prefix / "bin/rubato")
        for name in ("inject", "rubato"):
            shutil.copytree(SOURCE / "python" / name, self.prefix / "share/rubato/python" / name,
                            ignore=shutil.ignore_patterns("__pycache__"))  # fmt: skip
        self.machine.command = lambda *arguments: [str(self.prefix / "bin/rubato"), *map(str, arguments)]

    def measured(self, program, *arguments, gpu="0", **environment):
        command = [sys.executable, "-c", program, *arguments]
        return self.machine.run("measure", "--gpu", gpu, "--", *command, environment=environment)

    def test_a_job_whose_files_may_not_grow_does_not_take_the_hooks_from_those_after_it(self):
        limited = "import subprocess, sys; subprocess.run(['sh', '-c', 'ulimit -f 2; exec \"$@\"', '-', "
        limited += "sys.executable, '-c', 'import rubato; rubato.window'], check=True)"
        # The outermost process is in no way limited: it leaves the hooks alone, so as to keep no byte code of them.
        first = self.machine.run("measure", "--gpu", "0", "--", sys.executable, "-I", "-c", limited)
        self.assertEqual(first.returncode, 0, first.stderr)
        kept = [path.name.partition(".")[0] for path in self.prefix.glob("share/**/*.pyc")]
        self.assertEqual(kept, ["sitecustomize"])
        self.assertEqual(self.measured("import rubato; print(rubato.__version__)").stdout, "0+source\n")

    def test_hooks_that_cannot_be_imported_are_not_taken_for_a_job_without_framework(self):
        log = self.machine.folder / "hooks.log"
        said = self.measured("pass").stderr
        self.assertIn("imported no framework", said)
        (self.prefix / "share/rubato/python/rubato/_hooks/__init__.py").write_text("import nothing_such\n")
        done = self.measured("print('went on')", RUBATO_HOOKS_LOG=str(log))
        self.assertEqual((done.returncode, done.stdout.splitlines()[0]), (0, "went on"))
        self.assertIn("rubato's own Python hooks could not be started (ModuleNotFoundError: No module named ", done.stderr)
        self.assertNotIn("imported no framework", done.stderr)
        self.assertIn("rubato's hooks could not be started", log.read_text())

    def test_windows_of_a_run_on_simulated_gpus_are_measured_on_these(self):
        for gpu, environment, expected in (
            ("0", {}, "[0]"),
            ("[0, 1]", {}, "[0, 1]"),
            ("None", {"CUDA_VISIBLE_DEVICES": "1"}, "[1]"),
            ("0", {"CUDA_VISIBLE_DEVICES": "1"}, "[1]"),
        ):
            with self.subTest(gpu=gpu, **environment):
                told = self.measured(ONE_WINDOW, gpu, gpu="sim:a100,sim:a100", LD_LIBRARY_PATH="/nonexistent", **environment)
                self.assertEqual(told.stdout.splitlines()[:1], [f"True {expected} None"], told.stderr)


if __name__ == "__main__":
    unittest.main()
