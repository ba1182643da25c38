"""One mark ring: a mapped file that one thread writes (include/rubato/mark_layout.h is the contract).

Order of stores: a reader must see a record complete before its sequence number. x86 keeps stores in order.
Elsewhere two operations on a lock stand in for the barrier that Python lacks (see _make_fence); that is
reasoned from the memory model of Armv8, not tested on such a machine.
"""

import _thread
import mmap
import os
import struct

_MAGIC = 0x314B52414D425552
_HEADER, _RECORD = 128, 64
_NAME = 9
_NAME_PART, _NAME_PARTS = 32, 32  # a longer name is cut
_MOST_NAMES = 4096  # remembered as written; after that they are written again
_STORES_IN_ORDER = os.uname().machine in ("x86_64", "i686", "i386")


def hash_name(text):
    """64-bit FNV-1a over the UTF-8 bytes."""
    value = 0xCBF29CE484222325
    for byte in text.encode("utf-8", "replace"):
        value = (value ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return value


def thread_id():
    return _thread.get_native_id() if hasattr(_thread, "get_native_id") else 0


def _make_fence():
    if _STORES_IN_ORDER:
        return lambda: None

    def fence():
        # A release store followed by an acquire load is not reordered on Armv8, nor is anything across the
        # pair.
        lock = _thread.allocate_lock()
        lock.acquire()
        lock.release()
        lock.acquire()

    return fence


_fence = _make_fence()


class Ring:
    """A mapped ring of this thread. `write` puts one record into it; it closes with the last reference."""

    __slots__ = ("write", "_named")

    def __init__(self, folder, name, capacity, rank):
        memory = _map(folder, name, _HEADER + capacity * _RECORD)
        struct.pack_into("IIIIiii", memory, 8, 1, _HEADER, _RECORD, capacity, os.getpid(), thread_id(), rank)
        _fence()
        struct.pack_into("Q", memory, 0, _MAGIC)
        self.write = _writer(memory, capacity)
        self._named = {}

    def name(self, text, ns):
        """The id of a name, told to the reader before its first use here."""
        id = self._named.get(text)
        if id is not None:
            return id
        id = hash_name(text)
        data = text.encode("utf-8", "replace")[: _NAME_PART * _NAME_PARTS].decode("utf-8", "ignore").encode()
        for part in range(max(1, (len(data) + _NAME_PART - 1) // _NAME_PART)):
            piece = data[part * _NAME_PART : (part + 1) * _NAME_PART].ljust(_NAME_PART, b"\0")
            self.write(ns, _NAME, part << 16, id, *struct.unpack("QQQQ", piece))
        if len(self._named) >= _MOST_NAMES:
            self._named.clear()
        self._named[text] = id
        return id


def _map(folder, name, size):
    path = os.path.join(folder, name)
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
    for attempt in range(
        100
    ):  # a name is taken where process or thread ids come again: a container has its own
        try:
            file = os.open(path + (f"-{attempt}.ring" if attempt else ".ring"), flags, 0o600)
            break
        except FileExistsError:
            continue
    else:
        raise FileExistsError(path)
    try:
        os.posix_fallocate(file, 0, size)  # a disk that is full later cannot kill us with SIGBUS
        return mmap.mmap(file, size)
    finally:
        os.close(file)


def _writer(memory, capacity):
    # Whole 64-bit words through a memoryview: each is one store, where struct's "<Q" would write byte by
    # byte.
    words = memoryview(memory).cast("Q")
    pack = struct.Struct("qIIQQQQQ").pack_into
    mask = capacity - 1
    number = 0

    def write(ns, kind, flags, id, d0, d1, d2, d3):
        nonlocal number
        mine = number
        number = mine + 1  # taken first: a signal handler that marks in between gets a slot of its own
        at = _HEADER + (mine & mask) * _RECORD
        words[at >> 3] = 0
        pack(memory, at + 8, ns, kind, flags, id, d0, d1, d2, d3)
        words[at >> 3] = mine + 1
        words[8] = number

    def write_fenced(ns, kind, flags, id, d0, d1, d2, d3):
        nonlocal number
        mine = number
        number = mine + 1
        at = _HEADER + (mine & mask) * _RECORD
        words[at >> 3] = 0
        _fence()
        pack(memory, at + 8, ns, kind, flags, id, d0, d1, d2, d3)
        _fence()
        words[at >> 3] = mine + 1
        _fence()
        words[8] = number

    return write if _STORES_IN_ORDER else write_fenced
