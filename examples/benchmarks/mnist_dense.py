#!/usr/bin/env python3
"""MNIST, dense layers only: two of 512 units with dropout. Large matrices, little else.

    python3 examples/benchmarks/mnist_dense.py [--epochs 5] [--batch-size 128] [--samples N] [--data DIR]

Keras 3 on TensorFlow, JAX or Torch, or tf.keras 2.
"""

import framework
import pictures


def network(keras):
    layers = keras.layers
    return keras.Sequential([
        keras.Input(shape=(28, 28, 1)),
        layers.Flatten(),
        layers.Dense(512, activation="relu"),
        layers.Dropout(0.2),
        layers.Dense(512, activation="relu"),
        layers.Dropout(0.2),
        layers.Dense(10, activation="softmax"),
    ], name="mnist_dense")


def main():
    chosen = framework.options(__doc__, epochs=5, batch_size=128, samples=8192, more=pictures.add_option)
    keras = framework.find_keras(chosen)
    train, test = pictures.mnist(chosen)
    model = network(keras)
    model.compile(optimizer="rmsprop", loss="sparse_categorical_crossentropy", metrics=["accuracy"])
    framework.train_and_tell(keras, model, train, test, chosen)


if __name__ == "__main__":
    main()
