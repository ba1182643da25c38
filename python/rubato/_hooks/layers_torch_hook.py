"""PyTorch for `rubato layers trace`: the operations that a model's calls come to, each under its module's name.

A dispatch mode is on while an outermost module runs. It sits below autograd and autocast, so it sees what forward hooks
on modules do not: sums and functions between them, the type each product is really done in, weights used twice.
"""

import weakref
from _thread import get_ident

from . import _layers, failed, torch_hook
from ._layers import Layer, Pass
from ._patch import wrap_method
from ._torch_ops import Operation, describe

_WRAPPERS = ("DistributedDataParallel", "DataParallel", "OptimizedModule", "FullyShardedDataParallel")
_WRAPPED = ("module", "_orig_mod", "_fsdp_wrapped_module", "_checkpoint_wrapped_module")
_PRECISIONS = {"torch.float32": "fp32", "torch.float16": "fp16", "torch.bfloat16": "bf16", "torch.float64": "fp64"}


def install(torch):
    trace = _layers.trace
    trace.frameworks.append(f"PyTorch {str(torch.__version__).split('+')[0]}")
    try:
        from torch.utils._python_dispatch import TorchDispatchMode
    except ImportError:
        trace.why.append((f"{trace.frameworks[-1]} is too old to trace", "PyTorch 1.13 or later can be traced"))
        return
    _note_optimizers(trace)
    tracer = _Tracer(torch, trace, TorchDispatchMode)
    module, original = torch.nn.Module, torch.nn.Module.__dict__["__call__"]
    wrap_method(module, "__call__", tracer.make_call)
    trace.when_done(lambda: setattr(module, "__call__", original))


def _note_optimizers(trace):
    steps = torch_hook._steps
    made = steps.optimizer_made

    def optimizer_made(optimizer):
        made(optimizer)
        momentum = any(group.get("momentum", 0) for group in optimizer.param_groups)
        trace.optimizers.append((type(optimizer).__name__, momentum))

    steps.optimizer_made = optimizer_made


class _Frame:
    """A module that is running."""

    def __init__(self, module, name):
        self.name = name
        kind = type(module)
        self.leaf = not module._modules
        # One call of PyTorch's own leaf modules is one layer, whatever operations it comes to.
        self.whole = self.leaf and kind.__module__.startswith("torch.nn.")
        self.kind = kind.__name__
        self.layers = []


class _Tracer:
    def __init__(self, torch, trace, mode):
        self._torch, self._trace = torch, trace
        self._thread = None
        self._skipping = None  # a thread in a pass that is not wanted
        self._stack = []
        self._pass = None
        self._names = {}
        self._weights = {}  # storage: whether it wants a gradient
        self._buffers = set()
        self._copies = {}  # storage of a weight in another type: (weak reference, whether it wants a gradient)
        self._results = []  # of this iteration's passes: (which model, tensor)
        self._root = None
        self._iteration = -1
        self._mode = _mode(mode, self)

    def make_call(self, original):
        trace = self._trace

        def __call__(module, *args, **kwargs):
            if trace.done or self._skipping == get_ident():
                return original(module, *args, **kwargs)
            if self._pass is None:
                return self._outermost(original, module, args, kwargs)
            if self._thread != get_ident():
                return original(module, *args, **kwargs)
            return self._inner(original, module, args, kwargs)

        return __call__

    def _outermost(self, original, module, args, kwargs):
        if not self._wanted(module):
            self._skipping = get_ident()
            try:
                return original(module, *args, **kwargs)
            finally:
                self._skipping = None
        try:
            self._begin(module, args, kwargs)
        except Exception as error:
            self._pass = None
            failed("a model could not be traced", error)
            return original(module, *args, **kwargs)
        try:
            with self._mode:
                result = self._inner(original, module, args, kwargs)
        except BaseException:
            self._pass = None
            raise
        try:
            self._end(result)
        except Exception as error:
            failed("a model could not be traced", error)
        self._pass = None
        return result

    def _wanted(self, module):
        trace, torch = self._trace, self._torch
        if not trace.listens() or trace.owner or torch.jit.is_tracing():
            return False
        if not torch.is_grad_enabled():
            trace.without_gradient.add(_class_of(module))
            return False
        task = getattr(torch._C, "_current_graph_task_id", None)
        if task is not None and task() != -1:
            trace.note("the backward pass runs parts of the forward pass again (activation checkpointing): not counted")
            return False
        return True

    def _begin(self, module, args, kwargs):
        if self._trace.seen() != self._iteration:
            self._iteration = self._trace.seen()
            self._weights, self._results, self._buffers = {}, [], set()
            self._weights.update((key, wants) for key, (copy, wants) in self._copies.items() if copy() is not None)
        self._thread, self._stack = get_ident(), []
        self._names = {id(child): _clean(name) for name, child in module.named_modules()}
        for parameter in module.parameters():
            self._weights[_storage(parameter)] = parameter.requires_grad
        self._buffers.update(_storage(buffer) for buffer in module.buffers())
        given = [t for t in self._tensors([args, kwargs]) if t.dim() > 0]
        batch = given[0].shape[0] if given else 1
        self._pass = Pass(_class_of(module), int(batch), tuple(given[0].shape[1:]) if given else (1,))
        self._root = id(module)
        earlier = {_storage(t) for model, t in self._results if model == self._root}
        self._pass.chained = any(_storage(t) in earlier for t in given)

    def _end(self, result):
        one, trace = self._pass, self._trace
        results = list(self._tensors([result]))
        if one.layers and not any(t.requires_grad for t in results):
            trace.without_gradient.add(one.model)
            return
        self._results.extend((self._root, t.detach()) for t in results)  # alive: their memory is nobody else's
        if one.layers:
            trace.add(one)

    def _inner(self, original, module, args, kwargs):
        frame = _Frame(module, self._names.get(id(module), type(module).__name__))
        for parameter in module._parameters.values():
            if parameter is not None:  # those of sharded models change their storage
                self._weights.setdefault(_storage(parameter), parameter.requires_grad)
        self._stack.append(frame)
        try:
            result = original(module, *args, **kwargs)
        finally:
            self._stack.pop()
        try:
            self._close(frame, args, kwargs, result)
        except Exception as error:
            failed(f"a layer could not be traced ({frame.name})", error)
        return result

    def _close(self, frame, args, kwargs, result):
        if len(frame.layers) == 1 and frame.leaf:
            frame.layers[0].name = frame.name
        elif frame.whole and frame.layers:
            frame.layers = [self._merged(frame, args, kwargs, result)]
        self._pass.layers.extend(frame.layers) if not self._stack else self._stack[-1].layers.extend(frame.layers)

    def _merged(self, frame, args, kwargs, result):
        dense = [layer for layer in frame.layers if layer.kind in ("conv", "convtranspose", "linear")]
        outs = [t for t in self._tensors([result]) if t.dim() > 0]
        output = self._sample(outs[0].shape) if outs else frame.layers[-1].output
        if len(dense) == 1 and frame.kind not in ("RNNCell", "LSTMCell", "GRUCell"):
            one = dense[0]
            one.name = frame.name
            return one
        inputs = [self._sample(t.shape) for t in self._tensors([args, kwargs]) if t.dim() > 0]
        kind = "dropout" if "Dropout" in frame.kind else frame.kind.lower()
        one = Layer(frame.name, kind, inputs or frame.layers[0].inputs, output)
        one.weights = frozenset().union(*(layer.weights for layer in frame.layers))
        parameters = {}
        for layer in frame.layers:
            parameters[layer.weights] = layer.parameters
        one.parameters = sum(parameters.values())
        one.macs, one.batch = sum(layer.macs for layer in frame.layers), self._pass.batch
        one.trainable = any(layer.trainable for layer in frame.layers)
        one.scales = all(layer.scales for layer in frame.layers)
        one.precision = next((layer.precision for layer in frame.layers if layer.macs), None)
        if one.macs:
            one.operations = 2 * one.macs / self._pass.batch
        return one

    def record(self, operator, args, kwargs, result):
        op = Operation(operator, args, kwargs, result, self._is_tensor)
        if op.is_nothing() or not self._stack:
            return
        before = {_storage(t) for t in op.tensors}
        if not op.writes and _storage(op.results[0]) in before:
            return  # a view
        weights = [t for t in op.tensors if _storage(t) in self._weights]
        known = self._weights.keys() | self._buffers
        used = [t for t in op.tensors if t.dim() and _storage(t) not in known]
        if not used:
            if weights and op.name == "_to_copy":  # autocast
                self._copied(op.results[0], self._weights[_storage(weights[0])])
                self._trace.note("autocast copies weights into another type in every iteration: not counted")
            return
        kind, fields, macs, told = describe(op, lambda t: _storage(t) in self._weights)
        if kind.startswith("conv"):
            used = used[:1]  # a weight that is computed from others is no input
        frame = self._stack[-1]
        name = f"{frame.name}.{kind}" if frame.name else kind
        layer = Layer(name, kind, [self._sample(t.shape) for t in used], self._sample(op.results[0].shape), fields)
        layer.scales = op.results[0].dim() == 0 or self._scales(op.results[0].shape)
        layer.parameters = sum(_own_elements(t) for t in weights)
        layer.weights = frozenset((_storage(t), t.storage_offset()) for t in weights)
        layer.trainable = not weights or any(self._weights[_storage(t)] for t in weights)
        layer.macs, layer.batch = macs, self._pass.batch
        if told:
            layer.operations = 2 * macs / self._pass.batch
        if macs:
            layer.precision = self._precision(op.results[0], kind)
        frame.layers.append(layer)

    def _copied(self, tensor, wants_gradient):
        """Autocast keeps its copies for as long as its block lasts, which may be several iterations."""
        key = _storage(tensor)

        def gone(_):
            self._copies.pop(key, None)
            self._weights.pop(key, None)

        self._copies[key] = (weakref.ref(tensor, gone), wants_gradient)
        self._weights[key] = wants_gradient

    def _precision(self, tensor, kind):
        name = _PRECISIONS.get(str(tensor.dtype), str(tensor.dtype))
        backends = self._torch.backends
        if name == "fp32" and tensor.is_cuda:
            allowed = backends.cudnn.allow_tf32 if kind.startswith("conv") else backends.cuda.matmul.allow_tf32
            if allowed and self._torch.cuda.get_device_capability(tensor.device)[0] >= 8:
                return "tf32"
        return name

    def _scales(self, shape):
        batch = self._pass.batch
        return any(size % batch == 0 for size in shape)

    def _sample(self, shape):
        """Of one sample: without the batch, whether it is a dimension or part of the first one."""
        batch, sizes = self._pass.batch, [int(size) for size in shape]
        if sizes and sizes[0] % batch and any(size % batch == 0 for size in sizes):
            at = sizes.index(batch) if batch in sizes else next(i for i, size in enumerate(sizes) if size % batch == 0)
            sizes.insert(0, sizes.pop(at))
        if sizes and sizes[0] == batch:
            sizes = sizes[1:]
        elif sizes:
            sizes[0] = -(-sizes[0] // batch)
        return tuple(max(1, size) for size in sizes) or (1,)

    def _is_tensor(self, value):
        return isinstance(value, self._torch.Tensor)

    def _tensors(self, value):
        if self._is_tensor(value):
            yield value
        elif isinstance(value, dict):
            for one in value.values():
                yield from self._tensors(one)
        elif isinstance(value, (list, tuple)):
            for one in value:
                yield from self._tensors(one)


def _mode(base, tracer):
    class Mode(base):
        def __torch_dispatch__(self, function, types, args=(), kwargs=None):
            kwargs = kwargs or {}
            result = function(*args, **kwargs)
            try:
                tracer.record(function, args, kwargs, result)
            except Exception as error:
                failed(f"an operation could not be traced ({function})", error)
            return result

    return Mode()


def _storage(tensor):
    """Names the memory of a tensor, also where it has none (device meta)."""
    try:
        if hasattr(tensor, "untyped_storage"):
            return tensor.untyped_storage()._cdata
        return tensor.storage().untyped()._cdata
    except Exception:  # a tensor of a class that has none
        return id(tensor)


def _own_elements(tensor):
    count = 1
    for size, stride in zip(tensor.shape, tensor.stride()):
        count *= size if stride else 1
    return count


def _class_of(module):
    while type(module).__name__ in _WRAPPERS:
        inside = next((module._modules[name] for name in _WRAPPED if name in module._modules), None)
        if inside is None:
            break
        module = inside
    return type(module).__name__


def _clean(name):
    return ".".join(part for part in name.split(".") if part not in _WRAPPED)
