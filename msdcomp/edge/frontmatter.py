"""The front matter of a file: YAML between two lines of dashes, at its very top.

The file was written by an agent or came with a repository. A real parser reads the
YAML, since half a parser would sometimes see another value than the author; what the
parser finds is taken event by event, so that nothing is built that is not bounded:
no tag makes an object, no alias repeats anything, no key is given twice.
Source: docs/reference/predicates.md, "Front matter".
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, TypeAlias

import attrs
from pyrsistent import pmap

from msdcomp.configlayers import freeze_json
from msdcomp.predicate import FieldValue, FrontMatter

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["MAX_FRONT_MATTER_BYTES", "MAX_LEVELS", "read_front_matter"]

#: Longest front matter, in bytes.
MAX_FRONT_MATTER_BYTES = 64 * 1024

#: Deepest nesting of its values.
MAX_LEVELS = 20

_BOM = b"\xef\xbb\xbf"
_LINE = re.compile(rb"---[ \t]*\r?\n")
_END = re.compile(rb"^(?:---|\.\.\.)[ \t]*\r?$", re.MULTILINE)

# Plain scalars are read as JSON reads them; YAML 1.1 would make a boolean of `no` and
# a number of sixty of `1:00`.
_INTEGER = re.compile(r"[-+]?[0-9]{1,15}")
_FLOAT = re.compile(
    r"[-+]?(?:[0-9]+\.[0-9]*|\.[0-9]+|[0-9]+(?=[eE]))(?:[eE][-+]?[0-9]{1,3})?"
)
_WORDS: dict[str, bool | None] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}

_Plain: TypeAlias = "str | int | float | bool | list[_Plain] | dict[str, _Plain] | None"


class _OddError(Exception):
    """Why the YAML is not taken, as a clause that repeats nothing of it."""


def read_front_matter(data: bytes) -> FrontMatter:
    """Return the fields at the top of a file; a file without any has none.

    Args:
        data: The whole file.
    """
    data = data.removeprefix(_BOM)
    start = _LINE.match(data)
    if start is None:
        return FrontMatter()
    limit = start.end() + MAX_FRONT_MATTER_BYTES
    end = _END.search(data[:limit], start.end())
    if end is None:
        if len(data) > limit:
            return FrontMatter(reason=f"is over {MAX_FRONT_MATTER_BYTES:,} bytes long")
        return FrontMatter(reason="has no line of dashes at its end")
    try:
        text = data[start.end() : end.start()].decode()
    except UnicodeDecodeError:
        return FrontMatter(reason="is not UTF-8")
    try:
        return FrontMatter(fields=pmap(dict(_fields(text))))
    except _OddError as error:
        return FrontMatter(reason=str(error))


def _scalar(text: str) -> _Plain:
    """Return what a plain scalar means."""
    if text in _WORDS:
        return _WORDS[text]
    if _INTEGER.fullmatch(text):
        return int(text)
    # At most three digits of an exponent still make infinities.
    if len(text) < 100 and _FLOAT.fullmatch(text) and abs(float(text)) < 1e300:
        return float(text)
    return text


def _fields(text: str) -> Iterator[tuple[str, FieldValue]]:
    reader = _Reader(text)
    top = reader.read()
    if top is None:  # nothing between the lines, or nothing but comments
        return
    if not isinstance(top, dict):
        raise _OddError("is no list of fields with values")
    for name, value in top.items():
        yield name, FieldValue(freeze_json(value), reader.written.get(name))


@attrs.define
class _Open:
    """A list or map that is being read."""

    held: list[_Plain] | dict[str, _Plain]
    #: The key that waits for its value.
    key: str | None = None


class _Reader:
    """Takes the events of one document and makes JSON of them."""

    def __init__(self, text: str) -> None:
        self.text = text
        #: Field at the top -> how its value is written.
        self.written: dict[str, str] = {}
        self.open: list[_Open] = []
        self.top: _Plain = None

    def read(self) -> _Plain:
        import yaml  # noqa: PLC0415 - only where there is front matter

        documents = 0
        try:
            for event in yaml.parse(self.text, Loader=yaml.SafeLoader):
                if isinstance(event, yaml.DocumentStartEvent):
                    documents += 1
                    if documents > 1 or event.tags or event.version:
                        raise _OddError("is more than one plain document")
                elif isinstance(event, yaml.AliasEvent):
                    raise _OddError("repeats a value by an alias")
                elif isinstance(event, yaml.ScalarEvent):
                    self._tagged(event.tag)
                    is_plain = event.style is None
                    self._add(event.value, is_plain=is_plain)
                elif isinstance(event, yaml.CollectionStartEvent):
                    self._tagged(event.tag)
                    is_map = isinstance(event, yaml.MappingStartEvent)
                    self._start({} if is_map else [])
                elif isinstance(event, yaml.CollectionEndEvent):
                    self.open.pop()
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark
            where = f" (line {mark.line + 2})" if mark is not None else ""
            raise _OddError(f"is no YAML{where}") from None
        except (yaml.YAMLError, ValueError, RecursionError):
            raise _OddError("is no YAML") from None
        return self.top

    def _tagged(self, tag: str | None) -> None:
        if tag is not None:
            raise _OddError("gives a value a type by a tag")

    def _add(self, text: str, *, is_plain: bool) -> None:
        if self.open and self._awaits_key(self.open[-1]):
            self._name(self.open[-1], text)
            return
        if len(self.open) == 1 and self.open[0].key is not None:
            self.written[self.open[0].key] = text
        self._put(_scalar(text) if is_plain else text)

    def _awaits_key(self, inner: _Open) -> bool:
        return isinstance(inner.held, dict) and inner.key is None

    def _name(self, inner: _Open, name: str) -> None:
        if name in inner.held:
            raise _OddError("gives a field twice")
        inner.key = name

    def _start(self, held: list[_Plain] | dict[str, _Plain]) -> None:
        if self.open and self._awaits_key(self.open[-1]):
            raise _OddError("has a list or a map for the name of a field")
        if len(self.open) >= MAX_LEVELS:
            raise _OddError(f"is nested deeper than {MAX_LEVELS} levels")
        self._put(held)
        self.open.append(_Open(held))

    def _put(self, value: _Plain) -> None:
        if not self.open:
            self.top = value
            return
        inner = self.open[-1]
        if isinstance(inner.held, list):
            inner.held.append(value)
        else:
            assert inner.key is not None  # noqa: S101 - a map is given names first
            inner.held[inner.key] = value
            inner.key = None
