"""Our hook entries in a host's settings file, and nothing else of it.

The file is the user's own. What is not ours stays byte for byte outside of its `hooks`,
and value for value inside; a file that cannot be understood is not touched at all.
Source: docs/reference/disclosure.md, "Hook entries in a settings file".
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterable, Sequence
from typing import cast

import attrs

from msdcomp.edge.files import FileFault, fault_of, read_file, rewrite_atomic
from msdcomp.edge.jsonedit import set_member, unset_member
from msdcomp.edge.jsonfiles import Json, parse_object
from msdcomp.hookcommand import (
    HookCommand,
    hook_command,
    quoted,
    script_parts,
    script_reason,
)
from msdcomp.records import Record

__all__ = [
    "MARKER",
    "HookEntry",
    "HookScript",
    "SettingsEdit",
    "apply_edit",
    "plan_edit",
    "resolve_script",
    "splice",
]

#: Key of an entry that names the capability it was written for.
MARKER = "_msdCapability"

#: Where the hooks stand in a document.
_HOOKS = ("hooks",)

_WRONG_SHAPE = FileFault("wrong-shape", "its hooks are not lists by event")
_MOVED = FileFault("changed", "changed since it was looked at")
_ESCAPES = FileFault("escapes", "leads out of the folder")
_UNWRITABLE = FileFault("damaged", "its hooks hold what cannot be written again")


# Scripts.


@attrs.frozen(kw_only=True, eq=False, repr=False)
class HookScript(Record):
    """A hook's script as it lies on the disk.

    Attributes:
        path: Physical absolute path.
        command: The same, quoted for a shell.
        executable: Whether its owner may run it; without that bit the hook fails.
    """

    path: str
    command: HookCommand
    executable: bool


def resolve_script(bundle: str, script: str) -> HookScript | FileFault:
    """Return the script of a hook, physically inside its installed bundle.

    Args:
        bundle: The installed folder; links in the path to it are resolved.
        script: Path from there, as declared; a link is followed to its end.
    """
    reason = script_reason(script)
    if reason is not None:
        return FileFault("unsafe-path", f"the script's path {reason}")
    try:
        root = os.path.realpath(bundle, strict=True)
        real = os.path.realpath(
            os.path.join(root, *script_parts(script)),  # noqa: PTH118 - text, not Path
            strict=True,
        )
        found = os.stat(real, follow_symlinks=False)  # noqa: PTH116 - the same
    except (OSError, ValueError) as error:
        return fault_of(error)
    if not real.startswith(root.rstrip("/") + "/"):
        return _ESCAPES
    if not stat.S_ISREG(found.st_mode):
        return FileFault("not-regular", "not a regular file")
    command = hook_command(real)
    if command is None:
        return FileFault("unreadable", "its path is not text in UTF-8")
    return HookScript(
        path=real, command=command, executable=bool(found.st_mode & stat.S_IXUSR)
    )


# The edit, as a value.


@attrs.frozen(kw_only=True, eq=False, repr=False)
class HookEntry(Record):
    """A hook to be written: when the host runs it, and the command."""

    event: str
    command: HookCommand
    matcher: str | None = None

    def wire(self, capability_id: str) -> dict[str, Json]:
        """Return the entry as it stands in the file."""
        wire: dict[str, Json] = {MARKER: capability_id}
        if self.matcher is not None:
            wire["matcher"] = self.matcher
        wire["hooks"] = [{"type": "command", "command": self.command}]
        return wire


@attrs.frozen(kw_only=True, eq=False, repr=False)
class SettingsEdit(Record):
    """What becomes of a settings file.

    Attributes:
        path: The physical path; empty when only text was given.
        before: What is in the file; None when there is none.
        after: What is to be in it; None when there is none and none is needed.
        added: Event and JSON text of each entry that is new.
        removed: The same of each entry that goes.
    """

    path: str = ""
    before: bytes | None = attrs.field(default=None, repr=False)
    after: bytes | None = attrs.field(default=None, repr=False)
    added: tuple[tuple[str, str], ...] = ()
    removed: tuple[tuple[str, str], ...] = ()

    @property
    def changes(self) -> bool:
        """Whether anything is to be written."""
        return self.before != self.after


def splice(
    before: bytes | None, capability_id: str, wanted: Sequence[HookEntry]
) -> SettingsEdit | FileFault:
    """Return a settings file with exactly the wanted entries of one capability.

    Entries of the capability that are there already go, the wanted ones are appended to
    their events. A list or a `hooks` object that this empties goes too; one that was
    empty before stays. Where the wanted entries are all there, nothing changes.

    Args:
        before: The file's content; None when there is no file.
        capability_id: Whose entries.
        wanted: All of them; nothing to remove them all.

    Returns:
        The edit, or why the file cannot be edited: it is not strict JSON in UTF-8
        holding an object (`damaged`), or has hooks of another shape (`wrong-shape`).
    """
    if before is None:
        if not wanted:
            return SettingsEdit()
        document: dict[str, Json] = {}
        text = "{}\n"
    else:
        parsed = parse_object(before, strict=True)
        if isinstance(parsed, FileFault):
            return parsed
        document, text = parsed, before.decode()
    hooks = document.get("hooks", {})
    if not isinstance(hooks, dict):
        # Without hooks of the right shape there is none of ours.
        return _WRONG_SHAPE if wanted else SettingsEdit(before=before, after=before)
    if any(not isinstance(hooks.get(entry.event, []), list) for entry in wanted):
        return _WRONG_SHAPE
    made = [(entry.event, entry.wire(capability_id)) for entry in wanted]
    kept, removed = _without(hooks, capability_id)
    if [*_marked(hooks, capability_id)] == [*_by_event(made)]:
        return SettingsEdit(before=before, after=before)
    for event, entry in made:
        listed = cast("list[Json]", kept.setdefault(event, []))
        listed.append(cast("Json", entry))
    gone = not kept and bool(removed)
    try:
        after = unset_member(text, _HOOKS) if gone else set_member(text, _HOOKS, kept)
    except (RecursionError, ValueError):
        return _UNWRITABLE
    return SettingsEdit(
        before=before,
        after=after.encode(),
        added=tuple((event, _line(entry)) for event, entry in made),
        removed=tuple((event, _line(entry)) for event, entry in removed),
    )


def _line(value: object) -> str:
    return json.dumps(value)


def _by_event(
    made: Iterable[tuple[str, dict[str, Json]]],
) -> Iterable[tuple[str, object]]:
    return sorted(made, key=lambda pair: pair[0])


def _marked(hooks: dict[str, Json], capability_id: str) -> Iterable[tuple[str, object]]:
    """Return the entries of a capability by event, in the order of each list."""
    return sorted(
        (
            (event, entry)
            for event, listed in hooks.items()
            if isinstance(listed, list)
            for entry in listed
            if isinstance(entry, dict) and entry.get(MARKER) == capability_id
        ),
        key=lambda pair: pair[0],
    )


def _without(
    hooks: dict[str, Json], capability_id: str
) -> tuple[dict[str, Json], list[tuple[str, Json]]]:
    """Return hooks without the entries of a capability, and those entries."""
    kept: dict[str, Json] = {}
    removed: list[tuple[str, Json]] = []
    for event, listed in hooks.items():
        if not isinstance(listed, list):
            kept[event] = listed
            continue
        left: list[Json] = []
        for entry in listed:
            if not isinstance(entry, dict) or entry.get(MARKER) != capability_id:
                left.append(entry)
                continue
            removed.append((event, entry))
            theirs = _theirs(entry, capability_id)
            if theirs is not None:
                left.append(theirs)
        if left or not listed:
            kept[event] = left
    return kept, removed


def _theirs(entry: dict[str, Json], capability_id: str) -> Json:
    """Return what somebody else added to an entry of ours, or None.

    We write one command that runs a file of the bundle. Any other is the user's, who
    put it beside ours, and stays in an entry without the mark.
    """
    inner = entry.get("hooks")
    if not isinstance(inner, list):
        return None
    left = [hook for hook in inner if not _runs_bundle(hook, capability_id)]
    if not left or len(inner) == 1:
        return None
    rest = {key: value for key, value in entry.items() if key != MARKER}
    return {**rest, "hooks": left}


def _runs_bundle(hook: Json, capability_id: str) -> bool:
    command = hook.get("command") if isinstance(hook, dict) else None
    inside = quoted(f"/.msd/capabilities/{capability_id}/")[1:-1]
    return isinstance(command, str) and inside in command


# The file.


def plan_edit(
    root: str, path: str, capability_id: str, wanted: Sequence[HookEntry]
) -> SettingsEdit | FileFault:
    """Say what becomes of a settings file below a folder; writes nothing.

    Args:
        root: The folder that settings files of this scope lie in.
        path: The file, relative to it. A link is followed, so that it stays one, as
            long as it ends inside of `root`.
        capability_id: Whose entries.
        wanted: All of them; nothing to remove them all.
    """
    if path.startswith("/") or ".." in path.split("/"):
        return _ESCAPES
    try:
        # A home that is not there yet is made with the first thing that is installed.
        base = os.path.realpath(root)
        real = os.path.realpath(os.path.join(base, path))  # noqa: PTH118 - text
        real.encode()
    except (OSError, ValueError) as error:
        return fault_of(error)
    if not real.startswith(base.rstrip("/") + "/"):
        return _ESCAPES
    before = _content(real)
    if isinstance(before, FileFault):
        return before
    edit = splice(before, capability_id, wanted)
    return edit if isinstance(edit, FileFault) else attrs.evolve(edit, path=real)


def apply_edit(edit: SettingsEdit) -> FileFault | None:
    """Write a planned edit, unless the file is not what it was.

    The file is replaced whole and keeps its permissions: settings may hold secrets.

    Returns:
        None, also when there is nothing to do; else why nothing was written.
    """
    if not edit.changes or edit.after is None:
        return None
    now = _content(edit.path)
    if isinstance(now, FileFault):
        return now
    if now != edit.before:
        return _MOVED
    return rewrite_atomic(edit.path, edit.after)


def _content(path: str) -> bytes | FileFault | None:
    """Return what is in a file, or None when there is none."""
    found = read_file(path, follow=False)
    missing = isinstance(found, FileFault) and found.code == "missing"
    return None if missing else found
