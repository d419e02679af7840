"""What became of a candidate, as values.

Warnings and the composition that collects them are plain records; the words in them are
for a person, the codes and keys for a program.
"""

from __future__ import annotations

import attrs

from msdcomp.diagnostics import Problem
from msdcomp.gates import BlockedGate
from msdcomp.records import Record

__all__ = ["BundlePath", "IgnoredEntry", "SkipWarning", "Skipped"]


@attrs.frozen(kw_only=True, eq=False, repr=False)
class SkipWarning(Record):
    """Why a candidate, or the whole set, is not in the registry.

    Attributes:
        code: Which gate stopped it, a code of `msdcomp.codes`.
        scope: `global`, `project`, or `set` for a failed whole.
        capability_id: Name of the folder; `*` for a failed whole.
        path: The folder, relative to its scope; empty for a failed whole.
        reason: One sentence for a person.
        problems: Every fault of that gate, never empty, with places in the manifest.
        remedy: What to run or change; commands stand in backquotes.
        because: Keys `(scope, id)` of skipped candidates this one depended on.
    """

    code: str
    scope: str
    capability_id: str
    path: str = ""
    reason: str
    problems: tuple[Problem, ...]
    remedy: str
    because: tuple[tuple[str, str], ...] = ()

    @property
    def key(self) -> tuple[str, str]:
        """`(scope, capability_id)`, its key in `Composition.warnings`."""
        return (self.scope, self.capability_id)


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Skipped(Record):
    """A candidate that is left out, and the gates that go with it."""

    warning: SkipWarning
    gates: tuple[BlockedGate, ...] = ()


@attrs.frozen(kw_only=True, eq=False, repr=False)
class IgnoredEntry(Record):
    """Something in an overlay root that is no candidate, and why."""

    scope: str
    name: str
    reason: str


@attrs.frozen(kw_only=True, eq=False, repr=False)
class BundlePath(Record):
    """A folder below the root of a scope."""

    scope: str
    path: str
