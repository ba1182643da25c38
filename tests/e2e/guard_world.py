"""A guard of a run without the run: spoken to in its protocol, and killed where a test wants it."""

import json
import socket
import subprocess

import harness
from daemon_world import Client


class Guard(Client):
    """Started with this environment on top of the machine's, and greeted."""

    def __init__(self, machine, *arguments, environment=None):
        self.socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self.process = subprocess.Popen(
                [str(harness.RUBATO), "guard", "--backend", "nvml", *arguments, "--socket-fd", str(theirs.fileno())],
                env={**machine.environment, **(environment or {})}, pass_fds=[theirs.fileno()],
            )
        self.socket.settimeout(harness.PATIENCE)
        self.sequence = 0
        self.ask("hello", "client a test")

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.close()

    def end(self):
        """Its exit status, once its client is gone."""
        self.close()
        return self.process.wait(harness.PATIENCE)


def uuid_of(machine):
    return json.loads(machine.run("devices", "--gpu", "0", "--json").stdout)["gpus"][0]["uuid"]
