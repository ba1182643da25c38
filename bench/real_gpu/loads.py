#!/usr/bin/env python3
"""Loads with a known rhythm, while sensor_reader.py reads the sensors beside them.

    bench/real_gpu/loads.py wave FOLDER      S1: on and off, half of the time each, eleven periods, the phase moving
    bench/real_gpu/loads.py limiter FOLDER   C3: the same matrix product on zeros and on random numbers, in turns; then
                                             duty cycles from a tenth to all of the time
    bench/real_gpu/loads.py warming FOLDER   S4: copies in device memory from cold on

FOLDER gets NAME-load.csv, a row for each stretch: its kind, begin and end (CLOCK_MONOTONIC, s, seen by the host once the
device was done) and how many products or copies ran; and NAME-sensor.csv of sensor_reader.py. The letters are those of
docs/gpu-checks.md. Needs PyTorch with CUDA. Nothing is set.
"""

import argparse
import contextlib
import pathlib
import subprocess
import sys
import time

import torch

PERIODS_S = [0.020, 0.050, 0.090, 0.095, 0.099, 0.100, 0.101, 0.105, 0.110, 0.200, 1.000]
PHASES = 16  # over a whole period, so that every phase to the sensor is met


@contextlib.contextmanager
def sensors_read_into(file, *options):
    reader = subprocess.Popen([sys.executable, str(pathlib.Path(__file__).with_name("sensor_reader.py")), str(file), *options],
                              stdin=subprocess.PIPE)
    try:
        time.sleep(1.0)  # until it reads: some readings of the board at rest belong to the recording
        yield
    finally:
        reader.stdin.close()
        reader.wait()


class Products:
    """Square matrix products in BF16; `times` of them in a row take about as long as asked."""

    def __init__(self, size, zeros=False):
        make = torch.zeros if zeros else torch.randn
        self.a = make(size, size, device="cuda", dtype=torch.bfloat16)
        self.b = make(size, size, device="cuda", dtype=torch.bfloat16)
        self.out = torch.empty_like(self.a)
        self.run(20)
        begin = time.monotonic()
        self.run(50)
        self.each_s = (time.monotonic() - begin) / 50

    def run(self, times):
        for _ in range(times):
            torch.mm(self.a, self.b, out=self.out)
        torch.cuda.synchronize()

    def times(self, seconds):
        return max(1, round(seconds / self.each_s))


class Copies:
    """Copies of 4 GiB within device memory: bound by its bandwidth."""

    def __init__(self):
        self.source = torch.randint(0, 255, (4 << 30,), device="cuda", dtype=torch.uint8)
        self.target = torch.empty_like(self.source)

    def run(self, times):
        for _ in range(times):
            self.target.copy_(self.source)
        torch.cuda.synchronize()


def wait_until(moment):
    while (left := moment - time.monotonic()) > 0:
        if left > 0.002:
            time.sleep(left - 0.001)


def stretch(log, kind, load, times):
    begin = time.monotonic()
    load.run(times)
    log(kind, begin, time.monotonic(), times)


def wave(log, seconds):
    """The device's half of a period is as many products as fit; the host waits out the other half on its clock."""
    products = Products(2048)
    for period in PERIODS_S:
        times = products.times(period / 2)
        waves = max(8, round(seconds / period))
        start = time.monotonic() + 0.5
        for index in range(waves):
            shift = period * (index * PHASES // waves) / PHASES
            wait_until(start + index * period + shift)
            stretch(log, f"wave-{period:.3f}", products, times)


def limiter(log, seconds):
    kinds = {"zeros": Products(8192, zeros=True), "random": Products(8192)}
    for half in (0.05, 0.2, 1.0, 5.0):
        for _ in range(max(2, round(seconds / (2 * half)))):
            for name, load in kinds.items():
                end = time.monotonic() + half
                while time.monotonic() < end:
                    stretch(log, f"{name}-{half}", load, 4)
    for tenths in range(1, 11):
        end = time.monotonic() + seconds / 4
        load = kinds["random"]
        while time.monotonic() < end:
            begin = time.monotonic()
            stretch(log, f"duty-{tenths}", load, max(1, round(0.05 * tenths / 10 / load.each_s)))
            if tenths < 10:
                wait_until(begin + 0.05)


def warming(log, seconds):
    copies = Copies()
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        stretch(log, "copies", copies, 50)


def main():
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    parser.add_argument("what", choices=["wave", "limiter", "warming"])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--seconds", type=float, default=10, help="for each period or pair; of warming, in all")
    options = parser.parse_args()
    torch.manual_seed(1)
    torch.cuda.synchronize()
    todo = {"wave": wave, "limiter": limiter, "warming": warming}[options.what]
    options.folder.mkdir(parents=True, exist_ok=True)
    reader = ["--gap", "0.002"] if options.what == "wave" else ["--gap", "0.005", "--all"]
    with open(options.folder / f"{options.what}-load.csv", "w", encoding="utf-8", buffering=1) as file:
        print("kind,begin_s,end_s,times", file=file)

        def log(kind, begin, end, times):
            print(f"{kind},{begin:.6f},{end:.6f},{times}", file=file)

        with sensors_read_into(options.folder / f"{options.what}-sensor.csv", *reader):
            todo(log, options.seconds)


if __name__ == "__main__":
    main()
