"""A set of overlays that cannot be built, in words.

Made once, however many overlays the failure takes along.
Source: docs/explanation/composition.md, "When the whole set fails".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import attrs
from pyrsistent import PMap, pmap

from msdcomp.admission import Fault, skip
from msdcomp.diagnostics import Problem
from msdcomp.flow import spelled
from msdcomp.invariants import quoted
from msdcomp.manifest import CapabilityId
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


class _Share(NamedTuple):
    """One cycle, as it is told to one of those who lie on it."""

    problem: Problem
    culprits: tuple[CapabilityId, ...]


#: Most cycles told of one overlay that lies on many.
MAX_CYCLES = 10


@attrs.frozen(kw_only=True, eq=False, repr=False)
class SetFailure(Record):
    """A failure of the whole set in words, made once for all overlays it drops.

    Attributes:
        cycles: One problem for each cycle, naming all who lie on it.
        culprits: A few of all culprits, in words.
        shares: Culprit -> the cycles it lies on, each as a problem that repeats no
            list of ids.
    """

    cycles: tuple[Problem, ...]
    culprits: str
    shares: PMap[str, tuple[_Share, ...]]

    @classmethod
    def of(cls, failure: BuildFailure) -> SetFailure:
        """Put a failure into words."""
        shares: dict[str, list[_Share]] = {}
        problems = []
        for cycle in failure.cycles:
            problem = _cycle_problem(cycle)
            problems.append(attrs.evolve(problem, about=tuple(cycle.culprits)))
            for culprit in cycle.culprits:
                mine = shares.setdefault(culprit, [])
                if len(mine) < MAX_CYCLES:
                    mine.append(_Share(problem, cycle.culprits))
        everybody = sorted(failure.culprits)
        return cls(
            cycles=tuple(problems),
            culprits=_some(everybody, len(everybody)),
            shares=pmap({culprit: tuple(mine) for culprit, mine in shares.items()}),
        )

    def warning(self) -> SkipWarning:
        """Return the one warning of a fallback."""
        return SkipWarning(
            code="set-build-failed",
            scope="set",
            capability_id="*",
            reason="no registry can be built of all accepted overlays, so every one "
            f"of them was dropped; {self.culprits} wait for each other",
            problems=self.cycles,
            remedy=_SET_ADVICE,
        )

    def dropped(self, candidate: Candidate, host: Host) -> Skipped:
        """Return the record of an overlay that the failure takes along."""
        own = candidate.folder
        shares = self.shares.get(own, ())
        if shares:
            problems = tuple(share.problem for share in shares)
            others = [c for c in shares[0].culprits[:6] if c != own]
            told = _some(others, len(shares[0].culprits) - 1)
            reason = f"its hooks and those of {told} wait for each other"
        else:
            problems = (attrs.evolve(self.cycles[0], about=()),)
            reason = (
                "it was dropped with every other overlay, because "
                f"{self.culprits} wait for each other"
            )
        fault = Fault(
            code="set-build-failed",
            reason=reason,
            problems=problems,
            advice=_SET_ADVICE,
        )
        return skip(candidate, fault, host)


def _some(ids: Sequence[str], count: int) -> str:
    """Name the first few of `count` ids, so that a sentence stays one."""
    names = [quoted(name) for name in ids[:5]]
    more = f" and {count - len(names)} more" if count > len(names) else ""
    return ", ".join(names) + more


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
    )
