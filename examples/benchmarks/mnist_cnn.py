#!/usr/bin/env python3
"""MNIST, a small convolutional network: two convolutions with pooling, one dense layer.

    python3 examples/benchmarks/mnist_cnn.py [--epochs 5] [--batch-size 128] [--samples N] [--data DIR]

Keras 3 on TensorFlow, JAX or Torch, or tf.keras 2.
"""

import framework
import pictures


def network(keras):
    layers = keras.layers
    return keras.Sequential([
        keras.Input(shape=(28, 28, 1)),
        layers.Conv2D(32, 3, activation="relu"),
        layers.MaxPooling2D(2),
        layers.Conv2D(64, 3, activation="relu"),
        layers.MaxPooling2D(2),
        layers.Flatten(),
        layers.Dropout(0.5),
        layers.Dense(10, activation="softmax"),
    ], name="mnist_cnn")


def main():
    chosen = framework.options(__doc__, epochs=5, batch_size=128, samples=4096, more=pictures.add_option)
    keras = framework.find_keras(chosen)
    train, test = pictures.mnist(chosen)
    model = network(keras)
    model.compile(optimizer="adam", loss="sparse_categorical_crossentropy", metrics=["accuracy"])
    framework.train_and_tell(keras, model, train, test, chosen)


if __name__ == "__main__":
    main()
