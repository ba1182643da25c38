"""rubatod in a simulated machine, and a client that speaks its protocol without rubato."""

import json
import os
import pathlib
import socket
import subprocess

import harness
from harness import MachineTest, wait_until

RUBATOD = harness.BUILD / "bin" / "rubatod"
MANAGE = 'mode = "manage"\n'
# Root without the capability that the driver asks for: what a plain user is to it.
WITHOUT_RIGHT = ("setpriv", "--bounding-set", "-sys_admin", "--inh-caps", "-sys_admin")


class Client:
    """One connection; a request and its reply at a time. Signs of life are passed over."""

    def __init__(self, path, hello=True):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.socket.connect(str(path))
        self.socket.settimeout(harness.PATIENCE)
        self.sequence = 0
        if hello:
            self.ask("hello", "client a test")

    def send(self, verb, *lines):
        self.sequence += 1
        self.socket.send("\n".join((f"rubato-lease/1 {verb} {self.sequence}", *lines, "")).encode())

    def receive(self):
        """Verb and lines as pairs; the verb is empty where the other end is gone."""
        while True:
            text = self.socket.recv(1 << 15).decode()
            first, *lines = text.split("\n")
            verb = first.split(" ")[1] if text else ""
            if verb != "heartbeat":
                return verb, [tuple(line.split(" ", 1)) for line in lines if line]

    def ask(self, verb, *lines):
        self.send(verb, *lines)
        return self.receive()

    def gpus(self):
        return [value for key, value in self.ask("status")[1] if key == "gpu"]

    def acquire(self, gpu):
        return self.ask("acquire", f"gpu {gpu}", "knob power-limit", "knob sm-clock")

    def set_limit(self, gpu, watts):
        return self.ask("apply", f"gpu {gpu}", f"power-limit {watts}")

    def close(self):
        self.socket.close()

    __del__ = close


class DaemonTest(MachineTest):
    def daemon(self, machine, config=MANAGE, *arguments, environment=None, wait=True, socket_path=None):
        """Started, with its GPUs in its hands; ended at the end of the test."""
        machine.audit_file = machine.folder / "audit.jsonl"
        machine.disable_file = machine.folder / "disable"
        machine.socket = socket_path or machine.folder / "runtime" / "rubato" / "rubatod.sock"
        machine.config = machine.folder / "rubatod.toml"
        extra = f'socket = "{socket_path}"\n' if socket_path else ""
        machine.config.write_text(
            f'audit_log = "{machine.audit_file}"\ndisable_file = "{machine.disable_file}"\n{extra}{config}'
        )
        machine.config.chmod(0o644)
        process = self.start(
            machine, *arguments, environment=environment, stderr=subprocess.DEVNULL if wait else subprocess.PIPE
        )
        if wait:
            wait_until(lambda: process.poll() is not None or self.ready(machine), "rubatod to be ready")
        return process

    def start(self, machine, *arguments, environment=None, stderr=subprocess.DEVNULL, limits=None):
        """With the configuration as it stands."""
        process = subprocess.Popen(
            [str(RUBATOD), "--config", str(machine.config), *map(str, arguments)],
            env={**machine.environment, **(environment or {})}, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=stderr, text=True, preexec_fn=limits,
        )
        self.addCleanup(self.end, process)
        machine.daemon = process
        return process

    @staticmethod
    def process_ended(machine):
        machine.daemon.terminate()
        machine.daemon.wait(harness.PATIENCE)

    @staticmethod
    def end(process):
        if process.poll() is None:
            process.kill()
        process.wait()
        if process.stderr:
            process.stderr.close()

    @staticmethod
    def ready(machine):
        try:
            _, lines = Client(machine.socket).ask("status")
        except OSError:
            return False
        return ("state", "away") not in lines

    def restore_only(self, machine):
        return subprocess.run(
            [str(RUBATOD), "--config", str(machine.config), "--restore-only"], env=machine.environment,
            capture_output=True, text=True, timeout=harness.PATIENCE,
        )

    @staticmethod
    def audit(machine):
        return [json.loads(line) for line in pathlib.Path(machine.audit_file).read_text().splitlines()]

    def decisions(self, machine):
        return [f"{line['event']} {line['decision']}" for line in self.audit(machine)]

    @staticmethod
    def as_nobody(work):
        """What `work` returns (text) in a process of an ordinary user; only root can make one."""
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(read)
            os.setgroups([])
            os.setgid(65534)
            os.setuid(65534)
            try:
                said = work()
            except BaseException as failure:  # the parent fails for it
                said = f"failed: {failure!r}"
            os.write(write, said.encode())
            os._exit(0)
        os.close(write)
        with os.fdopen(read) as pipe:
            said = pipe.read()
        os.waitpid(child, 0)
        return said
