"""The entries of a registry's views: what a consumer looks up and gets."""

from __future__ import annotations

from typing import TypeAlias

import attrs

from msdcomp.manifest import (
    CapabilityId,
    Contribution,
    Gate,
    Lane,
    Scalar,
    Step,
    TaskContentResolver,
)
from msdcomp.records import Record

__all__ = [
    "AnyHook",
    "CommandFamily",
    "Hook",
    "Membership",
    "OwnedLane",
    "OwnedResolver",
    "OwnedSlice",
    "PointHooks",
]

AnyHook: TypeAlias = Step | Contribution | Gate


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Hook(Record):
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


@attrs.frozen(kw_only=True, eq=False, repr=False)
class PointHooks(Record):
    """The hooks of one loop point, each list in the order it is dispatched."""

    steps: tuple[Hook, ...] = ()
    contributions: tuple[Hook, ...] = ()
    gates: tuple[Hook, ...] = ()

    def all(self) -> tuple[Hook, ...]:
        """Return steps, then contributions, then gates."""
        return self.steps + self.contributions + self.gates


@attrs.frozen(kw_only=True, eq=False, repr=False)
class OwnedSlice(Record):
    """A configuration key of the composed schema and the capability that owns it."""

    owner: CapabilityId
    type: str
    default: Scalar
    description: str
    values: tuple[str, ...] = ()


@attrs.frozen(kw_only=True, eq=False, repr=False)
class CommandFamily(Record):
    """A command family, its owner and the module that answers it."""

    capability_id: CapabilityId
    module: str | None
    router: str | None


@attrs.frozen(kw_only=True, eq=False, repr=False)
class OwnedLane(Record):
    """A reviewer lane and the capability that declares it."""

    capability_id: CapabilityId
    lane: Lane


@attrs.frozen(kw_only=True, eq=False, repr=False)
class OwnedResolver(Record):
    """A task-content resolver and the capability that declares it."""

    capability_id: CapabilityId
    resolver: TaskContentResolver


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Membership(Record):
    """The install profiles that contain a capability, smallest first."""

    tier: str
    profiles: tuple[str, ...]
