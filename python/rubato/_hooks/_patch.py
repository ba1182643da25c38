"""Replaces methods of classes so that nobody notices: name, signature, documentation and __wrapped__ stay."""

import functools


def wrap_method(cls, name, make):
    """`cls.name` becomes `make(original)`. Nothing where the class has no such method or it is wrapped
    already.
    """
    original = cls.__dict__.get(name)
    if original is None or getattr(original, "_rubato", False):
        return
    wrapped = functools.wraps(original)(make(original))
    wrapped._rubato = True
    setattr(cls, name, wrapped)
