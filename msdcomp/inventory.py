"""The rows of a listing: every folder and every shipped capability, once each."""

from __future__ import annotations

import attrs

from msdcomp.activation import ConfigLayers
from msdcomp.composition import Composition
from msdcomp.explanation import Verdict, verdict_of
from msdcomp.manifest import CapabilityId
from msdcomp.records import Record
from msdcomp.state import State, states
from msdcomp.surface import Surface

__all__ = ["Row", "inventory"]

_DROPPED = "every overlay was dropped, because the set cannot be built"


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Row(Record):
    """One capability or overlay folder.

    Attributes:
        capability_id: Its id, or the name of the folder.
        scope: `first-party`, `global` or `project`.
        verdict: What became of it.
        code: What stopped it; empty for an active one and for what is ignored.
        role, tier, version, title: Of the manifest; empty unless it is composed.
        reason: Why, in a sentence; empty for what is composed.
        stage: The stage that stops it, of `msdcomp.state.Stage`; empty for an active
            one and for what is ignored.
    """

    capability_id: str
    scope: str
    verdict: Verdict
    code: str = ""
    role: str = ""
    tier: str = ""
    version: str = ""
    title: str = ""
    reason: str = ""
    stage: str = ""


def inventory(
    composition: Composition,
    layers: ConfigLayers | None = None,
    surface: Surface | None = None,
) -> tuple[Row, ...]:
    """Return a row for everything, by id and scope.

    Args:
        composition: What was composed.
        layers: Configuration, for the `activationKey`; by default nothing is set.
        surface: The surface; by default everything is on it.
    """
    rows = [_row(composition, state) for state in states(composition, layers, surface)]
    rows += [
        Row(
            capability_id=entry.name,
            scope=entry.scope,
            verdict=Verdict.IGNORED,
            reason=entry.reason,
        )
        for entry in composition.ignored
    ]
    return tuple(sorted(rows, key=lambda row: (row.capability_id, row.scope)))


def _row(composition: Composition, state: State) -> Row:
    stage = state.stopped.value if state.stopped is not None else ""
    if state.warning is not None:
        dropped = state.warning.scope == "set"
        return Row(
            capability_id=state.capability_id,
            scope=state.scope,
            verdict=verdict_of(state.warning),
            code=state.code,
            reason=_DROPPED if dropped else state.warning.reason,
            stage=stage,
        )
    manifest = composition.registry.capabilities[CapabilityId(state.capability_id)]
    return Row(
        capability_id=state.capability_id,
        scope=state.scope,
        verdict=Verdict.ACTIVE if state.active else Verdict.INACTIVE,
        code=state.code,
        role=manifest.role,
        tier=manifest.tier,
        version=manifest.version,
        title=manifest.title,
        stage=stage,
    )
