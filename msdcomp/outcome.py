"""What became of candidates, as the maps of a composition.

Source: docs/explanation/composition.md, "When a single overlay fails".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import attrs
from toolz import concat, groupby

from msdcomp.candidate import Candidate
from msdcomp.diagnostics import Problem, Severity
from msdcomp.gates import BlockedGate
from msdcomp.host import Host
from msdcomp.judging import Accepted
from msdcomp.manifest import CapabilityId
from msdcomp.rules.contract import undispatched
from msdcomp.verdict import BundlePath, Skipped, SkipWarning

__all__ = [
    "bundle",
    "by_key",
    "by_point",
    "command_roots",
    "gate_rank",
    "notices",
    "paths",
]


def bundle(candidate: Candidate) -> BundlePath:
    """Return where a candidate lies."""
    return BundlePath(scope=candidate.scope.value, path=candidate.path)


def paths(accepted: Iterable[Accepted]) -> dict[CapabilityId, BundlePath]:
    """Return where each member lies, by id."""
    return {one.entry.manifest.id: bundle(one.candidate) for one in accepted}


def command_roots(accepted: Iterable[Accepted]) -> dict[CapabilityId, BundlePath]:
    """Return the folders that command modules may be loaded from, by id."""
    return paths(
        one
        for one in accepted
        if one.candidate.committed and one.entry.manifest.commands
    )


def gate_rank(gate: BlockedGate) -> tuple[str, str]:
    """Return what the gates of a point are sorted by."""
    return (gate.scope, gate.capability_id)


def by_point(skipped: Iterable[Skipped]) -> Mapping[str, tuple[BlockedGate, ...]]:
    """Return the gates that are lost, by point."""
    gates: Iterable[BlockedGate] = concat(one.gates for one in skipped)
    found: dict[str, list[BlockedGate]] = groupby(lambda gate: gate.point, gates)
    return {point: tuple(sorted(lost, key=gate_rank)) for point, lost in found.items()}


def by_key(
    warnings: Iterable[SkipWarning],
) -> dict[tuple[str, str], tuple[SkipWarning, ...]]:
    """Return warnings by scope and id; two folders may have both in common."""
    found: dict[tuple[str, str], tuple[SkipWarning, ...]] = {}
    for warning in warnings:
        found[warning.key] = (*found.get(warning.key, ()), warning)
    return found


def notices(
    accepted: Iterable[Accepted], host: Host
) -> Mapping[tuple[str, str], tuple[Problem, ...]]:
    """Return what should be looked at in overlays that joined nevertheless."""
    found: dict[tuple[str, str], tuple[Problem, ...]] = {}
    for one in accepted:
        decoded = one.candidate.decoded
        known = decoded.diagnostics if decoded is not None else ()
        # Its author should not have shipped it; here it is a notice, since the rest of
        # the overlay works.
        if not one.outline.dispatched:
            known += one.candidate.placed(
                attrs.evolve(problem, severity=Severity.WARNING)
                for problem in undispatched(one.entry.manifest, host.contract)
            )
        if known:
            found[one.candidate.key] = known
    return found
