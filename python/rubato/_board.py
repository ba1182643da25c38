"""Reads what rubato publishes about the job's GPUs, and the meters beside them, while it runs, by the contract of rubato/energy_layout.h.

The file is another process's and is trusted with nothing: what does not fit is no board.
"""

import math
import os
import struct
import time

_MAGIC = 0x314752454E425552
# magic, version, size of header, of record, gpus, sequence, monotonic ns, clock rate, channels
_HEADER = struct.Struct("<QIIIIQqdI12x")
# name, energy, its bands (sampling, calibration), power, flags, scope
_RECORD = struct.Struct("<64s4dI4x24s")
_KNOWN, _POWER, _MODELLED = 1, 2, 4
_FRESH_NS = 5_000_000_000  # an older board is that of a rubato that is gone or stopped
_MOST_BYTES = 1 << 16


class Gpu:
    """Joules of one GPU since the run began, half widths of their bands, and the power last read in watts."""

    __slots__ = ("uuid", "joules", "band_sampling", "band_calibration", "watts", "modelled")

    def __init__(self, uuid, joules, band_sampling, band_calibration, watts, modelled):
        self.uuid, self.joules, self.watts, self.modelled = uuid, joules, watts, modelled
        self.band_sampling, self.band_calibration = band_sampling, band_calibration


class Channel(Gpu):
    """The same of one channel of a meter, since its first reading. `uuid` names both: METER, a tab, CHANNEL."""

    __slots__ = ("scope",)

    def __init__(self, scope, *numbers):
        super().__init__(*numbers)
        self.scope = scope


class Board:
    """The job's GPUs up to `at_ns` (time.monotonic_ns). `rate`: seconds of the run's clock per second. `channels`:
    of the meters that told enough by then.
    """

    __slots__ = ("at_ns", "rate", "gpus", "channels")

    def __init__(self, at_ns, rate, gpus, channels=()):
        self.at_ns, self.rate, self.gpus, self.channels = at_ns, rate, gpus, channels

    def seconds_to(self, ns):
        """Of the run's clock, from the board's moment to this one; negative before it."""
        return (ns - self.at_ns) * 1e-9 * self.rate

    def joules_of(self, gpu, ns):
        """Of a GPU on it, at a moment near the board's, by the power last read."""
        return gpu.joules + gpu.watts * self.seconds_to(ns)

    def joules_at(self, ns):
        """All GPUs at such a moment."""
        return sum(self.joules_of(gpu, ns) for gpu in self.gpus)

    def pairs_since(self, begin):
        """(GPU then, GPU now) of each GPU on this board. None then: the job began to use it in between. What is on
        the earlier board alone is left out: until rubato has seen the job on a GPU all of them are on the board,
        and one that is lost stays there.
        """
        then = {gpu.uuid: gpu for gpu in begin.gpus}
        return [(then.get(gpu.uuid), gpu) for gpu in self.gpus]

    @property
    def modelled(self):
        return any(gpu.modelled for gpu in self.gpus)


def read(folder=None):
    """None without rubato around this program, or where energy or power of any of its GPUs is not known."""
    folder = folder or os.environ.get("RUBATO_MARKS")
    if not folder:
        return None
    try:
        # Without Python's buffer, which would compare its first reading with itself.
        with open(os.path.join(folder, "energy.board"), "rb", buffering=0) as file:
            for _ in range(4):  # it is written about four times a second, in microseconds
                file.seek(0)
                content = file.read(_MOST_BYTES)
                file.seek(0)
                header = file.read(_HEADER.size)
                if content.startswith(header) and _HEADER.unpack(header)[5] % 2 == 0:
                    return _decoded(content)
    except (OSError, struct.error, ValueError):
        pass
    return None


def _decoded(content):
    magic, version, header, record, count, _, at_ns, rate, more = _HEADER.unpack_from(content)
    if magic != _MAGIC or version != 1 or record != _RECORD.size or count + more == 0:
        return None
    if abs(time.monotonic_ns() - at_ns) > _FRESH_NS or not 0 < rate < math.inf:
        return None
    rows = [_RECORD.unpack_from(content, header + index * record) for index in range(count + more)]
    if not all(map(_is_known, rows[:count])):
        return None
    gpus = [Gpu(*_numbers_of(row)) for row in rows[:count]]
    channels = [Channel(_text(row[6]), *_numbers_of(row)) for row in rows[count:] if _is_known(row)]
    return Board(at_ns, rate, gpus, channels)


def _is_known(row):
    _, *numbers, flags, _ = row
    return flags & _KNOWN and flags & _POWER and all(map(math.isfinite, numbers))


def _numbers_of(row):
    name, *numbers, flags, _ = row
    return (_text(name), *numbers, bool(flags & _MODELLED))


def _text(field):
    return field.split(b"\0")[0].decode(errors="replace")
