"""What is outdated, for a person and as JSON data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msdcomp.outdated import Standing
from msdcomp.present.page import Page, Screen, count
from msdcomp.safetext import safe

__all__ = ["render_standings", "standing_wire"]

_COLUMNS = ("id", "source", "current", "latest", "status", "scope")

#: Digits of a commit that are shown to a person.
_SHORT = 12


def render_standings(standings: Sequence[Standing], screen: Screen) -> str:
    """Return a table, below it what it has no room for, and how many are outdated."""
    page = Page(screen)
    entries = [one for one in standings if one.status != "unreadable"]
    if entries:
        page.table(_COLUMNS, [_cells(one) for one in entries])
    told = [one for one in standings if one.reason]
    if entries and told:
        page.line()
    for one in told:
        name = safe(one.capability_id) or "ledger"
        bad = "bold red" if one.status == "unreadable" else "bold yellow"
        page.line((name, bad), f" ({one.scope}): {safe(one.reason, 600)}")
    if entries:
        page.line()
        late = sum(one.status == "outdated" for one in entries)
        page.line(f"{count(late, 'capability', 'capabilities')} outdated")
    elif not told:
        page.line("nothing is installed here")
    return page.render()


def _cells(one: Standing) -> tuple[str, ...]:
    by_commit = bool(one.latest_commit) and not one.latest
    current = [one.version, *([one.commit[:_SHORT]] if by_commit else [])]
    return (
        one.capability_id,
        one.kind,
        " ".join(filter(None, current)),
        one.latest_commit[:_SHORT] if by_commit else one.latest,
        one.status,
        one.scope,
    )


def standing_wire(one: Standing) -> dict[str, Any]:
    """Return a standing as fresh JSON data."""
    return {
        "id": one.capability_id,
        "scope": one.scope,
        "source": one.kind,
        "current": one.version,
        "commit": one.commit,
        "latest": one.latest,
        "latestCommit": one.latest_commit,
        "status": one.status,
        "reason": one.reason,
    }
