"""How many passes CUPTI needs, asked without rubato's code: passes.py LIBCUPTI <lists >answers

A list is CHIP<tab>METRIC...; its answer CHIP<tab>PASSES, or CHIP<tab>the call that refused.
"""

import ctypes
import pathlib
import sys

PM_SAMPLING = 1
UNTOUCHED = [0xfeedfacecafebeef] * 4


def parameters(*members):
    """CUPTI's structures here are all of eight-byte members, behind their size and a null pointer."""
    size = len(members) + 2
    return (ctypes.c_uint64 * (size + len(UNTOUCHED)))(8 * size, 0, *members, *UNTOUCHED)


def passes(cupti, chip, metrics):
    def ask(name, struct):
        if (code := getattr(cupti, name)(struct)) != 0:
            raise LookupError(f"{name}: {code}")
        # 13.5 clears one member more than it is given, for which rubato has room.
        beyond = list(struct)[-len(UNTOUCHED):]
        if beyond != UNTOUCHED and not (name == "cuptiProfilerHostInitialize" and beyond == [0, *UNTOUCHED[1:]]):
            raise LookupError(f"{name} wrote beyond what it was given")
        return struct

    name = ctypes.create_string_buffer(chip.encode())
    host = ask("cuptiProfilerHostInitialize", parameters(PM_SAMPLING, ctypes.addressof(name), 0, 0))[5]
    try:
        texts = [ctypes.create_string_buffer(metric.encode()) for metric in metrics]
        names = (ctypes.c_uint64 * len(texts))(*[ctypes.addressof(text) for text in texts])
        ask("cuptiProfilerHostConfigAddMetrics", parameters(host, ctypes.addressof(names), len(texts)))
        size = ask("cuptiProfilerHostGetConfigImageSize", parameters(host, 0))[3]
        image = ctypes.create_string_buffer(size)
        ask("cuptiProfilerHostGetConfigImage", parameters(host, size, ctypes.addressof(image)))
        return ask("cuptiProfilerHostGetNumOfPasses", parameters(size, ctypes.addressof(image), 0))[4]
    finally:
        cupti.cuptiProfilerHostDeinitialize(parameters(host))


def main():
    path = pathlib.Path(sys.argv[1])
    for beside in ("libnvperf_host.so", "libnvperf_target.so"):
        ctypes.CDLL(str(path.parent / beside))
    cupti = ctypes.CDLL(str(path))
    for line in sys.stdin:
        chip, *metrics = line.rstrip("\n").split("\t")
        try:
            print(chip, passes(cupti, chip, metrics), sep="\t")
        except LookupError as why:
            print(chip, why, sep="\t")


if __name__ == "__main__":
    main()
