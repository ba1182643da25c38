"""Where a page's commands run: a folder with the files that pages name, simulated GPUs, and one run on record.

Only programs that cannot harm the machine are run at all (`refused`).

`train.py` is a training on the simulated GPU; `sudo` runs its command as the caller, as the simulated GPUs want no right. Nothing
that a page says is changed but what SHORTER and `EARLIER_RUN` say.
"""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import time

import harness
import programs

FULL = harness.FULL
# An id that pages show where the reader puts the id of a run of their own.
EARLIER_RUN = "20261121-0815"

# Programs that keep to the folder, given relative paths or ones below the home folder, which is one of ours.
HARMLESS = {"export", "mkdir", "cat", "grep", "head", "tail", "sort", "uniq", "wc", "jq", "stat", "id", "true", "sh", "cc", "g++", "ls"}

# What takes minutes, and what makes it short in ./check; ./check --full runs it as the page has it.
SHORTER = [
    (r"rubato calibrate (?!.*--(list|dry-run))", "rubato calibrate --benchmarks launch --settings 2 "),
    (r"rubato latency (?!.*--dry-run)(?!.*--pairs)", "rubato latency --pairs 1 --repeats 1 "),
    (r"(?<=--repeats )\d+", "1"),
    (r"rubato sweep (?!.*--(dry-run|within))", "rubato sweep --warmup 0 "),
    (r"(?<=power-limit=)100:250:25\b", "100:250:150"),
    (r"(?<=power-limit=)150,200,250 --knob sm-clock=1005:1380:75", "150,250 --knob sm-clock=1005"),
    (r"rubato lab run (?!.*--iterations)", "rubato lab run --iterations 40 --threads 1 "),
    (r"--minutes 6", "--minutes 5"),
    (r"(?<=--within --knob power-limit=100:250:150 --iterations )50", "8"),
    (r"(?<=--iterations )2000", "200"),
]

TRAINING = """#!/usr/bin/python3
import os, sys
steps = next((sys.argv[i + 1] for i, word in enumerate(sys.argv) if word in ("--steps", "--epochs")), None)
iterations = min(int(steps or 10**9), int(os.environ["RUBATO_DOCS_ITERATIONS"]))
os.execlp("rubato", "rubato", "sim", "train", "resnet50", "--iterations", str(iterations))
"""
SUDO = """#!/bin/sh
while [ $# -gt 0 ]; do
  case $1 in
    -p) shift 2 ;;
    -v) exit 0 ;;
    --) shift; break ;;
    -*) shift ;;
    *) break ;;
  esac
done
SUDO_UID=$(id -u) exec "$@"
"""


def refused(line):
    """Why a test does not run this line; empty where it may."""
    if re.search(r">\s*[/~$]", line):
        return "writes outside the folder"
    try:
        commands = programs.split(line)
    except ValueError as error:
        return str(error)
    for words in commands:
        while words and (words[0] == "sudo" or re.match(r"[A-Za-z_]+=", words[0])):
            words = words[1:]
        if "--" in words and programs.program_of(words[0]):
            why = refused_words(words[words.index("--") + 1 :])
        else:
            why = ""
        why = why or refused_words(words)
        if why:
            return why
    return ""


def refused_words(words):
    if not words or programs.program_of(words[0]) or words[0] in ("tools/evidence-page", "./train", "./train.sh"):
        return ""
    if words[0] in ("python", "python3") and len(words) > 1 and re.fullmatch(r"[\w/]+\.py", words[1]):
        return ""
    if words[0] not in HARMLESS:
        return f"{words[0]} is not among the programs that this test runs"
    outside = [w for w in words[1:] if re.match(r"/|\.\./", w)]
    return f"{outside[0]} is outside the folder" if outside else ""


def tables():
    """Made-up measurements in the formats that pages name."""
    columns = "gpu,workload,group,power_limit_w,sm_clock_mhz,memory_clock_mhz,time_s,power_w,energy_j\n"
    limits = [(250, 1.0, 1.0), (200, 1.0, 0.93), (175, 1.02, 0.86), (150, 1.06, 0.8), (125, 1.2, 0.81)]
    clocks = [(1380, 877, 1.0, 1.0), (1200, 877, 1.05, 0.86), (1005, 877, 1.16, 0.78), (1380, 810, 1.01, 0.99), (1005, 810, 1.18, 0.78)]
    names = [("imagenet/resnet50/b256/adam", 1.0), ("bert", 1.3), ("vgg16", 0.8), ("rnn", 0.6)]

    def row(name, times, knobs, slow, energy):
        seconds, joules = 12.0 * times * slow**times, 2700.0 * times * energy
        return f"V100,{name},{name},{knobs},{seconds:.6g},{joules / seconds:.6g},{joules:.6g}\n"

    power = columns + "".join(row(n, t, f"{w},,", s, e) for n, t in names for w, s, e in limits)
    both = columns + "".join(row(n, t, f",{sm},{memory}", s, e) for n, t in names for sm, memory, s, e in clocks)
    stages = "stage,instruction,frequency,time,energy\n" + "".join(
        f"{stage},{name},{mhz},{s * long},{j * long}\n" for stage, long in enumerate((1.0, 1.1, 0.9, 1.0))
        for name, long in (("forward", long), ("backward", 2 * long)) for mhz, s, j in ((1400, 0.1, 50), (1000, 0.13, 38), (700, 0.18, 36)))
    trace = "time_s,power_w\n" + "".join(f"{0.1 * i:.1f},{200 if i % 10 < 7 else 90}\n" for i in range(600))
    return {"table.csv": power, "new.csv": power, "v100.csv": power, "v100-clocks.csv": both, "profile.csv": stages, "trace.csv": trace,
            "network.json": network()}


def network():
    """The network that docs/formats.md describes by hand, with a batch as a traced one has."""
    text = (harness.SOURCE / "docs" / "formats.md").read_text()
    described = json.loads(re.search(r"```json\n(\{\"schema\": \"rubato.network/1\".*?)```", text, re.DOTALL).group(1))
    return json.dumps({**described, "batch": 32})


class Sandbox:
    """One per page. `record`: a state folder with a run in it, which is copied."""

    def __init__(self, record=None, rate=40, profiles="v100"):
        self.machine = harness.Machine(rate=rate, profiles=profiles, found={})
        self.folder = self.machine.folder / "here"
        self.folder.mkdir()
        self.exports, self.given = [], set()
        environment = self.machine.environment
        if record:
            shutil.copytree(record, environment["XDG_STATE_HOME"], dirs_exist_ok=True)
        self.bin = self.machine.folder / "bin"
        self.bin.mkdir()
        for program in ("rubato", "rubatod", "rubato-exporter"):
            (self.bin / program).symlink_to(harness.BUILD / "bin" / program)
        (self.bin / "python").symlink_to("/usr/bin/python3")
        self._script(self.bin / "sudo", SUDO)
        for name in ("train.py", "another.py", "train.sh", "train"):
            self._script(self.folder / name, TRAINING)
            self.given.add(name)
        for name, text in tables().items():
            (self.folder / name).write_text(text)
            self.given.add(name)
        for name in ("tools", "integrations", "include", "examples", "gpus"):
            (self.folder / name).symlink_to(harness.SOURCE / name)
        shutil.copytree(harness.SOURCE / "docs" / "evidence", self.folder / "docs" / "evidence")
        (self.folder / "build").mkdir()
        (self.folder / "build" / "release").symlink_to(harness.BUILD)
        environment["PATH"] = f"{self.bin}:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"
        environment["RUBATO_DOCS_ITERATIONS"] = "900" if FULL else "120"
        environment["XDG_CONFIG_HOME"] = str(self.machine.folder / "config")
        # The user's own world, one for each list of GPUs, as without the variable.
        del environment["RUBATO_SIM_WORLD"]

    @staticmethod
    def _script(path, text):
        path.write_text(text)
        path.chmod(0o755)

    def write(self, name, lines):
        (self.folder / name).write_text("\n".join(lines) + "\n")

    def run(self, line, patience=harness.PATIENCE, until_output=False):
        """Runs one line as the reader's shell would. until_output: what goes on until Ctrl-C gets that once it said something."""
        if re.match(r"export ", line):
            self.exports.append(line)
        line = self.as_run(line)
        # The reader makes it, so it is not there yet.
        for name in re.findall(r"(?:-o|--output) (\S+)", line):
            if name in self.given:
                self.given.remove(name)
                (self.folder / name).unlink()
        process = subprocess.Popen(
            ["bash", "-c", "\n".join([*self.exports, line])], cwd=self.folder, env=self.machine.environment, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
        if until_output:
            self._interrupt(process, patience)
        try:
            out, err = process.communicate(timeout=patience)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            out, err = process.communicate()
            err += f"\ndid not end in {patience} s"
        return subprocess.CompletedProcess(line, process.returncode, out, err)

    @staticmethod
    def _interrupt(process, patience):
        """Once it sleeps in the kernel after having worked, which is as much as can be seen of every program."""
        deadline = time.monotonic() + patience
        seen = 0
        while process.poll() is None and time.monotonic() < deadline and seen < 20:
            try:
                fields = pathlib.Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()
            except OSError:
                return
            seen = seen + 1 if fields[0] == "S" else 0
            time.sleep(0.05)
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGINT)

    def provide(self, kind, name):
        """Whether the command can have what it needs: an installed program, or a Python that has this module."""
        if kind == "program":
            return shutil.which(name) is not None
        for python in ["/usr/bin/python3", *sorted((harness.SOURCE / "build" / "venvs").glob("*/bin/python3"))]:
            if subprocess.run([python, "-c", f"import {name}"], capture_output=True).returncode == 0:
                for program in ("python", "python3"):
                    (self.bin / program).unlink(missing_ok=True)
                    # Through a link a virtual environment's Python would not find its packages.
                    self._script(self.bin / program, f'#!/bin/sh\nexec {python} "$@"\n')
                return True
        return False

    def as_run(self, line):
        if not FULL:
            for pattern, shorter in SHORTER:
                line = re.sub(pattern, shorter, line)
        if os.geteuid() != 0:  # the guard that sudo starts has to be root
            line = line.replace(" --sudo", "")
        if EARLIER_RUN in line:
            line = line.replace(EARLIER_RUN, self.first_run())
        return line

    def first_run(self):
        runs = json.loads(self.machine.run("runs", "--json").stdout)["runs"]
        return min(run["run_id"] for run in runs)

    def close(self):
        harness.MachineTest.end_left_over(self.machine)
        self.machine.close()


def recorded_run(folder):
    """A state folder with one run at a set limit, made once for all pages."""
    box = Sandbox()
    try:
        done = box.run("rubato run --gpu 0 --power-limit 150 -- python3 train.py")
        if done.returncode != 0:
            raise AssertionError(f"no run to begin with: {done.stderr}")
        shutil.copytree(box.machine.environment["XDG_STATE_HOME"], folder, dirs_exist_ok=True)
    finally:
        box.close()
    return folder
