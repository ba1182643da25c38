"""What the hooks into trainers with a fit() or train() share."""

import functools
import sys

from .. import _claims, _marks
from . import failed
from ._patch import wrap_method


def quiet(function):
    """For methods that a framework calls: what they throw is told once and stays here."""

    @functools.wraps(function)
    def guarded(*args, **kwargs):
        try:
            return function(*args, **kwargs)
        except Exception as error:
            failed(f"a mark was lost in {function.__qualname__}", error)
            return None

    return guarded


def told_model(model, precision):
    """A trainer of PyTorch models begins; the torch hook tells of the model when the first iteration is over."""
    torch_hook = sys.modules.get(f"{__package__}.torch_hook")
    if torch_hook is not None:
        torch_hook._steps.model.name = type(model).__name__ if model is not None else ""
        torch_hook._steps.model.precision = precision


def phase_method(cls, name, phase):
    """The whole of `cls.name` is a phase."""

    def make(original):
        def method(self, *args, **kwargs):
            _marks.begin_phase(phase)
            try:
                return original(self, *args, **kwargs)
            finally:
                _marks.end_phase(phase)

        return method

    wrap_method(cls, name, make)


def training_method(cls, name, source):
    """`cls.name` is a training: while it runs, `source` and no lower one marks iterations. A training inside
    another is part of that.
    """

    def make(original):
        def method(self, *args, **kwargs):
            token = _claims.claim(_claims.FIT, source)
            if token is None:
                return original(self, *args, **kwargs)
            number = _marks.begin_training()
            self.__dict__["_rubato_claim"] = token
            try:
                return original(self, *args, **kwargs)
            finally:
                self.__dict__.pop("_rubato_claim", None)
                _marks.end_phases()
                _marks.end_training(number)
                token.release()

        return method

    wrap_method(cls, name, make)


def init_method(cls, after):
    """Calls `after(self)` when an object of `cls` has been made."""

    def make(original):
        def __init__(self, *args, **kwargs):
            original(self, *args, **kwargs)
            try:
                after(self)
            except Exception as error:
                failed(f"{cls.__name__} goes without marks", error)

        return __init__

    wrap_method(cls, "__init__", make)
