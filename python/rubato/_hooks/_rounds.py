"""When a training iteration is over, seen from the steps of its optimizers."""

import weakref


class Rounds:
    """Groups optimizer steps into rounds: one is over when every optimizer in use has stepped.

    One optimizer: each step. A GAN whose discriminator steps five times per generator step: each generator
    step. One optimizer per parameter (stepped in the backward pass): once per backward pass. An optimizer
    that lets others step by much more often than it used to is taken out of use, and comes back when it steps
    regularly again.
    """

    _SLACK = 8
    _MOST = 64  # steps of another optimizer; one that is rarer does not set the iteration

    def __init__(self):
        self._used = {}  # id: weak reference
        self._unused = {}  # id: (weak reference, round of its latest step or None)
        self._waiting = set()
        self._steps = {}  # of this round, by id
        self._ratio = 1  # most steps of one optimizer in a full round
        self.count = 0

    def add(self, optimizer):
        """An optimizer was made, and is expected to step."""
        key = id(optimizer)
        if key not in self._used:
            self._used[key] = self._watch(optimizer)
            self._waiting.add(key)

    def step(self, optimizer):
        """An optimizer has stepped. True: with that a round is over."""
        key = id(optimizer)
        if key in self._unused and not self._comes_back(key, optimizer):
            return False
        if key not in self._used:
            self._used[key] = self._watch(optimizer)
        self._waiting.discard(key)
        steps = self._steps[key] = self._steps.get(key, 0) + 1
        if self._waiting:
            if steps <= min(self._MOST, 2 * self._ratio + self._SLACK):
                return False
            for idle in self._waiting:
                self._unused[idle] = (self._used.pop(idle), None)
        else:
            self._ratio = max(self._ratio, *self._steps.values())
        self._steps.clear()
        self._waiting = set(self._used)
        self.count += 1
        return True

    def _comes_back(self, key, optimizer):
        reference, latest = self._unused[key]
        if latest is None or self.count - latest > self._MOST:
            self._unused[key] = (reference, self.count)
            return False
        del self._unused[key]
        return True

    def _watch(self, optimizer):
        key = id(optimizer)

        def gone(_):
            self._used.pop(key, None)
            self._unused.pop(key, None)
            self._waiting.discard(key)

        return weakref.ref(optimizer, gone)
