"""From the passes of some iterations to one network (rubato.network/1): what they have in common, and what changes."""

from ._layers_fit import settle

_OPTIMIZERS = {  # by the state they keep for each parameter, which is what their traffic depends on
    "adam": ("adam", "adamw", "nadam", "radam", "adamax"),
    "momentum": ("rmsprop", "adagrad", "lion"),
}


def network_of(trace):
    """The document. Its layers are those of the first iteration kept."""
    notes = list(trace.notes)
    iterations = [_in_order(passes, notes) for passes in trace.iterations()]
    layers = iterations[0]
    _compare(iterations, notes)
    first = trace.iterations()[0]
    main = next((one for one in first if one.has_parameters()), first[0])
    models = list(dict.fromkeys(one.model for one in first if one.has_parameters())) or [main.model]
    _tell(trace, first, models, layers, notes)
    document = {
        "schema": "rubato.network/1",
        "name": "+".join(models),
        "source": "traced: " + trace.frameworks[0],
        "input": _listed(main.input),
    }
    if main.batch:
        document["batch"] = main.batch
    document["precision"] = _precision(layers, notes)
    optimizer = _optimizer(trace.optimizers, notes)
    if optimizer:
        document["optimizer"] = optimizer
    document["notes"] = list(dict.fromkeys(notes))
    document["layers"] = [_entry(layer) for layer in layers]
    return document


def _in_order(passes, notes):
    """The layers of one iteration under names of their own."""
    passes = _without_repeats(passes, notes)
    several = sum(one.has_parameters() for one in passes) > 1
    layers, taken, owner = [], {}, {}
    for one in passes:
        for layer in one.layers:
            settle(layer)
            name = layer.name
            if several or not one.has_parameters():
                name = f"{one.model}.{name}" if name else one.model
            name = (name or one.model) + ("_" if name == "input" else "")  # that is the network's own
            taken[name] = count = taken.get(name, 0) + 1
            layer.name = name if count == 1 else f"{name}#{count}"
            owners = [owner[weight] for weight in layer.weights if weight in owner]
            if owners and len(owners) == len(layer.weights):
                layer.shares = owners[0]
            for weight in layer.weights:
                owner.setdefault(weight, layer.name)
            layers.append(layer)
    return layers


def _without_repeats(passes, notes):
    """One pass of several that do the same beside each other: accumulated gradients, or a step traced twice."""
    if any(one.chained for one in passes):
        return passes
    if passes[0].symbolic:  # the first calls of a model also build it: its last one is the step's
        last = {one.model: one.signature() for one in passes}
        passes = [one for one in passes if one.signature() == last[one.model]]
    signatures = [one.signature() for one in passes]
    for length in range(1, len(passes) // 2 + 1):
        times, rest = divmod(len(passes), length)
        if rest == 0 and signatures == signatures[:length] * times:
            if not passes[0].symbolic:
                notes.append(f"{times} passes to an iteration (accumulated gradients): the network is one of them")
            return passes[:length]
    return passes


def _compare(iterations, notes):
    """Marks layers whose shapes change; a batch of another size is no change."""
    first = iterations[0]
    for other in iterations[1:]:
        if [layer.name for layer in other] == [layer.name for layer in first]:
            for layer, again in zip(first, other):
                if again.shape() != layer.shape():
                    for shape in _differing(layer, again):
                        if shape not in layer.dynamic:
                            layer.dynamic += (shape,)
            continue
        changed = {layer.name for layer in other} ^ {layer.name for layer in first}
        named = ", ".join(sorted(changed)[:3]) or "their order"
        notes.append(f"the layers called change from iteration to iteration ({named}): these are the first one's")
    for layer in first:
        shapes = [*layer.inputs, layer.output]
        if not layer.dynamic and any(size is None for shape in shapes for size in shape):
            layer.dynamic = (layer.output,)


def _differing(one, other):
    """The output's two shapes; where they are the same, those of the first input that differs."""
    if one.output != other.output:
        return one.output, other.output
    return next((pair for pair in zip(one.inputs, other.inputs) if pair[0] != pair[1]), (one.output,))


def _tell(trace, passes, models, layers, notes):
    if len(models) > 1:
        notes.append(f"several models are trained together: {', '.join(models)}; each layer says whose it is")
    left_out = sorted(trace.without_gradient - {one.model for one in passes})
    if left_out:
        notes.append(f"{', '.join(left_out)} ran without gradients: left out")
    fixed = [layer.name for layer in layers if not layer.scales]
    if fixed:
        notes.append(
            f"{len(fixed)} layers do not grow with the batch ({', '.join(fixed[:3])}): another batch scales them, too"
        )


def _precision(layers, notes):
    """What most multiplications are done in."""
    work = {}
    for layer in layers:
        if layer.precision:
            work[layer.precision] = work.get(layer.precision, 0) + max(1, layer.macs)
    most = max(work, key=work.get, default="fp32")
    known = most if most in ("fp32", "tf32", "fp16", "bf16") else "fp32"
    if known != most:
        notes.append(f"multiplications are in {most}: counted as fp32")
    others = sorted(set(work) - {most})
    if others:
        notes.append(f"some layers compute in {', '.join(others)}: counted as {known}")
    return known


def _optimizer(seen, notes):
    for name, momentum in seen:
        lower = name.lower()
        if lower == "sgd":
            return "momentum" if momentum else "sgd"
        for kind, names in _OPTIMIZERS.items():
            if lower in names:
                if not lower.startswith("adam"):
                    notes.append(f"the optimizer is {name}: counted as {kind}")
                return kind
    if seen:
        notes.append(f"the optimizer {seen[0][0]} is not known: say what it is like with --optimizer")
    return None


def _entry(layer):
    entry = {"name": layer.name, "kind": layer.kind}
    entry.update((key, value) for key, value in layer.fields.items() if value is not None)
    if layer.inputs:
        entry["input_shapes"] = [_listed(shape) for shape in layer.inputs]
    entry["output_shape"] = _listed(layer.output)
    if layer.parameters:
        entry["parameters"] = layer.parameters
    if layer.operations is not None:
        entry["operations"] = layer.operations
    if layer.shares:
        entry["shares"] = layer.shares
    if not layer.trainable:
        entry["trainable"] = False
    if layer.dynamic:
        entry["dynamic"] = [_listed(shape) for shape in layer.dynamic]
    return entry


def _listed(shape):
    return list(shape) or [1]
