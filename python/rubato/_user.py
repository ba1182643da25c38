"""Marks that a program makes itself; without rubato around it they do nothing."""

import importlib
import sys

_number = 0
_epoch = 0
_told = set()


def shared(name):
    """Our module `name`; the hooks' own instance of it where they run, so that both know of each other's
    claims.
    """
    own = importlib.import_module("." + name, __package__)
    hooks = sys.modules.get("_rubato." + name)
    if hooks is None and "_rubato._hooks" in sys.modules:
        try:
            hooks = importlib.import_module("_rubato." + name)
        except ImportError:
            hooks = None
    return hooks if hooks is not None and hooks.API == own.API else own


def _count(of, what, value, instead):
    """`value`, where it is a whole number that a mark can hold, of Python's or NumPy's; else `instead`, told once: a
    training does not end because of its marks.
    """
    if value is None:
        return instead
    try:
        number = int(value) if isinstance(value, float) and value.is_integer() else value.__index__()
        if 0 <= number < 1 << 64:
            return number
    except Exception:
        pass
    if (of, what) not in _told:
        _told.add((of, what))
        _tell(f"rubato.{of}({what}={_shown(value)}) is left out: it is no whole number from 0 to 2**64 - 1")
    return instead


def _shown(value):
    try:
        return repr(value)[:40]
    except Exception:
        return type(value).__name__


def _tell(sentence):
    """In the report, and in the file RUBATO_HOOKS_LOG."""
    hooks = sys.modules.get("_rubato._hooks")
    if hooks is not None:
        hooks.failed(sentence)
    else:
        shared("_marks").problem(sentence)


def mark(name: str) -> None:
    """One moment, under a name."""
    shared("_marks").point(str(name))


def model(name: str = "", parameters: int = 0, batch: int = 0, precision: str = "") -> None:
    """What is trained from here on, for loops whose framework no hook understands: `rubato run --plan` runs no
    plan that was made for another. Parameters are those that are trained; precision is that of matrix products:
    fp32, tf32, fp16, bf16. What is left out is not compared.
    """
    shared("_marks").model(str(name), parameters, batch, precision)


class iteration:
    """`with rubato.iteration():` around one training step, for loops that no hook understands.

    From the first one on the program's own iterations count, and hooks mark none in this process. `index`
    counts from 0 where it is not given; `steps` is how many training steps it stands for.
    """

    def __init__(self, index=None, steps=0, of_epoch=0):
        self._index, self._steps, self._of_epoch = index, steps, of_epoch

    def __enter__(self):
        global _number
        claims = shared("_claims")
        claims.claim(claims.USER, "rubato.iteration")  # kept to the end of the process
        self._index = _count("iteration", "index", self._index, _number)
        self._steps = _count("iteration", "steps", self._steps, 0)
        self._of_epoch = _count("iteration", "of_epoch", self._of_epoch, 0)
        _number = self._index + 1
        shared("_marks").begin_iteration(self._index, self._steps, self._of_epoch)
        return self

    def __exit__(self, *_):
        shared("_marks").end_iteration(self._index)


class epoch:
    """`with rubato.epoch():` around a pass over the data, where the program marks its iterations itself.

    `index` counts from 0 where it is not given; `planned` is how many epochs there will be (0: unknown).
    """

    def __init__(self, index=None, planned=0):
        self._index, self._planned = index, planned

    def __enter__(self):
        global _epoch
        claims = shared("_claims")
        claims.claim(claims.USER, "rubato.epoch")  # as for an iteration
        self._index = _count("epoch", "index", self._index, _epoch)
        self._planned = _count("epoch", "planned", self._planned, 0)
        _epoch = self._index + 1
        shared("_marks").begin_epoch(self._index, self._planned)
        return self

    def __exit__(self, *_):
        shared("_marks").end_epoch(self._index)
