"""A window's joules from the board that rubato publishes in its jobs: no process is started for them."""

import itertools
import math
import os
import time

from . import _board

SOURCE = "energy board of the run, edges by the power last read"


class BoardWindow:
    """Opened at a moment, with a board; close() gives the answer of `rubato windows` to an `end`."""

    def __init__(self, board, begin_ns):
        self._board, self._begin_ns = board, begin_ns

    def close(self, end_ns):
        seconds = (end_ns - self._begin_ns) * 1e-9 * self._board.rate
        board = _board.read()
        if board is None:
            return {"seconds": seconds, "why_missing": "rubato publishes the energy of this run no longer"}
        edges = self._board.seconds_to(self._begin_ns), board.seconds_to(end_ns)
        gpus = []
        for begin, end in board.pairs_since(self._board):
            told = {"energy_j": None, "why_missing": f"{end.uuid} began to be used inside the window"}
            if begin is not None:
                told = self._told(begin, edges[0], end, edges[1])
            gpus.append({"uuid": end.uuid, "source": SOURCE, **told})
        return {"seconds": seconds, "gpus": gpus, "meters": self._meters(board, edges)}

    def _meters(self, board, edges):
        meters = []
        then = {channel.uuid: channel for channel in self._board.channels}
        now = {channel.uuid: channel for channel in board.channels}
        for name in list(then) + [other for other in now if other not in then]:
            meter, _, channel = name.partition("\t")
            told = {"energy_j": None, "why_missing": f"{meter}, {channel}: it told nothing at one of the edges"}
            if name in then and name in now:
                told = self._told(then[name], edges[0], now[name], edges[1])
            scope = (then.get(name) or now[name]).scope
            meters.append({"meter": meter, "channel": channel, "scope": scope, "source": SOURCE, **told})
        return meters

    @staticmethod
    def _told(begin, begin_s, end, end_s):
        # What lies between an edge and its board may be anything from nothing to twice what is assumed.
        begin_edge, end_edge = begin.watts * begin_s, end.watts * end_s
        # Of two totals since the begin of the run: sampling errors are taken as independent, the gain is one.
        totals = math.hypot(begin.band_sampling, end.band_sampling)
        return {
            "energy_j": end.joules + end_edge - begin.joules - begin_edge,
            "band_sampling_j": totals + abs(begin_edge) + abs(end_edge),
            "band_calibration_j": abs(end.band_calibration - begin.band_calibration),
            "kind": "modelled" if begin.modelled or end.modelled else "measured",
            "why_missing": "",
        }


def open_now():
    """None where there is no board, or one of other GPUs than this process sees."""
    board = _board.read()
    if board is None or not _of_this_process(board):
        return None
    return BoardWindow(board, time.monotonic_ns())


def _of_this_process(board):
    """Whether CUDA_VISIBLE_DEVICES leaves this process all GPUs of the board; a rank may see one of them."""
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    if visible is None or not board.gpus:
        return True
    entries = [entry.strip() for entry in visible.split(",")]
    # CUDA reads up to the first that can be none.
    shown = itertools.takewhile(lambda entry: entry and not entry.startswith("-"), entries)
    return len(list(shown)) == len(board.gpus)
