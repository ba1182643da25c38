"""Lets hooks into frameworks once the program imports them; imports none itself.

TABLE names a module and the hook module beside this file. A hook module has `install(module)`: called each
time that module has been executed (again after importlib.reload), before the program sees it. It patches
methods of classes and leaves alone what is patched already. It uses `from .. import _marks, _claims`: the
package is called _rubato here. RUBATO_HOOKS=off, or a list, says which hooks run; in a list a hook is named
by its module in TABLE, or by its file without "_hook.py".
"""

import os
import sys
from _thread import get_ident

TABLE = {
    "torch": "torch_hook",
    "transformers": "transformers_hook",
    "lightning": "lightning_hook",
    "pytorch_lightning": "lightning_hook",
    "keras": "keras_hook",
    "tensorflow": "tf_keras_hook",
    "tf_keras": "tf_keras_hook",
    "jax": "jax_hook",
    "torch.utils.tensorboard.writer": "trackers_hook",
    "tensorboardX.writer": "trackers_hook",
    "wandb": "trackers_hook",
    "mlflow": "trackers_hook",
}

LAYERS = {  # after those above, where RUBATO_LAYERS asks for the layers of a network
    "torch": "layers_torch_hook",
    "keras": "layers_keras_hook",
    "tf_keras": "layers_keras_hook",
    "jax": "layers_jax_hook",
}

_wanted = {}  # module name: callbacks
_busy = set()  # (name, thread) whose spec is being looked for by the other finders
_told = set()


class _Finder:
    """First of sys.meta_path: lets the others find a wanted module, and runs its callbacks after its body."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        if name not in _wanted:
            return None
        me = (name, get_ident())
        if me in _busy:
            return None
        _busy.add(me)
        try:
            return _watched(_spec_of_others(name, path, target), name)
        finally:
            _busy.discard(me)


class _Fallback:
    """`import rubato` in the job means this package where no other is installed. A mere folder of that name, a
    clone of rubato's sources beside the program, is none.
    """

    def __init__(self, package):
        self._folder = os.path.dirname(package)

    def find_spec(self, name, path=None, target=None):
        if name != "rubato":
            return None
        spec = _spec_of_others(name, path, target)
        if spec is not None and type(spec.loader).__name__.strip("_") not in ("NoneType", "NamespaceLoader"):
            return spec
        from importlib.machinery import FileFinder

        # This module's own loader, which no damaged byte code stops (_inject.py).
        return FileFinder(self._folder, (type(__loader__), [".py"])).find_spec(name)


def _spec_of_others(name, path, target):
    for finder in list(sys.meta_path):
        find = getattr(finder, "find_spec", None)
        if isinstance(finder, (_Finder, _Fallback)) or find is None:
            continue
        spec = find(name, path, target)
        if spec is not None:
            return spec
    return None


def _watched(spec, name):
    """The spec, its loader's exec_module replaced in this one instance: the loader keeps its type and
    methods.
    """
    execute = getattr(getattr(spec, "loader", None), "exec_module", None)
    if execute is None or getattr(execute, "_rubato", False):
        return spec

    def exec_module(module):
        execute(module)
        imported(name, module)

    exec_module._rubato = True
    try:
        spec.loader.exec_module = exec_module
    except Exception as error:  # a loader that forbids it
        failed(f"{name} is not hooked: its loader cannot be watched", error)
    return spec


def imported(name, module):
    """Runs the callbacks of a module whose body has run."""
    module = sys.modules.get(name, module)  # some replace themselves
    for callback in list(_wanted.get(name, ())):
        try:
            callback(module)
        except Exception as error:
            failed(f"the hook into {name} failed and is off", error)


def when_imported(name, callback):
    """Calls `callback(module)` each time module `name` has been executed; now, if it has been."""
    _wanted.setdefault(name, []).append(callback)
    module = sys.modules.get(name)
    spec = getattr(module, "__spec__", None)
    if module is not None and not getattr(spec, "_initializing", False):
        imported(name, module)


def failed(sentence, error=None):
    """Tells once that something of ours failed: as a mark, and in the file RUBATO_HOOKS_LOG."""
    try:
        text = f"{sentence} ({type(error).__name__}: {error})" if error is not None else sentence
        if text in _told or len(_told) >= 16:
            return
        _told.add(text)
        path = os.environ.get("RUBATO_HOOKS_LOG")
        if path:
            import traceback

            with open(path, "a", encoding="utf-8") as log:
                log.write(text + "\n")
                if error is not None:
                    log.writelines(traceback.format_exception(type(error), error, error.__traceback__))
        from .. import _marks

        _marks.problem(text)
    except Exception:
        pass


def _installer(hook):
    def install(module):
        from importlib import import_module

        import_module(f"{__name__}.{hook}").install(module)

    return install


def _chosen():
    """What RUBATO_HOOKS names; empty: all. A name that is none of ours is told, with ours: it would switch all off."""
    names = os.environ.get("RUBATO_HOOKS", "").replace(",", " ").split()
    known = list(TABLE) + [hook[: -len("_hook")] for hook in TABLE.values()]
    unknown = [name for name in names if name not in known]
    if unknown:
        ours = ", ".join(sorted({name for name in known if "." not in name}))
        failed(f"RUBATO_HOOKS names no hook with {', '.join(unknown)}; there are: off, or {ours}")
    return names


def start(package):
    """Begins to watch imports, for the hooks that RUBATO_HOOKS asks for and that are there; if anybody reads
    marks.
    """
    if not any(isinstance(finder, _Fallback) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Fallback(package))
    if not os.environ.get("RUBATO_MARKS"):
        return
    chosen = _chosen()
    folder = os.path.dirname(__file__)
    present = set(os.listdir(folder))
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())
    for name, hook in TABLE.items():
        wanted = not chosen or name in chosen or hook[: -len("_hook")] in chosen
        if wanted and hook + ".py" in present:
            when_imported(name, _installer(hook))
    if os.environ.get("RUBATO_LAYERS"):
        from . import _layers

        _layers.start()
        for name, hook in LAYERS.items():
            when_imported(name, _installer(hook))
