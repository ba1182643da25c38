#!/usr/bin/env python3
"""Training boosted trees through rubato's table of C functions and through XGBoost's own Python interface, on the same
rows, with the same parameters, in one run; and what predicting 600 settings costs.

    /usr/bin/python3 bench/trees_cost.py [--program build/release/bin/rubato-trees-cost] [--repeats 20]

Needs python3-xgboost and NumPy; without them it says so and stops with 77. Rows are made here: as many as the V100's power
limits have (476 x 3) and as its microbenchmarks have (1380 x 9). Times are the quickest of the repeats, in processor
seconds; the Python side is given its array ready. Predictions of both have to agree to 1e-5.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
SIZES = ((476, 3), (600, 5), (1380, 9))
LIMIT_S = 0.005  # of predicting 600 settings


def quickest(repeats, work):
    best = float("inf")
    for _ in range(repeats):
        begin = time.process_time()
        work()
        best = min(best, time.process_time() - begin)
    return best


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=ROOT / "build/release/bin/rubato-trees-cost")
    parser.add_argument("--repeats", type=int, default=20)
    options = parser.parse_args()
    try:
        import numpy
        import xgboost
    except ImportError as missing:
        print("skipped: %s (apt-get install python3-xgboost)" % missing)
        return 77
    random = numpy.random.default_rng(1)
    print("rows x columns   rubato ms   Python ms   ratio   walking 600 rows ms   XGBoost walking them ms")
    question_s = float("inf")
    for rows, columns in SIZES:
        data = random.integers(1, 20, (rows, columns)).astype(numpy.float32) / 20
        target = (numpy.log(data[:, 0]) * data[:, 1] + 0.02 * random.standard_normal(rows)).astype(numpy.float32)
        with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
            for row, value in zip(data, target):
                print(*["%.9g" % cell for cell in (*row, value)], sep=",", file=file)
            file.flush()
            mine = json.loads(subprocess.run([options.program, file.name, str(options.repeats)], check=True,
                                             stdout=subprocess.PIPE).stdout)
        parameters = {"max_depth": 3, "eta": 0.1, "tree_method": "hist", "nthread": 1, "verbosity": 0, "base_score": 0,
                      "objective": "reg:squarederror", "seed": 0}
        trained = []
        python_s = quickest(options.repeats, lambda: trained.append(
            xgboost.train(parameters, xgboost.DMatrix(data, target, nthread=1), 100)))
        theirs = trained[-1].predict(xgboost.DMatrix(data, nthread=1))
        apart = float(numpy.abs(theirs - numpy.array(mine["predicted"])).max())
        if apart > 1e-5:
            print("predictions differ by %g" % apart)
            return 1
        question_s = min(question_s, mine["question_s"])
        print("%6d x %-2d  %12.2f %11.2f %7.2f %21.3f %24.3f" % (
            rows, columns, 1e3 * mine["train_s"], 1e3 * python_s, mine["train_s"] / python_s,
            600e3 * mine["predict_s"] / rows, 600e3 * mine["xgboost_s"] / rows))
    print("one whole answer for 600 settings of two clocks: %.2f ms, %.2f of the limit of 5 ms" % (
        1e3 * question_s, question_s / LIMIT_S))
    return 0


if __name__ == "__main__":
    sys.exit(main())
