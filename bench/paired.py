"""Wall time of one command plain and under `rubato measure`, in pairs: what the paired benchmarks share.

Noise of a shared machine comes and goes over many runs; the ratio inside a pair is what it leaves alone.
"""

import contextlib
import math
import os
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
T95 = {2: 12.71, 3: 4.30, 4: 3.18, 5: 2.78, 6: 2.57, 7: 2.45, 8: 2.36, 9: 2.31, 10: 2.26, 12: 2.20, 16: 2.13,
       20: 2.09}


def student(pairs):
    """The 97.5 % quantile for `pairs - 1` degrees of freedom; the next smaller entry where none is listed."""
    return T95[max(count for count in T95 if count <= pairs)]


def add_options(parser):
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "release")
    parser.add_argument("--pairs", type=int, default=12)
    parser.add_argument("--gpu", default="sim:v100", help="what is measured meanwhile; 'none': whatever is there")
    parser.add_argument("--seed", type=int, default=1, help="of the order inside the pairs")
    parser.add_argument("command", nargs="*")


def parse(parser):
    options = parser.parse_args()
    if options.pairs < 2:
        parser.error("an interval needs at least two pairs")
    return options


@contextlib.contextmanager
def own_folders():
    """An environment in which rubato keeps its records and its simulated GPUs to itself."""
    with tempfile.TemporaryDirectory(prefix="rubato-bench-") as folder:
        runtime = pathlib.Path(folder, "runtime")
        runtime.mkdir(mode=0o700)
        yield dict(os.environ, XDG_STATE_HOME=f"{folder}/state", XDG_RUNTIME_DIR=str(runtime))


def under_rubato(options, command):
    gpu = [] if options.gpu == "none" else ["--gpu", options.gpu]
    return [str(options.build / "bin" / "rubato"), "measure", "--quiet", *gpu, "--", *command]


def seconds_and_output(command, environment):
    begin = time.perf_counter()
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    length = time.perf_counter() - begin
    if done.returncode != 0:
        sys.exit(f"{command} ended with {done.returncode}:\n{done.stderr}")
    return length, done.stdout


def compare(options, command, environment, same=lambda output: output):
    """Runs the pairs, each in random order, and prints the ratio rubato / plain with its 95 % interval.
    `same(output)` is the part of the output that must not differ; where it does, the benchmark ends."""
    order = random.Random(options.seed)
    lines = {"plain": command, "rubato": under_rubato(options, command)}
    _, output = seconds_and_output(lines["rubato"], environment)  # warms the caches; not counted
    expected = same(output)
    logs = []
    for pair in range(options.pairs):
        took = {}
        for name in order.sample(sorted(lines), 2):
            took[name], output = seconds_and_output(lines[name], environment)
            if same(output) != expected:
                sys.exit(f"the {name} run printed what the first one did not:\n{same(output)}\n{expected}")
        logs.append(math.log(took["rubato"] / took["plain"]))
        print(f"pair {pair + 1:2}: plain {took['plain']:.3f} s, under rubato {took['rubato']:.3f} s, "
              f"ratio {took['rubato'] / took['plain']:.4f}", flush=True)
    mean = statistics.mean(logs)
    half = student(len(logs)) * statistics.stdev(logs) / math.sqrt(len(logs))
    print(f"ratio {math.exp(mean):.4f}, 95 % interval {math.exp(mean - half):.4f} to "
          f"{math.exp(mean + half):.4f}, median {math.exp(statistics.median(logs)):.4f}, over {len(logs)} pairs; output identical")
