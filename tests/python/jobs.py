"""Runs small programs as `rubato run` would, with the hooks injected, and gives back what they marked."""

import os
import pathlib
import subprocess
import sys
import tempfile
import textwrap
import unittest

import rings

SOURCE = pathlib.Path(__file__).resolve().parents[2]
PYTHON = SOURCE / "python"
FULL = os.environ.get("RUBATO_CHECK_FULL") == "1"


def venv(name, *modules):
    """The interpreter of build/venvs/`name` (tools/make-test-venv), or a skipped test with the reason."""
    status = SOURCE / "build" / "venvs" / f"{name}.status"
    said = status.read_text().strip() if status.exists() else f"tools/make-test-venv {name} has not been run"
    if said != "ok":
        raise unittest.SkipTest(said)
    return python_with(str(SOURCE / "build" / "venvs" / name / "bin" / "python"), *modules)


def python_with(python, *modules):
    code = "import importlib.util as u, sys; sys.exit(any(u.find_spec(m) is None for m in sys.argv[1:]))"
    if (
        not os.access(python, os.X_OK)
        or subprocess.run([python, "-c", code, *modules], check=False).returncode != 0
    ):
        raise unittest.SkipTest(f"{python} has no {' and '.join(modules)}")
    return python


def built(name, *arguments):
    """A program of this build, or a skipped test where it is not built or does not know the subcommand."""
    program = pathlib.Path(os.environ.get("RUBATO_BUILD_DIR", SOURCE / "build" / "release")) / "bin" / name
    if not program.exists():
        raise unittest.SkipTest(f"{program} is not built")
    said = subprocess.run([program, *arguments, "--help"], capture_output=True, text=True, check=False).stdout
    if not said.startswith(" ".join((name, *arguments))):
        raise unittest.SkipTest(f"{program} has no {' '.join(arguments)}")
    return program


full_only = unittest.skipUnless(FULL, "part of ./check --full")


class Result:
    def __init__(self, done, folder, log):
        self.code, self.out, self.err = done.returncode, done.stdout, done.stderr
        self.marks = rings.read(folder)
        self.log = log.read_text() if log.exists() else ""

    def of(self, kind):
        return [mark for mark in self.marks if mark.kind == kind]

    def iterations(self):
        return rings.iterations(self.marks)

    def phases(self, name):
        return rings.pairs(self.marks, "phase", name)


class JobTest(unittest.TestCase):
    """A folder of its own; whatever a job's hooks complain of fails the test unless it expects it."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="rubato-hooks-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.runs = 0

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text))
        return path

    def run_job(
        self, program, python=sys.executable, hooks=True, problems=(), arguments=(), path=(), **environment
    ):
        """`program` is text, or a list: arguments of Python. `hooks`: injected as `rubato run` does."""
        self.runs += 1
        marks = self.folder / f"marks{self.runs}"
        marks.mkdir()
        log = self.folder / f"hooks{self.runs}.log"
        variables = {
            k: v for k, v in os.environ.items() if not k.startswith(("RUBATO_", "PYTHON", "SLURM_", "OMPI_"))
        }
        variables.pop("RANK", None)
        folders = ([str(PYTHON / "inject")] if hooks else []) + [str(entry) for entry in path]
        if folders:
            variables["PYTHONPATH"] = os.pathsep.join(folders)
        variables.update(RUBATO_MARKS=str(marks), RUBATO_HOOKS_LOG=str(log), PYTHONDONTWRITEBYTECODE="1")
        variables.update({k: str(v) for k, v in environment.items()})
        if not isinstance(program, list):
            program = [str(self.write(f"job{self.runs}.py", program)), *arguments]
        done = subprocess.run(
            [str(python), *program],
            env=variables,
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )
        result = Result(done, marks, log)
        if problems is not None:
            self.assertEqual(rings.words(result.marks, "problem"), list(problems), result.log + result.err)
        return result
