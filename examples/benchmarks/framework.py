"""What the Keras benchmarks share: the command line, finding a Keras, and telling the result.

They are ordinary training programs. Nothing here knows of an energy meter.
"""

import argparse
import importlib
import importlib.util
import json
import os
import sys

BACKENDS = ("tensorflow", "jax", "torch")
HOW_TO_GET_KERAS = """no Keras was found for {python}.
  Keras 3:   {python} -m pip install keras tensorflow     (or jax, or torch, in place of tensorflow)
  tf.keras 2: {python} -m pip install "tensorflow==2.15.*"
"""


def options(doc, epochs, batch_size, samples, more=None):
    """The parsed command line. `samples`: how many are made up unless --samples says otherwise; `more(parser)`
    may add options."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--epochs", type=at_least(1), default=epochs)
    parser.add_argument("--batch-size", type=at_least(1), default=batch_size)
    parser.add_argument("--samples", type=at_least(10),
                        help="use so many training samples; without it a real data set is used whole, and "
                        f"{samples} samples are made up where there is none")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--free-kernels", action="store_true",
                        help="let TensorFlow pick kernels whose last bits differ from run to run")
    parser.add_argument("--verbose", type=int, choices=(0, 1, 2), default=2, help="as Keras has it")
    if more:
        more(parser)
    chosen = parser.parse_args()
    chosen.made_up_samples = chosen.samples or samples
    return chosen


def at_least(least):
    def number(text):
        value = int(text)
        if value < least:
            raise argparse.ArgumentTypeError(f"{value} is too small, needed is {least} or more")
        return value
    return number


def find_keras(chosen):
    """Keras 3 with the backend that KERAS_BACKEND or keras.json names, or an installed one; else tf.keras 2."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    keras = keras_3() or tf_keras()
    if keras is None:
        sys.exit("error: " + HOW_TO_GET_KERAS.format(python=sys.executable))
    keras.utils.set_random_seed(chosen.seed)
    if "tensorflow" in sys.modules and not chosen.free_kernels:
        sys.modules["tensorflow"].config.experimental.enable_op_determinism()
    return keras


def keras_3():
    if importlib.util.find_spec("keras") is None:
        return None
    installed = [name for name in BACKENDS if importlib.util.find_spec(name)]
    if not installed:
        return None
    if os.environ.get("KERAS_BACKEND", configured()) not in installed:
        os.environ["KERAS_BACKEND"] = installed[0]
    keras = importlib.import_module("keras")
    return keras if int(keras.__version__.split(".")[0]) >= 3 else None


def configured():
    """The backend Keras takes when the environment names none."""
    home = os.environ.get("KERAS_HOME") or os.path.expanduser("~/.keras")
    try:
        with open(os.path.join(home, "keras.json")) as stream:
            return json.load(stream).get("backend")
    except (OSError, ValueError):
        return "tensorflow"


def tf_keras():
    if importlib.util.find_spec("tensorflow") is None:
        return None
    return importlib.import_module("tensorflow").keras


def what_runs(keras):
    if hasattr(keras, "version"):
        return f"Keras {keras.version()} on {keras.backend.backend()}"
    return f"tf.keras of TensorFlow {sys.modules['tensorflow'].__version__}"


def train_and_tell(keras, model, train, test, chosen):
    """Trains and prints what a second run with the same seed prints again, digit for digit."""
    print(f"{model.name}: {model.count_params()} parameters, {what_runs(keras)}, {len(train[1])} samples, "
          f"batches of {chosen.batch_size}", flush=True)
    history = model.fit(*train, batch_size=chosen.batch_size, epochs=chosen.epochs, validation_data=test,
                        verbose=chosen.verbose)
    for epoch, loss in enumerate(history.history["loss"]):
        print(f"epoch {epoch + 1}: loss {loss!r}, on test data {history.history['val_loss'][epoch]!r}")
    loss, accuracy = model.evaluate(*test, batch_size=chosen.batch_size, verbose=0)
    print(f"test: loss {loss!r}, accuracy {accuracy!r}", flush=True)
