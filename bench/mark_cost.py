#!/usr/bin/env python3
"""What a mark costs in Python and what the injected hooks cost at start, each beside a yardstick in the same
run.

    bench/mark_cost.py [--python PYTHON]

Prints nanoseconds per call (best of many short loops, the loop itself taken off) of an empty function,
time.monotonic_ns(), and marks with and without somebody to read them; then processor milliseconds of `python
-c pass` with and without the hooks (median of alternating pairs), where Python may keep its byte code beside
them and where not.
"""

import argparse
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile
import time

PYTHON = pathlib.Path(__file__).resolve().parents[1] / "python"
CALLS, REPEATS = 2000, 300


def nanoseconds(function, *arguments):
    now = time.perf_counter_ns
    calls, best, bare = range(CALLS), float("inf"), float("inf")
    for _ in range(REPEATS):
        begin = now()
        for _ in calls:
            function(*arguments)
        middle = now()
        for _ in calls:
            pass
        end = now()
        best, bare = min(best, middle - begin), min(bare, end - middle)
    return (best - bare) / CALLS


def marks():
    sys.path.insert(0, str(PYTHON))
    from rubato import _marks

    def empty(_):
        pass

    yardstick = nanoseconds(empty, 1)
    clock = nanoseconds(time.monotonic_ns)
    print(f"Python {sys.version.split()[0]}")
    print(f"{'empty function':34}{yardstick:8.0f} ns")
    print(f"{'time.monotonic_ns':34}{clock:8.0f} ns")
    os.environ.pop("RUBATO_MARKS", None)
    print(f"{'begin_iteration, nobody reads':34}{nanoseconds(_marks.begin_iteration, 1):8.0f} ns")
    with tempfile.TemporaryDirectory() as folder:
        os.environ["RUBATO_MARKS"] = folder
        _marks._forget()
        for name, function, arguments in (
            ("begin_iteration", _marks.begin_iteration, (1, 0, 100)),
            ("end_iteration", _marks.end_iteration, (1,)),
            ("past_phase (two marks)", _marks.past_phase, (_marks.DATA, 1, 2)),
            ("point (a known name)", _marks.point, ("step",)),
        ):
            cost = nanoseconds(function, *arguments)
            print(f"{name:34}{cost:8.0f} ns   {cost / yardstick:5.1f} empty functions")


def start(python):
    def cost(**more):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        environment = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "RUBATO_"))}
        subprocess.run([python, "-c", "pass"], env={**environment, **more}, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * 1e3

    with tempfile.TemporaryDirectory() as folder:
        hooks = {"PYTHONPATH": str(PYTHON / "inject"), "RUBATO_MARKS": folder}
        cases = {
            "no byte code may be kept": {
                "PYTHONDONTWRITEBYTECODE": "1",
                "PYTHONPYCACHEPREFIX": folder + "/none",
            },
            "byte code is kept": {"PYTHONPYCACHEPREFIX": folder + "/kept"},
        }
        for name, case in cases.items():
            cost(**case, **hooks)
            pairs = [(cost(**case), cost(**case, **hooks)) for _ in range(60)]
            plain = statistics.median(pair[0] for pair in pairs)
            more = statistics.median(pair[1] - pair[0] for pair in pairs)
            print(f"start of Python, {name}: {plain:.1f} ms of processor time, {more:+.1f} ms with hooks")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--python", default=sys.executable, help="the interpreter to measure")
    parser.add_argument("--marks-only", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.marks_only:
        return marks()
    subprocess.run([options.python, __file__, "--marks-only"], check=True)
    return start(options.python)


if __name__ == "__main__":
    main()
