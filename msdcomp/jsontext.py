"""Strict JSON: a text means one value to every reader, or it is refused.

Healthy text takes the fast road through the standard library's C scanner. Anything
that scanner would let pass or lose (repeated keys, NaN, rounded integers, half
characters) sends the text to `msdcomp._jsonscan`, which knows every place.
Source: docs/reference/wire-format.md, "Strict JSON".
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

import attrs
from pyrsistent import PVector

from msdcomp._jsonscan import (
    MAX_DEPTH,
    MAX_INTEGER,
    Places,
    as_number,
    scan,
)
from msdcomp.codes import CODES
from msdcomp.diagnostics import Location, Problem

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "MAX_BYTES",
    "MAX_DEPTH",
    "MAX_INTEGER",
    "Parsed",
    "adopt",
    "canonical",
    "locate",
    "locate_all",
    "parse",
]

#: Longest text that is looked at, in bytes.
MAX_BYTES = 8 * 1024 * 1024

_BOM = "\ufeff"
_SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")
_BRACKETS = re.compile(r'"(?:[^"\\]++|\\.)*+"?|[\[\]{}]', re.DOTALL)


@attrs.frozen(kw_only=True)
class Parsed:
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
    loose: object = None


class _OddError(Exception):
    """Leaves the fast road; the slow one finds out why."""


def _integer(digits: str) -> int:
    if len(digits) <= 17:  # noqa: PLR2004 - 2^53 has 16 digits, and there may be a sign
        value = int(digits)
        if -MAX_INTEGER <= value <= MAX_INTEGER:
            return value
    raise _OddError


def _number(digits: str) -> int | float:
    value = as_number(digits)
    if value is None:
        raise _OddError
    return value


def _constant(name: str) -> float:
    raise _OddError(name)


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise _OddError
    return value


_DECODE = json.JSONDecoder(
    object_pairs_hook=_object,
    parse_int=_integer,
    parse_float=_number,
    parse_constant=_constant,
).decode

_ENCODE = json.JSONEncoder(
    sort_keys=True,
    separators=(",", ":"),
    ensure_ascii=False,
    allow_nan=False,
    check_circular=False,
).encode


def canonical(value: object) -> bytes:
    """Return plain JSON as canonical bytes: sorted keys, no spaces, UTF-8."""
    return _ENCODE(value).encode()


def _nests_too_deep(text: str) -> bool:
    if text.count("[") + text.count("{") <= MAX_DEPTH:
        return False
    depth = 0
    for match in _BRACKETS.finditer(text):
        bracket = match[0]
        if bracket in "[{":
            depth += 1
            if depth > MAX_DEPTH:
                return True
        elif bracket in "]}":
            depth -= 1
    return False


def _fast(text: str) -> object:
    """Return the value of strict JSON, or raise for any reason not to be sure."""
    if _nests_too_deep(text):
        raise _OddError
    value = _DECODE(text)
    if "\\u" in text and _SURROGATE_ESCAPE.search(text):
        canonical(value)
    return value


def parse(data: bytes | str) -> Parsed:
    """Read strict JSON.

    Args:
        data: The text; bytes must be UTF-8 without a byte order mark.

    Returns:
        The value, or every reason against it with line and column. Never raises, and
        takes time proportional to the text.
    """
    try:
        raw = data.encode() if isinstance(data, str) else data
        text = data if isinstance(data, str) else data.decode()
        if len(raw) <= MAX_BYTES:
            return Parsed(value=_fast(text))
    except (_OddError, ValueError):
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
    size = len(data if isinstance(data, bytes) else data.encode(errors="replace"))
    if size > MAX_BYTES:
        message = f"the document must have at most {MAX_BYTES} bytes, got {size}"
        return Parsed(problems=(_problem("too-large", message, "", Places(""), 0),))
    if isinstance(data, bytes) and b"\0" in data[:4]:
        message = "the text must be UTF-8, got what looks like UTF-16 or UTF-32"
        return Parsed(problems=(_problem("invalid-utf8", message, "", Places(""), 0),))
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
    scanned = scan(text, start)
    problems += [
        _problem(odd.code, odd.message, odd.path, places, odd.offset)
        for odd in scanned.oddities
    ]
    if problems:
        return Parsed(problems=tuple(problems), loose=scanned.value)
    return Parsed(value=scanned.value)


def _decoded(data: bytes | str) -> tuple[str, tuple[int, int] | None]:
    """Return the text, and place and value of the first byte that is not UTF-8."""
    if isinstance(data, str):
        return data, None
    try:
        return data.decode(), None
    except UnicodeDecodeError as error:
        before = data[: error.start].decode()
        return data.decode(errors="replace"), (len(before), data[error.start])


# Values given in memory.


def adopt(value: object) -> Parsed:
    """Copy a Python value into plain JSON, or say why it has no JSON counterpart.

    Mappings, lists, tuples and persistent vectors are taken, and subclasses of the
    scalars as the plain scalar. The input is never changed, and problems have no line.
    """
    problems: list[Problem] = []
    budget = [MAX_BYTES]
    copied = _copy(value, (), [], problems, budget)
    if budget[0] < 0:
        message = f"the value must fit into {MAX_BYTES} bytes of JSON, got more"
        return Parsed(problems=(_refused("too-large", message, ()),))
    if problems:
        return Parsed(problems=tuple(problems), loose=copied)
    return Parsed(value=copied)


def _refused(code: str, message: str, path: tuple[str | int, ...]) -> Problem:
    from msdcomp.diagnostics import pointer

    return Problem(
        code=code, path=pointer(*path), message=message, hint=CODES[code].remedy
    )


def _copy(
    value: object,
    path: tuple[str | int, ...],
    parents: list[int],
    problems: list[Problem],
    budget: list[int],
) -> object:
    budget[0] -= 2
    if budget[0] < 0:
        return None
    if isinstance(value, str):
        return _copy_text(value, path, problems, budget)
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int | float):
        return _copy_number(value, path, problems)
    if not isinstance(value, Mapping | list | tuple | PVector):
        message = f"the value must be JSON, got {type(value).__name__}"
        problems.append(_refused("not-json-value", message, path))
        return None
    if id(value) in parents:
        message = "the value must be a tree, got one that contains itself"
        problems.append(_refused("cyclic-value", message, path))
        return None
    if len(parents) >= MAX_DEPTH:
        message = f"the value must have at most {MAX_DEPTH} levels, got more"
        problems.append(_refused("too-deep", message, path))
        return None
    parents.append(id(value))
    copied: object
    if isinstance(value, Mapping):
        copied = {}
        for key, entry in value.items():
            if not isinstance(key, str):
                message = f"a key must be a string, got {type(key).__name__}"
                problems.append(_refused("key-not-string", message, path))
                continue
            name = _copy_text(key, path, problems, budget)
            copied[name] = _copy(entry, (*path, name), parents, problems, budget)
    else:
        copied = [
            _copy(entry, (*path, index), parents, problems, budget)
            for index, entry in enumerate(value)
        ]
    parents.pop()
    return copied


def _copy_text(
    text: str,
    path: tuple[str | int, ...],
    problems: list[Problem],
    budget: list[int],
) -> str:
    budget[0] -= len(text)
    plain = str.__str__(text)
    try:
        plain.encode()
    except UnicodeEncodeError:
        message = "a string must hold whole characters, got half a surrogate pair"
        problems.append(_refused("lone-surrogate", message, path))
        return plain.encode(errors="replace").decode()
    return plain


def _copy_number(
    value: float, path: tuple[str | int, ...], problems: list[Problem]
) -> int | float | None:
    if isinstance(value, int):
        plain = int.__add__(value, 0)
        if -MAX_INTEGER <= plain <= MAX_INTEGER:
            return plain
        message = "an integer must lie within 2^53, got a larger one"
        problems.append(_refused("integer-too-large", message, path))
        return None
    number = as_number(repr(float.__add__(value, 0.0)))
    if number is None:
        message = "a number must be finite, got one that is not"
        problems.append(_refused("not-finite", message, path))
    return number


# Places.


def locate_all(data: bytes | str, pointers: Iterable[str]) -> dict[str, Location]:
    """Return the place of each pointer in a text; a missing key is at its object."""
    text, _ = _decoded(data)
    wanted = list(pointers)
    found = scan(text, 1 if text.startswith(_BOM) else 0, wanted).found
    places = Places(text)
    return {path: places.location(found(path)) for path in wanted}


def locate(data: bytes | str, pointer: str) -> Location:
    """Return where a value stands in a text; a missing key is at its object.

    >>> locate('{\\n  "steps": [1]\\n}', "/steps/0")
    Location(line=2, column=13)
    """
    return locate_all(data, (pointer,))[pointer]
