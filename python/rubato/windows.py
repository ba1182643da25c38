"""Energy of a stretch of a program: `with rubato.window("epoch") as w: ...`, then `w.joules`.

The stretch is marked for `rubato run` and `rubato measure`. Inside them its joules come from what they
publish (_board_window.py); otherwise from a helper, `rubato windows`, that this process starts at its first
window and that ends with it (_stretch.py). Nothing here raises into the program: what could not be measured is
None, and `w.why` says why.
"""

from typing import Any, Dict, List, Optional, Tuple

from ._stretch import Stretch
from ._user import shared
from ._window_helper import helper_for


def _gpu_list(gpu: Any) -> Optional[str]:
    """The words after --gpu; None: nothing was given, as with the empty text."""
    if gpu is None or isinstance(gpu, str):
        return gpu or None
    try:
        return ",".join(str(one) for one in gpu)
    except TypeError:
        return str(gpu)


def _meter_list(meter: Any) -> Tuple[str, ...]:
    """What stands after each --meter."""
    if meter is None or isinstance(meter, str):
        return (meter,) if meter else ()
    return tuple(str(one) for one in meter)


def _total(values: List[Any]) -> Optional[float]:
    """None where one of them is not known, or there is none."""
    return float(sum(values)) if values and all(isinstance(v, (int, float)) for v in values) else None


class Window:
    """A named stretch. Use it in a `with`, or call begin() and end(); begin() makes a new stretch of a window that
    has ended.

    `gpu`: a number, as CUDA counts the GPUs that CUDA_VISIBLE_DEVICES shows this process, a UUID, `"sim:v100"`, or a list
    of them; without it, the job's GPUs under rubato, else those that `rubato` finds. `energy=False` marks only and
    starts no helper.
    `meter="rapl"`, or a list: what `--meter` takes, for the helper. Under `rubato run --meter rapl` that run's meters are
    in `meters` without it.
    `sync=True` waits, at both ends, for the devices of PyTorch, JAX and TensorFlow where the program uses them: the
    joules are those of the work inside, at the price of an empty pipeline. `helper=True`: never by what rubato
    publishes, whose edges are up to a quarter of a second off.
    """

    def __init__(
        self, name: str, gpu: Any = None, energy: bool = True, sync: bool = False, helper: bool = False, meter: Any = None
    ):
        self.name = " ".join(str(name).split()) or "window"
        self._gpu = _gpu_list(gpu)
        self._meters = _meter_list(meter)
        self._sync = sync
        self._own_helper = helper or self._gpu is not None or bool(self._meters)
        self._unmeasured = None  # type: Optional[Dict[str, Any]]
        if not energy:
            self._unmeasured = {"why_missing": "it was opened with energy=False"}
        elif self._gpu == "":
            self._unmeasured = {"why_missing": "its list of GPUs is empty"}
        self._stretch = Stretch(self._unmeasured)

    def begin(self) -> "Window":
        self._wait_for_devices()
        shared("_marks").begin_window(self.name)
        # Of its own: the answer to the one before may still come.
        self._stretch = Stretch(self._unmeasured)
        self._stretch.begin(self.name, self._gpu, self._meters, self._own_helper)
        return self

    def end(self) -> "Window":
        is_open = self._stretch.begun is not None and self._stretch.ended is None
        if is_open:
            self._wait_for_devices()
        self._stretch.end()
        if is_open:
            shared("_marks").end_window(self.name)
        return self

    def _wait_for_devices(self) -> None:
        if self._sync:
            from . import _sync

            _sync.devices()

    def __enter__(self) -> "Window":
        return self.begin()

    def __exit__(self, *_: Any) -> None:
        self.end()

    @property
    def joules(self) -> Optional[float]:
        """Energy of all GPUs together; None where that of any is not known. Waits for the helper's answer."""
        return self._sum("energy_j")

    @property
    def band_sampling_joules(self) -> Optional[float]:
        """Half width of the 95 % band from sampling. Of several GPUs the sum: no cancelling is assumed."""
        return self._sum("band_sampling_j")

    @property
    def band_calibration_joules(self) -> Optional[float]:
        """Half width of the band from the boards' unknown gain, summed like the other."""
        return self._sum("band_calibration_j")

    @property
    def seconds(self) -> Optional[float]:
        """Length: the helper's, which belongs to the joules; this process's own where there is no helper."""
        told = self._stretch.answered().get("seconds")
        if isinstance(told, (int, float)):
            return float(told)
        begun, ended = self._stretch.begun, self._stretch.ended
        return None if begun is None or ended is None else ended - begun

    @property
    def gpus(self) -> List[Dict[str, Any]]:
        """Per GPU: uuid, energy_j, band_sampling_j, band_calibration_j, source, kind, why_missing."""
        return self._stretch.answered().get("gpus") or []

    @property
    def source(self) -> Optional[str]:
        """Where the joules come from; of several GPUs, each source once. None where there are none."""
        found = {str(gpu["source"]): None for gpu in self.gpus if gpu.get("source")}
        return ", ".join(found) or None

    @property
    def meters(self) -> List[Dict[str, Any]]:
        """Per channel of each meter: meter, channel, scope, energy_j, band_sampling_j, band_calibration_j, source, kind,
        why_missing. They stand beside the GPUs, and may contain them: never add them up.
        """
        return self._stretch.answered().get("meters") or []

    @property
    def cpu_joules(self) -> Optional[float]:
        """Energy of the CPU packages together, by the first meter that knows them; None without one."""
        return self._of_scope("cpu_package")

    @property
    def dram_joules(self) -> Optional[float]:
        """Energy of the memory of all CPUs, likewise. Some CPUs have no counter of it."""
        return self._of_scope("dram")

    @property
    def why(self) -> Optional[str]:
        """Why `joules` is None; None where it is known."""
        if self.joules is not None:
            return None
        answer = self._stretch.answered()
        for said in [answer.get("why_missing"), answer.get("error")] + [
            gpu.get("why_missing") for gpu in self.gpus
        ]:
            if said:
                return str(said)
        return "no GPU was measured"

    def _of_scope(self, scope: str) -> Optional[float]:
        channels = [channel for channel in self.meters if channel.get("scope") == scope]
        # Two meters may tell of the same packages.
        return _total([c.get("energy_j") for c in channels if c.get("meter") == channels[0].get("meter")])

    def _sum(self, key: str) -> Optional[float]:
        return _total([gpu.get(key) for gpu in self.gpus])

    def __repr__(self) -> str:
        if self._stretch.ended is None:
            return f"<rubato.Window {self.name!r}, open>"
        joules = self.joules
        return f"<rubato.Window {self.name!r}: {f'{joules:.3f} J' if joules is not None else self.why}>"


window = Window


def gpus(gpu: Any = None) -> List[Dict[str, Any]]:
    """What each GPU reads now: uuid, name, index, power_w, power_limit_w, temperature_c, sm_clock_mhz, memory_clock_mhz, kind,
    why_missing. `gpu` as a window takes it. Asks the helper, and waits for its answer: milliseconds, or what a driver takes.
    An empty list where there is no GPU or no helper; a window's `why` says which.
    """
    told = []  # type: List[Dict[str, Any]]
    try:
        helper = helper_for(_gpu_list(gpu))
        helper.ask("now", "", told.append)
        helper.wait_until(lambda: bool(told))
    except Exception:  # the program goes on
        pass
    return (told[0].get("gpus") or []) if told else []
