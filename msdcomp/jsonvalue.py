"""Python values as JSON: what has a counterpart is copied, the rest is named.

A caller may hand over a mapping that some other reader made. It is held to the same
rules as a text, so that a manifest means the same whichever way it came in.
Source: docs/reference/wire-format.md, "Strict JSON".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import islice

from pyrsistent import PVector

from msdcomp._jsonread import (
    MAX_DEPTH,
    MAX_INTEGER,
    MAX_ODDITIES,
    as_number,
    short_key,
)
from msdcomp.codes import CODES
from msdcomp.diagnostics import Problem, pointer
from msdcomp.jsontext import MAX_BYTES, Parsed

__all__ = ["adopt"]


def adopt(value: object) -> Parsed:
    """Copy a Python value into plain JSON, or say why it has no JSON counterpart.

    Mappings, lists, tuples and persistent vectors are taken, and subclasses of the
    scalars as the plain scalar. The input is never changed. Problems have no line; what
    they leave out is None in `Parsed.loose`.
    """
    copier = _Copier()
    copied = copier.copy(value)
    if copier.budget < 0:
        message = f"the value must fit into {MAX_BYTES} bytes of JSON, got more"
        return Parsed(problems=(_problem("too-large", message, ()),))
    if copier.problems:
        return Parsed(problems=tuple(copier.problems), loose=copied)
    return Parsed(value=copied)


def _problem(code: str, message: str, path: Iterable[str | int]) -> Problem:
    parts = (short_key(part) if isinstance(part, str) else part for part in path)
    return Problem(
        code=code, path=pointer(*parts), message=message, hint=CODES[code].remedy
    )


class _Copier:
    def __init__(self) -> None:
        self.problems: list[Problem] = []
        #: Bytes of JSON that may still be made; a value shared many times over is
        #: small in memory and endless when written.
        self.budget = MAX_BYTES
        self.path: list[str | int] = []
        self._parents: list[int] = []

    def refuse(self, code: str, message: str) -> None:
        if len(self.problems) < MAX_ODDITIES:
            self.problems.append(_problem(code, message, self.path))

    def copy(self, value: object) -> object:
        self.budget -= 2
        if self.budget < 0:
            return None
        if isinstance(value, str):
            return self._text(value)
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, int | float):
            return self._number(value)
        if not isinstance(value, Mapping | list | tuple | PVector):
            kind = type(value).__name__
            self.refuse("not-json-value", f"the value must be JSON, got {kind}")
            return None
        if id(value) in self._parents:
            message = "the value must be a tree, got one that contains itself"
            self.refuse("cyclic-value", message)
            return None
        if len(self._parents) >= MAX_DEPTH:
            message = f"the value must have at most {MAX_DEPTH} levels, got more"
            self.refuse("too-deep", message)
            return None
        self._parents.append(id(value))
        copied = (
            self._mapping(value) if isinstance(value, Mapping) else self._list(value)
        )
        self._parents.pop()
        return copied

    def _entries(self, entries: Iterable[object]) -> list[object]:
        """Return entries as a list, whatever the container does when it is read."""
        try:
            return list(islice(entries, MAX_BYTES))
        except Exception as error:  # noqa: BLE001 - foreign code may raise anything
            kind = type(error).__name__
            self.refuse("not-json-value", f"the value must be readable, got {kind}")
            return []

    def _list(self, value: Iterable[object]) -> list[object]:
        copied = []
        for index, entry in enumerate(self._entries(value)):
            self.path.append(index)
            copied.append(self.copy(entry))
            self.path.pop()
        return copied

    def _mapping(self, value: Mapping[object, object]) -> dict[str, object]:
        copied: dict[str, object] = {}
        for key in self._entries(value):
            if not isinstance(key, str):
                kind = type(key).__name__
                self.refuse("key-not-string", f"a key must be a string, got {kind}")
                continue
            name = self._text(key)
            self.path.append(name)
            if name in copied:
                self.refuse("duplicate-key", "a key must be given once, got it twice")
            copied[name] = self.copy(self._entry(value, key))
            self.path.pop()
        return copied

    def _entry(self, value: Mapping[object, object], key: str) -> object:
        try:
            return value[key]
        except Exception as error:  # noqa: BLE001 - foreign code may raise anything
            kind = type(error).__name__
            self.refuse("not-json-value", f"the value must be readable, got {kind}")
            return None

    def _text(self, text: str) -> str:
        self.budget -= len(text)
        # A subclass may pretend to be any text; this is the one it holds.
        plain = str.__str__(text)
        try:
            plain.encode()
        except UnicodeEncodeError:
            message = "a string must hold whole characters, got half a surrogate pair"
            self.refuse("lone-surrogate", message)
            return plain.encode(errors="replace").decode()
        return plain

    def _number(self, value: float) -> int | float | None:
        if isinstance(value, int):
            plain = int.__add__(value, 0)
            if -MAX_INTEGER <= plain <= MAX_INTEGER:
                return plain
            size = f"one of {plain.bit_length()} bits"
            message = f"an integer must lie within 2^53, got {size}"
            self.refuse("integer-too-large", message)
            return None
        number = as_number(repr(float.__add__(value, 0.0)))
        if number is None:
            self.refuse("not-finite", "a number must be finite, got one that is not")
        return number
