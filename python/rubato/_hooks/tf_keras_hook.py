"""TensorFlow: its compiled functions as training steps; and its own Keras 2 where that is no package of its
own.

From TensorFlow 2.6 tf.keras is the package keras (keras_hook) or tf_keras, which is built like it.
"""

from .. import _marks
from . import keras_hook, keras_steps


def install(module):
    """Hooks into the module tensorflow, or into the package tf_keras."""
    if not _marks.active():
        return
    if module.__name__ == "tf_keras":
        keras_hook.install(module)
        return
    if not hasattr(module, "function"):
        raise RuntimeError(f"TensorFlow {module.__version__} has no tf.function; 2.2 or later is needed")
    keras_steps.install_function(module)
    major, minor = (int(part) for part in module.__version__.split(".")[:2])
    if (major, minor) < (2, 6):
        keras_hook.install(module.keras)
