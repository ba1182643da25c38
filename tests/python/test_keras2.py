import jobs
from keras_cases import KerasCases, full
from test_keras3 import TENSORFLOW_LOOP


@full
class TfKeras(KerasCases, jobs.JobTest):
    saved_as = "h5"
    environment = {"KERAS_2": "1"}
    expected_hook = r"^keras 2\.[\d.]+ \(tensorflow\)$"

    @classmethod
    def setUpClass(cls):
        cls.python = jobs.venv("tf215", "tensorflow")

    def hook_name(self, result):
        return result.of("hook")[0].name

    def test_gradient_tape_loops_eager_and_compiled_are_marked_and_compute_the_same(self):
        for optimizer in ("keras.optimizers.SGD", "keras.optimizers.legacy.SGD"):
            body = TENSORFLOW_LOOP.replace("keras.optimizers.SGD", optimizer)
            result, plain = self.train(body), self.train(body, hooks=False)
            self.assertEqual(result.out, plain.out)
            self.assertEqual(len(result.iterations()), 9, optimizer)

    def test_fit_generator_is_one_training_and_auto_steps_per_execution_breaks_nothing(self):
        result = self.train("""
    def batches():
        while True:
            yield x[:8], y[:8]
    network().fit_generator(batches(), steps_per_epoch=3, epochs=2, verbose=0)
    model = network()
    model.compile("adam", "mse", steps_per_execution="auto")
    model.fit(x, y, batch_size=2, epochs=2, verbose=0)
""")
        self.assertEqual(len(result.of("training begin")), 2)
        self.assertEqual(len(result.of("epoch end")), 4)


del KerasCases
