"""What one operation of PyTorch (an ATen operator below autograd and autocast) is as a layer of a network."""

from math import prod

_CONVOLUTIONS = {"convolution", "_convolution", "cudnn_convolution", "mkldnn_convolution", "miopen_convolution"}
_CONVOLUTIONS |= {"convolution_overrideable", "_slow_conv2d_forward", "_conv_depthwise2d", "conv_depthwise3d"}
_PRODUCTS = {"mm", "addmm", "_addmm_activation", "bmm", "baddbmm", "mv", "addmv", "dot", "linear"}
# Nothing of the model's: sizes asked for, memory without content.
_NOTHING = {"empty_like", "new_empty", "new_empty_strided", "new_zeros", "lift_fresh", "detach", "_local_scalar_dense"}
_KINDS = {
    "relu": "relu", "hardtanh": "relu6", "leaky_relu": "leakyrelu", "elu": "elu", "gelu": "gelu", "sigmoid": "sigmoid",
    "tanh": "tanh", "silu": "silu", "hardswish": "hardswish", "add": "add", "mul": "mul", "cat": "concat",
    "_softmax": "softmax", "_log_softmax": "softmax", "native_dropout": "dropout", "clone": "copy", "copy": "copy",
    "_to_copy": "copy",
}  # fmt: skip
_NORMS = (("batch_norm", "batchnorm"), ("group_norm", "groupnorm"), ("layer_norm", "layernorm"), ("rms_norm", "rmsnorm"))


class Operation:
    """A call of an operator: its arguments by name, its tensors, its results."""

    def __init__(self, operator, args, kwargs, result, is_tensor):
        schema = operator._schema
        self.name = schema.name.split("::")[-1]
        self.writes = self.name.endswith("_") and not self.name.startswith("__")
        self.name = self.name[:-1] if self.writes else self.name
        self.bound = {
            argument.name: argument.default_value for argument in schema.arguments if argument.has_default_value()
        }
        self.bound.update(zip((argument.name for argument in schema.arguments), args))
        self.bound.update(kwargs)
        self.tensors = [t for t in _flat(list(self.bound.values())) if is_tensor(t)]
        self.results = [t for t in _flat([result]) if is_tensor(t)]

    def is_nothing(self):
        return self.name in _NOTHING or not self.results or not any(t.dim() for t in self.tensors)

    def get(self, name, otherwise=None):
        value = self.bound.get(name)
        return otherwise if value is None else value


def _flat(values):
    for value in values:
        if isinstance(value, (list, tuple)):
            yield from _flat(value)
        else:
            yield value


def describe(op, is_weight):
    """(kind, fields, multiply-adds of the whole batch, whether kind and shapes do not tell these)."""
    out = op.results[0]
    if op.name in _CONVOLUTIONS:
        return _convolution(op, out)
    if op.name in _PRODUCTS:
        return _product(op, out, is_weight)
    if "attention" in op.name:
        query, key, value = (op.get(name) for name in ("query", "key", "value"))
        if query is not None and key is not None and value is not None:  # each row of the one meets all of the other
            rows = query.numel() // query.shape[-1]
            return "attention", {}, rows * key.shape[-2] * (query.shape[-1] + value.shape[-1]), True
        return "attention", {}, 0, True
    if "rnn" in op.name or op.name in ("lstm", "gru"):
        return "rnn", {}, _recurrent(op), True
    for part, kind in _NORMS:
        if part in op.name:
            return kind, {"affine": op.get("weight") is not None} if kind != "rmsnorm" else {}, 0, False
    if "pool" in op.name or op.name == "mean":
        return _pool(op, out)
    if op.name == "embedding":
        rows, features = op.get("weight").shape
        return "embedding", {"rows": rows, "features": features}, 0, False
    return _KINDS.get(op.name, op.name.strip("_")), {}, 0, False


def _convolution(op, out):
    weight = op.get("weight")
    transposed, groups = bool(op.get("transposed", False)), int(op.get("groups", 1))
    if op.name in ("_conv_depthwise2d", "conv_depthwise3d"):
        groups = weight.shape[0]
    spatial = weight.dim() - 2
    fields = {
        "channels": weight.shape[1] * groups if transposed else weight.shape[0],
        "kernel": list(weight.shape[2:]),
        "stride": _each(op.get("stride", [1]), spatial),
        "padding": _each(op.get("padding", [0]), spatial),
        "dilation": _each(op.get("dilation", [1]), spatial),
        "groups": groups,
        "bias": op.get("bias") is not None,
    }
    if transposed:
        fields["output_padding"] = _each(op.get("output_padding", [0]), spatial)
    across = (op.get("input") if op.get("input") is not None else op.get("self")) if transposed else out
    return "convtranspose" if transposed else "conv", fields, across.numel() * prod(weight.shape[1:]), False


def _product(op, out, is_weight):
    matrices = [t for t in op.tensors if t.dim() > 1][-2:] if op.name.endswith("mm") else op.tensors[:2]
    if op.name in ("addmm", "baddbmm", "_addmm_activation"):
        matrices = [op.get("mat1", op.get("batch1")), op.get("mat2", op.get("batch2"))]
    if op.name == "addmv":
        matrices = [op.get("mat"), op.get("vec")]
    contracted = matrices[0].shape[-1]
    macs = out.numel() * contracted
    if op.name == "linear" or (len(matrices) == 2 and is_weight(matrices[1]) and not is_weight(matrices[0])):
        bias = op.get("bias") is not None or op.name in ("addmm", "_addmm_activation")
        return "linear", {"features": out.shape[-1], "bias": bias}, macs, False
    return "matmul", {}, macs, True


def _recurrent(op):
    """Every weight matrix is multiplied with each time step once."""
    across = op.get("input")
    matrices, seen = [], set()
    for tensor in op.tensors:
        if tensor.dim() == 2 and tensor is not across and id(tensor) not in seen:
            seen.add(id(tensor))
            matrices.append(tensor)
    steps = across.numel() // max(1, across.shape[-1])
    states = {id(op.get(name)) for name in ("hx_", "cx_", "hx", "cx")}
    return steps * sum(m.numel() for m in matrices if id(m) not in states)


def _pool(op, out):
    before = op.tensors[0]
    if op.name == "mean":
        dims = {d % before.dim() for d in op.get("dim", [])} if before.dim() else set()
        whole = before.dim() > 2 and dims == set(range(2, before.dim()))
        return ("globalpool" if whole else "mean"), {}, 0, False
    if "adaptive" in op.name:
        size = _each(op.get("output_size"), before.dim() - 2)
        return ("globalpool", {}, 0, False) if set(size) == {1} else ("adaptivepool", {"size": size}, 0, False)
    kernel = op.get("kernel_size")
    if kernel is None:
        return op.name.strip("_"), {}, 0, False
    spatial = before.dim() - 2
    if set(_each(op.get("dilation", [1]), spatial)) != {1}:
        return "dilated-pool", {}, 0, False
    fields = {
        "kernel": _each(kernel, spatial),
        "stride": _each(op.get("stride") or kernel, spatial),
        "padding": _each(op.get("padding", [0]), spatial),
        "ceil": bool(op.get("ceil_mode", False)),
    }
    return "avgpool" if "avg" in op.name else "maxpool", fields, 0, False


def _each(value, count):
    values = [int(one) for one in value] if isinstance(value, (list, tuple)) else [int(value)]
    return values * count if len(values) == 1 else values
