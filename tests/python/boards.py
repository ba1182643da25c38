"""Writes energy boards (rubato/energy_layout.h) as rubato would, from inside the job that reads them."""

import os
import pathlib
import struct
import time

KNOWN, POWER, MODELLED = 1, 2, 4


def write(gpus, sequence=2, ns=None, rate=1.0, flags=KNOWN | POWER, magic=b"RUBNERG1", version=1, channels=()):
    """`gpus`: {uuid: (joules, watts)} or {uuid: (joules, watts, sampling band, calibration band)}.
    `channels`: {(meter, channel, scope): the same, or None}."""
    ns = time.monotonic_ns() if ns is None else ns
    channels = dict(channels)
    content = struct.pack("<8sIIIIQqdI12x", magic, version, 64, 128, len(gpus), sequence, ns, rate, len(channels))
    for uuid, numbers in gpus.items():
        content += _record(uuid, "gpu", flags, *numbers)
    for (meter, channel, scope), numbers in channels.items():
        content += _record(f"{meter}\t{channel}", scope, KNOWN | POWER if numbers else 0, *(numbers or (0.0, 0.0)))
    path().write_bytes(content)
    return ns


def _record(name, scope, flags, joules, watts, sampling=0.0, calibration=0.0):
    return struct.pack("<64sddddI4x24s", name.encode(), joules, sampling, calibration, watts, flags, scope.encode())


def path():
    return pathlib.Path(os.environ["RUBATO_MARKS"]) / "energy.board"
