"""One verdict about one capability, and the way to it.

Every verb that speaks about a capability reads it from here, so none of them can tell
another story than the composition did.
Source: docs/reference/command-line.md, "msd explain".
"""

from __future__ import annotations

import difflib
import enum

import attrs

from msdcomp.activation import ConfigLayers
from msdcomp.composition import Composition
from msdcomp.gates import BlockedGate
from msdcomp.manifest import CapabilityId, Manifest
from msdcomp.records import Record
from msdcomp.state import State, state_of
from msdcomp.surface import Surface
from msdcomp.verdict import BundlePath, SkipWarning

__all__ = [
    "GATES",
    "Copy",
    "Explanation",
    "Passage",
    "Verdict",
    "explain",
    "verdict_of",
]


class Verdict(enum.StrEnum):
    """What a capability is, here and now."""

    ACTIVE = "active"
    #: Composed, but not on the surface, or its `activationKey` is not on.
    INACTIVE = "inactive"
    SKIPPED = "skipped"
    #: Another overlay of the same id was accepted before it.
    SHADOWED = "shadowed"
    IGNORED = "ignored"
    NOT_FOUND = "not found"


#: The gates in the order they are asked, with the codes a candidate stops at there.
GATES: tuple[tuple[str, frozenset[str]], ...] = (
    ("a folder of its own", frozenset({"linked-folder"})),
    ("no install in flight", frozenset({"pending"})),
    (
        "consent",
        frozenset({"unconsented", "consent-changed", "consent-unreadable"}),
    ),
    ("a readable manifest", frozenset({"unreadable", "not-json"})),
    ("an id that is not reserved", frozenset({"reserved-prefix"})),
    ("a valid manifest", frozenset({"invalid-manifest"})),
    ("names of its own", frozenset({"shadowed", "collision"})),
    ("a host it is made for", frozenset({"incompatible-engine"})),
    ("readable fragments", frozenset({"bad-fragment"})),
    ("a fit with the others", frozenset({"invariant", "internal-error"})),
    ("a set that can be built", frozenset({"set-build-failed"})),
)


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Passage(Record):
    """One gate as one candidate met it: passed, stopped, or never asked (None)."""

    gate: str
    passed: bool | None


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Copy(Record):
    """One folder of that id.

    Attributes:
        verdict: What became of it.
        scope: `first-party`, `global` or `project`.
        path: The folder, relative to its scope; empty for the first party.
        passages: The gates in order; empty for the first party and for what is ignored.
        warning: Why it was skipped, or None.
        causes: Why what it depended on was skipped, nearest first, ending at the root.
        gates: Its gates that are therefore not enforced.
    """

    verdict: Verdict
    scope: str
    path: str = ""
    reason: str = ""
    passages: tuple[Passage, ...] = ()
    warning: SkipWarning | None = None
    causes: tuple[SkipWarning, ...] = ()
    gates: tuple[BlockedGate, ...] = ()


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Explanation(Record):
    """The verdict about an id; `copies` has its folders, the one that counts first.

    Attributes:
        manifest: Of the capability in the registry, or None.
        state: How far the one in the registry got; None when there is none.
        surface: The surface it was found with.
        suggestion: An id close to one that was not found.
    """

    capability_id: str
    verdict: Verdict
    copies: tuple[Copy, ...] = ()
    manifest: Manifest | None = attrs.field(default=None, repr=False)
    state: State | None = None
    surface: Surface = attrs.field(factory=Surface, repr=False)
    suggestion: str | None = None


def explain(
    composition: Composition,
    capability_id: str,
    layers: ConfigLayers | None = None,
    surface: Surface | None = None,
) -> Explanation:
    """Return the verdict about an id, and the chain of gates that led to it.

    Args:
        composition: What was composed.
        capability_id: Any text.
        layers: Configuration, for the `activationKey`; by default nothing is set.
        surface: The surface; by default everything is on it.
    """
    registry = composition.registry
    owner = CapabilityId(capability_id)
    copies: list[Copy] = []
    manifest = registry.capabilities.get(owner)
    state = None
    if manifest is not None:
        state = state_of(composition, manifest, layers, surface)
        verdict = Verdict.ACTIVE if state.active else Verdict.INACTIVE
        copies.append(_composed(verdict, composition.paths.get(owner)))
    # What was accepted and went with the set counts before a copy that it shadowed.
    copies += [
        _fallen(composition, path)
        for dropped, path in sorted(composition.dropped.items())
        if dropped == capability_id
    ]
    copies += [
        _skipped(composition, warning)
        for key in sorted(composition.warnings)
        for warning in composition.warnings[key]
        if warning.capability_id == capability_id
    ]
    copies += [
        Copy(verdict=Verdict.IGNORED, scope=entry.scope, reason=entry.reason)
        for entry in composition.ignored
        if entry.name == capability_id
    ]
    if copies:
        return Explanation(
            capability_id=capability_id,
            verdict=copies[0].verdict,
            copies=tuple(copies),
            manifest=manifest,
            state=state,
            surface=surface or Surface(),
        )
    known = {*registry.capabilities, *(folder for _, folder in composition.warnings)}
    close = difflib.get_close_matches(capability_id[:100], sorted(known), 1, 0.7)
    return Explanation(
        capability_id=capability_id,
        verdict=Verdict.NOT_FOUND,
        suggestion=close[0] if close else None,
    )


def verdict_of(warning: SkipWarning) -> Verdict:
    """Return what a candidate with a warning counts as."""
    return Verdict.SHADOWED if warning.code == "shadowed" else Verdict.SKIPPED


def _composed(verdict: Verdict, path: BundlePath | None) -> Copy:
    if path is None:
        return Copy(verdict=verdict, scope="first-party")
    passages = tuple(Passage(gate=gate, passed=True) for gate, _ in GATES)
    return Copy(verdict=verdict, scope=path.scope, path=path.path, passages=passages)


def _skipped(composition: Composition, warning: SkipWarning) -> Copy:
    return Copy(
        verdict=verdict_of(warning),
        scope=warning.scope,
        path=warning.path,
        reason=warning.reason,
        passages=passages(warning.code),
        warning=warning,
        causes=_causes(composition, warning),
        gates=_lost(composition, warning.scope, warning.capability_id),
    )


def _fallen(composition: Composition, path: BundlePath) -> Copy:
    """Return an overlay that was accepted and went with the whole set."""
    warning = composition.warnings["set", "*"][0]
    return Copy(
        verdict=Verdict.SKIPPED,
        scope=path.scope,
        path=path.path,
        reason=warning.reason,
        passages=passages(warning.code),
        warning=warning,
        gates=_lost(composition, path.scope, path.path.rpartition("/")[2]),
    )


def _lost(
    composition: Composition, scope: str, capability_id: str
) -> tuple[BlockedGate, ...]:
    return tuple(
        gate
        for point in sorted(composition.blocked_gates)
        for gate in composition.blocked_gates[point]
        if (gate.scope, gate.capability_id) == (scope, capability_id)
    )


def passages(code: str) -> tuple[Passage, ...]:
    """Return the gates as a candidate that stopped with a code met them."""
    met: list[Passage] = []
    stopped = False
    for gate, codes in GATES:
        if stopped:
            met.append(Passage(gate=gate, passed=None))
        else:
            stopped = code in codes
            met.append(Passage(gate=gate, passed=not stopped))
    return tuple(met)


def _causes(composition: Composition, warning: SkipWarning) -> tuple[SkipWarning, ...]:
    """Follow the first cause of each skip to the root; a circle is followed once."""
    chain: list[SkipWarning] = []
    seen = {warning.key}
    while warning.because and warning.because[0] not in seen:
        key = warning.because[0]
        seen.add(key)
        found = composition.warnings.get(key)
        if not found:
            break
        warning = found[0]
        chain.append(warning)
    return tuple(chain)
