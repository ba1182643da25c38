"""Whether a traced layer is what rubato.network/1 means by its kind: a reader works the shapes out again, and refuses
what disagrees. What is close to a kind but not it goes by another name, which counts as element-wise."""

from math import prod

_SAME = (
    "relu", "relu6", "leakyrelu", "elu", "gelu", "sigmoid", "tanh", "silu", "hardswish", "softmax", "dropout",
)  # fmt: skip
_NORMS = ("batchnorm", "groupnorm", "instancenorm", "layernorm")


def settle(layer):
    """Renames the kind where it does not fit, with the operations that are known of it."""
    ins, out = layer.inputs, layer.output
    if any(size is None for shape in (*ins, out) for size in shape):
        return
    if layer.kind == "globalpool" and ins and prod(out) == ins[0][0]:
        layer.output = out = (ins[0][0],) + (1,) * (len(ins[0]) - 1)
    if layer.kind in _NORMS and layer.parameters not in (0, _of_norm(layer)):
        layer.parameters = 0  # a scale without a shift: counted as both
    if not _fits(layer, ins, out):
        if layer.macs and layer.operations is None:
            layer.operations = 2 * layer.macs / layer.batch
        layer.kind, layer.fields = f"other-{layer.kind}", {}


def _of_norm(layer):
    shape = layer.inputs[0] if layer.inputs else (0,)
    return 2 * (shape[-1] if layer.kind == "layernorm" else shape[0])


def _fits(layer, ins, out):
    kind = layer.kind
    if kind in ("add", "mul"):
        return len(ins) > 1 and len({len(s) for s in ins}) == 1 and out == tuple(map(max, *ins))
    if kind == "concat":
        joined = (sum(s[0] for s in ins), *ins[0][1:])
        return len(ins) > 1 and out == joined and all(s[1:] == ins[0][1:] for s in ins)
    if kind in _SAME or kind in _NORMS:
        return len(ins) == 1 and ins[0] == out
    if kind == "linear":
        expected = ins[0][-1] * out[-1] + (out[-1] if layer.fields["bias"] else 0)
        return len(ins) == 1 and ins[0][:-1] == out[:-1] and layer.parameters in (0, expected)
    if kind == "embedding":
        return len(ins) == 1 and out == (*ins[0], layer.fields["features"])
    if kind in ("conv", "convtranspose", "maxpool", "avgpool", "adaptivepool", "globalpool"):
        return len(ins) == 1 and len(ins[0]) == len(out) and 2 <= len(out) <= 4
    return True
