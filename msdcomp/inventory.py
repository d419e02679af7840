"""The rows of a listing: every folder and every shipped capability, once each."""

from __future__ import annotations

import attrs

from msdcomp.activation import ConfigLayers, capability_states
from msdcomp.composition import Composition
from msdcomp.explanation import Verdict, verdict_of
from msdcomp.records import Record

__all__ = ["Row", "inventory"]


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Row(Record):
    """One capability or overlay folder.

    Attributes:
        capability_id: Its id, or the name of the folder.
        scope: `first-party`, `global` or `project`.
        verdict: What became of it.
        code: Why it was left out; empty otherwise.
        role, tier, version, title: Of the manifest; empty unless it is composed.
        reason: Why, in a sentence; empty for what is composed.
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


def inventory(
    composition: Composition, layers: ConfigLayers | None = None
) -> tuple[Row, ...]:
    """Return a row for everything, by id and scope.

    Args:
        composition: What was composed.
        layers: Configuration, for the `activationKey`; by default nothing is set.
    """
    states = capability_states(composition.registry, layers or ConfigLayers())
    rows = []
    for owner, manifest in composition.registry.capabilities.items():
        folder = composition.paths.get(owner)
        rows.append(
            Row(
                capability_id=owner,
                scope=folder.scope if folder else "first-party",
                verdict=Verdict.ACTIVE if states[owner] else Verdict.INACTIVE,
                role=manifest.role,
                tier=manifest.tier,
                version=manifest.version,
                title=manifest.title,
            )
        )
    for (scope, folder_name), warnings in composition.warnings.items():
        rows += [
            Row(
                capability_id=folder_name,
                scope=scope,
                verdict=verdict_of(warning),
                code=warning.code,
                reason=warning.reason,
            )
            for warning in warnings
            if scope != "set"
        ]
    rows += [
        Row(
            capability_id=owner,
            scope=folder.scope,
            verdict=Verdict.SKIPPED,
            code="set-build-failed",
            reason="every overlay was dropped, because the set cannot be built",
        )
        for owner, folder in composition.dropped.items()
    ]
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
