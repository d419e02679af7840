"""What a change of what is installed would do, as a value to show and to compare.

A plan decides nothing and holds nothing to act with. Whoever was shown one has agreed
to what it says, so two plans that are equal need no second question.
Source: docs/explanation/lifecycle.md, "A plan is a value".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Literal, TypeAlias

import attrs

from msdcomp.diffing import Change, compare
from msdcomp.records import Record

if TYPE_CHECKING:
    from msdcomp.composition import Composition
    from msdcomp.diagnostics import Problem
    from msdcomp.disclosure import Changes, Disclosure

__all__ = [
    "Action",
    "Block",
    "Effects",
    "FileEdit",
    "HookEdit",
    "Leaves",
    "Pin",
    "Plan",
    "effects",
    "file_edits",
]

#: What is done: `none` when everything is already as it would be.
Action: TypeAlias = Literal["install", "upgrade", "remove", "none"]


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Pin(Record):
    """What holds the source to this content: `integrity`, `commit` or nothing."""

    kind: str = "none"
    value: str = ""


@attrs.frozen(eq=False, repr=False)
class Block(Record):
    """Why nothing may be done.

    Attributes:
        code: A permanent name; docs/reference/lifecycle.md lists them.
        reason: A clause for a person; text of strangers in it has been made safe.
        remedy: What to do about it; commands stand in backquotes.
        problems: The faults of a manifest, where it is one that blocks.
    """

    code: str
    reason: str
    remedy: str = ""
    problems: tuple[Problem, ...] = ()


@attrs.frozen(eq=False, repr=False)
class FileEdit(Record):
    """A file or link of the bundle that is `added`, `removed` or `changed`.

    `path` is relative to the bundle and safe to show; empty for the folder itself.
    """

    path: str
    how: str


@attrs.frozen(eq=False, repr=False)
class HookEdit(Record):
    """An entry of a host's settings that is `added` or `removed`.

    Attributes:
        file: The settings file, relative to the root of the scope.
        how: `added` or `removed`.
        event: When the host runs it.
        entry: The entry as JSON text.
    """

    file: str
    how: str
    event: str
    entry: str


@attrs.frozen(eq=False, repr=False)
class Leaves(Record):
    """An overlay that takes part now and would not any more, and why."""

    scope: str
    id: str
    reason: str


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Effects(Record):
    """What becomes of the composition here.

    Attributes:
        changes: Every difference, as `msd diff` tells it.
        joins: Ids of other overlays that would begin to take part.
        leaves: Other overlays that would cease to, each before those it depends on.
    """

    changes: tuple[Change, ...] = ()
    joins: tuple[str, ...] = ()
    leaves: tuple[Leaves, ...] = ()


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Plan(Record):
    """What would be done to one capability.

    Attributes:
        action: What is done.
        scope: Scope it is done in, as consent sees it.
        capability_id: The capability, and the name of its folder.
        path: The folder, relative to the root of the scope.
        source: Where it comes from; empty for a removal.
        pin: What holds that source to its content.
        version_before: Version that is installed; empty when none is.
        version: Version that would be; empty after a removal.
        content_hash: Hash of the new content; empty for a removal.
        disclosure: What the new content runs, sends or tells an agent.
        differs: What is new in that, where the installed content could be read.
        files: What becomes of the bundle's files.
        hooks: What becomes of hosts' settings.
        effects: What becomes of the composition.
        asks: Why the user must agree; empty when an earlier agreement covers it.
        notes: What else a person should know, a sentence each.
        blocks: Why it cannot be done; empty when it can.
    """

    action: Action
    scope: str
    capability_id: str
    path: str
    source: str = ""
    pin: Pin = Pin()
    version_before: str = ""
    version: str = ""
    content_hash: str = ""
    disclosure: Disclosure | None = None
    differs: Changes | None = None
    files: tuple[FileEdit, ...] = ()
    hooks: tuple[HookEdit, ...] = ()
    effects: Effects = Effects()
    asks: str = ""
    notes: tuple[str, ...] = ()
    blocks: tuple[Block, ...] = ()


def effects(
    before: Composition, after: Composition, own: Iterable[tuple[str, str]]
) -> Effects:
    """Return what differs between two compositions of one place.

    Args:
        before: As it is now.
        after: As it would be.
        own: `(scope, id)` of those that the change is about; the others count as
            joining or leaving.
    """
    about = frozenset(own)
    was = [place for place in _members(before) if place not in about]
    now = [place for place in _members(after) if place not in about]
    return Effects(
        changes=compare(before.to_wire(), after.to_wire()),
        joins=tuple(name for _, name in sorted({*now} - {*was})),
        leaves=tuple(
            Leaves(scope, name, _why(after, scope, name))
            for scope, name in reversed(was)
            if (scope, name) not in now
        ),
    )


def _members(composition: Composition) -> list[tuple[str, str]]:
    """Return `(scope, id)` of every overlay that takes part, as they were decided."""
    return [(composition.paths[name].scope, name) for name in composition.accepted]


def _why(after: Composition, scope: str, name: str) -> str:
    for key in ((scope, name), ("set", "*")):
        for warning in after.warnings.get(key, ()):
            return warning.reason
    return "it is no longer there"


def file_edits(
    before: Mapping[str, object], after: Mapping[str, object]
) -> tuple[FileEdit, ...]:
    """Return how files differ, by path.

    Args:
        before: Path -> anything that is equal for equal content.
        after: The same.
    """
    found = []
    for path in sorted({*before, *after}):
        if path not in before:
            found.append(FileEdit(path, "added"))
        elif path not in after:
            found.append(FileEdit(path, "removed"))
        elif before[path] != after[path]:
            found.append(FileEdit(path, "changed"))
    return tuple(found)
