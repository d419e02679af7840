"""JSON values: when two are equal, and how one is written in a sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyrsistent import PMap

from msdcomp.canonical import canonical
from msdcomp.safetext import safe

if TYPE_CHECKING:
    from msdcomp.manifest.names import Json

__all__ = ["equal", "form", "plain", "shown"]

_SHOWN = 60


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


def plain(value: Json) -> object:
    """Return a value as plain JSON."""
    if isinstance(value, PMap):
        return {key: plain(item) for key, item in value.items()}
    return [plain(item) for item in value] if isinstance(value, tuple) else value


def form(value: Json) -> str:
    """Return the text that stands for a value: itself for text, else its JSON."""
    if isinstance(value, str):
        return value
    if isinstance(value, float) and value == value // 1 and abs(value) < 2**53:
        return str(int(value))
    # Half a surrogate pair has no bytes; what is left names no other value.
    return _json(value)


def _json(value: Json) -> str:
    try:
        return canonical(plain(value)).decode()
    except ValueError:
        return ""


def shown(value: Json) -> str:
    """Return a value as it can stand in a message: short and safe."""
    if isinstance(value, str):
        cut = "..." if len(value) > _SHOWN else ""
        return f'"{safe(value, _SHOWN)}{cut}"'
    text = _json(value)
    return safe(text, _SHOWN) + ("..." if len(text) > _SHOWN else "")
