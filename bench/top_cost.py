#!/usr/bin/env python3
"""What `rubato top` takes at ten readings a second of eight simulated GPUs, against its limit of 1 % of a core.

    bench/top_cost.py [--build build/release] [--gpus 8] [--seconds 20] [--interval 0.1]

It runs in a terminal of 80 x 24 that is read as fast as it writes, beside a `rubato run` on the first GPU, so that there is
something to show. The GPUs are simulated inside the NVML stand-in: the time inside its calls is the simulator's, is counted, and
is printed apart, as the driver's would be; it is taken from the wall, so that on a busy machine it is more than the calls' own
CPU time. Start-up is taken off by a run of one second.
"""

import argparse
import fcntl
import os
import pathlib
import pty
import re
import resource
import select
import signal
import struct
import subprocess
import sys
import termios
import time

from own_cost import ROOT, World

LIMIT = 0.01  # of a core
TOLD = re.compile(rb"rubato top took ([0-9.]+) s of CPU in ([0-9.]+) s, of it ([0-9.]+) s inside the driver's library in ([0-9]+) calls")


def watched(world, seconds, interval):
    """CPU and wall seconds, of them inside the driver's library, its calls, and what was written, for so many seconds."""
    child, fd = pty.fork()
    if child == 0:
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        command = [world.rubato, "top", "-v", "--interval", str(interval)]
        os.execvpe(command[0], command, {**world.environment, "TERM": "xterm-256color", "LANG": "C.UTF-8"})
    written = bytearray()
    end = time.monotonic() + seconds
    asked = False
    while True:
        left = end - time.monotonic()
        if left <= 0 and not asked:
            os.write(fd, b"q")
            asked = True
        if not select.select([fd], [], [], max(left, 0) if not asked else 10)[0]:
            continue
        try:
            piece = os.read(fd, 65536)
        except OSError:
            break
        if not piece:
            break
        written += piece
    _, status, usage = os.wait4(child, 0)
    told = TOLD.search(written)
    if os.waitstatus_to_exitcode(status) != 0 or not told:
        sys.exit(f"rubato top failed:\n{written.decode(errors='replace')}")
    _, wall, inside, calls = map(float, told.groups())
    return usage.ru_utime + usage.ru_stime, wall, inside, int(calls), len(written)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "release")
    parser.add_argument("--gpus", type=int, default=8)
    parser.add_argument("--seconds", type=int, default=20)
    parser.add_argument("--interval", type=float, default=0.1)
    options = parser.parse_args()
    world = World(options.build.resolve(), options.gpus)
    job = subprocess.Popen([world.rubato, "run", "--gpu", "0", "--power-limit", "150", "-q", "--",
                            world.rubato, "sim", "train", "resnet50", "--iterations", "1000000"],
                           env=world.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        time.sleep(3)  # the run is there and has a baseline to show
        start = watched(world, 1, options.interval)
        whole = watched(world, 1 + options.seconds, options.interval)
    finally:
        job.send_signal(signal.SIGTERM)
        job.wait()
    cpu, wall, inside, calls, written = (a - b for a, b in zip(whole, start))
    print(f"rubato top, {options.gpus} simulated GPUs, a reading every {options.interval} s, for {wall:.1f} s: "
          f"CPU {100 * cpu / wall:.2f} % of a core (limit {100 * LIMIT:.0f} %)")
    print(f"  inside the driver's library, here the simulator, on the wall: {100 * inside / wall:.2f} % in {calls / wall:.0f} calls a second")
    print(f"  written to the terminal: {written / wall:.0f} bytes a second")


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    main()
