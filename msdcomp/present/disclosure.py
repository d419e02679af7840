"""A disclosure for the person who is asked to agree to it, and as JSON data."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import attrs

from msdcomp.disclosure import Disclosure, Instruction, ShownGate, Surface
from msdcomp.plan import Pin
from msdcomp.present.page import Page, Screen, count
from msdcomp.present.surfaces import (
    WARNING,
    add_blockers,
    add_decided,
    add_gate,
    add_listed,
    add_surfaces,
    instruction_text,
    key_text,
)
from msdcomp.records import Record
from msdcomp.safetext import safe
from msdcomp.signature import signature

__all__ = [
    "disclosure_wire",
    "record_wires",
    "render_disclosure",
    "surface_wire",
]


def render_disclosure(
    disclosure: Disclosure, screen: Screen, pin: Pin | None = None
) -> str:
    """Return everything a person must see before anything is written.

    Args:
        disclosure: What to show.
        screen: What the reader's screen can do.
        pin: What holds the source to its content; None leaves the line out, where
            nothing is fetched.
    """
    page = Page(screen)
    _header(page, disclosure)
    if disclosure.surfaces:
        page.heading("It runs, or sends:")
        add_surfaces(page, disclosure.surfaces, disclosure.blockers)
        if disclosure.activation is not None:
            add_decided(page, "all of it is switched by ", disclosure.activation, 1)
    if disclosure.code_files:
        files = count(len(disclosure.code_files), "file")
        page.line(f"what it starts may use all of the bundle: {files}", indent=1)
    _instructions(page, disclosure.instructions)
    _gates(page, disclosure.gates)
    if disclosure.config:
        page.heading("It adds configuration keys:")
        add_listed(
            page, disclosure.config, lambda use: page.line(key_text(use), indent=1)
        )
    if pin is not None:
        page.line()
        page.line(*_pin(pin))
    add_blockers(page, disclosure.blockers)
    return page.render()


def _header(page: Page, disclosure: Disclosure) -> None:
    header = disclosure.header
    about = [
        f"{word} {safe(value, 100)}"
        for word, value in (
            ("version", header.version),
            ("role", header.role),
            ("tier", header.tier),
            ("for MSD", header.engines),
            ("by", header.author),
        )
        if value is not None
    ]
    page.line(
        (safe(header.id or "(no id)", 100), "bold"), f": {safe(header.title or '')}"
    )
    if about:
        page.line(", ".join(about), indent=1)
    if header.requires:
        page.line(f"needs {safe(', '.join(header.requires))}", indent=1)
    page.line(_headline(disclosure), indent=1)


def _headline(disclosure: Disclosure) -> tuple[str, str]:
    if disclosure.surfaces:
        return "RUNS CODE or sends data, with your rights", WARNING
    if any(blocker.code == "not-a-manifest" for blocker in disclosure.blockers):
        return "cannot be read: nobody knows what it does", WARNING
    if disclosure.instructions:
        return "instructions only: text for agents, no code", "bold yellow"
    return "declarative only: no code, no text for agents", "bold green"


def _instructions(page: Page, words: Sequence[Instruction]) -> None:
    if not words:
        return
    page.heading("It speaks to agents (the text is passed on as it is, unchecked):")
    skills = [word for word in words if word.kind == "skill"]
    others = [word for word in words if word.kind != "skill"]
    add_listed(page, skills, lambda word: page.line(instruction_text(word), indent=1))
    add_listed(page, others, lambda word: page.line(instruction_text(word), indent=1))


def _gates(page: Page, gates: Sequence[ShownGate]) -> None:
    if gates:
        page.heading("It has gates:")
        add_listed(page, gates, lambda gate: add_gate(page, gate))


def _pin(pin: Pin) -> tuple[tuple[str, str], str]:
    if pin.kind == "none":
        warning = ": another download may hold other content"
        return ("not pinned", "bold yellow"), warning
    by = f"pinned by {safe(pin.kind, 40)}"
    return (by, "bold green"), f": {safe(pin.value, 200)}"


# JSON.


def disclosure_wire(disclosure: Disclosure, pin: Pin | None = None) -> dict[str, Any]:
    """Return a disclosure as fresh JSON data, with its signature."""
    return {
        "header": _wire(disclosure.header),
        "runsCode": disclosure.runs_code,
        "surfaces": [surface_wire(one) for one in disclosure.surfaces],
        "instructions": record_wires(disclosure.instructions),
        "gates": record_wires(disclosure.gates),
        "config": record_wires(disclosure.config),
        "activation": _plain(disclosure.activation),
        "codeFiles": dict(disclosure.code_files),
        "textFiles": dict(disclosure.text_files),
        "blockers": record_wires(disclosure.blockers),
        "pin": _plain(pin),
        "signature": signature(disclosure),
    }


def surface_wire(surface: Surface) -> dict[str, Any]:
    """Return a surface with its kind as fresh JSON data."""
    return {"kind": surface.kind, **_wire(surface)}


def record_wires(records: Iterable[Record]) -> list[dict[str, Any]]:
    """Return records as fresh JSON data, names in camel case."""
    return [_wire(record) for record in records]


def _wire(record: Record) -> dict[str, Any]:
    fields = attrs.fields(type(record))  # type: ignore[arg-type]  # every one is attrs
    return {_camel(field.name): _plain(getattr(record, field.name)) for field in fields}


def _plain(value: Any) -> Any:  # noqa: ANN401 - a field of any record
    if isinstance(value, Record):
        return _wire(value)
    if isinstance(value, tuple):
        return [_plain(entry) for entry in value]
    return value


def _camel(name: str) -> str:
    head, *rest = name.split("_")
    return head + "".join(part.title() for part in rest)
