"""What the Keras hooks must do, whatever the version and backend; test_keras3 and test_keras2 say which."""

import collections
import re
import unittest

import jobs

full = unittest.skipUnless(jobs.FULL, "RUBATO_CHECK_FULL=1 runs it")

HEAD = """
    import os, numpy as np
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    keras = __import__("tensorflow").keras if os.environ.get("KERAS_2") else __import__("keras")
    keras.utils.set_random_seed(1)
    x = np.random.rand(40, 4).astype("float32")
    y = x.sum(1)
    def network(steps_per_execution=1, kind=keras.Sequential):
        model = kind([keras.Input((4,)), keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1)])
        several = {"steps_per_execution": steps_per_execution} if steps_per_execution > 1 else {}
        model.compile("adam", "mse", **several)
        return model
"""

FIELDS = "epochs planned iterations steps of_epoch evaluations checkpoints"
Training = collections.namedtuple("Training", FIELDS)


def trainings(result):
    """What each call of fit() marked, with the iterations that began in each epoch."""
    found = []
    for begin, end in spans(result, "training"):
        inside = [mark for mark in result.marks if begin <= mark.ns <= end]
        iterations = [mark for mark in inside if mark.kind == "iteration begin"]
        epochs = spans(result, "epoch", inside)
        found.append(Training(
            [mark.id for mark in inside if mark.kind == "epoch begin"],
            [mark.detail[0] for mark in inside if mark.kind == "epoch begin"],
            [sum(first <= mark.ns <= last for mark in iterations) for first, last in epochs],
            [mark.detail[0] for mark in iterations],
            [mark.detail[1] for mark in iterations],
            sum(mark.kind == "phase begin" and mark.name == "evaluation" for mark in inside),
            sum(mark.kind == "phase begin" and mark.name == "checkpoint" for mark in inside),
        ))
    return found


def spans(result, what, marks=None):
    marks = result.marks if marks is None else marks
    chosen = [mark for mark in marks if mark.kind in (what + " begin", what + " end")]
    begins, ends = chosen[::2], chosen[1::2]
    assert [(m.kind, m.id) for m in ends] == [(what + " end", m.id) for m in begins], chosen
    return [(begin.ns, end.ns) for begin, end in zip(begins, ends)]


def without_times(text):
    return re.sub(r"\b\d+(\.\d+)?(s|ms|us)(/step|/epoch)?\b", "T", text)


class KerasCases:
    """Mixed into a JobTest with `python`, `environment` and what the Keras at hand can do."""

    several_steps = True  # steps_per_execution

    def train(self, body, **more):
        result = self.run_job(HEAD + body, python=self.python, **self.environment, **more)
        self.assertEqual(result.code, 0, result.err)
        return result

    def test_fit_is_marked_and_prints_and_computes_the_same(self):
        body = f"""
    model = network({2 if self.several_steps else 1})
    mine = [keras.callbacks.ModelCheckpoint("best.{self.saved_as}", save_best_only=False)]
    history = model.fit(x, y, 8, 3, 2, mine, validation_data=(x, y))
    print(history.history, len(mine), [type(callback).__name__ for callback in mine])
    print(model.evaluate(x, y, verbose=0))
"""
        result, plain = self.train(body), self.train(body, hooks=False)
        self.assertEqual(without_times(result.out), without_times(plain.out))
        self.assertEqual(len(result.err), len(plain.err), result.err)
        self.assertEqual(plain.marks, [])
        self.assertRegex(self.hook_name(result), self.expected_hook)
        per_epoch = 3 if self.several_steps else 5
        steps = [2, 2, 1] if self.several_steps else [1] * 5
        of_epoch = [per_epoch] * 3 * per_epoch
        self.assertEqual(
            trainings(result), [Training([0, 1, 2], [3] * 3, [per_epoch] * 3, steps * 3, of_epoch, 3, 3)]
        )
        self.assertEqual(len(result.phases("evaluation")), 4)  # and the one after fit()
        first_epoch = result.iterations()[:per_epoch]
        self.assertEqual([end for _, _, end in first_epoch][:-1], [begin for _, begin, _ in first_epoch][1:])
        self.assertEqual([index for index, _, _ in result.iterations()], list(range(3 * per_epoch)))

    @full
    def test_it_tells_what_is_trained(self):
        result = self.train("""
    model = network()
    model.layers[0].trainable = False
    model.compile("sgd", "mse")
    model.fit(x, y, batch_size=16, epochs=2, verbose=0)
    network().fit(x, y, verbose=0)
""")
        told = [(mark.detail[0], mark.detail[1], mark.detail[2]) for mark in result.of("model")]
        self.assertEqual(told, [(8 + 1, 16, 1), (4 * 8 + 8 + 8 + 1, 32, 1)])

    def test_trainings_that_are_not_plain(self):
        result = self.train("""
    class Own(keras.Sequential):
        def train_step(self, *arguments, **more):
            return super().train_step(*arguments, **more)
    class Nested(keras.callbacks.Callback):
        def on_train_begin(self, logs=None):
            network().fit(x, y, batch_size=4, epochs=2, verbose=0)
    class Breaks(keras.callbacks.Callback):
        def on_train_batch_end(self, batch, logs=None):
            if batch == 2:
                raise KeyError("stop")
    class Stops(keras.callbacks.Callback):
        def on_train_batch_end(self, batch, logs=None):
            self.model.stop_training = batch == 3
    network(kind=Own).fit(x, y, batch_size=20, epochs=4, initial_epoch=2, verbose=0)
    network().fit(x, y, batch_size=10, verbose=0, callbacks=Nested())
    try:
        network().fit(x, y, batch_size=8, epochs=2, verbose=0, callbacks=[Breaks()])
    except KeyError:
        pass
    model = network()
    given = keras.callbacks.CallbackList([Stops()], add_history=True, model=model)
    model.fit(x, y, batch_size=8, epochs=2, verbose=0, callbacks=given)
    def batches():
        for _ in range(2):
            yield x[:8], y[:8]
    model.fit(batches(), epochs=1, verbose=0)
""")
        whole, nested, broken, stopped, unknown = trainings(result)
        self.assertEqual((whole.epochs, whole.iterations, whole.planned), ([2, 3], [2, 2], [4, 4]))
        self.assertEqual((nested.epochs, nested.iterations), ([0], [4]))  # the fit inside says nothing
        self.assertEqual((broken.epochs, broken.iterations), ([0], [3]))
        self.assertEqual((stopped.epochs, stopped.iterations), ([0], [4]))
        self.assertEqual((unknown.epochs, unknown.iterations, unknown.of_epoch), ([0], [2], [0, 0]))

    @full
    def test_loops_of_the_user_s_own(self):
        result = self.train("""
    generator, critic = network(), network()
    for _ in range(4):
        for _ in range(2):
            critic.train_on_batch(x[:8], y[:8])
        generator.train_on_batch(x[:8], y[:8])
    generator.evaluate(x, y, verbose=0)
""")
        # One a round; before the generator's first step the critic is all there is.
        self.assertIn(len(result.iterations()), (4, 5, 6))
        self.assertEqual(len(result.phases("evaluation")), 1)
        last = result.iterations()[-1][2]
        self.assertLessEqual(last, result.phases("evaluation")[0][1])
