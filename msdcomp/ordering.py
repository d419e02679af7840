"""The order in which candidates are decided.

Acceptance follows dependencies, not enumeration order, locale or the luck of a name:
global before project, and inside a scope whatever a candidate depends on comes first.
Source: docs/explanation/composition.md, "The order of decision".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, TypeAlias

from toolz import groupby

from msdcomp.dataflow import Task, schedule, slots
from msdcomp.scope import Scope

if TYPE_CHECKING:
    from msdcomp.contender import Contender, Outline
    from msdcomp.invariants import Index

__all__ = ["Standing", "standings"]


#: Where a candidate stands in the order: its scope's place, whether cycles were being
#: broken, folder and path of the head of its run, its place in that run. Sorted by
#: this, candidates are in order.
Standing: TypeAlias = tuple[int, int, str, str, int]

_Resource: TypeAlias = tuple[str, str, int]

_SCOPES = (Scope.GLOBAL, Scope.PROJECT)


def standings(
    contenders: Iterable[Contender], index: Index
) -> Iterator[tuple[Contender, Standing]]:
    """Yield contenders in the order of the fold, and where each one stands.

    A standing depends only on contenders that wait for each other, so it stays what it
    is when others come or go. Cost: linear in what they declare, and sorting.

    Args:
        contenders: In any order.
        index: Of the first party, whose artefacts nobody has to wait for.

    Source: docs/explanation/composition.md, "Composing again".
    """
    first_party = dict(index.earliest)
    by_scope: dict[Scope, list[Contender]] = groupby(_scope, contenders)
    for number, scope in enumerate(_SCOPES):
        # Code points, never a locale's collation. A scope holds a folder twice when a
        # home lies inside a project; then the path decides, not the enumeration.
        ranked = sorted(by_scope.get(scope, ()), key=_rank)
        order = schedule(_tasks(ranked, first_party), break_cycles=True)
        for place, slot in zip(order.order, slots(order), strict=True):
            broken, head, position = slot
            yield ranked[place], (number, broken, *_rank(ranked[head]), position)


def _scope(contender: Contender) -> Scope:
    return contender.candidate.scope


def _rank(contender: Contender) -> tuple[str, str]:
    candidate = contender.candidate
    return (candidate.folder, candidate.path)


# Tuples rather than sets: a set of one takes four times the memory.
_FREE: Task[_Resource] = Task((), ())


def _tasks(
    ranked: Sequence[Contender], first_party: Mapping[str, int]
) -> list[Task[_Resource]]:
    """Say what each contender gives to others and needs from them.

    An artefact produced at one point is there from that point on. What nobody needs is
    not given either: of most artefacts, there are twelve points to give it at.
    """
    needs = [_needs(one.outline, first_party) for one in ranked]
    wanted = {resource for needed in needs for resource in needed}
    places: dict[str, list[int]] = {}
    for kind, artefact, place in wanted:
        if kind == "artefact":
            places.setdefault(artefact, []).append(place)
    tasks = []
    for one, needed in zip(ranked, needs, strict=True):
        given = _gives(one.outline, wanted, places)
        free = not needed and not given
        tasks.append(_FREE if free else Task(given, needed))
    return tasks


def _needs(
    outline: Outline | None, first_party: Mapping[str, int]
) -> tuple[_Resource, ...]:
    if outline is None:
        return ()
    needs: list[_Resource] = [("id", n, 0) for n in outline.manifest.requires]
    needs += [("runtime", runtime, 0) for runtime in outline.runtimes]
    needs += [
        ("artefact", lack.artefact, lack.place)
        for lack in outline.lacks
        if first_party.get(lack.artefact, lack.place + 1) > lack.place
    ]
    return tuple(dict.fromkeys(needs)) if needs else ()


def _gives(
    outline: Outline | None,
    wanted: AbstractSet[_Resource],
    places: Mapping[str, list[int]],
) -> tuple[_Resource, ...]:
    if outline is None:
        return ()
    owner: str = outline.manifest.id
    kinds = ("id", "runtime") if outline.manifest.runtime else ("id",)
    gives = [found for kind in kinds if (found := (kind, owner, 0)) in wanted]
    gives += [
        ("artefact", one.artefact, place)
        for one in outline.made
        for place in places.get(one.artefact, ())
        if place >= one.place
    ]
    return tuple(dict.fromkeys(gives)) if gives else ()
