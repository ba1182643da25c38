#!/usr/bin/env python3
"""What measuring costs: rubato, a plain C loop and Zeus's PowerMonitor over the same simulated GPUs, as ratios.

    bench/own_cost.py [--build build/release] [--gpus 8] [--seconds 20] [--zeus]

CPU is the operating system's count for each process tree; what the driver's library takes is subtracted where the
program tells it (rubato and the C loop do). --zeus installs Zeus from PyPI into build/bench-venv first.
"""

import argparse
import json
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent

ZEUS = """
import sys, time
from zeus.monitor import PowerMonitor
if __name__ == "__main__":
    count, seconds, period = int(sys.argv[1]), float(sys.argv[2]), float(sys.argv[3])
    monitor = PowerMonitor(gpu_indices=list(range(count)), update_period=period)
    time.sleep(seconds)
    monitor.stop()
"""


class World:
    def __init__(self, build, gpus, profile="v100"):
        self.folder = tempfile.TemporaryDirectory(prefix="rubato-bench-")
        path = pathlib.Path(self.folder.name)
        (path / "runtime").mkdir(mode=0o700)
        (path / "scenario.json").write_text(json.dumps({"rights": "owner"}))
        self.environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(path),
            "XDG_STATE_HOME": str(path / "state"),
            "XDG_RUNTIME_DIR": str(path / "runtime"),
            "RUBATO_SIM_WORLD": str(path / "world"),
            "RUBATO_SIM_SCENARIO": str(path / "scenario.json"),
            "RUBATO_SIM_PROFILES": ",".join([profile] * gpus),
            "LD_LIBRARY_PATH": str(build / "simgpu"),
        }
        self.rubato = str(build / "bin" / "rubato")


def cpu_and_peak(command, environment):
    """CPU seconds of the finished process and its children, its peak memory in MiB, and what it printed."""
    process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    out = process.stdout.read()
    errors = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"{command} failed:\n{out}\n{errors}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, out


def start_up(build, repeats):
    world = World(build, 1)
    cpu, peak = [], []
    for _ in range(repeats):
        c, p, _ = cpu_and_peak([world.rubato, "measure", "--gpu", "0", "--quiet", "--", "true"], world.environment)
        cpu.append(c)
        peak.append(p)
    return statistics.median(cpu), max(peak)


def rubato_sampling(build, gpus, seconds, profile):
    world = World(build, gpus, profile)
    # The first run on a GPU looks at its sensor for up to a second at 5 ms, and keeps what it finds.
    subprocess.run([world.rubato, "measure", "--seconds", "2", "--quiet"], env=world.environment, check=True)
    idle, _, _ = cpu_and_peak([world.rubato, "measure", "--seconds", "0.1", "--quiet"], world.environment)
    before = time.monotonic()
    cpu, peak, _ = cpu_and_peak([world.rubato, "measure", "--seconds", str(seconds), "--quiet"], world.environment)
    wall = time.monotonic() - before
    shown = subprocess.run([world.rubato, "show", "last", "--json"], env=world.environment, capture_output=True, text=True, check=True)
    return cpu - idle, wall, peak, json.loads(shown.stdout)["own_cost"]


def plain_loop(build, gpus, seconds, profile, period_ms):
    world = World(build, gpus, profile)
    subprocess.run([world.rubato, "devices", "--json"], env=world.environment, check=True, stdout=subprocess.DEVNULL)
    command = str(build / "bin" / "plain_loop")
    idle, _, _ = cpu_and_peak([command, "0", str(period_ms)], world.environment)
    cpu, _, out = cpu_and_peak([command, str(seconds), str(period_ms)], world.environment)
    return cpu - idle, json.loads(out)


def venv_with_zeus():
    python = ROOT / "build" / "bench-venv" / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(python.parent.parent)], check=True)
    subprocess.run([str(python), "-m", "pip", "install", "--quiet", "zeus"], check=True)
    return python


def zeus_monitor(build, gpus, seconds, profile, period_ms):
    python = venv_with_zeus()
    world = World(build, gpus, profile)
    script = pathlib.Path(world.folder.name) / "power_monitor.py"
    script.write_text(ZEUS)
    command = [str(python), str(script), str(gpus)]
    for _ in range(2):  # the first start also compiles Zeus's modules
        idle, _, _ = cpu_and_peak([*command, "0", str(period_ms / 1e3)], world.environment)
    cpu, peak, _ = cpu_and_peak([*command, str(seconds), str(period_ms / 1e3)], world.environment)
    return cpu - idle, peak


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "release")
    parser.add_argument("--gpus", type=int, default=8)
    parser.add_argument("--seconds", type=int, default=20)
    parser.add_argument("--zeus", action="store_true")
    options = parser.parse_args()
    build = options.build.resolve()

    cpu, peak = start_up(build, 21)
    print(f"start-up  rubato measure -- true: {cpu * 1e3:.1f} ms of CPU (limit 30), {peak:.1f} MiB at most (limit 30)")

    for profile, period_ms in (("v100", 20), ("a100", 100)):
        cpu, wall, peak, cost = rubato_sampling(build, options.gpus, options.seconds, profile)
        outside = (cpu - cost["driver_s"]) / wall
        print(f"sampling  {options.gpus} simulated {profile} for {wall:.1f} s at their sensor's {period_ms} ms")
        print(f"  rubato        CPU {cpu:.3f} s beyond start-up, of it {cost['driver_s']:.3f} s inside the driver's library in {cost['driver_calls']} calls;"
              f" outside {100 * outside:.3f} % of a core (limit 0.1 %); {cost['bytes_per_tick']:.1f} bytes a tick; {peak:.1f} MiB")
        loop, told = plain_loop(build, options.gpus, options.seconds, profile, period_ms)
        print(f"  plain C loop  CPU {loop:.3f} s beyond start-up, of it {told['driver_s']:.3f} s inside in {told['driver_calls']} calls;"
              f" outside {100 * (loop - told['driver_s']) / options.seconds:.3f} % of a core; rubato / loop, whole CPU: {cpu / loop:.2f}")
        if options.zeus:
            zeus, peak = zeus_monitor(build, options.gpus, options.seconds, profile, period_ms)
            print(f"  Zeus PowerMonitor (power alone, one field)  CPU {zeus:.3f} s beyond start-up; {peak:.0f} MiB; rubato / Zeus, whole CPU: {cpu / zeus:.3f}")


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    main()
