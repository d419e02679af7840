"""Why the hooks of a loop point stand in the order they stand in.

`msdcomp.dispatch` makes the order: the lexicographically smallest one, by capability id
and declaration, in which whoever consumes an artefact follows whoever produces it. Here
the rule behind each neighbouring pair is read off the finished order.

Of two neighbours one can need the other only directly, since whatever stood between
them in a chain would stand between them in the order. And where the second does not
need the first, it was free already when the first was taken, so the ids decided.
Source: docs/reference/loop.md, "Why this order".
"""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING

import attrs

from msdcomp.manifest import Gate
from msdcomp.records import Record
from msdcomp.views import Hook, PointHooks

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["Held", "Placed", "Rule", "order_of", "way"]


class Rule(enum.StrEnum):
    """What puts a hook after the one before it."""

    #: Steps come before contributions, and those before gates.
    KIND = "kind"
    #: It consumes what the one before produces.
    DATA_FLOW = "data-flow"
    #: Nothing but the ids of the two capabilities.
    CAPABILITY_ID = "capability-id"
    #: One capability declares them in this order.
    DECLARATION = "declaration"


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Held(Record):
    """What kept a hook from the place that its id alone would give it.

    Attributes:
        until: Place of the hook that had to come first, the largest so far by id and
            declaration; without it nothing would have been held back.
        waits_for: Place of the last hook on the shortest way from there, `until`
            itself when it is direct. Any other one is held back until the same.
        artefact: What that one produces and this one consumes.
    """

    until: int
    waits_for: int
    artefact: str


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Placed(Record):
    """A hook in its place.

    Attributes:
        hook: The hook.
        rule: What puts it after the one before; None for the first.
        artefacts: By data flow: everything that the one before produces and it
            consumes, sorted.
        held: Why it does not stand earlier, where its id would have it; None where it
            does.
    """

    hook: Hook
    rule: Rule | None
    artefacts: tuple[str, ...] = ()
    held: Held | None = None


def order_of(hooks: PointHooks) -> tuple[Placed, ...]:
    """Return the hooks of a point in the order of dispatch, with what put them there.

    Args:
        hooks: As a registry has them.

    Cost: linear in what the hooks produce and consume, and sorting that.
    """
    placed: list[Placed] = []
    for line in (hooks.steps, hooks.contributions, hooks.gates):
        start = len(placed)
        held = _held(line, start)
        for index, hook in enumerate(line):
            own = held.get(index)
            if not index:
                rule = Rule.KIND if placed else None
                placed.append(Placed(hook=hook, rule=rule))
                continue
            before = line[index - 1]
            given = tuple(sorted(set(_gives(before)).intersection(_needs(hook))))
            rule = _rule(before, hook, given)
            placed.append(Placed(hook=hook, rule=rule, artefacts=given, held=own))
    return tuple(placed)


def way(order: Sequence[Placed], place: int) -> Iterator[tuple[int, str]]:
    """Yield how a hook is held back, from itself to the one it is held back until.

    Args:
        order: From `order_of`.
        place: Of a hook in it; yields nothing when it is not held back.

    Yields:
        Place of a hook, and the artefact of it that the one before in this way needs.
    """
    held = order[place].held
    while held is not None:
        yield held.waits_for, held.artefact
        held = None if held.waits_for == held.until else order[held.waits_for].held


def _rule(before: Hook, hook: Hook, given: tuple[str, ...]) -> Rule:
    if given:
        return Rule.DATA_FLOW
    if before.capability_id == hook.capability_id:
        return Rule.DECLARATION
    return Rule.CAPABILITY_ID


def _gives(hook: Hook) -> tuple[str, ...]:
    return () if isinstance(hook.body, Gate) else hook.body.produces


def _needs(hook: Hook) -> tuple[str, ...]:
    return () if isinstance(hook.body, Gate) else hook.body.consumes


def _rank(hook: Hook) -> tuple[str, int]:
    return (hook.capability_id, hook.index)


def _held(line: Sequence[Hook], start: int) -> dict[int, Held]:
    """Return index -> what held a hook back, for the hooks of one kind.

    A hook that stands after a larger one waited for the largest one before it (see
    `msdcomp.dataflow.slots`), and so did every hook between the two.

    Args:
        line: The hooks, in order.
        start: The place of the first one.
    """
    found: dict[int, Held] = {}
    head = 0
    for index in range(1, len(line) + 1):
        if index == len(line) or _rank(line[index]) > _rank(line[head]):
            found.update(_ways(line, head, index, start))
            head = index
    return found


def _ways(line: Sequence[Hook], head: int, end: int, start: int) -> dict[int, Held]:
    """Return the nearest way from the head of a run to each other hook of it.

    Artefacts are followed in the order of their names, so that what is shown does not
    depend on the hash seed.
    """
    needers: dict[str, list[int]] = {}
    for index in range(head + 1, end):
        for artefact in dict.fromkeys(_needs(line[index])):
            needers.setdefault(artefact, []).append(index)
    found: dict[int, Held] = {}
    frontier = [head]
    while frontier:
        following: list[int] = []
        for giver in frontier:
            for artefact in sorted(_gives(line[giver])):
                # Each is followed once: whoever needs it is as near as it will get.
                for index in needers.pop(artefact, ()):
                    # What a hook gives to itself counts for nothing.
                    if index > giver and index not in found:
                        found[index] = Held(
                            until=start + head,
                            waits_for=start + giver,
                            artefact=artefact,
                        )
                        following.append(index)
        frontier = sorted(following)
    return found
