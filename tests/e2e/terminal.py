"""A program in a terminal of its own, as a person would see it: the screen by a terminal emulator (pyte), the modes by
the kernel."""

import fcntl
import os
import pty
import select
import signal
import struct
import termios
import time

import pyte


class Terminal:
    def __init__(self, command, environment, rows=24, columns=80):
        self.screen = pyte.Screen(columns, rows)
        self.stream = pyte.ByteStream(self.screen)
        self.sent = bytearray()  # everything the program wrote
        self.status = None
        self.main, self.side = pty.openpty()
        self._resize(rows, columns)
        self.modes_before = self.modes()
        ready, go = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            os.setsid()
            fcntl.ioctl(self.side, termios.TIOCSCTTY, 0)
            for fd in range(3):
                os.dup2(self.side, fd)
            os.read(ready, 1)
            os.closerange(3, 256)
            os.execvpe(command[0], command, environment)
        os.write(go, b"x")
        os.close(go)
        os.close(ready)

    def _resize(self, rows, columns):
        fcntl.ioctl(self.main, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def resize(self, rows, columns):
        self.screen.resize(rows, columns)
        self._resize(rows, columns)  # the kernel tells the program

    def modes(self):
        return termios.tcgetattr(self.side)[:4]

    def type(self, keys):
        os.write(self.main, keys)

    def take(self, patience=0.1):
        """What has been written, if anything, onto the screen."""
        if select.select([self.main], [], [], patience)[0]:
            try:
                piece = os.read(self.main, 65536)
            except OSError:
                return
            self.sent += piece
            self.stream.feed(piece)

    def text(self):
        return "\n".join(line.rstrip() for line in self.screen.display)

    def wait_for(self, condition, what, patience=60):
        """Until `condition` of the screen's text holds."""
        deadline = time.monotonic() + patience
        while time.monotonic() < deadline:
            if condition(self.text()):
                return self.text()
            self.take()
        raise AssertionError(f"waited {patience} s for: {what}; on the screen:\n{self.text()}")

    def stopped(self):
        pid, status = os.waitpid(self.pid, os.WUNTRACED | os.WNOHANG)
        return pid != 0 and os.WIFSTOPPED(status)

    def end(self, patience=60):
        """The exit status, or minus the signal it died of."""
        deadline = time.monotonic() + patience
        while self.status is None:
            if time.monotonic() > deadline:
                raise AssertionError(f"did not end in {patience} s; on the screen:\n{self.text()}")
            self.take(0.05)
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid != 0:
                self.status = os.waitstatus_to_exitcode(status)
        while select.select([self.main], [], [], 0)[0]:
            before = len(self.sent)
            self.take(0)
            if len(self.sent) == before:
                break
        return self.status

    def close(self):
        if self.status is None:
            try:
                os.kill(self.pid, signal.SIGKILL)
                os.waitpid(self.pid, 0)
            except (ProcessLookupError, ChildProcessError):
                pass
        os.close(self.main)
        os.close(self.side)
