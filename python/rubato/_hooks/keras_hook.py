"""Keras 3 on TensorFlow, JAX or Torch, and the package keras 2 that is tf.keras of TensorFlow 2.6 to 2.15.

fit() tells trainings, epochs and iterations (keras_fit), loops of the user's own tell theirs (keras_steps).
"""

import sys

from .. import _marks
from . import keras_fit, keras_steps, trackers_hook
from .keras_patch import in_phase, replace


def install(keras):
    """Hooks into the package `keras`, or one built like it: the module tf.keras, the package tf_keras."""
    if not _marks.active():
        return
    version = _version(keras)
    backend = keras.backend.backend() if hasattr(keras.backend, "backend") else "tensorflow"
    keras_fit.install(keras)
    replace(keras.Model, "evaluate", in_phase(_marks.EVALUATION, _pause))
    for name in ("save", "save_weights"):  # ModelCheckpoint calls them
        replace(keras.Model, name, in_phase(_marks.CHECKPOINT, _pause))
    keras_steps.install(keras, _compiling[backend] if backend in _compiling else _never)
    trackers_hook.install_keras(keras.callbacks)
    _marks.hook(f"{keras.__name__} {version} ({backend})")


def _version(keras):
    version = getattr(keras, "__version__", None)
    return version if isinstance(version, str) else keras.version()


def _pause():
    keras_fit.pause()
    keras_steps.pause()


def _compiling_tensorflow(*_, **__):
    return not sys.modules["tensorflow"].executing_eagerly()


def _compiling_jax(grads, *_, **__):
    tracer = sys.modules["jax"].core.Tracer
    return any(isinstance(grad, tracer) for grad in grads)


def _compiling_torch(*_, **__):
    compiler = getattr(sys.modules["torch"], "compiler", None)
    return hasattr(compiler, "is_compiling") and compiler.is_compiling()


def _never(*_, **__):
    return False


_compiling = {"tensorflow": _compiling_tensorflow, "jax": _compiling_jax, "torch": _compiling_torch}
