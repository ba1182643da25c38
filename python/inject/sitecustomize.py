"""Put at the front of PYTHONPATH by `rubato run` and `rubato measure`: lets rubato's hooks in, then steps
aside.

The next sitecustomize on the path is imported as if this one were not there. The hooks live in the folder
rubato beside this one's, under the private name _rubato, so that neither an installed rubato of another
version nor a foreign package of that name is touched. Programs that this one starts inherit PYTHONPATH.
"""

import os
import sys


def _start():
    if os.environ.get("RUBATO_HOOKS", "").strip().lower() == "off":
        return
    package = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "rubato")
    module = type(sys)("_rubato")  # not from its __init__.py: that is for users, and costs more
    module.__path__ = [package]
    sys.modules.setdefault("_rubato", module)
    from _rubato import _hooks

    _hooks.start(package)


try:
    _start()
except Exception:  # a job must start whatever is wrong with us; RUBATO_HOOKS_LOG has what _hooks itself met
    pass

_here = os.path.abspath(os.path.dirname(__file__))
sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry) != _here]
del sys.modules["sitecustomize"]  # Python then finds, names and reports the next one itself, also its absence
import sitecustomize  # noqa: E402, F401
