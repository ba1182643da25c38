"""A training whose power limit Zeus's optimizer tunes, from the moment on when the limit is the one given: every limit from
the highest down is tried, the best one kept. At the end, as JSON: the limits in force at each step, what was measured, and
what was chosen."""

import json
import sys

import pynvml
from zeus.monitor import ZeusMonitor
from zeus.optimizer.power_limit import Energy, GlobalPowerLimitOptimizer

from program import Training

if __name__ == "__main__":
    rubato, steps, limit_to_wait_for = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
    monitor = ZeusMonitor(gpu_indices=[0], cpu_indices=[])
    gpu = pynvml.nvmlDeviceGetHandleByIndex(0)

    def limit():
        return pynvml.nvmlDeviceGetPowerManagementLimit(gpu) / 1000

    limits = []
    with Training(rubato, 1_000_000) as training:
        iterations = training.iterations()
        while limit() != limit_to_wait_for:
            next(iterations)
        optimizer = GlobalPowerLimitOptimizer(
            monitor, optimum_selector=Energy(), wait_steps=0, warmup_steps=3, profile_steps=8, pl_step=50
        )
        for _ in range(steps):
            optimizer.on_step_begin()
            next(iterations)
            limits.append(limit())
        measured = {m.power_limit: m.energy for m in optimizer.measurements}
    chosen = getattr(optimizer.state, "optimal_power_limit", None)
    print(json.dumps({"limits_w": limits, "energy_j": measured, "chosen_w": chosen and chosen / 1000}))
