"""Finishing or undoing what was interrupted, by what the ledger says was begun.

Whoever installs, upgrades or removes writes its intent down first, and everything here
may be done again: a kill in the middle of a recovery is recovered by the next one. An
install or upgrade is undone, a removal is finished.

In a project the ledger came with a repository. So nothing it says leads anywhere but to
the folder of its own id, to names in our own staging folder, and to entries of that id
in settings files of the same scope.
Source: docs/explanation/lifecycle.md, "What a kill can leave".
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from msdcomp.disclosure import MANIFEST
from msdcomp.edge.consent import restore_consent, revoke_consent
from msdcomp.edge.consentstore import ConsentRecord, read_consent
from msdcomp.edge.content_hash import Bundle
from msdcomp.edge.files import FileFault, fault_of
from msdcomp.edge.ledgerfile import (
    InstalledEntry,
    undone,
    without_entry,
)
from msdcomp.edge.lifecycle.ledgering import write_ledger
from msdcomp.edge.lifecycle.settled import (
    apply_edits,
    hook_entries,
    plan_edits,
    recorded,
    stood,
)
from msdcomp.edge.lifecycle.temporaries import cleared, temporaries
from msdcomp.edge.lifecycle.yard import Yard, aside_name, is_aside
from msdcomp.scope import Scope
from msdcomp.wire import decode

if TYPE_CHECKING:
    from msdcomp.edge.lifecycle.site import Site

__all__ = ["finish_removal", "recover"]


def recover(site: Site, yard: Yard, entry: InstalledEntry) -> str | FileFault:
    """Undo or finish what an entry says is in flight.

    The caller holds the lock of the site.

    Returns:
        What was done, in words, or why it could not be; then the entry stays as it is.
    """
    if entry.pending is None:
        return "nothing was in flight"
    try:
        match entry.pending.kind:
            case "install":
                return _undo_install(site, yard, entry)
            case "upgrade":
                return _undo_upgrade(site, yard, entry)
            case "remove":
                done = finish_removal(site, yard, entry)
                if isinstance(done, FileFault):
                    return done
                return "; ".join(("its removal was finished", *done))
    except OSError as error:
        return fault_of(error)


def _undo_install(site: Site, yard: Yard, entry: InstalledEntry) -> str | FileFault:
    told = "its install was undone"
    if yard.holds(entry.id):
        found = yard.read(entry.id)
        if isinstance(found, Bundle) and found.digest == entry.content_hash:
            _discard(yard, entry.id)
        else:
            # Not what the install put there, so it is somebody's own.
            told = "its install was undone; the folder of its name is left as it is"
    return (
        _settle_hooks(site, entry, None, ())
        or _restored(site, entry.id)
        or write_ledger(site, lambda old, now: undone(old, entry.id, now))
        or told
    )


def _undo_upgrade(site: Site, yard: Yard, entry: InstalledEntry) -> str | FileFault:
    backup = entry.pending.backup_name if entry.pending else None
    if backup is not None and not is_aside(backup, entry.id):
        return FileFault("foreign", "another program began it, and has to finish it")
    if backup is not None and yard.holds_aside(backup):
        if yard.holds(entry.id):
            _discard(yard, entry.id)
        yard.promote(backup, entry.id)
    if not yard.holds(entry.id):
        return (
            _settle_hooks(site, entry, None, ())
            or _restored(site, entry.id)
            or write_ledger(site, lambda old, now: without_entry(old, entry.id, now))
            or "nothing was left of it"
        )
    fault = _restored(site, entry.id)
    if fault:
        return fault
    found = yard.read(entry.id)
    agreed = found if _is_agreed(site, entry.id, found) else None
    return (
        _settle_hooks(site, entry, agreed, recorded(entry))
        or write_ledger(site, lambda old, now: undone(old, entry.id, now))
        or "its upgrade was undone"
    )


def finish_removal(
    site: Site, yard: Yard, entry: InstalledEntry
) -> tuple[str, ...] | FileFault:
    """Take a capability away: its hooks, its folder, the agreement, then its entry.

    Returns:
        What a person should know, or why it is not done.

    Raises:
        OSError: The disk will not have it.
    """
    fault = _settle_hooks(site, entry, None, ())
    if fault:
        return fault
    if yard.holds(entry.id):
        yard.set_aside(entry.id, aside_name(entry.id))
    # The agreement goes before the entry does: what is put there afterwards has to ask.
    revoked = _revoked(site, entry.id)
    fault = write_ledger(site, lambda old, now: without_entry(old, entry.id, now))
    if fault and fault.code != "missing":
        return fault
    if isinstance(revoked, FileFault):
        return (f"the agreement to it could not be taken back: {revoked.reason}",)
    return ()


def _revoked(site: Site, capability_id: str) -> FileFault | None:
    """Take back every agreement to what lay in this root.

    A home may be a project as well, by where a command is run, and then the same folder
    has been agreed to under either name.
    """
    own = os.path.realpath(site.root.ledger_root)
    roots = {(site.scope, site.consent_root), (Scope.PROJECT, own)}
    if own == os.path.realpath(site.home):
        roots.add((Scope.GLOBAL, own))
    for scope, root in sorted(roots):
        found = revoke_consent(site.home, root, capability_id, scope=scope)
        if isinstance(found, FileFault):
            return found
    return None


def _discard(yard: Yard, folder: str) -> None:
    aside = aside_name(folder)
    yard.set_aside(folder, aside)
    yard.delete(aside)


def _settle_hooks(
    site: Site,
    entry: InstalledEntry,
    bundle: Bundle | FileFault | None,
    keep: tuple[str, ...],
) -> FileFault | None:
    """Let settings files have the hooks of a bundle, and those alone.

    A file that cannot be edited is left as it is: whoever mends it will find entries
    that lead nowhere, which harms less than an install that is never settled.
    """
    data = bundle.files.get(MANIFEST.encode()) if isinstance(bundle, Bundle) else None
    manifest = decode(data, entry.id).manifest if data is not None else None
    marks = entry.pending.hooks if entry.pending else None
    shared = entry.pending.shared_files if entry.pending else ()
    files = dict.fromkeys((*recorded(entry), *shared))
    wanted = hook_entries(site, entry.id, manifest)
    fault = None
    for file in files:
        # One that the user had taken out before does not come back.
        entries = wanted if marks is None else stood(file, entry.id, wanted, marks)
        fault = fault or apply_edits(plan_edits(site, entry.id, [file], entries, keep))
    if fault is None:
        # Once the entry is gone, nobody knows any more where to look for them.
        root = site.root.ledger_root
        cleared(root, temporaries(root, files))
    return fault


def _is_agreed(site: Site, capability_id: str, found: Bundle | FileFault) -> bool:
    """Tell whether hooks of a folder may be written into settings.

    In a project the folder, too, came with the repository that the ledger came with.
    """
    if site.scope is Scope.GLOBAL:
        return True
    record = read_consent(site.home).find(site.consent_root, capability_id, site.scope)
    return (
        isinstance(record, ConsentRecord)
        and isinstance(found, Bundle)
        and record.content_hash == found.digest
    )


def _restored(site: Site, capability_id: str) -> FileFault | None:
    found = restore_consent(
        site.home, site.consent_root, capability_id, scope=site.scope
    )
    return found if isinstance(found, FileFault) else None
