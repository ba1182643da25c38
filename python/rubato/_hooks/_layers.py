"""The layers a training calls, for `rubato layers trace`: what RUBATO_LAYERS asks for. Nothing here runs without it.

A pass is one call of a model from outside any other. The passes of some iterations are kept and compared; then a
file of this process in that folder has them as rubato.network/1, or says why there is none.
"""

import atexit
import json
import os

from .. import _marks
from . import failed
from ._layers_network import network_of

WANTED = 3  # iterations: what changes between them is seen, and a last batch that is smaller
_UNSTEPPED = 8  # passes after which a program that makes no optimizer is taken as one that has none


class Layer:
    """One layer in one pass; shapes are of one sample, channels first."""

    __slots__ = (
        "name", "kind", "inputs", "output", "fields", "parameters", "weights", "operations", "trainable", "macs",
        "batch", "precision", "scales", "shares", "dynamic",
    )  # fmt: skip

    def __init__(self, name, kind, inputs, output, fields=None, parameters=0, weights=(), operations=None):
        self.name, self.kind = name, kind
        self.inputs, self.output = inputs, output
        self.fields = fields or {}
        self.parameters = parameters
        self.weights = frozenset(weights)  # whatever tells one parameter from another
        self.operations = operations  # of one sample; None: as the kind and the shapes say
        self.trainable = True
        self.macs = 0  # of the whole batch
        self.batch = 1  # that these are of
        self.precision = None  # "fp32", "tf32", "fp16", "bf16", or another framework's word
        self.scales = True  # with the batch
        self.shares = None
        self.dynamic = ()

    def shape(self):
        return self.inputs, self.output


class Pass:
    """One call of a model."""

    def __init__(self, model, batch, sample):
        self.model = model  # name of its class
        self.batch = batch
        self.input = sample
        self.layers = []
        self.symbolic = False  # seen while a step was compiled: several are the same one
        self.chained = False  # on the result of an earlier pass of the same model
        self.frozen = 0  # parameters without gradient

    def has_parameters(self):
        return any(layer.parameters for layer in self.layers)

    def signature(self):
        return self.model, [(layer.name, layer.kind, layer.shape()) for layer in self.layers]


class Trace:
    """What was seen in this process."""

    def __init__(self, folder, after):
        self._folder, self._after, self._pid = folder, after, os.getpid()
        self._seen = 0  # iterations
        self._iterations = []  # lists of passes
        self._passes = []  # of the running iteration
        self._closers = []
        self.frameworks = []  # "PyTorch 2.1", the one whose layers these are first
        self.optimizers = []  # (class name, momentum)
        self.without_gradient = set()  # models that were called, but not to be trained
        self.notes = []
        self.why = []  # (what stood in the way, what to do): told where no layer was seen
        self.owner = None  # "keras": on PyTorch its models are modules as well, and are seen as Keras's own
        self.done = False

    def seen(self):
        return self._seen

    def listens(self):
        """Whether passes of the running iteration are wanted, and in this process: not in a forked one."""
        return not self.done and self._seen >= self._after and os.getpid() == self._pid

    def when_done(self, close):
        self._closers.append(close)

    def note(self, sentence):
        if sentence not in self.notes:
            self.notes.append(sentence)

    def add(self, one):
        self._passes.append(one)
        if not self.optimizers and self._seen == 0 and len(self._passes) == _UNSTEPPED:
            self._give_up_on_steps()

    def iteration_over(self):
        if self.done or os.getpid() != self._pid:
            return
        self._seen += 1
        if self._passes:
            self._iterations.append(self._passes)
        self._passes = []
        # Keras calls its layers only while it compiles: later iterations have no passes, and are seen all the same.
        if self._iterations and self._seen >= self._after + WANTED:
            self.finish(enough=True)

    def finish(self, enough=False):
        """Writes what there is; `enough`: the job has nothing more to show."""
        if self.done or os.getpid() != self._pid:
            return
        self.done = True
        for close in self._closers:
            close()
        if not self._iterations and self._passes:
            self._iterations = [self._passes]
            self.note(
                "no iteration was over: this is what one pass showed, and whether shapes change is not known"
            )
        self._write(enough)

    def _give_up_on_steps(self):
        self.note("no optimizer was seen: each call of the model counts as an iteration")
        models = [one.model for one in self._passes if one.has_parameters()]
        if models:
            self._iterations = [[one] for one in self._passes if one.model == models[0]][-WANTED:]
        self._passes = []
        if self._iterations:
            self.finish(enough=True)

    def _write(self, enough):
        document = {"schema": "rubato.layer-trace/1", "pid": self._pid, "rank": _marks.rank()}
        document.update(frameworks=self.frameworks, iterations=self._seen)
        if self._iterations:
            document["enough"] = enough
            document["network"] = network_of(self)
        else:
            document["why"], document["hint"] = self._reason()
        path = os.path.join(self._folder, f"layers-{self._pid}.json")
        with open(path + ".part", "w", encoding="utf-8") as file:
            json.dump(document, file)
        os.rename(path + ".part", path)

    def iterations(self):
        return self._iterations

    def _reason(self):
        if self.why:
            return self.why[0]
        who = " and ".join(self.frameworks)
        if self._seen and self._seen <= self._after:
            return f"the program made {self._seen} iterations", f"--after {self._after} is past its end"
        if self.without_gradient:
            names = ", ".join(sorted(self.without_gradient))
            return f"{names} ran without gradients only", "trace the training, not an evaluation"
        return f"{who} was imported, and no model was called", "describe the network by hand: docs/layers.md"


trace = None  # of this process; None: nobody asked


def start():
    """Before any framework is imported."""
    global trace
    after = os.environ.get("RUBATO_LAYERS_AFTER", "")
    trace = Trace(os.environ["RUBATO_LAYERS"], int(after) if after.isdigit() else 0)
    # A compiled graph calls no modules; run as written it computes the same.
    os.environ.setdefault("TORCHDYNAMO_DISABLE", "1")
    os.environ.setdefault("TORCH_COMPILE_DISABLE", "1")
    atexit.register(_finish)
    for name in ("past_iteration", "end_iteration"):
        setattr(_marks, name, _then_told(getattr(_marks, name)))


def _then_told(original):
    def told(*arguments):
        original(*arguments)
        try:
            trace.iteration_over()
        except Exception as error:
            failed("the layers were not traced", error)

    return told


def _finish():
    try:
        if trace.frameworks:
            trace.finish()
    except Exception as error:
        failed("the layers were not traced", error)
