#!/usr/bin/env python3
"""Reads one GPU's power, energy counter and clock as fast as it can, in a process of its own, until standard input ends.

    bench/real_gpu/sensor_reader.py FILE [--gap 0.002] [--gpu 0] [--all]

Independent of rubato on purpose: it goes through NVIDIA's own Python bindings (nvidia-ml-py). FILE gets a row a reading:
CLOCK_MONOTONIC before and after the calls (s), power over the driver's averaging window and instant power (W), energy
counter (J); with --all also SM clock (MHz), reasons why it is not higher, time held down by the power cap (ns, as the
driver counts it) and temperature (C). Nothing is set.
"""

import argparse
import select
import sys
import time

import pynvml

AVERAGE, INSTANT, ENERGY = 185, 186, 83  # NVML_FI_DEV_POWER_AVERAGE, _POWER_INSTANT, _TOTAL_ENERGY_CONSUMPTION


def number(field):
    if field.nvmlReturn != pynvml.NVML_SUCCESS:
        return None
    value = field.value
    kind = field.valueType
    if kind == pynvml.NVML_VALUE_TYPE_DOUBLE:
        return value.dVal
    if kind == pynvml.NVML_VALUE_TYPE_UNSIGNED_INT:
        return value.uiVal
    return value.ullVal


def reading(gpu, everything):
    fields = pynvml.nvmlDeviceGetFieldValues(gpu, [AVERAGE, INSTANT, ENERGY])
    row = [number(field) for field in fields]
    row = [value / 1000 if value is not None else None for value in row]
    if everything:
        row += [pynvml.nvmlDeviceGetClockInfo(gpu, pynvml.NVML_CLOCK_SM),
                pynvml.nvmlDeviceGetCurrentClocksThrottleReasons(gpu),
                pynvml.nvmlDeviceGetViolationStatus(gpu, pynvml.NVML_PERF_POLICY_POWER).violationTime,
                pynvml.nvmlDeviceGetTemperature(gpu, pynvml.NVML_TEMPERATURE_GPU)]
    return row


def main():
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    parser.add_argument("file")
    parser.add_argument("--gap", type=float, default=0.002, help="seconds between the begins of two readings")
    parser.add_argument("--gpu", type=int, default=0)
    parser.add_argument("--all", action="store_true")
    options = parser.parse_args()
    pynvml.nvmlInit()
    gpu = pynvml.nvmlDeviceGetHandleByIndex(options.gpu)
    names = ["before_s", "after_s", "power_average_w", "power_instant_w", "energy_j"]
    if options.all:
        names += ["sm_clock_mhz", "limiter_bits", "power_cap_ns", "temperature_c"]
    with open(options.file, "w", encoding="utf-8") as file:
        print(",".join(names), file=file)
        due = time.monotonic()
        while not select.select([sys.stdin], [], [], max(0.0, due - time.monotonic()))[0]:
            before = time.monotonic()
            row = reading(gpu, options.all)
            after = time.monotonic()
            cells = ["" if value is None else f"{value:.10g}" for value in row]
            print(f"{before:.6f},{after:.6f},{','.join(cells)}", file=file)
            due = max(due + options.gap, after)


if __name__ == "__main__":
    main()
