#!/usr/bin/env python3
"""The time-energy frontier of a pipeline: `rubato pipeline frontier` against lowtime, the solver of Perseus, in one run.

    build/venvs/lowtime/bin/python bench/pipeline_frontier.py [--program build/release/bin/rubato] [--data ../shared/data/pipeline]
        [--microbatches 12] [--blocking-power 83] [--runs 5] [PROFILE.csv ...]

Run it with a Python that has lowtime (PyPI): python3 -m venv build/venvs/lowtime && build/venvs/lowtime/bin/pip install lowtime.

Both get the same stage profile, the same 1F1B schedule and the same unit of 1 ms. Of lowtime only the solver is timed, of
rubato the whole process, reading and writing files included; both in processor time, both on one thread. Energies are
compared with lowtime's of this run, one difference between the two after the other, and with the published frontier beside
the profile (NAME_bf16_mb12.csv).
"""

import argparse
import csv
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile
import time
import warnings

try:
    import networkx
    from lowtime.cost_model import ExponentialModel
    from lowtime.graph_utils import DependencyResolver, add_sink_node, add_source_node
    from lowtime.operation import CandidateExecutionOptions, ExecutionOption, OperationSpec
    from lowtime.perseus.instruction import Backward, Forward, Instruction, backward_dep, forward_dep
    from lowtime.perseus.schedule import Synchronous1F1B
    from lowtime.solver import PhillipsDessouky
except ImportError as missing:
    sys.exit(f"{missing}: run this with a Python that has lowtime (see --help)")

ROOT = pathlib.Path(__file__).resolve().parent.parent
PUBLISHED_W = 83.64  # with it lowtime gives Perseus' published A100 frontiers back
PASSES = {"forward": Forward, "backward": Backward}


def read_rows(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


def specs_of(profile, unit_s, blocking_w):
    """One curve fitted by lowtime for each stage and pass, from options prepared as Perseus' published frontiers were: what
    is worse in time and energy goes first, then the blocking power is taken off."""
    rows = read_rows(profile)
    specs = {}
    for stage in sorted({int(row["stage"]) for row in rows}):
        specs[stage] = {}
        for name, kind in PASSES.items():
            options = CandidateExecutionOptions(
                options=[
                    ExecutionOption(float(r["time"]), unit_s, float(r["energy"]), int(float(r["frequency"])))
                    for r in rows
                    if int(r["stage"]) == stage and r["instruction"] == name
                ]
            )
            for option in options.options:
                option.cost -= blocking_w * option.quant_time * unit_s
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                model = ExponentialModel(options, search_strategy="best")
            specs[stage][kind] = OperationSpec(options=options, cost_model=model)
    return specs


def graph_of(specs, microbatches):
    graph = networkx.DiGraph()
    following = 2  # 0 and 1 are lowtime's source and sink
    for stage, by_pass in specs.items():
        before = None
        for instruction in Synchronous1F1B(len(specs), microbatches, stage, by_pass):
            graph.add_node(following, op=instruction)
            if before is not None:
                graph.add_edge(before, following)
            before = following
            following += 1
    resolver = DependencyResolver([forward_dep, backward_dep], Instruction)
    operations = [(node, data["op"]) for node, data in graph.nodes(data=True)]
    for first, one in operations:
        for second, other in operations:
            if resolver.is_dependent(one, other):
                graph.add_edge(first, second)
    add_source_node(graph, 0)
    add_sink_node(graph, 1)
    graph.graph["source_node"] = 0
    graph.graph["sink_node"] = 1
    return graph


def by_lowtime(specs, microbatches, blocking_w):
    """Its frontier and the processor seconds of its solver alone."""
    solver = PhillipsDessouky(graph_of(specs, microbatches))
    began = time.process_time()
    results = list(solver.run())
    seconds = time.process_time() - began
    waiting_w = len(specs) * blocking_w
    return {r.quant_time: r.cost + waiting_w * r.real_time for r in results}, seconds


def processor_seconds():
    """Of the children that have ended: a busy machine stretches only the wall clock."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def by_rubato(program, profile, microbatches, unit_s, blocking_w, runs=1):
    """Its frontier and the median processor seconds of the whole process. Without a unit: of exact times, as a list."""
    seconds = []
    with tempfile.TemporaryDirectory() as folder:
        target = pathlib.Path(folder) / "frontier.csv"
        command = [program, "pipeline", "frontier", profile, "--microbatches", microbatches, "--force", "-o", target]
        command += ["--blocking-power", f"{blocking_w:g}"] + (["--time-unit", f"{1e3 * unit_s:g}ms"] if unit_s else [])
        for _ in range(runs):
            began = processor_seconds()
            done = subprocess.run([str(c) for c in command], capture_output=True, text=True, check=False)
            seconds.append(processor_seconds() - began)
            if done.returncode != 0:
                sys.exit(f"{command}: {done.stderr}")
        rows = [{key: float(value) for key, value in row.items()} for row in read_rows(target)]
    if unit_s is None:
        return rows
    return {round(row["time"] / unit_s): row["energy"] for row in rows}, statistics.median(seconds)


def profile_text(curves):
    """A stage profile of {(stage, pass): [(time, energy), ...]}; where one has fewer rows than another, rows follow that
    never pay."""
    most = max(len(points) for points in curves.values())
    lines = ["stage,instruction,frequency,time,energy"]
    for (stage, name), points in sorted(curves.items()):
        slowest, dearest = max(t for t, _ in points), max(e for _, e in points)
        points = sorted(points) + [(slowest * (1.5 + i), dearest * 10 * (1 + i)) for i in range(most - len(points))]
        lines += [f"{stage},{name},{5000 - i},{t!r},{e!r}" for i, (t, e) in enumerate(points)]
    return "\n".join(lines) + "\n"


def fitted(specs, unit_s, blocking_w):
    """lowtime's curves as measurements, one for each unit."""
    curves = {}
    for stage, by_pass in specs.items():
        for name, kind in PASSES.items():
            spec = by_pass[kind]
            units = [option.quant_time for option in spec.options.options]
            curves[stage, name] = [
                (u * unit_s, float(spec.cost_model(u)) + blocking_w * u * unit_s) for u in range(min(units), max(units) + 1)
            ]
    return profile_text(curves)


def undominated(profile):
    """What lowtime's preparation keeps: no clock that is slower than another and needs more energy."""
    curves = {}
    for row in read_rows(profile):
        curves.setdefault((int(row["stage"]), row["instruction"]), []).append((float(row["time"]), float(row["energy"])))
    return profile_text(
        {
            key: [(t, e) for t, e in points if not any(u < t and f < e for u, f in points)]
            for key, points in curves.items()
        }
    )


def differences(ours, theirs, last):
    """Relative, at the times up to `last` both have; rubato's frontier may end before: then its end is taken."""
    end = max(ours)
    return [ours[min(t, end)] / theirs[t] - 1 for t in sorted(theirs) if min(ours) <= t <= last]


def said(differing):
    return (
        f"{100 * min(differing):+.3f} % to {100 * max(differing):+.3f} %, mean {100 * statistics.mean(differing):+.3f} %, "
        f"{len(differing)} times"
    )


def explain(program, profile, specs, microbatches, unit_s, theirs, blocking_w, last):
    """Where the energies of lowtime's frontier and rubato's differ, one change after the other."""
    with tempfile.TemporaryDirectory() as folder:
        steps = [("the same fitted curves", fitted(specs, unit_s, blocking_w)),
                 ("measured points in place of the fit", undominated(profile)),
                 ("and slower clocks that beat waiting", profile.read_text(encoding="utf-8"))]
        for title, text in steps:
            made = pathlib.Path(folder) / "profile.csv"
            made.write_text(text, encoding="utf-8")
            ours, _ = by_rubato(program, made, microbatches, unit_s, blocking_w)
            print(f"    {title}: {said(differences(ours, theirs, last))}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=str(ROOT / "build" / "release" / "bin" / "rubato"))
    parser.add_argument("--data", default=str(ROOT.parent / "shared" / "data" / "pipeline"))
    parser.add_argument("--microbatches", type=int, default=12)
    parser.add_argument("--blocking-power", type=float, default=83)
    parser.add_argument("--unit-ms", type=float, default=1)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("profiles", nargs="*")
    wanted = parser.parse_args()
    profiles = [pathlib.Path(p) for p in wanted.profiles] or sorted(pathlib.Path(wanted.data).glob("*+*.csv"))
    unit_s = wanted.unit_ms / 1e3
    for profile in profiles:
        print(profile.name)
        for blocking_w in (wanted.blocking_power, PUBLISHED_W):
            specs = specs_of(profile, unit_s, blocking_w)
            theirs, lowtime_s = by_lowtime(specs, wanted.microbatches, blocking_w)
            ours, rubato_s = by_rubato(wanted.program, profile, wanted.microbatches, unit_s, blocking_w, wanted.runs)
            lowest = min(theirs, key=theirs.get)
            print(f"  {blocking_w:g} W: lowtime's solver {lowtime_s:.2f} s of CPU, {len(theirs)} times; rubato's process "
                  f"{rubato_s:.3f} s, {len(ours)} times: {lowtime_s / rubato_s:.0f} times as fast")
            print(f"  rubato against lowtime, up to lowtime's minimum at {lowest * unit_s:.3f} s")
            explain(wanted.program, profile, specs, wanted.microbatches, unit_s, theirs, blocking_w, lowest)
            published = profile.with_name(profile.name.split("+")[0] + f"_bf16_mb{wanted.microbatches}.csv")
            if published.exists() and wanted.unit_ms == 1:
                energies = {round(float(r["time"]) / unit_s): float(r["energy"]) for r in read_rows(published)}
                lowest = min(energies, key=energies.get)
                print(f"  against the published frontier, up to its minimum at {lowest * unit_s:.3f} s")
                print(f"    rubato:  {said(differences(ours, energies, lowest))}")
                print(f"    lowtime: {said(differences(theirs, energies, lowest))}")


if __name__ == "__main__":
    main()
