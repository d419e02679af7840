"""A composition for a person: accepted, left out and why, gates not enforced."""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from msdcomp.composition import Composition
from msdcomp.diagnostics import Problem
from msdcomp.gates import BlockedGate
from msdcomp.present.names import WITHHELD, shown_name
from msdcomp.present.page import Page, Screen, count
from msdcomp.present.problems import add_problem, place
from msdcomp.safetext import safe
from msdcomp.verdict import SkipWarning
from msdcomp.vocabulary import POINTS

_WEIGHT = {True: "blocking", False: "advisory", None: "possibly blocking"}

__all__ = [
    "absolute",
    "add_lost_gates",
    "add_warning_problems",
    "render_composition",
    "spoken",
]


def absolute(scope: str, path: str, roots: Mapping[str, str]) -> str:
    """Return a path below the root of its scope; relative where no root is known."""
    root = roots.get(scope)
    return safe(f"{root}/{path}" if root else f"{path} ({scope})", 400)


def render_composition(
    composition: Composition,
    host_version: str,
    screen: Screen,
    roots: Mapping[str, str] | None = None,
) -> str:
    """Return what is in the registry, what is not, why, and what is not enforced.

    Args:
        composition: What to show.
        host_version: Of the host it was composed for.
        screen: What the reader's screen can do.
        roots: Scope -> absolute path of its root, for the places shown.
    """
    roots = roots or {}
    page = Page(screen)
    total = len(composition.registry.capabilities)
    accepted = len(composition.accepted)
    page.line(
        (f"MSD {safe(host_version)}: ", "bold"),
        f"{count(total, 'capability', 'capabilities')} in the registry, "
        f"{total - accepted} shipped and {accepted} installed; "
        f"{count(len(composition.warnings), 'overlay')} left out",
    )
    _accepted(page, composition, roots)
    _skipped(page, composition, roots)
    lost = [g for point in _loop_order(composition) for g in point]
    if lost:
        page.heading("Gates that are NOT enforced")
        add_lost_gates(page, lost)
    if composition.ignored:
        page.heading("Ignored")
        for entry in composition.ignored:
            page.line(
                f"{safe(entry.name)} ({entry.scope}): {safe(entry.reason)}", indent=1
            )
    return page.render()


def _loop_order(composition: Composition) -> list[tuple[BlockedGate, ...]]:
    return [composition.blocked_gates.get(point, ()) for point in POINTS]


def _accepted(page: Page, composition: Composition, roots: Mapping[str, str]) -> None:
    if not composition.accepted:
        return
    page.heading("Accepted")
    for owner in composition.accepted:
        manifest = composition.registry.capabilities[owner]
        folder = composition.paths[owner]
        page.line(
            (f"{safe(owner)} {safe(manifest.version)}", "bold green"),
            f"  {safe(manifest.title, 80)}",
            (f"  {absolute(folder.scope, folder.path, roots)}", "dim"),
            indent=1,
        )
        for problem in composition.diagnostics.get((folder.scope, owner), ()):
            add_problem(page, located(problem, folder.scope, roots), indent=2)


def _skipped(page: Page, composition: Composition, roots: Mapping[str, str]) -> None:
    if not composition.warnings:
        return
    page.heading("Left out")
    for key in sorted(composition.warnings):
        for warning in composition.warnings[key]:
            _warning(page, warning, roots)


def _warning(page: Page, warning: SkipWarning, roots: Mapping[str, str]) -> None:
    name = shown_name(warning.capability_id, warning.code)
    if warning.scope == "set":
        name = "the whole set"
    page.line(
        (name, "bold yellow"),
        f" ({warning.code}): {safe(warning.reason, 600)}",
        indent=1,
    )
    add_warning_problems(page, warning, roots, indent=2)
    page.line((f"remedy: {spoken(warning.remedy)}", "cyan"), indent=2)


def add_warning_problems(
    page: Page, warning: SkipWarning, roots: Mapping[str, str], indent: int
) -> None:
    """Add the problems behind a warning, each at its place on this machine."""
    if len(warning.problems) == 1 and warning.problems[0].message in warning.reason:
        # The reason has said what and the remedy will say how; what is left is where.
        problem = located(warning.problems[0], warning.scope, roots)
        pointer = f"  ({safe(problem.path)})" if problem.path else ""
        named = shown_name(warning.capability_id, warning.code) != WITHHELD
        if (where := place(problem)) and named:
            page.line((f"{where}{pointer}", "dim"), indent=indent)
        return
    for problem in warning.problems:
        add_problem(page, located(problem, warning.scope, roots), indent)


def located(problem: Problem, scope: str, roots: Mapping[str, str]) -> Problem:
    """Return a problem with the absolute path of its file, where that is known."""
    root = roots.get(scope)
    if root is None or problem.file is None:
        return problem
    return attrs.evolve(problem, file=f"{root}/{problem.file}")


def spoken(remedy: str) -> str:
    """Return a remedy as a line of text: its backquotes become straight quotes."""
    return safe(remedy.replace("`", "'"), 700)


def add_lost_gates(page: Page, gates: list[BlockedGate], indent: int = 1) -> None:
    """Add one line for each gate that is not enforced, and what brings it back."""
    for gate in gates:
        page.line(
            (gate.point, "bold red"),
            f"  {shown_name(gate.capability_id, gate.code)} "
            f"({_WEIGHT[gate.blocking]}): "
            f"{safe(gate.reason, 600)}",
            indent=indent,
        )
        if gate.conditions and gate.quotable:
            keys = ", ".join(safe(condition.key) for condition in gate.conditions)
            page.line((f"only where {keys} is on", "dim"), indent=indent + 1)
        page.line((f"remedy: {spoken(gate.remedy)}", "cyan"), indent=indent + 1)
