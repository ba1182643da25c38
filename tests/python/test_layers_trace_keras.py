"""The layers of Keras models through the hooks, against the networks in workloads/."""

import jobs
from test_layers_trace import TraceTest, described, macs_of

HEAD = """
    import os
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    import numpy as np
    if os.environ.get("KERAS_2"):
        from tensorflow import keras
    else:
        import keras
"""
STEP_OF = """
    import tensorflow as tf
    model = keras.applications.{}(weights=None)
    model.compile("sgd", "sparse_categorical_crossentropy")
    step = tf.function(lambda x, y: model.train_step((x, y)))
    step.get_concrete_function(tf.TensorSpec((2, 224, 224, 3)), tf.TensorSpec((2,)))  # compiled, and not run
"""


class KerasTrace:
    """Mixed into a TraceTest with `python` and `environment`."""

    head = HEAD

    def network(self, body, **more):
        return super().network(body, **self.environment, **more)

    def test_layers_come_in_order_with_merges_activations_and_nested_models(self):
        network = self.network("""
    inner = keras.Sequential([keras.layers.Conv2D(4, 3, padding="same", name="c")], name="inner")
    x = begin = keras.Input((8, 8, 3))
    x = keras.layers.Conv2D(4, 3, strides=2, padding="same", activation="relu", use_bias=False, name="first")(x)
    x = keras.layers.BatchNormalization(name="norm")(x)
    x = keras.layers.Add(name="sum")([inner(x), x])
    x = keras.layers.GlobalAveragePooling2D(name="pool")(x)
    model = keras.Model(begin, keras.layers.Dense(3, activation="softmax", name="head")(x))
    model.compile(keras.optimizers.Adam(), "sparse_categorical_crossentropy")
    model.fit(np.ones((20, 8, 8, 3), "float32"), np.zeros(20, "int32"), batch_size=8, epochs=2, verbose=0)
""")
        self.assertEqual(self.kinds(network), [
            ("first", "conv"), ("first.relu", "relu"), ("norm", "batchnorm"), ("inner.c", "conv"), ("sum", "add"),
            ("pool", "globalpool"), ("head", "linear"), ("head.softmax", "softmax"),
        ])  # fmt: skip
        layers = network["layers"]
        self.assertEqual((layers[0]["input_shapes"], layers[0]["output_shape"]), ([[3, 8, 8]], [4, 4, 4]))
        self.assertEqual([layer.get("parameters", 0) for layer in layers], [108, 0, 8, 148, 0, 0, 15, 0])
        self.assertEqual((network["batch"], network["input"], network["optimizer"]), (8, [3, 8, 8], "adam"))
        self.assertEqual(network["notes"], [])

    def test_a_subclassed_model_and_a_recurrent_layer_have_shapes(self):
        network = self.network("""
    class Reader(keras.Model):
        def __init__(self):
            super().__init__()
            self.words, self.memory = keras.layers.Embedding(50, 8, name="words"), keras.layers.LSTM(6, name="memory")
            self.head = keras.layers.Dense(2, name="head")
        def call(self, tokens, training=None):
            return self.head(self.memory(self.words(tokens)))
    model = Reader()
    model.compile("sgd", "mse")
    model.fit(np.ones((16, 7), "int32"), np.zeros((16, 2), "float32"), batch_size=4, epochs=1, verbose=0)
""")
        self.assertEqual(self.kinds(network), [("words", "embedding"), ("memory", "lstm"), ("head", "linear")])
        # 7 steps, 4 gates of 6 from 8 inputs and 6 states; a multiply-add is two operations.
        self.assertEqual(network["layers"][1]["operations"], 2 * 7 * 4 * 6 * (8 + 6))
        self.assertEqual((network["name"], network["batch"]), ("Reader", 4))


class OfTensorFlow(KerasTrace):
    def test_vgg16_has_the_products_of_its_description_layer_by_layer(self):
        network = self.network(STEP_OF.format("VGG16"))
        dense = [layer for layer in network["layers"] if layer["kind"] in ("conv", "linear")]
        self.assertEqual(sum(map(macs_of, dense)), 15_470_264_320)
        self.assertEqual(sum(layer.get("parameters", 0) for layer in network["layers"]), 138_357_544)
        size = lambda layer: (layer["kind"], layer.get("channels", layer.get("features")))
        self.assertEqual(list(map(size, dense)), list(map(size, described("vgg16"))))

    @jobs.full_only
    def test_resnet50_with_the_stride_in_its_first_convolutions_does_less(self):
        network = self.network(STEP_OF.format("ResNet50"))
        dense = [layer for layer in network["layers"] if layer["kind"] in ("conv", "linear")]
        # He et al. 2016 place the stride here, in table 1's 3.8 G; this one's projections and head come on top.
        self.assertEqual(sum(map(macs_of, dense)), 3_857_973_248)
        # Every convolution has a bias here: one for each of 26560 channels more than workloads/networks/resnet50.json.
        self.assertEqual(sum(layer.get("parameters", 0) for layer in network["layers"]), 25_557_032 + 26_560)
        channels = sorted(layer.get("channels", 0) for layer in dense)
        self.assertEqual(channels, sorted(layer.get("channels", 0) for layer in described("resnet50")))


class Keras3(OfTensorFlow, TraceTest):
    environment = {"KERAS_BACKEND": "tensorflow"}

    @classmethod
    def setUpClass(cls):
        cls.python = jobs.venv("keras3-tf", "keras")

    def test_lengths_that_change_are_dynamic(self):
        network = self.network("""
    def batches():
        for length in (5, 6, 7, 8):
            yield np.ones((2, length, 3), "float32"), np.zeros((2, 1), "float32")
    import tensorflow as tf
    shapes = tf.TensorSpec((2, None, 3)), tf.TensorSpec((2, 1))
    model = keras.Sequential([keras.layers.Conv1D(4, 3, name="c"), keras.layers.GlobalAveragePooling1D(), keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    model.fit(tf.data.Dataset.from_generator(batches, output_signature=shapes), epochs=1, verbose=0)
""")
        self.assertIn("dynamic", network["layers"][0])
        self.assertEqual(network["layers"][0]["input_shapes"], [[3, None]])


@jobs.full_only
class Keras3OnTorch(KerasTrace, TraceTest):
    environment = {"KERAS_BACKEND": "torch"}

    @classmethod
    def setUpClass(cls):
        cls.python = jobs.venv("keras3-torch", "keras")


@jobs.full_only
class Keras3OnJax(KerasTrace, TraceTest):
    environment = {"KERAS_BACKEND": "jax"}

    @classmethod
    def setUpClass(cls):
        cls.python = jobs.venv("keras3-jax", "keras")

    def test_a_program_in_jax_alone_is_named(self):
        document = self.trace("import jax", head="")
        self.assertIn("functions", document["why"])


@jobs.full_only
class TfKeras(OfTensorFlow, TraceTest):
    environment = {"KERAS_2": "1"}

    @classmethod
    def setUpClass(cls):
        cls.python = jobs.venv("tf215", "tensorflow")


del KerasTrace, OfTensorFlow, TraceTest
