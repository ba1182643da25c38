"""Hugging Face Trainer: a callback of ours beside the user's, and evaluation and saving as phases."""

import math

from .. import _claims, _marks
from . import when_imported
from ._fit import init_method, phase_method, quiet, told_model, training_method


def install(transformers):
    """The trainer's module is imported by the program when it first uses one, if ever."""
    version = transformers.__version__
    when_imported("transformers.trainer", lambda module: _hook_trainer(module, version))


def _hook_trainer(module, version):
    callback = _make_callback(module.TrainerCallback)
    init_method(module.Trainer, lambda trainer: trainer.add_callback(callback()))
    training_method(module.Trainer, "train", "transformers.Trainer")
    for name in ("evaluate", "predict"):
        phase_method(module.Trainer, name, _marks.EVALUATION)
    for name in ("_save_checkpoint", "save_model"):
        phase_method(module.Trainer, name, _marks.CHECKPOINT)
    _marks.hook(f"transformers {version}")


def _make_callback(base):
    class RubatoCallback(base):
        """Marks steps and epochs; its copies do nothing, so that a pickle loads without rubato."""

        def __init__(self):
            self._epoch = 0
            self._of_epoch = 0

        def __reduce__(self):
            return (base, ())

        @quiet
        def on_train_begin(self, args, state, control, model=None, **_):
            told_model(model, "bf16" if args.bf16 else "fp16" if args.fp16 else "")
            # How long an epoch is follows from the planned steps only where they are whole trainings of
            # epochs.
            known = args.max_steps <= 0 and args.num_train_epochs > 0
            self._of_epoch = round(state.max_steps / args.num_train_epochs) if known else 0

        @quiet
        def on_epoch_begin(self, args, state, control, **_):
            self._epoch = int(state.epoch or 0)
            planned = math.ceil(state.num_train_epochs)
            if not _claims.above(_claims.FIT):
                _marks.begin_epoch(
                    self._epoch, planned if planned < 1_000_000 else 0
                )  # "endless" is a huge number

        @quiet
        def on_epoch_end(self, args, state, control, **_):
            if not _claims.above(_claims.FIT):
                _marks.end_epoch(self._epoch)

        @quiet
        def on_step_begin(self, args, state, control, **_):
            if not _claims.above(_claims.FIT):
                _marks.begin_iteration(state.global_step, 0, self._of_epoch)

        @quiet
        def on_step_end(self, args, state, control, **_):
            if not _claims.above(_claims.FIT):
                _marks.end_iteration(state.global_step - 1)

    return RubatoCallback
