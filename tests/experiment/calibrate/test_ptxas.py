"""The micro-benchmarks' kernels against NVIDIA's own assembler, from PyPI: every architecture it knows from Volta on."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ["RUBATO_SOURCE_DIR"])
sys.path.insert(0, str(SOURCE / "tests" / "inject"))

import wheels  # noqa: E402

# The last of CUDA 12, which still knows Volta, and a CUDA 13.
ASSEMBLERS = ("nvidia-cuda-nvcc-cu12==12.9.86", "nvidia-cuda-nvcc==13.5.37")
BF16_AND_TF32_FROM = 80


def setUpModule():
    wheels.lock()


def tearDownModule():
    wheels.unlock()


class Assembled(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        told = subprocess.run([os.environ["PTX_TEXTS"], self.folder.name], check=True, capture_output=True, text=True)
        self.modules = told.stdout.split()

    def check(self, requirement):
        ptxas = next(wheels.unpacked(requirement).rglob("ptxas"))
        ptxas.chmod(0o755)
        known = subprocess.run([ptxas, "--help"], check=True, capture_output=True, text=True).stdout
        architectures = sorted({int(n) for n in re.findall(r"'sm_(\d+)'", known) if int(n) >= 70})
        self.assertGreater(len(architectures), 5)
        for module in self.modules:
            for architecture in architectures:
                if re.search("bf16|tf32", module) and architecture < BF16_AND_TF32_FROM:
                    continue
                with self.subTest(module=module, architecture=architecture):
                    done = subprocess.run([ptxas, "-v", f"-arch=sm_{architecture}", f"{module}.ptx", "-o", "/dev/null"],
                                          cwd=self.folder.name, capture_output=True, text=True)
                    self.assertEqual(done.returncode, 0, done.stderr)
                    # Registers in memory would be traffic that nobody asked for.
                    self.assertNotRegex(done.stderr, r"[1-9]\d* bytes spill")

    def test_by_the_last_of_cuda_12(self):
        self.check(ASSEMBLERS[0])

    def test_by_cuda_13(self):
        self.check(ASSEMBLERS[1])


if __name__ == "__main__":
    unittest.main()
