"""All that a plan is made from, as it is now: if this is the same, so is the plan.

Source: docs/explanation/lifecycle.md, "A plan is a value".
"""

from __future__ import annotations

import enum
import os
import stat
from typing import TYPE_CHECKING

import attrs

from msdcomp.edge.consentstore import ConsentRecord, read_consent
from msdcomp.edge.content_hash import Bundle, read_bundle
from msdcomp.edge.files import FileFault, fault_of, open_folder
from msdcomp.edge.folders import open_below
from msdcomp.edge.ledgerfile import InstalledEntry, LedgerFile, read_entries
from msdcomp.edge.roots import CAPABILITIES
from msdcomp.edge.scan import scan
from msdcomp.records import Record
from msdcomp.scope import Consent

if TYPE_CHECKING:
    from msdcomp.candidate import Candidate
    from msdcomp.edge.lifecycle.site import Site

__all__ = ["Installed", "Kind", "World", "look_at", "moved", "see"]


class Kind(enum.Enum):
    """What stands in the place of a bundle."""

    NOTHING = "nothing"
    FOLDER = "folder"
    LINK = "link"
    OTHER = "other"
    #: The folder above it cannot be looked into, so nobody knows.
    UNKNOWN = "unknown"


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Installed(Record):
    """What is installed under one name.

    Attributes:
        kind: What it is.
        bundle: The content of a folder, or why it cannot be read.
        fault: Why nobody knows.
    """

    kind: Kind
    bundle: Bundle | FileFault | None = attrs.field(default=None, repr=False)
    fault: FileFault | None = None

    @property
    def digest(self) -> str:
        """Hash of the content; empty where there is none to read."""
        return self.bundle.digest if isinstance(self.bundle, Bundle) else ""


@attrs.frozen(kw_only=True, eq=False, repr=False)
class World(Record):
    """What a plan for one capability is made from.

    Attributes:
        candidates: Every overlay here, of both scopes.
        ledger: The ledger of the site.
        installed: What stands in the capability's place.
        record: What the user has agreed to about it.
    """

    candidates: tuple[Candidate, ...] = attrs.field(repr=False)
    ledger: LedgerFile = attrs.field(repr=False)
    installed: Installed
    record: ConsentRecord | Consent

    def entry(self, folder: str) -> InstalledEntry | None:
        """Return what the ledger says of a folder, if that makes sense."""
        return self.ledger.entries.get(folder)


def see(site: Site, folder: str) -> World:
    """Look at all that a plan for a folder depends on; writes nothing."""
    consent = read_consent(site.home)
    return World(
        candidates=scan(site.places).candidates,
        ledger=read_entries(site.root.ledger_root),
        installed=look_at(site, folder),
        record=consent.find(site.consent_root, folder, site.scope),
    )


def look_at(site: Site, folder: str) -> Installed:
    """Return what is installed under a name of a site."""
    fd = _open_root(site)
    if isinstance(fd, FileFault):
        if fd.code == "missing":
            return Installed(kind=Kind.NOTHING)
        return Installed(kind=Kind.UNKNOWN, fault=fd)
    try:
        mode = os.lstat(folder, dir_fd=fd).st_mode
        if stat.S_ISLNK(mode):
            return Installed(kind=Kind.LINK)
        if not stat.S_ISDIR(mode):
            return Installed(kind=Kind.OTHER)
        bundle = read_bundle(folder, dir_fd=fd, follow=False)
        return Installed(kind=Kind.FOLDER, bundle=bundle)
    except FileNotFoundError:
        return Installed(kind=Kind.NOTHING)
    except (OSError, ValueError) as error:
        return Installed(kind=Kind.UNKNOWN, fault=fault_of(error))
    finally:
        os.close(fd)


def _open_root(site: Site) -> int | FileFault:
    """Open the overlay root as a change would, without making anything."""
    if site.is_own:
        return open_folder(site.root.folder)
    top = open_folder(site.root.ledger_root)
    if isinstance(top, FileFault):
        return top
    try:
        return open_below(top, CAPABILITIES.split("/"), make=False)
    except NotADirectoryError:
        # Not the same as nothing: a change could not be made there.
        return FileFault("not-a-folder", "not a folder")
    except OSError as error:
        return fault_of(error)


def moved(before: World, now: World) -> tuple[str, ...]:
    """Return what is not as it was, in words."""
    told = {
        "an overlay here": before.candidates == now.candidates,
        "the ledger": before.ledger == now.ledger,
        "what is installed": before.installed == now.installed,
        "an agreement": before.record == now.record,
    }
    return tuple(what for what, same in told.items() if not same)
