#!/usr/bin/env python3
"""A BERT encoder on a sentence-pair task: do both sentences speak of the same topic?

    python3 examples/benchmarks/bert_finetune.py [--size tiny|small|base] [--epochs 3] [--samples N]

The encoder is built from the framework's layers with random weights and the sentences are made up, so nothing
is downloaded: the work of a fine-tuning step is the same, the accuracy is not that of a pre-trained model.
Keras 3 on TensorFlow, JAX or Torch, or tf.keras 2.
"""

import framework
import numpy as np

SIZES = {"tiny": (2, 128, 2), "small": (4, 512, 8), "base": (12, 768, 12)}  # layers, width, heads
WORDS, TOPICS = 2000, 20
PAD, CLASSIFY, SEPARATE, FIRST_WORD = 0, 1, 2, 3


def add_options(parser):
    parser.add_argument("--size", choices=SIZES, default="tiny")
    parser.add_argument("--length", type=framework.at_least(9), default=64, help="tokens a pair is padded to")


def sentence_pairs(source, count, length):
    """Token ids, segment ids and mask, each count x length, and whether both sentences share their topic."""
    tokens = np.full((count, length), PAD, "int32")
    segments = np.zeros((count, length), "int32")
    labels = source.integers(0, 2, count).astype("int32")
    longest = (length - 3) // 2
    words_of_topic = WORDS // TOPICS
    for row, same in enumerate(labels):
        topic = source.integers(0, TOPICS)
        other = topic if same else (topic + source.integers(1, TOPICS)) % TOPICS
        lengths = source.integers(longest // 2, longest + 1, 2)
        first, second = (FIRST_WORD + about * words_of_topic + source.integers(0, words_of_topic, words)
                         for about, words in zip((topic, other), lengths))
        pair = np.concatenate([[CLASSIFY], first, [SEPARATE], second, [SEPARATE]])
        tokens[row, :len(pair)] = pair
        segments[row, len(first) + 2:len(pair)] = 1
    return (tokens, segments, (tokens != PAD).astype("float32")), labels


def encoder(keras, size, length):
    layers = keras.layers
    depth, width, heads = SIZES[size]
    start = "glorot_uniform" if size == "tiny" else keras.initializers.TruncatedNormal(stddev=0.02)

    class Positions(layers.Layer):
        """Adds what each place in the sequence has learned of itself."""

        def build(self, input_shape):
            self.table = self.add_weight(shape=(length, width), initializer=start, name="table")

        def call(self, x):
            return x + self.table

    tokens = keras.Input(shape=(length,), dtype="int32", name="tokens")
    segments = keras.Input(shape=(length,), dtype="int32", name="segments")
    mask = keras.Input(shape=(length,), dtype="float32", name="mask")
    x = layers.Add()([layers.Embedding(FIRST_WORD + WORDS, width, embeddings_initializer=start)(tokens),
                      layers.Embedding(2, width, embeddings_initializer=start)(segments)])
    x = layers.Dropout(0.1)(layers.LayerNormalization(epsilon=1e-12)(Positions()(x)))
    seen = layers.Reshape((1, length))(mask)
    for _ in range(depth):
        attention = layers.MultiHeadAttention(heads, width // heads, dropout=0.1, kernel_initializer=start)
        y = layers.Dropout(0.1)(attention(x, x, attention_mask=seen))
        x = layers.LayerNormalization(epsilon=1e-12)(layers.Add()([x, y]))
        y = layers.Dense(4 * width, activation="gelu", kernel_initializer=start)(x)
        y = layers.Dropout(0.1)(layers.Dense(width, kernel_initializer=start)(y))
        x = layers.LayerNormalization(epsilon=1e-12)(layers.Add()([x, y]))
    first = layers.Flatten()(layers.Cropping1D((0, length - 1))(x))
    pooled = layers.Dropout(0.1)(layers.Dense(width, activation="tanh", kernel_initializer=start)(first))
    answer = layers.Dense(2, activation="softmax")(pooled)
    return keras.Model([tokens, segments, mask], answer, name=f"bert_{size}")


def main():
    chosen = framework.options(__doc__, epochs=3, batch_size=32, samples=2048, more=add_options)
    keras = framework.find_keras(chosen)
    source = np.random.default_rng(chosen.seed)
    print("data: made-up sentence pairs")
    train = sentence_pairs(source, chosen.made_up_samples, chosen.length)
    test = sentence_pairs(source, max(10, chosen.made_up_samples // 5), chosen.length)
    model = encoder(keras, chosen.size, chosen.length)
    steps = chosen.epochs * -(-chosen.made_up_samples // chosen.batch_size)
    rate = keras.optimizers.schedules.PolynomialDecay(1e-4 if chosen.size == "base" else 1e-3, steps)
    model.compile(optimizer=keras.optimizers.Adam(rate), loss="sparse_categorical_crossentropy",
                  metrics=["accuracy"])
    framework.train_and_tell(keras, model, train, test, chosen)


if __name__ == "__main__":
    main()
