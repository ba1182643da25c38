"""Reads mark rings (include/rubato/mark_layout.h) for tests: simple, and strict where rubato is forgiving."""

import collections
import pathlib
import struct

KINDS = {
    1: "iteration begin", 2: "iteration end", 3: "epoch begin", 4: "epoch end", 5: "phase begin",
    6: "phase end", 7: "layer begin", 8: "layer end", 10: "window begin", 11: "window end",
    12: "training begin", 13: "training end", 14: "hook", 15: "problem", 16: "point", 17: "model",
}  # fmt: skip
PHASES = {
    1: "forward",
    2: "backward",
    3: "optimizer",
    4: "data",
    5: "evaluation",
    6: "checkpoint",
    7: "communication",
}

Mark = collections.namedtuple("Mark", "ns kind id detail pid tid rank file name")


def read(folder):
    """All marks of a folder's rings in time order; `name` is that of the id, or of a phase."""
    marks = []
    for path in sorted(pathlib.Path(folder).glob("*.ring")):
        marks += read_ring(path)
    return sorted(marks, key=lambda mark: mark.ns)


def read_ring(path):
    data = path.read_bytes()
    magic, version, header, record, capacity, pid, tid, rank = struct.unpack_from("8sIIIIiii", data)
    assert (magic, version, header, record) == (b"RUBMARK1", 1, 128, 64), path
    assert capacity & (capacity - 1) == 0 and len(data) == header + capacity * record, path
    (written,) = struct.unpack_from("Q", data, 64)
    names, marks = collections.defaultdict(dict), []
    for number in range(max(0, written - capacity), written):
        sequence, ns, kind, flags, id, *detail = struct.unpack_from(
            "QqIIQ4Q", data, 128 + number % capacity * 64
        )
        assert sequence == number + 1, (path, number, sequence)
        if kind == 9:
            names[id][flags >> 16] = struct.pack("4Q", *detail).rstrip(b"\0")
            continue
        name = b"".join(piece for _, piece in sorted(names[id].items())).decode() if id in names else ""
        if kind in (5, 6):
            name = PHASES[id]
        marks.append(Mark(ns, KINDS[kind], id, tuple(detail), pid, tid, rank, path.name, name))
    return marks


def iterations(marks):
    """[(index, begin, end)] of iterations that began and ended."""
    return pairs(marks, "iteration")


def pairs(marks, what, name=None):
    begun, found = {}, []
    for mark in marks:
        if name is not None and mark.name != name:
            continue
        if mark.kind == what + " begin":
            begun[mark.id, mark.pid] = mark.ns
        elif mark.kind == what + " end" and (mark.id, mark.pid) in begun:
            found.append((mark.id, begun.pop((mark.id, mark.pid)), mark.ns))
    return found


def words(marks, kind):
    return [mark.name for mark in marks if mark.kind == kind]
