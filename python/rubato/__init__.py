"""rubato lowers the energy of GPU training. This package carries the native program; `rubato` runs it."""

import importlib.metadata
import os
import pathlib
import sysconfig

__version__ = importlib.metadata.version("rubato-gpu")

_PACKAGE = pathlib.Path(__file__).resolve().parent


def binary() -> str:
    """Path of the native program that belongs to this package, for `subprocess` and for `sudo`."""
    folders = [
        sysconfig.get_path("scripts"),
        sysconfig.get_path("scripts", f"{os.name}_user"),
        # pip install --target, --prefix
        str(_PACKAGE.parent / "bin"),
        str(_PACKAGE.parents[3] / "bin"),
    ]
    for folder in folders:
        path = os.path.join(folder, "rubato")
        if os.access(path, os.X_OK):
            return path
    raise FileNotFoundError(f"no program rubato in {', '.join(folders)}: pip install --force-reinstall rubato-gpu")


def standin_folder() -> str:
    """Folder of the simulated GPU's libnvidia-ml.so.1: put it into LD_LIBRARY_PATH of an NVML client to try it."""
    return str(_PACKAGE / "standin")
