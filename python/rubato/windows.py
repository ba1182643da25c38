"""Energy of a stretch of a program: `with rubato.window("epoch") as w: ...`, then `w.joules`.

The stretch is marked for `rubato run` and `rubato measure`. Inside them its joules come from what they
publish (_board_window.py); otherwise from a helper, `rubato windows`, that this process starts at its first
window and that ends with it. Nothing here raises into the program: what could not be measured is None, and
`w.why` says why.
"""

import time
from typing import Any, Dict, List, Optional

from . import _board_window
from ._user import shared
from ._window_helper import helper_for


class Window:
    """One named stretch. Use it in a `with`, or call begin() and end().

    `gpu`: as for `--gpu` of the program (`"0"`, a UUID, `"sim:v100"`); without it, the job's GPUs under
    rubato, else those that `rubato` finds. `energy=False` marks only and starts no helper. `sync=True` waits,
    at both ends, for the devices of PyTorch, JAX and TensorFlow where the program uses them: the joules are
    those of the work inside, at the price of an empty pipeline. `helper=True`: never by what rubato
    publishes, whose edges are up to a quarter of a second off.
    """

    def __init__(
        self,
        name: str,
        gpu: Optional[str] = None,
        energy: bool = True,
        sync: bool = False,
        helper: bool = False,
    ):
        self.name = " ".join(str(name).split()) or "window"
        self._gpu = gpu or ""
        self._sync = sync
        self._own_helper = helper or bool(gpu)
        self._board = None  # type: Any
        self._helper = None  # type: Any
        self._answer = None if energy else {"why_missing": "it was opened with energy=False"}
        self._begun = self._ended = None  # type: Optional[float]

    def begin(self) -> "Window":
        self._wait_for_devices()
        shared("_marks").begin_window(self.name)
        self._begun = time.monotonic()
        if self._answer is None and not self._own_helper:
            self._board = _board_window.open_now()
        if self._answer is None and self._board is None:
            self._helper = helper_for(self._gpu)
            self._helper.ask("begin", self.name, self._take)
        return self

    def end(self) -> "Window":
        self._wait_for_devices()
        if self._board is not None and self._ended is None:
            self._take(self._board.close(time.monotonic_ns()))
        if self._helper is not None and self._ended is None:
            self._helper.ask("end", self.name, self._take)
        self._ended = time.monotonic()
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
        told = self._answered().get("seconds")
        if isinstance(told, (int, float)):
            return float(told)
        return None if self._begun is None or self._ended is None else self._ended - self._begun

    @property
    def gpus(self) -> List[Dict[str, Any]]:
        """Per GPU: uuid, energy_j, band_sampling_j, band_calibration_j, source, kind, why_missing."""
        return self._answered().get("gpus") or []

    @property
    def source(self) -> Optional[str]:
        """Where the joules come from; of several GPUs, each source once. None where there are none."""
        found = {str(gpu["source"]): None for gpu in self.gpus if gpu.get("source")}
        return ", ".join(found) or None

    @property
    def meters(self) -> List[Dict[str, Any]]:
        """Other sources. They stand beside the GPUs, and may contain them: never add them up."""
        return self._answered().get("meters") or []

    @property
    def why(self) -> Optional[str]:
        """Why `joules` is None; None where it is known."""
        if self.joules is not None:
            return None
        answer = self._answered()
        for said in [answer.get("why_missing"), answer.get("error")] + [
            gpu.get("why_missing") for gpu in self.gpus
        ]:
            if said:
                return str(said)
        return "rubato windows measured no GPU"

    def _take(self, answer: Dict[str, Any]) -> None:
        self._answer = self._answer or answer

    def _sum(self, key: str) -> Optional[float]:
        values = [gpu.get(key) for gpu in self.gpus]
        return float(sum(values)) if values and all(isinstance(v, (int, float)) for v in values) else None

    def _answered(self) -> Dict[str, Any]:
        if self._answer is not None:
            return self._answer
        if self._begun is None or self._ended is None:
            return {"why_missing": "the window has not ended"}
        if self._helper is not None:
            self._helper.wait_until(lambda: self._answer is not None)
        return self._answer or {"why_missing": "rubato windows did not answer"}

    def __repr__(self) -> str:
        if self._ended is None:
            return f"<rubato.Window {self.name!r}, open>"
        joules = self.joules
        return f"<rubato.Window {self.name!r}: {f'{joules:.3f} J' if joules is not None else self.why}>"


window = Window
