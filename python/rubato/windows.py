"""Energy of a stretch of a program: `with rubato.window("epoch") as w: ...`, then `w.joules`.

The stretch is marked for `rubato run` and `rubato measure`. Inside them its joules come from what they
publish (_board_window.py); otherwise from a helper, `rubato windows`, that this process starts at its first
window and that ends with it (_stretch.py). Nothing here raises into the program: what could not be measured is
None, and `w.why` says why.
"""

from typing import Any, Dict, List, Optional

from ._stretch import Stretch
from ._user import shared


def _gpu_list(gpu: Any) -> Optional[str]:
    """The words after --gpu; None: nothing was given, as with the empty text."""
    if gpu is None or isinstance(gpu, str):
        return gpu or None
    try:
        return ",".join(str(one) for one in gpu)
    except TypeError:
        return str(gpu)


class Window:
    """A named stretch. Use it in a `with`, or call begin() and end(); begin() makes a new stretch of a window that
    has ended.

    `gpu`: a number, as CUDA counts the GPUs that CUDA_VISIBLE_DEVICES shows this process, a UUID, `"sim:v100"`, or a list
    of them; without it, the job's GPUs under rubato, else those that `rubato` finds. `energy=False` marks only and
    starts no helper.
    `sync=True` waits, at both ends, for the devices of PyTorch, JAX and TensorFlow where the program uses them: the
    joules are those of the work inside, at the price of an empty pipeline. `helper=True`: never by what rubato
    publishes, whose edges are up to a quarter of a second off.
    """

    def __init__(self, name: str, gpu: Any = None, energy: bool = True, sync: bool = False, helper: bool = False):
        self.name = " ".join(str(name).split()) or "window"
        self._gpu = _gpu_list(gpu)
        self._sync = sync
        self._own_helper = helper or self._gpu is not None
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
        self._stretch.begin(self.name, self._gpu, self._own_helper)
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
        """Other sources. They stand beside the GPUs, and may contain them: never add them up."""
        return self._stretch.answered().get("meters") or []

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
        return "rubato windows measured no GPU"

    def _sum(self, key: str) -> Optional[float]:
        values = [gpu.get(key) for gpu in self.gpus]
        return float(sum(values)) if values and all(isinstance(v, (int, float)) for v in values) else None

    def __repr__(self) -> str:
        if self._stretch.ended is None:
            return f"<rubato.Window {self.name!r}, open>"
        joules = self.joules
        return f"<rubato.Window {self.name!r}: {f'{joules:.3f} J' if joules is not None else self.why}>"


window = Window
