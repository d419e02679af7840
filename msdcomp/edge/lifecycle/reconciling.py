"""`reconcile`: what commands that were killed have left, finished, undone or cleared.

Whoever holds the lock of a site is alone in it, so everything half done belongs to
somebody who is gone.
Source: docs/explanation/lifecycle.md, "What a kill can leave".
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import attrs

from msdcomp.edge.consent import settle_consent
from msdcomp.edge.consentstore import list_consents, store_path
from msdcomp.edge.files import FileFault
from msdcomp.edge.ledger import LEDGER_NAME
from msdcomp.edge.ledgerfile import InstalledEntry, LedgerFile, read_entries
from msdcomp.edge.lifecycle.recovery import recover
from msdcomp.edge.lifecycle.settled import recorded
from msdcomp.edge.lifecycle.temporaries import cleared, temporaries
from msdcomp.edge.lifecycle.yard import Yard, open_yard
from msdcomp.edge.locks import WAIT_S, consent_lock, lifecycle_lock
from msdcomp.edge.roots import LOCK_NAME, STAGING_NAME
from msdcomp.edge.storetext import StoreState
from msdcomp.records import Record
from msdcomp.safetext import safe

if TYPE_CHECKING:
    from msdcomp.edge.lifecycle.site import Site

__all__ = ["Settled", "Trace", "reconcile", "traces"]


@attrs.frozen(eq=False, repr=False)
class Trace(Record):
    """Something a killed command has left.

    Attributes:
        what: `pending`, `staging`, `temporary` or `provisional`.
        name: Id of the capability, or name of the file or folder.
    """

    what: str
    name: str


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Settled(Record):
    """What became of what was left.

    Attributes:
        done: `(name, what was done)`.
        left: `(name, why nothing could be done)`.
    """

    done: tuple[tuple[str, str], ...] = ()
    left: tuple[tuple[str, str], ...] = ()


def traces(site: Site) -> tuple[Trace, ...] | FileFault:
    """Return what there is to reconcile; looks only, and takes no lock.

    Some of it may belong to a command that is at work right now.
    """
    ledger = read_entries(site.root.ledger_root)
    if ledger.state is StoreState.CORRUPT and ledger.fault:
        return ledger.fault
    found = [Trace("pending", entry.id) for entry in _pending(ledger)]
    if os.path.lexists(f"{site.root.folder}/{STAGING_NAME}"):
        found.append(Trace("staging", site.path(STAGING_NAME)))
    found += [
        Trace("temporary", file)
        for file in (*_temporary(site, ledger), *_beside_store(site)[1])
    ]
    found += [Trace("provisional", name) for name in _provisional(site)]
    return tuple(found)


def reconcile(site: Site, *, wait_s: float = WAIT_S) -> Settled | FileFault:
    """Finish, undo and clear away whatever was left; does nothing where nothing was.

    Returns:
        What was done, or why nothing was: the scope is in use, or its ledger cannot be
        read.
    """
    left = traces(site)
    if isinstance(left, FileFault):
        return left
    if not left:
        _clear_lock(site)
        return Settled()
    with lifecycle_lock(site.root.ledger_root, wait_s, own=site.is_own) as busy:
        if busy:
            return busy
        ledger = read_entries(site.root.ledger_root)
        if ledger.state is StoreState.CORRUPT and ledger.fault:
            return ledger.fault
        with open_yard(site) as yard:
            if isinstance(yard, FileFault):
                return yard
            return _settled(site, yard, ledger)


def _clear_lock(site: Site) -> None:
    """Delete the lock file of a command that was killed before it left anything else.

    It means nothing, but would show in a repository. Whoever holds it keeps it.
    """
    if os.path.lexists(f"{site.root.folder}/{LOCK_NAME}"):
        with lifecycle_lock(site.root.ledger_root, 0, own=site.is_own):
            pass  # letting it go deletes it


def _settled(site: Site, yard: Yard, ledger: LedgerFile) -> Settled:
    done: list[tuple[str, str]] = []
    left: list[tuple[str, str]] = []
    for entry in _pending(ledger):
        # One that cannot be settled does not keep the others from it.
        found = recover(site, yard, entry)
        if isinstance(found, FileFault):
            left.append((entry.id, found.reason))
        else:
            done.append((entry.id, found))
    waiting = _pending(read_entries(site.root.ledger_root))
    kept = {entry.pending.backup_name for entry in waiting if entry.pending}
    names = [name for name in yard.names() if name not in kept]
    gone = [name for name in names if _is_cleared(yard, name)]
    if gone:
        done.append((site.path(STAGING_NAME), "what was left in it was deleted"))
    if len(gone) < len(names):
        left.append((site.path(STAGING_NAME), "not all of it could be deleted"))
    done += [(file, "deleted") for file in _cleared(site, ledger)]
    still = {entry.id for entry in waiting}
    for name in _provisional(site):
        if name not in still:
            settle_consent(site.home, site.consent_root, name, scope=site.scope)
    return Settled(done=tuple(done), left=tuple(left))


def _pending(ledger: LedgerFile) -> list[InstalledEntry]:
    return [entry for entry in ledger.entries.values() if entry.pending is not None]


def _is_cleared(yard: Yard, name: str) -> bool:
    try:
        yard.delete(name)
    except OSError:
        return False
    return True


def _provisional(site: Site) -> list[str]:
    """Return the ids whose agreement still says what it replaced."""
    found = list_consents(site.home)
    if isinstance(found, FileFault):
        return []
    return [
        record.id
        for record in found
        if record.provisional
        and (record.scope, record.project_root) == (site.scope, site.consent_root)
    ]


# Temporary files


def _temporary(site: Site, ledger: LedgerFile) -> tuple[str, ...]:
    """Return temporary files beside what is written under the lock of a site."""
    shared = (
        file
        for entry in ledger.entries.values()
        for file in (
            *recorded(entry),
            *(entry.pending.shared_files if entry.pending else ()),
        )
    )
    return temporaries(site.root.ledger_root, (LEDGER_NAME, *shared))


def _beside_store(site: Site) -> tuple[str, tuple[str, ...]]:
    """Return the folder of the consent store, and the temporary files of that."""
    folder, _, store = store_path(site.home).rpartition("/")
    return folder, temporaries(folder, [store])


def _cleared(site: Site, ledger: LedgerFile) -> list[str]:
    found = cleared(site.root.ledger_root, _temporary(site, ledger))
    folder, left = _beside_store(site)
    if left:
        with consent_lock(site.home) as busy:
            if not busy:
                found += cleared(folder, left)
    return [safe(name) for name in found]
