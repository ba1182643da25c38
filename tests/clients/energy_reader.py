"""A pynvml program: the energy counter and the truth before and after a simulated training, as JSON."""

import json
import sys

import pynvml

from program import Training, truth

pynvml.nvmlInit()
gpu = pynvml.nvmlDeviceGetHandleByIndex(0)


def both():
    return pynvml.nvmlDeviceGetTotalEnergyConsumption(gpu) / 1000, truth()


before = both()
with Training(sys.argv[1], int(sys.argv[2])) as training:
    finished = sum(1 for _ in training.iterations())
    training.process.wait()
after = both()
print(json.dumps({"counter_j": after[0] - before[0], "truth_j": after[1] - before[1], "iterations": finished}))
pynvml.nvmlShutdown()
