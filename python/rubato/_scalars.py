"""Energy of each epoch as scalars in the experiment trackers that the job uses already: TensorBoard, Weights
& Biases, MLflow. Nothing is imported or opened for it, only the first rank writes, and no failure leaves.

An epoch is what the marks say it is, from its begin to its end. The joules are the board's (_board.py): all
GPUs of the job on this node. Without rubato around the job there are none.
"""

import sys
import time
import weakref

from . import _board, _marks

PREFIX = "rubato/"
_MOST_OPEN = 64  # epochs or passes over data that have begun: those that are left early never end

_begun = {}  # key of an open epoch: (ns, Board) at its begin
_writers = []  # weak references to TensorBoard's, in the order in which the job made them
_axis_of_run = None  # id of the run of W&B that knows what our values are plotted over
_mlflow_sender = None


def connect():
    """From here on epochs are logged. For the hook into a tracker that the job has imported."""
    me = sys.modules[__name__]
    if me not in _marks.listeners:
        _marks.listeners.append(me)


def watch(writer):
    """An object with a SummaryWriter's add_scalar(name, value, step)."""
    _writers[:] = [known for known in _writers if known() is not None] + [weakref.ref(writer)]


def unwatch(writer):
    _writers[:] = [known for known in _writers if known() not in (None, writer)]


def epoch_begins(key, ns):
    board = _board.read()
    if board is not None and board.gpus:
        _begun[key] = (ns, board)
        while len(_begun) > _MOST_OPEN:
            del _begun[next(iter(_begun))]


def epoch_was_none(key):
    _begun.pop(key, None)


def epoch_ended(key, index, ns):
    """Logs what the epoch took, and returns it; None where that is not known."""
    begin_ns, before = _begun.pop(key, (0, None))
    if before is None or _marks.rank() > 0:
        return None
    now = _board.read()
    # The same board twice: nothing was read in between.
    if now is None or now.at_ns <= before.at_ns or ns <= begin_ns:
        return None
    pairs = now.pairs_since(before)
    if any(then is None for then, _ in pairs):
        return None
    joules = sum(now.joules_of(gpu, ns) - before.joules_of(then, begin_ns) for then, gpu in pairs)
    if joules < 0:
        return None
    kind = "modelled_" if now.modelled else ""
    values = {
        f"{PREFIX}{kind}epoch_energy_j": joules,
        f"{PREFIX}{kind}epoch_mean_power_w": joules / ((ns - begin_ns) * 1e-9 * now.rate),
        f"{PREFIX}{kind}energy_j": now.joules_at(ns),
    }
    for log in (_tensorboard, _wandb, _mlflow):
        try:
            log(values, index)
        except Exception:  # a tracker that is closed, offline, of another version: not the job's business
            pass
    return values


def _tensorboard(values, index):
    writer = _writer()
    if writer is not None:
        for name, value in values.items():
            writer.add_scalar(name, value, index)


def _writer():
    """The first that the job made and has not closed: a closed one would open another file."""
    for known in _writers:
        writer = known()
        if writer is not None and getattr(writer, "file_writer", writer) is not None:
            return writer
    return None


def _wandb(values, index):
    global _axis_of_run
    wandb = sys.modules.get("wandb")
    run = getattr(wandb, "run", None)
    copies_tensorboard = getattr(wandb, "patched", {}).get("tensorboard")
    if run is None or copies_tensorboard and _writer() is not None:
        return
    if _axis_of_run != run.id:
        _axis_of_run = run.id
        run.define_metric(f"{PREFIX}*", step_metric=f"{PREFIX}epoch")
    # They join the row that the job commits next, or the last one: a row of ours would shift the job's steps.
    run.log({f"{PREFIX}epoch": index, **values}, commit=False)


def _mlflow(values, index):
    global _mlflow_sender
    mlflow = sys.modules.get("mlflow")
    run = mlflow.active_run() if mlflow is not None else None
    if run is None:
        return
    if _mlflow_sender is None:
        from ._mlflow_sender import Sender

        _mlflow_sender = Sender()
    now_ms = int(time.time() * 1000)
    metrics = [mlflow.entities.Metric(name, value, now_ms, index) for name, value in values.items()]
    _mlflow_sender.send(mlflow.tracking.MlflowClient(), run.info.run_id, metrics)
