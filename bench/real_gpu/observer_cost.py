#!/usr/bin/env python3
"""O1: what looking costs. Times of single driver calls, and a training's steps with and without rubato beside it.

    bench/real_gpu/observer_cost.py FOLDER [--rubato build/release/bin/rubato] [--blocks 16] [--seconds 6]

FOLDER gets calls.csv (call, load, calls, median and 99th percentile in microseconds), blocks.csv (off or on, begin and
end on CLOCK_MONOTONIC) in the order off, on, on, off, and steps.csv of trainings.py over the same time. Nothing is set.
"""

import argparse
import pathlib
import subprocess
import sys
import time

import pynvml

HERE = pathlib.Path(__file__).resolve().parent
CALLS = 300


def calls(gpu):
    """Each read that rubato's samplers make, by its name in nvml.h."""
    fields = {"averaged power": [185], "instant power": [186], "energy": [83], "requested limit": [192],
              "both powers": [185, 186], "both powers and energy": [185, 186, 83]}
    together = {f"nvmlDeviceGetFieldValues ({name})": lambda ids=ids: pynvml.nvmlDeviceGetFieldValues(gpu, ids)
                for name, ids in fields.items()}
    memory = [(186, 1)]  # NVML_POWER_SCOPE_MEMORY
    together["nvmlDeviceGetFieldValues (power of the memory)"] = lambda: pynvml.nvmlDeviceGetFieldValues(gpu, memory)
    return together | {
        "nvmlDeviceGetPowerUsage": lambda: pynvml.nvmlDeviceGetPowerUsage(gpu),
        "nvmlDeviceGetTotalEnergyConsumption": lambda: pynvml.nvmlDeviceGetTotalEnergyConsumption(gpu),
        "nvmlDeviceGetClockInfo (SM)": lambda: pynvml.nvmlDeviceGetClockInfo(gpu, pynvml.NVML_CLOCK_SM),
        "nvmlDeviceGetUtilizationRates": lambda: pynvml.nvmlDeviceGetUtilizationRates(gpu),
        "nvmlDeviceGetTemperature": lambda: pynvml.nvmlDeviceGetTemperature(gpu, pynvml.NVML_TEMPERATURE_GPU),
        "nvmlDeviceGetCurrentClocksEventReasons": lambda: pynvml.nvmlDeviceGetCurrentClocksThrottleReasons(gpu),
        "nvmlDeviceGetViolationStatus (power)":
            lambda: pynvml.nvmlDeviceGetViolationStatus(gpu, pynvml.NVML_PERF_POLICY_POWER),
        "nvmlDeviceGetPowerManagementLimit": lambda: pynvml.nvmlDeviceGetPowerManagementLimit(gpu),
        "nvmlDeviceGetEnforcedPowerLimit": lambda: pynvml.nvmlDeviceGetEnforcedPowerLimit(gpu),
        "nvmlDeviceGetPerformanceState": lambda: pynvml.nvmlDeviceGetPerformanceState(gpu),
        "nvmlDeviceGetComputeRunningProcesses": lambda: pynvml.nvmlDeviceGetComputeRunningProcesses(gpu),
    }


def time_calls(gpu, load, file):
    for name, call in calls(gpu).items():
        took = []
        try:
            for _ in range(CALLS):
                begin = time.perf_counter()
                call()
                took.append(time.perf_counter() - begin)
        except pynvml.NVMLError as error:
            print(f"{name},{load},0,,{error}", file=file)
            continue
        took.sort()
        print(f"{name},{load},{CALLS},{1e6 * took[CALLS // 2]:.1f},{1e6 * took[CALLS * 99 // 100]:.1f}", file=file)
    file.flush()


def main():
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--rubato", default=str(HERE.parent.parent / "build/release/bin/rubato"))
    parser.add_argument("--blocks", type=int, default=16)
    parser.add_argument("--seconds", type=float, default=6)
    parser.add_argument("--network", default="transformer")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    pynvml.nvmlInit()
    gpu = pynvml.nvmlDeviceGetHandleByIndex(0)
    with open(options.folder / "calls.csv", "w", encoding="utf-8") as file:
        print("call,load,calls,median_us,p99_us", file=file)
        time_calls(gpu, "idle", file)
        total = options.blocks * options.seconds + 8
        training = subprocess.Popen([sys.executable, str(HERE / "trainings.py"), options.network, "--seconds", str(total),
                                     "--steps", str(options.folder / "steps.csv")])
        while pynvml.nvmlDeviceGetUtilizationRates(gpu).gpu < 50 and training.poll() is None:
            time.sleep(0.1)
        time.sleep(2)  # clocks and temperature of the training's first moments are not what is compared
        time_calls(gpu, "training", file)
    with open(options.folder / "blocks.csv", "w", encoding="utf-8") as file:
        print("kind,begin_s,end_s", file=file)
        for block in range(options.blocks):
            kind = ("off", "on", "on", "off")[block % 4]
            begin = time.monotonic()
            if kind == "on":
                subprocess.run([options.rubato, "measure", "--gpu", "0", "--seconds", f"{options.seconds - 0.3}"],
                               stdout=subprocess.DEVNULL, check=True)
            time.sleep(max(0.0, begin + options.seconds - time.monotonic()))
            print(f"{kind},{begin:.6f},{time.monotonic():.6f}", file=file)
    training.wait()


if __name__ == "__main__":
    main()
