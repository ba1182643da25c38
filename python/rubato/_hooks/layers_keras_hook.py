"""Keras 2 and 3 for `rubato layers trace`: the layers that a model's training step calls, with their shapes.

A compiled step calls its layers once, while it is traced, and knows their shapes then; so calls of layers are
watched and not the layers of the model: the order, merges and nested models come out as they run, and subclassed models as well.
"""

import sys
import threading

from . import _layers, failed, keras_hook
from ._keras_layers import describe, is_whole
from ._layers import Pass
from .keras_patch import replace

_thread = threading.local()  # .stack: frames of the running pass; .one: that pass
_told = {}  # "batch": of the data that fit() goes through


def install(keras):
    trace = _layers.trace
    backend = keras.backend.backend() if hasattr(keras.backend, "backend") else "tensorflow"
    trace.frameworks.insert(0, f"Keras {keras_hook._version(keras)} ({backend})")
    trace.owner = "keras"
    world = _World(keras, trace)
    base, operation = keras.layers.Layer, getattr(keras, "Operation", None)
    before = [(base, base.__dict__["__call__"])]
    replace(base, "__call__", world.make_call)
    if operation is not None:
        before.append((operation, operation.__dict__["__call__"]))
        replace(operation, "__call__", world.make_call)
    if "stateless_call" in base.__dict__:
        before.append((base, base.__dict__["stateless_call"]))
        replace(base, "stateless_call", world.make_stateless_call)
    _watch_batches()
    trace.when_done(lambda: [setattr(cls, original.__name__, original) for cls, original in before])


def _watch_batches():
    """A compiled step does not know its batch where the last one of an epoch may be smaller; the data does."""
    for name, cls, attribute in (
        ("keras.src.trainers.epoch_iterator", "EpochIterator", "data_adapter"),
        ("keras.src.engine.data_adapter", "DataHandler", "_adapter"),
    ):

        def make(original, attribute=attribute):
            def __init__(self, *args, **kwargs):
                original(self, *args, **kwargs)
                try:
                    size = getattr(self, attribute).batch_size
                    size = size() if callable(size) else size
                    _told.setdefault("batch", int(size) if size else None)
                except Exception as error:
                    failed("the batch of the data is not known", error)

            return __init__

        module = sys.modules.get(name)
        if module is not None and hasattr(module, cls):
            replace(getattr(module, cls), "__init__", make)


class _Frame:
    def __init__(self, layer, path):
        self.layer, self.path = layer, path
        self.layers = []


class _World:
    def __init__(self, keras, trace):
        self._keras, self._trace = keras, trace

    def make_call(self, original):
        def __call__(layer, *args, **kwargs):
            return self._call(layer, args, kwargs, lambda: original(layer, *args, **kwargs))

        return __call__

    def make_stateless_call(self, original):
        """On JAX the outermost model is called by this, with its variables as the first two arguments."""

        def stateless_call(layer, *args, **kwargs):
            return self._call(layer, args[2:], kwargs, lambda: original(layer, *args, **kwargs))

        return stateless_call

    def _call(self, layer, args, kwargs, call):
        stack = getattr(_thread, "stack", None)
        if self._trace.done or getattr(_thread, "skipping", False):
            return call()
        if not stack and not self._begins(layer, args, kwargs):
            if not isinstance(layer, self._keras.Model):
                return call()
            _thread.skipping = True  # with the models inside it
            try:
                return call()
            finally:
                _thread.skipping = False
        stack = _thread.stack
        if stack and stack[-1].layer is layer:  # Layer's call is built on Operation's
            return call()
        outermost = not stack
        stack.append(_Frame(layer, _path(stack, layer)))
        done = False
        try:
            result = call()
            done = True
        finally:
            frame = stack.pop()
            if not done and outermost:
                _thread.stack = None
        try:
            self._close(frame, args, kwargs, result, outermost)
        except Exception as error:
            failed(f"a layer could not be traced ({layer.name})", error)
        return result

    def _begins(self, layer, args, kwargs):
        """Whether this call of a model is a pass of a training: one of an evaluation says that it is none, one on
        symbols of Keras's own builds a model."""
        if not self._trace.listens() or not isinstance(layer, self._keras.Model):
            return False
        given = list(_tensors([args, kwargs]))
        if not given or any(type(t).__name__ == "KerasTensor" for t in given):
            return False
        if kwargs.get("training") is False:
            return False
        shape = _shape(given[0])
        name = type(layer).__name__
        one = Pass(layer.name if name in ("Functional", "Sequential") else name, shape[0] if shape else None, ())
        one.symbolic = True
        one.input = _first(tuple(shape[1:]), self._keras, layer)
        _thread.one, _thread.stack = one, []
        optimizer = getattr(layer, "optimizer", None)
        if optimizer is not None and not self._trace.optimizers:
            optimizer = getattr(optimizer, "inner_optimizer", optimizer)
            momentum = bool(getattr(optimizer, "momentum", 0))
            self._trace.optimizers.append((type(optimizer).__name__, momentum))
        return True

    def _close(self, frame, args, kwargs, result, outermost):
        layer = frame.layer
        if not isinstance(layer, self._keras.Model) and (not frame.layers or is_whole(layer)):
            inputs = [_shape(t) for t in _tensors([args, kwargs])]
            outputs = [_shape(t) for t in _tensors([result])]
            frame.layers = list(describe(layer, frame.path, inputs, outputs, self._channels_last(layer)))
        if not outermost:
            _thread.stack[-1].layers.extend(frame.layers)
            return
        _thread.stack = None
        one = _thread.one
        one.layers = frame.layers
        one.batch = one.batch or _told.get("batch")
        if one.layers:
            self._trace.add(one)

    def _channels_last(self, layer):
        return getattr(layer, "data_format", None) or self._keras.backend.image_data_format()


def _path(stack, layer):
    """Names below the outermost model; a Sequential has another model of the same name inside."""
    names = [*(frame.layer.name for frame in stack), layer.name]
    return ".".join(name for outer, name in zip(names, names[1:]) if name != outer)


def _first(sample, keras, layer):
    if len(sample) > 2 and keras.backend.image_data_format() == "channels_last":
        return (sample[-1], *sample[:-1])
    return sample


def _tensors(value):
    if isinstance(value, dict):
        for one in value.values():
            yield from _tensors(one)
    elif isinstance(value, (list, tuple)):
        for one in value:
            yield from _tensors(one)
    elif hasattr(value, "shape") and hasattr(value, "dtype"):
        yield value


def _shape(tensor):
    try:
        return [None if size is None else int(size) for size in tensor.shape]
    except ValueError:  # of unknown rank
        return []
