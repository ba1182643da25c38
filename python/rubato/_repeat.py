"""`rubato.repeat(function)`: what one call of it takes, of time and energy, once the GPU is as warm as the work makes it."""

import math
import time
from typing import Any, Callable, Dict, List, Optional

from .windows import Window, gpus

_BLOCK_S = 2.0  # twenty updates of the usual sensor: what an edge may be off is small beside it
_FEWEST_BLOCKS = 5
_STEADY_S, _STEADY_C = 10.0, 1.0  # warm: no more than this in that time
# Two-sided 90 % quantiles of Student's t for 1 to 30 degrees of freedom (Student 1908); the normal one beyond.
_T90 = (
    6.314, 2.920, 2.353, 2.132, 2.015, 1.943, 1.895, 1.860, 1.833, 1.812, 1.796, 1.782, 1.771, 1.761, 1.753,
    1.746, 1.740, 1.734, 1.729, 1.725, 1.721, 1.717, 1.714, 1.711, 1.708, 1.706, 1.703, 1.701, 1.699, 1.697,
)  # fmt: skip


class Repeated:
    """Per call: `joules` and `seconds`, with half widths of their 90 % intervals from the scatter of the blocks,
    `joules_half_width` and `seconds_half_width`; `band_calibration_joules`, the half width of the board's own gain (95 %);
    `watts`. Of the whole: `calls` and `blocks` measured, `warm_up_s` before them, `temperature_c` at the end, and whether it was
    `steady`. What is not known is None; `why` says what is wrong with it, None where nothing is.
    """

    joules = joules_half_width = band_calibration_joules = watts = None  # type: Optional[float]
    seconds = seconds_half_width = temperature_c = None  # type: Optional[float]
    calls = blocks = 0
    warm_up_s = 0.0
    steady = False
    why = None  # type: Optional[str]

    def __repr__(self) -> str:
        if self.joules is None:
            return f"<rubato.Repeated: {self.why}>"
        doubt = f" ± {self.joules_half_width:.4g}" if self.joules_half_width is not None else ""
        return f"<rubato.Repeated: {self.joules:.4g}{doubt} J, {self.seconds:.4g} s a call, {self.calls} calls>"


def repeat(
    function: Callable[[], Any], target: float = 0.01, seconds: float = 120.0, gpu: Any = None, name: str = "repeat"
) -> Repeated:
    """Calls `function` until its energy is known to `target` (a fraction, half width of the 90 % interval), or for `seconds`.

    First until the warmest GPU changes by no more than 1 °C in 10 s, for half of `seconds` at most. `gpu` as for a window: all that are
    measured count. The devices of PyTorch, JAX and TensorFlow are waited for at the ends of each block of about 2 s. What
    `function` raises is raised.
    """

    def block(calls: int) -> Window:
        window = Window(name, gpu=gpu, sync=True, helper=True).begin()
        try:
            for _ in range(calls):
                function()
        finally:
            window.end()
        return window

    def temperature() -> Optional[float]:
        known = [read["temperature_c"] for read in gpus(gpu) if isinstance(read.get("temperature_c"), (int, float))]
        return max(known) if known else None

    return measure(block, temperature, time.monotonic, target, seconds)


def measure(
    block: Callable[[int], Any],
    temperature: Callable[[], Optional[float]],
    now: Callable[[], float],
    target: float,
    seconds: float,
) -> Repeated:
    """`block(calls)` does that many and gives their window. `now` in seconds."""
    begin = now()
    told = Repeated()
    calls = _calls_of_a_block(block, now)
    told.steady = _warm_up(lambda: block(calls), temperature, now, begin + seconds / 2)
    told.warm_up_s = now() - begin
    windows = []  # type: List[Any]
    while True:
        windows.append(block(calls))
        energy = _interval([window.joules for window in windows])
        known = energy["half_width"] is not None and energy["half_width"] <= target * energy["mean"]
        if len(windows) >= _FEWEST_BLOCKS and (known or energy["mean"] is None):
            break
        if now() - begin >= seconds:
            break
    told.calls, told.blocks, told.temperature_c = calls * len(windows), len(windows), temperature()
    _fill(told, windows, calls)
    if told.why is None and not told.steady:
        told.why = "the GPU did not reach a steady temperature, or does not tell it"
    if told.why is None and not known:
        told.why = f"its energy is not known to {target:g} within {seconds:g} s"
    return told


def _fill(told: Repeated, windows: List[Any], calls: int) -> None:
    length, energy = (_interval([getattr(w, what) for w in windows]) for what in ("seconds", "joules"))
    gain = _interval([w.band_calibration_joules for w in windows])
    told.seconds, told.seconds_half_width = _per_call(length["mean"], calls), _per_call(length["half_width"], calls)
    told.joules, told.joules_half_width = _per_call(energy["mean"], calls), _per_call(energy["half_width"], calls)
    told.band_calibration_joules = _per_call(gain["mean"], calls)
    if told.joules is None:
        told.why = next((window.why for window in windows if window.why), None)
    elif told.seconds:
        told.watts = told.joules / told.seconds


def _per_call(value: Optional[float], calls: int) -> Optional[float]:
    return None if value is None else value / calls


def _calls_of_a_block(block: Callable[[int], Any], now: Callable[[], float]) -> int:
    calls = 1
    while True:
        begin = now()
        block(calls)
        took = now() - begin
        if took >= _BLOCK_S / 2:
            return max(1, round(calls * _BLOCK_S / took))
        calls *= 2


def _warm_up(
    work: Callable[[], Any], temperature: Callable[[], Optional[float]], now: Callable[[], float], until: float
) -> bool:
    """Whether the temperature became steady."""
    seen = [(now(), temperature())]
    while now() < until:
        work()
        seen.append((now(), temperature()))
        lately = [t for at, t in seen if at >= seen[-1][0] - _STEADY_S]
        if any(t is None for t in lately):
            return False  # nothing to wait for
        long_enough = seen[-1][0] - seen[0][0] >= _STEADY_S
        if long_enough and max(lately) - min(lately) <= _STEADY_C:  # type: ignore[type-var,operator]
            return True
    return False


def _interval(values: List[Optional[float]]) -> Dict[str, Any]:
    """Mean and half width of its 90 % interval; both None where a value is."""
    if not values or any(value is None for value in values):
        return {"mean": None, "half_width": None}
    known = [float(value) for value in values]  # type: ignore[arg-type]
    mean = sum(known) / len(known)
    if len(known) < 2:
        return {"mean": mean, "half_width": None}
    variance = sum((value - mean) ** 2 for value in known) / (len(known) - 1)
    quantile = _T90[len(known) - 2] if len(known) - 2 < len(_T90) else 1.645
    return {"mean": mean, "half_width": quantile * math.sqrt(variance / len(known))}
