"""Shared by sensor_report.py's parts: updates of a polled reading, the load's on-time, block bootstraps, tables."""

import dataclasses

import numpy as np
import pandas as pd

DRAWS = 400


def table(head, rows):
    cells = [list(map(str, row)) for row in [head, ["---"] * len(head), *rows]]
    return "\n".join("| " + " | ".join(row) + " |" for row in cells) + "\n"


def spread(values, form="{:.1f}"):
    low, high = np.percentile(values, [2.5, 97.5])
    return f"{form.format(low)} to {form.format(high)}"


def block_draws(count, block, rng, draws=DRAWS):
    """Index arrays: blocks of neighbours drawn with replacement (circular), as neighbours are not independent."""
    block = max(1, min(block, count // 3))
    starts = rng.integers(0, count, (draws, -(-count // block)))
    return ((starts[:, :, None] + np.arange(block)) % count).reshape(draws, -1)[:, :count]


def block_weights(groups, block, rng, draws=DRAWS):
    """How often each row is drawn, by blocks within each group: a bootstrap that needs no second evaluation."""
    weights = np.zeros((draws, len(groups)))
    for group in np.unique(groups):
        rows = np.flatnonzero(groups == group)
        for draw, picked in enumerate(block_draws(len(rows), block, rng, draws)):
            np.add.at(weights[draw], rows[picked], 1)
    return weights


@dataclasses.dataclass
class Updates:
    """Moments at which a reading changed: between the read that showed the old value and the one with the new."""

    low: np.ndarray
    high: np.ndarray
    value: np.ndarray
    number: np.ndarray  # counts updates that repeated the value as well

    @property
    def middle(self):
        return (self.low + self.high) / 2


def updates(sensor, column, together=None):
    """`together`: a reading refreshed at the same moment; its change shows an update that repeated this one's value."""
    changed = np.diff(sensor[column].to_numpy()) != 0
    if together:
        changed |= np.diff(sensor[together].to_numpy()) != 0
    at = np.flatnonzero(changed) + 1
    # The powers are read in the first microseconds of a call, the counter in its slow part: anywhere before its end.
    seen = sensor["after_s" if column == "energy_j" else "before_s"].to_numpy()
    low, high = sensor["before_s"].to_numpy()[at - 1], seen[at]
    gaps = np.diff((low + high) / 2)
    number = np.concatenate([[0], np.cumsum(np.maximum(1, np.round(gaps / np.median(gaps))))])
    return Updates(low, high, sensor[column].to_numpy()[at], number)


class Counter:
    """The energy counter on its fitted grid of updates, with its moments good to a fraction of a millisecond."""

    def __init__(self, sensor):
        found = updates(sensor, "energy_j")
        self.period, self.origin = np.polyfit(found.number, found.middle, 1)
        self.at = self.origin + self.period * found.number
        self.energy = found.value

    def between(self, begin, end):
        """Mean power (W) between two moments, even within an update; nothing is known outside the updates."""
        begin, end = np.clip(begin, self.at[0], self.at[-1]), np.clip(end, self.at[0], self.at[-1])
        return (np.interp(end, self.at, self.energy) - np.interp(begin, self.at, self.energy)) / (end - begin)


class OnTime:
    """The share of any window in which the load was on; `tail_s` lets power follow the load as a first-order lag."""

    STEP_S = 0.0005

    def __init__(self, load, tail_s=0.0):
        edges = np.ravel(np.column_stack([load.begin_s, load.end_s]))
        on = np.concatenate([[0], np.cumsum(np.diff(edges) * (np.arange(len(edges) - 1) % 2 == 0))])
        self.times, self.total = edges, on
        if tail_s:
            from scipy.signal import lfilter

            grid = np.arange(edges[0] - 1, edges[-1] + 1, self.STEP_S)
            keep = np.exp(-self.STEP_S / tail_s)
            now = np.diff(np.interp(grid, edges, on), prepend=0)
            self.times, self.total = grid, np.cumsum(lfilter([1 - keep], [1, -keep], now))

    def share(self, begin, end):
        return (np.interp(end, self.times, self.total) - np.interp(begin, self.times, self.total)) / (end - begin)


def read(folder, name):
    path = folder / name
    return pd.read_csv(path) if path.exists() else None
