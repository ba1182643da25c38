import jobs
from keras_cases import KerasCases, full

TENSORFLOW_LOOP = """
    import tensorflow as tf
    model, optimizer = network(), keras.optimizers.SGD(0.01)
    def step(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((model(x)[:, 0] - y) ** 2)
        weights = model.trainable_variables
        optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights))
        return loss
    compiled = tf.function(step)
    @tf.function
    def twice(x, y):
        compiled(x, y)
        return compiled(x, y)
    @tf.function
    def score(x):
        return tf.reduce_sum(model(x))
    for loop, count in ((step, 3), (compiled, 4), (score, 5), (twice, 2)):
        for _ in range(count):
            print(float(loop(x, y) if loop is not score else loop(x)))
"""


class Keras3(KerasCases):
    saved_as = "keras"

    def hook_name(self, result):
        return [mark.name for mark in result.of("hook")][-1]

    @classmethod
    def setUpClass(cls):
        cls.python = jobs.venv("keras3-" + cls.venv, "keras")
        cls.environment = {"KERAS_BACKEND": cls.backend}
        cls.expected_hook = rf"^keras 3\.[\d.]+ \({cls.backend}\)$"


class TensorFlow(Keras3, jobs.JobTest):
    venv, backend = "tf", "tensorflow"

    def test_gradient_tape_loops_eager_and_compiled_are_marked_and_compute_the_same(self):
        result, plain = self.train(TENSORFLOW_LOOP), self.train(TENSORFLOW_LOOP, hooks=False)
        self.assertEqual(result.out, plain.out)
        self.assertEqual(len(result.iterations()), 9)  # score() trains nothing

    @full
    def test_data_of_unknown_length_makes_no_iteration_too_many(self):
        result = self.train("""
    import tensorflow as tf
    def batches():
        for _ in range(3):
            yield x[:8], y[:8]
    kinds = tf.TensorSpec((8, 4)), tf.TensorSpec((8,))
    network().fit(tf.data.Dataset.from_generator(batches, output_signature=kinds), epochs=3, verbose=0)
""")
        self.assertEqual([index for index, _, _ in result.iterations()], list(range(9)))
        self.assertEqual([mark.detail[1] for mark in result.of("iteration begin")], [0] * 3 + [3] * 6)

    @full
    def test_a_failing_hook_is_told_and_the_training_goes_on(self):
        result = self.train("""
    model = network()
    given = keras.callbacks.CallbackList([], add_history=True, model=model, epochs=1, steps="many")
    print(len(model.fit(x, y, batch_size=8, verbose=0, callbacks=given).history["loss"]))
""", problems=["a hook into Keras or JAX failed in epoch_begins "
               "(ValueError: invalid literal for int() with base 10: 'many')"])
        self.assertEqual(result.out, "1\n")


@full
class Jax(Keras3, jobs.JobTest):
    venv, backend = "jax", "jax"


@full
class Torch(Keras3, jobs.JobTest):
    venv, backend = "torch", "torch"
    several_steps = False

    def test_torch_compile_breaks_no_graph_more(self):
        body = """
    import torch, torch._dynamo as dynamo
    original = torch.compile
    torch.compile = lambda function=None, **_: original(function, backend="eager")
    model = network()
    model.compile("adam", "mse", jit_compile=True)
    print(model.fit(x, y, batch_size=8, epochs=2, verbose=0).history)
    print(sorted(dynamo.utils.counters["stats"].items()), sum(dynamo.utils.counters["graph_break"].values()))
"""
        result, plain = self.train(body), self.train(body, hooks=False)
        self.assertEqual(result.out, plain.out)
        self.assertEqual(len(result.iterations()), 10)

    def test_an_optimizer_s_steps_are_iterations(self):
        result = self.train("""
    import torch
    model, optimizer = network(), keras.optimizers.SGD(0.01)
    optimizer.build(model.trainable_variables)
    for _ in range(5):
        model.zero_grad()
        (model(torch.ones(2, 4)) ** 2).mean().backward()
        with torch.no_grad():
            optimizer.apply([v.value.grad for v in model.trainable_variables], model.trainable_variables)
""")
        self.assertEqual(len(result.iterations()), 5)


del Keras3, KerasCases
