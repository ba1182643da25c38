"""Model.fit() of Keras 2 and 3: trainings, epochs and iterations, from outside its loop.

An iteration lasts from one batch begin to the next, so that work the device still does after the host has
launched it is inside. The hook sits in CallbackList, not in a callback of its own: a callback with batch
hooks makes Keras 2 turn losses into numbers at every batch and Keras 3 call callbacks in turn, each a wait
for the device. Iterations are written when they are over: where the length of the data is unknown, Keras
begins one batch too many in the first epoch and notices inside it; that one has no batch end, and is none.
"""

import math
import threading
from time import monotonic_ns

from .. import _claims, _marks
from .keras_patch import quietly, replace

_BATCH = 32  # of arrays, where fit() is told none
_PRECISIONS = {"float32": "fp32", "float16": "fp16", "bfloat16": "bf16"}

_thread = threading.local()  # .fit: the call of fit() this thread is in; .iterations: numbers given so far


def next_index():
    """Number of the thread's next iteration: over all its trainings, as a ring has one series."""
    index = getattr(_thread, "iterations", 0)
    _thread.iterations = index + 1
    return index


def current():
    return getattr(_thread, "fit", None)


class Fit:
    """One call of fit(): what is open in it."""

    def __init__(self, model, claim, batch=0):
        self.claim = claim
        self._model = model
        self._batch = batch  # samples; 0: not known
        self._told = False
        self._callbacks = None  # the CallbackList of this call; others belong to fits inside it
        self._epoch = None
        self._per_execution = 1  # training steps
        self._steps_of_epoch = 0  # 0: Keras does not know
        self._begin_ns = None  # of the open iteration
        self._steps = 1  # in it
        self._launched = False  # its batch end was seen
        self._done = 0  # iterations in this epoch
        self._of_epoch = 0  # iterations an epoch has; 0: unknown
        self._training = _marks.begin_training()

    def owns(self, callbacks):
        if self._callbacks is None:
            self._callbacks = callbacks
        return self._callbacks is callbacks

    @quietly
    def epoch_begins(self, epoch):
        self._end_epoch()
        self._epoch, self._done = int(epoch), 0
        self._per_execution = _steps_per_execution(self._model)
        params = getattr(self._callbacks, "params", None) or {}
        self._steps_of_epoch = int(params.get("steps") or 0)
        if self._steps_of_epoch:
            self._of_epoch = -(-self._steps_of_epoch // self._per_execution)
        if not self.claim.silent():
            _marks.begin_epoch(self._epoch, int(params.get("epochs") or 0))

    @quietly
    def batch_begins(self, batch):
        now = monotonic_ns()
        self.end_iteration(now)
        self._begin_ns, self._launched = now, False
        self._steps = self._per_execution
        if self._steps > 1 and self._steps_of_epoch:  # the last execution of an epoch may do fewer
            self._steps = max(1, min(self._steps, self._steps_of_epoch - int(batch)))

    def batch_launched(self):
        self._launched = True
        if not self._told:  # not before: the first batch builds the model
            self._told = True
            self._tell()

    @quietly
    def _tell(self):
        if self.claim.silent():
            return
        model = self._model
        count = sum(math.prod(int(size) for size in weight.shape) for weight in model.trainable_weights)
        precision = _PRECISIONS.get(str(getattr(model, "compute_dtype", "")), "")
        _marks.model(str(model.name), count, self._batch, precision)

    def end_iteration(self, now_ns):
        begin, self._begin_ns = self._begin_ns, None
        if begin is None or not self._launched:
            return
        self._done += 1
        if not self.claim.silent():
            _marks.past_iteration(next_index(), begin, now_ns, self._steps, self._of_epoch)

    @quietly
    def epoch_ends(self):
        whole = self._end_epoch()
        if whole and not getattr(self._model, "stop_training", False):
            self._of_epoch = whole  # of data whose length Keras does not know

    @quietly
    def close(self):
        _thread.fit = None
        self._end_epoch()
        _marks.end_training(self._training)
        self.claim.release()

    def _end_epoch(self):
        self.end_iteration(monotonic_ns())
        epoch, self._epoch = self._epoch, None
        if epoch is not None and not self.claim.silent():
            _marks.end_epoch(epoch)
        return self._done


def _steps_per_execution(model):
    """Training steps between two batch begins. Keras 2 has a variable for it, which 'auto' changes."""
    value = getattr(model, "steps_per_execution", None)
    if value is None:
        value = getattr(model, "_steps_per_execution", None)
    return max(1, int(value.numpy() if hasattr(value, "numpy") else value or 1))


def _batch_of(x=None, y=None, batch_size=None, *_, **__):
    """Samples in a batch of fit(), from its arguments; 0: only the data knows."""
    if isinstance(batch_size, int):
        return batch_size
    spec = getattr(x, "element_spec", None)  # of tf.data: the first dimension may be open
    while isinstance(spec, (list, tuple, dict)) and spec:
        spec = next(iter(spec.values())) if isinstance(spec, dict) else spec[0]
    if spec is not None:
        shape = getattr(spec, "shape", None)
        return int(shape[0] or 0) if shape is not None and len(shape) else 0
    told = getattr(x, "batch_size", None)  # a DataLoader of PyTorch, many a sequence
    if isinstance(told, int):
        return told
    arrays = x.values() if isinstance(x, dict) else x if isinstance(x, (list, tuple)) else [x]
    return _BATCH if x is not None and all(hasattr(array, "shape") for array in arrays) else 0


@quietly
def _begin(model, args, kwargs):
    claim = _claims.claim(_claims.FIT, "keras fit")
    if claim is None:
        return None
    _thread.fit = Fit(model, claim, quietly(_batch_of)(*args, **kwargs) or 0)
    return _thread.fit


@quietly
def pause():
    """Ends the open iteration: what comes now is none."""
    fit = current()
    if fit is not None:
        fit.end_iteration(monotonic_ns())


def _fit(original):
    def fit(self, *args, **kwargs):
        mine = _begin(self, args, kwargs)
        if mine is None:
            return original(self, *args, **kwargs)
        try:
            return original(self, *args, **kwargs)
        finally:
            mine.close()

    return fit


def _before(action):
    """make() for replace(): tells the fit that owns this CallbackList, then calls the original."""

    def make(original):
        def method(self, *args, **kwargs):
            fit = getattr(_thread, "fit", None)
            if fit is not None and fit.owns(self):
                action(fit, *args, **kwargs)
            return original(self, *args, **kwargs)

        return method

    return make


def _epoch_end(original):
    def on_epoch_end(self, *args, **kwargs):
        fit = current()
        if fit is None or not fit.owns(self):
            return original(self, *args, **kwargs)
        pause()
        try:
            return original(self, *args, **kwargs)  # the callbacks still belong to the epoch
        finally:
            fit.epoch_ends()

    return on_epoch_end


def install(keras):
    """Hooks into `keras.Model` and `keras.callbacks.CallbackList`, of either version."""
    callbacks = keras.callbacks.CallbackList
    replace(callbacks, "on_train_begin", _before(lambda fit, *_, **__: None))  # owns() notes whose list it is
    replace(callbacks, "on_epoch_begin", _before(lambda fit, epoch, *_, **__: fit.epoch_begins(epoch)))
    replace(callbacks, "on_epoch_end", _epoch_end)
    replace(callbacks, "on_train_batch_begin", _before(lambda fit, batch, *_, **__: fit.batch_begins(batch)))
    replace(callbacks, "on_train_batch_end", _before(lambda fit, *_, **__: fit.batch_launched()))
    for name in ("fit", "fit_generator"):
        replace(keras.Model, name, _fit)
