"""What the tests with other people's NVML programs share: where the programs are, and the truth to hold them against."""

import json
import pathlib
import subprocess
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "e2e"))

from harness import BUILD, PATIENCE, RUBATO, SOURCE, STANDIN, MachineTest, in_one_world_of, preload_sanitizer, wait_until  # noqa: E402,F401

CLIENTS = SOURCE / "build" / "clients"
ROOT = CLIENTS / "root"
LIBRARIES = ROOT / "usr" / "lib" / "x86_64-linux-gnu"
NVIDIA_SMI = ROOT / "usr" / "lib" / "nvidia" / "current" / "nvidia-smi"
PYTHON = CLIENTS / "venv" / "bin" / "python"


def why_missing(client):
    """None where tools/unpack-test-clients got it; else its reason."""
    try:
        status = (CLIENTS / "status").read_text()
    except FileNotFoundError:
        return f"run tools/unpack-test-clients: {client} was never fetched"
    reasons = dict(line.split("\t", 1) for line in status.splitlines())
    reason = reasons.get(client, "tools/unpack-test-clients does not know it")
    return None if reason == "ok" else f"{client}: {reason}"


def needs(client):
    reason = why_missing(client)
    return unittest.skipIf(reason is not None, reason)


def environment(machine, **more):
    """Of a client: the machine's, with the sanitizer's runtime where the stand-in needs it."""
    own = {**machine.environment, "ASAN_OPTIONS": "detect_leaks=0", **more}
    return preload_sanitizer({**own, "LD_LIBRARY_PATH": f"{STANDIN}:{LIBRARIES}"})


def client_command(machine, *command):
    """To start a client from a job of rubato's: the job's environment has no sanitizer runtime."""
    wanted = environment(machine)
    changed = [f"{k}={v}" for k, v in wanted.items() if machine.environment.get(k) != v]
    return ["/usr/bin/env", *changed, *map(str, command)]


class ClientTest(MachineTest):
    def call(self, machine, *command, code=0, **more):
        """What the client prints."""
        done = subprocess.run(
            [str(c) for c in command], env=environment(machine, **more), capture_output=True, text=True, timeout=PATIENCE
        )
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout

    def devices(self, machine):
        shown = machine.run("devices", "--gpu", "0", "--json")
        self.assertEqual(shown.returncode, 0, shown.stderr)
        (gpu,) = json.loads(shown.stdout)["gpus"]
        return gpu

    def truth(self, machine, gpu=0):
        """Joules the GPU really used since its world began."""
        script = (
            'import ctypes; n = ctypes.CDLL("libnvidia-ml.so.1"); j = ctypes.c_double(); '
            f"assert n.rubatoSimulatedEnergy({gpu}, ctypes.byref(j)) == 0; print(j.value)"
        )
        return float(self.call(machine, "/usr/bin/python3", "-c", script))
