"""The parts of a page about what a capability runs, sends and says.

Nobody can agree to what is hidden. So what runs is shown in full and in quotes: every
character that is not plain ASCII is spelled out, a long value goes on in the next line,
and nothing of it is cut. Names and prompts, which run nothing, are shortened with a
count.
Source: docs/reference/disclosure.md, "How it is shown".
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import TypeVar

from msdcomp.disclosure import (
    Blocker,
    CommandModule,
    CommandStep,
    ConfigKeyUse,
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
from msdcomp.present.page import Page
from msdcomp.safetext import safe

__all__ = [
    "WARNING",
    "add_blockers",
    "add_decided",
    "add_gate",
    "add_listed",
    "add_surfaces",
    "add_values",
    "instruction_text",
    "json_spelled",
    "key_text",
    "spelled",
]

_T = TypeVar("_T")

#: Characters of one value in one line.
_CHUNK = 76

#: Most names of a list that runs nothing.
_MOST = 100

WARNING = "bold red"

_ESCAPED = re.compile(r'["\\]|[^ -~]|(?<= ) ')
_ODD = re.compile(r"[^ -~]|(?<= ) ")


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


def json_spelled(text: str) -> str:
    """Return JSON text with every character that is not plain spelled out.

    It has quotes of its own, and its backslashes are escapes already.
    """
    return _ODD.sub(_code, text)


def add_values(page: Page, label: str, texts: Sequence[str], indent: int) -> None:
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


def add_surfaces(
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


def _surface(page: Page, surface: Surface) -> None:
    if isinstance(surface, Hook):
        add_values(page, "hook on ", [surface.event or ""], 1)
        add_values(page, "runs ", [surface.script or ""], 2)
        if surface.matcher is not None:
            add_values(page, "for ", [surface.matcher], 2)
        elif "matcher" not in dict(surface.residual):
            page.line("for every occurrence", indent=2)
    elif isinstance(surface, CommandModule):
        add_values(page, "command family ", [surface.family or ""], 1)
        if surface.module is not None:
            add_values(page, "loads ", [surface.module], 2)
        if surface.router is not None:
            add_values(page, "calls ", [surface.router], 2)
        if surface.subcommands:
            add_values(page, "with ", surface.subcommands, 2)
    elif isinstance(surface, ReviewerLane):
        _lane(page, surface)
    elif isinstance(surface, Resolver):
        add_values(page, "task content for ", [surface.prefix or ""], 1)
        add_values(page, "runs ", [surface.binary or "", *surface.args], 2)
        page.line(f"for at most {surface.timeout_ms or '?'} ms", indent=2)
    elif isinstance(surface, ShellGate):
        add_values(page, "gate at ", [surface.point or ""], 1)
        add_values(page, "predicate ", [surface.predicate or ""], 2)
        if surface.command is not None:
            add_values(page, "hands to a shell ", [surface.command], 2)
        _when(page, surface.when)
    elif isinstance(surface, CommandStep):
        add_values(page, "step at ", [surface.point or ""], 1)
        add_values(page, "runs the host's command ", [surface.command or ""], 2)
        _when(page, surface.when)
    elif isinstance(surface, Program):
        page.line("program to start orchestrations with", indent=1)
        add_values(page, "runs ", [surface.binary or "", *surface.args], 2)
    elif isinstance(surface, OtherSurface):
        add_values(page, "not understood, in ", [surface.field], 1)
        _words(page, "declared as ", [json_spelled(surface.declared)], 2)
    for use in surface.files:
        _file(page, use.path, use.content_hash)
    for name, text in surface.residual:
        _words(page, f"{spelled(name)} is ", [json_spelled(text)], 2)
    for key in surface.uses:
        add_decided(page, "decided by ", key, 2)


def _when(page: Page, when: str | None) -> None:
    if when is not None:
        add_values(page, "when ", [when], 2)


def _file(page: Page, path: str, content_hash: str | None) -> None:
    if content_hash is None:
        page.line((f"the file {spelled(path)} is NOT in the bundle", WARNING), indent=2)
    else:
        add_values(page, "file of the bundle ", [path], 2)
        page.line((f"hash {safe(content_hash, 200)}", "dim"), indent=3)


def _lane(page: Page, lane: ReviewerLane) -> None:
    add_values(page, "reviewer lane ", [lane.slug or ""], 1)
    add_values(page, "transport ", [lane.transport or ""], 2)
    if lane.binary is not None or lane.args:
        add_values(page, "runs ", [lane.binary or "", *lane.args], 2)
    for pair in lane.env:
        _words(page, "with ", [spelled(pair.name), "=", spelled(pair.value)], 2)
        if pair.denied:
            page.line(
                (
                    f"WARNING: {spelled(pair.name)} makes a program run other code",
                    WARNING,
                ),
                indent=3,
            )
    if lane.probe:
        add_values(page, "is probed by ", lane.probe, 2)
    if lane.requires_binaries:
        add_values(page, "needs ", lane.requires_binaries, 2)
    if lane.handler is not None:
        add_values(page, "handled by ", [lane.handler], 2)
    egress = lane.egress
    if egress.config_key is not None or egress.host is not None:
        add_values(page, "sends to the host set by ", [egress.config_key or ""], 2)
        if egress.default_host is not None:
            add_values(page, "else to ", [egress.default_host], 2)
        if egress.host is None:
            page.line(("no host is known yet", WARNING), indent=2)
        else:
            add_values(page, "which is now ", [egress.host], 2)
            page.line(
                ("that is this machine", "green")
                if egress.is_local
                else ("that is NOT this machine", WARNING),
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


def add_decided(page: Page, label: str, use: ConfigKeyUse, indent: int) -> None:
    """Add a key that decides about what runs: in full, as what runs is."""
    default = ["no default"]
    if use.default is not None:
        default = ["default", json_spelled(use.default)]
    words = [spelled(use.key), f"({safe(use.type or 'no type', 40)})", *default]
    _words(page, label, words, indent)


def key_text(use: ConfigKeyUse) -> str:
    """Return a key with type and default in one line, shortened."""
    default = "no default" if use.default is None else f"default {safe(use.default)}"
    return f"{spelled(safe(use.key))} ({safe(use.type or 'no type', 40)}, {default})"


def instruction_text(word: Instruction) -> str:
    """Return what speaks to an agent in one line, shortened."""
    if word.kind == "skill":
        return f"skill {spelled(safe(word.name))}"
    where = f" at {spelled(safe(word.point))}" if word.point is not None else ""
    role = f" to {spelled(safe(word.name))}" if word.name is not None else ""
    text = "text in the manifest" if word.path is None else spelled(safe(word.path))
    return f"{word.kind}{where}{role}: {text}"


def add_gate(page: Page, gate: ShownGate) -> None:
    """Add a gate: where, whether it blocks, what it checks, under which condition."""
    blocks = {True: "blocks", False: "advises", None: "may block"}[gate.blocking]
    page.line(
        f"at {spelled(safe(gate.point or ''))}, {blocks}: "
        f"{safe(gate.form or 'check', 40)} {spelled(safe(gate.check or ''))}",
        indent=1,
    )
    if gate.when is not None:
        page.line(f"when {key_text(gate.when)}", indent=2)


def add_blockers(page: Page, blockers: Sequence[Blocker]) -> None:
    """Add why a bundle cannot be agreed to, if there is a reason."""
    if blockers:
        page.heading("It cannot be installed as it is:")
        add_listed(page, blockers, lambda blocker: _blocker(page, blocker))


def _blocker(page: Page, blocker: Blocker) -> None:
    where = f" (at {safe(blocker.place)})" if blocker.place else ""
    page.line((safe(blocker.reason), WARNING), where, indent=1)


def add_listed(page: Page, some: Sequence[_T], add: Callable[[_T], None]) -> None:
    """Add the first of a list that runs nothing, and how many more there are."""
    for one in some[:_MOST]:
        add(one)
    if len(some) > _MOST:
        page.line(f"and {len(some) - _MOST} more", indent=1)
