"""The order in which candidates are decided.

Acceptance follows dependencies, not enumeration order, locale or the luck of a name:
global before project, and inside a scope whatever a candidate depends on comes first.
Source: docs/explanation/composition.md, "The order of decision".
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from toolz import groupby

from msdcomp.dataflow import Task, schedule
from msdcomp.invariants import steps
from msdcomp.scope import Consent, Scope
from msdcomp.vocabulary import RESERVED_PREFIXES

if TYPE_CHECKING:
    from msdcomp.candidate import Candidate
    from msdcomp.host import HostContract
    from msdcomp.invariants import Index
    from msdcomp.manifest import Manifest

__all__ = ["in_order", "offered"]


def offered(candidate: Candidate) -> Manifest | None:
    """Return the manifest of a candidate that passes gates 1 to 5, else None.

    Only such a manifest says anything about order: what an overlay claims while it is
    pending, not consented to or malformed moves nobody.
    """
    project = candidate.scope is Scope.PROJECT
    if (
        candidate.pending
        or (project and (candidate.linked or candidate.consent is not Consent.MATCHES))
        or candidate.decoded is None
        or candidate.folder.startswith(RESERVED_PREFIXES)
    ):
        return None
    return candidate.decoded.manifest


def in_order(
    candidates: Iterable[Candidate], index: Index, contract: HostContract
) -> tuple[Candidate, ...]:
    """Return the candidates in the order of the fold.

    Args:
        candidates: In any order.
        index: Of the first party, whose artefacts nobody has to wait for.
        contract: Places of the points, artefacts of the host.

    Cost: linear in what the candidates declare, and sorting.
    """
    by_scope: dict[Scope, list[Candidate]] = groupby(_scope, candidates)
    return tuple(
        candidate
        for scope in (Scope.GLOBAL, Scope.PROJECT)
        for candidate in _within(by_scope.get(scope, []), index, contract)
    )


def _scope(candidate: Candidate) -> Scope:
    return candidate.scope


def _within(
    group: list[Candidate], index: Index, contract: HostContract
) -> list[Candidate]:
    # Code points, never a locale's collation. A scope holds a folder twice when a home
    # lies inside a project; then the path decides, not the order of enumeration.
    ranked = sorted(group, key=lambda candidate: (candidate.folder, candidate.path))
    tasks = [_task(offered(candidate), index, contract) for candidate in ranked]
    order = schedule(tasks, break_cycles=True).order
    return [ranked[place] for place in order]


_NOTHING: Task[tuple[str, str, int]] = Task(frozenset(), frozenset())


def _task(
    manifest: Manifest | None, index: Index, contract: HostContract
) -> Task[tuple[str, str, int]]:
    """Say what a manifest gives to others and needs from them.

    An artefact produced at one point is there from that point on, so it is given at
    every later point too.
    """
    if manifest is None:
        return _NOTHING
    gives: set[tuple[str, str, int]] = {("id", manifest.id, 0)}
    if manifest.runtime is not None:
        gives.add(("runtime", manifest.id, 0))
    needs: set[tuple[str, str, int]] = {("id", n, 0) for n in manifest.requires}
    if manifest.feature is not None:
        compat = manifest.feature.runtime_compat
        needs.update(("runtime", runtime, 0) for runtime in compat.named)
    for step in steps(manifest):
        here = contract.place(step.point)
        for artefact in step.produces:
            later = range(here, len(contract.points))
            gives.update(("artefact", artefact, place) for place in later)
        for artefact in step.consumes:
            first_party = index.earliest.get(artefact)
            if not contract.gives(artefact, step.point) and not (
                first_party is not None and first_party <= here
            ):
                needs.add(("artefact", artefact, here))
    return Task(frozenset(gives), frozenset(needs))
