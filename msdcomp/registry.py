"""The registry, and `build`, the one builder of every derived view.

First-party and installed capabilities go through the same projection, so an accepted
overlay cannot be told from a shipped capability in any view.
Source: docs/explanation/composition.md, "Why compose through one builder".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import attrs
from pyrsistent import PMap, pmap

from msdcomp.dataflow import Cycle, Task, cycles, schedule
from msdcomp.manifest import (
    AgentStem,
    CapabilityId,
    ConfigKey,
    Gate,
    Manifest,
    Runtime,
    SkillStem,
)
from msdcomp.records import Record
from msdcomp.views import (
    CommandFamily,
    Hook,
    Membership,
    OwnedLane,
    OwnedResolver,
    OwnedSlice,
    PointHooks,
)
from msdcomp.vocabulary import TIERS

if TYPE_CHECKING:
    from msdcomp.manifest import Contribution, Fragment, Step

__all__ = [
    "BuildFailure",
    "CommandFamily",
    "Entry",
    "Hook",
    "Membership",
    "OrderingCycle",
    "OwnedLane",
    "OwnedResolver",
    "OwnedSlice",
    "PointHooks",
    "Registry",
    "build",
]


def _texts(value: Mapping[str, str]) -> PMap[str, str]:
    return pmap(value)


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Entry(Record):
    """A capability that is to be a member, with the texts of its fragment files."""

    manifest: Manifest
    #: Declared path -> text.
    fragments: PMap[str, str] = attrs.field(factory=pmap, converter=_texts, repr=False)


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Registry(Record):
    """Every capability of a host, and each view that consumers read.

    Attributes:
        capabilities: Id -> manifest.
        fragments: Id -> path of a fragment file -> its text; only where there are any.
        by_skill: Skill stem -> owner.
        by_agent: Agent stem -> owner.
        by_loop_point: Point -> hooks in dispatch order; only points with hooks.
        config_keys: Federated key -> owner.
        config_schema: Federated key -> slice and owner.
        runtimes: Capability id -> runtime descriptor.
        reviewers: Lane slug -> lane and owner.
        command_families: Family -> owner, module, router.
        task_resolvers: Tracker prefix -> resolver and owner.
        capability_clusters: Id of a capability with skills -> its skills, sorted.
        profile_membership: Id of a capability with skills -> tier and profiles.
    """

    capabilities: PMap[CapabilityId, Manifest] = attrs.field(factory=pmap)
    fragments: PMap[CapabilityId, PMap[str, str]] = attrs.field(factory=pmap)
    by_skill: PMap[SkillStem, CapabilityId] = attrs.field(factory=pmap)
    by_agent: PMap[AgentStem, CapabilityId] = attrs.field(factory=pmap)
    by_loop_point: PMap[str, PointHooks] = attrs.field(factory=pmap)
    config_keys: PMap[ConfigKey, CapabilityId] = attrs.field(factory=pmap)
    config_schema: PMap[ConfigKey, OwnedSlice] = attrs.field(factory=pmap)
    runtimes: PMap[CapabilityId, Runtime] = attrs.field(factory=pmap)
    reviewers: PMap[str, OwnedLane] = attrs.field(factory=pmap)
    command_families: PMap[str, CommandFamily] = attrs.field(factory=pmap)
    task_resolvers: PMap[str, OwnedResolver] = attrs.field(factory=pmap)
    capability_clusters: PMap[CapabilityId, tuple[SkillStem, ...]] = attrs.field(
        factory=pmap
    )
    profile_membership: PMap[CapabilityId, Membership] = attrs.field(factory=pmap)

    def __repr__(self) -> str:
        """Show the size only."""
        return f"<Registry of {len(self.capabilities)} capabilities>"

    def entries(self) -> tuple[Entry, ...]:
        """Return the members as `build` takes them, by id."""
        return tuple(
            Entry(manifest=manifest, fragments=self.fragments.get(owner, pmap()))
            for owner, manifest in sorted(self.capabilities.items())
        )

    def requires_closure(self, capability_id: str) -> tuple[CapabilityId, ...]:
        """Return a capability and all it requires, directly or not, sorted.

        Ids that are not members are left out; the closure of one is empty.
        """
        found: set[CapabilityId] = set()
        frontier = [CapabilityId(capability_id)]
        while frontier:
            owner = frontier.pop()
            manifest = self.capabilities.get(owner)
            if manifest is not None and owner not in found:
                found.add(owner)
                frontier.extend(manifest.requires)
        return tuple(sorted(found))


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


@attrs.frozen(kw_only=True, eq=False, repr=False)
class BuildFailure(Record):
    """Why no registry can be built of a set; `cycles` is never empty."""

    cycles: tuple[OrderingCycle, ...]

    @property
    def culprits(self) -> frozenset[CapabilityId]:
        """Every capability on any cycle."""
        return frozenset(c for cycle in self.cycles for c in cycle.culprits)


def build(entries: Iterable[Entry]) -> Registry | BuildFailure:
    """Derive every view of a set of capabilities.

    Args:
        entries: Structurally valid and free of conflicts, in any order.

    Returns:
        The registry, or the ordering cycles that only the whole set has.

    Cost: linear in what is declared, and sorting.
    Source: docs/reference/registry.md.
    """
    ranked = sorted(entries, key=lambda entry: entry.manifest.id)
    hooks, failures = _loop(ranked)
    if failures:
        return BuildFailure(cycles=failures)
    manifests = [entry.manifest for entry in ranked]
    features = [(m, m.feature) for m in manifests if m.feature is not None]
    clusters = {m.id: tuple(sorted(f.skills)) for m, f in features if f.skills}
    return Registry(
        capabilities=pmap({m.id: m for m in manifests}),
        fragments=pmap({e.manifest.id: e.fragments for e in ranked if e.fragments}),
        by_skill=pmap({stem: m.id for m, f in features for stem in f.skills}),
        by_agent=pmap({stem: m.id for m, f in features for stem in f.agents}),
        by_loop_point=hooks,
        config_keys=pmap({key: m.id for m in manifests for key in m.config}),
        config_schema=_schema(manifests),
        runtimes=pmap({m.id: m.runtime for m in manifests if m.runtime is not None}),
        reviewers=pmap(
            {
                m.reviewer.slug: OwnedLane(capability_id=m.id, lane=m.reviewer)
                for m in manifests
                if m.reviewer is not None
            }
        ),
        command_families=pmap(
            {
                command.family: CommandFamily(
                    capability_id=m.id, module=command.module, router=command.router
                )
                for m in manifests
                for command in m.commands
            }
        ),
        task_resolvers=pmap(
            {
                f.task_content_resolver.tracker_prefix: OwnedResolver(
                    capability_id=m.id, resolver=f.task_content_resolver
                )
                for m, f in features
                if f.task_content_resolver is not None
            }
        ),
        capability_clusters=pmap(clusters),
        profile_membership=pmap(
            {
                m.id: Membership(tier=m.tier, profiles=TIERS[TIERS.index(m.tier) :])
                for m, _ in features
                if m.id in clusters
            }
        ),
    )


def _schema(manifests: Sequence[Manifest]) -> PMap[ConfigKey, OwnedSlice]:
    return pmap(
        {
            key: OwnedSlice(
                owner=m.id,
                type=slice_.type,
                default=slice_.default,
                description=slice_.description,
                values=slice_.values,
            )
            for m in manifests
            for key, slice_ in m.config.items()
        }
    )


def _loop(
    ranked: Sequence[Entry],
) -> tuple[PMap[str, PointHooks], tuple[OrderingCycle, ...]]:
    """Return the hooks of every point in dispatch order, and what cannot be ordered.

    Hooks are gathered by capability id and declaration order, which is the tie-break
    among steps and contributions and the whole order of gates.
    """
    gathered: dict[str, dict[str, list[Hook]]] = {}
    for entry in ranked:
        for hook in _hooks(entry):
            kinds = gathered.setdefault(hook.body.point, {})
            kinds.setdefault(hook.kind, []).append(hook)
    failures: list[OrderingCycle] = []
    views = {}
    for point, kinds in gathered.items():
        for kind in ("step", "contribution"):
            hooks = kinds.get(kind, [])
            kinds[kind], knots = _by_data_flow(hooks)
            failures += [_cycle(point, kind, hooks, knot) for knot in knots]
        views[point] = PointHooks(
            steps=tuple(kinds["step"]),
            contributions=tuple(kinds["contribution"]),
            gates=tuple(kinds.get("gate", ())),
        )
    ordered = sorted(failures, key=lambda cycle: (cycle.culprits, cycle.point))
    return pmap(views), tuple(ordered)


def _hooks(entry: Entry) -> Iterable[Hook]:
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


def _by_data_flow(
    hooks: Sequence[Hook],
) -> tuple[list[Hook], list[Cycle[str]]]:
    """Return hooks with each artefact given before it is needed, and the cycles left.

    Hooks that neither give nor need anything are placed by the tie-break alone.
    """
    tasks = [
        Task(frozenset(hook.body.produces), frozenset(hook.body.consumes))
        for hook in hooks
        if not isinstance(hook.body, Gate)
    ]
    placed = schedule(tasks)
    knots = list(cycles(tasks)) if placed.stuck else []
    return [hooks[index] for index in placed.order], knots


def _cycle(
    point: str, kind: str, hooks: Sequence[Hook], knot: Cycle[str]
) -> OrderingCycle:
    return OrderingCycle(
        point=point,
        kind=kind,
        hops=tuple((hooks[index], artefact) for index, artefact in knot.hops),
        culprits=tuple(sorted({hooks[i].capability_id for i in knot.members})),
    )
