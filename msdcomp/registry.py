"""The registry, and the one builder of every derived view.

First-party and installed capabilities go through the same `build`, so an accepted
overlay cannot be told from a shipped capability in any view.
Source: docs/explanation/composition.md, "Why compose through one builder".
"""

from __future__ import annotations

from typing import TypeAlias

import attrs
from pyrsistent import PMap, pmap

from msdcomp.manifest import (
    AgentStem,
    CapabilityId,
    ConfigKey,
    Contribution,
    Gate,
    Lane,
    Manifest,
    Runtime,
    Scalar,
    SkillStem,
    Step,
    TaskContentResolver,
)

__all__ = [
    "CommandFamily",
    "Hook",
    "Membership",
    "OwnedLane",
    "OwnedResolver",
    "OwnedSlice",
    "PointHooks",
    "Registry",
]

AnyHook: TypeAlias = Step | Contribution | Gate


@attrs.frozen(kw_only=True)
class Hook:
    """A step, contribution or gate in its place at a loop point.

    Attributes:
        capability_id: Its owner.
        kind: `step`, `contribution` or `gate`.
        index: Place in the owner's own list of that kind, from 0.
        body: The declared record; a fragment given by path carries its text as
            `inline`.
    """

    capability_id: CapabilityId
    kind: str
    index: int
    body: AnyHook


@attrs.frozen(kw_only=True)
class PointHooks:
    """The hooks of one loop point, each list in the order it is dispatched."""

    steps: tuple[Hook, ...] = ()
    contributions: tuple[Hook, ...] = ()
    gates: tuple[Hook, ...] = ()

    def all(self) -> tuple[Hook, ...]:
        """Return steps, then contributions, then gates."""
        return self.steps + self.contributions + self.gates


@attrs.frozen(kw_only=True)
class OwnedSlice:
    """A configuration key of the composed schema and the capability that owns it."""

    owner: CapabilityId
    type: str
    default: Scalar
    description: str
    values: tuple[str, ...] = ()


@attrs.frozen(kw_only=True)
class CommandFamily:
    """A command family, its owner and the module that answers it."""

    capability_id: CapabilityId
    module: str | None
    router: str | None


@attrs.frozen(kw_only=True)
class OwnedLane:
    """A reviewer lane and the capability that declares it."""

    capability_id: CapabilityId
    lane: Lane


@attrs.frozen(kw_only=True)
class OwnedResolver:
    """A task-content resolver and the capability that declares it."""

    capability_id: CapabilityId
    resolver: TaskContentResolver


@attrs.frozen(kw_only=True)
class Membership:
    """The install profiles that contain a capability, smallest first."""

    tier: str
    profiles: tuple[str, ...]


@attrs.frozen(kw_only=True, repr=False)
class Registry:
    """Every capability of a host, and each view that consumers read.

    Attributes:
        capabilities: Id -> manifest.
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
