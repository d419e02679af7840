"""Gate predicates: what they ask, and what the answer is, given what was found.

Nothing here touches the world: whoever looks for a file, reads the configuration or
runs a command hands in what came of it.
Source: docs/reference/predicates.md.
"""

from __future__ import annotations

from msdcomp.predicate._answers import Answer, Result, could_not_check
from msdcomp.predicate._evaluation import (
    Artifact,
    Ended,
    FieldValue,
    FrontMatter,
    artifact_exists,
    command_exit_zero,
    config_equals,
    equal,
    frontmatter_equals,
)
from msdcomp.predicate._reading import Reading, read_predicate
from msdcomp.predicate._records import (
    ArtifactExists,
    CommandExitZero,
    ConfigEquals,
    FrontmatterEquals,
    Predicate,
)

__all__ = [
    "Answer",
    "Artifact",
    "ArtifactExists",
    "CommandExitZero",
    "ConfigEquals",
    "Ended",
    "FieldValue",
    "FrontMatter",
    "FrontmatterEquals",
    "Predicate",
    "Reading",
    "Result",
    "artifact_exists",
    "command_exit_zero",
    "config_equals",
    "could_not_check",
    "equal",
    "frontmatter_equals",
    "read_predicate",
]
