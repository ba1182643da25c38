"""The five benchmarks: each trains on tiny data, and its marks tell its epochs and iterations."""

import subprocess

import jobs
from keras_cases import full, trainings, without_times

BENCHMARKS = jobs.SOURCE / "examples" / "benchmarks"
TINY = ["--epochs", "2", "--samples", "40", "--batch-size", "16"]  # three iterations an epoch


class Benchmarks(jobs.JobTest):
    def train(self, name, venv="keras3-tf", more=(), **environment):
        python = jobs.venv(venv, "tensorflow" if venv == "tf215" else "keras")
        environment.setdefault("KERAS_HOME", self.folder / "home")
        result = self.run_job([str(BENCHMARKS / f"{name}.py"), *TINY, *more], python=python, **environment)
        self.assertEqual(result.code, 0, result.err)
        return result

    def assert_two_epochs_of_three(self, result):
        (training,) = trainings(result)
        self.assertEqual((training.epochs, training.planned, training.iterations), ([0, 1], [2, 2], [3, 3]))
        self.assertEqual((training.of_epoch, training.evaluations), ([3] * 6, 2))
        self.assertIn("\nepoch 2: loss ", result.out)

    def test_mnist_cnn(self):
        self.assert_two_epochs_of_three(self.train("mnist_cnn"))

    @full
    def test_the_others_on_keras(self):
        shorter = {"mnist_dense": (), "resnet_cifar10": ("--depth", "8"), "bert_finetune": ("--length", "16")}
        for name, more in shorter.items():
            with self.subTest(name):
                self.assert_two_epochs_of_three(self.train(name, more=more))

    @full
    def test_on_jax_and_on_torch(self):
        for venv in ("keras3-jax", "keras3-torch"):
            with self.subTest(venv):
                result = self.train("mnist_dense", venv)  # it finds the installed backend by itself
                self.assertIn(f" on {venv[7:]}, ", result.out)
                self.assert_two_epochs_of_three(result)

    @full
    def test_on_tf_keras_2(self):
        for name in ("mnist_cnn", "mnist_dense"):
            with self.subTest(name):
                self.assert_two_epochs_of_three(self.train(name, "tf215"))

    @full
    def test_the_same_seed_prints_the_same_and_another_does_not(self):
        first, again, other = (self.train("mnist_cnn", more=("--seed", seed)).out for seed in "778")
        self.assertEqual(without_times(first), without_times(again))
        self.assertNotEqual(without_times(first), without_times(other))

    @full
    def test_a_real_data_set_is_used_when_it_is_there(self):
        python = jobs.venv("keras3-tf", "keras")
        digits = self.folder / "digits"
        digits.mkdir()
        make = "import numpy as n, sys; x = n.full((50, 28, 28), 255, 'uint8'); y = n.arange(50) % 10; " \
               "n.savez(sys.argv[1], x_train=x, y_train=y, x_test=x, y_test=y)"
        subprocess.run([python, "-c", make, str(digits / "mnist.npz")], check=True)
        result = self.train("mnist_dense", more=("--data", str(digits)))
        self.assertIn(f"data: MNIST from {digits}", result.out)
        self.assert_two_epochs_of_three(result)
        photographs = self.folder / "photographs" / "cifar-10-batches-py"
        photographs.mkdir(parents=True)
        make = "import numpy as n, pickle, sys; " \
               "batch = {b'data': n.zeros((10, 3072), 'uint8'), b'labels': [1] * 10}; " \
               "pickle.dump(batch, open(sys.argv[1], 'wb'))"
        for batch in ["test_batch", *(f"data_batch_{number}" for number in range(1, 6))]:
            subprocess.run([python, "-c", make, str(photographs / batch)], check=True)
        result = self.train("resnet_cifar10", more=("--depth", "8", "--data", str(photographs.parent)))
        self.assertIn(f"data: CIFAR-10 from {photographs}", result.out)
        self.assert_two_epochs_of_three(result)

    def test_without_a_keras_it_says_how_to_get_one(self):
        done = subprocess.run(["/usr/bin/python3", "-S", "-c", f"""
import sys, types
sys.path.insert(0, {str(BENCHMARKS)!r})
sys.argv = ["mnist_cnn.py"]
import framework
framework.find_keras(types.SimpleNamespace(seed=1, free_kernels=False))
"""], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
        self.assertEqual(done.returncode, 1)
        lines = r"^error: no Keras was found for /usr/bin/python3.\n  Keras 3: .* pip install "
        self.assertRegex(done.stderr, lines)

    def test_nbody_keeps_its_energy_whatever_the_threads_and_marks_its_steps(self):
        build = self.folder / "nbody"
        for arguments in (["-S", str(BENCHMARKS / "nbody"), "-B", str(build)], ["--build", str(build)]):
            done = subprocess.run(["cmake", *arguments], capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertNotIn("warning", done.stderr)
        marks = self.folder / "marks"
        marks.mkdir()
        told = []
        for threads in "12":
            command = [str(build / "nbody"), "--bodies", "300", "--epochs", "2", "--steps", "10"]
            command += ["--device", "cpu", "--threads", threads]
            told.append(subprocess.check_output(command, text=True, env={"RUBATO_MARKS": str(marks)}))
        self.assertEqual(told[0], told[1])
        drifts = [float(line.rsplit(" ", 1)[1]) for line in told[0].splitlines() if "drift" in line]
        self.assertEqual(len(drifts), 2)
        self.assertLess(max(drifts), 1e-4)
        kinds = [mark.kind for mark in jobs.rings.read(marks)]
        self.assertEqual((kinds.count("iteration end"), kinds.count("epoch end")), (40, 4))
