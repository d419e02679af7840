"""What an update changes in a disclosure, for a person and as JSON data."""

from __future__ import annotations

from typing import Any

from msdcomp.disclosure import Changes
from msdcomp.present.disclosure import record_wires, surface_wire
from msdcomp.present.page import Page, Screen
from msdcomp.present.surfaces import (
    WARNING,
    add_blockers,
    add_gate,
    add_listed,
    add_surfaces,
    add_values,
    instruction_text,
    key_text,
)

__all__ = ["changes_wire", "render_changes"]


def render_changes(changes: Changes, screen: Screen) -> str:
    """Return what an update adds and takes away, what runs before everything else."""
    page = Page(screen)
    page.line(_change_headline(changes))
    for title, surfaces in (
        ("New, or in a new form:", changes.added),
        ("Gone, or in its old form:", changes.removed),
    ):
        if surfaces:
            page.heading(title)
            add_surfaces(page, surfaces, changes.blockers)
    if changes.activation:
        page.line("the switch of the whole capability differs", indent=1)
    _changed_files(page, changes)
    for title, words in (
        ("New text for agents:", changes.instructions_added),
        ("Text for agents that is gone:", changes.instructions_removed),
    ):
        if words:
            page.heading(title)
            add_listed(
                page, words, lambda word: page.line(instruction_text(word), indent=1)
            )
    for title, gates in (
        ("New gates:", changes.gates_added),
        ("Gates that are gone:", changes.gates_removed),
    ):
        if gates:
            page.heading(title)
            add_listed(page, gates, lambda gate: add_gate(page, gate))
    for title, keys in (
        ("New configuration keys:", changes.config_added),
        ("Configuration keys that are gone:", changes.config_removed),
    ):
        if keys:
            page.heading(title)
            add_listed(page, keys, lambda use: page.line(key_text(use), indent=1))
    add_blockers(page, changes.blockers)
    return page.render()


def _change_headline(changes: Changes) -> tuple[str, str]:
    if changes.code:
        return "What it runs has changed", WARNING
    if changes.text:
        return "What it tells agents has changed; what it runs has not", "bold yellow"
    return "What it runs and what it tells agents are as before", "bold green"


def _changed_files(page: Page, changes: Changes) -> None:
    for title, files in (
        ("Files that may run:", [file for file in changes.files if file.code]),
        ("Other files:", [file for file in changes.files if not file.code]),
    ):
        if files:
            page.heading(title)
            add_listed(
                page,
                files,
                lambda file: add_values(page, f"{file.how} ", [file.path], 1),
            )


def changes_wire(changes: Changes) -> dict[str, Any]:
    """Return changes as fresh JSON data."""
    return {
        "code": changes.code,
        "text": changes.text,
        "added": [surface_wire(one) for one in changes.added],
        "removed": [surface_wire(one) for one in changes.removed],
        "instructionsAdded": record_wires(changes.instructions_added),
        "instructionsRemoved": record_wires(changes.instructions_removed),
        "gatesAdded": record_wires(changes.gates_added),
        "gatesRemoved": record_wires(changes.gates_removed),
        "configAdded": record_wires(changes.config_added),
        "configRemoved": record_wires(changes.config_removed),
        "files": record_wires(changes.files),
        "activation": changes.activation,
        "blockers": record_wires(changes.blockers),
    }
