"""S1 of docs/gpu-checks.md: update periods of the power readings and the energy counter, and field 185's window."""

import analysis_waves
import numpy as np
from analysis_common import Counter, block_draws, block_weights, spread, table, updates

POWERS = ("power_instant_w", "power_average_w")
NAMES = {"power_instant_w": "186 instant", "power_average_w": "185 average", "energy_j": "83 counter"}
GAPS = """Neighbouring gaps of a timer that starts anew after each update do not depend on each other (0); those of a
grid with late updates do (-0.5).
"""


def periods(sensors, rng):
    rows = []
    for name, sensor in sensors.items():
        rate = len(sensor) / (sensor.before_s.iloc[-1] - sensor.before_s.iloc[0])
        for column, label in NAMES.items():
            found = updates(sensor, column, {POWERS[0]: POWERS[1], POWERS[1]: POWERS[0]}.get(column))
            slope, origin = np.polyfit(found.number, found.middle, 1)
            rest = found.middle - origin - slope * found.number
            gaps = np.diff(found.middle)[np.diff(found.number) == 1]
            lag = np.corrcoef(gaps[:-1], gaps[1:])[0, 1]
            if column == "energy_j":  # a grid: the rests are what is drawn again
                line = np.polyfit(found.number, rest[block_draws(len(rest), 20, rng)].T, 1)[0] + slope
            else:  # each update starts from the one before: the gaps are
                steps = np.diff(found.middle), np.diff(found.number)
                picks = block_draws(len(steps[0]), 20, rng)
                line = steps[0][picks].sum(axis=1) / steps[1][picks].sum(axis=1)
                slope = steps[0].sum() / steps[1].sum()
            rows.append(
                [
                    name,
                    label,
                    len(gaps),
                    f"{1e3 * slope:.3f}",
                    spread(1e3 * line, "{:.3f}"),
                    " / ".join(f"{1e3 * q:.0f}" for q in np.percentile(gaps, [5, 50, 95])),
                    f"{lag:+.2f}",
                    f"{1e3 * rest.std():.1f}",
                    f"{1e3 * np.median(found.high - found.low):.1f}",
                    f"{rate:.0f}",
                ]
            )
    return table(
        [
            "recording",
            "field",
            "gaps",
            "period ms",
            "95 %",
            "gap ms 5/50/95 %",
            "neighbours' correlation",
            "rms off a line ms",
            "known to ms",
            "reads/s",
        ],
        rows,
    )


def calls(sensors):
    rows = []
    for name, sensor in sensors.items():
        took = 1e3 * (sensor.after_s - sensor.before_s)
        rows.append(
            [
                name,
                len(took),
                *(f"{q:.1f}" for q in np.percentile(took, [1, 50, 90, 95, 99])),
                f"{took.max():.1f}",
                f"{100 * (took > 10).mean():.1f} %",
            ]
        )
    return table(["recording", "reads", "1 % ms", "50 %", "90 %", "95 %", "99 %", "longest", "above 10 ms"], rows)


def average_window(sensors, rng):
    """Field 185 against the energy counter's own mean over a trailing window: no model of the load is needed."""
    rows = []
    for name, sensor in sensors.items():
        counter = Counter(sensor)
        found = updates(sensor, "power_average_w", "power_instant_w")
        good = (
            (found.high - found.low < 0.012)
            & (found.middle > counter.at[0] + 2.2)
            & (found.middle < counter.at[-1] - 0.2)
        )
        at, power = found.middle[good], found.value[good]
        widths, delays = np.arange(0.1, 2.01, 0.02), np.arange(-0.14, 0.121, 0.01)
        grid = np.array([(width, delay) for width in widths for delay in delays])
        rest = power - np.array([counter.between(at - delay - width, at - delay) for width, delay in grid])
        square = rest**2
        best = [(square @ w).argmin() for w in [np.ones(len(at)), *block_weights(np.zeros(len(at)), 20, rng, 200)]]
        width, delay = 1e3 * grid[best].T
        wide = {w: np.sqrt(square[np.isclose(grid[:, 0], w)].mean(axis=1).min()) for w in (0.1, 0.5, 1.0, 1.5)}
        rows.append(
            [
                name,
                len(at),
                f"{width[0]:.0f} ({spread(width[1:], '{:.0f}')})",
                f"{delay[0]:.0f} ({spread(delay[1:], '{:.0f}')})",
                f"{np.sqrt(square[best[0]].mean()):.1f}",
                " / ".join(f"{x:.1f}" for x in wide.values()),
                f"{rest[best[0]].mean():+.2f}",
            ]
        )
    return table(
        [
            "recording",
            "updates",
            "window ms (95 %)",
            "delay to the counter ms (95 %)",
            "rms W",
            "rms W at 0.1 / 0.5 / 1 / 1.5 s",
            "mean difference W",
        ],
        rows,
    )


def cross_check(sensors):
    """A second way to the same energy: the averaged power, each reading held to the next, moved by half its window."""
    rows = []
    for name, sensor in sensors.items():
        counter = Counter(sensor)
        begin, end = counter.at[0] + 0.2, counter.at[-1] - 0.7  # 0.5 s later the averages must still be there
        values = {}
        for column, early in (("power_average_w", 0.5), ("power_instant_w", 0.025)):
            when = sensor.before_s.to_numpy()
            held = np.concatenate([[0], np.cumsum(np.diff(when) * sensor[column].to_numpy()[:-1])])
            values[column] = (np.interp(end + early, when, held) - np.interp(begin + early, when, held)) / (end - begin)
        mean = counter.between(begin, end)
        rows.append(
            [
                name,
                f"{end - begin:.1f}",
                f"{mean:.2f}",
                *(f"{x:.2f} ({100 * (x / mean - 1):+.2f} %)" for x in values.values()),
            ]
        )
    return table(["recording", "s", "counter W", "185 W", "186 W"], rows)


def section(sensors, load, rng):
    parts = [
        ("Updates", periods(sensors, rng) + "\n" + GAPS),
        ("A read: both powers and the counter in one call; in limiter and warming four calls more", calls(sensors)),
        ("Field 185 against the counter", average_window(sensors, rng)),
        ("The same energy in other ways", cross_check(sensors)),
    ]
    if load is not None and "wave" in sensors:
        parts += analysis_waves.sections(sensors, load, rng)
    return "## S1: sensor and counter\n" + "".join(f"\n### {title}\n\n{text}" for title, text in parts)
