"""Checks of the two stores, and of what a killed command has left."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from msdcomp.edge.files import FileFault
from msdcomp.edge.ledger import LEDGER_NAME
from msdcomp.edge.lifecycle.checks.view import View, command
from msdcomp.edge.lifecycle.reconciling import traces
from msdcomp.health import Finding, finding
from msdcomp.safetext import safe

if TYPE_CHECKING:
    from msdcomp.edge.consentstore import ConsentStore

__all__ = ["check_consent_store", "check_ledger", "check_traces"]

_STORE = ".msd/consent.json"

_AT_WORK = "unless a command is at work there right now"

#: What a trace is -> its code, and what it means.
_TRACES = {
    "pending": ("interrupted", "a change of it is half done"),
    "staging": ("staging-left", "holds what a command prepared or set aside"),
    "temporary": ("temporary-left", "was begun and never became the file"),
    "provisional": (
        "provisional-left",
        "the agreement to it still keeps the one that it replaced",
    ),
}


def check_consent_store(store: ConsentStore) -> Iterator[Finding]:
    """Yield what is wrong with the store of agreements itself."""
    if store.fault:
        yield finding(
            "consent-unreadable",
            f"nobody knows what was agreed to: {store.fault.reason}",
            "mend the file, or move it away and agree again to what you still trust",
            subject=_STORE,
        )
    for key in sorted(store.unclear):
        yield finding(
            "consent-record-unclear",
            f"the record under {safe(key, 200)} makes no sense",
            "agree again, or take the record out of the file",
            subject=_STORE,
        )


def check_ledger(view: View) -> Iterator[Finding]:
    """Yield what is wrong with the ledger itself."""
    fault = view.ledger.fault
    if fault:
        yield finding(
            "ledger-unreadable",
            f"nobody knows what was installed here: {fault.reason}",
            "mend the file, or move it away and install again",
            scope=view.site.scope.value,
            subject=LEDGER_NAME,
        )
    for name in sorted(view.ledger.unclear):
        removal = command(view.site, "remove", name)
        yield view.finding(
            "ledger-entry-unclear",
            name,
            "its entry in the ledger makes no sense, so no command can update it",
            f"install it again, or run {removal}"
            if removal
            else f"take the entry out of {LEDGER_NAME}",
        )


def check_traces(view: View) -> Iterator[Finding]:
    """Yield what `reconcile` would settle."""
    left = traces(view.site)
    if isinstance(left, FileFault):
        return  # the ledger, which has a finding of its own
    for trace in left:
        code, reason = _TRACES[trace.what]
        remedy = f"run `msd capability reconcile --scope {view.site.scope.value}`"
        scope = view.site.scope.value
        subject = safe(trace.name)
        yield finding(
            code, reason, f"{remedy}, {_AT_WORK}", scope=scope, subject=subject
        )
