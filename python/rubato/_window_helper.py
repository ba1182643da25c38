"""The process that measures windows: `rubato windows`, asked and answered one line each on its pipes.

    begin NAME     {"schema": "rubato.window/1", "name": NAME, "open": true}
    end NAME       {"schema": "rubato.window/1", "name": NAME, "seconds": ..., "gpus": [...], "meters": [...]}
    now            {"schema": "rubato.window/1", "gpus": [...]}, what each reads at this moment

or a line with "error" and "hint". No two windows that are open have the same NAME. It ends at `quit`, or when its standard input is closed.
"""

import atexit
import collections
import json
import os
import select
import subprocess
import tempfile
import threading
import time
from typing import Any, Callable, Dict, Optional, Sequence, Tuple

from . import _binary

ANSWER_S = 10.0  # a helper that is silent for longer is given up
SCHEMA = "rubato.window/1"
_REFUSED, _ERROR = 125, "rubato: error: "  # nothing was measured, and that is why
Take = Callable[[Dict[str, Any]], None]


class Helper:
    """A running helper and the answers it owes, in order; they are read when somebody waits for one."""

    def __init__(self, gpu: Optional[str], meters: Sequence[str] = ()):
        self._lock = threading.Lock()
        self._owed = collections.deque()  # type: collections.deque
        self._pending = b""
        self._why = ""
        self.pid = os.getpid()
        command = [_binary.binary(), "windows"] + ([] if gpu is None else ["--cuda-numbers", "--gpu", gpu])
        command += [f"--meter={meter}" for meter in meters]
        environment = {k: v for k, v in os.environ.items() if k != "RUBATO_MARKS"}
        self._errors = tempfile.TemporaryFile()
        # A session of its own: Ctrl-C is for the training.
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors, env=environment,
            bufsize=0, start_new_session=True,
        )  # fmt: skip
        self._input, self._output = self._process.stdin, self._process.stdout

    def ask(self, verb: str, name: str, take: Take) -> None:
        """Sends a request; `take` gets the answer to all but a `begin`, or why there is none."""
        with self._lock:
            if not self._why:
                request = f"{verb} {name}" if name else verb
                try:
                    self._input.write((request + "\n").encode("utf-8", "replace"))  # type: ignore[union-attr]
                    self._owed.append((verb, take))
                    self._read(0.0)  # a helper that nobody waits for must not find its pipe full
                except OSError:
                    self._give_up(self._why_ended())
            if self._why:
                take({"why_missing": self._why})

    def wait_until(self, answered: Callable[[], bool]) -> None:
        with self._lock:
            until = time.monotonic() + ANSWER_S
            while not answered() and not self._why:
                if not self._read(max(0.0, until - time.monotonic())):
                    self._give_up(f"rubato windows did not answer within {ANSWER_S:g} s")

    def _read(self, patience_s: float) -> bool:
        pipe = self._output.fileno()  # type: ignore[union-attr]
        ready = select.poll()  # select() knows no descriptor above 1023
        ready.register(pipe, select.POLLIN)
        if not ready.poll(patience_s * 1000):
            return False
        data = os.read(pipe, 65536)
        if not data:
            self._give_up(self._why_ended())
        *lines, self._pending = (self._pending + data).split(b"\n")
        for line in lines:
            self._hand_out(line)
        return True

    def _hand_out(self, line: bytes) -> None:
        try:
            answer = json.loads(line.decode())
            if answer["schema"] != SCHEMA:
                raise ValueError(f"{answer['schema']!r} is not {SCHEMA!r}")
        except (ValueError, KeyError, TypeError) as error:
            self._give_up(f"rubato windows answered what is not understood: {error}")
            return
        if self._owed:
            verb, take = self._owed.popleft()
            if verb != "begin" or answer.get("error"):
                take(answer)

    def _give_up(self, why: str) -> None:
        self._why = why
        for _, take in self._owed:
            take({"why_missing": why})
        self._owed.clear()
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()

    def _why_ended(self) -> str:
        try:
            status = self._process.wait(timeout=1)
        except subprocess.TimeoutExpired:
            return "rubato windows ended (its output is closed)"
        self._errors.seek(0)
        said = self._errors.read(4096).decode(errors="replace").strip().splitlines()
        errors = [line for line in said if line.startswith(_ERROR)]
        if status == _REFUSED and errors:
            return f"rubato windows: {errors[0][len(_ERROR):]}"
        return f"rubato windows ended (exit status {status}{': ' + said[0] if said else ''})"

    def quit(self) -> None:
        try:
            self._input.close()  # type: ignore[union-attr]
            self._process.wait(timeout=2)
        except (OSError, subprocess.TimeoutExpired):
            self._process.kill()


class NoHelper:
    """Stands in where none could be started."""

    def __init__(self, why: str):
        self.pid, self._why = os.getpid(), why

    def ask(self, verb: str, name: str, take: Take) -> None:
        take({"why_missing": self._why})

    def wait_until(self, answered: Callable[[], bool]) -> None:
        pass

    def quit(self) -> None:
        pass


_helpers = {}  # type: Dict[Tuple[Optional[str], Tuple[str, ...]], Any]


def helper_for(gpu: Optional[str], meters: Tuple[str, ...] = ()) -> Any:
    """The helper of this process that measures `gpu`, None: what rubato finds; and `meters` beside it."""
    key = gpu, meters
    helper = _helpers.get(key)
    if helper is None or helper.pid != os.getpid():  # a forked child asks a helper of its own
        try:
            helper = Helper(gpu, meters)
        except (OSError, ValueError) as error:  # a name that no argument can have is a ValueError
            helper = NoHelper(f"rubato windows could not be started: {error}")
        _helpers[key] = helper
    return helper


@atexit.register
def _quit() -> None:
    for helper in _helpers.values():
        if helper.pid == os.getpid():
            helper.quit()
