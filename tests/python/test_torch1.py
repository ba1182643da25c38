import jobs
from torch_cases import TorchCases


class Torch1(TorchCases, jobs.JobTest):
    """PyTorch before 2.0 has no process-wide step hook: Debian 12's 1.13."""

    @classmethod
    def setUpClass(cls):
        cls.python = jobs.python_with("/usr/bin/python3", "torch")


del TorchCases
