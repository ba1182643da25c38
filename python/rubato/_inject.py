"""Run by inject/sitecustomize.py in its own place, from source, in every Python process of a job: starts the hooks.

The hooks live in this folder, under the private name _rubato, so that neither an installed rubato of another
version nor a foreign package of that name is touched. Programs that this one starts inherit PYTHONPATH.
"""

import os
import sys

# What importlib.machinery names; these cost no import.
from _frozen_importlib_external import FileFinder, SourceFileLoader, cache_from_source

_here = os.path.dirname(os.path.abspath(__file__))


class _Loader(SourceFileLoader):
    """Reads a module from its source where the byte code kept of it is damaged, and keeps none that may be cut short:
    CPython does not look whether what it writes was written whole, and ends the import where it was not.
    """

    def get_code(self, fullname):
        try:
            return super().get_code(fullname)
        except Exception:
            code = self.source_to_code(self.get_data(self.path), self.path)
            self._remove(cache_from_source(self.path))
            return code

    def set_data(self, path, data, **more):
        import resource

        if resource.getrlimit(resource.RLIMIT_FSIZE)[0] == resource.RLIM_INFINITY:
            super().set_data(path, data, **more)
            if os.path.exists(path) and os.path.getsize(path) < len(data):  # a full disk
                self._remove(path)

    @staticmethod
    def _remove(path):
        try:
            os.remove(path)
        except OSError:  # somebody else's folder: read from source each time
            pass


def _start(package):
    for folder in (package, os.path.join(package, "_hooks")):
        sys.path_importer_cache[folder] = FileFinder(folder, (_Loader, [".py"]))
    module = type(sys)("_rubato")  # not from its __init__.py: that is for users, and costs more
    module.__path__ = [package]
    sys.modules.setdefault("_rubato", module)
    from _rubato import _hooks

    _hooks.start(package)


def _tell(error):
    """Why there are no hooks: in the file RUBATO_HOOKS_LOG, and to the rubato that runs the job, for its report."""
    reason = f"{type(error).__name__}: {error}"
    marks, log = os.environ.get("RUBATO_MARKS"), os.environ.get("RUBATO_HOOKS_LOG")
    if marks:
        with open(os.path.join(marks, "hooks.failed"), "w", encoding="utf-8", errors="replace") as file:
            file.write(reason + "\n")
    if log:
        import traceback

        with open(log, "a", encoding="utf-8", errors="replace") as file:
            file.write(f"rubato's hooks could not be started ({reason})\n")
            file.writelines(traceback.format_exception(type(error), error, error.__traceback__))


if os.environ.get("RUBATO_HOOKS", "").strip().lower() != "off":
    try:
        _start(os.path.join(os.path.dirname(_here), "rubato"))
    except Exception as error:
        try:
            _tell(error)
        except Exception:
            pass

sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry) != _here]
del sys.modules["sitecustomize"]  # Python then finds, names and reports the next one itself, also its absence
import sitecustomize  # noqa: E402, F401
