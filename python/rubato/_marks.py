"""What a program or a hook tells rubato: marks, in the folder that RUBATO_MARKS names.

One ring per thread, made at its first mark (_ring.py). Without that variable, on a full disk or in a folder
that is gone, every function here does nothing. None of them raises, prints, or waits. Indices and counts are
non-negative integers of Python; times are nanoseconds of time.monotonic_ns().
"""

import os
import time
from _thread import _local as _ThreadLocal

from ._ring import Ring, hash_name, thread_id  # noqa: F401

API = 1  # of this module's functions; another instance of it is used only where this is equal

FORWARD, BACKWARD, OPTIMIZER, DATA, EVALUATION, CHECKPOINT, COMMUNICATION = range(1, 8)

PRECISIONS = ("", "fp32", "tf32", "fp16", "bf16")  # enum rubato_mark_precision

_CAPACITY = 4096
_HOOK_CAPACITY = 64  # a ring of its own for what hooks say of themselves: most processes never say more
_RANKS = ("RANK", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK")

_now = time.monotonic_ns
_local = _ThreadLocal()  # .write, .ring, .hooks, .depth: of one thread, made at first use
_trainings = 0
listeners = []  # of epochs: _scalars, where the job uses a tracker


def active():
    """Whether somebody asked for marks."""
    return bool(os.environ.get("RUBATO_MARKS"))


def rank():
    """Of this process; -1: it has none."""
    for name in _RANKS:
        text = os.environ.get(name, "")
        if text.isdigit() and len(text) < 10:
            return int(text)
    return -1


def _open(suffix, capacity):
    name = f"{os.getpid()}-{thread_id()}{suffix}"
    return Ring(os.environ["RUBATO_MARKS"], name, capacity, rank())


def _nothing(*_):
    pass


def _begin_ring():
    """The writer of this thread's ring. Made at the first mark of a training, when the rank is known."""
    write = _nothing
    try:
        if active():
            _local.ring = _open("", _CAPACITY)
            write = _local.ring.write
    except Exception:  # no space, no folder, no right: marks are lost, the job goes on
        pass
    _local.write = write
    return write


def _mark(kind, id, d0=0, d1=0, ns=None):
    try:
        try:
            write = _local.write
        except AttributeError:
            write = _begin_ring()
        write(_now() if ns is None else ns, kind, 0, id, d0, d1, 0, 0)
    except Exception:
        pass


def _named(kind, text):
    """A mark whose id is the hash of `text`."""
    try:
        if not hasattr(_local, "write"):
            _begin_ring()
        ring = getattr(_local, "ring", None)
        if ring is not None:
            ns = _now()
            ring.write(ns, kind, 0, ring.name(text, ns), 0, 0, 0, 0)
    except Exception:
        pass


def _hook_ring():
    ring = getattr(_local, "hooks", None)
    if ring is None and active():
        ring = _local.hooks = _open("-hooks", _HOOK_CAPACITY)
    return ring


def _of_hook(kind, text):
    try:
        ring = _hook_ring()
        if ring is not None:
            ns = _now()
            ring.write(ns, kind, 0, ring.name(text, ns), 0, 0, 0, 0)
    except Exception:
        pass


def _forget():
    """In a forked child: its rings are its own, and the mappings of the parent's are let go."""
    global _local
    _local = _ThreadLocal()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


def _tell(what, *arguments):
    """Calls that method of each listener."""
    for listener in listeners:
        try:
            getattr(listener, what)(*arguments)
        except Exception:
            pass


def begin_iteration(index, steps=0, of_epoch=0):
    """An iteration of `steps` training steps begins (0: one); `of_epoch` iterations make an epoch (0:
    unknown).
    """
    try:
        _local.write(_now(), 1, 0, index, steps, of_epoch, 0, 0)
    except Exception:
        _mark(1, index, steps, of_epoch)


def end_iteration(index):
    try:
        _local.write(_now(), 2, 0, index, 0, 0, 0, 0)
    except Exception:
        _mark(2, index)


def past_iteration(index, begin_ns, end_ns, steps=0, of_epoch=0):
    """An iteration that is over, told by its two times."""
    _mark(1, index, steps, of_epoch, begin_ns)
    _mark(2, index, 0, 0, end_ns)


def begin_epoch(index, planned=0):
    _mark(3, index, planned)
    _tell("epoch_begins", index, _now())


def end_epoch(index):
    _mark(4, index)
    _tell("epoch_ended", index, index, _now())


def past_epoch(index, begin_ns, end_ns, planned=0):
    """An epoch that is over, told by its two times."""
    _mark(3, index, planned, 0, begin_ns)
    _mark(4, index, 0, 0, end_ns)
    _tell("epoch_ended", begin_ns, index, end_ns)


def begin_pass(ns):
    """A pass over data has begun; past_epoch() may make an epoch of it, no_epoch() says that it was none."""
    _tell("epoch_begins", ns, ns)


def no_epoch(begin_ns):
    _tell("epoch_was_none", begin_ns)


def begin_phase(phase):
    """A host phase begins in this thread. The same phase inside itself is not marked again."""
    try:
        depth = _local.__dict__.setdefault("depth", [0] * 16)
        depth[phase] += 1
        if depth[phase] == 1:
            _mark(5, phase)
    except Exception:
        pass


def end_phase(phase):
    try:
        depth = _local.__dict__.setdefault("depth", [0] * 16)
        if depth[phase] > 0:
            depth[phase] -= 1
            if depth[phase] == 0:
                _mark(6, phase)
    except Exception:
        pass


def end_phases():
    """Ends what is open: for the end of a training that an exception may have left anywhere."""
    try:
        for number, depth in enumerate(_local.__dict__.pop("depth", ())):
            if depth:
                _mark(6, number)
    except Exception:
        pass


def past_phase(phase, begin_ns, end_ns):
    """A phase that is over, told by its two times; nothing where it lies inside an open one of its kind."""
    try:
        depth = _local.__dict__.get("depth")
        if depth is None or depth[phase] == 0:
            _mark(5, phase, 0, 0, begin_ns)
            _mark(6, phase, 0, 0, end_ns)
    except Exception:
        pass


def begin_training():
    """One call of fit() or train() begins. Returns its number, for end_training()."""
    global _trainings
    number = _trainings
    _trainings = number + 1
    _mark(12, number)
    return number


def end_training(number=None):
    """Ends the training of that number; without one, the latest."""
    _mark(13, max(0, _trainings - 1) if number is None else number)


def begin_window(name):
    _named(10, name)


def end_window(name):
    _named(11, name)


def point(name):
    """One moment."""
    _named(16, name)


def model(name="", parameters=0, batch=0, precision=""):
    """What is trained from here on: parameters that are trained, samples in a batch of this process, the type of
    matrix products ("fp32", "tf32", "fp16", "bf16"). 0 and the empty text: not known.
    """
    try:
        ring = _hook_ring()
        if ring is not None:
            ns = _now()
            number = PRECISIONS.index(precision) if precision in PRECISIONS else 0
            ring.write(ns, 17, 0, ring.name(name, ns) if name else 0, int(parameters), int(batch), number, 0)
    except Exception:
        pass


def hook(name):
    """A framework's hook is in place: "keras 3.6 (jax)"."""
    _of_hook(14, name)


def problem(sentence):
    """A hook failed and stepped back, or was told what it can do nothing with."""
    _of_hook(15, sentence)
