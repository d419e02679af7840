"""Checks of what is installed: is it there, and is it what was agreed to?"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, TypeAlias

from msdcomp.edge.consentstore import as_recorded
from msdcomp.edge.lifecycle.checks.view import Held, View, command
from msdcomp.edge.lifecycle.origin import origin
from msdcomp.edge.lifecycle.world import Kind
from msdcomp.edge.roots import CAPABILITIES
from msdcomp.health import Finding
from msdcomp.safetext import is_capability_id, safe
from msdcomp.scope import Consent, Scope
from msdcomp.signature import drift
from msdcomp.sourcefault import SourceFault

if TYPE_CHECKING:
    from msdcomp.edge.ledgerfile import InstalledEntry
    from msdcomp.sourcepolicy import SourcePolicy

__all__ = [
    "Present",
    "check_agreements",
    "check_content",
    "check_entries",
    "check_places",
    "check_unused",
]

#: Tells whether a scope holds something of a name.
Present: TypeAlias = Callable[[Scope, str], bool]


def check_places(view: View) -> Iterator[Finding]:
    """Yield entries of the ledger whose folder is not there, and the reverse."""
    for entry in view.settled:
        yield from _placed(view, entry.id, view.held[entry.id])
    if not view.knows:
        return
    for name in sorted(view.folders - {*view.ledger.entries, *view.ledger.unclear}):
        yield view.finding(
            "hand-made",
            name,
            "no command installed it, so none can update it",
        )


def _placed(view: View, name: str, found: Held) -> Iterator[Finding]:
    again = command(view.site, "update", name)
    gone = command(view.site, "remove", name)
    remedy = f"{again} to fetch it again, {gone} to be rid of it" if again else ""
    match found.kind:
        case Kind.NOTHING:
            reason = "the ledger names it, and its folder is not there"
            yield view.finding("folder-missing", name, reason, remedy)
        case Kind.LINK | Kind.OTHER:
            what = "a symbolic link" if found.kind is Kind.LINK else "no folder"
            reason = f"{what} is in the place where it was installed"
            remedy = "move it away, and install again"
            yield view.finding("folder-replaced", name, reason, remedy)
        case _:
            if found.fault is not None:
                reason = f"its folder cannot be read whole: {found.fault.reason}"
                yield view.finding("folder-unreadable", name, reason, remedy)


def check_content(view: View) -> Iterator[Finding]:
    """Yield what is not the content that was agreed to, or that was installed."""
    for name, found in view.held.items():
        entry = view.ledger.entries.get(name)
        if not found.digest or (entry and entry.pending):
            continue
        record = view.record(name)
        agreed = record.content_hash if record else ""
        recorded = entry.content_hash if entry else ""
        if record and agreed != found.digest:
            yield view.finding(
                "differs-from-agreed",
                name,
                "its folder is not what was agreed to: "
                + _difference(found, record.disclosure_signature),
                _agreeing(view, name, installed=entry is not None),
            )
        if entry and recorded not in {"", found.digest, agreed}:
            again = command(view.site, "update", name)
            yield view.finding(
                "differs-from-installed",
                name,
                "its folder is not what was installed: "
                + _difference(found, entry.disclosure_signature),
                f"run {again} to have it again as its source offers it"
                if again
                else "",
            )


def _difference(found: Held, before: str) -> str:
    """Say what differs, by the signature of what was shown once."""
    if not before:
        return "what it was is not recorded"
    changed = drift(before, found.signature).told
    if not changed:
        return "nothing that runs, is sent or is told to agents has changed"
    return f"{', '.join(changed)} changed"


def _agreeing(view: View, name: str, *, installed: bool) -> str:
    """Return how to agree to what is there, or to get rid of it."""
    again = command(view.site, "update", name)
    if not again:
        return ""
    gone = command(view.site, "remove", name)
    ways = [f"{again} to have it as its source offers it"] if installed else []
    if view.site.scope is Scope.PROJECT:
        ways.append(f"`msd capability trust {name}` to agree to what is there")
    return f"{', '.join([*ways, gone])} to be rid of it"


def check_agreements(view: View) -> Iterator[Finding]:
    """Yield installs of the user's own that nobody has agreed to.

    In a project, composing says so.
    """
    site = view.site
    for entry in view.settled if site.scope is Scope.GLOBAL else ():
        found = view.consent.find(site.consent_root, entry.id, site.scope)
        if found is Consent.NONE:
            again = command(site, "update", entry.id)
            yield view.finding(
                "agreement-missing",
                entry.id,
                "nobody's agreement to it is recorded: another program installed it",
                f"run {again} to be shown it and asked" if again else "",
            )


def check_unused(views: Iterable[View], present: Present) -> Iterator[Finding]:
    """Yield agreements to what is not installed any more.

    Args:
        views: The sites; agreements about other projects are not looked at.
        present: Tells whether a scope holds something of a name, at any site of it.
    """
    told = set()
    for view in views:
        for key, record in sorted(view.consent.records.items()):
            scope, root, name = key
            here = (view.site.scope, as_recorded(view.site.consent_root))
            if record and view.whole and (scope, root) == here and key not in told:
                told.add(key)
                if not present(scope, name):
                    yield _unused(view, name)


def _unused(view: View, name: str) -> Finding:
    # No command takes back an agreement of the global scope alone.
    revoke = is_capability_id(name) and view.site.scope is Scope.PROJECT
    return view.finding(
        "agreement-unused",
        name,
        "it was agreed to and is not installed; the same content would not be asked "
        "about again",
        f"run `msd capability trust revoke {name}` to take that back"
        if revoke
        else "take the record out of the consent store, if that is not wanted",
    )


def check_entries(view: View, policy: SourcePolicy) -> Iterator[Finding]:
    """Yield entries of the ledger that say what no command of ours would write."""
    for entry in view.settled:
        yield from _odd(view, entry)
        yield from _source(view, entry, policy)


def _odd(view: View, entry: InstalledEntry) -> Iterator[Finding]:
    # A root of the home that counts as the project's has another path from there.
    own = {view.site.path(entry.id), f"{CAPABILITIES}/{entry.id}"}
    others = [file for file in entry.files if file not in own]
    if others:
        more = f" and {len(others) - 1} more" if len(others) > 1 else ""
        yield view.finding(
            "odd-files",
            entry.id,
            f"the ledger says that {safe(others[0], 120)}{more} belongs to it; "
            "no command here touches what is not its folder",
            "another program wrote that: look whether it left files behind",
        )
    marks = [edit.file for edit in entry.shared_edits if edit.marker != entry.id]
    if marks:
        more = f" and {len(marks) - 1} more" if len(marks) > 1 else ""
        yield view.finding(
            "odd-shared-edits",
            entry.id,
            f"the ledger says that a part of {safe(marks[0], 120)}{more} is its own, "
            "under a mark that is not its id; no command here touches that",
            "another program wrote that: look into the file",
        )


def _source(
    view: View, entry: InstalledEntry, policy: SourcePolicy
) -> Iterator[Finding]:
    spec = origin(entry, allow_insecure=True)
    fault = spec if isinstance(spec, SourceFault) else policy.fault(spec)
    if fault is not None:
        yield view.finding(
            "source-unusable",
            entry.id,
            f"no update can use its source: {fault.reason}",
            fault.hint or "install it again",
        )
    elif (
        not isinstance(spec, SourceFault)
        and spec.kind == "local"
        and not os.path.lexists(spec.location)
    ):
        yield view.finding(
            "source-gone",
            entry.id,
            f"its source is not there any more: {safe(spec.location, 200)}",
            "install it from another one, once you need an update",
        )
