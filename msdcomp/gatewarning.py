"""The warning about a gate that is missing because its capability was left out.

A safety gate that is not there lets the loop go on, so an operator has to hear of it
at every pass, with the reason and the command that settles it.
Source: docs/explanation/composition.md, "The one place where a skip must be loud".
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import attrs

from msdcomp.activation import ConfigLayers, Origin, Schema, lookup
from msdcomp.records import Record
from msdcomp.safetext import is_capability_id, safe

if TYPE_CHECKING:
    from collections.abc import Iterable

    from msdcomp.gates import BlockedGate, GateCondition

__all__ = ["PREFIX", "GateWarning", "gate_warnings"]

#: How every warning line on stderr starts.
PREFIX = "msd: warning: "

_NO_REASON = "no reason was recorded"
_KINDS = {True: "blocking", False: "advisory", None: "possibly blocking"}


@attrs.frozen(kw_only=True, eq=False, repr=False)
class GateWarning(Record):
    """One gate that is not enforced; every text is safe to print and on one line.

    Attributes:
        capability_id: The capability that was left out; None when what it calls
            itself is no id, and then no command and no path name it.
        point: The loop point.
        reason: Why it was left out; never empty.
        blocking: Whether the gate would have halted the loop; None when unknown.
        code: Why it was left out, as a code.
        scope: `global` or `project`, empty when unknown.
        path: The folder, relative to its scope; None together with `capability_id`.
        remediation: The command that removes the capability; None together with
            `capability_id`, since no command may carry a name of unknown form.
        remedy: Everything that can be done, as a sentence; never empty.
    """

    capability_id: str | None
    point: str
    reason: str
    blocking: bool | None
    code: str = ""
    scope: str = ""
    path: str | None = None
    remediation: str | None
    remedy: str

    @property
    def message(self) -> str:
        """What is not enforced, why, and what to do, in one line."""
        name = (
            f"capability {self.capability_id}"
            if self.capability_id is not None
            else "a capability whose name is withheld, since it is no valid id,"
        )
        return (
            f"{name} was left out, so its {_KINDS[self.blocking]} gate at {self.point}"
            f" is not enforced: {self.reason.rstrip('.')}. {self.remedy}"
        )

    def line(self) -> str:
        """Return the line for stderr, without a newline."""
        return PREFIX + self.message

    def to_wire(self) -> dict[str, Any]:
        """Return the warning as fresh JSON data for the envelope."""
        return {
            "capId": self.capability_id,
            "point": self.point,
            "reason": self.reason,
            "blocking": self.blocking,
            "code": self.code,
            "scope": self.scope,
            "path": self.path,
            "remediation": self.remediation,
            "remedy": self.remedy,
            "message": self.message,
        }


def gate_warnings(
    blocked: Iterable[BlockedGate],
    layers: ConfigLayers,
    schema: Schema,
) -> tuple[GateWarning, ...]:
    """Return one warning for each gate that would have been on, in the order given.

    A gate is passed over only when the configuration certainly switches it off.
    """
    return tuple(
        _warning(gate)
        for gate in blocked
        if _may_be_on(gate.conditions, layers, schema)
    )


def _may_be_on(
    conditions: tuple[GateCondition, ...],
    layers: ConfigLayers,
    schema: Schema,
) -> bool:
    return not conditions or any(
        _condition_may_hold(condition, layers, schema) for condition in conditions
    )


def _condition_may_hold(
    condition: GateCondition, layers: ConfigLayers, schema: Schema
) -> bool:
    if condition.type is not None:
        # The skipped manifest declares the key itself, which no registry holds.
        schema = {condition.key: condition}
    effective = lookup(condition.key, layers, schema)
    if effective.origin is Origin.ABSENT:
        # Nothing readable declares the key, so its default may well be true.
        return True
    if (
        effective.origin is Origin.DEFAULT
        and effective.type == "boolean"
        and not isinstance(effective.value, bool)
    ):
        # A default of another type than its slice says nothing.
        return True
    return effective.on is not False


def _warning(gate: BlockedGate) -> GateWarning:
    known = is_capability_id(gate.capability_id)
    command = _command(gate) if known else None
    return GateWarning(
        capability_id=gate.capability_id if known else None,
        point=safe(gate.point),
        reason=safe(gate.reason) or _NO_REASON,
        blocking=gate.blocking,
        code=safe(gate.code),
        scope=safe(gate.scope),
        path=safe(gate.path) if known else None,
        remediation=command,
        remedy=_remedy(gate, command),
    )


def _command(gate: BlockedGate) -> str:
    """Return the command of the remedy that removes the capability, or the plain one.

    Composition may have named the scope, so that the command does not meet a healthy
    capability of the same id in the other one.
    """
    scope = "(?: --scope (?:global|project))?"
    offered = re.findall(
        f"`(msd capability remove{scope} {gate.capability_id}{scope})`", gate.remedy
    )
    return offered[-1] if offered else f"msd capability remove {gate.capability_id}"


def _remedy(gate: BlockedGate, command: str | None) -> str:
    if command is None:
        place = f"the {gate.scope} root" if gate.scope in _SCOPES else "each root"
        return (
            f"Look through the folders in .msd/capabilities of {place}; no command is"
            " offered for such a name."
        )
    # Single quotes take over from backquotes, which no shell may be handed.
    text = safe(gate.remedy.replace("`", "'"))
    if command in text:
        return text
    return f"{text} Or run '{command}'." if text else f"Run '{command}'."


_SCOPES = ("global", "project")
