"""The gates a skipped candidate takes with it.

Honest in both directions: a gate is never lost by corrupting, editing or shadowing its
manifest, and none is reported that an accepted overlay of the same id enforces.
Source: docs/explanation/composition.md, "The one place where a skip must be loud".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from toolz import groupby

from msdcomp.gates import BlockedGate, DeclaredGate
from msdcomp.scope import Consent, Scope

if TYPE_CHECKING:
    from msdcomp.candidate import Candidate
    from msdcomp.host import HostContract
    from msdcomp.verdict import SkipWarning

__all__ = ["MAX_CONDITIONS", "blocked_gates", "lost_gates"]

#: Most keys kept for the gates that one overlay has at one point.
MAX_CONDITIONS = 32


def lost_gates(
    candidate: Candidate, enforced: Candidate | None = None
) -> tuple[DeclaredGate, ...]:
    """Return the gates a candidate is known to declare, as far as anything tells.

    The manifest speaks for itself when it is strict JSON. The ledger and the consent
    record speak where it is not, and the consent record also where the content is no
    longer the one that was agreed to.

    Args:
        candidate: Skipped, for whatever reason.
        enforced: The accepted overlay that shadows it; the gates both declare alike
            are not lost.
    """
    decoded = candidate.decoded
    gates = list(decoded.gates) if decoded is not None else []
    stored: tuple[str, ...] = ()
    if decoded is None or not decoded.is_object:
        stored = (*candidate.stored_gates, *candidate.consented_gates)
    elif candidate.consent is Consent.CHANGED:
        stored = candidate.consented_gates
    gates += [DeclaredGate(point=point) for point in stored]
    kept = enforced.decoded.gates if enforced and enforced.decoded else ()
    return tuple(gate for gate in gates if gate not in kept)


def blocked_gates(
    candidate: Candidate,
    warning: SkipWarning,
    contract: HostContract,
    enforced: Candidate | None = None,
) -> tuple[BlockedGate, ...]:
    """Return one record for every valid point where a gate is lost, in loop order."""
    by_point: dict[str, list[DeclaredGate]] = groupby(
        lambda gate: gate.point, lost_gates(candidate, enforced)
    )
    quotable = (
        candidate.scope is not Scope.PROJECT or candidate.consent is Consent.MATCHES
    )
    return tuple(
        _blocked(point, by_point[point], warning, quotable=quotable)
        for point in contract.points
        if point in by_point
    )


def _blocked(
    point: str, gates: list[DeclaredGate], warning: SkipWarning, *, quotable: bool
) -> BlockedGate:
    told = [gate.blocking for gate in gates]
    conditions = [gate.condition for gate in gates]
    known = [condition for condition in conditions if condition is not None]
    keys = tuple(dict.fromkeys(known))
    # One gate that is always on makes the point's loss unconditional, and so do more
    # keys than anybody would look up.
    clear = len(known) == len(gates) and len(keys) <= MAX_CONDITIONS
    return BlockedGate(
        point=point,
        capability_id=warning.capability_id,
        scope=warning.scope,
        path=warning.path,
        code=warning.code,
        reason=warning.reason,
        remedy=warning.remedy,
        blocking=True if True in told else (None if None in told else False),
        quotable=quotable,
        conditions=keys if clear else (),
    )
