"""The order in which the hooks of each loop point are dispatched.

Gates by capability id and declaration; steps and contributions by data flow, with the
same order as the tie-break. The order is kept together with what it follows from, so
that it can be mended when a few capabilities change.
Source: docs/reference/registry.md.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, cast

import attrs

from msdcomp.dataflow import Cycle, Task, cycles, schedule, slots
from msdcomp.manifest import CapabilityId, Gate
from msdcomp.records import Record
from msdcomp.views import Hook, PointHooks

if TYPE_CHECKING:
    from msdcomp.entry import Entry
    from msdcomp.manifest import Contribution, Fragment, Step

__all__ = ["Dispatch", "Exchange", "OrderingCycle", "together"]

#: Where a hook stands: owner and index of the head of its run, its place in that run
#: (`msdcomp.dataflow.slots`). Sorted by this, hooks are in order.
Standing: TypeAlias = tuple[str, int, int]

#: A loop point and a kind of hook.
Queue: TypeAlias = tuple[str, str]


class Exchange(NamedTuple):
    """What some hooks give and need, together."""

    gives: frozenset[str]
    needs: frozenset[str]


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
class _Line(Record):
    """Hooks in order, and where each one stands; None where the rank alone decides."""

    hooks: tuple[Hook, ...] = ()
    _standings: tuple[Standing, ...] | None = None

    def standings(self) -> Iterable[Standing]:
        """Return where each hook stands."""
        return map(_free, self.hooks) if self._standings is None else self._standings

    def replaced(self, gone: _Line, come: _Line) -> _Line:
        """Return the line with some hooks in place of others.

        Cost: a copy, and a search for each of these hooks.
        """
        if self._standings is come._standings is gone._standings is None:
            return self._free_replaced(gone, come)
        standings, hooks = list(self.standings()), list(self.hooks)
        for standing in gone.standings():
            place = bisect_left(standings, standing)
            del standings[place], hooks[place]
        for standing, hook in zip(come.standings(), come.hooks, strict=True):
            place = bisect_left(standings, standing)
            standings.insert(place, standing)
            hooks.insert(place, hook)
        return _Line(tuple(hooks), tuple(standings))

    def _free_replaced(self, gone: _Line, come: _Line) -> _Line:
        hooks = list(self.hooks)
        for hook in gone.hooks:
            del hooks[bisect_left(hooks, _rank(hook), key=_rank)]
        for hook in come.hooks:
            hooks.insert(bisect_left(hooks, _rank(hook), key=_rank), hook)
        return _Line(tuple(hooks))


_NOBODY = _Line()


@attrs.frozen(eq=False, repr=False)
class Dispatch(Record):
    """Every hook of a set of capabilities, in order and with where it stands."""

    # Never leaves the record.
    _lines: Mapping[Queue, _Line]

    @classmethod
    def of(cls, entries: Iterable[Entry]) -> Dispatch | tuple[OrderingCycle, ...]:
        """Order the hooks of entries, or say why that cannot be done.

        Args:
            entries: Ascending by id.
        """
        lines: dict[Queue, _Line] = {}
        failures: list[OrderingCycle] = []
        for queue, hooks in _gathered(entries).items():
            line = _line(queue, hooks)
            if line is None:
                failures += _cycles(queue, hooks)
            else:
                lines[queue] = line
        if failures:
            return tuple(sorted(failures, key=lambda one: (one.culprits, one.point)))
        return cls(lines)

    def points(self) -> Mapping[str, PointHooks]:
        """Return the hooks of every point that has any."""
        points = dict.fromkeys(point for point, _ in self._lines)
        return {point: self.at(point) for point in points}

    def at(self, point: str) -> PointHooks:
        """Return the hooks of a point."""
        steps, contributions, gates = (
            self._lines.get((point, kind), _NOBODY).hooks
            for kind in ("step", "contribution", "gate")
        )
        return PointHooks(steps=steps, contributions=contributions, gates=gates)

    def replaced(
        self,
        gone: Iterable[Entry],
        come: Iterable[Entry],
        lasting: Mapping[Queue, Exchange],
    ) -> tuple[Dispatch, frozenset[str]] | None:
        """Return the order with some entries in place of others.

        Args:
            gone: Members until now, with every member they have an artefact in common
                with, except members that stay as they are for good; ascending by id.
            come: Members from now on, with every such member again; ascending by id.
            lasting: What the members that stay for good give and need (`together`).

        Returns:
            The order, and the points at which it may have changed. None when there is
            none, because hooks wait for each other.
        """
        before, after = _gathered(gone), _gathered(come)
        lines = dict(self._lines)
        for queue in dict.fromkeys((*before, *after)):
            old, new = before.get(queue, []), after.get(queue, [])
            line = lines.pop(queue, _NOBODY)
            fixed = lasting.get(queue, _NOTHING)
            if any(_is_tied(hook, fixed) for hook in (*old, *new)):
                # Those that stay may have waited for those that went.
                owners = {hook.capability_id for hook in old}
                stay = (hook for hook in line.hooks if hook.capability_id not in owners)
                mended = _line(queue, sorted((*stay, *new), key=_rank))
            else:
                # They stood where they would stand by themselves.
                left, joined = _line(queue, old), _line(queue, new)
                mended = joined and line.replaced(left or _NOBODY, joined)
            if mended is None:
                return None
            if mended.hooks:
                lines[queue] = mended
        return Dispatch(lines), frozenset(point for point, _ in (*before, *after))


def together(entries: Iterable[Entry]) -> Mapping[Queue, Exchange]:
    """Return what the hooks of some entries give and need, by point and kind."""
    return {
        queue: Exchange(
            frozenset(a for hook in hooks for a in _body(hook).produces),
            frozenset(a for hook in hooks for a in _body(hook).consumes),
        )
        for queue, hooks in _gathered(entries).items()
        if queue[1] != "gate"
    }


_NOTHING = Exchange(frozenset(), frozenset())


def _rank(hook: Hook) -> tuple[str, int]:
    return (hook.capability_id, hook.index)


def _free(hook: Hook) -> Standing:
    """Return where a hook stands that waits for nobody."""
    return (hook.capability_id, hook.index, 0)


def _body(hook: Hook) -> Step | Contribution:
    """Return the body of a hook that is no gate."""
    return cast("Step | Contribution", hook.body)


def _is_tied(hook: Hook, others: Exchange) -> bool:
    """Tell whether a hook waits for others, or one of them for it."""
    body = hook.body
    return not isinstance(body, Gate) and not (
        others.needs.isdisjoint(body.produces)
        and others.gives.isdisjoint(body.consumes)
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
    if fragment is None or fragment.file is None:
        return hook
    text = texts.get(fragment.file)
    if text is None:
        return hook
    inlined = attrs.evolve(fragment, inline=text)
    return attrs.evolve(hook, fragment=inlined)


def _line(queue: Queue, hooks: Sequence[Hook]) -> _Line | None:
    """Return hooks in order, or None when some wait for each other.

    Args:
        queue: Whose hooks they are.
        hooks: In the order that decides where nothing else does.
    """
    _, kind = queue
    tasks = None if kind == "gate" else _tasks(hooks)
    if tasks is None:
        return _Line(tuple(hooks))
    placed = schedule(tasks)
    if placed.stuck:
        return None
    return _Line(
        tuple([hooks[index] for index in placed.order]),
        tuple([(*_rank(hooks[head]), place) for _, head, place in slots(placed)]),
    )


def _tasks(hooks: Sequence[Hook]) -> list[Task[str]] | None:
    """Return what hooks give and need among themselves; None when that is nothing."""
    bodies = [_body(hook) for hook in hooks]
    given = {artefact for body in bodies for artefact in body.produces}
    if given.isdisjoint(artefact for body in bodies for artefact in body.consumes):
        return None
    return [Task(frozenset(b.produces), frozenset(b.consumes)) for b in bodies]


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
