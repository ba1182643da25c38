"""What Zeus's own optimizer decides when its recordings are played back to it: a tab-separated row for each recording, with
the limit in W that each rule led to, and the sweep: limits in the order tried, each with the steps finished when it was set,
and at last the steps finished at the decision.

    zeus_decisions.py RECORDING.csv...

The stand-in's boards take the limits; the range is that of the board the recording is of.
"""

import csv
import importlib.metadata
import pathlib
import re
import sys

import pynvml
from zeus.optimizer.power_limit import Energy, GlobalPowerLimitOptimizer, MaxSlowdownConstraint, Time, ZeusCost
from zeus.utils.testing import ReplayZeusMonitor

RULES = {
    "energy": lambda gpus: Energy(),
    "time": lambda gpus: Time(),
    "cost 0.25": lambda gpus: ZeusCost(0.25, world_size=gpus),
    "cost 0.5": lambda gpus: ZeusCost(0.5, world_size=gpus),
    "cost 0.75": lambda gpus: ZeusCost(0.75, world_size=gpus),
    "cost 0.5 of one GPU": lambda gpus: ZeusCost(0.5, world_size=1),
    "max_slowdown 1.01": lambda gpus: MaxSlowdownConstraint(1.01),
    "max_slowdown 1.05": lambda gpus: MaxSlowdownConstraint(1.05),
    "max_slowdown 1.1": lambda gpus: MaxSlowdownConstraint(1.1),
    "max_slowdown 1.2": lambda gpus: MaxSlowdownConstraint(1.2),
}


def decide(path, gpus, rule):
    gpu = pynvml.nvmlDeviceGetHandleByIndex(0)
    optimizer = GlobalPowerLimitOptimizer(
        ReplayZeusMonitor(gpu_indices=list(range(gpus)), log_file=path, match_window_name=False), optimum_selector=rule
    )
    finished, sweep = 0, []
    while True:
        optimizer.on_step_begin()
        if hasattr(optimizer.state, "optimal_power_limit"):
            return optimizer.state.optimal_power_limit // 1000, " ".join([*sweep, f"done@{finished}"])
        limit = pynvml.nvmlDeviceGetPowerManagementLimit(gpu) // 1000
        if not sweep or not sweep[-1].startswith(f"{limit}@"):
            sweep.append(f"{limit}@{finished}")
        optimizer.on_step_end()
        finished += 1


def row(path):
    with path.open() as file:
        rows = list(csv.DictReader(file))
    gpus = sum(bool(re.fullmatch(r"gpu\d+_energy", column)) for column in rows[0])
    limits = [int(r["window_name"].rsplit("_", 1)[1]) * 1000 for r in rows]
    pynvml.nvmlDeviceGetPowerManagementLimitConstraints = lambda handle: [min(limits), max(limits)]
    decisions = [decide(path, gpus, make(gpus)) for make in RULES.values()]
    (sweep,) = {sweep for _, sweep in decisions}
    return [path.stem, *[str(watts) for watts, _ in decisions], sweep]


if __name__ == "__main__":
    pynvml.nvmlInit()
    print(f"# made by tests/clients/zeus_decisions.py with Zeus {importlib.metadata.version('zeus')}")
    print("recording", *RULES, "sweep", sep="\t")
    for name in sys.argv[1:]:
        print(*row(pathlib.Path(name)), sep="\t")
