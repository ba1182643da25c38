"""One begin and end of a window: who measures it, and the answer."""

import itertools
import time
from typing import Any, Callable, Dict, Optional, Tuple

from . import _board_window
from ._window_helper import helper_for

_LONGEST_NAME = 100  # on the helper's pipe, whose lines are bounded
_numbers = itertools.count(1)


class Stretch:
    """An answer is that of `rubato windows` to an `end`. A stretch that has one before it begins is not measured."""

    def __init__(self, answer: Optional[Dict[str, Any]] = None):
        self._answer = answer
        self._board = None  # type: Any
        self._helper = None  # type: Any
        self._name = ""
        self.begun = self.ended = None  # type: Optional[float]

    def begin(self, name: str, gpu: Optional[str], meters: Tuple[str, ...], own_helper: bool) -> None:
        self.begun = time.monotonic()
        self._guarded(lambda: self._begin(name, gpu, meters, own_helper))

    def end(self) -> None:
        if self.ended is None:
            self._guarded(self._end)
            self.ended = time.monotonic()

    def answered(self) -> Dict[str, Any]:
        """Waits for the helper's answer."""
        if self._answer is None and self.ended is None:
            return {"why_missing": "the window has not ended"}
        if self._answer is None and self.begun is None:
            return {"why_missing": "the window was ended and never begun"}
        if self._answer is None and self._helper is not None:
            self._guarded(lambda: self._helper.wait_until(lambda: self._answer is not None))
        return self._answer or {"why_missing": "rubato windows did not answer"}

    def _begin(self, name: str, gpu: Optional[str], meters: Tuple[str, ...], own_helper: bool) -> None:
        if self._answer is None and not own_helper:
            self._board = _board_window.open_now()
        if self._answer is None and self._board is None:
            # The program may have a name open twice, the helper may not.
            self._name = f"{name[:_LONGEST_NAME]} #{next(_numbers)}"
            self._helper = helper_for(gpu, meters)
            self._helper.ask("begin", self._name, self._take)

    def _end(self) -> None:
        if self._board is not None:
            self._take(self._board.close(time.monotonic_ns()))
        elif self._helper is not None:
            self._helper.ask("end", self._name, self._take)

    def _guarded(self, step: Callable[[], None]) -> None:
        """The program goes on, whatever goes wrong with its windows."""
        try:
            step()
        except Exception as error:
            self._take({"why_missing": f"the window could not be measured: {type(error).__name__}: {error}"})

    def _take(self, answer: Dict[str, Any]) -> None:
        self._answer = self._answer or answer
