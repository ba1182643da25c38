"""Experiment trackers that the job imports: from then on each epoch's energy is logged there (_scalars)."""

import sys

from .. import _marks, _scalars
from ._fit import init_method, quiet
from ._patch import wrap_method


def install(module):
    """`module`: wandb, mlflow, or one with a SummaryWriter."""
    if not _marks.active():
        return
    writer = getattr(module, "SummaryWriter", None)
    if writer is not None:
        init_method(writer, _scalars.watch)
    _scalars.connect()


def install_keras(callbacks):
    """The callbacks of Keras: TensorBoard among them, while a fit() uses it."""
    wrap_method(callbacks.TensorBoard, "on_train_begin", _and_then(_keras_begins))
    wrap_method(callbacks.TensorBoard, "on_train_end", _and_then(_keras_ends))


def _and_then(action):
    def make(original):
        def method(self, *args, **kwargs):
            result = original(self, *args, **kwargs)
            action(self)
            return result

        return method

    return make


@quiet
def _keras_begins(callback):
    callback._rubato_writer = _KerasWriter(callback)
    _scalars.watch(callback._rubato_writer)
    _scalars.connect()


@quiet
def _keras_ends(callback):
    _scalars.unwatch(callback.__dict__.pop("_rubato_writer", None))


class _KerasWriter:
    """add_scalar() of a SummaryWriter on the file writer of a callback, and as short-lived."""

    def __init__(self, callback):
        self._callback = callback

    def add_scalar(self, name, value, step):
        summary = sys.modules["tensorflow"].summary  # the callback could not be without it
        # Between batches the callback may have recording switched off.
        with self._callback._train_writer.as_default(), summary.record_if(True):
            summary.scalar(name, value, step=step)
