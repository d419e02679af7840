"""What differs between two compositions, for a person and as JSON data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs

from msdcomp.diffing import Change, Difference
from msdcomp.present.page import Page, Screen, count
from msdcomp.safetext import safe

__all__ = ["add_change", "change_wire", "render_changes"]

_MARKS = {
    Difference.APPEARED: ("+", "green"),
    Difference.VANISHED: ("-", "red"),
    Difference.CHANGED: ("~", "yellow"),
    Difference.MOVED: (">", "yellow"),
    Difference.REORDERED: ("^", "yellow"),
}


def render_changes(changes: Sequence[Change], screen: Screen) -> str:
    """Return one line for each difference and a closing one that counts them."""
    page = Page(screen)
    for change in changes:
        add_change(page, change)
    page.line((count(len(changes), "difference"), "bold"))
    return page.render()


def add_change(page: Page, change: Change, indent: int = 0) -> None:
    """Add a difference to a page."""
    mark, style = _MARKS[change.difference]
    told = " -> ".join(
        safe(part, 400) for part in (change.before, change.after) if part
    )
    page.line(
        (f"{mark} ", style),
        f"{change.subject} {safe(change.name)} {change.difference.value}",
        f": {told}" if told else "",
        indent=indent,
    )


def change_wire(change: Change) -> dict[str, Any]:
    """Return a difference as fresh JSON data."""
    return {**attrs.asdict(change), "difference": change.difference.value}
