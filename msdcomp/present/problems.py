"""Problems, one to a line and a hint below, as compilers show them."""

from __future__ import annotations

from collections.abc import Iterable

from msdcomp.diagnostics import Problem, Severity
from msdcomp.present.page import Page, Screen, count
from msdcomp.safetext import safe

__all__ = ["add_problem", "place", "render_problems"]

_STYLES = {Severity.ERROR: "bold red", Severity.WARNING: "bold yellow"}


def place(problem: Problem) -> str:
    """Return `file:line:column` as far as it is known, fit for an editor to open."""
    parts = [safe(problem.file, 400)] if problem.file else []
    if problem.line is not None:
        parts += [str(problem.line), str(problem.column)]
    return ":".join(parts)


def add_problem(page: Page, problem: Problem, indent: int = 0) -> None:
    """Add a problem to a page: place, severity and code, message, pointer, hint."""
    where = place(problem)
    page.line(
        *([(f"{where}: ", "bold")] if where else []),
        (problem.severity.value, _STYLES[problem.severity]),
        f"[{problem.code}] {safe(problem.message, 600)}",
        *([(f"  ({safe(problem.path)})", "dim")] if problem.path else []),
        indent=indent,
    )
    if problem.hint:
        page.line((f"help: {safe(problem.hint, 600)}", "cyan"), indent=indent + 1)


def render_problems(
    problems: Iterable[Problem], checked: int, screen: Screen, *, strict: bool = False
) -> str:
    """Return every problem and a closing line that counts them.

    Args:
        problems: In the order to show.
        checked: Number of manifests that were looked at.
        screen: What the reader's screen can do.
        strict: Say that warnings count as errors.
    """
    page = Page(screen)
    shown = tuple(problems)
    for problem in shown:
        add_problem(page, problem)
    errors = sum(p.severity is Severity.ERROR for p in shown)
    warnings = len(shown) - errors
    if shown:
        page.line()
    bad = bool(errors or (strict and warnings))
    page.line(
        (f"{count(checked, 'manifest')} checked: ", "bold"),
        (
            f"{count(errors, 'error')}, {count(warnings, 'warning')}",
            "bold red" if bad else ("bold yellow" if warnings else "bold green"),
        ),
        " (warnings count as errors)" if strict and warnings else "",
    )
    return page.render()
