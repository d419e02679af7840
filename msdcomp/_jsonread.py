"""JSON read by the scanner in C, and what is asked of a text before and after.

Fast for the healthy case, strict where C lets through what JavaScript could not hold:
huge integers, NaN, repeated keys. What is wrong is only noticed here, not located; that
is done by `msdcomp._jsonscan`.
"""

from __future__ import annotations

import json
import math
import re

from msdcomp._jsonskip import LARGE, shallow

#: Deepest nesting, the outermost object being the first level.
MAX_DEPTH = 200
#: Largest integer, by absolute value: beyond it a double cannot count.
MAX_INTEGER = 2**53
#: Oddities listed for one text; one more says that there are others.
MAX_ODDITIES = 1000
#: Longest key that a pointer repeats, in characters: a problem must stay small, and
#: there may be a thousand below one key of megabytes.
MAX_KEY = 200

SPACE = re.compile(r"[ \t\n\r]*+")
SURROGATE = re.compile("[\ud800-\udfff]")
SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]|[\ud800-\udfff]")
_ESCAPE = re.compile(
    r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    r"|(?P<half>u[dD][89a-fA-F][0-9a-fA-F]{2})|.)",
    re.DOTALL,
)
# The next run of brackets of one direction, over anything else in between.
BRACKETS = re.compile(
    r'(?:[^"\[\]{}]++|"(?:[^"\\]++|\\.)*+(?:"|\Z)|\[\]|\{\})*+([\[{]++|[\]}]++)',
    re.DOTALL,
)


def short_key(key: str) -> str:
    """Return a key as pointers repeat it: cut when it is absurdly long."""
    return key if len(key) <= MAX_KEY else f"{key[:MAX_KEY]}..."


def nests_too_deep(text: str) -> bool:
    """Tell whether a text opens more levels than `MAX_DEPTH`."""
    if text.count("[") + text.count("{") <= MAX_DEPTH:
        return False
    if len(text) >= LARGE:
        # One look in C settles it for most texts.
        matched = shallow().match(text, SPACE.match(text).end())  # type: ignore[union-attr]
        if matched is not None and SPACE.fullmatch(text, matched.end()):
            return False
    depth = 0
    for match in BRACKETS.finditer(text):
        run = match[1]
        depth += len(run) if run[0] in "[{" else -len(run)
        if depth > MAX_DEPTH:
            return True
    return False


# Values.


def as_integer(digits: str) -> int | None:
    """Return the value of a JSON integer, or None beyond what a double counts."""
    if len(digits) <= 17:  # 2^53 has 16 digits, and there may be a sign
        value = int(digits)
        if -MAX_INTEGER <= value <= MAX_INTEGER:
            return value
    return None


def as_number(digits: str) -> int | float | None:
    """Return the value of a JSON number with a fraction or an exponent.

    Integral values within 2^53 become int, as they are one and the same number to a
    JavaScript host; None when the value is not finite.
    """
    value = float(digits)
    if not math.isfinite(value):
        return None
    if value.is_integer() and abs(value) <= MAX_INTEGER:
        return int(value)
    return value


class OddError(Exception):
    """Leaves the fast road; the slow one finds out why."""


def _integer(digits: str) -> int:
    value = as_integer(digits)
    if value is None:
        raise OddError
    return value


def _number(digits: str) -> int | float:
    value = as_number(digits)
    if value is None:
        raise OddError
    return value


def _constant(name: str) -> float:
    raise OddError(name)


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise OddError
    return value


#: Reads a strict value, but for repeated keys and half characters.
READ = json.JSONDecoder(
    parse_int=_integer, parse_float=_number, parse_constant=_constant
).raw_decode
#: Refuses repeated keys too, at the cost of a call for every object.
READ_PAIRS = json.JSONDecoder(
    object_pairs_hook=_object,
    parse_int=_integer,
    parse_float=_number,
    parse_constant=_constant,
).raw_decode


class Repeated(dict[str, object]):
    """An object that names a key more than once; `pairs` has every one of them."""

    __slots__ = ("pairs",)

    pairs: list[tuple[str, object]]


def _loose_object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    value = dict(pairs)
    if len(value) == len(pairs):
        return value
    repeated = Repeated(value)
    repeated.pairs = pairs
    return repeated


def _lost(_constant: str) -> None:
    return None


_READ_LOOSELY = json.JSONDecoder(
    parse_int=as_integer, parse_float=as_number, parse_constant=_lost
).raw_decode
_READ_REPEATS = json.JSONDecoder(
    object_pairs_hook=_loose_object,
    parse_int=as_integer,
    parse_float=as_number,
    parse_constant=_lost,
).raw_decode


def read_loosely(text: str, start: int, *, repeats: bool) -> object:
    """Return the value of JSON that need not be strict, or None when it is no JSON.

    Repeated keys are kept by `Repeated`, numbers that cannot be read are None, and
    half a character is a replacement character.

    Args:
        text: The text.
        start: Where its value begins, or the space before it.
        repeats: Whether keys may be repeated; reading is faster when they are not.
    """
    if nests_too_deep(text):
        return None
    if SURROGATE_ESCAPE.search(text):
        text = SURROGATE.sub("\ufffd", _ESCAPE.sub(_whole, text))
    try:
        read = _READ_REPEATS if repeats else _READ_LOOSELY
        value, end = read(text, SPACE.match(text, start).end())  # type: ignore[union-attr]
    except ValueError:
        return None
    return value if SPACE.fullmatch(text, end) else None


def _whole(match: re.Match[str]) -> str:
    return match[0] if match["half"] is None else "\\ufffd"
