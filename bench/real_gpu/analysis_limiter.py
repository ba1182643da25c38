"""C3 of docs/gpu-checks.md: the power limiter under a changing load."""

import numpy as np
from analysis_common import Counter, table

STEP_MHZ = 15
LIMIT_W = 700
IDLE_W = 122  # between loads, at the highest clock; S1 measures it
POWER_CAP = 4  # nvmlClocksEventReasonSwPowerCap


def phases(load, half):
    """Runs of one input on end: (input, begin, end)."""
    rows = load[load.kind.str.endswith(f"-{half}") & ~load.kind.str.startswith("duty")]
    run = (rows.kind != rows.kind.shift()).cumsum()
    return [
        (part.kind.iloc[0].split("-")[0], part.begin_s.iloc[0], part.end_s.iloc[-1]) for _, part in rows.groupby(run)
    ]


def switches(load, sensor):
    """Lag to the first reading within one step of the later level, and after how long 90 % of the way was done."""
    rows = []
    for half in ("0.2", "1.0", "5.0"):
        found = phases(load, half)
        lags = {}
        for before, now in zip(found, found[1:]):
            seen = sensor[(sensor.before_s >= now[1] - 0.01) & (sensor.before_s < now[2])]
            when, clock = seen.before_s.to_numpy() - now[1], seen.sm_clock_mhz.to_numpy()
            late = clock[when > 0.6 * (now[2] - now[1])]
            level, swing = np.median(late), np.ptp(np.percentile(late, [2.5, 97.5]))
            near = np.flatnonzero(np.abs(clock - level) <= STEP_MHZ)
            most = np.flatnonzero(np.abs(clock - clock[0]) >= 0.9 * abs(level - clock[0]))
            lags.setdefault(f"{before[0]} to {now[0]}", []).append(
                [
                    clock[0],
                    level,
                    swing,
                    max(0, when[near[0]]) if len(near) else np.nan,
                    max(0, when[most[0]]) if len(most) else np.nan,
                ]
            )
        for name, values in lags.items():
            values = np.array(values)
            lag, most = values[:, 3], values[:, 4]
            rows.append(
                [
                    half,
                    name,
                    len(values),
                    f"{np.median(values[:, 0]):.0f}",
                    f"{np.median(values[:, 1]):.0f}",
                    f"{np.median(values[:, 2]):.0f}",
                    f"{np.nanmedian(lag):.2f} ({np.nanmin(lag):.2f} to {np.nanmax(lag):.2f})",
                    f"{np.nanmedian(most):.2f} ({np.nanmin(most):.2f} to {np.nanmax(most):.2f})",
                ]
            )
    return table(
        [
            "half s",
            "switch",
            "seen",
            "clock before MHz",
            "later level MHz",
            "its swing MHz (95 %)",
            "first within 15 MHz s (range)",
            "90 % of the way s (range)",
        ],
        rows,
    )


def dips(load, sensor):
    """The clock's lowest after a switch to random numbers, and where the 1 s average of the power was by then."""
    rows = []
    for half in ("1.0", "5.0"):
        for what, begin, end in phases(load, half):
            if what != "random":
                continue
            seen = sensor[(sensor.before_s >= begin + 0.3) & (sensor.before_s < min(end, begin + 2))]
            low = seen.sm_clock_mhz.idxmin()
            early = sensor[(sensor.before_s >= begin) & (sensor.before_s < begin + 1.1)]
            over = early.before_s[early.power_average_w > 0.97 * LIMIT_W]
            rows.append(
                [
                    half,
                    f"{seen.sm_clock_mhz[low]}",
                    f"{seen.before_s[low] - begin:.2f}",
                    f"{early.power_instant_w.max():.0f}",
                    f"{seen.power_average_w[low]:.0f}",
                    f"{over.iloc[0] - begin:.2f}" if len(over) else "never",
                ]
            )
    return table(
        [
            "half s",
            "lowest clock MHz",
            "after s",
            "highest 186 W",
            "185 at the lowest W",
            "185 above 97 % of the limit after s",
        ],
        rows,
    )


def windows(load, sensor, counter):
    """Windows of 1 s inside a phase: the average looks back 1 s, so a phase's first 1.5 s are left out."""
    parts = [(f"{what}", begin + 1.5, end) for what, begin, end in phases(load, "5.0")]
    rows = {}
    for what, begin, end in parts:
        for start in np.arange(begin, end - 1.0, 1.0):
            seen = sensor[(sensor.before_s >= start) & (sensor.before_s < start + 1)]
            last = sensor[(sensor.before_s >= start + 0.95) & (sensor.before_s < start + 1.05)]
            cap = np.interp([start, start + 1], sensor.before_s, sensor.power_cap_ns) / 1e9
            rows.setdefault(what, []).append(
                [
                    seen.power_instant_w.mean(),
                    seen.power_instant_w.max(),
                    last.power_average_w.mean(),
                    counter.between(start, start + 1),
                    seen.sm_clock_mhz.min(),
                    seen.sm_clock_mhz.median(),
                    seen.sm_clock_mhz.max(),
                    100 * ((seen.limiter_bits.astype(int) & POWER_CAP) > 0).mean(),
                    cap[1] - cap[0],
                    seen.temperature_c.mean(),
                ]
            )
    text = []
    for what, values in rows.items():
        low, high = np.min(values, axis=0), np.max(values, axis=0)
        each = [f"{a:.0f} to {b:.0f}" for a, b in zip(low, high)]
        text.append(
            [
                what,
                len(values),
                each[0],
                f"{high[1]:.0f}",
                each[2],
                each[3],
                f"{low[4]:.0f} / {np.median(values, axis=0)[5]:.0f} / {high[6]:.0f}",
                each[7],
                f"{low[8]:.3f} to {high[8]:.3f}",
                each[9],
            ]
        )
    return table(
        [
            "input",
            "windows",
            "186, mean W",
            "186, highest W",
            "185 W",
            "counter W",
            "clock MHz lowest / median / highest",
            "power cap % of reads",
            "its time s per s",
            "C",
        ],
        text,
    )


def duty(load, sensor, counter):
    rows = []
    for tenths in range(1, 11):
        part = load[load.kind == f"duty-{tenths}"]
        begin, end = part.begin_s.iloc[0] + 0.3, min(part.end_s.iloc[-1], counter.at[-1])
        seen = sensor[(sensor.before_s >= begin) & (sensor.before_s < end)]
        inside = part[part.begin_s >= begin]
        share = min(1, (inside.end_s - inside.begin_s).sum() / (inside.end_s.iloc[-1] - inside.begin_s.iloc[0]))
        average = sensor.power_average_w[(sensor.before_s >= begin + 0.9) & (sensor.before_s < end)].mean()
        grid = np.diff(counter.energy) / np.diff(counter.at)
        grid = grid[(counter.at[:-1] >= begin) & (counter.at[1:] <= end)]
        cap = np.interp([begin, end], sensor.before_s, sensor.power_cap_ns) / 1e9
        rows.append(
            [
                10 * tenths,
                f"{100 * share:.0f}",
                f"{counter.between(begin, end):.0f} ± {1.96 * grid.std(ddof=1) / np.sqrt(len(grid)):.0f}",
                f"{average:.0f}",
                f"{seen.power_instant_w.mean():.0f}",
                f"{IDLE_W + (counter.between(begin, end) - IDLE_W) / share:.0f}",
                f"{seen.sm_clock_mhz.min()} / {seen.sm_clock_mhz.median():.0f}",
                f"{1e3 * ((inside.end_s - inside.begin_s) / inside.times).median():.3f}",
                f"{100 * ((seen.limiter_bits.astype(int) & POWER_CAP) > 0).mean():.0f}",
                f"{(cap[1] - cap[0]) / (end - begin):.2f}",
            ]
        )
    return table(
        [
            "asked %",
            "on %",
            "counter W",
            "185 W",
            "186, mean W",
            "W while on, by the counter",
            "clock MHz lowest / median",
            "ms a product",
            "power cap % of reads",
            "its time s per s",
        ],
        rows,
    )


def time_against_clock(load, sensor):
    """Stretches whose clock reading was the same from 0.12 s before to 0.12 s after: a reading is up to 0.1 s old."""
    when, clock = sensor.before_s.to_numpy(), sensor.sm_clock_mhz.to_numpy()
    rows = []
    for what in ("zeros", "random"):
        part = load[load.kind.str.startswith(what) & load.kind.str.match(r".*-(?:1\.0|5\.0)$")]
        first, last = np.searchsorted(when, part.begin_s - 0.12), np.searchsorted(when, part.end_s + 0.12)
        steady = np.array([j > i and np.ptp(clock[i:j]) == 0 for i, j in zip(first, last)])
        mhz, took = clock[first][steady], 1e3 * ((part.end_s - part.begin_s) / part.times).to_numpy()[steady]
        for lower in range(1200, 1980, 90):
            inside = (mhz >= lower) & (mhz < lower + 90)
            if inside.sum() >= 10:
                per = took[inside]
                rows.append(
                    [
                        what,
                        f"{lower} to {lower + 75}",
                        inside.sum(),
                        f"{mhz[inside].mean():.0f}",
                        f"{np.median(per):.3f}",
                        f"{np.subtract(*np.percentile(per, [75, 25])):.3f}",
                        f"{np.median(per * mhz[inside]) / 1e3:.3f}",
                    ]
                )
    return table(
        ["input", "clock MHz", "stretches", "mean MHz", "ms a product", "quartiles apart", "million cycles"], rows
    )


def limiter(load, sensor):
    counter = Counter(sensor)
    begin, end = load.begin_s.min(), load.end_s.max()
    busy = sensor[(sensor.before_s > begin) & (sensor.before_s < end)]
    quantum = np.gcd.reduce(np.diff(np.unique(sensor.sm_clock_mhz)))
    bits = sensor.limiter_bits.astype(int)
    during = bits[busy.index]
    text = "## C3: the limiter at the factory limit\n\n"
    text += "SM clocks seen: "
    text += f"{sensor.sm_clock_mhz.min()} to {sensor.sm_clock_mhz.max()} MHz, all in steps of {quantum} MHz. "
    text += (
        "Limiter bits under load: "
        + ", ".join(f"{bit} in {100 * n:.1f} %" for bit, n in during.value_counts(normalize=True).items())
        + " of reads.\n\n"
    )
    power = np.diff(counter.energy) / np.diff(counter.at)
    text += (
        f"Highest power: {busy.power_instant_w.max():.0f} W by 186, {power.max():.0f} W by the counter over 100 ms, "
    )
    second = [counter.between(t, t + 1) for t in np.arange(begin, end - 1, 0.1)]
    text += f"{max(second):.0f} W over 1 s, {busy.power_average_w.max():.0f} W by 185; limit {LIMIT_W} W. "
    grow = np.diff(np.interp(np.arange(begin + 1, end - 1), sensor.before_s, sensor.power_cap_ns)) / 1e9
    text += f"Time held down by the power cap grew by {grow.min():.3f} to {grow.max():.3f} s per s.\n"
    text += "\n### Switches (all readings refresh every 0.1 s: a lag is known to 0.1 s)\n\n" + switches(load, sensor)
    text += "\n### After a switch to random numbers, from 0.3 s on\n\n" + dips(load, sensor)
    text += "\n### Windows of 1 s, half period 5 s\n\n" + windows(load, sensor, counter)
    text += "\n### Time against clock\n\n" + time_against_clock(load, sensor)
    return text + "\n### Duty cycle: random input, 50 ms\n\n" + duty(load, sensor, counter)
