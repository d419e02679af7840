"""The cross-capability invariants, asked of one capability at a time (gate 9).

Every check looks only at what the candidate declares and looks the rest up. What the
other candidates are doing meanwhile comes in as a `Outlook`, so that a dependency that
is installed but was skipped is never called nonexistent.
Source: docs/explanation/composition.md, "Cross-capability invariants".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain, islice
from typing import TYPE_CHECKING, Protocol

import attrs

from msdcomp.diagnostics import MAX_PROBLEMS, Problem, pointer
from msdcomp.flow import MAX_HOPS, Flow, shortened
from msdcomp.invariants import Draft, duplicates, quoted, steps
from msdcomp.manifest import Manifest
from msdcomp.records import Record
from msdcomp.rules.contract import check_contract
from msdcomp.safetext import safe
from msdcomp.spelling import MAX_OPTIONS, closest
from msdcomp.vocabulary import TIERS

if TYPE_CHECKING:
    from msdcomp.host import HostContract

__all__ = ["NobodyElse", "Outlook", "violations"]


class Outlook(Protocol):
    """What is known of capabilities that are not members (yet)."""

    def fate(self, capability_id: str) -> str | None:
        """Say in a clause why an installed capability is not a member, or None."""

    def ring(self, one: str, other: str) -> tuple[str, ...]:
        """Return the ids along a `requires` cycle when two lie on the same knot."""

    def may_be_runtime(self, capability_id: str) -> bool:
        """Tell whether an installed capability describes a runtime, for all we know."""

    def makers(self, artefact: str) -> Mapping[str, int]:
        """Return who declares a step producing an artefact, and its first place."""

    def keys(self, capability_id: str) -> tuple[tuple[str, str], ...]:
        """Return `(scope, id)` of the skipped candidates of that id."""

    def file(self, capability_id: str) -> str | None:
        """Return the manifest of an accepted overlay; None for the first party's."""


@attrs.frozen(eq=False, repr=False)
class NobodyElse(Record):
    """The outlook of a capability that is judged alone."""

    def fate(self, capability_id: str) -> str | None:
        """Know of nobody."""
        del capability_id
        return None

    def ring(self, one: str, other: str) -> tuple[str, ...]:
        """Know of no cycle."""
        del one, other
        return ()

    def may_be_runtime(self, capability_id: str) -> bool:
        """Know of nobody."""
        del capability_id
        return False

    def makers(self, artefact: str) -> Mapping[str, int]:
        """Know of no producer."""
        del artefact
        return {}

    def keys(self, capability_id: str) -> tuple[tuple[str, str], ...]:
        """Know of nobody skipped."""
        del capability_id
        return ()

    def file(self, capability_id: str) -> str | None:
        """Know of no file."""
        del capability_id
        return None


def violations(
    draft: Draft,
    manifest: Manifest,
    contract: HostContract,
    flow: Flow,
    outlook: Outlook,
) -> tuple[Problem, ...]:
    """Return every invariant that adding a manifest to a set would break.

    Args:
        draft: The members so far; without this manifest.
        manifest: Structurally valid.
        contract: The points, roles and artefacts of the host.
        flow: Data flow among the first party's hooks.
        outlook: What became of the other candidates.
    """
    found = chain(
        check_contract(manifest, contract),
        duplicates(draft, manifest),
        _requires(draft, manifest, outlook),
        _runtimes(draft, manifest, outlook),
        _produces(draft, manifest, outlook),
        _consumes(draft, manifest, contract, outlook),
        flow.circles(manifest),
    )
    return tuple(islice(found, MAX_PROBLEMS))


def _requires(draft: Draft, manifest: Manifest, outlook: Outlook) -> Iterator[Problem]:
    for place, needed in enumerate(manifest.requires):
        path = pointer("requires", place)
        name = quoted(needed)
        tier = draft.tier(needed)
        if needed == manifest.id:
            yield Problem(
                code="requires-cycle",
                path=path,
                message=f"{name} requires itself",
                hint="Drop the entry.",
            )
        elif tier is not None:
            if TIERS.index(tier) > TIERS.index(manifest.tier):
                yield Problem(
                    code="tier-violation",
                    path=path,
                    message=f"a capability of tier {manifest.tier} may not require "
                    f"{name}, which is of tier {tier}",
                    hint=f"Raise tier to {tier}, or require something smaller.",
                )
        elif ring := outlook.ring(manifest.id, needed):
            way = " requires ".join((*shortened(ring, quoted), quoted(ring[0])))
            yield Problem(
                code="requires-cycle",
                path=path,
                message=f"capabilities require each other in a circle: {way}",
                hint="Drop one of these entries of requires.",
                # Every member tells the whole circle only while that is short.
                about=ring if len(ring) <= MAX_HOPS else (needed,),
            )
        elif fate := outlook.fate(needed):
            yield Problem(
                code="requires-not-loaded",
                path=path,
                message=f"requires {name}, which is installed but {fate}",
                hint=f"Mend or remove {name} first.",
                about=(needed,),
            )
        else:
            yield Problem(
                code="requires-missing",
                path=path,
                message=f"requires {name}, which is not installed",
                hint=f"Install {name}, or drop the entry.",
            )


def _runtimes(draft: Draft, manifest: Manifest, outlook: Outlook) -> Iterator[Problem]:
    compat = manifest.feature.runtime_compat if manifest.feature else None
    if compat is None or all(map(draft.is_runtime, compat.named)):
        return
    places: list[tuple[str, tuple[str, str | int]]] = [
        *((r, ("supported", i)) for i, r in enumerate(compat.supported)),
        *((r, ("unsupported", i)) for i, r in enumerate(compat.unsupported)),
        *((r, ("notes", r)) for r in sorted(compat.notes)),
    ]
    told = {"*"}
    for runtime, where in places:
        if runtime in told or draft.is_runtime(runtime):
            continue
        told.add(runtime)
        # A feature of that id is no runtime, wherever it is.
        fate = outlook.fate(runtime) if outlook.may_be_runtime(runtime) else None
        why = (
            f"which is installed but {fate}"
            if fate
            else "which no capability describes"
        )
        yield Problem(
            code="unknown-runtime",
            path=pointer("runtimeCompat", *where),
            message=f"names the runtime {quoted(runtime)}, {why}",
            hint="Name runtimes by the id of the capability that describes them.",
            about=(runtime,) if fate else (),
        )


def _produces(draft: Draft, manifest: Manifest, outlook: Outlook) -> Iterator[Problem]:
    own: dict[tuple[str, str], int] = {}
    for index, step in enumerate(steps(manifest)):
        for place, artefact in enumerate(step.produces):
            key = (step.point, artefact)
            other = draft.producer(*key)
            # One step listing an artefact twice counts once.
            if other is None and own.setdefault(key, index) == index:
                continue
            rival = f"step {own.get(key)} of the same capability"
            if other is not None:
                file = outlook.file(other.capability_id)
                lies = f"in {safe(file)}" if file else "which is shipped with the host"
                rival = f"step {other.step} of {quoted(other.capability_id)}, {lies}"
            yield Problem(
                code="artefact-produced-twice",
                path=pointer("steps", index, "produces", place),
                message=f"step {index} produces {quoted(artefact)} at {step.point}, as "
                f"does {rival}",
                hint="Rename the artefact, or produce it at another point.",
            )


def _consumes(
    draft: Draft, manifest: Manifest, contract: HostContract, outlook: Outlook
) -> Iterator[Problem]:
    supply: _Supply | None = None
    for index, step in enumerate(steps(manifest)):
        for place, artefact in enumerate(step.consumes):
            if contract.gives(artefact, step.point):
                continue
            supply = supply or _supply(draft, manifest, contract, outlook)
            if not supply.meets(step.point, artefact, index):
                path = pointer("steps", index, "consumes", place)
                yield supply.unmet(step.point, artefact, index, path)


def _supply(
    draft: Draft, manifest: Manifest, contract: HostContract, outlook: Outlook
) -> _Supply:
    makers: dict[str, list[tuple[int, int]]] = {}
    for index, step in enumerate(steps(manifest)):
        for artefact in frozenset(step.produces):
            found = makers.setdefault(artefact, [])
            found.append((contract.place(step.point), index))
            # Whoever asks is one of the two at most, so the other one answers.
            found.sort()
            del found[2:]
    return _Supply(draft, contract, outlook, manifest.id, makers)


@attrs.frozen(eq=False, repr=False)
class _Supply(Record):
    """Where a step can get an artefact from: the host, the members, its own siblings.

    `makers` are the capability's own steps, artefact -> the first two of them, each
    `(place in the loop, index)`.
    """

    draft: Draft
    contract: HostContract
    outlook: Outlook
    capability_id: str
    makers: Mapping[str, list[tuple[int, int]]]

    def first(self, artefact: str, index: int) -> int | None:
        """Return the place where another step first produces an artefact."""
        member = self.draft.first_made(artefact)
        own = [at for at, maker in self.makers.get(artefact, ()) if maker != index]
        return min((at for at in (member, *own) if at is not None), default=None)

    def meets(self, point: str, artefact: str, index: int) -> bool:
        """Tell whether another step has made an artefact when a point is reached."""
        first = self.first(artefact, index)
        return first is not None and first <= self.contract.place(point)

    def unmet(self, point: str, artefact: str, index: int, path: str) -> Problem:
        """Say why nothing gives a step what it consumes, as precisely as is known."""
        name = quoted(artefact)
        start = f"consumes {name} at {point}, "
        here = self.contract.place(point)
        makers = self.outlook.makers(artefact)
        for maker, place in makers.items():
            fate = self.outlook.fate(maker) if maker != self.capability_id else None
            if fate and place <= here:
                return Problem(
                    code="consumes-not-loaded",
                    path=path,
                    message=f"{start}which {quoted(maker)} would produce, but that "
                    f"{fate}",
                    hint=f"Mend or remove {quoted(maker)} first.",
                    about=(maker,),
                )
        if later := self._later(artefact, index):
            return Problem(
                code="consumes-produced-later",
                path=path,
                message=f"{start}but it is first there at {later}",
                hint=f"Move the step to {later} or after.",
            )
        if artefact in self.makers:
            return Problem(
                code="consumes-never-produced",
                path=path,
                message=f"{start}which only the step itself produces",
                hint="Drop the artefact from consumes.",
            )
        meant = self._meant(artefact)
        return Problem(
            code="consumes-never-produced",
            path=path,
            message=f"{start}which neither the host nor any step produces",
            hint=f"Produce it in a step at {point} or before, or drop it."
            + (f" Did you mean {quoted(meant)}?" if meant else ""),
        )

    def _later(self, artefact: str, index: int) -> str | None:
        first = self.first(artefact, index)
        points = self.contract.points
        if first is not None:
            return points[first]
        return next((p for p in points if self.contract.gives(artefact, p)), None)

    def _meant(self, artefact: str) -> str | None:
        """Return what was probably meant; the set itself is not searched for it."""
        if spelling := self.draft.spelling(artefact):
            return spelling
        if len(self.makers) > MAX_OPTIONS:
            return None
        return closest(artefact, {*self.contract.artefacts(), *self.makers})
