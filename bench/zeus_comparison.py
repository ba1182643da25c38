#!/usr/bin/env python3
"""Zeus's own power-limit optimizer and rubato on the same simulated GPU and the same simulated trainings: energy and time
from the first iteration on, and what each leaves behind. Prints docs/evidence/zeus.md.

    bench/zeus_comparison.py [--build build/release] [--iterations 700,2000] [--rate 20] [--workloads a,b] [--strategy rubato]

Needs Zeus from PyPI as tools/unpack-test-clients fetches it. It takes iterations * 0.4 s / rate for each leg of a workload.
"""

import argparse
import os
import pathlib
import signal
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
HIGHEST_W = 250
FOUND_W = 200


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=str(ROOT / "build" / "release"))
    parser.add_argument("--iterations", default="700,2000", help="lengths of the trainings")
    parser.add_argument("--rate", type=float, default=20, help="simulated seconds in one of the wall")
    parser.add_argument("--workloads", default="resnet50,transformer")
    parser.add_argument("--strategy", default="rubato")
    return parser.parse_args()


wanted = arguments()
os.environ["RUBATO_BUILD_DIR"] = str(pathlib.Path(wanted.build).resolve())
sys.path.insert(0, str(ROOT / "tests" / "clients"))

import clients  # noqa: E402
import zeus_comparison  # noqa: E402
from harness import Machine, job_of, wait_until  # noqa: E402

LEGS = {
    "alone": lambda m, w, n: zeus_comparison.alone(m, w, n),
    "alone, a second time": lambda m, w, n: zeus_comparison.alone(m, w, n),
    "Zeus, `ZeusCost(0.5)`, its default": lambda m, w, n: zeus_comparison.under_zeus(m, w, n, "cost", "0.5"),
    "Zeus, `MaxSlowdownConstraint(1.05)`": lambda m, w, n: zeus_comparison.under_zeus(m, w, n, "max_slowdown", "1.05"),
    f"`rubato run --strategy {wanted.strategy} --max-slowdown 5%`": lambda m, w, n: zeus_comparison.under_rubato(
        m, w, n, wanted.strategy
    ),
}


class World:
    """A simulated V100 of its own, with the limit that the run finds."""

    def __init__(self, found_w, rate):
        self.machine = Machine(rate=rate, found={"power_limit_w": found_w})
        self.machine.patience = 3600

    def __enter__(self):
        self.machine.run("devices", "--gpu", "0")  # makes it
        return self.machine

    def __exit__(self, *_):
        clients.MachineTest.end_left_over(self.machine)
        self.machine.close()


def setting(outcome):
    if outcome.get("chosen_w"):
        return f"{outcome['chosen_w']:.0f} W after {outcome['decided_after']}"
    if "restoration" not in outcome:
        return "–"
    chosen = outcome["chosen"] or {}
    words = [f"{chosen['power_limit_w']:.0f} W"] if chosen.get("power_limit_w") else []
    if chosen.get("sm_clock_mhz"):
        words.append(f"SM {chosen['sm_clock_mhz']['max']:.0f} MHz")
    return ", ".join(words) or "as found"


def compared(workload, iterations):
    print(f"\n## {workload}, {iterations} iterations\n")
    print("| | energy, kJ | time, s | energy | time | setting kept |\n|---|---|---|---|---|---|")
    plain = None
    for name, leg in LEGS.items():
        with World(HIGHEST_W, wanted.rate) as machine:
            try:
                outcome = leg(machine, workload, iterations)
            except zeus_comparison.Refused as refusal:
                print(f"| {name} | not run: {str(refusal).splitlines()[0]} | | | | |")
                continue
        plain = plain or outcome
        energy, seconds = (outcome[k] / plain[k] - 1 for k in ("energy_j", "time_s"))
        print(
            f"| {name} | {outcome['energy_j'] / 1e3:.1f} | {outcome['time_s']:.0f} | {energy:+.1%} | {seconds:+.1%}"
            f"{', over 5 %' if seconds > zeus_comparison.BOUND else ''} | {setting(outcome)} |",
            flush=True,
        )


def ended(machine, process, victim, how, rubato):
    """What is in force some time after `victim` got the signal while another setting than the found one was tried."""
    gpu = machine.gpu()
    if rubato:
        wait_until(lambda: not zeus_comparison.as_found(gpu, FOUND_W), "rubato to try something")
    else:  # its highest limit, which it sets first, is another one already
        wait_until(lambda: gpu.limit() < FOUND_W, "a limit below the found one")
    os.kill(victim(process), how)
    process.wait()
    try:
        wait_until(lambda: zeus_comparison.as_found(gpu, FOUND_W), "the found setting", patience=15)
    except AssertionError:
        pass  # what stays is the answer
    return in_force(gpu)


def in_force(gpu):
    lock = gpu.sm_lock()
    return f"{gpu.limit():.0f} W" + (f", SM locked to {lock:.0f} MHz" if lock else "")


def started(machine, rubato):
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    rule = () if rubato else ("max_slowdown", "1.05")
    command = zeus_comparison.training(machine, "resnet50", 100_000, *rule)
    if rubato:
        return machine.start(*zeus_comparison.rubato_command(wanted.strategy, command), **quiet)
    return subprocess.Popen(command, env=machine.environment, **quiet)


def left_behind():
    print(f"\n## What is left behind, where {FOUND_W} W was found\n")
    print("| | Zeus | `rubato run` |\n|---|---|---|")
    ends = {"zeus": {}, "rubato": {}}
    for who, rubato in (("zeus", False), ("rubato", True)):
        with World(FOUND_W, wanted.rate) as machine:
            try:
                LEGS[list(LEGS)[-1 if rubato else -2]](machine, "resnet50", 400)
                ends[who]["normal end"] = in_force(machine.gpu())
            except zeus_comparison.Refused:
                ends[who] = None
                continue
        for signal_name in ("SIGTERM", "SIGKILL"):
            how = getattr(signal, signal_name)
            victims = {"of the training": (lambda p: p.pid) if not rubato else lambda p: job_of(p.pid)}
            if rubato:
                victims["of rubato itself"] = lambda p: p.pid
            for whose, victim in victims.items():
                with World(FOUND_W, wanted.rate) as machine:
                    process = started(machine, rubato)
                    ends[who][f"{signal_name} {whose}"] = ended(machine, process, victim, how, rubato)
    for event in ["normal end", *[f"{s} {w}" for s in ("SIGTERM", "SIGKILL") for w in ("of the training", "of rubato itself")]]:
        cells = ["not run" if e is None else e.get(event, "–") for e in ends.values()]
        print(f"| {event} | {' | '.join(cells)} |", flush=True)


def main():
    reason = clients.why_missing("zeus")
    if reason:
        sys.exit(f"Zeus is not there: {reason}")
    version = subprocess.run(
        [clients.PYTHON, "-c", "import importlib.metadata as m; print(m.version('zeus'))"], capture_output=True, text=True
    ).stdout.strip()
    print(
        f"""# Zeus's optimizer and rubato on one simulated GPU

Made by `bench/zeus_comparison.py --iterations {wanted.iterations} --rate {wanted.rate:g} --workloads {wanted.workloads}`.
Every figure is **modelled**: the GPU is the simulated V100 (PCIe, 100 to 250 W), the trainings are the simulated trainer's.
What a real board saves, this page cannot say; it compares how two programs search on the same one.

- Zeus {version} from PyPI, unmodified, with its default steps (25 W, 1 + 10 + 40): a Python loop calls `on_step_begin` for
  each iteration that the trainer finishes, in one endless epoch. Its clock is the simulated one.
- Energy is the simulated board's true energy from before the first iteration to after the last, search included; time is
  from the first iteration's begin to the last one's end. Every leg has a world of its own and starts at 250 W, cold.
- "Setting kept": for Zeus with the number of iterations until it had decided; for rubato what it held longest.
- Zeus's bound is for the limit it keeps, rubato's for the whole run. "Over 5 %" says where the whole run broke it.
- The spread between two runs of the same thing is that between the first two lines of a table."""
    )
    for workload in wanted.workloads.split(","):
        for iterations in wanted.iterations.split(","):
            compared(workload, int(iterations))
    left_behind()


if __name__ == "__main__":
    main()
