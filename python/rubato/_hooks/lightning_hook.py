"""Lightning, under both of its names: a callback of ours beside the user's, and fit, validation, saving."""

from .. import _claims, _marks
from ._fit import init_method, phase_method, quiet, told_model, training_method


def install(module):
    trainer = getattr(module, "Trainer", None)
    if trainer is None:  # only a part of it, as lightning-fabric brings
        return
    callback = _make_callback(module.Callback)
    # First: Lightning wants those that save to be last.
    init_method(trainer, lambda made: made.callbacks.insert(0, callback()))
    training_method(trainer, "fit", f"{module.__name__}.Trainer")
    for name in ("validate", "test", "predict"):
        phase_method(trainer, name, _marks.EVALUATION)
    phase_method(trainer, "save_checkpoint", _marks.CHECKPOINT)
    _marks.hook(f"{module.__name__} {module.__version__}")


def _count(number):
    """A positive whole number, or 0 for None, -1 and infinity."""
    return int(number) if number is not None and 0 < number < 1_000_000_000 else 0


def _make_callback(base):
    class RubatoCallback(base):
        """Marks batches and epochs; its copies do nothing, so that a pickle of a trainer loads without
        rubato.
        """

        def __init__(self):
            self._index = 0
            self._open = False
            self._stepped = 0  # optimizer steps when the iteration began

        def __reduce__(self):
            return (base, ())

        @quiet
        def on_fit_start(self, trainer, pl_module):
            self._index = 0
            self._open = False
            precision = str(trainer.precision)
            told_model(pl_module, "bf16" if "bf16" in precision else "fp16" if precision.startswith("16") else "")

        @quiet
        def on_train_epoch_start(self, trainer, pl_module):
            if not _claims.above(_claims.FIT):
                _marks.begin_epoch(trainer.current_epoch, _count(trainer.max_epochs))

        @quiet
        def on_train_epoch_end(self, trainer, pl_module):
            if not _claims.above(_claims.FIT):
                _marks.end_epoch(trainer.current_epoch)

        @quiet
        def on_train_batch_start(self, trainer, pl_module, batch, batch_idx, *_):
            if self._open or _claims.above(_claims.FIT):
                return
            self._open = True
            self._stepped = trainer.global_step
            batches = _count(trainer.num_training_batches)
            _marks.begin_iteration(self._index, 0, -(-batches // max(1, trainer.accumulate_grad_batches)))

        @quiet
        def on_train_batch_end(self, trainer, pl_module, outputs, batch, batch_idx, *_):
            # With gradient accumulation the iteration goes on until an optimizer has stepped.
            if self._open and trainer.global_step != self._stepped:
                self._open = False
                _marks.end_iteration(self._index)
                self._index += 1

        @quiet
        def on_sanity_check_start(self, trainer, pl_module):
            _marks.begin_phase(_marks.EVALUATION)

        @quiet
        def on_sanity_check_end(self, trainer, pl_module):
            _marks.end_phase(_marks.EVALUATION)

        @quiet
        def on_validation_start(self, trainer, pl_module):
            _marks.begin_phase(_marks.EVALUATION)

        @quiet
        def on_validation_end(self, trainer, pl_module):
            _marks.end_phase(_marks.EVALUATION)

    return RubatoCallback
