#!/usr/bin/env python3
"""A residual network on CIFAR-10, as He et al. (2015), section 4.2, describe it: 6n + 2 layers, three widths.

    python3 examples/benchmarks/resnet_cifar10.py [--depth 20] [--epochs 2] [--batch-size 128] [--samples N]

Keras 3 on TensorFlow, JAX or Torch, or tf.keras 2.
"""

import framework
import pictures


def add_options(parser):
    pictures.add_option(parser)
    parser.add_argument("--depth", type=int, choices=range(8, 111, 6), default=20, metavar="6n+2")


def convolution(keras, x, width, stride=1, rectify=True):
    layers = keras.layers
    x = layers.Conv2D(width, 3, strides=stride, padding="same", use_bias=False,
                      kernel_initializer="he_normal")(x)
    x = layers.BatchNormalization()(x)
    return layers.ReLU()(x) if rectify else x


def block(keras, x, width, stride):
    layers = keras.layers
    y = convolution(keras, x, width, stride)
    y = convolution(keras, y, width, rectify=False)
    if stride != 1:
        x = layers.Conv2D(width, 1, strides=stride, use_bias=False, kernel_initializer="he_normal")(x)
        x = layers.BatchNormalization()(x)
    return layers.ReLU()(layers.Add()([x, y]))


def network(keras, depth):
    layers = keras.layers
    pixels = keras.Input(shape=(32, 32, 3))
    x = layers.RandomFlip("horizontal")(pixels)
    x = convolution(keras, x, 16)
    for width in (16, 32, 64):
        for number in range((depth - 2) // 6):
            x = block(keras, x, width, stride=2 if number == 0 and width > 16 else 1)
    x = layers.GlobalAveragePooling2D()(x)
    return keras.Model(pixels, layers.Dense(10, activation="softmax")(x), name=f"resnet{depth}")


def main():
    chosen = framework.options(__doc__, epochs=2, batch_size=128, samples=2048, more=add_options)
    keras = framework.find_keras(chosen)
    train, test = pictures.cifar10(chosen)
    model = network(keras, chosen.depth)
    model.compile(optimizer=keras.optimizers.SGD(0.1, momentum=0.9), loss="sparse_categorical_crossentropy",
                  metrics=["accuracy"])
    framework.train_and_tell(keras, model, train, test, chosen)


if __name__ == "__main__":
    main()
