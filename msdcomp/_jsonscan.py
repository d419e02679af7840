"""The JSON scanner that knows every place.

It only runs when something is wrong, never recurses, and stops once it has
seen enough. It takes one step per value, an order of magnitude slower than C; in a
large text it steps only where something is to be found, and expressions in C carry it
over the rest. Either way it takes time proportional to the text.
"""

from __future__ import annotations

import json
import math
import re
from typing import TYPE_CHECKING

import attrs

from msdcomp._jsonread import (
    BRACKETS,
    MAX_DEPTH,
    MAX_ODDITIES,
    READ_PAIRS,
    SPACE,
    SURROGATE,
    SURROGATE_ESCAPE,
    OddError,
    as_integer,
    as_number,
    nests_too_deep,
    short_key,
)
from msdcomp._jsonskip import LARGE, SHALLOW_LEVELS, SIZES, SMALL, run_of, shallow
from msdcomp.diagnostics import Location, pointer
from msdcomp.records import Record
from msdcomp.safetext import safe

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

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


# Places.


@attrs.frozen(eq=False, repr=False)
class Oddity(Record):
    """A fault of the text: code, message, pointer and offset in characters."""

    code: str
    message: str
    path: str
    offset: int


class Places:
    """Turns offsets in a text into lines and columns."""

    #: Characters between two places whose line is known beforehand.
    _BLOCK = 64 * 1024

    def __init__(self, text: str) -> None:
        """Count the lines of `text`."""
        self._text = text
        self._lines = [1]
        for at in range(0, len(text), self._BLOCK):
            lines = text.count("\n", at, at + self._BLOCK)
            self._lines.append(self._lines[-1] + lines)

    def location(self, offset: int) -> Location:
        """Return line and column of an offset, both from 1."""
        block = offset // self._BLOCK
        lines = self._text.count("\n", block * self._BLOCK, offset)
        start = self._text.rfind("\n", 0, offset) + 1
        return Location(self._lines[block] + lines, offset - start + 1)


class _Wanted:
    """A tree of the pointers somebody asks for, and the offsets met so far."""

    __slots__ = ("children", "offset")

    def __init__(self) -> None:
        self.children: dict[str, _Wanted] = {}
        self.offset: int | None = None

    def add(self, path: str) -> int:
        """Add a pointer; return how many places are new."""
        node, new = self, 0
        for part in path.split("/")[1:]:
            if part not in node.children:
                node.children[part] = _Wanted()
                new += 1
            node = node.children[part]
        return new

    def indexes(self) -> list[int]:
        """Return the children that may be entries of an array, the last one first."""
        # Longer numbers are the index of nothing.
        parts = (part for part in self.children if part.isdecimal() and len(part) < 9)
        return sorted(map(int, parts), reverse=True)

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

    __slots__ = ("fresh", "index", "indexes", "key", "keys", "left", "size", "wanted")

    def __init__(self, wanted: _Wanted | None, *, is_object: bool) -> None:
        self.keys: set[str] | None = set() if is_object else None
        self.key: str | None = None
        self.index = 0
        self.fresh = True
        self.wanted = wanted
        #: Entries still to be found.
        self.left = 0 if wanted is None else len(wanted.children)
        self.indexes = [] if wanted is None or is_object else wanted.indexes()
        #: Place in `SIZES` of how many entries to try to pass over.
        self.size = len(SIZES) - 1

    def part(self) -> str | int | None:
        """Return what the entry being read is called; None before its key is known."""
        return self.index if self.keys is None else self.key

    def room(self) -> float:
        """Return how many entries nobody asks for, from the one being read."""
        while self.indexes and self.indexes[-1] < self.index:
            self.indexes.pop()
        return self.indexes[-1] - self.index if self.indexes else math.inf


class _BrokenError(Exception):
    """Stops a scan: what was expected, and where something else stood."""

    def __init__(self, code: str, message: str, offset: int) -> None:
        super().__init__(message)
        self.code, self.message, self.offset = code, message, offset


class _EnoughError(Exception):
    """Stops a scan: nothing more is to be found."""


def oddities(text: str, start: int, read: Callable[[str, int], int]) -> list[Oddity]:
    """Return what is odd about a text from `start`, up to a bound.

    Args:
        text: The text.
        start: Where its value begins, or the space before it.
        read: Given the text and an offset, the end of the value there; raises
            `OddError` or ValueError when it is not strict.
    """
    scanner = _Scanner(text, None, 0, read)
    scanner.scan(start)
    return scanner.oddities


def offsets(
    text: str, start: int = 0, pointers: Iterable[str] = ()
) -> Callable[[str], int]:
    """Return where each of `pointers` stands: its offset, or that of what is around."""
    wanted = _Wanted()
    count = 1 + sum(map(wanted.add, pointers))
    _Scanner(text, wanted, count).scan(start)
    return wanted.nearest


class _Scanner:
    """Looks for oddities, or for the places that are wanted."""

    def __init__(
        self,
        text: str,
        wanted: _Wanted | None,
        count: int,
        read: Callable[[str, int], int] | None = None,
    ) -> None:
        self.text = text
        self._read = read
        self.oddities: list[Oddity] = []
        self._levels: list[_Level] = []
        self._wanted = wanted
        #: Places still to be found.
        self._count = count
        self._large = len(text) >= LARGE
        self._halves = self._large and SURROGATE_ESCAPE.search(text) is not None
        #: How often a value of many levels may be tried in vain. Each try may read it
        #: whole, and so may the tries for the levels inside.
        deep = not self._large or wanted is not None or nests_too_deep(text)
        self._tries = 0 if deep else 16

    def odd(self, code: str, message: str, offset: int) -> None:
        if self._wanted is not None:
            return
        if len(self.oddities) == MAX_ODDITIES:
            message = f"the document has more than {MAX_ODDITIES} faults"
            self.oddities.append(Oddity("too-many-problems", message, "", offset))
            raise _EnoughError
        parts = (level.part() for level in self._levels)
        path = pointer(
            *(
                short_key(part) if isinstance(part, str) else part
                for part in parts
                if part is not None
            )
        )
        self.oddities.append(Oddity(code, message, path, offset))

    def _space(self, at: int) -> int:
        return SPACE.match(self.text, at).end()  # type: ignore[union-attr]

    def _expect(self, wanted: str, at: int) -> _BrokenError:
        char = self.text[at : at + 1]
        shown = f'"{char}"' if char.isprintable() and char else "the end of the text"
        if char and not char.isprintable():
            shown = f"the character U+{ord(char):04X}"
        return _BrokenError("json-syntax", f"expected {wanted}, got {shown}", at)

    def scan(self, start: int) -> None:
        try:
            self._scan(start)
        except _EnoughError:
            pass
        except _BrokenError as error:
            # What surrounds the place is not known to be what it seems.
            self.oddities.append(Oddity(error.code, error.message, "", error.offset))

    def _scan(self, start: int) -> None:
        at = self._value(self._space(start), self._wanted)
        # Each turn opens, continues or closes the innermost level.
        while self._levels:
            at = self._step(self._levels[-1], self._space(at))
        at = self._space(at)
        if at != len(self.text):
            raise self._expect("nothing after the value", at)

    def _step(self, level: _Level, at: int) -> int:
        """Go on inside the innermost level: the next entry, or its end."""
        if self._large and self._wanted is not None and not level.left:
            # Broken text has no end; then every step is taken.
            end = self._closed(at, 1)
            at = at if end is None else end - 1
            level.left = -1
        char = self.text[at : at + 1]
        is_object = level.keys is not None
        if char == ("}" if is_object else "]"):
            self._levels.pop()
            return at + 1
        if level.fresh:
            level.fresh = False
        else:
            if char != ",":
                raise self._expect('"," or "}"' if is_object else '"," or "]"', at)
            at = self._space(at + 1)
            level.index += 1
        if level.keys is not None:
            at = self._key(level, level.keys, at)
        elif self._large:
            at = self._pass_over(level, at)
        if level.wanted is None:
            return self._value(at, None)
        child = level.wanted.children.get(_part(level))
        if child is not None and child.offset is None:
            level.left -= 1
        return self._value(at, child)

    def _pass_over(self, level: _Level, at: int) -> int:
        """Go on behind entries of an array in which nothing is to be found."""
        clean, room = self._wanted is None, level.room()
        while True:
            size = SIZES[level.size]
            match = None
            if size <= room:
                match = run_of(size, clean=clean).match(self.text, at)
            if match is not None:
                at = match.end()
                level.index += size
                room -= size
                level.size = min(level.size + 1, len(SIZES) - 1)
            elif level.size:
                level.size -= 1
            else:
                return at

    def _end(self, at: int, wanted: _Wanted | None) -> int | None:
        """Return the end of an object or array in which nothing is to be found."""
        if wanted is not None and wanted.children:
            return None
        # The outermost value is known to be odd.
        if self._read is not None and not self._levels:
            return None
        matched = shallow().match(self.text, at)
        if self._read is None:
            return self._closed(at) if matched is None else matched.end()
        if matched is None and not self._tries:
            return None
        if matched is not None and len(self._levels) + SHALLOW_LEVELS >= MAX_DEPTH:
            return None
        try:
            if matched is not None and matched.end() - at < SMALL:
                end = READ_PAIRS(self.text, at)[1]
            else:
                end = self._read(self.text, at)
            if not (self._halves and SURROGATE_ESCAPE.search(self.text, at, end)):
                return end
        except (OddError, ValueError):
            pass
        if matched is None:
            self._tries -= 1
        return None

    def _closed(self, at: int, depth: int = 0) -> int | None:
        """Return where as many levels as are open from `at` on are closed again."""
        for match in BRACKETS.finditer(self.text, at):
            run = match[1]
            if run[0] in "[{":
                depth += len(run)
            elif depth <= len(run):
                return match.start(1) + depth
            else:
                depth -= len(run)
        return None

    def _key(self, level: _Level, keys: set[str], at: int) -> int:
        if self.text[at : at + 1] != '"':
            raise self._expect("a key in double quotes", at)
        key, end = self._string(at)
        level.key = key
        if key in keys:
            message = f'the key "{safe(key, 60)}" must be given once, got it again'
            self.odd("duplicate-key", message, at)
        keys.add(key)
        at = self._space(end)
        if self.text[at : at + 1] != ":":
            raise self._expect('":"', at)
        return self._space(at + 1)

    def _value(self, at: int, wanted: _Wanted | None) -> int:
        if wanted is not None and wanted.offset is None:
            wanted.offset = at
            self._count -= 1
            if not self._count:
                raise _EnoughError
        char = self.text[at : at + 1]
        if char == '"':
            return self._string(at)[1]
        if char and char in "{[":
            end = self._end(at, wanted) if self._large else None
            if end is not None:
                return end
            if len(self._levels) >= MAX_DEPTH:
                message = f"the document must have at most {MAX_DEPTH} levels, got more"
                raise _BrokenError("too-deep", message, at)
            self._levels.append(_Level(wanted, is_object=char == "{"))
            return at + 1
        match = _SCALAR.match(self.text, at)
        if match is None:
            raise self._expect("a value", at)
        self._scalar(match)
        return match.end()

    def _scalar(self, match: re.Match[str]) -> None:
        digits, at = match["number"], match.start()
        if digits is None:
            if match["constant"] is not None:
                message = f"a number must be finite, got {match['constant']}"
                self.odd("not-finite", message, at)
        elif match["part"] is None and match["exp"] is None:
            if as_integer(digits) is None:
                message = f"an integer must lie within 2^53, got {digits[:40]}"
                self.odd("integer-too-large", message, at)
        elif as_number(digits) is None:
            message = f"a number must be finite, got {digits[:40]}"
            self.odd("not-finite", message, at)

    def _string(self, at: int) -> tuple[str, int]:
        match = _STRING.match(self.text, at)
        if match is None:
            raise self._broken_string(at)
        raw = match[0]
        value: str = json.loads(raw) if "\\" in raw else raw[1:-1]
        if SURROGATE.search(value):
            message = "a string must hold whole characters, got half a surrogate pair"
            self.odd("lone-surrogate", message, at)
            value = SURROGATE.sub("\ufffd", value)
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
