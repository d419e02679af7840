"""`compose`: a fold of untrusted candidates over the first-party registry.

Each candidate sees what the ones before it left; one with a fault is skipped whole and
leaves nothing behind but its warning and its gates. Then the set is built, by the same
builder as the first party.
Source: docs/explanation/composition.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import attrs
from pyrsistent import pmap

from msdcomp import outcome
from msdcomp.candidate import Candidate
from msdcomp.collector import collector_paused
from msdcomp.composition import Composition
from msdcomp.contender import contenders
from msdcomp.dispatch import Dispatch, together
from msdcomp.entry import Entry
from msdcomp.ground import Ground
from msdcomp.host import Host
from msdcomp.judging import Accepted, judge_all
from msdcomp.links import Links
from msdcomp.making import Making, OnSetFailure, Workings
from msdcomp.ordering import standings
from msdcomp.outlook import FoldOutlook
from msdcomp.registry import Registry, arrange, assemble, by_id
from msdcomp.setfailure import SetFailure
from msdcomp.verdict import Skipped, SkipWarning

__all__ = ["OnSetFailure", "compose"]


def compose(
    base: Registry,
    candidates: Iterable[Candidate],
    host: Host | None = None,
    *,
    on_set_failure: OnSetFailure = "fallback",
) -> Composition:
    """Fold untrusted candidates over the first-party registry.

    Args:
        base: The frozen first-party registry; no candidate can change an entry.
        candidates: One per folder found, in any order.
        host: Running version, loop and central configuration keys; by default the
            host that the shipped capabilities belong to.
        on_set_failure: `fallback` drops every overlay when the set of those accepted
            cannot be built, `isolate` only the culprits and their dependents.

    Returns:
        The registry (`base` itself when nothing is accepted) with a warning for every
        candidate that is not in it and a record for every gate lost with it.

    Cost: proportional to what the candidates declare, plus sorting.
    Source: docs/explanation/composition.md, "First-party always wins".
    """
    making = Making(
        base=base,
        host=host or Host(),
        on_set_failure=on_set_failure,
        candidates=tuple(candidates),
    )
    with collector_paused():
        return _composed(making)


def _composed(making: Making) -> Composition:
    shipped = making.base.entries()
    ground = Ground.of(making.base, making.host)
    taking_part = contenders(making.candidates, ground)
    standing = tuple(standings(taking_part, ground.index))
    ordered = [one for one, _ in standing]
    outlook = FoldOutlook(ordered)
    folded = judge_all(ordered, ground, outlook)
    skipped = folded.skipped
    members = _members(shipped, folded.accepted)
    dispatch = arrange(members)
    if isinstance(dispatch, Dispatch):
        # Whoever is accepted was accepted in this order.
        left = iter(standing)
        workings = Workings(
            ground=ground,
            links=Links.of(taking_part),
            standings=tuple(
                next(place for one, place in left if one.candidate is member.candidate)
                for member in folded.accepted
            ),
            dispatch=dispatch,
            lasting=together(shipped),
        )
        making = attrs.evolve(making, workings=workings)
    while not isinstance(dispatch, Dispatch):
        failure = SetFailure.of(dispatch)
        gone = dispatch.culprits.intersection(
            one.candidate.folder for one in folded.accepted
        )
        # With nobody to isolate the base itself is tied up, and stays so.
        if making.on_set_failure != "isolate" or not gone:
            return _fallen(failure, folded.accepted, skipped, making)
        # Whoever is on a cycle goes; the others are judged again without them, since
        # some may have depended on what is gone.
        for one in folded.accepted:
            if one.candidate.folder in gone:
                dropped = failure.dropped(one.candidate, making.host)
                outlook.skipped(dropped)
                skipped += (dropped,)
        rest = [
            one.candidate for one in folded.accepted if one.candidate.folder not in gone
        ]
        folded = judge_all(contenders(rest, ground), ground, outlook)
        skipped += folded.skipped
        members = _members(shipped, folded.accepted)
        dispatch = arrange(members)
    registry = assemble(members, dispatch) if folded.accepted else making.base
    return _composition(registry, folded.accepted, skipped, making)


def _members(shipped: Sequence[Entry], accepted: Sequence[Accepted]) -> list[Entry]:
    return by_id((*shipped, *(one.entry for one in accepted)))


def _fallen(
    failure: SetFailure,
    accepted: Sequence[Accepted],
    skipped: Sequence[Skipped],
    making: Making,
) -> Composition:
    """Return what is left when every overlay is dropped."""
    dropped = tuple(failure.dropped(one.candidate, making.host) for one in accepted)
    fallen = _composition(
        making.base, (), (*skipped, *dropped), making, failure.warning()
    )
    return attrs.evolve(fallen, dropped=pmap(outcome.paths(accepted)))


def _composition(
    registry: Registry,
    accepted: Sequence[Accepted],
    skipped: Sequence[Skipped],
    making: Making,
    whole: SkipWarning | None = None,
) -> Composition:
    """Gather the values of a finished fold."""
    warnings = [one.warning for one in skipped]
    if whole is not None:
        # One warning speaks for everything the set took along.
        warnings = [one for one in warnings if one.code != "set-build-failed"]
        warnings.append(whole)
    return Composition(
        registry=registry,
        warnings=pmap(outcome.by_key(warnings)),
        blocked_gates=pmap(outcome.by_point(skipped)),
        accepted=tuple(one.entry.manifest.id for one in accepted),
        paths=pmap(outcome.paths(accepted)),
        diagnostics=pmap(outcome.notices(accepted, making.host)),
        command_roots=pmap(outcome.command_roots(accepted)),
        making=making,
    )
