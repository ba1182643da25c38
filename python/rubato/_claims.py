"""Who marks iterations where hooks nest: the user's own marks, above fit(), above optimizer steps.

A source of iterations claims its level for as long as it marks; lower ones, and others of the same level,
stay silent meanwhile. Claims hold in the whole process: PyTorch may step an optimizer in a thread of its own.
"""

import _thread
import os

API = 1  # as in _marks

OPTIMIZER, FIT, USER = 1, 2, 3

_lock = _thread.allocate_lock()
_claims = []
_top = 0


class Claim:
    """The right to mark iterations until release()."""

    __slots__ = ("level", "name")

    def __init__(self, level, name):
        self.level = level
        self.name = name

    def silent(self):
        """Whether a higher claim was made since."""
        return _top > self.level

    def release(self):
        with _lock:
            if self in _claims:
                _claims.remove(self)
                _settle()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.release()


def _settle():
    global _top
    _top = max((claim.level for claim in _claims), default=0)


def claim(level, name):
    """The token, or None where a claim of this level or a higher one holds."""
    with _lock:
        if _top >= level:
            return None
        token = Claim(level, name)
        _claims.append(token)
        _settle()
        return token


def above(level):
    """Whether a claim higher than `level` holds: cheap enough for every step."""
    return _top > level


def holder():
    """Name of the highest claim, or None."""
    with _lock:
        return max(_claims, key=lambda token: token.level).name if _claims else None


def _forget_lock():
    # Another thread may have held it when this process was forked.
    global _lock
    _lock = _thread.allocate_lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_lock)
