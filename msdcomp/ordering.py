"""The order in which candidates are decided.

Acceptance follows dependencies, not enumeration order, locale or the luck of a name:
global before project, and inside a scope whatever a candidate depends on comes first.
Source: docs/explanation/composition.md, "The order of decision".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

from toolz import groupby

from msdcomp.dataflow import Task, schedule, slots
from msdcomp.invariants import steps
from msdcomp.scope import Consent, Scope
from msdcomp.vocabulary import RESERVED_PREFIXES

if TYPE_CHECKING:
    from msdcomp.candidate import Candidate
    from msdcomp.host import HostContract
    from msdcomp.invariants import Index
    from msdcomp.manifest import Manifest

__all__ = ["Standing", "in_order", "offered", "standings"]


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


#: Where a candidate stands in the order: its scope's place, whether cycles were being
#: broken, folder and path of the head of its run, its place in that run. Sorted by
#: this, candidates are in order.
Standing: TypeAlias = tuple[int, int, str, str, int]

_Resource: TypeAlias = tuple[str, str, int]

_SCOPES = (Scope.GLOBAL, Scope.PROJECT)


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
    return tuple(one for one, _ in standings(candidates, index, contract))


def standings(
    candidates: Iterable[Candidate], index: Index, contract: HostContract
) -> Iterator[tuple[Candidate, Standing]]:
    """Yield the candidates in the order of the fold, and where each one stands.

    A standing depends only on candidates that wait for each other, so it stays what it
    is when others come or go. Arguments and cost are those of `in_order`.
    Source: docs/explanation/composition.md, "Composing again".
    """
    by_scope: dict[Scope, list[Candidate]] = groupby(_scope, candidates)
    for number, scope in enumerate(_SCOPES):
        # Code points, never a locale's collation. A scope holds a folder twice when a
        # home lies inside a project; then the path decides, not the enumeration.
        ranked = sorted(by_scope.get(scope, ()), key=_rank)
        tasks = _tasks([offered(one) for one in ranked], index, contract)
        order = schedule(tasks, break_cycles=True)
        for place, slot in zip(order.order, slots(order), strict=True):
            broken, head, position = slot
            folder, path = _rank(ranked[head])
            yield ranked[place], (number, broken, folder, path, position)


def _scope(candidate: Candidate) -> Scope:
    return candidate.scope


def _rank(candidate: Candidate) -> tuple[str, str]:
    return (candidate.folder, candidate.path)


_NOTHING: frozenset[_Resource] = frozenset()
_FREE: Task[_Resource] = Task(_NOTHING, _NOTHING)


def _tasks(
    manifests: Sequence[Manifest | None], index: Index, contract: HostContract
) -> list[Task[_Resource]]:
    """Say what each manifest gives to others and needs from them.

    An artefact produced at one point is there from that point on. What nobody needs is
    not given either: of most artefacts, there are twelve points to give it at.
    """
    needs = [_needs(manifest, index, contract) for manifest in manifests]
    wanted = _NOTHING.union(*needs)
    places: dict[str, list[int]] = {}
    for kind, artefact, place in wanted:
        if kind == "artefact":
            places.setdefault(artefact, []).append(place)
    return [
        _FREE
        if manifest is None
        else Task(_gives(manifest, wanted, places, contract), needed)
        for manifest, needed in zip(manifests, needs, strict=True)
    ]


def _needs(
    manifest: Manifest | None, index: Index, contract: HostContract
) -> frozenset[_Resource]:
    if manifest is None:
        return _NOTHING
    needs: list[_Resource] = [("id", needed, 0) for needed in manifest.requires]
    if manifest.feature is not None:
        compat = manifest.feature.runtime_compat
        needs += [("runtime", runtime, 0) for runtime in compat.named]
        for step in manifest.feature.steps:
            here = contract.place(step.point)
            for artefact in step.consumes:
                if contract.gives(artefact, step.point):
                    continue
                first_party = index.earliest.get(artefact)
                if first_party is None or first_party > here:
                    needs.append(("artefact", artefact, here))
    return frozenset(needs)


def _gives(
    manifest: Manifest,
    wanted: frozenset[_Resource],
    places: Mapping[str, list[int]],
    contract: HostContract,
) -> frozenset[_Resource]:
    gives: list[_Resource] = [("id", manifest.id, 0)]
    if manifest.runtime is not None:
        gives.append(("runtime", manifest.id, 0))
    for step in steps(manifest):
        here = contract.place(step.point)
        for artefact in step.produces:
            later = (place for place in places.get(artefact, ()) if place >= here)
            gives += [("artefact", artefact, place) for place in later]
    return wanted.intersection(gives)
