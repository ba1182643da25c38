"""JAX: the steps that a program marks for JAX's own profiler with StepTraceAnnotation; JAX has no other."""

import itertools
import threading

from .. import _claims, _marks
from .keras_patch import quietly, replace

_thread = threading.local()  # .open: (annotation, index, claim) of the step this thread is in
_numbers = itertools.count()


@quietly
def _begin(annotation):
    if getattr(_thread, "open", None) is not None:  # a step inside a step is part of it
        return
    claim = _claims.claim(_claims.USER, "jax step annotation")
    if claim is None:
        return
    number = next(_numbers)
    index = getattr(annotation, "_rubato_step", number)
    _thread.open = annotation, index, claim
    _marks.begin_iteration(index)


@quietly
def _end(annotation):
    open_step = getattr(_thread, "open", None)
    if open_step is None or open_step[0] is not annotation:
        return
    _thread.open = None
    _marks.end_iteration(open_step[1])
    open_step[2].release()


def _remember(original):
    def __init__(self, *args, **kwargs):
        original(self, *args, **kwargs)
        step = kwargs.get("step_num")
        if isinstance(step, int) and step >= 0:
            self._rubato_step = step

    return __init__


def install(jax):
    """Hooks into jax.profiler.StepTraceAnnotation: its `with` block is an iteration, numbered by step_num."""
    if not _marks.active():
        return
    from jax.profiler import StepTraceAnnotation  # a part of JAX, which the program has imported

    if not getattr(StepTraceAnnotation.__init__, "_rubato", False):
        def __enter__(self):
            entered = super(StepTraceAnnotation, self).__enter__()
            _begin(self)
            return entered

        def __exit__(self, *exception):
            _end(self)
            return super(StepTraceAnnotation, self).__exit__(*exception)

        # Its parent is compiled and shared with annotations that are no steps.
        StepTraceAnnotation.__enter__ = __enter__
        StepTraceAnnotation.__exit__ = __exit__
        replace(StepTraceAnnotation, "__init__", _remember)
    _marks.hook(f"jax {jax.__version__}")
