"""What `doctor` found, for a person and as JSON data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msdcomp.health import SEVERITIES, Finding, Severity
from msdcomp.present.composition import spoken
from msdcomp.present.page import Page, Screen, count
from msdcomp.safetext import safe

__all__ = ["finding_wire", "render_findings"]

#: Most findings of one severity that are listed; the others are counted.
_MAX_SHOWN = 200

_HEADINGS: dict[Severity, tuple[str, str, str]] = {
    "error": ("Errors", "error", "bold red"),
    "warning": ("Warnings", "warning", "bold yellow"),
    "info": ("To know", "note", "bold"),
}


def render_findings(findings: Sequence[Finding], screen: Screen) -> str:
    """Return findings under the severity of each, and how many there are."""
    page = Page(screen)
    counts = []
    for severity in SEVERITIES:
        title, noun, style = _HEADINGS[severity]
        own = [one for one in findings if one.severity == severity]
        counts.append(count(len(own), noun))
        if own:
            page.heading(title)
        for one in own[:_MAX_SHOWN]:
            _add(page, one, style)
        if len(own) > _MAX_SHOWN:
            page.line(f"and {len(own) - _MAX_SHOWN} more", indent=1)
    if findings:
        page.line()
        page.line(", ".join(counts))
    else:
        page.line(("everything is as it should be", "bold green"))
    return page.render()


def _add(page: Page, one: Finding, style: str) -> None:
    where = safe(one.subject) + (f" ({one.scope})" if one.scope else "")
    cause = f", {one.cause}" if one.cause else ""
    page.line(
        (where.strip(), style),
        ": " if where else "",
        safe(one.reason, 900),
        (f"  [{one.code}{cause}]", "dim"),
        indent=1,
    )
    if one.remedy:
        page.line((f"remedy: {spoken(one.remedy)}", "cyan"), indent=2)


def finding_wire(one: Finding) -> dict[str, Any]:
    """Return a finding as fresh JSON data."""
    return {
        "code": one.code,
        "severity": one.severity,
        "scope": one.scope,
        "subject": one.subject,
        "reason": one.reason,
        "remedy": one.remedy,
        "cause": one.cause,
    }
