"""One simulated training from its first iteration to its last, alone or tuned by Zeus's own optimizer with its default steps;
what it took by the simulated clock and by the GPU's truth, as JSON.

    zeus_training.py RUBATO WORKLOAD ITERATIONS [cost ETA | max_slowdown FACTOR]
"""

import json
import os
import sys
import time

from program import Training, truth


def scaled_clock():
    """Zeus reads the wall; the simulated world runs faster than that, and its windows have to see the world's seconds."""
    with open(os.environ["RUBATO_SIM_SCENARIO"]) as file:
        rate = json.load(file).get("rate", 1)
    wall, origin = time.time, time.time()
    time.time = lambda: origin + (wall() - origin) * rate


def optimizer_of(rule, argument):
    scaled_clock()
    from zeus.monitor import ZeusMonitor
    from zeus.optimizer.power_limit import GlobalPowerLimitOptimizer, MaxSlowdownConstraint, ZeusCost

    selector = {"cost": ZeusCost, "max_slowdown": MaxSlowdownConstraint}[rule](float(argument))
    return GlobalPowerLimitOptimizer(ZeusMonitor(gpu_indices=[0], cpu_indices=[]), optimum_selector=selector)


if __name__ == "__main__":
    rubato, workload, iterations = sys.argv[1], sys.argv[2], int(sys.argv[3])
    optimizer = optimizer_of(*sys.argv[4:6]) if len(sys.argv) > 4 else None
    chosen_w = decided_after = None
    finished, before = 0, truth()
    with Training(rubato, iterations, workload) as training:
        steps = training.iterations()
        while True:
            if optimizer and chosen_w is None:
                optimizer.on_step_begin()
                if hasattr(optimizer.state, "optimal_power_limit"):
                    chosen_w, decided_after = optimizer.state.optimal_power_limit / 1000, finished
            if next(steps, True):
                break
            finished += 1
        training.process.wait()
        energy = truth() - before
        seconds = (training.end_ns - training.begin_ns) / 1e9
    print(
        json.dumps(
            {
                "iterations": finished,
                "time_s": seconds,
                "energy_j": energy,
                "chosen_w": chosen_w,
                "decided_after": decided_after,
            }
        )
    )
