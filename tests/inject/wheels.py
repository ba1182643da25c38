"""Wheels of the vendor's libraries from PyPI, unpacked under build/cupti for the tests that compare with them."""

import fcntl
import os
import pathlib
import subprocess
import sys
import unittest
import zipfile

FOLDER = pathlib.Path(os.environ["RUBATO_SOURCE_DIR"]) / "build" / "cupti"
_locks = []


def lock():
    """Until unlock(): several build folders may ask at once."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    _locks.append(open(FOLDER / "lock", "w"))
    fcntl.flock(_locks[-1], fcntl.LOCK_EX)


def unlock():
    _locks.pop().close()


def unpacked(requirement):
    """The folder of a wheel, fetched at first use; SkipTest with the reason where it cannot be had."""
    target = FOLDER / requirement.replace("==", "-")
    if (target / "done").exists():
        return target
    target.mkdir(parents=True, exist_ok=True)
    fetched = subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--no-deps",
                              "--only-binary=:all:", "--disable-pip-version-check", "--timeout", "20",
                              "--retries", "1", "--dest", str(target), requirement],
                             capture_output=True, text=True)
    if fetched.returncode != 0:
        why = fetched.stderr.strip().splitlines()[-1:]
        raise unittest.SkipTest(f"{requirement} could not be fetched: {why}")
    for wheel in target.glob("*.whl"):
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(target)
        wheel.unlink()
    (target / "done").touch()
    return target
