"""A plan for the person who has to agree to it, and as JSON data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msdcomp.plan import Block, Plan
from msdcomp.present.changes import changes_wire
from msdcomp.present.changes import render_changes as render_differs
from msdcomp.present.difference import add_change, change_wire
from msdcomp.present.disclosure import (
    disclosure_wire,
    record_wires,
    render_disclosure,
)
from msdcomp.present.page import Page, Screen, count
from msdcomp.present.problems import add_problem
from msdcomp.present.surfaces import json_spelled
from msdcomp.safetext import safe
from msdcomp.wireform import problem_wire

__all__ = ["block_wire", "plan_wire", "render_blocks", "render_plan"]

#: Most files that are listed; the others are counted.
_MAX_FILES = 200

_MARKS = {
    "added": ("+ ", "green"),
    "removed": ("- ", "red"),
    "changed": ("~ ", "yellow"),
}


def render_plan(plan: Plan, screen: Screen) -> str:
    """Return everything that would become different, what runs before all else."""
    page = Page(screen)
    page.line((_headline(plan), "bold"))
    if plan.source:
        page.line(f"from {safe(plan.source, 400)}", indent=1)
    for note in plan.notes:
        page.line(("note: ", "bold yellow"), safe(note, 600), indent=1)
    parts = [page.render()]
    if plan.differs is not None and plan.action == "upgrade":
        parts.append(render_differs(plan.differs, screen))
    if plan.disclosure is not None and plan.action != "none":
        parts.append(render_disclosure(plan.disclosure, screen, plan.pin))
    parts.append(_consequences(plan, screen))
    parts.append(render_blocks(plan.blocks, screen))
    return "\n".join(part for part in parts if part)


def _headline(plan: Plan) -> str:
    name = safe(plan.capability_id)
    match plan.action:
        case "install":
            return f"Install {name} {plan.version} in the {plan.scope} scope"
        case "upgrade" if plan.version == plan.version_before:
            return f"Install {name} {plan.version} in the {plan.scope} scope again"
        case "upgrade":
            versions = f"{safe(plan.version_before)} -> {plan.version}"
            return f"Upgrade {name} {versions} in the {plan.scope} scope"
        case "remove":
            return f"Remove {name} from the {plan.scope} scope"
        case _:
            return f"{name} {plan.version} is installed already, exactly so"


def _consequences(plan: Plan, screen: Screen) -> str:
    page = Page(screen)
    if plan.files:
        page.heading(f"Files of {safe(plan.path)}:")
        for file in plan.files[:_MAX_FILES]:
            if file.path:
                page.line(_MARKS[file.how], safe(file.path, 400), indent=1)
            else:
                page.line(_MARKS[file.how], "the folder itself", indent=1)
        if len(plan.files) > _MAX_FILES:
            more = count(len(plan.files) - _MAX_FILES, "more file")
            page.line(f"and {more}", indent=1)
    if plan.hooks:
        page.heading("Settings of hosts:")
        for hook in plan.hooks:
            page.line(
                _MARKS[hook.how], f"{safe(hook.file)}, {safe(hook.event)}", indent=1
            )
            page.line(json_spelled(hook.entry), indent=2)
    told = plan.effects
    if told.changes or told.joins or told.leaves:
        page.heading("What the composition here would be:")
    for change in told.changes:
        add_change(page, change, indent=1)
    for other in told.joins:
        page.line(("+ ", "green"), f"{safe(other)} would take part", indent=1)
    for left in told.leaves:
        page.line(
            ("- ", "bold red"),
            f"{safe(left.id)} ({left.scope}) would no longer take part: "
            f"{safe(left.reason, 400)}",
            indent=1,
        )
    if plan.asks and not plan.blocks:
        page.line()
        page.line(("Your agreement is needed: ", "bold yellow"), safe(plan.asks, 400))
    return page.render()


def render_blocks(blocks: Sequence[Block], screen: Screen) -> str:
    """Return why something cannot be done; empty when nothing stands in the way."""
    page = Page(screen)
    for block in blocks:
        page.line(
            ("cannot be done", "bold red"),
            f" [{block.code}]: {safe(block.reason, 600)}",
        )
        for problem in block.problems:
            add_problem(page, problem, indent=1)
        if block.remedy:
            page.line((f"help: {safe(block.remedy, 600)}", "cyan"), indent=1)
    return page.render()


# JSON.


def plan_wire(plan: Plan) -> dict[str, Any]:
    """Return a plan as fresh JSON data."""
    told = plan.effects
    return {
        "action": plan.action,
        "scope": plan.scope,
        "id": plan.capability_id,
        "path": plan.path,
        "source": plan.source,
        "versionBefore": plan.version_before,
        "version": plan.version,
        "contentHash": plan.content_hash,
        "disclosure": plan.disclosure and disclosure_wire(plan.disclosure, plan.pin),
        "differs": plan.differs and changes_wire(plan.differs),
        "files": record_wires(plan.files),
        "hooks": record_wires(plan.hooks),
        "changes": [change_wire(change) for change in told.changes],
        "joins": list(told.joins),
        "leaves": record_wires(told.leaves),
        "asks": plan.asks,
        "notes": list(plan.notes),
        "blocks": [block_wire(block) for block in plan.blocks],
    }


def block_wire(block: Block) -> dict[str, Any]:
    """Return a block as fresh JSON data."""
    return {
        "code": block.code,
        "reason": block.reason,
        "remedy": block.remedy,
        "problems": [problem_wire(problem) for problem in block.problems],
    }
