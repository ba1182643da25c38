#!/usr/bin/env python3
"""What the recordings of loads.py, sensor_reader.py, observer_cost.py and trainings.py say: one page of Markdown.

    bench/real_gpu/sensor_report.py FOLDER > report.md

FOLDER holds wave-, limiter- and warming-load.csv and -sensor.csv, oc/ with calls.csv, blocks.csv and steps.csv, and
NAME_steps.csv of trainings; what is missing is left out. The letters are those of docs/gpu-checks.md. Intervals are
95 %, by bootstrap over blocks where nothing else is said; the seed is fixed. Needs NumPy, pandas and SciPy, no GPU.
"""

import argparse
import pathlib
import sys

import analysis_limiter
import analysis_sensor
import analysis_steps
import analysis_warming
import numpy as np
from analysis_common import read


def main():
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    parser.add_argument("folder", type=pathlib.Path)
    folder = parser.parse_args().folder
    rng = np.random.default_rng(1)
    loads = {name: read(folder, f"{name}-load.csv") for name in ("wave", "limiter", "warming")}
    sensors = {name: read(folder, f"{name}-sensor.csv") for name in loads}
    sensors = {name: sensor for name, sensor in sensors.items() if sensor is not None}
    steps = {path.name[:-10]: read(folder, path.name) for path in sorted(folder.glob("*_steps.csv"))}
    observer = {name: read(folder, f"oc/{name}.csv") for name in ("calls", "blocks", "steps")}
    parts = []
    if sensors:
        parts.append(analysis_sensor.section(sensors, loads["wave"], rng))
    if "limiter" in sensors and loads["limiter"] is not None:
        parts.append(analysis_limiter.limiter(loads["limiter"], sensors["limiter"]))
    if "warming" in sensors and loads["warming"] is not None:
        parts.append(analysis_warming.warming(loads["warming"], sensors["warming"], rng))
    if observer["calls"] is not None:
        parts.append(analysis_steps.calls(observer["calls"]))
    if observer["blocks"] is not None and observer["steps"] is not None:
        parts.append(analysis_steps.blocks(observer["blocks"], observer["steps"]))
        steps["transformer, O1"] = observer["steps"]
    if steps:
        parts.append(analysis_steps.noise(steps))
    if not parts:
        sys.exit(f"no recordings in {folder}")
    print("# Sensors, limiter and the cost of looking\n\n" + "\n".join(parts), end="")


if __name__ == "__main__":
    main()
