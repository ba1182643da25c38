"""O1 and A1 of docs/gpu-checks.md: what calls cost, steps with and without rubato, and the steps' own noise."""

import itertools

import numpy as np
import pandas as pd
from analysis_common import table
from scipy import stats

EDGE_S = 1.0  # after each edge of a block: rubato's start, or its end


def calls(found):
    rows = []
    for name, part in found.groupby("call", sort=False):
        part = part.set_index("load")
        cells = [
            f"{float(part.loc[load, column]):.1f}"
            if load in part.index and pd.to_numeric(part.loc[load, "calls"])
            else "refused"
            for load in ("idle", "training")
            for column in ("median_us", "p99_us")
        ]
        rows.append([name.replace("nvmlDevice", ""), *cells])
    return (
        "## O1: calls\n\n"
        + f"{found.calls.max()} calls each.\n\n"
        + table(["call", "idle µs", "99 %", "training µs", "99 %"], rows)
    )


def quads(means, kinds):
    """Off, on, on, off: a drift that is a straight line over the four drops out."""
    ratios = []
    for first in range(0, len(means) - 3, 4):
        part, names = means[first : first + 4], kinds[first : first + 4]
        on, off = [m for m, k in zip(part, names) if k == "on"], [m for m, k in zip(part, names) if k == "off"]
        if len(on) == len(off) == 2:
            ratios.append(np.mean(on) / np.mean(off) - 1)
    return np.array(ratios)


def blocks(found, steps):
    begin = steps.end_s - steps.step_ms / 1e3
    means, counts = [], []
    for block in found.itertuples():
        inside = steps.step_ms[(begin >= block.begin_s + EDGE_S) & (steps.end_s <= block.end_s)]
        means.append(inside.mean())
        counts.append(len(inside))
    means, kinds = np.array(means), list(found.kind)
    on = np.array([kind == "on" for kind in kinds])
    ratios = 100 * quads(means, kinds)
    half = stats.t.ppf(0.975, len(ratios) - 1) * ratios.std(ddof=1) / np.sqrt(len(ratios))
    # Each block as one observation, a straight line in time taken out.
    design = np.column_stack([np.ones(len(means)), on, np.arange(len(means)) - len(means) / 2])
    logs = 100 * np.log(means)
    fit, *_ = np.linalg.lstsq(design, logs, rcond=None)
    left = len(means) - 3
    sigma = np.sqrt(((logs - design @ fit) ** 2).sum() / left)
    wide = stats.t.ppf(0.975, left) * sigma * np.sqrt(np.linalg.inv(design.T @ design)[1, 1])
    text = "## O1: steps with rubato beside them\n\n"
    length, alone = (found.end_s - found.begin_s).median(), means[~on]
    text += (
        f"{len(means)} blocks of {length:.1f} s, {np.median(counts):.0f} steps each after the first {EDGE_S:.0f} s; "
    )
    text += f"step {alone.mean():.3f} ms off, {means[on].mean():.3f} ms on; "
    text += f"the means of off blocks scatter by {100 * alone.std(ddof=1) / alone.mean():.3f} %.\n\n"
    text += table(
        ["way", "units", "on against off % (95 %)"],
        [
            [
                "off, on, on, off",
                f"{len(ratios)} fours",
                f"{ratios.mean():+.3f} ({ratios.mean() - half:+.3f} to {ratios.mean() + half:+.3f})",
            ],
            [
                "blocks, straight line taken out",
                f"{len(means)} blocks",
                f"{fit[1]:+.3f} ({fit[1] - wide:+.3f} to {fit[1] + wide:+.3f})",
            ],
        ],
    )
    text += "\nBlock means ms: " + ", ".join(f"{m:.2f}{'*' if o else ''}" for m, o in zip(means, on)) + " (* on).\n"
    # Placebo: halves of the off blocks called on, every way there is.
    off = logs[~on]
    false = []
    for picked in itertools.combinations(range(len(off)), len(off) // 2):
        chosen = np.isin(np.arange(len(off)), picked)
        false.append(off[chosen].mean() - off[~chosen].mean())
    pairs = [off[i] - off[j] for i, j in itertools.permutations(range(len(off)), 2)]
    text += "\n## A1: nothing changed, called a change\n\n"
    text += table(
        ["off blocks", "labellings", "rms false difference %", "largest %"],
        [
            [
                f"{len(off) // 2} against {len(off) - len(off) // 2}",
                len(false),
                f"{np.sqrt(np.mean(np.square(false))):.3f}",
                f"{np.abs(false).max():.3f}",
            ],
            ["1 against 1", len(pairs), f"{np.sqrt(np.mean(np.square(pairs))):.3f}", f"{np.abs(pairs).max():.3f}"],
        ],
    )
    return text


def noise(files):
    rows = []
    for name, steps in files.items():
        steps = steps.iloc[3:]  # the first ones fill the queue
        took = steps.step_ms.to_numpy()
        cells = []
        for length in (1, 2, 5, 10):
            block = ((steps.end_s - steps.end_s.iloc[0]) // length).astype(int).to_numpy()
            means = np.array([took[block == b].mean() for b in range(block.max())])  # the last one is cut short
            if len(means) < 3:
                cells.append(f"- ({len(means)})")
                continue
            low, high = np.sqrt((len(means) - 1) / stats.chi2.ppf([0.975, 0.025], len(means) - 1))
            sd = 100 * means.std(ddof=1) / took.mean()
            cells.append(f"{sd:.3f} ({sd * low:.3f} to {sd * high:.3f}; {len(means)})")
        lag = np.corrcoef(took[:-1], took[1:])[0, 1]
        slope, _, _, _, error = stats.linregress((steps.end_s - steps.end_s.iloc[0]) / 60, 100 * took / took.mean())
        rows.append(
            [
                name,
                len(took),
                f"{took.mean():.2f}",
                f"{100 * took.std(ddof=1) / took.mean():.3f}",
                f"{lag:+.2f} ± {1.96 / np.sqrt(len(took)):.2f}",
                *cells,
                f"{slope:+.2f} ± {1.96 * error:.2f}",
            ]
        )
    return (
        "## A1: noise of step times\n\nStandard deviation of block means, % of the mean step (95 %; blocks). "
        "A pause on the host is part of a step.\n\n"
        + table(
            [
                "steps of",
                "steps",
                "mean ms",
                "one step %",
                "correlation at lag 1",
                "1 s",
                "2 s",
                "5 s",
                "10 s",
                "drift % a minute",
            ],
            rows,
        )
    )
