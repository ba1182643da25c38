"""Every fault the simulated GPU knows against every command that touches a GPU, drawn by seed.

Whatever the driver does: rubato never crashes and never hangs, the job's exit status is the job's own, and the found
setting comes back, at the latest by the next `rubato restore`, unless somebody else changed it or the GPU is gone.
Faults hit the processes of role "rubato" alone (rubato and its guard): the job and the observer see a healthy GPU.
"""

import concurrent.futures
import json
import os
import pathlib
import random
import re
import signal
import subprocess
import time
import unittest

import harness
from harness import FOUND_W, MachineTest, wait_until

RATE = 40
WANTED_W = 150
FIXED_SAMPLE = 48
ALL_SEEDS = 600

READS = ["open", "read_power", "read_energy_counter", "read_clocks", "read_utilisation", "read_temperature",
         "read_limiter", "read_power_limits", "read_supported_clocks", "read_processes", "read_counters"]
WRITES = ["set_power_limit", "lock_sm_clock", "reset_sm_clock"]
ERRORS = ["no_permission", "not_supported", "device_lost", "timeout", "unknown"]

# Words that mean a defect of rubato's own, whatever the driver did.
CRASHES = ["AddressSanitizer", "runtime error", "terminate called", "Assertion", "Segmentation"]

# How long a command that should be done in about two seconds may take before it counts as hanging: it gives a
# silent driver 4.5 s, at most twice (opening, ending), and a busy machine gets the rest.
LIMIT_S = 20 * (3 if harness.SANITIZED else 1)


def draw_fault(rng):
    effect = rng.choice(["error", "error", "lie", "clamp", "slow", "hang", "kill_before", "kill_after", "foreign_limit",
                         "foreign_sm_clock", "driver_reload", "gpu_reset", "gpu_lost", "counter_reset", "stale_sensor",
                         "absurd_reading", "power_brake"])
    fault = {"effect": effect, "role": "rubato", "after": rng.choice([0, 0, 1, 2, 5, 20, 60]),
             "count": rng.choice([1, 1, 3, "always"])}
    if effect == "clamp":
        fault |= {"call": "set_power_limit", "to_w": rng.choice([120, 180])}
    elif effect == "lie":
        fault["call"] = rng.choice(WRITES)
    elif effect == "absurd_reading":
        fault |= rng.choice([{"call": "read_power", "to_w": -50}, {"call": "read_power", "to_w": 1e6},
                             {"call": "read_energy_counter", "jump_j": 1e9}])
    else:
        fault["call"] = rng.choice(READS + WRITES)
    if effect == "error":
        fault["error"] = rng.choice(ERRORS)
    if effect == "slow":
        fault |= {"wall_ms": rng.choice([20, 300]), "count": 3}
    if effect == "foreign_limit":
        fault |= {"to_w": 180, "count": 1}
    if effect == "foreign_sm_clock":
        fault |= {"to_mhz": [1005, 1005], "count": 1}
    if effect in ("driver_reload", "gpu_reset", "counter_reset"):
        fault["count"] = 1
    if effect in ("stale_sensor", "power_brake"):
        fault |= {"for_s": 5, "count": 1}
    return fault


def draw(seed):
    rng = random.Random(seed)
    faults = [draw_fault(rng) for _ in range(rng.choice([1, 1, 2]))]
    command = rng.choice([
        ["devices"], ["doctor"], ["restore"], ["measure", "--seconds", "10"], ["measure", "JOB"],
        ["run", "--power-limit", WANTED_W, "JOB"], ["run", "--sm-clock", "1005", "JOB"],
        ["run", "--power-limit", WANTED_W, "--sm-clock", "1005", "JOB"],
        ["run", "--dry-run", "--power-limit", WANTED_W, "JOB"],
    ])
    return faults, command


# A search on a job of two simulated minutes; most faults come late enough to meet it in the middle.
STRATEGIES = ["bisection", "rubato"]
GOVERNED_ITERATIONS = 300
EFFECTS = ["error", "lie", "clamp", "slow", "hang", "kill_before", "kill_after", "foreign_limit", "foreign_sm_clock",
           "driver_reload", "gpu_reset", "gpu_lost", "counter_reset", "stale_sensor", "absurd_reading", "power_brake"]


def draw_governed(seed):
    rng = random.Random(f"governed {seed}")
    effect = EFFECTS[seed % len(EFFECTS)]
    fault = draw_fault(rng)
    while fault["effect"] != effect:
        fault = draw_fault(rng)
    fault["after"] = rng.choice([0, 1, 2, 3]) if fault["call"] in WRITES else rng.choice([20, 200, 1000, 2000])
    strategy = STRATEGIES[seed // len(EFFECTS) % len(STRATEGIES)]
    return [fault], ["run", "--strategy", strategy, "JOB"]


class EveryFault(MachineTest):
    def test_every_fault_against_every_command(self):
        seeds = range(ALL_SEEDS if harness.FULL else FIXED_SAMPLE)
        self.every(lambda seed: self.outcome_of(seed, *draw(seed)), seeds)

    def test_every_fault_while_a_strategy_searches(self):
        seeds = range(len(EFFECTS) * (10 if harness.FULL else 2))
        self.every(lambda seed: self.outcome_of(seed, *draw_governed(seed), iterations=GOVERNED_ITERATIONS), seeds)

    def every(self, outcome, seeds):
        with concurrent.futures.ThreadPoolExecutor(max_workers=os.cpu_count() or 1) as pool:
            failures = [f for f in pool.map(outcome, seeds) if f]
        self.assertEqual(failures, [], "\n\n".join(failures))

    def outcome_of(self, seed, faults, command, iterations=60):
        machine = self.machine(rate=RATE, seed=seed, faults=faults)
        try:
            self.one(machine, faults, command, iterations)
        except AssertionError as failure:
            return f"seed {seed}: {command} under {json.dumps(faults)}: {failure}"
        finally:
            self.end_left_over(machine)
            machine.close()
        return None

    def one(self, machine, faults, command, iterations):
        effects = {f["effect"] for f in faults}
        status_file = machine.folder / "status"
        train = " ".join(machine.train(iterations))
        job = ["--", "env", "RUBATO_SIM_ROLE=job", "sh", "-c", f"{train}; s=$?; echo $s > {status_file}; exit $s"]
        arguments = [part for word in command for part in (job if word == "JOB" else [word])]
        machine.gpu().limit()  # makes the world, so that its age does not depend on rubato
        began = time.monotonic()
        process = machine.start(arguments[0], "--gpu", "0", *arguments[1:], environment={"RUBATO_SIM_ROLE": "rubato"})
        try:
            _, errors = process.communicate(timeout=LIMIT_S)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"still running after {LIMIT_S} s") from None
        took = time.monotonic() - began
        for word in CRASHES:
            self.assertNotIn(word, errors)
        killed = process.returncode == -9 and effects & {"kill_before", "kill_after"}
        if "JOB" in command and not killed:
            # The job may have been refused, with a word and before it began; otherwise its status is rubato's.
            wait_until(lambda: status_file.exists() or process.returncode == 125, "the job's own status")
            if process.returncode == 125:
                self.assertIn("error:", errors)
                self.assertFalse(status_file.exists(), errors)
            else:
                self.assertEqual(process.returncode, int(status_file.read_text()), f"after {took:.1f} s:\n{errors}")
        elif not killed:
            self.assertIn(process.returncode, (0, 1, 125), errors)
        self.check_restored(machine, faults, effects, errors)

    def check_restored(self, machine, faults, effects, errors):
        if "gpu_lost" in effects:
            return  # nothing can be read of it, let alone set
        gpu = machine.gpu()
        # Somebody else's hand, or a reload, makes another value the right one.
        right = {FOUND_W}
        if "foreign_limit" in effects:
            right.add(180)
        if effects & {"driver_reload", "gpu_reset"}:
            right.add(250)
        if "clamp" in effects:
            right |= {120, 180}  # the restoring write is clamped as well, which no second try can mend
        if any(f["effect"] == "lie" and f.get("call") == "reset_sm_clock" for f in faults):
            return  # a lock cannot be read back: a driver that says it unlocked has to be believed (SECURITY.md)
        if "hang" in effects:
            self.end_hanging_guards(machine)
        if not self.settled(gpu, right, effects):
            # What a dead or refused guard left behind is put back by the next one.
            put_back = machine.run("restore", "--gpu", "0")
            self.assertEqual(put_back.returncode, 0, f"{errors}\nthen: {put_back.stdout}{put_back.stderr}")
        self.assertTrue(self.settled(gpu, right, effects),
                        f"{gpu.limit()} W, lock {gpu.sm_lock()} are left:\n{errors}")

    def end_hanging_guards(self, machine):
        """What `rubato restore` tells a person to do about a guard whose driver call never comes back."""
        told = machine.run("restore", "--gpu", "0")
        for pid in re.findall(r"kill -9 (\d+)", told.stderr):
            os.kill(int(pid), signal.SIGKILL)
            wait_until(lambda: not harness.alive(int(pid)), "the guard to end")

    @staticmethod
    def settled(gpu, right, effects):
        lock = gpu.sm_lock()
        return gpu.limit() in right and (lock is None or "foreign_sm_clock" in effects)


if __name__ == "__main__":
    unittest.main()
