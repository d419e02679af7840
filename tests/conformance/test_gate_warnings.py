"""Warnings about gates that are not enforced, against reference verdicts."""

from __future__ import annotations

from typing import Any

from msdcomp.loop import resolve
from msdcomp.loopview import read_blocked_gates
from msdcomp.registry import Registry

#: Reasons that the vectors give otherwise than the design does, by name of the vector.
#: "Text taken from overlays is made safe before it reaches a terminal, a log line,
#: markdown or a runnable command (control characters, backticks, newlines, bidi
#: overrides; length 300)": C1 characters are control characters (U+009B starts an
#: escape sequence on many terminals), and the invisible U+200B goes with them.
DESIGN_WINS: dict[str, list[str | None]] = {
    "reason-c1-and-unicode": ["a b c d e f\u00e9"]
}


def test_each_blocked_gate_is_warned_about_at_its_point(
    gate_warning_record: dict[str, Any],
) -> None:
    record = gate_warning_record
    gates = read_blocked_gates(record["blocked_gates"])

    resolution = resolve(Registry(), record["point"], {}, blocked_gates=gates)

    warnings, wanted = resolution.warnings, record["warnings"]
    reasons = DESIGN_WINS.get(record["name"]) or [w["reason"] for w in wanted]
    assert [w.capability_id for w in warnings] == [w["cap_id"] for w in wanted]
    assert [w.point for w in warnings] == [w["point"] for w in wanted]
    assert [w.remediation for w in warnings] == [w["remediation"] for w in wanted]
    for warning, reason in zip(warnings, reasons, strict=True):
        # Null stands for a placeholder of our own wording.
        assert warning.reason
        assert reason in (warning.reason, None)
    assert len(resolution.active_hooks) == record["gates_injected"]
    lines = resolution.stderr_lines()
    assert len(lines) == record["stderr_lines"]
    for line, warning in zip(lines, warnings, strict=True):
        assert line.startswith("msd: warning: ")
        assert warning.reason in line
        if warning.remediation is not None:
            assert warning.remediation in line
