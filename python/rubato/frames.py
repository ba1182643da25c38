"""Run records as pandas frames. pandas is imported here only."""

import io
import json
import subprocess
from typing import Any, Dict

from . import _binary

SERIES = (
    "samples", "meters", "marks", "kernels", "iterations", "blocks", "decisions", "statements", "rates", "shifts",
    "features", "expectations", "windows",
)

_WHOLE = (
    "gpu",
    "iteration",
    "iterations",
    "pid",
    "tid",
    "rank",
    "stream",
    "limiter_bits",
    "launches",
    "performance_state",
    "measured",
    "on_curve",
    "cut_short",
    "apportioned",
)
_UNSIGNED = ("id", "flags", "graph", "detail_", "grid_", "block_", "lost_before")  # hashes use all 64 bits
_TEXT = (
    "name", "mark", "meter", "channel", "kernel", "layer", "role", "action", "why", "source", "relation", "kind",
    "what", "unit", "provider", "counter", "check",
)
_REAL = (
    "per_second", "confidence", "value", "from", "to", "time_ratio", "time_ratio_low", "time_ratio_high", "energy_ratio",
    "energy_ratio_low", "energy_ratio_high", "holds_probability",
)
_UNITS = ("_s", "_w", "_j", "_mhz", "_c", "_fraction")


def runs() -> Any:
    """The recorded runs, newest last, one row each, by run id."""
    import pandas

    rows = json.loads(_rubato("runs", "--json"))["runs"]
    columns = ["run_id", "mode", "command", "started_at", "duration_s", "complete", "running", "file"]
    frame = pandas.DataFrame(rows, columns=columns).set_index("run_id")
    frame["command"] = frame["command"].map(" ".join)
    frame["started_at"] = pandas.to_datetime(frame["started_at"], utc=True)
    return frame.astype({"duration_s": "float64", "mode": "string", "command": "string", "file": "string"})


def load(run: str = "last") -> "Run":
    """The record of a run: an id, the beginning of one, `last`, or a record file."""
    return Run(run)


class Run:
    """One record. Each series is a frame, read when first asked for: samples, meters, marks, kernels,
    iterations, blocks, decisions, statements, rates, shifts, features, expectations, windows (and epochs: what each used). The index is in seconds of the run's
    clock since its begin; units stand in the column names; what was not read is missing, never zero. `frame.attrs["facts"]` says what was measured
    how.
    """

    def __init__(self, run: str):
        self.report = json.loads(_rubato("show", run, "--json"))  # rubato.run/1
        self.id = self.report["run_id"]
        self._run = run if run != "last" else self.id
        self._frames = {}  # type: Dict[str, Any]

    def __getattr__(self, name: str) -> Any:
        if name not in SERIES:
            raise AttributeError(f"a run has {', '.join(SERIES)} and report, not {name!r}")
        if name not in self._frames:
            self._frames[name] = _frame(_rubato("export", self._run, "--format", "csv", "--what", name))
        return self._frames[name]

    @property
    def power(self) -> Any:
        """Watts of each GPU over time: one column per GPU, by its index, rows where any was read."""
        read = self.samples.dropna(subset=["power_w"])
        return read.pivot_table(index="time_s", columns="gpu", values="power_w")

    def __repr__(self) -> str:
        return f"<rubato run {self.id}>"


def _frame(text: str) -> Any:
    import pandas

    facts = []
    while text.startswith("#"):
        line, _, text = text.partition("\n")
        facts.append(line.lstrip("# "))
    columns = text.partition("\n")[0].split(",")
    frame = pandas.read_csv(io.StringIO(text), dtype={column: _dtype(column) for column in columns})
    frame.attrs["facts"] = facts
    times = [column for column in ("time_s", "begin_s") if column in frame]
    return frame.set_index(times[0]) if times else frame


def _dtype(column: str) -> str:
    if column in _TEXT:
        return "string"
    if column in _WHOLE:
        return "Int64"
    if column.startswith(_UNSIGNED):
        return "UInt64"
    return "float64" if column in _REAL or column.endswith(_UNITS) else "object"


def _rubato(*arguments: str) -> str:
    done = subprocess.run(
        [_binary.binary(), *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False
    )
    if done.returncode != 0:
        raise RuntimeError(done.stderr.decode(errors="replace").strip() or f"rubato {arguments[0]} failed")
    return done.stdout.decode()
