"""`recompose`: a composition once more, after a few candidates have changed.

The set falls into groups that have no say in each other's verdicts
(`msdcomp.links`), so whoever is in a group with nothing new in it keeps its verdict.
The others are folded as they would be in the whole set, and take the places of what
they were before.
Source: docs/explanation/composition.md, "Composing again".
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, TypeVar

import attrs
from pyrsistent import PMap

from msdcomp import outcome
from msdcomp.candidate import Candidate
from msdcomp.collector import collector_paused
from msdcomp.composition import Composition
from msdcomp.contender import Contender, contenders
from msdcomp.entry import Entry
from msdcomp.fold import compose
from msdcomp.gates import BlockedGate
from msdcomp.judging import Accepted, judge_all
from msdcomp.making import Making
from msdcomp.manifest import CapabilityId
from msdcomp.ordering import Standing, standings
from msdcomp.outlook import FoldOutlook
from msdcomp.registry import reassemble
from msdcomp.verdict import Skipped

__all__ = ["recompose"]

_K = TypeVar("_K")
_V = TypeVar("_V")


def recompose(previous: Composition, candidates: Iterable[Candidate]) -> Composition:
    """Compose candidates over the same base, for the same host, under the same policy.

    Args:
        previous: What `compose` or `recompose` returned. What `load_registry` returns
            keeps no candidates.
        candidates: All that there are now, in any order. One that is the very object of
            last time costs nothing; of equal ones, the objects of last time are kept.

    Returns:
        What `compose` would return. A set that cannot be built, now or last time, is
        composed from the start, and so is a large one of which most has changed.

    Raises:
        ValueError: `previous` does not know what it was made of.

    Cost: what the changed candidates and those linked to them declare, and a pass over
    the set that looks into nobody.
    Source: docs/explanation/composition.md, "Composing again".
    """
    making = previous.making
    if making is None:
        raise ValueError("this composition does not know what it was made of")
    given = tuple(candidates)
    with collector_paused():
        return _mended(previous, making, given) or compose(
            making.base, given, making.host, on_set_failure=making.on_set_failure
        )


#: Where more than this has changed, and more than half of the set, mending it would
#: take longer than making it from the start.
_MANY = 1000


def _mended(
    previous: Composition, making: Making, given: Sequence[Candidate]
) -> Composition | None:
    """Return the composition, or None when it has to be made from the start."""
    workings = making.workings
    change = _change(making.candidates, given)
    if workings is None or change is None:
        return None
    if len(change.come) > max(_MANY, len(given) // 2):
        return None
    ground = workings.ground
    gone, come = contenders(change.gone, ground), contenders(change.come, ground)
    links = workings.links.replaced(gone, come)
    touched = links.around((*gone, *come))
    out, into = set(map(id, change.gone)), set(map(id, change.come))
    before = [one for one in touched if id(one.candidate) not in into]
    now = [one for one in touched if id(one.candidate) not in out]
    # Two folders in one place are decided in the order in which they are given.
    if not (_are_apart(before) and _are_apart(now)):
        return None
    standing = tuple(standings(now, ground.index))
    ordered = [one for one, _ in standing]
    folded = judge_all(ordered, ground, FoldOutlook(ordered))
    left = _members(previous, before)
    joined = {one.entry.manifest.id: one.entry for one in folded.accepted}
    dispatch = workings.dispatch.replaced(
        [left[owner] for owner in sorted(left)],
        [joined[owner] for owner in sorted(joined)],
        workings.lasting,
    )
    if dispatch is None:
        return None
    order, points = dispatch
    # They stood where they would stand by themselves.
    stood = standings(before, ground.index)
    places, accepted = _accepted(
        previous,
        workings.standings,
        [place for one, place in stood if _is_member(previous, one.candidate)],
        {id(one.candidate): place for one, place in standing},
        folded.accepted,
    )
    # Two folders of one scope may have the same name, and so the same key.
    keys = frozenset(one.candidate.key for one in before)
    return Composition(
        registry=reassemble(
            previous.registry, left.values(), joined.values(), order, points
        )
        if accepted
        else making.base,
        warnings=_replaced(
            previous.warnings,
            keys,
            outcome.by_key(one.warning for one in folded.skipped),
        ),
        blocked_gates=_gates(previous.blocked_gates, keys, folded.skipped),
        accepted=accepted,
        paths=_replaced(previous.paths, left, outcome.paths(folded.accepted)),
        diagnostics=_replaced(
            previous.diagnostics, keys, outcome.notices(folded.accepted, ground.host)
        ),
        command_roots=_replaced(
            previous.command_roots, left, outcome.command_roots(folded.accepted)
        ),
        making=attrs.evolve(
            making,
            candidates=change.now,
            workings=attrs.evolve(
                workings, links=links, standings=places, dispatch=order
            ),
        ),
    )


def _are_apart(some: Sequence[Contender]) -> bool:
    return len({_place(one.candidate) for one in some}) == len(some)


def _place(candidate: Candidate) -> tuple[str, str, str]:
    return (*candidate.key, candidate.path)


class _Change(NamedTuple):
    """Who went, who came, and all that there are now."""

    gone: list[Candidate]
    come: list[Candidate]
    now: tuple[Candidate, ...]


def _change(old: Sequence[Candidate], new: Sequence[Candidate]) -> _Change | None:
    """Tell two sets apart; one that equals another in its place is kept as it was.

    Returns:
        The change, or None when a candidate is given twice.
    """
    before = dict(zip(map(id, old), old, strict=True))
    after = dict(zip(map(id, new), new, strict=True))
    if len(before) != len(old) or len(after) != len(new):
        return None
    gone = {key: before[key] for key in before.keys() - after.keys()}
    come = {key: after[key] for key in after.keys() - before.keys()}
    at: dict[tuple[str, str, str], list[Candidate]] = {}
    for one in gone.values():
        at.setdefault(_place(one), []).append(one)
    kept: dict[int, Candidate] = {}
    for key, one in come.items():
        same = next((other for other in at.get(_place(one), ()) if other == one), None)
        if same is not None and gone.pop(id(same), None) is not None:
            kept[key] = same
    for key in kept:
        del come[key]
    now = tuple(kept.get(id(one), one) for one in new) if kept else tuple(new)
    return _Change(list(gone.values()), list(come.values()), now)


def _accepted(
    previous: Composition,
    standings_: Sequence[Standing],
    left: Iterable[Standing],
    places: Mapping[int, Standing],
    joined: Iterable[Accepted],
) -> tuple[tuple[Standing, ...], tuple[CapabilityId, ...]]:
    """Return where the members stand now, and their ids in that order."""
    standing, owners = list(standings_), list(previous.accepted)
    for place in left:
        index = bisect_left(standing, place)
        del standing[index], owners[index]
    for one in joined:
        place = places[id(one.candidate)]
        index = bisect_left(standing, place)
        standing.insert(index, place)
        owners.insert(index, one.entry.manifest.id)
    return tuple(standing), tuple(owners)


def _is_member(previous: Composition, candidate: Candidate) -> bool:
    owner = CapabilityId(candidate.folder)
    return previous.paths.get(owner) == outcome.bundle(candidate)


def _members(
    previous: Composition, contenders_: Iterable[Contender]
) -> dict[CapabilityId, Entry]:
    """Return those of the candidates that are members, by id."""
    registry = previous.registry
    found = {}
    for one in contenders_:
        owner = CapabilityId(one.candidate.folder)
        if _is_member(previous, one.candidate):
            found[owner] = Entry(
                manifest=registry.capabilities[owner],
                fragments=registry.fragments.get(owner, {}),
            )
    return found


def _gates(
    previous: PMap[str, tuple[BlockedGate, ...]],
    decided: frozenset[tuple[str, str]],
    skipped: Iterable[Skipped],
) -> PMap[str, tuple[BlockedGate, ...]]:
    """Return the gates that are lost, with those of some candidates decided anew."""
    come = outcome.by_point(skipped)
    points = previous.evolver()
    for point in dict.fromkeys((*previous, *come)):
        before = previous.get(point, ())
        stay = [gate for gate in before if outcome.gate_rank(gate) not in decided]
        new = come.get(point, ())
        if len(stay) == len(before) and not new:
            continue
        if stay or new:
            points[point] = tuple(sorted((*stay, *new), key=outcome.gate_rank))
        else:
            del points[point]
    return points.persistent()


def _replaced(
    view: PMap[_K, _V], gone: Iterable[_K], come: Mapping[_K, _V]
) -> PMap[_K, _V]:
    """Return a map without some keys and with others."""
    changed = view.evolver()
    for key in gone:
        if key in view and key not in come:
            del changed[key]
    for key, value in come.items():
        changed[key] = value
    return changed.persistent()
