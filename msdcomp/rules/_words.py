"""How the rules name values and places, and make problems of them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from msdcomp._jsonread import short_key
from msdcomp.codes import CODES
from msdcomp.diagnostics import MAX_PROBLEMS, Problem, Severity
from msdcomp.safetext import safe
from msdcomp.spelling import closest

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

_SHOWN = 60
_LISTED = 12


def kind_of(value: object) -> str:
    """Return the JSON name of a value's type, or its own when JSON has none."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, str):
        return "string"
    if isinstance(value, int | float):
        return "number"
    if isinstance(value, list | dict):
        return "array" if isinstance(value, list) else "object"
    return safe(type(value).__name__, _SHOWN)


def show(value: object) -> str:
    """Return a short, safe rendering of a value for a message."""
    if isinstance(value, str):
        cut = "..." if len(value) > _SHOWN else ""
        return f'"{safe("".join(map(_visible, value[:_SHOWN])))}{cut}"'
    if isinstance(value, list | dict):
        return kind_of(value) if value else f"an empty {kind_of(value)}"
    return json.dumps(value)


def _visible(char: str) -> str:
    """Return a character as it would be written in JSON if it cannot be seen."""
    return char if char.isprintable() else json.dumps(char)[1:-1]


def label(path: str) -> str:
    """Return a readable name for the place a pointer names.

    >>> label("/steps/0/onError"), label("/skills/1"), label("")
    ('onError', 'skills[1]', 'the manifest')
    """
    parts = [part.replace("~1", "/").replace("~0", "~") for part in path.split("/")]
    if len(parts) == 1:
        return "the manifest"
    name = parts[-1]
    if name.isdecimal() and len(parts) > 2:
        return f"{safe(parts[-2], _SHOWN)}[{name}]"
    return safe(name, _SHOWN) or '""'


def listed(values: Iterable[object], word: str = "or") -> str:
    """Return values as words: `"a", "b" or "c"`; a long list is only counted."""
    texts = [show(value) for value in values]
    if len(texts) > _LISTED:
        return f"one of {len(texts)} known values"
    return f" {word} ".join(filter(None, (", ".join(texts[:-1]), texts[-1])))


def suggest(text: object, known: Collection[str]) -> str | None:
    """Return a "did you mean" for a slip of a letter or so."""
    near = closest(text, known) if isinstance(text, str) else None
    return None if near is None else f"Did you mean {show(near)}?"


def fault(
    code: str,
    path: str,
    message: str,
    hint: str | None = None,
    severity: Severity = Severity.ERROR,
) -> Problem:
    """Return a problem; without a hint of its own it takes the remedy of its code."""
    return Problem(
        code=code,
        path=path,
        message=message,
        hint=hint or CODES[code].remedy,
        severity=severity,
    )


def must_be(code: str, value: object, path: str, expected: str) -> Problem:
    """Return the plain fault of a value that is not what is expected."""
    return fault(code, path, f"{label(path)} must be {expected}, got {show(value)}")


def wrong_type(value: object, path: str, expected: str) -> Problem:
    """Return the fault of a value of the wrong JSON type."""
    message = f"{label(path)} must be {expected}, got {kind_of(value)}"
    hint = f"Give {expected}." if len(expected) <= _SHOWN else None
    return fault("wrong-type", path, message, hint)


def missing(path: str, expected: str) -> Problem:
    """Return the fault of a required field that is not there."""
    name = label(path)
    return fault(
        "missing-field",
        path,
        f"{name} is missing; expected {expected}",
        f"Add the field {name}.",
    )


def too_many() -> Problem:
    """Return what ends a report that was cut short."""
    message = f"the manifest has more than {MAX_PROBLEMS} faults"
    return fault("too-many-problems", "", message)


def escape(key: str) -> str:
    """Return a key as a part of a JSON pointer; a very long one is cut."""
    key = short_key(key)
    if "~" not in key and "/" not in key:
        return key
    return key.replace("~", "~0").replace("/", "~1")


def reserved(name: str, path: str) -> Problem:
    """Return the fault of a name that a JavaScript host would misread."""
    message = f'{label(path)} must not be a reserved name, got "{name}"'
    return fault("reserved-name", path, message)
