"""The verdict about one capability, for a person and as JSON data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msdcomp.explanation import Copy, Explanation, Verdict
from msdcomp.present.composition import (
    absolute,
    add_lost_gates,
    add_warning_problems,
    spoken,
)
from msdcomp.present.page import Page, Screen
from msdcomp.present.state import add_chain, effective_wire, state_wire
from msdcomp.safetext import safe
from msdcomp.wireform import blocked_gate_wire, warning_wire

__all__ = ["explanation_wire", "render_explanation"]

_STYLES = {
    Verdict.ACTIVE: "bold green",
    Verdict.INACTIVE: "bold yellow",
    Verdict.SKIPPED: "bold red",
    Verdict.SHADOWED: "bold yellow",
    Verdict.IGNORED: "bold yellow",
    Verdict.NOT_FOUND: "bold red",
}
_MARKS = {True: ("passed", "green"), False: ("stopped here", "bold red")}


def render_explanation(
    explained: Explanation, screen: Screen, roots: Mapping[str, str] | None = None
) -> str:
    """Return the verdict, then every folder of that id with the gates it met."""
    page = Page(screen)
    manifest = explained.manifest
    page.line(
        (safe(explained.capability_id), "bold"),
        ": ",
        (explained.verdict.value, _STYLES[explained.verdict]),
    )
    if manifest is not None:
        page.line(
            f"{safe(manifest.title)}, version {safe(manifest.version)}, "
            f"a {manifest.role} of tier {manifest.tier}",
            indent=1,
        )
    if explained.state is not None:
        add_chain(page, explained.state, explained.surface)
    if explained.verdict is Verdict.NOT_FOUND:
        page.line("no capability and no overlay folder has that name", indent=1)
        if explained.suggestion:
            page.line((f"did you mean {safe(explained.suggestion)}?", "cyan"), indent=1)
    for copy in explained.copies:
        _copy(page, copy, roots or {})
    return page.render()


def _copy(page: Page, copy: Copy, roots: Mapping[str, str]) -> None:
    if copy.scope == "first-party":
        page.line("shipped with the host; no overlay can change it", indent=1)
        return
    page.line()
    place = absolute(copy.scope, copy.path, roots) if copy.path else copy.scope
    page.line((f"{copy.scope}: {copy.verdict.value}", "bold"), f"  {place}", indent=1)
    for passage in copy.passages:
        if passage.passed is None:
            page.line((f"{passage.gate}: not asked", "dim"), indent=2)
            continue
        page.line(f"{passage.gate}: ", _MARKS[passage.passed], indent=2)
        if not passage.passed:
            _stop(page, copy, roots)
    if not copy.passages:
        page.line(safe(copy.reason), indent=2)
    for depth, cause in enumerate(copy.causes):
        root = "the root cause: " if depth == len(copy.causes) - 1 else ""
        page.line(
            f"because {root}{safe(cause.capability_id)} ({cause.scope}) is not in "
            f"({cause.code}): {safe(cause.reason, 600)}",
            indent=2,
        )
    if copy.gates:
        page.line(("gates that are NOT enforced", "bold"), indent=2)
        add_lost_gates(page, list(copy.gates), indent=3)


def _stop(page: Page, copy: Copy, roots: Mapping[str, str]) -> None:
    if copy.warning is None:
        return
    page.line(f"{copy.warning.code}: {safe(copy.reason, 600)}", indent=3)
    add_warning_problems(page, copy.warning, roots, indent=3)
    page.line((f"remedy: {spoken(copy.warning.remedy)}", "cyan"), indent=3)


def explanation_wire(explained: Explanation) -> dict[str, Any]:
    """Return the same as fresh JSON data."""
    state = explained.state
    switch = state.switch if state is not None else None
    return {
        "id": explained.capability_id,
        "verdict": explained.verdict.value,
        "suggestion": explained.suggestion,
        "switch": switch and effective_wire(switch),
        "state": state and state_wire(state),
        "copies": [
            {
                "scope": copy.scope,
                "path": copy.path,
                "verdict": copy.verdict.value,
                "reason": copy.reason,
                "gates": [
                    {"gate": passage.gate, "passed": passage.passed}
                    for passage in copy.passages
                ],
                "warning": warning_wire(copy.warning) if copy.warning else None,
                "causes": [warning_wire(cause) for cause in copy.causes],
                "blockedGates": [blocked_gate_wire(gate) for gate in copy.gates],
            }
            for copy in explained.copies
        ],
    }
