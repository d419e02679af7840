"""Whether one more capability would make hooks wait for each other.

An ordering cycle of one overlay, alone or with the first party, is that overlay's own
fault and found when it is judged; one that only the whole set has is found when the
set is built. Both are spelled out here, hop by hop.
Source: docs/explanation/composition.md, "Cross-capability invariants".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Literal, TypeAlias, TypeVar

import attrs

from msdcomp.dataflow import Task, cycles
from msdcomp.diagnostics import Problem, pointer
from msdcomp.invariants import quoted
from msdcomp.manifest import Contribution, Manifest, Step
from msdcomp.records import Record

__all__ = ["MAX_HOPS", "Flow", "shortened", "spelled"]

T = TypeVar("T")
_Kind: TypeAlias = Literal["step", "contribution"]
_Node: TypeAlias = tuple[str, _Kind, int]


@attrs.frozen(eq=False, repr=False)
class Flow(Record):
    """The data flow among the hooks of the first party.

    `readers` maps `(kind, point, artefact)` to the hooks that consume the artefact
    there, `hooks` a hook to what it produces. Enough to ask whether one more
    capability would close a circle, by walking only what it leads to.
    """

    readers: Mapping[tuple[str, str, str], tuple[_Node, ...]]
    hooks: Mapping[_Node, Step | Contribution]

    @classmethod
    def of(cls, manifests: Iterable[Manifest]) -> Flow:
        """Return the data flow among the hooks of these capabilities."""
        readers: dict[tuple[str, str, str], tuple[_Node, ...]] = {}
        hooks: dict[_Node, Step | Contribution] = {}
        for manifest in manifests:
            for node, hook in _hooks(manifest):
                hooks[node] = hook
                for artefact in frozenset(hook.consumes):
                    key = (node[1], hook.point, artefact)
                    readers[key] = (*readers.get(key, ()), node)
        return cls(readers, hooks)

    def circles(self, manifest: Manifest) -> Iterator[Problem]:
        """Yield a problem for every circle a manifest closes, alone or with these."""
        own = dict(_hooks(manifest))
        groups: dict[tuple[_Kind, str], dict[_Node, Step | Contribution]] = {}
        for node, hook in own.items():
            groups.setdefault((node[1], hook.point), {})[node] = hook
        for (kind, point), group in groups.items():
            reach = dict(group)
            frontier = list(group.values())
            while frontier:
                hook = frontier.pop()
                for artefact in hook.produces:
                    for node in self.readers.get((kind, point, artefact), ()):
                        if node not in reach:
                            reach[node] = self.hooks[node]
                            frontier.append(self.hooks[node])
            if _may_circle(reach.values()):
                yield from _circles(point, reach, own)


def _may_circle(hooks: Iterable[Step | Contribution]) -> bool:
    """Tell whether anything that is given here is also needed here; mostly nothing."""
    needed = {artefact for hook in hooks for artefact in hook.consumes}
    return any(not needed.isdisjoint(hook.produces) for hook in hooks)


def _hooks(manifest: Manifest) -> Iterator[tuple[_Node, Step | Contribution]]:
    feature = manifest.feature
    if feature is None:
        return
    for index, step in enumerate(feature.steps):
        yield (manifest.id, "step", index), step
    for index, contribution in enumerate(feature.contributions):
        yield (manifest.id, "contribution", index), contribution


def _circles(
    point: str,
    reach: Mapping[_Node, Step | Contribution],
    own: Mapping[_Node, Step | Contribution],
) -> Iterator[Problem]:
    nodes = sorted(reach)
    tasks = [
        Task(frozenset(reach[node].produces), frozenset(reach[node].consumes))
        for node in nodes
    ]
    for cycle in cycles(tasks):
        way = [(nodes[index], artefact) for index, artefact in cycle.hops]
        first = next((nodes[i] for i in cycle.members if nodes[i] in own), None)
        if first is None:  # not through this capability
            continue
        _, kind, index = first
        yield Problem(
            code="ordering-cycle",
            path=pointer(f"{kind}s", index),
            message=f"the {kind}s at {point} wait for each other: {spelled(way)}",
            hint="Drop one of these artefacts from consumes, or produce it earlier.",
        )


def spelled(way: Iterable[tuple[tuple[str, str, int], str]]) -> str:
    """Spell a cycle out, hook by hook, ending where it began."""
    hops = list(way)

    def told(hop: tuple[tuple[str, str, int], str]) -> str:
        (owner, kind, index), artefact = hop
        return f"{quoted(owner)} {kind} {index} gives {quoted(artefact)}"

    owner, kind, index = hops[0][0]
    return " to ".join((*shortened(hops, told), f"{quoted(owner)} {kind} {index}"))


#: Most hops of a cycle that are spelled out; nobody follows more by eye.
MAX_HOPS = 20


def shortened(hops: Sequence[T], told: Callable[[T], str]) -> Iterator[str]:
    """Tell the hops of a way; of a long one the middle is counted, not told."""
    half = MAX_HOPS // 2
    if len(hops) <= MAX_HOPS:
        yield from map(told, hops)
        return
    yield from map(told, hops[:half])
    yield f"({len(hops) - MAX_HOPS} more)"
    yield from map(told, hops[-half:])
