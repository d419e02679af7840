"""Reading of a document that nobody has checked: what has the right type is taken.

Whatever is left over is shown as it stands, so no field can be declared and not seen.
"""

from __future__ import annotations

import rfc8785

__all__ = ["Fields", "entries", "json_text"]


def json_text(value: object) -> str:
    """Return plain JSON as RFC 8785 writes it."""
    try:
        return rfc8785.dumps(value).decode()  # type: ignore[arg-type]
    except rfc8785.IntegerDomainError:
        # 2^53 itself is let in by the strict reader and not by this writer, which
        # writes the same number when it is a float.
        return rfc8785.dumps(_doubles(value)).decode()  # type: ignore[arg-type]


def _doubles(value: object) -> object:
    """Return a value with its integers as the doubles that they are to other readers.

    All of it is within 2^53, so nothing is rounded.
    """
    if isinstance(value, dict):
        return {key: _doubles(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [_doubles(entry) for entry in value]
    whole = isinstance(value, int) and not isinstance(value, bool)
    return float(value) if whole else value  # type: ignore[arg-type]


def entries(value: object) -> list[tuple[int, dict[str, object]]]:
    """Return the objects in a list, with their places; nothing when it is no list."""
    if not isinstance(value, list):
        return []
    return [(i, entry) for i, entry in enumerate(value) if isinstance(entry, dict)]


class Fields:
    """An object that is taken apart field by field."""

    def __init__(self, value: object, prefix: str = "") -> None:
        """Start with an object, or with nothing when `value` is none.

        Args:
            value: Any JSON.
            prefix: Stands before the name of each field that is left over.
        """
        self.left: dict[str, object] = dict(value) if isinstance(value, dict) else {}
        self._prefix = prefix

    def text(self, key: str) -> str | None:
        """Take a text, or None when there is none."""
        value = self.left.get(key)
        if not isinstance(value, str):
            return None
        del self.left[key]
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        """Take a list of texts; a list with anything else in it is left over."""
        value = self.left.get(key)
        if not isinstance(value, list):
            return ()
        taken = tuple(entry for entry in value if isinstance(entry, str))
        if len(taken) != len(value):
            return ()
        del self.left[key]
        return taken

    def pairs(self, key: str) -> tuple[tuple[str, str], ...]:
        """Take an object of texts, sorted; one with anything else is left over."""
        value = self.left.get(key)
        if not isinstance(value, dict):
            return ()
        taken = [(k, v) for k, v in value.items() if isinstance(v, str)]
        if len(taken) != len(value):
            return ()
        del self.left[key]
        return tuple(sorted(taken))

    def number(self, key: str) -> str | None:
        """Take a number as JSON text, or None when there is none."""
        value = self.left.get(key)
        if isinstance(value, bool) or not isinstance(value, int | float):
            return None
        del self.left[key]
        return json_text(value)

    def inner(self, key: str) -> Fields:
        """Take an object apart in its turn; anything else is left over."""
        value = self.left.get(key)
        if not isinstance(value, dict):
            return Fields({})
        del self.left[key]
        return Fields(value, f"{self._prefix}{key}.")

    def rest(self) -> tuple[tuple[str, str], ...]:
        """Return what is left over, sorted by name."""
        return tuple(
            (f"{self._prefix}{key}", json_text(value))
            for key, value in sorted(self.left.items())
        )
