"""For the programs the tests run as clients: the simulated training beside them, and the GPU's truth."""

import contextlib
import ctypes
import mmap
import os
import pathlib
import struct
import subprocess
import tempfile
import time


def truth(gpu=0):
    """Joules since the world began, without sensor."""
    joules = ctypes.c_double()
    assert ctypes.CDLL("libnvidia-ml.so.1").rubatoSimulatedEnergy(gpu, ctypes.byref(joules)) == 0
    return joules.value


def without_sanitizer():
    return {k: v for k, v in os.environ.items() if k != "LD_PRELOAD"}


class Training:
    """`rubato sim train`, and the iterations it has finished, read from its mark ring (include/rubato/mark_layout.h)."""

    HEADER, RECORD, WRITTEN, AT, KIND, ITERATION_BEGIN, ITERATION_END = 128, 64, 64, 8, 16, 1, 2

    def __init__(self, rubato, iterations, workload="resnet50"):
        self.own_folder = tempfile.TemporaryDirectory(prefix="rubato-marks-")
        # Under rubato: where rubato reads them too.
        self.marks = pathlib.Path(os.environ.get("RUBATO_MARKS") or self.own_folder.name)
        self.process = subprocess.Popen(
            [rubato, "sim", "train", workload, "--iterations", str(iterations)],
            env={**without_sanitizer(), "RUBATO_MARKS": str(self.marks)},
            stdout=subprocess.DEVNULL,
        )
        self.ring = None
        self.read = 0
        self.begin_ns = self.end_ns = None  # of the first iteration and the latest, on the simulated clock

    def _records(self):
        if self.ring is None:
            files = list(self.marks.glob(f"{self.process.pid}-*.ring"))
            if not files or files[0].stat().st_size <= self.HEADER:
                return
            with files[0].open("rb") as file:
                self.ring = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
        (capacity,) = struct.unpack_from("<I", self.ring, 20)
        (written,) = struct.unpack_from("<Q", self.ring, self.WRITTEN)
        while self.read < written:
            record = self.HEADER + self.read % capacity * self.RECORD
            (kind,) = struct.unpack_from("<I", self.ring, record + self.KIND)
            (at,) = struct.unpack_from("<q", self.ring, record + self.AT)
            if kind == self.ITERATION_BEGIN and self.begin_ns is None:
                self.begin_ns = at
            if kind == self.ITERATION_END:
                self.end_ns = at
            yield kind
            self.read += 1

    def iterations(self):
        """Yields once for each iteration the GPU finished."""
        ended = False
        while not ended:
            ended = self.process.poll() is not None  # what was written before the end is still read
            for kind in self._records():
                if kind == self.ITERATION_END:
                    yield
            time.sleep(0.0005)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()
        with contextlib.suppress(AttributeError):
            self.ring.close()
        self.own_folder.cleanup()
