"""Where the native program is, and its version."""

import os
import pathlib
import shutil
import sysconfig

_PACKAGE = pathlib.Path(__file__).resolve().parent


def binary() -> str:
    """Path of the native program that belongs to this package, for `subprocess` and for `sudo`.

    RUBATO_BINARY names another. A package that an installed program has put into a job stands in
    PREFIX/share/rubato/python/rubato, its program in PREFIX/bin; the last resort is PATH.
    """
    if os.environ.get("RUBATO_BINARY"):
        return os.environ["RUBATO_BINARY"]
    folders = [
        sysconfig.get_path("scripts"),
        sysconfig.get_path("scripts", f"{os.name}_user"),
        # pip install --target, --prefix
        str(_PACKAGE.parent / "bin"),
    ]
    folders += [str(folder / "bin") for folder in list(_PACKAGE.parents)[3:4]]
    for folder in folders:
        path = os.path.join(folder, "rubato")
        if os.access(path, os.X_OK):
            return path
    found = shutil.which("rubato")
    if found:
        return found
    raise FileNotFoundError(
        f"no program rubato in {', '.join(folders)} or PATH: install rubato from a file (docs/install.md), "
        "its wheel with `pip install --force-reinstall ./rubato_gpu-….whl`, or name the program in RUBATO_BINARY"
    )


def standin_folder() -> str:
    """Folder of the simulated GPU's libnvidia-ml.so.1: put it into LD_LIBRARY_PATH of an NVML client to try
    it.
    """
    return str(_PACKAGE / "standin")


def version() -> str:
    """Version of the installed distribution; "0+source" where the package is used without being installed."""
    from importlib import metadata

    try:
        return metadata.version("rubato-gpu")
    except metadata.PackageNotFoundError:
        return "0+source"
