"""Changes one member of a JSON text and leaves every other byte as it is.

A configuration file is its user's own: the order, the indentation, the line ends and
what we do not know stay. So the text is edited, not the value written anew. A new
member is laid out like its neighbours.
Source: docs/reference/configuration.md, "How a file is edited".
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence

import attrs

__all__ = ["Member", "members", "set_member", "unset_member"]

_SPACE = re.compile(r"[ \t\n\r]*")
_INDENT = re.compile(r"\{[ \t]*\r?\n([ \t]+)\"")
_DECODE = json.JSONDecoder().raw_decode


@attrs.frozen(kw_only=True)
class Member:
    """A member of an object in a text; places are offsets in characters.

    Attributes:
        key: Its key, without escapes.
        start: Where the key begins.
        name_end: Where the key ends.
        value: Where the value begins.
        end: Where the value ends.
    """

    key: str
    start: int
    name_end: int
    value: int
    end: int


def members(text: str, opening: int) -> Iterator[Member]:
    """Yield the members of an object in the order of the text.

    Args:
        text: Strict JSON.
        opening: Where the object begins.
    """
    at = _skip(text, opening + 1)
    while text[at] != "}":
        start = at
        key, name_end = _DECODE(text, at)
        value = _skip(text, _skip(text, name_end) + 1)
        _, end = _DECODE(text, value)
        yield Member(key=key, start=start, name_end=name_end, value=value, end=end)
        at = _skip(text, end)
        if text[at] == ",":
            at = _skip(text, at + 1)


def set_member(text: str, path: Sequence[str], value: object) -> str:
    """Return a text with one value set; objects that are missing on the way are made.

    A value that is there already stays as it is written.

    Args:
        text: Strict JSON holding an object.
        path: Keys from the outermost object to the member, at least one.
        value: Plain JSON.

    Raises:
        ValueError: On the way stands something that is no object, or the value cannot
            be written as JSON.
        RecursionError: The value is too deep to be written.
    """
    opening = text.index("{")
    for depth, key in enumerate(path):
        within = tuple(members(text, opening))
        found = next((one for one in within if one.key == key), None)
        rest = path[depth + 1 :]
        if found is None:
            for name in reversed(rest):
                value = {name: value}
            return _inserted(text, opening, within, key, value)
        if not rest:
            held, _ = _DECODE(text, found.value)
            if json.dumps(held) == json.dumps(value):
                return text
            written = _written(text, found, value)
            return text[: found.value] + written + text[found.end :]
        if text[found.value] != "{":
            raise ValueError("what stands on the way is no object")
        opening = found.value
    raise ValueError("the path is empty")


def unset_member(text: str, path: Sequence[str]) -> str:
    """Return a text without one member; the same text when it is not there.

    An object on the way that this empties goes as well, so that a value which was set
    and is unset again leaves nothing behind.

    Args:
        text: Strict JSON holding an object.
        path: Keys from the outermost object to the member, at least one.
    """
    opening = text.index("{")
    way: list[tuple[int, tuple[Member, ...], Member]] = []
    for depth, key in enumerate(path):
        within = tuple(members(text, opening))
        found = next((one for one in within if one.key == key), None)
        if found is None or (depth + 1 < len(path) and text[found.value] != "{"):
            return text
        way.append((opening, within, found))
        opening = found.value
    while len(way) > 1 and len(way[-1][1]) == 1:
        way.pop()
    return _cut(text, *way[-1])


def _skip(text: str, at: int) -> int:
    return _SPACE.match(text, at).end()  # type: ignore[union-attr]


def _inserted(
    text: str, opening: int, within: tuple[Member, ...], key: str, value: object
) -> str:
    if not within:
        return _first(text, opening, key, value)
    last = within[-1]
    colon = text[last.name_end : last.value]
    lonely = len(within) == 1
    before = opening if lonely else text.index(",", within[-2].end)
    gap = text[before + 1 : last.start]
    if "\n" in gap:
        written = _laid_out(value, text, gap.rpartition("\n")[2])
    else:
        written = _dumped(value)
        # A lonely member has no comma to show whether a space follows one.
        gap = colon[colon.index(":") + 1 :] if lonely else gap
    return f"{text[: last.end]},{gap}{_dumped(key)}{colon}{written}{text[last.end :]}"


def _first(text: str, opening: int, key: str, value: object) -> str:
    """Return a text with the first member of an object that has been empty."""
    closing = text.index("}", opening)
    outermost = not text[:opening].strip()
    if not outermost and "\n" not in text.strip():
        pair = f"{_dumped(key)}: {_dumped(value)}"
        return f"{text[: opening + 1]}{pair}{text[closing:]}"
    newline, base = _newline(text), _line_indent(text, opening)
    inner = base + _unit(text)
    pair = f"{_dumped(key)}: {_laid_out(value, text, inner)}"
    body = f"{newline}{inner}{pair}{newline}{base}"
    return text[: opening + 1] + body + text[closing:]


def _written(text: str, found: Member, value: object) -> str:
    """Return a value as it is to stand in place of a member's own."""
    if "\n" not in text.strip():
        return _dumped(value)
    return _laid_out(value, text, _line_indent(text, found.start))


def _laid_out(value: object, text: str, base: str) -> str:
    written = _dumped(value, _unit(text))
    return written.replace("\n", _newline(text) + base)


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _unit(text: str) -> str:
    """Return what one level of a text is indented by."""
    found = _INDENT.search(text)
    return found[1] if found else "  "


def _line_indent(text: str, at: int) -> str:
    """Return the white space that the line of a place begins with."""
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _dumped(value: object, indent: str | None = None) -> str:
    """Return a value as JSON text; raises where a number is too large for a double."""
    text = json.dumps(value, ensure_ascii=False, indent=indent, allow_nan=False)
    try:
        text.encode()
    except UnicodeEncodeError:
        # Half a character can only be written as an escape.
        return json.dumps(value, indent=indent)
    return text


def _cut(text: str, opening: int, within: tuple[Member, ...], gone: Member) -> str:
    """Return a text without one member and one of the commas around it."""
    place = within.index(gone)
    if place > 0:
        return text[: within[place - 1].end] + text[gone.end :]
    if len(within) > 1:
        return text[: gone.start] + text[within[1].start :]
    return text[: opening + 1] + text[_skip(text, gone.end) :]
