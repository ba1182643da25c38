"""Marks for a training loop that only its optimizer steps, data iterators and evaluations tell of."""

import weakref
from _thread import get_ident
from time import monotonic_ns

from .. import _claims, _marks
from ._model import Model
from ._rounds import Rounds

# A shorter wait for data or a shorter save is no place to change a clock, and two marks a step would be for
# nothing.
SHORT_NS = 200_000


class Steps:
    """State of the loop. An iteration is marked when it is over, since only then is it known to have been
    one: from the end of the one before, or of the evaluation or checkpoint in between, to the end of its last
    step.
    """

    def __init__(self):
        self.steps = 0  # of all optimizers
        self._threads = [get_ident(), None]  # the importing one and the one that steps: where the loop runs
        self._rounds = Rounds()
        self.model = Model()
        self._index = 0
        self._epoch = 0
        self._begin = None  # of the running iteration; None: not known
        self._fresh = True  # no step yet
        self._fetched = False  # data for the running iteration
        self._evaluated = None  # weak reference to what is being evaluated
        self._stay = weakref.WeakSet()  # went to evaluation and did not come back: frozen parts

    def optimizer_made(self, optimizer):
        self._rounds.add(optimizer)
        if self._fresh and not self._fetched:
            self._begin = monotonic_ns()

    def stepped(self, optimizer, scaled=False):
        self.steps += 1
        self.model.stepped(optimizer, scaled)
        self._threads[1] = get_ident()
        if not self._rounds.step(optimizer):
            return
        now = monotonic_ns()
        if self._evaluated is not None:
            module = self._evaluated()
            if module is not None:
                self._stay.add(module)
            self._end_evaluation()
        if _claims.above(_claims.OPTIMIZER):
            self._begin = None
        else:
            if self._begin is not None:
                _marks.past_iteration(self._index, self._begin, now)
                self._index += 1
            self._begin = now
        self._fresh = self._fetched = False
        self.model.round_over()

    def fetched(self, begin, first, loader_batch=0, data=None):
        """The loop has waited for `data` since `begin`, for the `first` of a pass or a later one. A thread that
        fetches ahead of the loop is no wait.
        """
        if get_ident() not in self._threads:
            return
        self.model.fetched(loader_batch, data)
        now = monotonic_ns()
        if (first or self._fresh) and not self._fetched:
            self._begin = begin  # what lies between two epochs belongs to neither
        self._fetched = True
        if now - begin >= SHORT_NS:
            _marks.past_phase(_marks.DATA, begin, now)

    def rounds(self):
        return self._rounds.count

    def data_ended(self, begin, rounds):
        """An iterator over data that began at `begin`, after that many rounds, is exhausted."""
        if self._rounds.count > rounds and self._evaluated is None and not _claims.above(_claims.OPTIMIZER):
            _marks.past_epoch(self._epoch, begin, monotonic_ns())
            self._epoch += 1
        else:
            _marks.no_epoch(begin)

    def saved(self, begin):
        now = monotonic_ns()
        if now - begin < SHORT_NS:
            return
        _marks.past_phase(_marks.CHECKPOINT, begin, now)
        if not self._fetched and self._begin is not None:
            self._begin = now

    def evaluation(self, module, begins):
        """A module went from training to evaluation, or back."""
        if begins:
            if self._fresh or self._evaluated is not None or module in self._stay:
                return
            if not _claims.above(_claims.OPTIMIZER):
                self._evaluated = weakref.ref(module)
                _marks.begin_phase(_marks.EVALUATION)
        elif self._evaluated is not None and self._evaluated() is module:
            self._end_evaluation()
            self._begin = monotonic_ns()
            self._fetched = False

    def finish(self):
        """The program ends: what its shutdown takes is no evaluation."""
        if self._evaluated is not None:
            self._end_evaluation()

    def _end_evaluation(self):
        self._evaluated = None
        _marks.end_phase(_marks.EVALUATION)
