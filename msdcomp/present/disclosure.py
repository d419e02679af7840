"""A disclosure for the person who is asked to agree to it, and as JSON data.

Nobody can agree to what is hidden. So what runs is shown in full and in quotes: every
character that is not plain ASCII is spelled out, a long value goes on in the next line,
and nothing of it is cut. Names and prompts, which run nothing, are shortened with a
count.
Source: docs/reference/disclosure.md, "How it is shown".
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

import attrs

from msdcomp.disclosure import (
    Blocker,
    Changes,
    CommandModule,
    CommandStep,
    ConfigKeyUse,
    Disclosure,
    Hook,
    Instruction,
    OtherSurface,
    Program,
    Resolver,
    ReviewerLane,
    ShellGate,
    ShownGate,
    Surface,
)
from msdcomp.present.page import Page, Screen, count
from msdcomp.records import Record
from msdcomp.safetext import safe
from msdcomp.signature import signature

__all__ = [
    "Pin",
    "changes_wire",
    "disclosure_wire",
    "render_changes",
    "render_disclosure",
    "spelled",
]

_T = TypeVar("_T")

#: Characters of one value in one line.
_CHUNK = 76

#: Most names of a list that runs nothing.
_MOST = 100

_WARNING = "bold red"

_ESCAPED = re.compile(r'["\\]|[^ -~]|(?<= ) ')
_ODD = re.compile(r"[^ -~]|(?<= ) ")


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Pin(Record):
    """What holds the source to this content: `integrity`, `commit` or nothing."""

    kind: str = "none"
    value: str = ""


def spelled(text: str) -> str:
    r"""Return text in double quotes with nothing in it that can hide or pretend.

    Printable ASCII is kept; every other character, and the second of two spaces, is
    written as its code.

    >>> print(spelled('say "hi"\u202e'))
    "say \"hi\"\u{202e}"
    """
    return '"' + _ESCAPED.sub(_code, text) + '"'


def _code(match: re.Match[str]) -> str:
    found = match[0]
    return f"\\{found}" if found in '"\\' else f"\\u{{{ord(found):x}}}"


def _json(text: str) -> str:
    """Return JSON text with every character that is not plain spelled out.

    It has quotes of its own, and its backslashes are escapes already.
    """
    return _ODD.sub(_code, text)


def _wrapped(page: Page, label: str, texts: Sequence[str], indent: int) -> None:
    """Add values after a label, each in quotes."""
    _words(page, label, [spelled(text) for text in texts], indent)


def _words(page: Page, label: str, words: Sequence[str], indent: int) -> None:
    """Add words after a label: in one line where they fit, else each in its own."""
    line = " ".join(words)
    if len(line) <= _CHUNK:
        page.line(f"{label}{line}", indent=indent)
        return
    page.line(label.rstrip(), indent=indent)
    for word in words:
        for start in range(0, len(word), _CHUNK):
            # A value that goes on is marked, so that two lines are not two values.
            more = "" if start + _CHUNK >= len(word) else " +"
            page.line(word[start : start + _CHUNK], (more, "dim"), indent=indent + 1)


# The page.


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
        _surfaces(page, disclosure.surfaces, disclosure.blockers)
        if disclosure.activation is not None:
            _decided(page, "all of it is switched by ", disclosure.activation, 1)
    if disclosure.code_files:
        files = count(len(disclosure.code_files), "file")
        page.line(f"what it starts may use all of the bundle: {files}", indent=1)
    _instructions(page, disclosure.instructions)
    _gates(page, disclosure.gates)
    if disclosure.config:
        page.heading("It adds configuration keys:")
        _listed(page, disclosure.config, lambda use: page.line(_key(use), indent=1))
    if pin is not None:
        page.line()
        page.line(*_pin(pin))
    _blockers(page, disclosure.blockers)
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


def _surfaces(
    page: Page, surfaces: Sequence[Surface], blockers: Sequence[Blocker]
) -> None:
    """Add what runs, unless it is too much to read and so cannot be agreed to."""
    if any(blocker.code == "too-much" for blocker in blockers):
        kinds = Counter(surface.kind for surface in surfaces)
        for kind, number in kinds.items():
            page.line(f"{kind}: {number}, too much to be shown", indent=1)
        return
    for surface in surfaces:
        _surface(page, surface)


def _headline(disclosure: Disclosure) -> tuple[str, str]:
    if disclosure.surfaces:
        return "RUNS CODE or sends data, with your rights", _WARNING
    if disclosure.instructions:
        return "instructions only: text for agents, no code", "bold yellow"
    return "declarative only: no code, no text for agents", "bold green"


def _surface(page: Page, surface: Surface) -> None:
    if isinstance(surface, Hook):
        _wrapped(page, "hook on ", [surface.event or ""], 1)
        _wrapped(page, "runs ", [surface.script or ""], 2)
        if surface.matcher is not None:
            _wrapped(page, "for ", [surface.matcher], 2)
        elif "matcher" not in dict(surface.residual):
            page.line("for every occurrence", indent=2)
    elif isinstance(surface, CommandModule):
        _wrapped(page, "command family ", [surface.family or ""], 1)
        if surface.module is not None:
            _wrapped(page, "loads ", [surface.module], 2)
        if surface.router is not None:
            _wrapped(page, "calls ", [surface.router], 2)
        if surface.subcommands:
            _wrapped(page, "with ", surface.subcommands, 2)
    elif isinstance(surface, ReviewerLane):
        _lane(page, surface)
    elif isinstance(surface, Resolver):
        _wrapped(page, "task content for ", [surface.prefix or ""], 1)
        _wrapped(page, "runs ", [surface.binary or "", *surface.args], 2)
        page.line(f"for at most {surface.timeout_ms or '?'} ms", indent=2)
    elif isinstance(surface, ShellGate):
        _wrapped(page, "gate at ", [surface.point or ""], 1)
        _wrapped(page, "predicate ", [surface.predicate or ""], 2)
        if surface.command is not None:
            _wrapped(page, "hands to a shell ", [surface.command], 2)
        _when(page, surface.when)
    elif isinstance(surface, CommandStep):
        _wrapped(page, "step at ", [surface.point or ""], 1)
        _wrapped(page, "runs the host's command ", [surface.command or ""], 2)
        _when(page, surface.when)
    elif isinstance(surface, Program):
        page.line("program to start orchestrations with", indent=1)
        _wrapped(page, "runs ", [surface.binary or "", *surface.args], 2)
    elif isinstance(surface, OtherSurface):
        _wrapped(page, "not understood, in ", [surface.field], 1)
        _words(page, "declared as ", [_json(surface.declared)], 2)
    for use in surface.files:
        _file(page, use.path, use.content_hash)
    for name, text in surface.residual:
        _words(page, f"{spelled(name)} is ", [_json(text)], 2)
    for key in surface.uses:
        _decided(page, "decided by ", key, 2)


def _when(page: Page, when: str | None) -> None:
    if when is not None:
        _wrapped(page, "when ", [when], 2)


def _file(page: Page, path: str, content_hash: str | None) -> None:
    if content_hash is None:
        page.line(
            (f"the file {spelled(path)} is NOT in the bundle", _WARNING), indent=2
        )
    else:
        _wrapped(page, "file of the bundle ", [path], 2)
        page.line((f"hash {safe(content_hash, 200)}", "dim"), indent=3)


def _lane(page: Page, lane: ReviewerLane) -> None:
    _wrapped(page, "reviewer lane ", [lane.slug or ""], 1)
    _wrapped(page, "transport ", [lane.transport or ""], 2)
    if lane.binary is not None or lane.args:
        _wrapped(page, "runs ", [lane.binary or "", *lane.args], 2)
    for pair in lane.env:
        _words(page, "with ", [spelled(pair.name), "=", spelled(pair.value)], 2)
        if pair.denied:
            page.line(
                (
                    f"WARNING: {spelled(pair.name)} makes a program run other code",
                    _WARNING,
                ),
                indent=3,
            )
    if lane.probe:
        _wrapped(page, "is probed by ", lane.probe, 2)
    if lane.requires_binaries:
        _wrapped(page, "needs ", lane.requires_binaries, 2)
    if lane.handler is not None:
        _wrapped(page, "handled by ", [lane.handler], 2)
    egress = lane.egress
    if egress.config_key is not None or egress.host is not None:
        _wrapped(page, "sends to the host set by ", [egress.config_key or ""], 2)
        if egress.default_host is not None:
            _wrapped(page, "else to ", [egress.default_host], 2)
        if egress.host is None:
            page.line(("no host is known yet", _WARNING), indent=2)
        else:
            _wrapped(page, "which is now ", [egress.host], 2)
            page.line(
                ("that is this machine", "green")
                if egress.is_local
                else ("that is NOT this machine", _WARNING),
                indent=2,
            )
    elif lane.binary is not None:
        page.line("where the program sends what it gets is up to the program", indent=2)
    page.line(
        f"gets: {', '.join(egress.payload)}"
        if egress.payload
        else "gets no prompt; it may read the project",
        indent=2,
    )


def _decided(page: Page, label: str, use: ConfigKeyUse, indent: int) -> None:
    """Add a key that decides about what runs: in full, as what runs is."""
    default = ["no default"] if use.default is None else ["default", _json(use.default)]
    words = [spelled(use.key), f"({safe(use.type or 'no type', 40)})", *default]
    _words(page, label, words, indent)


def _key(use: ConfigKeyUse) -> str:
    default = "no default" if use.default is None else f"default {safe(use.default)}"
    return f"{spelled(safe(use.key))} ({safe(use.type or 'no type', 40)}, {default})"


def _instructions(page: Page, words: Sequence[Instruction]) -> None:
    if not words:
        return
    page.heading("It speaks to agents (the text is passed on as it is, unchecked):")
    skills = [word for word in words if word.kind == "skill"]
    others = [word for word in words if word.kind != "skill"]
    _listed(page, skills, lambda word: page.line(_instruction(word), indent=1))
    _listed(page, others, lambda word: page.line(_instruction(word), indent=1))


def _instruction(word: Instruction) -> str:
    if word.kind == "skill":
        return f"skill {spelled(safe(word.name))}"
    where = f" at {spelled(safe(word.point))}" if word.point is not None else ""
    role = f" to {spelled(safe(word.name))}" if word.name is not None else ""
    text = "text in the manifest" if word.path is None else spelled(safe(word.path))
    return f"{word.kind}{where}{role}: {text}"


def _gates(page: Page, gates: Sequence[ShownGate]) -> None:
    if gates:
        page.heading("It has gates:")
        _listed(page, gates, lambda gate: _gate(page, gate))


def _gate(page: Page, gate: ShownGate) -> None:
    blocks = {True: "blocks", False: "advises", None: "may block"}[gate.blocking]
    page.line(
        f"at {spelled(safe(gate.point or ''))}, {blocks}: "
        f"{safe(gate.form or 'check', 40)} {spelled(safe(gate.check or ''))}",
        indent=1,
    )
    if gate.when is not None:
        page.line(f"when {_key(gate.when)}", indent=2)


def _pin(pin: Pin) -> tuple[tuple[str, str], str]:
    if pin.kind == "none":
        return (
            "not pinned",
            "bold yellow",
        ), ": another download may hold other content"
    return (
        f"pinned by {safe(pin.kind, 40)}",
        "bold green",
    ), f": {safe(pin.value, 200)}"


def _blockers(page: Page, blockers: Sequence[Blocker]) -> None:
    if blockers:
        page.heading("It cannot be installed as it is:")
        _listed(page, blockers, lambda blocker: _blocker(page, blocker))


def _blocker(page: Page, blocker: Blocker) -> None:
    where = f" (at {safe(blocker.place)})" if blocker.place else ""
    page.line((safe(blocker.reason), _WARNING), where, indent=1)


def _listed(page: Page, some: Sequence[_T], add: Callable[[_T], None]) -> None:
    for one in some[:_MOST]:
        add(one)
    if len(some) > _MOST:
        page.line(f"and {len(some) - _MOST} more", indent=1)


# Changes.


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
            _surfaces(page, surfaces, changes.blockers)
    if changes.activation:
        page.line("the switch of the whole capability differs", indent=1)
    _changed_files(page, changes)
    for title, words in (
        ("New text for agents:", changes.instructions_added),
        ("Text for agents that is gone:", changes.instructions_removed),
    ):
        if words:
            page.heading(title)
            _listed(page, words, lambda word: page.line(_instruction(word), indent=1))
    for title, gates in (
        ("New gates:", changes.gates_added),
        ("Gates that are gone:", changes.gates_removed),
    ):
        if gates:
            page.heading(title)
            _listed(page, gates, lambda gate: _gate(page, gate))
    for title, keys in (
        ("New configuration keys:", changes.config_added),
        ("Configuration keys that are gone:", changes.config_removed),
    ):
        if keys:
            page.heading(title)
            _listed(page, keys, lambda use: page.line(_key(use), indent=1))
    _blockers(page, changes.blockers)
    return page.render()


def _change_headline(changes: Changes) -> tuple[str, str]:
    if changes.code:
        return "What it runs has changed", _WARNING
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
            _listed(
                page,
                files,
                lambda file: _wrapped(page, f"{file.how} ", [file.path], 1),
            )


# JSON.


def disclosure_wire(disclosure: Disclosure, pin: Pin | None = None) -> dict[str, Any]:
    """Return a disclosure as fresh JSON data, with its signature."""
    return {
        "header": _wire(disclosure.header),
        "runsCode": disclosure.runs_code,
        "surfaces": [_surface_wire(one) for one in disclosure.surfaces],
        "instructions": _wires(disclosure.instructions),
        "gates": _wires(disclosure.gates),
        "config": _wires(disclosure.config),
        "activation": _plain(disclosure.activation),
        "codeFiles": dict(disclosure.code_files),
        "textFiles": dict(disclosure.text_files),
        "blockers": _wires(disclosure.blockers),
        "pin": _plain(pin),
        "signature": signature(disclosure),
    }


def changes_wire(changes: Changes) -> dict[str, Any]:
    """Return changes as fresh JSON data."""
    return {
        "code": changes.code,
        "text": changes.text,
        "added": [_surface_wire(one) for one in changes.added],
        "removed": [_surface_wire(one) for one in changes.removed],
        "instructionsAdded": _wires(changes.instructions_added),
        "instructionsRemoved": _wires(changes.instructions_removed),
        "gatesAdded": _wires(changes.gates_added),
        "gatesRemoved": _wires(changes.gates_removed),
        "configAdded": _wires(changes.config_added),
        "configRemoved": _wires(changes.config_removed),
        "files": _wires(changes.files),
        "activation": changes.activation,
        "blockers": _wires(changes.blockers),
    }


def _surface_wire(surface: Surface) -> dict[str, Any]:
    return {"kind": surface.kind, **_wire(surface)}


def _wires(records: Iterable[Record]) -> list[dict[str, Any]]:
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
