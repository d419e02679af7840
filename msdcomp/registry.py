"""The registry, and `build`, the one builder of every derived view.

First-party and installed capabilities go through the same projection, so an accepted
overlay cannot be told from a shipped capability in any view.
Source: docs/explanation/composition.md, "Why compose through one builder".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import attrs
from pyrsistent import PMap, pmap

from msdcomp.collector import collector_paused
from msdcomp.dispatch import Dispatch, OrderingCycle
from msdcomp.entry import Entry
from msdcomp.manifest import (
    AgentStem,
    CapabilityId,
    ConfigKey,
    Feature,
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
    "arrange",
    "assemble",
    "build",
    "by_id",
    "reassemble",
]


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
    with collector_paused():
        members = by_id(entries)
        dispatch = arrange(members)
        if isinstance(dispatch, BuildFailure):
            return dispatch
        return assemble(members, dispatch)


def by_id(entries: Iterable[Entry]) -> list[Entry]:
    """Return entries ascending by id, as whoever builds of them takes them."""
    return sorted(entries, key=_id)


def arrange(entries: Iterable[Entry]) -> Dispatch | BuildFailure:
    """Put the hooks of entries in order, or say why no registry can be built.

    Args:
        entries: Ascending by id.
    """
    found = Dispatch.of(entries)
    return found if isinstance(found, Dispatch) else BuildFailure(cycles=found)


def assemble(entries: Iterable[Entry], dispatch: Dispatch) -> Registry:
    """Return the registry of entries whose hooks are in order already."""
    views = _Views({}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {})
    for entry in entries:
        views.enter(entry)
    return Registry(
        by_loop_point=pmap(dispatch.points()),
        **{name: pmap(view) for name, view in views.named()},
    )


def reassemble(
    registry: Registry,
    gone: Iterable[Entry],
    come: Iterable[Entry],
    dispatch: Dispatch,
    points: Iterable[str],
) -> Registry:
    """Return a registry with some entries in place of others.

    Args:
        registry: Of all entries until now.
        gone: Those to take out.
        come: Those to put in.
        dispatch: The order of the hooks from now on.
        points: Where that order is another one.

    Cost: proportional to these entries and to the hooks of these points.
    """
    hooks = registry.by_loop_point.evolver()
    for point in points:
        found = dispatch.at(point)
        if found.all():
            hooks[point] = found
        elif point in registry.by_loop_point:
            del hooks[point]
    views = _Views(*(getattr(registry, name).evolver() for name in _VIEWS))
    for entry in gone:
        views.leave(entry)
    for entry in come:
        views.enter(entry)
    return Registry(
        by_loop_point=hooks.persistent(),
        **{name: view.persistent() for name, view in views.named()},
    )


def _id(entry: Entry) -> CapabilityId:
    return entry.manifest.id


@attrs.define(eq=False, repr=False)
class _Views:
    """The views of a registry while they change; never leaves this module."""

    capabilities: Any
    fragments: Any
    by_skill: Any
    by_agent: Any
    config_keys: Any
    config_schema: Any
    runtimes: Any
    reviewers: Any
    command_families: Any
    task_resolvers: Any
    capability_clusters: Any
    profile_membership: Any

    def named(self) -> Iterator[tuple[str, Any]]:
        """Yield the views with their names."""
        return ((name, getattr(self, name)) for name in _VIEWS)

    def enter(self, entry: Entry) -> None:
        """Put in what a capability has a part in."""
        manifest = entry.manifest
        owner = manifest.id
        self.capabilities[owner] = manifest
        if entry.fragments:
            self.fragments[owner] = entry.fragments
        for key, slice_ in manifest.config.items():
            self.config_keys[key] = owner
            self.config_schema[key] = OwnedSlice(
                owner=owner,
                type=slice_.type,
                default=slice_.default,
                description=slice_.description,
                values=slice_.values,
            )
        if manifest.runtime is not None:
            self.runtimes[owner] = manifest.runtime
        if lane := manifest.reviewer:
            self.reviewers[lane.slug] = OwnedLane(capability_id=owner, lane=lane)
        for command in manifest.commands:
            self.command_families[command.family] = CommandFamily(
                capability_id=owner, module=command.module, router=command.router
            )
        if manifest.feature is not None:
            self._enter_feature(owner, manifest.tier, manifest.feature)

    def _enter_feature(self, owner: CapabilityId, tier: str, feature: Feature) -> None:
        for skill in feature.skills:
            self.by_skill[skill] = owner
        for agent in feature.agents:
            self.by_agent[agent] = owner
        if resolver := feature.task_content_resolver:
            self.task_resolvers[resolver.tracker_prefix] = OwnedResolver(
                capability_id=owner, resolver=resolver
            )
        if feature.skills:
            self.capability_clusters[owner] = tuple(sorted(feature.skills))
            self.profile_membership[owner] = _MEMBERSHIPS[tier]

    def leave(self, entry: Entry) -> None:
        """Take out what a capability has a part in."""
        manifest = entry.manifest
        owner = manifest.id
        del self.capabilities[owner]
        if entry.fragments:
            del self.fragments[owner]
        for key in manifest.config:
            del self.config_keys[key], self.config_schema[key]
        if manifest.runtime is not None:
            del self.runtimes[owner]
        if manifest.reviewer is not None:
            del self.reviewers[manifest.reviewer.slug]
        # A family may be named twice outside of features.
        for family in {command.family for command in manifest.commands}:
            del self.command_families[family]
        if manifest.feature is not None:
            self._leave_feature(owner, manifest.feature)

    def _leave_feature(self, owner: CapabilityId, feature: Feature) -> None:
        for skill in feature.skills:
            del self.by_skill[skill]
        for agent in feature.agents:
            del self.by_agent[agent]
        if resolver := feature.task_content_resolver:
            del self.task_resolvers[resolver.tracker_prefix]
        if feature.skills:
            del self.capability_clusters[owner]
            del self.profile_membership[owner]


_VIEWS = tuple(field.name for field in attrs.fields(_Views))

#: What a tier means for the profiles; one value for all capabilities of a tier.
_MEMBERSHIPS = {
    tier: Membership(tier=tier, profiles=TIERS[place:])
    for place, tier in enumerate(TIERS)
}
