#!/usr/bin/env python3
"""Does measuring slow a training down? The same CPU training plain and under `rubato measure`, in pairs.

    bench/paired_training.py [--build build/release] [--pairs 12] [--gpu sim:v100|none] [-- CMD...]

Each pair runs both in random order; what is compared is the wall time of the whole command, start-up of
rubato included. Printed: the ratio of each pair, their mean and its 95 % interval (Student's t over pairs).
Without CMD it is examples/train_small_network.py, which needs PyTorch. Run it on a quiet machine.
"""

import argparse

import paired


def main():
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    paired.add_options(parser)
    options = paired.parse(parser)
    example = str(paired.ROOT / "examples" / "train_small_network.py")
    command = options.command or ["/usr/bin/python3", example]
    with paired.own_folders() as environment:
        paired.compare(options, command, environment)


if __name__ == "__main__":
    main()
