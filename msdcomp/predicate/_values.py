"""JSON values: how one is written in a sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msdcomp.canonical import canonical
from msdcomp.frozenjson import thawed
from msdcomp.safetext import safe

if TYPE_CHECKING:
    from msdcomp.manifest.names import Json

__all__ = ["form", "shown"]

_SHOWN = 60


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
        return canonical(thawed(value)).decode()
    except ValueError:
        return ""


def shown(value: Json) -> str:
    """Return a value as it can stand in a message: short and safe."""
    if isinstance(value, str):
        cut = "..." if len(value) > _SHOWN else ""
        return f'"{safe(value, _SHOWN)}{cut}"'
    text = _json(value)
    return safe(text, _SHOWN) + ("..." if len(text) > _SHOWN else "")
