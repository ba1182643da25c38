"""Training loops of the user's own: an iteration is a round of training steps.

A step is a call of train_on_batch(), of an optimizer outside a compiled function, or of a tf.function that
applied an optimizer when it was traced. An iteration lasts from the end of one round to the end of the next;
the first one after a pause begins with its first step. Nothing here waits for the device.
"""

import threading
import weakref
from time import monotonic_ns

from .. import _claims, _marks
from ._rounds import Rounds
from .keras_fit import next_index
from .keras_patch import quietly, replace

_optimizers_of = weakref.WeakKeyDictionary()  # tf.function: the optimizers its traces apply
_thread = threading.local()  # .loop; .inside: what makes a step; .function: the outermost tf.function called


class Loop:
    """The loop of one thread."""

    def __init__(self):
        self._rounds = Rounds()
        self._begin_ns = None  # of the running iteration; None: nothing runs

    def step_begins(self):
        if self._begin_ns is None:
            self._begin_ns = monotonic_ns()

    def step_ends(self, optimizers):
        over = [self._rounds.step(optimizer) for optimizer in optimizers]
        if not any(over):
            return
        now = monotonic_ns()
        if self._begin_ns is not None:
            _marks.past_iteration(next_index(), self._begin_ns, now)
        self._begin_ns = now

    def pause(self):
        self._begin_ns = None


@quietly
def pause():
    """What comes now is no iteration."""
    loop = getattr(_thread, "loop", None)
    if loop is not None:
        loop.pause()


@quietly
def _begin_step(source):
    """Whether this call is a step: not one inside another, or inside fit()."""
    if _claims.above(_claims.OPTIMIZER):
        pause()
        return False
    if getattr(_thread, "inside", None) is not None:
        return False
    if not hasattr(_thread, "loop"):
        _thread.loop = Loop()
    _thread.loop.step_begins()
    _thread.inside = source
    return True


@quietly
def _end_step(optimizers):
    _thread.inside = None
    _thread.loop.step_ends(optimizers)


def _one_step(optimizers, original, self, args, kwargs):
    done = False
    try:
        result = original(self, *args, **kwargs)
        done = True
        return result
    finally:
        _end_step(optimizers if done else [])


def _step(original):
    def train_on_batch(self, *args, **kwargs):
        if not _begin_step(self):
            return original(self, *args, **kwargs)
        return _one_step([getattr(self, "optimizer", None) or self], original, self, args, kwargs)

    return train_on_batch


def _apply(compiling):
    def make(original):
        def apply(self, *args, **kwargs):
            # First, and simple: torch.compile traces this method where fit() compiles its step.
            if _claims.above(_claims.OPTIMIZER):
                return original(self, *args, **kwargs)
            if compiling(*args, **kwargs):
                _traced([self])
            elif _begin_step(self):
                return _one_step([self], original, self, args, kwargs)
            return original(self, *args, **kwargs)

        return apply

    return make


@quietly
def _traced(optimizers):
    """These are being traced into the tf.function that the program called: its calls are steps of theirs."""
    function = getattr(_thread, "function", None)
    if function is not None:
        _optimizers_of.setdefault(function, weakref.WeakSet()).update(optimizers)
        _begin_step(function)  # this call is the first


def _call(original):
    def __call__(self, *args, **kwargs):
        if _claims.above(_claims.OPTIMIZER):
            return original(self, *args, **kwargs)
        optimizers = _optimizers_of.get(self)
        if getattr(_thread, "function", None) is not None:  # called in the trace of another
            if optimizers:
                _traced(optimizers)
            return original(self, *args, **kwargs)
        if optimizers:
            _begin_step(self)
        _thread.function = self
        done = False
        try:
            result = original(self, *args, **kwargs)
            done = True
            return result
        finally:
            _thread.function = None
            if getattr(_thread, "inside", None) is self:
                _end_step(_optimizers_of[self] if done else [])  # out of data: it was none

    return __call__


def install(keras, compiling):
    """Hooks into models and optimizers. `compiling(grads, ...)` says that a call only traces."""
    replace(keras.Model, "train_on_batch", _step)
    optimizers = [keras.optimizers.Optimizer]
    legacy = getattr(getattr(keras.optimizers, "legacy", None), "Optimizer", None)
    for optimizer in optimizers + ([legacy] if legacy else []):
        if not replace(optimizer, "apply", _apply(compiling)):  # Keras 3; its apply_gradients() comes here
            replace(optimizer, "apply_gradients", _apply(compiling))


def install_function(tensorflow):
    """Hooks into tf.function, whose class has no public name."""
    replace(type(tensorflow.function(lambda: None)), "__call__", _call)
