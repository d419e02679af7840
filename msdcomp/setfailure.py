"""A set of overlays that cannot be built, in words.

Made once, however many overlays the failure takes along.
Source: docs/explanation/composition.md, "When the whole set fails".
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import attrs

from msdcomp.admission import Fault, skip
from msdcomp.crosscheck import spelled
from msdcomp.diagnostics import Problem
from msdcomp.invariants import quoted
from msdcomp.records import Record
from msdcomp.registry import BuildFailure, OrderingCycle
from msdcomp.verdict import Skipped, SkipWarning

if TYPE_CHECKING:
    from msdcomp.candidate import Candidate
    from msdcomp.host import Host

__all__ = ["SetFailure"]

_SET_ADVICE = (
    "Take one capability of each cycle away, or drop one of the artefacts named from "
    "its consumes."
)


@attrs.frozen(eq=False, repr=False)
class SetFailure(Record):
    """A failure of the whole set in words, made once for all overlays it drops."""

    failure: BuildFailure
    problems: tuple[Problem, ...]

    @classmethod
    def of(cls, failure: BuildFailure) -> SetFailure:
        """Put a failure into words."""
        return cls(failure, tuple(_cycle_problem(cycle) for cycle in failure.cycles))

    def warning(self) -> SkipWarning:
        """Return the one warning of a fallback."""
        return SkipWarning(
            code="set-build-failed",
            scope="set",
            capability_id="*",
            reason="no registry can be built of all accepted overlays, so every one "
            f"of them was dropped; {_some(self.failure.culprits)} wait for each other",
            problems=self.problems,
            remedy=_SET_ADVICE,
        )

    def dropped(self, candidate: Candidate, host: Host) -> Skipped:
        """Return the record of an overlay that the failure takes along."""
        own = candidate.folder
        if own in self.failure.culprits:
            problems = tuple(p for p in self.problems if own in p.about)
            others = frozenset(c for p in problems for c in p.about if c != own)
            reason = f"its hooks and those of {_some(others)} wait for each other"
        else:
            problems = self.problems[:1]
            reason = (
                "it was dropped with every other overlay, because "
                f"{_some(self.failure.culprits)} wait for each other"
            )
        fault = Fault(
            code="set-build-failed",
            reason=reason,
            problems=problems,
            advice=_SET_ADVICE,
        )
        return skip(candidate, fault, host)


def _some(ids: Iterable[str]) -> str:
    """Name a few ids: a sentence stays one, however many there are."""
    names = [quoted(name) for name in sorted(ids)]
    more = f" and {len(names) - 5} more" if len(names) > 5 else ""
    return ", ".join(names[:5]) + more


def _cycle_problem(cycle: OrderingCycle) -> Problem:
    way = (
        ((hook.capability_id, hook.kind, hook.index), artefact)
        for hook, artefact in cycle.hops
    )
    return Problem(
        code="ordering-cycle",
        message=f"the {cycle.kind}s at {cycle.point} wait for each other: "
        + spelled(way),
        hint=_SET_ADVICE,
        about=tuple(cycle.culprits),
    )
