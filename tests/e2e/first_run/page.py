"""docs/first-run.md from real runs: `RUBATO_BUILD_DIR=build/release python3 tests/e2e/first_run/page.py` writes it.

test_first_run.py runs the same commands and compares, so that the page stays true.
"""

import pathlib
import re

from situations import RUN_ID, SITUATIONS

PAGE = pathlib.Path(__file__).resolve().parents[3] / "docs" / "first-run.md"

HEAD = """<!-- tested by: tests/e2e/first_run/test_first_run.py -->

# First run

What five kinds of users see when they try rubato for the first time. The transcripts are real runs on simulated GPUs
behind the NVML stand-in, so every number in them is *modelled*; `train.py` is a script that trains on such a GPU.
`tests/e2e/first_run` makes them on machines of their own (a root file system, users, a host name), and fails where this page is
no longer what rubato prints. Do not edit it: `python3 tests/e2e/first_run/page.py` writes it.
"""


def section(situation, transcript):
    lines = [f"## {situation.title}", "", situation.prose, ""]
    for command, output, status in transcript:
        lines += [f"    $ {command}"]
        lines += [f"    {line}".rstrip() for line in output.splitlines()]
        if status != 0:
            lines += [f"    (status {status})"]
        lines += [""]
    return "\n".join(lines)


def write():
    sections = [section(situation, situation.transcript()) for situation in SITUATIONS]
    # Ids say when a page was written, and nothing else.
    text = RUN_ID.sub("20261121-101500-123-1a2b", "\n".join([HEAD, *sections]))
    PAGE.write_text(text.rstrip("\n") + "\n")


def transcript_on_page(title):
    """The section's indented lines, as they stand."""
    text = PAGE.read_text()
    found = re.search(rf"^## {re.escape(title)}\n(.*?)(?=^## |\Z)", text, re.M | re.S)
    if found is None:
        raise AssertionError(f"{PAGE.name} has no section '{title}'")
    return "\n".join(line for line in found.group(1).splitlines() if line.startswith("    "))


if __name__ == "__main__":
    write()
