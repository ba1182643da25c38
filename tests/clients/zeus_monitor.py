"""A training measured by Zeus's monitor, as Zeus's own documentation does it; the energy and the truth, as JSON."""

import json
import sys

from zeus.monitor import ZeusMonitor

from program import Training, truth

if __name__ == "__main__":
    monitor = ZeusMonitor(gpu_indices=[0], cpu_indices=[])
    before = truth()
    monitor.begin_window("training")
    with Training(sys.argv[1], int(sys.argv[2])) as training:
        finished = sum(1 for _ in training.iterations())
        training.process.wait()
    measured = monitor.end_window("training")
    print(json.dumps({"zeus_j": measured.gpu_energy[0], "truth_j": truth() - before, "iterations": finished}))
