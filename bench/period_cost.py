#!/usr/bin/env python3
"""Processor time per decision of GPOEO's public detector in Python and of rubato's, on the same traces in one run.

    bench/period_cost.py GPOEO_CHECKOUT [--program build/release/bin/rubato-period-cost] [--traces 70] [--seed 1]

GPOEO_CHECKOUT: a clone of github.com/ruixueqingyang/GPOEO, whose EPOpt/SpectrumAnalysis.py is run as it is, but
for names that NumPy has dropped and for its plots. Needs NumPy and SciPy before 1.11 (python3-scipy of Debian 12).
Traces are made here: ten kinds of load seen by a sensor that is read 20 times a second. GPOEO gets them as its own
sampler would have read them: the latest value every 0.1 s, mixed as its GetTrace does; its loop of 25 s first, then
as much more as it asks for, is repeated here. The times are of its T_SpectrumAnalysis alone.

Prints per detector: answers right within 2 % and 5 %, seconds of trace and of processor until the first decision;
then the ratio, and how often rubato's re-implementation ("gpoeo") answers as the original does.
"""

import argparse
import contextlib
import io
import math
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
import time
import types

ROOT = pathlib.Path(__file__).resolve().parents[1]
TRACE_S, RATE = 120, 20
INTERVAL_S, FIRST_S, LEAST_WAIT_S, UPPER_S, HARD_STOP = 0.1, 25, 4, 15, 5.5
PERIODIC = ("square", "steps", "nested", "ramp", "short", "long", "jitter", "drift")
APERIODIC = ("bursts", "flat")


def load_of(kind, period, rng):
    """Share of full work as a function of the time, and the iteration's length, None where there is none."""
    edges = sorted(rng.uniform(0.1, 0.9) for _ in range(3))
    levels = [rng.uniform(0.2, 1.0) for _ in range(4)]
    levels[-1] = 0.1
    step = lambda phase: levels[sum(phase > edge for edge in edges)]
    if kind == "square":
        return lambda t: 0.9 if t % period < 0.7 * period else 0.15
    if kind in ("steps", "short", "long"):
        return lambda t: step(t % period / period)
    if kind == "nested":
        count = rng.randint(3, 6)
        return lambda t: 0.1 if t % period > 0.8 * period else (0.9 if (t % period / period * count) % 1 < 0.6 else 0.5)
    if kind == "ramp":
        return lambda t: 0.2 + 0.7 * (t % period / period)
    if kind == "flat":
        return lambda t: 0.8
    if kind == "bursts":
        changes, at = [], 0.0
        while at < TRACE_S:
            at += rng.expovariate(1 / 1.5)
            changes.append((at, rng.uniform(0.1, 1.0)))
        return lambda t: next(level for end, level in changes if t < end)
    # jitter and drift: the iterations' ends, one after the other
    ends, at, length = [], 0.0, period
    while at < TRACE_S + 1:
        at += length * (1 + (rng.gauss(0, 0.05) if kind == "jitter" else 0))
        ends.append(at)
        length *= 1.0005 if kind == "drift" else 1
    def load(t):
        index = next(i for i, end in enumerate(ends) if t < end)
        begin = ends[index - 1] if index else 0.0
        return step((t - begin) / (ends[index] - begin))
    return load


def make_trace(kind, rng):
    period = {"short": rng.uniform(0.15, 0.4), "long": rng.uniform(6, 12)}.get(kind, rng.uniform(0.5, 5))
    load, rows, t = load_of(kind, period, rng), [], 0.0
    while t < TRACE_S:
        now = load(t)
        noisy = lambda value, sigma, most: min(most, max(0.0, rng.gauss(value, sigma)))
        rows.append((t, noisy(60 + 180 * now, 3, 300), noisy(100 * now, 2, 100), noisy(50 * now, 2, 100)))
        t += rng.uniform(0.8, 1.2) / RATE
    return rows, (period if kind in PERIODIC else None)


def load_original(checkout):
    source = (checkout / "EPOpt" / "SpectrumAnalysis.py").read_text()
    for gone, there in (("np.int)", "int)"), ("np.float)", "float)"), ("np.bool)", "bool)")):
        source = source.replace(gone, there)
    sys.modules.setdefault("matplotlib", types.ModuleType("matplotlib"))
    sys.modules.setdefault("matplotlib.pyplot", types.ModuleType("matplotlib.pyplot"))
    module = types.ModuleType("SpectrumAnalysis")
    exec(compile(source, "SpectrumAnalysis.py", "exec"), module.__dict__)
    return module.T_SpectrumAnalysis


def sampled(rows):
    """The latest value every 0.1 s, as a timer that reads the driver sees it."""
    out, index = [], 0
    for tick in range(1, int(rows[-1][0] / INTERVAL_S) + 1):
        while index + 1 < len(rows) and rows[index + 1][0] < tick * INTERVAL_S - 1e-12:
            index += 1
        out.append(rows[index][1:])
    return out


def composite(samples):
    highest = max(power for power, _, _ in samples)
    trace = [100 * power / highest for power, _, _ in samples]
    for column in (1, 2):
        mixes = [[a + sign * row[column] for a, row in zip(trace, samples)] for sign in (1, -1)]
        trace = max(mixes, key=statistics.pstdev)
    return [value / 3 for value in trace]


def run_original(analyse, rows):
    samples, needed, spent = sampled(rows), FIRST_S, 0.0
    while needed <= len(samples) * INTERVAL_S:
        trace = composite(samples[: math.ceil(needed / INTERVAL_S - 1e-9)])
        begin = time.process_time()
        with contextlib.redirect_stdout(io.StringIO()):
            period, stable, more = analyse(trace, 1000 * INTERVAL_S, UPPER_S, 5.3, "", "strict")
        spent += time.process_time() - begin
        if stable or more <= 0 or needed >= HARD_STOP * UPPER_S:
            return {"answer": "periodic" if stable else "aperiodic", "period": float(period) if stable else None,
                    "after": needed, "cpu": spent}
        needed += max(LEAST_WAIT_S, float(more))
    return {"answer": "undecided", "period": None, "after": None, "cpu": spent}


def run_ours(program, files):
    number = lambda word: None if word == "-" else float(word)
    done = subprocess.run([program, *files], check=True, capture_output=True, text=True)
    answers = {}
    for line in done.stdout.splitlines():
        file, detector, answer, period, after, cpu, whole = line.split("\t")
        answers.setdefault(detector, {})[file] = {
            "answer": answer, "period": number(period), "after": number(after),
            # Undecided: the whole trace was spent on it.
            "cpu": number(cpu) if cpu != "-" else number(whole)}
    return answers


def right(answer, truth, tolerance):
    if truth is None:
        return answer["answer"] == "aperiodic"
    if answer["period"] is None:
        return False
    # What lasts less than four samples can only be told as a multiple.
    times = max(1, round(answer["period"] / truth)) if truth < 4 * INTERVAL_S else 1
    return abs(answer["period"] / (times * truth) - 1) <= tolerance


def share(hits):
    hits = list(hits)
    return f"{sum(hits):3} of {len(hits):3}"


def table(answers, truths):
    print(f"{'':12}{'periodic: right in 2 %':>24}{'in 5 %':>12}{'none, said so':>16}{'trace s':>9}{'CPU ms':>9}")
    for name, given in answers.items():
        periodic = [file for file, truth in truths.items() if truth]
        others = [file for file, truth in truths.items() if truth is None]
        after = [given[file]["after"] for file in truths if given[file]["after"]]
        print(f"{name:12}{share(right(given[f], truths[f], 0.02) for f in periodic):>24}"
              f"{share(right(given[f], truths[f], 0.05) for f in periodic):>12}"
              f"{share(right(given[f], None, 0) for f in others):>16}"
              f"{statistics.median(after) if after else math.nan:9.1f}"
              f"{1e3 * statistics.mean(given[f]['cpu'] for f in truths):9.3f}")


def stable_is_right(name, given, truths):
    """What a stable and an unstable answer are worth."""
    stable = [right(given[f], t, 0.02) if t else False for f, t in truths.items() if given[f]["answer"] == "periodic"]
    unstable = [t is None for f, t in truths.items() if given[f]["answer"] == "aperiodic"]
    print(f"{name}: a period stated is right within 2 % in {share(stable)}, none stated in {share(unstable)}")


def agreement(original, ours):
    same = [f for f in original
            if original[f]["answer"] == ours[f]["answer"]
            and (original[f]["period"] is None or abs(original[f]["period"] / ours[f]["period"] - 1) <= 0.05)]
    return share(f in same for f in original), [f for f in original if f not in same]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkout", type=pathlib.Path)
    parser.add_argument("--program", default=ROOT / "build" / "release" / "bin" / "rubato-period-cost")
    parser.add_argument("--traces", type=int, default=70)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--verbose", action="store_true", help="also each trace on which the two differ")
    options = parser.parse_args()
    analyse = load_original(options.checkout)
    kinds = PERIODIC + APERIODIC
    truths, original, kind_of = {}, {}, {}
    with tempfile.TemporaryDirectory() as folder:
        for index in range(options.traces):
            kind = kinds[index % len(kinds)]
            rows, truth = make_trace(kind, random.Random(f"{options.seed}/{index}"))
            file = str(pathlib.Path(folder) / f"{index}.csv")
            with open(file, "w") as out:
                out.write("time_s,power_w,sm_util_pct,memory_util_pct\n")
                out.writelines("%.6f,%.3f,%.3f,%.3f\n" % row for row in rows)
            truths[file], kind_of[file] = truth, kind
            original[file] = run_original(analyse, rows)
        ours = run_ours(options.program, list(truths))
    answers = {"original": original, **ours}
    print(f"{options.traces} traces of {TRACE_S} s, seed {options.seed}")
    table(answers, truths)
    for name, given in answers.items():
        stable_is_right(name, given, truths)
    for name, given in ours.items():
        ratio = sum(a["cpu"] for a in original.values()) / sum(a["cpu"] for a in given.values())
        print(f"original / {name}: {ratio:.0f} times the processor time until the first decision")
    agreed, differing = agreement(original, ours["gpoeo"])
    print(f"gpoeo answers as the original does in {agreed} (periods within 5 %)")
    if options.verbose:
        for file in differing:
            print(kind_of[file], truths[file], original[file], ours["gpoeo"][file])


if __name__ == "__main__":
    main()
