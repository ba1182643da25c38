"""How the Keras hooks replace methods, and keep their own failures to themselves."""

import functools

from .. import _marks
from . import failed
from ._patch import wrap_method


def replace(cls, name, make):
    """Replaces method `name` on the class of `cls`'s ancestry that defines it by make(original); a second
    call does nothing. False where there is no such method. TensorFlow's autograph knows methods of Keras,
    which it leaves as they are, by __module__, and the replacement has the original's.
    """
    for owner in cls.__mro__:
        if name in owner.__dict__:
            wrap_method(owner, name, make)
            return True
    return False


def quietly(function):
    """The function, its failures swallowed and told once."""

    @functools.wraps(function)
    def guarded(*args, **kwargs):
        try:
            return function(*args, **kwargs)
        except Exception as error:
            failed(f"a hook into Keras or JAX failed in {function.__name__}", error)
            return None

    return guarded


def in_phase(phase, before):
    """make() for replace(): calls of the method are a phase; `before()` runs first."""

    def make(original):
        def method(*args, **kwargs):
            before()
            _marks.begin_phase(phase)
            try:
                return original(*args, **kwargs)
            finally:
                _marks.end_phase(phase)

        return method

    return make
