"""What a PyTorch loop trains: parameters, batch and type, told when the first iteration is over and when they change."""

import weakref

from .. import _marks

_TYPES = {"torch.float16": "fp16", "torch.bfloat16": "bf16"}  # torch.float32 may be autocast: not told
_DEEPEST = 4


class Model:
    """State of the loop. No tensor is looked into, only its shape and type."""

    def __init__(self):
        self._optimizers = weakref.WeakSet()
        self._entries = None  # parameters listed by the optimizers when they were counted
        self._count = 0
        self._type = ""
        self._fetched = 0  # samples in the batch fetched last, which may be one of an evaluation
        self._batch = 0  # the largest one trained with: the last of an epoch may be smaller
        self._said = None
        self.name = ""
        self.precision = ""  # where somebody who knows said so

    def stepped(self, optimizer, scaled=False):
        self._optimizers.add(optimizer)
        if scaled and not self.precision:
            self.precision = "fp16"  # gradients are scaled for no other type

    def fetched(self, loader_batch, data):
        self._fetched = loader_batch or _samples(data)

    def round_over(self):
        entries = sum(len(group["params"]) for group in self._groups())
        if entries != self._entries:
            self._entries = entries
            self._look()
        self._batch = max(self._batch, self._fetched)
        now = (self.name, self._count, self._batch, self.precision or self._type)
        if now != self._said:
            self._said = now
            _marks.model(*now)

    def _groups(self):
        # Not everything that steps is one of PyTorch's: wrappers may keep their parameters elsewhere.
        return [group for one in self._optimizers for group in getattr(one, "param_groups", ())]

    def _look(self):
        parameters = {
            id(p): p for group in self._groups() for p in group["params"] if p.requires_grad
        }
        self._count = sum(p.numel() for p in parameters.values())
        types = {str(p.dtype) for p in parameters.values()}
        self._type = _TYPES.get(types.pop(), "") if len(types) == 1 else ""


def _samples(data):
    """The first dimension of the first tensor in a batch; 0 where there is none."""
    for _ in range(_DEEPEST):
        shape = getattr(data, "shape", None)
        if shape is not None:
            return int(shape[0]) if len(shape) else 0
        if hasattr(data, "values"):
            data = list(data.values())
        if not isinstance(data, (list, tuple)) or not data:
            return 0
        data = data[0]
    return 0
