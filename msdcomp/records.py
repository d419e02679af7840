"""What every record shares: equality by value, a hash and a readable form.

attrs would write and compile these three for each class when it is imported. A short
command imports about a hundred records and compares none of them, so they inherit one
general version instead: it takes half of the time that defining a record takes, and
`msd loop render-hooks` runs at every point of a loop.
Source: docs/explanation/decisions.md, "Records".
"""

from __future__ import annotations

import functools
from collections.abc import Callable

import attrs

__all__ = ["Record"]


class Record:
    """Base of the frozen records: `@attrs.frozen(eq=False, repr=False)`."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        """Tell whether another record is of the same class and equal in every field."""
        if other.__class__ is not self.__class__:
            return NotImplemented
        names = _cached(type(self), "eq")
        return all(getattr(self, name) == getattr(other, name) for name in names)

    def __hash__(self) -> int:
        """Return a hash of every field that counts for equality."""
        own = type(self)
        return hash((own, *(getattr(self, name) for name in _cached(own, "eq"))))

    def __repr__(self) -> str:
        """Show the class and the fields that say something about the value."""
        own = type(self)
        shown = ", ".join(f"{n}={getattr(self, n)!r}" for n in _cached(own, "repr"))
        return f"{own.__qualname__}({shown})"


def _names(cls: type, flag: str) -> tuple[str, ...]:
    fields = attrs.fields(cls)
    return tuple(field.name for field in fields if getattr(field, flag))


_cached: Callable[[type, str], tuple[str, ...]] = functools.cache(_names)
