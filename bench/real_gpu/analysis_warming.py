"""S4 of docs/gpu-checks.md: power against temperature at one clock."""

import numpy as np
from analysis_common import Counter, block_draws, spread, table
from scipy.optimize import curve_fit


def warming(load, sensor, rng):
    counter = Counter(sensor)
    begin, end = load.begin_s.min(), load.end_s.max()
    moments = np.arange(begin + 2, end - 1, 1.0)  # the cold start and the average's window left out
    power = np.array([counter.between(t, t + 1) for t in moments])
    heat = np.array([sensor.temperature_c[(sensor.before_s >= t) & (sensor.before_s < t + 1)].mean() for t in moments])
    at = moments - begin
    text = "## S4: power against temperature\n\n"
    clocks, bits = ([int(x) for x in np.unique(sensor[name])] for name in ("sm_clock_mhz", "limiter_bits"))
    took = 1e3 * (load.end_s - load.begin_s)
    text += f"{len(moments)} s of copies from 2 s on; SM clocks {clocks} MHz, limiter bits {bits}; "
    text += f"time of 50 copies {took.median():.2f} ms (95 % within {spread(took, '{:.2f}')}).\n\n"
    rows = []
    for name, since in (("from 2 s", 2), ("from 5 s", 5), ("from 10 s", 10)):
        use = at >= since
        slope = [
            np.polyfit(heat[use][pick], power[use][pick], 1)[0] if np.ptp(heat[use][pick]) > 0.05 else np.nan
            for pick in [np.arange(use.sum()), *block_draws(use.sum(), 6, rng)]
        ]
        rows.append(
            [
                name,
                use.sum(),
                f"{heat[use].min():.1f} to {heat[use].max():.1f}",
                f"{power[use].min():.1f} to {power[use].max():.1f}",
                f"{slope[0]:+.2f} ({spread(np.array(slope[1:])[np.isfinite(slope[1:])], '{:+.2f}')})",
            ]
        )
    text += table(["data", "s", "temperature C", "counter W", "W per C (95 %)"], rows)

    def rise(t, last, first, tau):
        return last - (last - first) * np.exp(-t / tau)

    seen = sensor[(sensor.before_s > begin) & (sensor.before_s < end)]
    t, c = (seen.before_s - begin).to_numpy(), seen.temperature_c.to_numpy().astype(float)
    rows = []
    for since in (0, 1, 3):
        use = t >= since
        fit, _ = curve_fit(rise, t[use] - since, c[use], p0=[48, c[use][0], 5], maxfev=20000)
        rest = c[use] - rise(t[use] - since, *fit)
        drawn = [
            curve_fit(rise, t[use] - since, rise(t[use] - since, *fit) + rest[pick], p0=fit, maxfev=20000)[0]
            for pick in block_draws(use.sum(), 300, rng, 100)
        ]
        rows.append(
            [
                f"{since} s",
                f"{fit[1]:.1f}",
                f"{fit[0]:.1f}",
                f"{fit[2]:.1f} ({spread(np.array(drawn)[:, 2])})",
                f"{rest.std():.2f}",
            ]
        )
    text += "\n" + table(
        ["fit of the temperature from", "begins at C", "settles at C", "time constant s (95 %)", "rms C"], rows
    )
    marks = [c[np.searchsorted(t, x)] for x in (0, 0.2, 0.5, 1, 2, 5, 10, 20, 40)]
    text += (
        "\nReadings at 0, 0.2, 0.5, 1, 2, 5, 10, 20, 40 s: "
        + ", ".join(f"{x:.0f}" for x in marks)
        + " C (whole degrees).\n"
    )
    span = np.ptp(heat[at >= 5])
    if span < 5:
        text += f"\nFrom 5 s on the temperature spans {span:.1f} C in readings of 1 C: "
        text += "too little to tell watts per degree. The slopes above are a drift of the power in time, not leakage.\n"
    return text
