"""What the tests of the Slurm integration share: jobs of an ordinary user, and the truth of every node's GPUs. Runs inside
tests/slurm/cluster.sh."""

import json
import os
import pathlib
import re
import signal
import subprocess
import time
import unittest

CLUSTER = pathlib.Path(os.environ["CLUSTER"])
NODES = os.environ["CLUSTER_NODES"].split()
SHARED = CLUSTER / "shared"
FOUND_W = 200
WANTED_W = 150
PATIENCE = float(os.environ.get("RUBATO_TEST_PATIENCE", 150))

LOCK = """
import ctypes, json, os
nvml = ctypes.CDLL("libnvidia-ml.so.1")
if nvml.nvmlInit_v2() != 0: raise SystemExit("no NVML")
low, high = ctypes.c_double(), ctypes.c_double()
print(json.dumps([nvml.rubatoSimulatedSmLock(i, ctypes.byref(low), ctypes.byref(high)) for i in range(int(os.sys.argv[1]))]))
"""


def run(*words, check=True, **options):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=PATIENCE, **options)
    if check and done.returncode != 0:
        raise AssertionError(f"{words} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done


def wait_until(condition, what, patience=PATIENCE):
    """Polls: states of other processes, which tell nobody when they change."""
    deadline = time.monotonic() + patience
    while time.monotonic() < deadline:
        if condition():
            return
        time.sleep(0.1)
    raise AssertionError(f"waited {patience} s for: {what() if callable(what) else what}")


def limits(node):
    """Of every GPU of the node, in watts, as any program there would read them."""
    return [gpu["power_limits"]["requested_w"] for gpu in json.loads(run("on", node, "rubato", "devices", "--json").stdout)["gpus"]]


def locks(node):
    return json.loads(run("on", node, "/usr/bin/python3", "-c", LOCK, len(limits(node))).stdout)


def journals(node):
    names = run("on", node, "ls", "/run/rubato").stdout.split()
    return [name for name in names if name.startswith("GPU-") and not name.endswith(".lock")]


def as_found(node):
    return set(limits(node)) == {FOUND_W} and set(locks(node)) == {0} and not journals(node)


def audit(node):
    return [json.loads(line) for line in (CLUSTER / "log" / f"audit.{node}.jsonl").read_text().splitlines()]


def decisions(node, job):
    """Of the leases and settings of one job, which rubatod knows by its number."""
    return [f"{line['event']} {line['decision']}" for line in audit(node) if line.get("slurm_job") == job]


def energy_lines(job):
    lines = []
    for file in CLUSTER.glob("log/energy.*.jsonl"):
        lines += [json.loads(line) for line in file.read_text().splitlines()]
    return [line for line in lines if line["slurm_job"] == job]


def node_state(node):
    return run("sinfo", "-h", "-n", node, "-o", "%T").stdout.strip()


def node_reason(node):
    return run("sinfo", "-h", "-n", node, "-o", "%E").stdout.strip()


def is_registered(node):
    """slurmctld has heard of this slurmd since it began."""
    return "SlurmdStartTime=None" not in run("scontrol", "show", "node", node).stdout


def job_state(job):
    return run("squeue", "-h", "-t", "all", "-j", job, "-o", "%T", check=False).stdout.strip()


def train(iterations):
    return f"rubato sim train resnet50 --iterations {iterations}"


FOREVER = train(1_000_000)


class SlurmTest(unittest.TestCase):
    """After every test all nodes are idle and their GPUs are as they were found."""

    def tearDown(self):
        run("scancel", "--user=nobody", check=False)
        for node in NODES:
            (CLUSTER / node / "kill_epilog").unlink(missing_ok=True)
        wait_until(lambda: not run("squeue", "-h").stdout, "every job to be over")
        for node in NODES:
            wait_until(lambda node=node: as_found(node), f"{node} to be as it was found")
            if "drain" in node_state(node):
                run("scontrol", "update", f"nodename={node}", "state=resume")
        wait_until(lambda: all(node_state(node) == "idle" for node in NODES), lambda: f"all to be idle: {[node_state(node) for node in NODES]}")

    def submit(self, *lines, options=()):
        """A batch script of these lines, of an ordinary user: its number and the file of its output."""
        number = len(list(SHARED.glob("out.*"))) + 1
        output = SHARED / f"out.{number}"
        output.touch(mode=0o666)
        output.chmod(0o666)
        script = "\n".join(["#!/bin/bash", *lines, ""])
        words = ["as_user", "sbatch", "--parsable", "-J", self.id().rsplit(".", 1)[-1][:40], f"--output={output}", *options]
        done = run(*words, input=script)
        return int(done.stdout.strip()), output

    def session_of_the_user(self, node):
        """rubato on the node's first GPU, started by a user who is logged in there: Slurm knows nothing of it."""
        home = SHARED / "home"
        words = ["on", node, "setpriv", "--reuid", "nobody", "--regid", "nogroup", "--clear-groups", "env", f"HOME={home}",
                 "rubato", "run", "--gpu", "0", "--power-limit", str(WANTED_W), "--", *FOREVER.split()]
        session = subprocess.Popen(words, cwd=home, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL, start_new_session=True)
        self.addCleanup(session.wait)
        self.addCleanup(os.killpg, session.pid, signal.SIGKILL)
        return session

    def wait_for_limits(self, node, watts, what):
        wait_until(lambda: limits(node) == watts, f"{node}: {what}")

    def wait_for_end(self, job):
        wait_until(lambda: job_state(job) not in ("PENDING", "RUNNING", "COMPLETING"), f"job {job} to end")
        return job_state(job)

    def wait_for_epilog(self, job, nodes=NODES):
        wait_until(lambda: {line["node"] for line in energy_lines(job)} == set(nodes), f"the epilogs of job {job}")

    def assert_report(self, text, gpus):
        found = re.findall(r"rubato, Slurm step \d+\.\d+: (\d+) GPU", text)
        self.assertEqual(found, [str(gpus)], text)
