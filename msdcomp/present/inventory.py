"""The listing of capabilities, for a person and as JSON data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs

from msdcomp.inventory import Row
from msdcomp.present.names import shown_name
from msdcomp.present.page import Page, Screen, count

__all__ = ["render_inventory", "row_wire"]


def render_inventory(rows: Sequence[Row], screen: Screen) -> str:
    """Return a table of everything, and the reasons of what was left out below it."""
    page = Page(screen)
    page.table(
        ("id", "scope", "status", "role", "tier", "version", "title"),
        [
            (
                shown_name(row.capability_id, row.code),
                row.scope,
                f"{row.verdict.value}: {row.code}" if row.code else row.verdict.value,
                row.role,
                row.tier,
                row.version,
                row.title,
            )
            for row in rows
        ],
    )
    left_out = sum(bool(row.reason) for row in rows)
    page.line()
    page.line(
        f"{count(len(rows) - left_out, 'capability', 'capabilities')} composed, "
        f"{left_out} left out or ignored"
        + ("; `msd explain ID` tells why" if left_out else "")
    )
    return page.render()


def row_wire(row: Row) -> dict[str, Any]:
    """Return a row as fresh JSON data."""
    wire = attrs.asdict(row)
    wire["id"] = wire.pop("capability_id")
    wire["status"] = wire.pop("verdict").value
    return wire
