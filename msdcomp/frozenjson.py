"""JSON values that are frozen: when two are one, and one in plain form again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyrsistent import PMap

if TYPE_CHECKING:
    from msdcomp.manifest.names import Json

__all__ = ["equal", "thawed"]


def equal(one: Json, other: Json) -> bool:
    """Tell whether two JSON values are one: same type, same content.

    >>> equal(1, 1.0), equal(1, True), equal(0, False), equal("1", 1)
    (True, False, False, False)
    """
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, PMap):
        return (
            isinstance(other, PMap)
            and one.keys() == other.keys()
            and all(equal(value, other[key]) for key, value in one.items())
        )
    if isinstance(one, tuple):
        return (
            isinstance(other, tuple)
            and len(one) == len(other)
            and all(map(equal, one, other))
        )
    if isinstance(one, int | float) and isinstance(other, int | float):
        return one == other
    return type(one) is type(other) and one == other


def thawed(value: Json) -> object:
    """Return a value as the standard library writes it, the keys of objects sorted."""
    if isinstance(value, PMap):
        return {key: thawed(value[key]) for key in sorted(value)}
    return [thawed(item) for item in value] if isinstance(value, tuple) else value
