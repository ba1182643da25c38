"""Labelled pictures: a real data set where it lies on disk, else made-up ones of the same shape."""

import os
import pathlib
import pickle

import numpy as np


def add_option(parser):
    parser.add_argument("--data", type=pathlib.Path, help="where the real data set lies (default: ~/.keras/datasets)")


def mnist(chosen):
    """Handwritten digits, 28 x 28 x 1, ten classes; mnist.npz as Keras keeps it."""
    file = folder(chosen) / "mnist.npz"
    if not file.is_file():
        return made_up(chosen, "MNIST", file, (28, 28, 1))
    with np.load(file) as arrays:
        train = arrays["x_train"][..., np.newaxis], arrays["y_train"]
        test = arrays["x_test"][..., np.newaxis], arrays["y_test"]
    return real(chosen, "MNIST", file, train, test)


def cifar10(chosen):
    """Photographs, 32 x 32 x 3, ten classes; the Python version's batches, unpacked."""
    name = "cifar-10-batches-py"
    places = [folder(chosen) / name, folder(chosen) / (name + "-target") / name]  # Keras 2, Keras 3
    found = next((place for place in places if (place / "test_batch").is_file()), None)
    if found is None:
        return made_up(chosen, "CIFAR-10", places[0], (32, 32, 3))
    batches = [cifar_batch(found / f"data_batch_{number}") for number in range(1, 6)]
    train = tuple(np.concatenate(parts) for parts in zip(*batches))
    return real(chosen, "CIFAR-10", found, train, cifar_batch(found / "test_batch"))


def folder(chosen):
    home = os.environ.get("KERAS_HOME") or os.path.expanduser("~/.keras")
    return chosen.data or pathlib.Path(home, "datasets")


def cifar_batch(file):
    with open(file, "rb") as stream:
        batch = pickle.load(stream, encoding="bytes")
    # A row holds the red, then the green, then the blue plane.
    pictures = batch[b"data"].reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1)
    return pictures, np.array(batch[b"labels"])


def real(chosen, name, place, train, test):
    print(f"data: {name} from {place}")
    order = np.random.default_rng(chosen.seed)

    def part(pictures, labels, count):
        picked = order.permutation(len(labels))[:count]
        return pictures[picked].astype("float32") / 255, labels[picked].astype("int32")

    test_count = max(10, chosen.samples // 5) if chosen.samples else None
    return part(*train, chosen.samples), part(*test, test_count)


def made_up(chosen, name, place, shape):
    """Ten classes, each a fixed random picture under noise: learnable, of the real one's shape and range."""
    print(f"data: made up, of {name}'s shape, as {place} is not there (--data names another folder)")
    source = np.random.default_rng(chosen.seed)
    prototypes = source.random((10, *shape), dtype="float32")

    def part(count):
        labels = source.integers(0, 10, count).astype("int32")
        noise = source.normal(0, 0.5, (count, *shape)).astype("float32")
        return np.clip(prototypes[labels] + noise, 0, 1), labels

    return part(chosen.made_up_samples), part(max(10, chosen.made_up_samples // 5))
