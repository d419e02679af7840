"""Faults as values: what was found, what was expected, where, and what to do.

Nothing in msdcomp raises for untrusted input; it returns `Problem` records instead.
A problem names its place twice: as a JSON pointer in wire names (`/steps/0/onError`),
which a program can follow, and as line and column, which an editor can open.
"""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING

import attrs

from msdcomp.records import Record

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "MAX_PROBLEMS",
    "Location",
    "Problem",
    "Severity",
    "errors",
    "pointer",
]

#: Most faults told of one document at one gate: a hostile one has room for a million.
MAX_PROBLEMS = 1000


class Severity(enum.StrEnum):
    """How much a problem matters."""

    #: The document is refused, or the candidate skipped, because of it.
    ERROR = "error"
    #: The document stands; a person should still look.
    WARNING = "warning"


@attrs.frozen(eq=False, repr=False)
class Location(Record):
    """A place in a text: both numbers count from 1, columns in characters."""

    line: int
    column: int


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Problem(Record):
    """One fault, compared by value.

    Attributes:
        code: Permanent kebab-case name, a key of `msdcomp.codes.CODES`.
        severity: Error, or warning for what is reported but accepted.
        path: JSON pointer (RFC 6901) in wire names; empty for the document itself.
        message: Stands alone: what was found and what was expected.
        hint: What to do about it, or None.
        file: Path of the document relative to its scope, or None for text in memory.
        line: Line of the offending value, from 1; for a missing key the line of the
            enclosing object. None when the document was given as a mapping.
        column: Column in characters, from 1; None together with `line`.
        about: Ids of other capabilities the problem has to do with.
    """

    code: str
    path: str = ""
    message: str
    hint: str | None = None
    severity: Severity = Severity.ERROR
    file: str | None = None
    line: int | None = None
    column: int | None = None
    about: tuple[str, ...] = ()

    def at(self, location: Location | None, file: str | None = None) -> Problem:
        """Return the same problem placed in a text, and in a file when one is named."""
        return attrs.evolve(
            self,
            line=location.line if location else self.line,
            column=location.column if location else self.column,
            file=file if file is not None else self.file,
        )


def pointer(*parts: str | int) -> str:
    """Return the RFC 6901 pointer of a path given in wire names.

    >>> pointer("steps", 0, "onError")
    '/steps/0/onError'
    >>> pointer("config", "a/b~c")
    '/config/a~1b~0c'
    """
    return "".join(
        "/" + str(part).replace("~", "~0").replace("/", "~1") for part in parts
    )


def errors(problems: Iterable[Problem]) -> tuple[Problem, ...]:
    """Return only the problems that refuse a document, in the order given."""
    return tuple(p for p in problems if p.severity is Severity.ERROR)
