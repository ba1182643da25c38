"""The same simulated training alone, under Zeus's own optimizer, and under `rubato run`, on one stand-in GPU each."""

import json
import subprocess

from clients import HERE, PYTHON, RUBATO, client_command

PROGRAM = HERE / "zeus_training.py"
BOUND = 0.05


class Refused(Exception):
    """rubato does not know the strategy."""


def training(machine, workload, iterations, *rule):
    """The command, to run by itself or under rubato."""
    machine.environment["PYTHONPATH"] = str(HERE / "stand_ins")
    return client_command(machine, PYTHON, "-W", "ignore", PROGRAM, RUBATO, workload, iterations, *rule)


def as_found(gpu, found_w):
    return gpu.limit() == found_w and gpu.sm_lock() is None


def _outcome(machine, done):
    if done.returncode != 0:
        raise RuntimeError(f"{done.args}\n{done.stdout}\n{done.stderr}")
    return {**json.loads(done.stdout.splitlines()[-1]), "left_w": machine.gpu().limit()}


def alone(machine, workload, iterations):
    return _outcome(machine, _call(machine, training(machine, workload, iterations)))


def under_zeus(machine, workload, iterations, *rule):
    return _outcome(machine, _call(machine, training(machine, workload, iterations, *rule)))


def rubato_command(strategy, command, *options):
    return ["run", "--gpu", "0", "--strategy", strategy, "--max-slowdown", f"{BOUND:.0%}", *options, "--", *command]


def under_rubato(machine, workload, iterations, strategy, *options):
    done = machine.run(*rubato_command(strategy, training(machine, workload, iterations), *options))
    if done.returncode == 125 and "strategy" in done.stderr:
        raise Refused(done.stderr.strip())
    shown = machine.last()
    found = _outcome(machine, done)
    tried = [s["setting"] for s in shown["settings"] if s["role"] == "trial"]
    return {**found, "chosen": _chosen(shown), "tried": tried, "restoration": shown["gpus"][0]["restoration"]}


def _chosen(shown):
    """What was held longest besides the found setting."""
    held = [s for s in shown["settings"] if s["role"] == "hold"]
    return max(held, key=lambda s: s["time_s"])["setting"] if held else None


def _call(machine, command):
    return subprocess.run(
        command, env=machine.environment, capture_output=True, text=True, timeout=machine.patience, stdin=subprocess.DEVNULL
    )
