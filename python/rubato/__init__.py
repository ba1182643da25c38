"""rubato lowers the energy of GPU training. `rubato` runs the native program; this package is for programs it
runs.

rubato.mark("warm-up is over")
with rubato.window("epoch") as w: ...      # w.joules, also without `rubato run`
rubato.gpus()                              # what they draw now
rubato.repeat(function)                    # joules and seconds of one call of it
with rubato.iteration(): ...               # a training step that no hook can see
rubato.load("last").power                  # records of runs as pandas frames
"""

_PLACES = {
    "mark": "_user",
    "model": "_user",
    "iteration": "_user",
    "epoch": "_user",
    "window": "windows",
    "Window": "windows",
    "gpus": "windows",
    "repeat": "_repeat",
    "runs": "frames",
    "load": "frames",
    "binary": "_binary",
    "standin_folder": "_binary",
}

__all__ = sorted(_PLACES)


def __getattr__(name):
    # Nothing is imported before it is used: `import rubato` costs a job next to nothing.
    from importlib import import_module

    if name in _PLACES:
        value = getattr(import_module("." + _PLACES[name], __name__), name)
    elif name == "__version__":
        value = import_module("._binary", __name__).version()
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value
