"""The result of composing: what is in, what is not, which gate is not enforced."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import attrs
from pyrsistent import PMap, pmap

from msdcomp.manifest import CapabilityId
from msdcomp.records import Record
from msdcomp.registry import Registry

if TYPE_CHECKING:
    # Where nothing is installed, none of these is ever made.
    from msdcomp.diagnostics import Problem
    from msdcomp.gates import BlockedGate
    from msdcomp.making import Making
    from msdcomp.verdict import BundlePath, IgnoredEntry, SkipWarning

__all__ = ["Composition"]


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Composition(Record):
    """A registry with everything that was decided on the way to it.

    Unpacks as `registry, warnings, blocked_gates`.

    Attributes:
        registry: The composed registry; with nothing accepted, the first-party object
            itself.
        warnings: `(scope, id)` -> why that candidate is not in it. A set that could not
            be built is under `("set", "*")`.
        blocked_gates: Point -> gates of skipped candidates there, by scope and id.
        accepted: Ids of the overlays that joined, in the order they were decided.
        paths: Id of an accepted overlay -> its folder.
        dropped: Id of an overlay that a fallback took along -> its folder.
        diagnostics: `(scope, id)` of an accepted overlay -> notices about it.
        command_roots: Id -> folder that command modules may be loaded from: accepted,
            recorded as installed, with command families.
        ignored: Entries of the overlay roots that are no candidates.
        making: How it came about, for `recompose`; no part of its value.
    """

    registry: Registry
    warnings: PMap[tuple[str, str], tuple[SkipWarning, ...]] = attrs.field(factory=pmap)
    blocked_gates: PMap[str, tuple[BlockedGate, ...]] = attrs.field(factory=pmap)
    accepted: tuple[CapabilityId, ...] = ()
    paths: PMap[CapabilityId, BundlePath] = attrs.field(factory=pmap)
    dropped: PMap[CapabilityId, BundlePath] = attrs.field(factory=pmap)
    diagnostics: PMap[tuple[str, str], tuple[Problem, ...]] = attrs.field(factory=pmap)
    command_roots: PMap[CapabilityId, BundlePath] = attrs.field(factory=pmap)
    ignored: tuple[IgnoredEntry, ...] = ()
    making: Making | None = attrs.field(default=None, eq=False, repr=False)

    def __iter__(
        self,
    ) -> Iterator[
        Registry
        | PMap[tuple[str, str], tuple[SkipWarning, ...]]
        | PMap[str, tuple[BlockedGate, ...]]
    ]:
        """Yield `registry`, `warnings`, `blocked_gates`."""
        yield self.registry
        yield self.warnings
        yield self.blocked_gates

    def __repr__(self) -> str:
        """Show the counts only."""
        return (
            f"<Composition of {len(self.registry.capabilities)} capabilities: "
            f"{len(self.accepted)} accepted, {len(self.warnings)} skipped>"
        )

    @property
    def incompatible_gate_cap_ids(self) -> tuple[str, ...]:
        """Ids of skipped candidates with a gate that is not enforced, sorted."""
        gates = (gate for point in self.blocked_gates.values() for gate in point)
        return tuple(sorted({gate.capability_id for gate in gates}))

    @property
    def fell_back(self) -> bool:
        """Tell whether every overlay was dropped because the set could not be built."""
        return ("set", "*") in self.warnings

    def to_wire(self) -> dict[str, Any]:
        """Return the JSON shape that a host reads and a snapshot pins.

        The data is fresh: changing it changes nothing here.
        Source: docs/reference/wire-format.md.
        """
        # Imported on use: resolving a loop point needs none of it.
        from msdcomp import wireform  # noqa: PLC0415

        overlay = wireform.overlay_wire(
            warnings=(w for key in sorted(self.warnings) for w in self.warnings[key]),
            diagnostics=self.diagnostics,
            blocked_gates=self.blocked_gates,
            gate_ids=self.incompatible_gate_cap_ids,
            command_roots=self.command_roots,
            accepted=self.accepted,
            paths=self.paths,
            ignored=self.ignored,
        )
        wire = wireform.registry_wire(self.registry)
        if overlay is not None:
            wire["_overlay"] = overlay
        return wire

    def digest(self) -> str:
        """Return the SHA-256, in hexadecimal, of the canonical form of `to_wire()`."""
        from msdcomp import wireform  # noqa: PLC0415

        return wireform.digest(self.to_wire())
