"""What a command says to a person: its standard error is a terminal."""

import os
import pty
import subprocess


def _read_or_end(fd):
    """A terminal whose last writer is gone answers with an error."""
    try:
        return os.read(fd, 4096)
    except OSError:
        return b""


def said(machine, *words):
    """Exit status, and what was written to the terminal."""
    ours, theirs = pty.openpty()
    process = machine.start(*words, stdout=subprocess.DEVNULL, stderr=theirs)
    os.close(theirs)
    seen = b""
    while chunk := _read_or_end(ours):
        seen += chunk
    os.close(ours)
    return process.wait(), seen.decode()
