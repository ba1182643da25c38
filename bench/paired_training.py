#!/usr/bin/env python3
"""Does measuring slow a training down? The same CPU training plain and under `rubato measure`, in pairs.

    bench/paired_training.py [--build build/release] [--pairs 12] [--gpu sim:v100|none] [-- CMD...]

Each pair runs both, in the order AB, BA, AB, ...; what is compared is the wall time of the whole command, start-up of
rubato included. Printed: the ratio of each pair, their mean and its 95 % interval (Student's t over pairs). Without CMD it is
examples/train_small_network.py, which needs PyTorch. Run it on a quiet machine.
"""

import argparse
import math
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
T95 = {2: 12.71, 3: 4.30, 4: 3.18, 5: 2.78, 6: 2.57, 7: 2.45, 8: 2.36, 9: 2.31, 10: 2.26, 12: 2.20, 16: 2.13, 20: 2.09}


def student(pairs):
    """The 97.5 % quantile for `pairs - 1` degrees of freedom; the next smaller entry where it is not listed."""
    return T95[max(count for count in T95 if count <= pairs)]


def seconds_and_output(command, environment):
    begin = time.perf_counter()
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    length = time.perf_counter() - begin
    if done.returncode != 0:
        sys.exit(f"{command} ended with {done.returncode}:\n{done.stderr}")
    return length, done.stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "release")
    parser.add_argument("--pairs", type=int, default=12)
    parser.add_argument("--gpu", default="sim:v100", help="what rubato measures meanwhile; 'none': whatever is there")
    parser.add_argument("command", nargs="*")
    options = parser.parse_args()
    if options.pairs < 2:
        parser.error("an interval needs at least two pairs")
    command = options.command or ["/usr/bin/python3", str(ROOT / "examples" / "train_small_network.py")]
    with tempfile.TemporaryDirectory(prefix="rubato-bench-") as folder:
        runtime = pathlib.Path(folder, "runtime")
        runtime.mkdir(mode=0o700)
        environment = dict(os.environ, XDG_STATE_HOME=f"{folder}/state", XDG_RUNTIME_DIR=str(runtime))
        gpu = [] if options.gpu == "none" else ["--gpu", options.gpu]
        rubato = [str(options.build / "bin" / "rubato"), "measure", "--quiet", *gpu, "--", *command]
        _, expected = seconds_and_output(command, environment)  # warms the caches; not counted
        logs = []
        for pair in range(options.pairs):
            order = [("plain", command), ("rubato", rubato)]
            took = {}
            for name, line in order if pair % 2 == 0 else reversed(order):
                took[name], output = seconds_and_output(line, environment)
                if output != expected:
                    sys.exit(f"the {name} run printed something else than the first one")
            logs.append(math.log(took["rubato"] / took["plain"]))
            print(f"pair {pair + 1:2}: plain {took['plain']:.3f} s, under rubato {took['rubato']:.3f} s, "
                  f"ratio {took['rubato'] / took['plain']:.4f}", flush=True)
    mean = statistics.mean(logs)
    half = student(len(logs)) * statistics.stdev(logs) / math.sqrt(len(logs))
    print(f"ratio {math.exp(mean):.4f}, 95 % interval {math.exp(mean - half):.4f} to {math.exp(mean + half):.4f}, "
          f"median {math.exp(statistics.median(logs)):.4f}, over {len(logs)} pairs; output identical")


if __name__ == "__main__":
    main()
