"""Which capabilities of a registry a user has on the surface, and which switch decided.

A profile is derived and never listed by hand: the capabilities of its tier and below,
and all that those require. Over it lie the user's own choices, and over both the host
runtime, which a capability may not be made for. The first switch that is off decides.
Source: docs/reference/surface.md.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Protocol

import attrs
from pyrsistent import PMap, pmap

from msdcomp.records import Record
from msdcomp.vocabulary import TIERS

if TYPE_CHECKING:
    from msdcomp.manifest import Manifest

__all__ = [
    "DEFAULT_PROFILE",
    "PROFILES",
    "Choice",
    "Standing",
    "Surface",
    "Switch",
    "profile_members",
    "profiles_of",
    "runs_in",
    "surface",
]

#: From the smallest to the one that holds everything.
PROFILES: tuple[str, ...] = tuple(TIERS)

#: Where nobody has chosen.
DEFAULT_PROFILE = PROFILES[-1]


class Switch(enum.StrEnum):
    """What decides whether a capability is on the surface."""

    #: The profile, by tier or because something in it requires the capability.
    PROFILE = "profile"
    #: The user has enabled it beyond the profile.
    ENABLED = "enabled"
    #: The user has disabled it.
    DISABLED = "disabled"
    #: The user has taken a skill of it away.
    SKILL = "skill removed"
    #: It is not made for the host runtime.
    RUNTIME = "runtime"


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Choice(Record):
    """What the user has chosen, as `.msd-surface.json` keeps it.

    Attributes:
        profiles: Names of profiles; the largest counts, and none at all is `full`.
        enabled: Capabilities beyond the profile.
        disabled: Capabilities, or clusters of the host, that are held back.
        added: Skills beyond the profile.
        removed: Skills that are held back.
    """

    profiles: tuple[str, ...] = (DEFAULT_PROFILE,)
    enabled: frozenset[str] = frozenset()
    disabled: frozenset[str] = frozenset()
    added: frozenset[str] = frozenset()
    removed: frozenset[str] = frozenset()

    @property
    def profile(self) -> str:
        """The profile that counts: the largest that was named."""
        named = [name for name in PROFILES if name in self.profiles]
        return named[-1] if named else DEFAULT_PROFILE

    def names(self) -> frozenset[str]:
        """Return every capability or cluster that is named, for or against."""
        return self.enabled | self.disabled


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Standing(Record):
    """Whether a capability is on the surface.

    Attributes:
        on: Whether it is.
        switch: What decided.
        because: For a dependency, the capability that brought it there, else empty;
            for a skill that was taken away, that skill.
    """

    on: bool
    switch: Switch
    because: str = ""


class _Composed(Protocol):
    @property
    def capabilities(self) -> Mapping[Any, Manifest]: ...


def profile_members(registry: _Composed, profile: str) -> PMap[str, str]:
    """Return the capabilities of a profile.

    Args:
        registry: A composed registry.
        profile: One of `PROFILES`; any other text has no members.

    Returns:
        Id -> the member that brought it there by requiring it, or an empty text for one
        that is there by its own tier.
    """
    if profile not in PROFILES:
        return pmap()
    rank = PROFILES.index(profile)
    own = (
        owner
        for owner, manifest in registry.capabilities.items()
        if PROFILES.index(manifest.tier) <= rank
    )
    return pmap(_closed(registry, own))


def profiles_of(registry: _Composed) -> PMap[str, tuple[str, ...]]:
    """Return, for every capability, the profiles that it is in, smallest first."""
    members = [(name, profile_members(registry, name)) for name in PROFILES]
    return pmap(
        {
            owner: tuple(name for name, held in members if owner in held)
            for owner in registry.capabilities
        }
    )


def _closed(registry: _Composed, ids: Iterable[str]) -> dict[str, str]:
    """Return ids with all they require, each with what brought it there."""
    found = dict.fromkeys(sorted(ids), "")
    left = list(found)
    for owner in left:  # grows on the way
        manifest = registry.capabilities.get(owner)
        for needed in manifest.requires if manifest is not None else ():
            if needed not in found and needed in registry.capabilities:
                found[needed] = owner
                left.append(needed)
    return found


def runs_in(manifest: Manifest, runtime: str | None) -> bool:
    """Tell whether a capability is made for a host runtime; None is any.

    What is no feature says nothing about runtimes, and is made for all of them.
    """
    if runtime is None or manifest.feature is None:
        return True
    compat = manifest.feature.runtime_compat
    if runtime in compat.unsupported:
        return False
    return "*" in compat.supported or runtime in compat.supported


def surface(
    registry: _Composed, choice: Choice | None = None, runtime: str | None = None
) -> PMap[str, Standing]:
    """Return where every capability of a registry stands.

    Args:
        registry: A composed registry; overlays count as what ships does.
        choice: What the user has chosen; by default nothing, which is everything.
        runtime: Id of the host runtime to bound it by; None for no bound.

    Cost: proportional to the registry.
    """
    chosen = choice or Choice()
    members = profile_members(registry, chosen.profile)
    extra = _closed(registry, _wanted(registry, chosen))
    return pmap(
        {
            owner: _standing(manifest, chosen, runtime, members, extra)
            for owner, manifest in registry.capabilities.items()
        }
    )


def _wanted(registry: _Composed, choice: Choice) -> Iterator[str]:
    """Yield the capabilities that are enabled, by name or by one of their skills."""
    for owner, manifest in registry.capabilities.items():
        skills = manifest.feature.skills if manifest.feature is not None else ()
        if owner in choice.enabled or not choice.added.isdisjoint(skills):
            yield owner


def _standing(
    manifest: Manifest,
    choice: Choice,
    runtime: str | None,
    members: Mapping[str, str],
    extra: Mapping[str, str],
) -> Standing:
    owner = manifest.id
    if not runs_in(manifest, runtime):
        return Standing(on=False, switch=Switch.RUNTIME)
    if owner in choice.disabled:
        return Standing(on=False, switch=Switch.DISABLED)
    skills = manifest.feature.skills if manifest.feature is not None else ()
    gone = next((skill for skill in sorted(skills) if skill in choice.removed), None)
    if gone is not None:
        return Standing(on=False, switch=Switch.SKILL, because=gone)
    if owner in members:
        return Standing(on=True, switch=Switch.PROFILE, because=members[owner])
    if owner in extra:
        return Standing(on=True, switch=Switch.ENABLED, because=extra[owner])
    return Standing(on=False, switch=Switch.PROFILE)


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Surface(Record):
    """The surface at hand.

    Attributes:
        standings: Id -> where it stands; one that is missing is on.
        choice: What was chosen; when nobody knows, what is taken where nobody chose.
        runtime: Host runtime it is bounded by; None for no bound.
        file: File that says what was chosen, as it is shown; empty when there is none.
        unreadable: Why nobody knows what was chosen; empty when that is known.
    """

    standings: Mapping[str, Standing] = attrs.field(factory=pmap)
    choice: Choice = attrs.field(factory=Choice)
    runtime: str | None = None
    file: str = ""
    unreadable: str = ""

    @property
    def profile(self) -> str:
        """The profile that counts."""
        return self.choice.profile

    def standing(self, capability_id: str) -> Standing | None:
        """Return where a capability stands; None for a surface without standings.

        None as well if nobody knows, which is so for what is made for the runtime at
        hand while the choices cannot be read.
        """
        found = self.standings.get(capability_id)
        known = found is not None and found.switch is Switch.RUNTIME
        return None if self.unreadable and not known else found

    def on(self, capability_id: str) -> bool | None:
        """Tell whether a capability is on the surface; None if nobody knows."""
        found = self.standing(capability_id)
        if found is not None:
            return found.on
        return None if self.unreadable else True
