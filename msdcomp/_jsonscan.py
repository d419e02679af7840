"""A JSON scanner that knows every place and stops at nothing but broken syntax.

It is slower than the C scanner by an order of magnitude and only runs when something
is wrong. It never recurses, and takes time proportional to the text.
"""

from __future__ import annotations

import bisect
import json
import math
import re
from typing import TYPE_CHECKING

import attrs

from msdcomp.diagnostics import Location, pointer
from msdcomp.safetext import safe

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

#: Deepest nesting, the outermost object being the first level.
MAX_DEPTH = 200
#: Largest integer, by absolute value: beyond it a double cannot count.
MAX_INTEGER = 2**53
#: Oddities listed for one text; one more says that there are others.
MAX_ODDITIES = 1000

_SPACE = re.compile(r"[ \t\n\r]*+")
_STRING = re.compile(
    r'"(?:[^"\\\x00-\x1f]++|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*+"', re.ASCII
)
_STRING_START = re.compile(
    r'"(?:[^"\\\x00-\x1f]++|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*+', re.ASCII
)
_SCALAR = re.compile(
    r"(?P<number>-?(?:0|[1-9][0-9]*+)(?P<part>\.[0-9]++)?(?P<exp>[eE][+-]?[0-9]++)?)"
    r"|(?P<word>true|false|null)|(?P<constant>NaN|-?Infinity)"
)
_SURROGATE = re.compile("[\ud800-\udfff]")
_WORDS = {"true": True, "false": False, "null": None}


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


class Repeated(dict[str, object]):
    """An object that names a key more than once; `pairs` has every one of them."""

    pairs: list[tuple[str, object]]


@attrs.frozen
class Oddity:
    """A fault of the text: code, message, pointer and offset in characters."""

    code: str
    message: str
    path: str
    offset: int


class Places:
    """Turns offsets in a text into lines and columns."""

    def __init__(self, text: str) -> None:
        """Note where the lines of `text` start."""
        self._starts = [0, *(match.end() for match in re.finditer("\n", text))]

    def location(self, offset: int) -> Location:
        """Return line and column of an offset, both from 1."""
        line = bisect.bisect_right(self._starts, offset)
        return Location(line, offset - self._starts[line - 1] + 1)


@attrs.frozen
class Scanned:
    """What a scan found: the value read loosely, the oddities, and places."""

    value: object
    oddities: list[Oddity]
    #: Offset of a pointer that was asked for, or of the nearest object around it.
    found: Callable[[str], int]


class _Wanted:
    """A tree of the pointers somebody asks for, and the offsets met so far."""

    __slots__ = ("children", "offset")

    def __init__(self) -> None:
        self.children: dict[str, _Wanted] = {}
        self.offset: int | None = None

    def add(self, path: str) -> None:
        node = self
        for part in path.split("/")[1:]:
            node = node.children.setdefault(part, _Wanted())

    def nearest(self, path: str) -> int:
        node, offset = self, self.offset or 0
        for part in path.split("/")[1:]:
            node = node.children[part]
            if node.offset is None:
                break
            offset = node.offset
        return offset


class _Level:
    """An object or array that is still open."""

    __slots__ = ("items", "key", "keys", "pairs", "wanted")

    def __init__(self, wanted: _Wanted | None, *, is_object: bool) -> None:
        self.items: list[object] = []
        self.pairs: list[tuple[str, object]] = []
        self.keys: set[str] | None = set() if is_object else None
        self.key: str | None = None
        self.wanted = wanted

    def part(self) -> str | int | None:
        """Return what the entry being read is called; None before its key is known."""
        return len(self.items) if self.keys is None else self.key

    def close(self) -> object:
        if self.keys is None:
            return self.items
        if len(self.keys) == len(self.pairs):
            return dict(self.pairs)
        repeated = Repeated(self.pairs)
        repeated.pairs = self.pairs
        return repeated


class _BrokenError(Exception):
    """Stops a scan: what was expected, and where something else stood."""

    def __init__(self, code: str, message: str, offset: int) -> None:
        super().__init__(message)
        self.code, self.message, self.offset = code, message, offset


def scan(text: str, start: int = 0, pointers: Iterable[str] = ()) -> Scanned:
    """Read a text from `start`, noting oddities and the places of `pointers`."""
    wanted = _Wanted()
    for path in pointers:
        wanted.add(path)
    scanner = _Scanner(text, wanted)
    value: object = None
    try:
        value = scanner.run(start)
    except _BrokenError as error:
        # What surrounds the place is not known to be what it seems.
        scanner.oddities.append(Oddity(error.code, error.message, "", error.offset))
    return Scanned(value, scanner.oddities, wanted.nearest)


class _Scanner:
    def __init__(self, text: str, wanted: _Wanted) -> None:
        self.text = text
        self.oddities: list[Oddity] = []
        self._levels: list[_Level] = []
        self._wanted = wanted

    def odd(self, code: str, message: str, offset: int) -> None:
        if len(self.oddities) < MAX_ODDITIES:
            parts = (level.part() for level in self._levels)
            path = pointer(*(part for part in parts if part is not None))
            self.oddities.append(Oddity(code, message, path, offset))
        elif len(self.oddities) == MAX_ODDITIES:
            message = f"the document has more than {MAX_ODDITIES} faults"
            self.oddities.append(Oddity("too-many-problems", message, "", offset))

    def _space(self, at: int) -> int:
        return _SPACE.match(self.text, at).end()  # type: ignore[union-attr]

    def _expect(self, wanted: str, at: int) -> _BrokenError:
        char = self.text[at : at + 1]
        shown = f'"{char}"' if char.isprintable() and char else "the end of the text"
        if char and not char.isprintable():
            shown = f"the character U+{ord(char):04X}"
        return _BrokenError("json-syntax", f"expected {wanted}, got {shown}", at)

    def run(self, start: int) -> object:
        at = self._space(start)
        value, at = self._value(at, self._wanted)
        # Each turn closes or continues the innermost level; `value` is complete
        # exactly when no new level was opened for it.
        while self._levels:
            level = self._levels[-1]
            if value is not _OPENED:
                self._keep(level, value)
            at = self._space(at)
            value, at = self._step(level, at, opened=value is _OPENED)
        at = self._space(at)
        if at != len(self.text):
            wanted = "nothing after the value"
            raise self._expect(wanted, at)
        return value

    @staticmethod
    def _keep(level: _Level, value: object) -> None:
        if level.keys is None:
            level.items.append(value)
        else:
            level.pairs.append((level.key or "", value))
            level.keys.add(level.key or "")
            level.key = None

    def _step(self, level: _Level, at: int, *, opened: bool) -> tuple[object, int]:
        """Go on inside the innermost level: the next entry, or its end."""
        char = self.text[at : at + 1]
        is_object = level.keys is not None
        if char == ("}" if is_object else "]"):
            self._levels.pop()
            return level.close(), at + 1
        if not opened:
            if char != ",":
                raise self._expect('"," or "}"' if is_object else '"," or "]"', at)
            at = self._space(at + 1)
        if is_object:
            at = self._key(level, at)
        node = level.wanted
        child = node.children.get(_part(level)) if node is not None else None
        return self._value(at, child)

    def _key(self, level: _Level, at: int) -> int:
        if self.text[at : at + 1] != '"':
            raise self._expect("a key in double quotes", at)
        key, end = self._string(at)
        level.key = key
        if level.keys is not None and key in level.keys:
            message = f'the key "{safe(key, 60)}" must be given once, got it again'
            self.odd("duplicate-key", message, at)
        at = self._space(end)
        if self.text[at : at + 1] != ":":
            raise self._expect('":"', at)
        return self._space(at + 1)

    def _value(self, at: int, wanted: _Wanted | None) -> tuple[object, int]:
        if wanted is not None and wanted.offset is None:
            wanted.offset = at
        char = self.text[at : at + 1]
        if char == '"':
            return self._string(at)
        if char and char in "{[":
            if len(self._levels) >= MAX_DEPTH:
                message = f"the document must have at most {MAX_DEPTH} levels, got more"
                raise _BrokenError("too-deep", message, at)
            self._levels.append(_Level(wanted, is_object=char == "{"))
            return _OPENED, at + 1
        match = _SCALAR.match(self.text, at)
        if match is None:
            raise self._expect("a value", at)
        return self._scalar(match), match.end()

    def _scalar(self, match: re.Match[str]) -> object:
        digits = match["number"]
        if digits is None:
            if match["word"] is not None:
                return _WORDS[match["word"]]
            message = f"a number must be finite, got {match['constant']}"
            self.odd("not-finite", message, match.start())
            return None
        if match["part"] is None and match["exp"] is None:
            if len(digits) <= 17 and abs(int(digits)) <= MAX_INTEGER:
                return int(digits)
            message = f"an integer must lie within 2^53, got {digits[:40]}"
            self.odd("integer-too-large", message, match.start())
            return None
        value = as_number(digits)
        if value is None:
            message = f"a number must be finite, got {digits[:40]}"
            self.odd("not-finite", message, match.start())
        return value

    def _string(self, at: int) -> tuple[str, int]:
        match = _STRING.match(self.text, at)
        if match is None:
            raise self._broken_string(at)
        raw = match[0]
        value: str = json.loads(raw) if "\\" in raw else raw[1:-1]
        if _SURROGATE.search(value):
            message = "a string must hold whole characters, got half a surrogate pair"
            self.odd("lone-surrogate", message, at)
            value = _SURROGATE.sub("\ufffd", value)
        return value, match.end()

    def _broken_string(self, at: int) -> _BrokenError:
        end = _STRING_START.match(self.text, at).end()  # type: ignore[union-attr]
        char = self.text[end : end + 1]
        if char == "\\":
            return self._expect("a known escape in a string", end)
        if not char:
            return _BrokenError(
                "json-syntax", "expected the end of a string, got none", at
            )
        return self._expect("no control character in a string", end)


def _part(level: _Level) -> str:
    return str(level.part()).replace("~", "~0").replace("/", "~1")


_OPENED = object()
