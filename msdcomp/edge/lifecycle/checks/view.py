"""What the checks of one site look at, read once."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

import attrs

from msdcomp.disclosure import MANIFEST
from msdcomp.edge.consentstore import ConsentRecord, ConsentStore, as_recorded
from msdcomp.edge.content_hash import Bundle
from msdcomp.edge.disclosing import disclosure_of
from msdcomp.edge.ledgerfile import InstalledEntry, LedgerFile, read_entries
from msdcomp.edge.lifecycle.checks.composed import is_root
from msdcomp.edge.lifecycle.world import Installed, Kind, look_at
from msdcomp.edge.storetext import StoreState
from msdcomp.health import Finding, finding
from msdcomp.records import Record
from msdcomp.safetext import is_capability_id, safe
from msdcomp.scope import Scope
from msdcomp.signature import signature
from msdcomp.wire import decode

if TYPE_CHECKING:
    from msdcomp.edge.files import FileFault
    from msdcomp.edge.lifecycle.site import Site
    from msdcomp.edge.scan import Scan
    from msdcomp.manifest import Manifest

__all__ = ["Held", "View", "command", "named", "view_of"]

#: Stands for the name of a project's folder that could be a sentence.
_WITHHELD = "(name withheld)"


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Held(Record):
    """What is in the place of a capability: what is asked about it, not its files.

    Attributes:
        kind: What it is.
        fault: Why it cannot be read whole.
        digest: Hash of its content; empty where that cannot be read.
        signature: Of what it would run, send or tell; empty unless a store speaks of
            other content.
        manifest: Its manifest, where that is valid.
    """

    kind: Kind
    fault: FileFault | None = None
    digest: str = ""
    signature: str = ""
    manifest: Manifest | None = attrs.field(default=None, repr=False)


@attrs.frozen(kw_only=True, eq=False, repr=False)
class View(Record):
    """One site as it is now.

    Attributes:
        site: Which.
        ledger: Its ledger.
        consent: The consent store.
        folders: Names of the folders in it that could be overlays.
        whole: Whether those are all of them.
        held: Name -> what is there; of everything that the ledger names or that
            somebody has agreed to, and of nothing else.
    """

    site: Site
    ledger: LedgerFile = attrs.field(repr=False)
    consent: ConsentStore = attrs.field(repr=False)
    folders: frozenset[str]
    whole: bool = True
    held: Mapping[str, Held] = attrs.field(repr=False)

    @property
    def settled(self) -> tuple[InstalledEntry, ...]:
        """The entries of the ledger that nothing is in flight for, by id."""
        entries = self.ledger.entries
        return tuple(
            entries[name] for name in sorted(entries) if entries[name].pending is None
        )

    @property
    def knows(self) -> bool:
        """Whether all that is here and all that was installed here is known."""
        return self.whole and self.ledger.state is not StoreState.CORRUPT

    def record(self, name: str) -> ConsentRecord | None:
        """Return what was agreed to, where that is known."""
        return _record(self.site, self.consent, name)

    def finding(
        self, code: str, name: str, reason: str, remedy: str = "", **fields: str
    ) -> Finding:
        """Return a finding about something of this site."""
        subject = named(self.site.scope, name)
        scope = self.site.scope.value
        return finding(code, reason, remedy, scope=scope, subject=subject, **fields)


def view_of(site: Site, consent: ConsentStore, found: Scan) -> View:
    """Look at a site; reads whole what the stores speak of, and nothing else."""
    scope = site.scope.value
    ledger = read_entries(site.root.ledger_root)
    folders = frozenset(
        one.folder
        for one in found.candidates
        if (one.scope, one.path) == (site.scope, site.path(one.folder))
    )
    root = as_recorded(site.consent_root)
    agreed = {
        name
        for about, where, name in consent.records
        if (about, where) == (site.scope, root)
    }
    held = {}
    for name in sorted({*ledger.entries, *(agreed & folders)}):
        entry, record = ledger.entries.get(name), _record(site, consent, name)
        recorded = {entry.content_hash if entry else ""}
        recorded |= {record.content_hash if record else ""}
        held[name] = _held(name, look_at(site, name), recorded - {""})
    return View(
        site=site,
        ledger=ledger,
        consent=consent,
        folders=folders,
        whole=not any(one.scope == scope and is_root(one) for one in found.ignored),
        held=MappingProxyType(held),
    )


def _record(site: Site, consent: ConsentStore, name: str) -> ConsentRecord | None:
    found = consent.find(site.consent_root, name, site.scope)
    return found if isinstance(found, ConsentRecord) else None


def _held(name: str, found: Installed, recorded: set[str]) -> Held:
    """Return what matters of what is installed.

    Args:
        name: Its folder.
        found: All of it, which would be much to keep for every capability.
        recorded: The hashes that the stores have of it.
    """
    bundle = found.bundle
    if not isinstance(bundle, Bundle):
        return Held(kind=found.kind, fault=bundle or found.fault)
    same = recorded <= {bundle.digest}
    return Held(
        kind=found.kind,
        digest=bundle.digest,
        signature="" if same else signature(disclosure_of(bundle)),
        manifest=decode(bundle.files.get(MANIFEST.encode(), b""), name).manifest,
    )


def named(scope: Scope, name: str) -> str:
    """Return a name that is safe to show.

    A cloned repository chooses the names of its folders, and of the entries of its
    ledger.
    """
    if scope is Scope.GLOBAL or is_capability_id(name):
        return safe(name)
    return _WITHHELD


def command(site: Site, verb: str, name: str) -> str:
    """Return a command about a capability, in backquotes; empty if none can name it."""
    if not is_capability_id(name):
        return ""
    return f"`msd capability {verb} {name} --scope {site.scope.value}`"
