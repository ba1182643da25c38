"""S1, the square wave: what a reading of power sees of the time before it, and whether the energy counter sees all."""

import numpy as np
from analysis_common import Counter, OnTime, block_draws, block_weights, spread, table, updates
from scipy.optimize import nnls

WIDEST_S = 0.008  # updates known less well are left out of the windows' fits
AVERAGE_LATE_S = 0.020  # see the fit of field 185
COUNTER_LATE_S = 0.008  # from the end of what the counter holds to the update seen; see the fit of its window
BLOCK = 8  # updates; a slow beat within a period is longer than one update
# In s; a level each. 20 ms is below any window, and at 1 s the limiter moves the level.
MAIN = [0.050, 0.090, 0.095, 0.099, 0.100, 0.101, 0.105, 0.110, 0.200]


class Waves:
    """Readings of the instant power and the counter's mean between its updates, each with the wave they fell into."""

    def __init__(self, load, sensor):
        self.load, self.sensor, self.counter = load, sensor, Counter(sensor)
        self.on = OnTime(load)
        self.kinds = {
            float(kind.split("-")[1]): (rows.begin_s.min(), rows.end_s.max()) for kind, rows in load.groupby("kind")
        }
        found = updates(sensor, "power_instant_w", "power_average_w")
        sharp = found.high - found.low < WIDEST_S
        self.instant = found.middle[sharp], found.value[sharp]
        self.instant_all = found.middle, found.value
        self.counted = self.counter.at[1:], np.diff(self.counter.energy) / np.diff(self.counter.at)
        idle = np.ones(len(found.value), bool)
        for begin, end in zip(load.begin_s, load.end_s, strict=True):
            idle &= (found.middle < begin) | (found.middle > end + 0.15)
        self.off = np.median(found.value[idle])
        self.off_count = idle.sum()
        self.steady = None

    def within(self, moments, kinds, skip=0.2):
        """Each moment's period, 0 outside; the first 0.2 s of a period still see what was before."""
        period = np.zeros(len(moments))
        for kind in kinds:
            begin, end = self.kinds[kind]
            period[(moments > begin + skip) & (moments < end)] = kind
        return period

    def on_level(self, kind):
        """The on level that the counter's mean needs if it counted all of the time."""
        at = self.counter.at[self.within(self.counter.at, [kind]) > 0]
        mean = self.counter.between(at[0], at[-1])
        return self.off + (mean - self.off) / self.on.share(at[0] - COUNTER_LATE_S, at[-1] - COUNTER_LATE_S)

    def chosen(self, readings, kinds):
        period = self.within(readings[0], kinds)
        return readings[0][period > 0], readings[1][period > 0], period[period > 0]


def fit_levels(shares, power, period, weights, robust):
    """For every candidate (row of shares): one on level a period by (re)weighted least squares; sum of the loss."""
    member = (period[:, None] == np.unique(period)).astype(float)
    pull = np.broadcast_to(weights, shares.shape).copy()
    for _ in range(8 if robust else 1):
        level = (pull * shares * power) @ member / np.maximum((pull * shares**2) @ member, 1e-9)
        rest = np.abs(power - shares * (level @ member.T))
        pull = (
            weights / np.maximum(rest, 5) if robust else pull
        )  # W: nearer than the readings' own noise counts the same
    return (weights * (rest if robust else rest**2)).sum(axis=1), rest


def instant_window(waves, rng):
    at, power, period = waves.chosen(waves.instant, MAIN)
    power = power - waves.off
    widths, delays, tails = np.r_[5:65:5, 75, 90, 100, 120] / 1e3, np.arange(-20, 62, 2) / 1e3, [0, 0.005, 0.010, 0.015]
    grid = [(tail, width, delay) for tail in tails for width in widths for delay in delays]
    loads = {tail: OnTime(waves.load, tail) for tail in tails}
    shares = np.array([loads[tail].share(at - delay - width, at - delay) for tail, width, delay in grid])
    tail, width = np.array(grid)[:, 0], np.array(grid)[:, 1]
    text = f"{len(at)} readings in waves of 50 to 200 ms; "
    text += f"off level {waves.off:.1f} W (median of {waves.off_count} idle readings).\n\n"
    rows = []
    ones = np.ones((1, len(at)))
    for name, robust in (("least squares", False), ("absolute", True)):
        loss, rest = fit_levels(shares, power, period, ones, robust)
        for wanted in (0.010, 0.025, 0.040, 0.050, 0.075, 0.100):
            for follow in (0, None):
                if follow is None and not robust:
                    continue
                fits = np.flatnonzero((width == wanted) & ((tail == 0) if follow == 0 else (tail > 0)))
                best = fits[loss[fits].argmin()]
                rows.append(
                    [
                        name,
                        f"{1e3 * wanted:.0f}",
                        f"{1e3 * grid[best][2]:.0f}",
                        f"{1e3 * grid[best][0]:.0f}",
                        f"{np.sqrt((rest[best] ** 2).mean()):.0f}",
                        f"{np.median(rest[best]):.0f}",
                    ]
                )
    text += table(["loss", "window ms", "best delay ms", "tail ms", "rms W", "median off by W"], rows)
    drawn = block_weights(period, BLOCK, rng, 100)
    rows = []
    for name, robust, follow in (
        ("least squares, no tail", False, False),
        ("absolute, no tail", True, False),
        ("absolute, with tail", True, True),
    ):
        use = np.flatnonzero(tail >= 0 if follow else tail == 0)
        best = [use[fit_levels(shares[use], power, period, w[None], robust)[0].argmin()] for w in [ones[0], *drawn]]
        found = 1e3 * np.array(grid)[best]
        rows.append([name, *(f"{found[0, k]:.0f} ({spread(found[1:, k], '{:.0f}')})" for k in (1, 2, 0))])
    return text + "\n" + table(["fit", "window ms (95 %)", "delay ms (95 %)", "tail ms (95 %)"], rows)


def lag_weights(waves, rng):
    """How much of a reading comes from each 10 ms before it, no shape assumed: weights >= 0, one on level a period."""
    edges = np.arange(-0.020, 0.151, 0.010)
    text, rows = "", []
    for name, readings in (("instant", waves.instant), ("counter", waves.counted)):
        at, power, period = waves.chosen(readings, MAIN)
        level = {kind: (waves.on_level(kind) - waves.off) for kind in MAIN}
        scale = np.array([level[kind] for kind in period])
        design = (
            np.array([waves.on.share(at - late, at - early) for early, late in zip(edges, edges[1:])]).T
            * scale[:, None]
        )
        drawn = block_weights(period, BLOCK, rng, 200)
        fits = np.array(
            [
                nnls(design * np.sqrt(w)[:, None], (power - waves.off) * np.sqrt(w))[0]
                for w in [np.ones(len(at)), *drawn]
            ]
        )
        rows.append([name, *(f"{100 * x:.0f}" for x in fits[0]), f"{100 * fits[0].sum():.0f}"])
        rows.append(["± 95 %", *(f"{50 * np.ptp(np.percentile(x, [2.5, 97.5])):.0f}" for x in fits[1:].T), ""])
    head = ["%", *(f"{1e3 * early:.0f}" for early in edges[:-1]), "sum"]
    return text + table(head, rows)


def counter_window(waves, rng):
    at, power, period = waves.chosen(waves.counted, MAIN)
    power = power - waves.off
    widths, delays = np.arange(10, 165, 5) / 1e3, np.arange(-10, 80, 1) / 1e3
    grid = np.array([(width, delay) for width in widths for delay in delays])
    shares = np.array([waves.on.share(at - delay - width, at - delay) for width, delay in grid])
    ones = np.ones((1, len(at)))
    rows = []
    for name, robust in (("least squares", False), ("absolute", True)):
        loss, rest = fit_levels(shares, power, period, ones, robust)
        best = [loss.argmin()] + [
            fit_levels(shares, power, period, w[None], robust)[0].argmin()
            for w in block_weights(period, BLOCK, rng, 60)
        ]
        width, delay = 1e3 * grid[best].T
        rms = [
            np.sqrt((rest[fits[loss[fits].argmin()]] ** 2).mean())
            for fits in (np.flatnonzero(np.isclose(grid[:, 0], w)) for w in (0.025, 0.05, 0.075, 0.1, 0.125))
        ]
        rows.append(
            [
                name,
                f"{width[0]:.0f} ({spread(width[1:], '{:.0f}')})",
                f"{delay[0]:.0f} ({spread(delay[1:], '{:.0f}')})",
                " / ".join(f"{x:.0f}" for x in rms),
            ]
        )
    return table(["loss", "window ms (95 %)", "delay ms (95 %)", "rms W at 25 / 50 / 75 / 100 / 125 ms"], rows)


def coverage(waves, rng):
    """Does the counter see all of the time? For each period, its mean against the duty cycle and the readings'."""
    rows, levels = [], []
    for kind in sorted(waves.kinds):
        at, power, _ = waves.chosen(waves.counted, [kind])
        share = waves.on.share(at - COUNTER_LATE_S - waves.counter.period, at - COUNTER_LATE_S)
        last = waves.on.share(at - COUNTER_LATE_S - 0.025, at - COUNTER_LATE_S)
        reading = waves.chosen(waves.instant_all, [kind])[1]
        picks, picks_read = block_draws(len(at), BLOCK, rng), block_draws(len(reading), BLOCK, rng)
        means, level = power[picks].mean(axis=1), waves.off + (power.mean() - waves.off) / share.mean()
        drawn_level = waves.off + (means - waves.off) / share[picks].mean(axis=1)
        levels.append((kind, level, drawn_level.std(), reading.mean() - power.mean()))

        def slope(rows_used, at_level=level, full=share, end=last, seen=power):
            excess = (at_level - waves.off) * (end - full)[rows_used]
            rest = (seen - waves.off - (at_level - waves.off) * full)[rows_used]
            excess = excess - excess.mean()
            return (excess * (rest - rest.mean())).sum() / (excess**2).sum()

        slopes = [slope(rows_used) for rows_used in picks]
        said = [(level - waves.off) * share.std(), (level - waves.off) * last.std()]
        rows.append(
            [
                f"{1e3 * kind:.0f}",
                len(at),
                f"{100 * share.mean():.1f}",
                f"{power.mean():.1f} ({spread(means)})",
                f"{reading.mean():.0f} ({spread(reading[picks_read].mean(axis=1), '{:.0f}')})",
                f"{level:.0f} ± {1.96 * drawn_level.std():.0f}",
                f"{power.std():.0f}",
                " / ".join(f"{x:.0f}" for x in said),
                f"{reading.std():.0f}",
                f"{slope(np.arange(len(at))):+.2f} ({spread(slopes, '{:+.2f}')})",
            ]
        )
    text = table(
        [
            "period ms",
            "updates",
            "on %",
            "counter W (95 %)",
            "instant, mean W (95 %)",
            "on level W",
            "counter's scatter W",
            "expected: all / last 25 ms",
            "instant's scatter W",
            "slope on the last 25 ms (95 %)",
        ],
        rows,
    )
    near = np.array([x for x in levels if 0.09 <= x[0] <= 0.11])
    weight = 1 / near[:, 2] ** 2
    mean = (weight * near[:, 1]).sum() / weight.sum()
    off, scatter = near[:, 1] - mean, near[:, 1].std(ddof=1)
    text += f"\nOver 90 to 110 ms the counter needs one on level, {mean:.0f} W: "
    text += (
        f"a period's differs by {np.abs(off).max():.0f} W at most, rms {scatter:.0f} W ({100 * scatter / mean:.1f} %). "
    )
    text += "The mean of the instant readings is off the counter's by "
    text += f"{near[:, 3].min():+.0f} to {near[:, 3].max():+.0f} W there.\n"
    return text


def by_phase(waves, rng):
    """What a wave's phase does to a reading once the time it should see is accounted for: nothing, if it sees it."""
    found = updates(waves.sensor, "power_average_w", "power_instant_w")
    rows = []
    for kind in sorted(waves.kinds):
        begins = waves.load.begin_s[waves.load.kind == f"wave-{kind:.3f}"].to_numpy()
        at, power, _ = waves.chosen(waves.counted, [kind])
        early = at - COUNTER_LATE_S
        rest = (
            power - waves.off - (waves.on_level(kind) - waves.off) * waves.on.share(early - waves.counter.period, early)
        )
        turn = 2 * np.pi * (early - begins[np.searchsorted(begins, early) - 1]) / kind
        design = np.column_stack([np.ones(len(at)), np.cos(turn), np.sin(turn)])

        def swing(values, basis=design):
            return np.hypot(*np.linalg.lstsq(basis, values, rcond=None)[0][1:])

        chance = [swing(rng.permutation(rest)) for _ in range(200)]
        good = waves.within(found.middle, [kind], 1.2) > 0
        when, average = found.middle[good], found.value[good]
        less = average - waves.counter.between(when - 1 - AVERAGE_LATE_S, when - AVERAGE_LATE_S)
        rows.append(
            [
                f"{1e3 * kind:.0f}",
                f"{swing(rest):.0f} ({np.percentile(chance, 95):.0f})",
                f"{rest.std():.0f}",
                len(when),
                f"{less.mean():+.1f}",
                f"{less.std():.0f}",
                f"{np.abs(less).max():.0f}",
            ]
        )
    text = table(
        [
            "period ms",
            "counter: swing with the phase W (chance, 95 %)",
            "counter: rms off all-time W",
            "185: updates",
            "185 less counter W",
            "rms about it",
            "largest",
        ],
        rows,
    )
    return (
        text + f"\nUnder steady copies the counter's power between updates scatters by {waves.steady:.1f} W.\n"
        if waves.steady
        else text
    )


def sections(sensors, load, rng):
    waves = Waves(load, sensors["wave"])
    if "warming" in sensors:
        steady = Counter(sensors["warming"])
        waves.steady = (np.diff(steady.energy) / np.diff(steady.at))[100:-20].std()
    return [
        ("Field 186: window and delay", instant_window(waves, rng)),
        ("Field 83: window and delay of the mean power between two updates", counter_window(waves, rng)),
        ("Where a reading comes from: % from each 10 ms, by how many ms before the update", lag_weights(waves, rng)),
        ("Does the counter see all of the time?", coverage(waves, rng)),
        ("What is left: counter and field 185 against the wave's phase", by_phase(waves, rng)),
    ]
