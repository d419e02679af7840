"""The four predicates that have an evaluator here."""

from __future__ import annotations

from typing import ClassVar, TypeAlias

import attrs

from msdcomp.manifest.names import Json
from msdcomp.records import Record

__all__ = [
    "ArtifactExists",
    "CommandExitZero",
    "ConfigEquals",
    "FrontmatterEquals",
    "Predicate",
]


@attrs.frozen(kw_only=True, eq=False, repr=False)
class ArtifactExists(Record):
    """An artefact is there: a regular file of that name."""

    kind: ClassVar[str] = "artifact-exists"
    artifact: str


@attrs.frozen(kw_only=True, eq=False, repr=False)
class ConfigEquals(Record):
    """A configuration key has a value, of the same JSON type."""

    kind: ClassVar[str] = "config-equals"
    key: str
    equals: Json = None


@attrs.frozen(kw_only=True, eq=False, repr=False)
class FrontmatterEquals(Record):
    """A field in the front matter of an artefact has a value."""

    kind: ClassVar[str] = "artifact-frontmatter-equals"
    artifact: str
    field: str
    equals: Json = None


@attrs.frozen(kw_only=True, eq=False, repr=False)
class CommandExitZero(Record):
    """A command ends with 0.

    Attributes:
        command: The text that a POSIX shell reads.
        timeout_s: When it is killed, in seconds.
    """

    kind: ClassVar[str] = "command-exit-zero"
    command: str
    timeout_s: float


Predicate: TypeAlias = (
    ArtifactExists | ConfigEquals | FrontmatterEquals | CommandExitZero
)
