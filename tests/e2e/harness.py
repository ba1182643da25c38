"""What the end-to-end tests share: a simulated machine of their own, rubato started in it, and the truth of its GPU.

Everything lives in one temporary folder; rubato reaches the GPUs through the NVML stand-in, as it would reach real ones.
Simulated time runs faster than the wall (the scenario's rate), so nothing here sleeps for a simulated second.
"""

import ctypes
import functools
import json
import os
import pathlib
import platform
import random
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import unittest

SOURCE = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("RUBATO_BUILD_DIR", SOURCE / "build" / "release"))
RUBATO = BUILD / "bin" / "rubato"
STANDIN = BUILD / "simgpu"
KILL_POINT = BUILD / "tests" / "e2e" / "libkill_point.so"
SLOW_DISK = BUILD / "tests" / "e2e" / "libslow_disk.so"
FULL = os.environ.get("RUBATO_CHECK_FULL") == "1"
CMAKE_CACHE = dict(re.findall(r"^(\w+):\w+=(.*)$", (BUILD / "CMakeCache.txt").read_text(), re.MULTILINE))
SANITIZED = CMAKE_CACHE.get("RUBATO_SANITIZE", "")

# An administrator's limit on a 250 W card: neither the default nor the maximum.
FOUND_W = 200
PATIENCE = 180


def free_port(kind=socket.SOCK_STREAM):
    """For a server: below the ports that the kernel gives to clients, who could else take it before the server listens."""
    for _ in range(1000):
        with socket.socket(socket.AF_INET, kind) as probe:
            try:
                probe.bind(("127.0.0.1", random.randrange(20000, 32000)))
            except OSError:
                continue
            return probe.getsockname()[1]
    raise OSError("no free port on loopback between 20000 and 32000")


class Machine:
    """A folder with a home, a runtime folder, a state folder and one simulated world."""

    patience = PATIENCE  # seconds for one command

    def __init__(self, rate=20, rights="owner", faults=(), profiles="v100", **scenario):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="rubato-e2e-"))
        for name in ("home", "runtime", "state"):
            (self.folder / name).mkdir(mode=0o700)
        self.scenario = {"rights": rights, "rate": rate, "found": {"power_limit_w": FOUND_W}, "faults": list(faults), **scenario}
        (self.folder / "scenario.json").write_text(json.dumps(self.scenario))
        self.environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.folder / "home"),
            "XDG_RUNTIME_DIR": str(self.folder / "runtime"),
            "XDG_STATE_HOME": str(self.folder / "state"),
            "RUBATO_SIM_WORLD": str(self.folder / "world"),
            "RUBATO_SIM_SCENARIO": str(self.folder / "scenario.json"),
            "RUBATO_SIM_PROFILES": profiles,
            "LD_LIBRARY_PATH": str(STANDIN),
        }
        if "ASAN_OPTIONS" in os.environ:
            self.environment["ASAN_OPTIONS"] = os.environ["ASAN_OPTIONS"]

    def close(self):
        shutil.rmtree(self.folder, ignore_errors=True)

    def command(self, *arguments):
        return [str(RUBATO), *[str(a) for a in arguments]]

    def start(self, *arguments, environment=None, **options):
        options.setdefault("stdin", subprocess.DEVNULL)
        options.setdefault("stdout", subprocess.PIPE)
        options.setdefault("stderr", subprocess.PIPE)
        options.setdefault("text", True)
        return subprocess.Popen(self.command(*arguments), env={**self.environment, **(environment or {})}, **options)

    def run(self, *arguments, environment=None, **options):
        process = self.start(*arguments, environment=environment, **options)
        try:
            out, err = process.communicate(timeout=self.patience)
        except subprocess.TimeoutExpired:
            process.kill()
            out, err = process.communicate()
            raise AssertionError(f"rubato {arguments} did not end in {self.patience} s:\n{out}\n{err}") from None
        return subprocess.CompletedProcess(process.args, process.returncode, out, err)

    def train(self, iterations=60):
        return [str(RUBATO), "sim", "train", "resnet50", "--iterations", str(iterations)]

    def gpu(self):
        return Gpu(self)

    def last(self):
        shown = self.run("show", "last", "--json")
        assert shown.returncode == 0, shown.stderr
        return json.loads(shown.stdout)

    def journals(self):
        """Journals in which something still waits to be put back."""
        return sorted(
            p.name for p in (self.folder / "runtime" / "rubato").glob("GPU-*") if not p.name.endswith(".lock")
        )


class Gpu:
    """The stand-in, asked by a process of its own: what any other program on the machine would see."""

    SCRIPT = """
import ctypes, sys
nvml = ctypes.CDLL("libnvidia-ml.so.1")
def check(code):
    if code != 0: raise SystemExit(f"NVML error {code}")
check(nvml.nvmlInit_v2())
handle = ctypes.c_void_p()
check(nvml.nvmlDeviceGetHandleByIndex_v2(0, ctypes.byref(handle)))
if sys.argv[1:] == ["lock"]:
    low, high = ctypes.c_double(), ctypes.c_double()
    locked = nvml.rubatoSimulatedSmLock(0, ctypes.byref(low), ctypes.byref(high))
    if locked < 0: raise SystemExit("the stand-in cannot tell")
    print(high.value if locked else 0)
    raise SystemExit(0)
if sys.argv[1:2] == ["reset-lock"]:
    check(nvml.nvmlDeviceResetGpuLockedClocks(handle))
    sys.argv[1:] = []
if sys.argv[1:] == ["processes"]:
    count = ctypes.c_uint(0)
    nvml.nvmlDeviceGetComputeRunningProcesses_v3(handle, ctypes.byref(count), None)
    print(count.value)
    raise SystemExit(0)
if len(sys.argv) > 1: check(nvml.nvmlDeviceSetPowerManagementLimit(handle, int(float(sys.argv[1]) * 1000)))
limit = ctypes.c_uint()
check(nvml.nvmlDeviceGetPowerManagementLimit(handle, ctypes.byref(limit)))
print(limit.value / 1000)
"""

    def __init__(self, machine):
        self.machine = machine

    def _ask(self, *arguments):
        # Without leak checking: the interpreter's own leaks are not ours.
        done = subprocess.run(
            ["/usr/bin/python3", "-c", self.SCRIPT, *map(str, arguments)],
            env=preload_sanitizer({**self.machine.environment, "ASAN_OPTIONS": "detect_leaks=0"}),
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        )
        if done.returncode != 0:
            raise AssertionError(f"the stand-in refuses: {done.stdout}{done.stderr}")
        return float(done.stdout)

    def limit(self):
        return self._ask()

    def processes(self):
        """How many hold a compute context."""
        return int(self._ask("processes"))

    def sm_lock(self):
        """The highest clock of the lock in force, in MHz, or None: what no driver tells, the simulated world does."""
        return self._ask("lock") or None

    def reset_sm_lock(self):
        """As anybody else may: `nvidia-smi -rgc`, or a reboot."""
        self._ask("reset-lock")

    def set_limit(self, watts):
        return self._ask(watts)


def preload_sanitizer(environment):
    """A sanitized stand-in needs the sanitizer's runtime in a program that has none."""
    if not SANITIZED:
        return environment
    library = "libtsan.so" if SANITIZED == "thread" else f"libclang_rt.asan-{platform.machine()}.so"
    compiler = CMAKE_CACHE["CMAKE_CXX_COMPILER"]
    runtime = subprocess.run([compiler, f"-print-file-name={library}"], capture_output=True, text=True, check=True).stdout.strip()
    return {**environment, "LD_PRELOAD": runtime}


def wait_until(condition, what, patience=PATIENCE):
    """Polls the wall clock: only for states of other processes, which tell nobody when they change."""
    deadline = time.monotonic() + patience
    while time.monotonic() < deadline:
        if condition():
            return
        time.sleep(0.01)
    raise AssertionError(f"waited {patience} s for: {what}")


def children(pid):
    try:
        return [int(w) for w in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except FileNotFoundError:
        return []


def is_guard(pid):
    try:
        words = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except FileNotFoundError:
        return False
    return len(words) > 1 and words[1] == b"guard"


def guard_of(pid):
    return next((c for c in children(pid) if is_guard(c)), None)


def job_of(pid):
    return next((c for c in children(pid) if not is_guard(c)), None)


def alive(pid):
    try:
        state = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


def marked(entry):
    """The processes that have `entry` in their environment: a machine's own folder, so that they are its own."""
    for process in pathlib.Path("/proc").iterdir():
        if not process.name.isdigit() or int(process.name) == os.getpid():
            continue
        try:
            if entry.encode() in (process / "environ").read_bytes().split(b"\0"):
                yield int(process.name)
        except OSError:
            pass


def end_marked(entry):
    for pid in list(marked(entry)):
        try:
            os.kill(pid, signal.SIGKILL)
        except OSError:
            pass


def in_one_world_of(*rates):
    """For what compares simulated times: a busy machine's delay is RATE times as long in the simulated world, so that a
    test may fail in one world and hold in a slower one. Before each try the test's `enter(rate)` makes the world."""

    def wrap(test):
        @functools.wraps(test)
        def tried(self):
            for rate in rates[:-1]:
                self.enter(rate)
                try:
                    return test(self)
                except AssertionError:
                    pass
            self.enter(rates[-1])
            return test(self)

        return tried

    return wrap


class MachineTest(unittest.TestCase):
    """A test with a machine that is cleaned up, and processes that never outlive it."""

    def machine(self, **options):
        return self.kept(Machine(**options))

    def kept(self, machine):
        """Until the end of the test, and then with all that runs on it gone."""
        self.addCleanup(machine.close)
        self.addCleanup(self.end_left_over, machine)
        return machine

    @staticmethod
    def end_left_over(machine):
        end_marked(f"XDG_RUNTIME_DIR={machine.environment['XDG_RUNTIME_DIR']}")

    def wait_for_limit(self, machine, watts, what):
        gpu = machine.gpu()
        wait_until(lambda: abs(gpu.limit() - watts) < 0.5, what)
