"""PyTorch: iterations from optimizer steps, waits for data, evaluation and checkpoints. No call waits for the
GPU.

What torch.compile traces sees none of it: every function here asks first whether it is being traced, which
the tracer replaces by its answer. So there is no graph break, and no mark from an optimizer step inside a
compiled function or a captured CUDA graph.
"""

import atexit
import sys
from time import monotonic_ns

from .. import _marks
from . import failed
from ._patch import wrap_method
from ._steps import Steps

_steps = Steps()


def _told(function):
    """Runs ours; what it throws is told once and goes no further."""

    def guarded(*args):
        try:
            function(*args)
        except Exception as error:
            failed(f"the torch hook lost a mark in {function.__name__}", error)

    return guarded


_stepped = _told(_steps.stepped)
_scaled = _told(_steps.model.stepped)
_fetched = _told(_steps.fetched)
_saved = _told(_steps.saved)
_evaluation = _told(_steps.evaluation)
atexit.register(_told(_steps.finish))


def install(torch):
    """Each part by itself: one that this version lacks does not take the others with it."""
    compiling = getattr(getattr(torch, "compiler", None), "is_compiling", None) or (lambda: False)
    for part in (_hook_optimizers, _hook_scaler, _hook_data, _hook_modules, _hook_save):
        try:
            part(torch, compiling)
        except Exception as error:
            failed(f"the torch hook goes without {part.__name__[6:]}", error)
    _marks.hook(f"torch {torch.__version__}")


def _hook_optimizers(torch, compiling):
    module = sys.modules["torch.optim.optimizer"]  # an attribute of torch.optim only in later versions
    register = getattr(module, "register_optimizer_step_post_hook", None)
    each_class = register is None  # before 2.0: the step of each class, when its first instance is made
    stepping = set()  # ids of optimizers: a step may call that of its base class, wrapped as well

    def make_step(original):
        def step(self, *args, **kwargs):
            outermost = id(self) not in stepping
            stepping.add(id(self))
            try:
                result = original(self, *args, **kwargs)
            finally:
                if outermost:
                    stepping.discard(id(self))
            if outermost:
                _stepped(self)
            return result

        step.hooked = True  # torch's own mark: its profiler wrapper is inside already
        return step

    def make_init(original):
        def __init__(self, *args, **kwargs):
            original(self, *args, **kwargs)
            if not compiling():
                made(self)

        return __init__

    def made(optimizer):
        if each_class:
            wrap_method(_class_with_step(type(optimizer)), "step", make_step)
        _steps.optimizer_made(optimizer)

    def counted(optimizer, wrapper):
        if not _inside_its_step(optimizer, wrapper):
            _steps.stepped(optimizer)

    made, counted = _told(made), _told(counted)
    wrap_method(module.Optimizer, "__init__", make_init)
    if register is not None and not getattr(module, "_rubato", False):

        def after_step(optimizer, args, kwargs):
            if not compiling():
                counted(optimizer, sys._getframe(1))

        register(after_step)
        module._rubato = True


def _inside_its_step(optimizer, wrapper):
    """Whether the step whose frame is `wrapper` was called by another step of the same optimizer: that of a
    subclass calls that of its base, and torch wraps both.
    """
    frame = wrapper.f_back
    for _ in range(8):
        if frame is None:
            return False
        if frame.f_code is wrapper.f_code and frame.f_locals.get("self") is optimizer:
            return True
        frame = frame.f_back
    return False


def _class_with_step(cls):
    return next((base for base in cls.__mro__ if "step" in base.__dict__), cls)


def _hook_scaler(torch, compiling):
    """A step that GradScaler leaves out because of an overflow ends an iteration all the same."""

    def make_step(original):
        def step(self, optimizer, *args, **kwargs):
            before = _steps.steps
            result = original(self, optimizer, *args, **kwargs)
            if not compiling():
                if _steps.steps == before:
                    _stepped(optimizer, True)
                else:
                    _scaled(optimizer, True)
            return result

        return step

    scaler = getattr(getattr(torch, "amp", None), "GradScaler", None) or torch.cuda.amp.GradScaler
    wrap_method(scaler, "step", make_step)


def _hook_data(torch, compiling):
    begun = {}  # id of an iterator: when it was first asked, after how many rounds, samples it was told to give

    def ended(iterator):
        begin, rounds, _ = begun.pop(id(iterator), (None, 0, 0))
        if begin is not None:
            _steps.data_ended(begin, rounds)

    ended = _told(ended)

    def batch_of(iterator):
        # Where batches are put together, by what gives their indices. Not looked up when the iterator is made: that may
        # be traced into a graph.
        size = getattr(getattr(iterator, "_index_sampler", None), "batch_size", None)
        return size if isinstance(size, int) else 0

    def make_next(original):
        def __next__(self):
            if compiling():
                return original(self)
            begin = monotonic_ns()
            first = id(self) not in begun
            if first:
                begun[id(self)] = (begin, _steps.rounds(), batch_of(self))
                _marks.begin_pass(begin)
            try:
                data = original(self)
            except StopIteration:
                ended(self)
                raise
            batch = begun.get(id(self), (0, 0, 0))[2]
            # Without need no tensor is passed on: torch.compile would look into what it is passed to.
            _fetched(begin, first, batch, None if batch else data)
            return data

        return __next__

    def make_init(original):
        def __init__(self, *args, **kwargs):
            begun.pop(id(self), None)  # of an iterator that was left before its end
            original(self, *args, **kwargs)

        return __init__

    def make_reset(original):
        def _reset(self, *args, **kwargs):
            begun.pop(id(self), None)  # with persistent workers one iterator makes all passes, each from here
            return original(self, *args, **kwargs)

        return _reset

    iterator = torch.utils.data.dataloader._BaseDataLoaderIter
    wrap_method(iterator, "__init__", make_init)
    wrap_method(iterator, "_reset", make_reset)  # that of several processes calls it
    wrap_method(iterator, "__next__", make_next)


def _hook_modules(torch, compiling):
    walking = [False]  # train() calls itself for each child; only the outermost counts

    def make_train(original):
        def train(self, mode=True):
            if compiling() or walking[0]:
                return original(self, mode)
            was = getattr(self, "training", mode)
            walking[0] = True
            try:
                return original(self, mode)
            finally:
                walking[0] = False
                if bool(mode) is not was:
                    _evaluation(self, not mode)

        return train

    wrap_method(torch.nn.Module, "train", make_train)


def _hook_save(torch, compiling):
    """torch.save opens one of these for as long as it writes."""

    def make_enter(original):
        def __enter__(self):
            try:
                self._rubato_begin = monotonic_ns()
            except Exception:  # of a class that takes no attributes
                pass
            return original(self)

        return __enter__

    def make_exit(original):
        def __exit__(self, *args):
            try:
                return original(self, *args)
            finally:
                if hasattr(self, "_rubato_begin"):
                    _saved(self._rubato_begin)

        return __exit__

    opener = torch.serialization._opener
    wrap_method(opener, "__enter__", make_enter)
    for name in ("_open_zipfile_writer_file", "_open_zipfile_writer_buffer"):
        wrap_method(getattr(torch.serialization, name), "__exit__", make_exit)
