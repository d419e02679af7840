"""Hosts' settings: which entries a capability is to have in which file.

Source: docs/reference/disclosure.md, "Hook entries in a settings file".
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable
from typing import TYPE_CHECKING

import attrs

from msdcomp.edge.consentstore import store_path
from msdcomp.edge.files import FileFault
from msdcomp.edge.ledgerfile import InstalledEntry, SharedEdit
from msdcomp.edge.roots import LEDGER_NAME
from msdcomp.edge.settings import HookEntry, SettingsEdit, apply_edit, plan_edit
from msdcomp.hookcommand import hook_command, script_parts
from msdcomp.plan import HookEdit
from msdcomp.records import Record

if TYPE_CHECKING:
    from msdcomp.edge.lifecycle.site import Site
    from msdcomp.manifest import Manifest

__all__ = [
    "FileEdits",
    "apply_edits",
    "hook_edits",
    "hook_entries",
    "plan_edits",
    "recorded",
    "shared_edits",
    "standing",
    "stood",
]


_OWN = FileFault("own", "capabilities themselves are kept there")


@attrs.frozen(kw_only=True, eq=False, repr=False)
class FileEdits(Record):
    """What becomes of some settings files.

    Attributes:
        edits: File, relative to the root of the scope, with its edit.
        faults: File with the reason why it is left alone.
    """

    edits: tuple[tuple[str, SettingsEdit], ...] = ()
    faults: tuple[tuple[str, FileFault], ...] = ()


def hook_entries(
    site: Site, folder: str, manifest: Manifest | None
) -> tuple[HookEntry, ...]:
    """Return the entries of a manifest's hooks, once it is installed.

    The command is the physical path that the script will have.
    """
    if manifest is None or manifest.feature is None:
        return ()
    root = os.path.realpath(site.root.folder)
    found = []
    for hook in manifest.feature.hooks:
        command = hook_command("/".join((root, folder, *script_parts(hook.script))))
        if command is not None:
            found.append(
                HookEntry(event=hook.event, command=command, matcher=hook.matcher)
            )
    return tuple(found)


def recorded(entry: InstalledEntry | None) -> tuple[str, ...]:
    """Return the settings files in which a capability has entries, by its ledger."""
    if entry is None:
        return ()
    files = (edit.file for edit in entry.shared_edits if edit.marker == entry.id)
    return tuple(dict.fromkeys(files))


def shared_edits(folder: str, files: Iterable[str]) -> tuple[SharedEdit, ...]:
    """Return what a ledger says about the settings files of a capability."""
    return tuple(SharedEdit(file=file, marker=folder) for file in files)


def plan_edits(
    site: Site,
    folder: str,
    files: Iterable[str],
    wanted: tuple[HookEntry, ...],
    keep: Iterable[str],
) -> FileEdits:
    """Return what becomes of settings files; writes nothing.

    Args:
        site: Where the files lie.
        folder: Whose entries.
        files: All files that may have entries of it.
        wanted: Its entries.
        keep: The files that are to have them; the others are to have none.
    """
    kept = frozenset(keep)
    edits, faults = [], []
    for file in dict.fromkeys(files):
        entries = wanted if file in kept else ()
        edit = plan_edit(site.root.ledger_root, file, folder, entries)
        if isinstance(edit, FileFault):
            faults.append((file, edit))
        elif _is_own(site, edit.path):
            faults.append((file, _OWN))
        else:
            edits.append((file, edit))
    return FileEdits(edits=tuple(edits), faults=tuple(faults))


def _is_own(site: Site, path: str) -> bool:
    """Tell whether a file is one in which capabilities themselves are kept.

    An entry there would change what was agreed to, or what is recorded; and a ledger
    that was planted could name the manifest of another capability.
    """
    roots = site.places.roots
    kept = [store_path(site.home), *(root.folder for root in roots)]
    kept += [f"{root.ledger_root}/{LEDGER_NAME}" for root in roots]
    physical = [os.path.realpath(one) for one in kept]
    return any(path == one or path.startswith(f"{one}/") for one in physical)


def standing(site: Site, folder: str, files: Iterable[str]) -> tuple[str, ...]:
    """Return what stands for the entries that a capability has in settings files.

    These are digests and no entries: a ledger holds them, which may have been planted,
    and whoever puts entries back by them takes the entries from a manifest.
    """
    edits = plan_edits(site, folder, files, (), ())
    return tuple(
        _mark(file, event, json.loads(text))
        for file, edit in edits.edits
        for event, text in edit.removed
    )


def stood(
    file: str, folder: str, entries: Iterable[HookEntry], marks: Iterable[str]
) -> tuple[HookEntry, ...]:
    """Return those entries that stood in a file when its marks were taken."""
    known = frozenset(marks)
    return tuple(
        entry
        for entry in entries
        if _mark(file, entry.event, entry.wire(folder)) in known
    )


def _mark(file: str, event: str, entry: object) -> str:
    text = json.dumps([file, event, entry], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def hook_edits(edits: FileEdits) -> tuple[HookEdit, ...]:
    """Return edits as a plan shows them."""
    return tuple(
        HookEdit(file, how, event, entry)
        for file, edit in edits.edits
        for how, entries in (("removed", edit.removed), ("added", edit.added))
        for event, entry in entries
    )


def apply_edits(edits: FileEdits) -> FileFault | None:
    """Write edits; return the first fault."""
    for file, edit in edits.edits:
        fault = apply_edit(edit)
        if fault:
            return FileFault(fault.code, f"{file}: {fault.reason}")
    return None
