"""What a layer of Keras 2 or 3 is in a network: kind, fields, shapes of one sample, parameters."""

from math import prod

from ._layers import Layer

_KINDS = {
    "Conv1D": "conv", "Conv2D": "conv", "Conv3D": "conv", "DepthwiseConv1D": "conv", "DepthwiseConv2D": "conv",
    "Conv1DTranspose": "convtranspose", "Conv2DTranspose": "convtranspose", "Conv3DTranspose": "convtranspose",
    "Dense": "linear", "EinsumDense": "linear", "Embedding": "embedding", "BatchNormalization": "batchnorm",
    "LayerNormalization": "layernorm", "GroupNormalization": "groupnorm", "ReLU": "relu", "Relu": "relu",
    "LeakyReLU": "leakyrelu", "ELU": "elu", "Softmax": "softmax", "Add": "add", "Multiply": "mul",
    "Concatenate": "concat", "Dropout": "dropout", "SpatialDropout2D": "dropout", "GaussianDropout": "dropout",
    "GlobalAveragePooling1D": "globalpool", "GlobalAveragePooling2D": "globalpool", "GlobalMaxPooling2D": "globalpool",
    "Sigmoid": "sigmoid", "Tanh": "tanh", "Gelu": "gelu", "Silu": "silu", "SlicingOpLambda": "slice",
}  # fmt: skip
_VIEWS = ("Flatten", "Reshape", "InputLayer", "Identity", "ExpandDims", "Squeeze", "GetItem")
_FUNCTIONS = {"swish": "silu", "hard_swish": "hardswish", "leaky_relu": "leakyrelu", "log_softmax": "softmax"}
_PRECISIONS = {"float32": "fp32", "float16": "fp16", "bfloat16": "bf16", "float64": "fp64"}


def is_whole(layer):
    """Whether what is called inside it belongs to it: a cell's call is that of one time step, and traced once."""
    return hasattr(layer, "cell")


def describe(layer, name, inputs, outputs, data_format):
    """One Layer; two where an activation is part of it, none where nothing is moved."""
    kind_of = type(layer).__name__
    if kind_of in _VIEWS or not outputs:
        return
    if kind_of == "TFOpLambda":  # Keras 2: a function between layers; its name ends in the function's
        kind_of = layer.name.split(".")[-1].split("_")[0].capitalize().replace("Operators", "Add")
    ins, out = [_sample(s, data_format, layer) for s in inputs], _sample(outputs[0], data_format, layer)
    if kind_of.startswith("SeparableConv"):
        yield from _separable(layer, name, ins, out)
    else:
        kind = _kind(layer, kind_of)
        fields, operations = _fields(layer, kind, kind_of, ins, out)
        if kind_of == "Dropout" and ins and not getattr(layer, "rate", 1):
            return
        yield _layer(layer, name, kind, ins, out, fields, operations)
    activation = getattr(getattr(layer, "activation", None), "__name__", "linear")
    if activation != "linear" and kind_of not in ("Activation",) and not hasattr(layer, "cell"):
        yield Layer(f"{name}.{activation}", _FUNCTIONS.get(activation, activation), [out], out)


def _kind(layer, kind_of):
    if kind_of == "Activation":
        name = getattr(layer.activation, "__name__", "activation")
        return _FUNCTIONS.get(name, name)
    if kind_of == "ReLU" and getattr(layer, "max_value", None) == 6:
        return "relu6"
    for part, kind in (("MaxPooling", "maxpool"), ("AveragePooling", "avgpool")):
        if kind_of.startswith(part):
            return kind
    return _KINDS.get(kind_of, kind_of.lower())


def _fields(layer, kind, kind_of, ins, out):
    """(fields of rubato.network/1, operations of one sample where kind and shapes do not tell them)."""
    if kind in ("conv", "convtranspose"):
        depthwise = kind_of.startswith("Depthwise")
        channels = ins[0][0] * layer.depth_multiplier if depthwise else layer.filters
        fields = {
            "channels": channels,
            "kernel": list(layer.kernel_size),
            "stride": list(layer.strides),
            "dilation": list(getattr(layer, "dilation_rate", (1,))),
            "groups": ins[0][0] if depthwise else getattr(layer, "groups", 1),
            "bias": bool(layer.use_bias),
        }
        if kind == "conv":
            fields["padding"] = "same" if layer.padding in ("same", "causal") else 0
        return fields, None
    if kind == "linear":
        bias = bool(getattr(layer, "use_bias", getattr(layer, "bias_axes", None)))
        return {"features": out[-1], "bias": bias}, 2 * prod(out) * _contracted(layer, ins) if _known(out) else None
    if kind == "embedding":
        return {"rows": layer.input_dim, "features": layer.output_dim}, None
    if kind in ("batchnorm", "layernorm", "groupnorm"):
        return {"affine": bool(layer.center or layer.scale)}, None
    if kind in ("maxpool", "avgpool"):
        padding = "same" if layer.padding == "same" else 0
        return {"kernel": _list(layer.pool_size), "stride": _list(layer.strides), "padding": padding}, None
    if hasattr(layer, "cell"):  # every weight matrix is multiplied with each time step once
        steps = ins[0][0] if ins and len(ins[0]) > 1 else 1
        return {}, 2 * steps * sum(prod(s) for s in _weights(layer) if len(s) == 2) if steps else None
    return {}, None


def _contracted(layer, ins):
    """How many products make one number of the result."""
    kernel = next((s for s in _weights(layer) if len(s) > 1), (1,))
    equation = getattr(layer, "equation", None)
    if equation is None:
        return kernel[0]
    left, result = equation.split("->")
    return prod(size for letter, size in zip(left.split(",")[1], kernel) if letter not in result)


def _separable(layer, name, ins, out):
    depth, point = [s for s in _weights(layer) if len(s) > 2][:2]
    channels, bias = prod(depth[-2:]), bool(layer.use_bias)
    middle = (channels, *out[1:])
    common = {"stride": list(layer.strides), "padding": "same" if layer.padding == "same" else 0}
    fields = {"channels": channels, "kernel": list(depth[:-2]), "groups": depth[-2], "bias": False, **common}
    first = _layer(layer, f"{name}.depthwise", "conv", ins, middle, fields, None)
    fields = {"channels": out[0], "kernel": [1] * (len(depth) - 2), "bias": bias}
    second = _layer(layer, f"{name}.pointwise", "conv", [middle], out, fields, None)
    first.parameters, second.parameters = prod(depth), prod(point) + (out[0] if bias else 0)
    first.weights, second.weights = frozenset([(id(layer), 0)]), frozenset([(id(layer), 1)])
    yield first
    yield second


def _layer(layer, name, kind, ins, out, fields, operations):
    one = Layer(name, kind, ins, out, fields, operations=operations)
    sizes = _weights(layer)
    one.parameters = sum(prod(size) for size in sizes)
    one.weights = frozenset([id(layer)]) if sizes else frozenset()
    one.trainable = not sizes or bool(layer.trainable)
    if any(len(size) > 1 for size in sizes):
        one.precision = _PRECISIONS.get(str(getattr(layer, "compute_dtype", "float32")), "fp32")
        one.macs = sum(prod(size) for size in sizes) * (prod(out[1:]) if kind == "conv" and _known(out) else 1)
    return one


def _weights(layer):
    """Shapes of the parameters. Statistics are none."""
    variables = getattr(layer, "trainable_weights", None) or [
        v for v in getattr(layer, "weights", []) if "moving" not in v.name and "seed" not in v.name
    ]
    return [tuple(int(size) for size in v.shape) for v in variables]


def _sample(shape, data_format, layer):
    """Of one sample, channels first."""
    sample = tuple(shape[1:])
    spatial = len(sample) > 2 or (len(sample) == 2 and type(layer).__name__ in ("Conv1D", "DepthwiseConv1D"))
    if spatial and data_format == "channels_last" and type(layer).__name__ not in ("Dense", "EinsumDense"):
        return (sample[-1], *sample[:-1])
    return sample


def _known(shape):
    return all(size is not None for size in shape)


def _list(value):
    return list(value) if isinstance(value, (list, tuple)) else [int(value)]
