#!/usr/bin/env python3
"""Do rubato's hooks slow a Keras training down, or change it? The same one plain and under `rubato measure`,
in pairs.

    bench/paired_keras.py [--build build/release] [--pairs 12] [--gpu sim:v100|none] [--venv NAME] [-- ARGUMENTS...]

The program is examples/benchmarks/mnist_dense.py, or --program, with ARGUMENTS (default: --epochs 20), on one
thread, by the Python of build/venvs/NAME (tools/make-test-venv). It knows nothing of rubato; its epochs and
iterations are marked by the injected hooks. Everything it prints but its own step times must be the same in
all runs. What is timed is the whole command, so a short training mostly times the import of the framework.
Run it on a quiet machine.
"""

import argparse
import re
import sys

import paired


def without_times(output):
    return re.sub(r"\b\d+(\.\d+)?(s|ms|us)(/step|/epoch)?\b", "", output)


def main():
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    parser.add_argument("--venv", default="keras3-tf")
    parser.add_argument("--program", default=str(paired.ROOT / "examples" / "benchmarks" / "mnist_dense.py"))
    paired.add_options(parser)
    options = paired.parse(parser)
    python = paired.ROOT / "build" / "venvs" / options.venv / "bin" / "python"
    if not python.exists():
        sys.exit(f"error: {python} is not there: tools/make-test-venv {options.venv}")
    command = [str(python), options.program, *(options.command or ["--epochs", "20"])]
    with paired.own_folders() as environment:
        # The cores are shared with whoever else is there; one thread is disturbed less by it than many.
        environment.update(TF_NUM_INTRAOP_THREADS="1", TF_NUM_INTEROP_THREADS="1", OMP_NUM_THREADS="1",
                           XLA_FLAGS="--xla_cpu_multi_thread_eigen=false")
        paired.compare(options, command, environment, without_times)


if __name__ == "__main__":
    main()
