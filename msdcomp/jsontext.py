"""Strict JSON: a text means one value to every reader, or it is refused.

Healthy text takes the fast road through the standard library's C scanner. Anything
that scanner would let pass or lose (repeated keys, NaN, rounded integers, half
characters) sends the text to `msdcomp._jsonscan`, which knows every place.
Source: docs/reference/wire-format.md, "Strict JSON".
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import attrs

from msdcomp._jsonread import (
    MAX_DEPTH,
    MAX_INTEGER,
    READ,
    READ_PAIRS,
    OddError,
    nests_too_deep,
    read_loosely,
)
from msdcomp._jsonskip import LARGE
from msdcomp.canonical import canonical
from msdcomp.codes import CODES
from msdcomp.diagnostics import Location, Problem
from msdcomp.records import Record

if TYPE_CHECKING:
    from collections.abc import Iterable

    from msdcomp._jsonscan import Places

__all__ = [
    "MAX_BYTES",
    "MAX_DEPTH",
    "MAX_INTEGER",
    "Parsed",
    "canonical",
    "locate",
    "locate_all",
    "parse",
]

#: Longest text that is looked at, in bytes.
MAX_BYTES = 8 * 1024 * 1024

_BOM = "\ufeff"


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Parsed(Record):
    """What a text holds.

    Attributes:
        value: Plain JSON (dict, list, str, int, float, bool, None); None when there
            are problems. Integral numbers within 2^53 are int.
        problems: Why the text is refused, in the order of the text.
        loose: When the text is JSON but not strict, its value all the same: repeated
            keys are kept by `Repeated`, what cannot be read is None.
    """

    value: object = None
    problems: tuple[Problem, ...] = ()
    loose: object = attrs.field(default=None, eq=False)

    @property
    def document(self) -> bytes:
        """The value as canonical JSON; empty when there are problems."""
        return b"" if self.problems else canonical(self.value)


_SPACE = re.compile(r"[ \t\n\r]*+")


def _fast(text: str) -> Parsed:
    """Return the value of strict JSON, or raise for any reason not to be sure."""
    if nests_too_deep(text):
        raise OddError
    start = _SPACE.match(text).end()  # type: ignore[union-attr]
    value, end = _read(text, start)
    if end != len(text) and not _SPACE.fullmatch(text, end):
        raise OddError
    return Parsed(value=value)


def _read(text: str, start: int) -> tuple[object, int]:
    """Return the strict value at an offset, and its end."""
    # One letter is found many times faster than two, and mostly there is none.
    escaped = text.find("\\", start) >= 0 and text.find("\\u", start) >= 0
    if escaped or len(text) < LARGE:
        value, end = READ_PAIRS(text, start)
        if escaped:
            # Fails on half a surrogate pair.
            canonical(value)
        return value, end
    value, end = READ(text, start)
    # The last of two equal keys has won, and a colon is gone. Colons in strings stand
    # as they are in both texts. In a large text that costs less than to look at every
    # object, of which there may be millions.
    if text.count(":", start, end) != canonical(value).count(b":"):
        raise OddError
    return value, end


def _end(text: str, start: int) -> int:
    return _read(text, start)[1]


def parse(data: bytes | str) -> Parsed:
    """Read strict JSON.

    Args:
        data: The text; bytes must be UTF-8 without a byte order mark.

    Returns:
        The value, or every reason against it with line and column. Never raises, and
        takes time proportional to the text.
    """
    try:
        if len(data if isinstance(data, bytes) else data.encode()) <= MAX_BYTES:
            return _fast(data.decode() if isinstance(data, bytes) else data)
    except (OddError, ValueError):
        # ValueError covers faulty UTF-8, either way, and faulty JSON.
        pass
    return _slow(data)


def _problem(code: str, message: str, path: str, places: Places, at: int) -> Problem:
    location = places.location(at)
    return Problem(
        code=code,
        path=path,
        message=message,
        hint=CODES[code].remedy,
        line=location.line,
        column=location.column,
    )


def _slow(data: bytes | str) -> Parsed:
    # Imported where something is wrong: healthy text does not pay for the scanner.
    from msdcomp._jsonscan import Places, oddities  # noqa: PLC0415

    size = len(data if isinstance(data, bytes) else data.encode(errors="replace"))
    nowhere = Places("")
    if size > MAX_BYTES:
        message = f"the document must have at most {MAX_BYTES} bytes, got {size}"
        return Parsed(problems=(_problem("too-large", message, "", nowhere, 0),))
    if isinstance(data, bytes) and b"\0" in data[:4]:
        message = "the text must be UTF-8, got what looks like UTF-16 or UTF-32"
        return Parsed(problems=(_problem("invalid-utf8", message, "", nowhere, 0),))
    problems = []
    text, bad = _decoded(data)
    places = Places(text)
    if bad is not None:
        message = f"the text must be UTF-8, got the byte 0x{bad[1]:02x}"
        problems.append(_problem("invalid-utf8", message, "", places, bad[0]))
    start = 0
    if text.startswith(_BOM):
        start = 1
        message = "the text must start with its first character, got a byte order mark"
        problems.append(_problem("byte-order-mark", message, "", places, 0))
    odds = oddities(text, start, _end)
    problems += [
        _problem(odd.code, odd.message, odd.path, places, odd.offset) for odd in odds
    ]
    # A scan that had enough has not seen every key.
    repeats = any(o.code in {"duplicate-key", "too-many-problems"} for o in odds)
    loose = read_loosely(text, start, repeats=repeats)
    # Text that has no oddity after all is simply strict.
    return Parsed(
        value=None if problems else loose,
        problems=tuple(problems),
        loose=loose,
    )


def _decoded(data: bytes | str) -> tuple[str, tuple[int, int] | None]:
    """Return the text, and place and value of the first byte that is not UTF-8."""
    if isinstance(data, str):
        return data, None
    try:
        return data.decode(), None
    except UnicodeDecodeError as error:
        before = data[: error.start].decode()
        return data.decode(errors="replace"), (len(before), data[error.start])


# Places.


def locate_all(data: bytes | str, pointers: Iterable[str]) -> dict[str, Location]:
    """Return the place of each pointer in a text; a missing key is at its object.

    In a text that is no JSON, what is meant to stand behind its first fault may be at
    any place before.
    """
    from msdcomp._jsonscan import Places, offsets  # noqa: PLC0415 -- see `_slow`

    text, _ = _decoded(data)
    wanted = list(pointers)
    found = offsets(text, 1 if text.startswith(_BOM) else 0, wanted)
    places = Places(text)
    return {path: places.location(found(path)) for path in wanted}


def locate(data: bytes | str, path: str) -> Location:
    r"""Return where a value stands in a text; a missing key is at its object.

    >>> locate('{\n  "steps": [1]\n}', "/steps/0")
    Location(line=2, column=13)
    """
    return locate_all(data, (path,))[path]
