"""What the checks of one site look at, read once."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

import attrs

from msdcomp.edge.consentstore import ConsentRecord, ConsentStore, as_recorded
from msdcomp.edge.ledgerfile import InstalledEntry, LedgerFile, read_entries
from msdcomp.edge.lifecycle.checks.composed import is_root
from msdcomp.edge.lifecycle.world import Installed, look_at
from msdcomp.edge.storetext import StoreState
from msdcomp.health import Finding, finding
from msdcomp.records import Record
from msdcomp.safetext import is_capability_id, safe
from msdcomp.scope import Scope

if TYPE_CHECKING:
    from msdcomp.edge.lifecycle.site import Site
    from msdcomp.edge.scan import Scan

__all__ = ["View", "command", "named", "view_of"]

#: Stands for the name of a project's folder that could be a sentence.
_WITHHELD = "(name withheld)"


@attrs.frozen(kw_only=True, eq=False, repr=False)
class View(Record):
    """One site as it is now.

    Attributes:
        site: Which.
        ledger: Its ledger.
        consent: The consent store.
        folders: Names of the folders in it that could be overlays.
        whole: Whether those are all of them.
        installed: Name -> what is there; of everything that the ledger names or that
            somebody has agreed to, and of nothing else.
    """

    site: Site
    ledger: LedgerFile = attrs.field(repr=False)
    consent: ConsentStore = attrs.field(repr=False)
    folders: frozenset[str]
    whole: bool = True
    installed: Mapping[str, Installed] = attrs.field(repr=False)

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
        site = self.site
        found = self.consent.find(site.consent_root, name, site.scope)
        return found if isinstance(found, ConsentRecord) else None

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
    names = sorted({*ledger.entries, *(agreed & folders)})
    return View(
        site=site,
        ledger=ledger,
        consent=consent,
        folders=folders,
        whole=not any(one.scope == scope and is_root(one) for one in found.ignored),
        installed=MappingProxyType({name: look_at(site, name) for name in names}),
    )


def named(scope: Scope, name: str) -> str:
    """Return a name that is safe to show.

    A cloned repository chooses the names of its folders, and of the entries of its
    ledger.
    """
    if scope is Scope.GLOBAL or is_capability_id(name):
        return safe(name)
    return _WITHHELD


def command(site: Site, verb: str, name: str, rest: str = "") -> str:
    """Return a command about a capability, in backquotes; empty if none can name it."""
    if not is_capability_id(name):
        return ""
    return f"`msd capability {verb} {name} --scope {site.scope.value}{rest}`"
