"""The order in which the hooks of each loop point are dispatched.

Gates by capability id and declaration; steps and contributions by data flow, with the
same order as the tie-break. The order is kept together with what it follows from, so
that it can be mended when a few capabilities change.
Source: docs/reference/registry.md.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, TypeAlias

import attrs

from msdcomp.dataflow import Cycle, Task, cycles, schedule, slots
from msdcomp.manifest import CapabilityId, Gate
from msdcomp.records import Record
from msdcomp.views import Hook, PointHooks

if TYPE_CHECKING:
    from msdcomp.entry import Entry
    from msdcomp.manifest import Contribution, Fragment, Step

__all__ = ["Dispatch", "OrderingCycle", "tied"]

#: Where a hook stands: owner and index of the head of its run, its place in that run
#: (`msdcomp.dataflow.slots`). Sorted by this, hooks are in order.
Standing: TypeAlias = tuple[str, int, int]

#: A loop point and a kind of hook.
Queue: TypeAlias = tuple[str, str]

_Standings: TypeAlias = tuple[tuple[Standing, Hook], ...]


@attrs.frozen(kw_only=True, eq=False, repr=False)
class OrderingCycle(Record):
    """Hooks of one kind at one point that all wait for each other.

    Attributes:
        point: The loop point.
        kind: `step` or `contribution`.
        hops: One way around: the hook, and the artefact it gives to the next one; the
            last gives to the first.
        culprits: Every capability with a hook on a cycle of this knot, sorted.
    """

    point: str
    kind: str
    hops: tuple[tuple[Hook, str], ...]
    culprits: tuple[CapabilityId, ...]


@attrs.frozen(eq=False, repr=False)
class Dispatch(Record):
    """Every hook of a set of capabilities, in order and with where it stands."""

    # Never leaves the record.
    _queues: Mapping[Queue, _Standings]

    @classmethod
    def of(cls, entries: Iterable[Entry]) -> Dispatch | tuple[OrderingCycle, ...]:
        """Order the hooks of entries, or say why that cannot be done.

        Args:
            entries: Ascending by id.
        """
        queues: dict[Queue, _Standings] = {}
        failures: list[OrderingCycle] = []
        for queue, hooks in _gathered(entries).items():
            standings = _standings(queue, hooks)
            if standings is None:
                failures += _cycles(queue, hooks)
            else:
                queues[queue] = standings
        if failures:
            return tuple(sorted(failures, key=lambda one: (one.culprits, one.point)))
        return cls(queues)

    def points(self) -> Mapping[str, PointHooks]:
        """Return the hooks of every point that has any."""
        points = dict.fromkeys(point for point, _ in self._queues)
        return {point: self.at(point) for point in points}

    def at(self, point: str) -> PointHooks:
        """Return the hooks of a point."""
        steps, contributions, gates = (
            tuple(map(_hook, self._queues.get((point, kind), ())))
            for kind in ("step", "contribution", "gate")
        )
        return PointHooks(steps=steps, contributions=contributions, gates=gates)

    def replaced(
        self,
        gone: Iterable[Entry],
        come: Iterable[Entry],
        tied_up: Mapping[Queue, Collection[str]],
    ) -> tuple[Dispatch, frozenset[str]] | None:
        """Return the order with some entries in place of others.

        Args:
            gone: Members until now, with every member they have an artefact in common
                with, except members that stay as they are for good.
            come: Members from now on, with every such member again; ascending by id.
            tied_up: What the members that stay for good give and need (`tied`).

        Returns:
            The order, and the points at which it may have changed. None when there is
            none, because hooks wait for each other.
        """
        before, after = _gathered(gone), _gathered(come)
        owners = {hook.capability_id for hooks in before.values() for hook in hooks}
        queues = dict(self._queues)
        for queue in dict.fromkeys((*before, *after)):
            stay = tuple(
                one
                for one in self._queues.get(queue, ())
                if one[1].capability_id not in owners
            )
            new = after.get(queue, [])
            fixed = tied_up.get(queue, ())
            moved = (*before.get(queue, ()), *new)
            if fixed and any(_touches(hook, fixed) for hook in moved):
                # Those that stay may have waited for those that went.
                new = sorted((*map(_hook, stay), *new), key=_rank)
                stay = ()
            added = _standings(queue, new)
            if added is None:
                return None
            if stay or added:
                queues[queue] = tuple(sorted((*stay, *added), key=itemgetter(0)))
            else:
                queues.pop(queue, None)
        points = frozenset(point for point, _ in (*before, *after))
        return Dispatch(queues), points


def tied(entries: Iterable[Entry]) -> Mapping[Queue, frozenset[str]]:
    """Return the artefacts that hooks give or need, by point and kind."""
    return {
        queue: frozenset(
            artefact
            for hook in hooks
            if not isinstance(hook.body, Gate)
            for artefact in (*hook.body.produces, *hook.body.consumes)
        )
        for queue, hooks in _gathered(entries).items()
    }


def _hook(standing: tuple[Standing, Hook]) -> Hook:
    return standing[1]


def _rank(hook: Hook) -> tuple[str, int]:
    return (hook.capability_id, hook.index)


def _touches(hook: Hook, artefacts: Collection[str]) -> bool:
    body = hook.body
    return not isinstance(body, Gate) and any(
        artefact in artefacts for artefact in (*body.produces, *body.consumes)
    )


def _gathered(entries: Iterable[Entry]) -> dict[Queue, list[Hook]]:
    """Return hooks by point and kind, each list by capability id and declaration."""
    found: dict[Queue, list[Hook]] = {}
    for entry in entries:
        for hook in _hooks(entry):
            found.setdefault((hook.body.point, hook.kind), []).append(hook)
    return found


def _hooks(entry: Entry) -> Iterator[Hook]:
    feature = entry.manifest.feature
    if feature is None:
        return
    owner = entry.manifest.id
    for index, step in enumerate(feature.steps):
        body = _materialised(step, step.fragment, entry.fragments)
        yield Hook(capability_id=owner, kind="step", index=index, body=body)
    for index, given in enumerate(feature.contributions):
        text = _materialised(given, given.fragment, entry.fragments)
        yield Hook(capability_id=owner, kind="contribution", index=index, body=text)
    for index, gate in enumerate(feature.gates):
        yield Hook(capability_id=owner, kind="gate", index=index, body=gate)


def _materialised(
    hook: Step | Contribution, fragment: Fragment | None, texts: Mapping[str, str]
) -> Step | Contribution:
    """Return a hook with the text of its fragment file inlined; inline text wins."""
    if fragment is None or fragment.inline is not None or fragment.path is None:
        return hook
    text = texts.get(fragment.path)
    if text is None:
        return hook
    inlined = attrs.evolve(fragment, inline=text)
    return attrs.evolve(hook, fragment=inlined)


def _standings(queue: Queue, hooks: Sequence[Hook]) -> _Standings | None:
    """Return hooks in order, or None when some wait for each other.

    Hooks that neither give nor need anything are placed by the tie-break alone.
    """
    _, kind = queue
    tasks = None if kind == "gate" else _tasks(hooks)
    if tasks is None:
        return tuple([((hook.capability_id, hook.index, 0), hook) for hook in hooks])
    placed = schedule(tasks)
    if placed.stuck:
        return None
    return tuple(
        [
            ((hooks[head].capability_id, hooks[head].index, place), hooks[index])
            for index, (_, head, place) in zip(placed.order, slots(placed), strict=True)
        ]
    )


def _tasks(hooks: Sequence[Hook]) -> list[Task[str]] | None:
    """Return what hooks give and need among themselves; None when that is nothing."""
    given = {a for hook in hooks for a in hook.body.produces}  # type: ignore[union-attr]
    needed = {a for hook in hooks for a in hook.body.consumes}  # type: ignore[union-attr]
    if given.isdisjoint(needed):
        return None
    return [
        Task(frozenset(hook.body.produces), frozenset(hook.body.consumes))
        for hook in hooks
        if not isinstance(hook.body, Gate)
    ]


def _cycles(queue: Queue, hooks: Sequence[Hook]) -> Iterator[OrderingCycle]:
    point, kind = queue
    knots: Iterable[Cycle[str]] = cycles(_tasks(hooks) or ())
    for knot in knots:
        yield OrderingCycle(
            point=point,
            kind=kind,
            hops=tuple((hooks[index], artefact) for index, artefact in knot.hops),
            culprits=tuple(sorted({hooks[i].capability_id for i in knot.members})),
        )
