#!/usr/bin/env python3
"""What the dashboard takes: rubato-exporter over eight simulated GPUs, one of them training, without it, with it, and with viewers.

    /usr/bin/python3 bench/dashboard_cost.py [--build build/release] [--seconds 60] [--viewers 32]

A viewer reads /events as a browser does. Processor time of the exporter's process alone, the stand-in for the driver included.
"""

import argparse
import os
import pathlib
import socket
import sys
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "web"))

GPUS = 8


def view(port, token, ended, heard):
    with socket.create_connection(("127.0.0.1", port), timeout=30) as client:
        client.sendall(f"GET /events HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n\r\n".encode())
        while not ended.is_set():
            heard.append(len(client.recv(1 << 20)))


def cost(dashboard, seconds, viewers=0):
    """Milliseconds of processor time a second, and bytes a second that each viewer gets."""
    ended, heard = threading.Event(), []
    threads = [threading.Thread(target=view, args=(dashboard.port, dashboard.token, ended, heard), daemon=True) for _ in range(viewers)]
    for thread in threads:
        thread.start()
    time.sleep(3)
    heard.clear()
    cpu, begin = dashboard.cpu_s(), time.monotonic()
    time.sleep(seconds)
    taken, wall = dashboard.cpu_s() - cpu, time.monotonic() - begin
    received = sum(heard)
    ended.set()
    for thread in threads:
        thread.join()
    return 1e3 * taken / wall, received / wall / max(1, viewers)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=str(ROOT / "build" / "release"))
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--viewers", type=int, default=32)
    options = parser.parse_args()
    os.environ["RUBATO_BUILD_DIR"] = options.build
    import dashboard as exporter
    from harness import Machine

    machine = Machine(rate=1, profiles=",".join(["v100"] * GPUS))
    run = machine.start("run", "--gpu", "0", "--", *machine.train(1_000_000))
    gpus = ",".join(str(gpu) for gpu in range(GPUS))
    try:
        for what, http, viewers in (("metrics alone", False, 0), ("dashboard, nobody looks", True, 0), ("one viewer", True, 1), (f"{options.viewers} viewers", True, options.viewers)):
            shown = exporter.Dashboard(machine, gpus=gpus, http=http)
            try:
                taken, received = cost(shown, options.seconds, viewers)
            finally:
                shown.stop()
            print(f"{what:26} {taken:6.2f} ms a second" + (f", {received:6.0f} bytes a second to each" if viewers else ""), flush=True)
    finally:
        run.terminate()
        run.communicate()
        machine.close()


if __name__ == "__main__":
    main()
