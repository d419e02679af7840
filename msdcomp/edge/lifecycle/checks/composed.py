"""Checks of what is composed here, as composing itself says it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from msdcomp.edge.ledger import LEDGER_NAME
from msdcomp.health import Finding, finding
from msdcomp.present.names import shown_name
from msdcomp.safetext import safe
from msdcomp.vocabulary import POINTS

if TYPE_CHECKING:
    from msdcomp.composition import Composition
    from msdcomp.edge.lifecycle.site import Site
    from msdcomp.gates import BlockedGate
    from msdcomp.verdict import IgnoredEntry

__all__ = ["check_composition", "check_ignored", "check_whole", "is_root"]

_WHOLE_SET = ("set", "*")


def check_composition(site: Site, composition: Composition) -> Iterator[Finding]:
    """Yield the overlays of a site that were left out, and their lost gates.

    The words are those that `msd compose` prints.
    """
    scope = site.scope.value
    for key in sorted(composition.warnings):
        for warning in composition.warnings[key]:
            own = (scope, site.path(warning.capability_id))
            if (warning.scope, warning.path) != own:
                continue
            yield finding(
                "left-out",
                safe(warning.reason, 600),
                warning.remedy,
                scope=scope,
                subject=shown_name(warning.capability_id, warning.code),
                cause=warning.code,
            )
    for point in POINTS:
        for gate in composition.blocked_gates.get(point, ()):
            if (gate.scope, gate.path) == (scope, site.path(gate.capability_id)):
                yield _lost(gate)


def _lost(gate: BlockedGate) -> Finding:
    advisory = gate.blocking is False
    weight = "advisory" if advisory else "blocking"
    if gate.blocking is None:
        weight = "possibly blocking"
    return finding(
        "advisory-gate-not-enforced" if advisory else "gate-not-enforced",
        f"its {weight} gate at {gate.point} is not enforced: {safe(gate.reason, 600)}",
        gate.remedy,
        scope=gate.scope,
        subject=shown_name(gate.capability_id, gate.code),
        cause=gate.code,
    )


def check_whole(composition: Composition) -> Iterator[Finding]:
    """Yield why no overlay at all takes part, where that is so."""
    for warning in composition.warnings.get(_WHOLE_SET, ()):
        yield finding(
            "nothing-composed",
            safe(warning.reason, 600),
            warning.remedy,
            cause=warning.code,
        )


def is_root(entry: IgnoredEntry) -> bool:
    """Tell whether what is ignored is a root itself, or a part of it, and no entry."""
    return "/" in entry.name


def check_ignored(site: Site, composition: Composition) -> Iterator[Finding]:
    """Yield entries of a root that are no overlays, and a root that is none."""
    scope = site.scope.value
    for entry in composition.ignored:
        if entry.scope != scope or entry.name == LEDGER_NAME:
            continue
        if is_root(entry):
            yield finding(
                "root-unreadable",
                f"not all that is installed here can be seen: {safe(entry.reason)}",
                "look at the folder, and at who may read it",
                scope=scope,
                subject=safe(entry.name),
            )
        else:
            yield finding(
                "not-an-overlay",
                safe(entry.reason),
                scope=scope,
                subject=safe(entry.name),
            )
