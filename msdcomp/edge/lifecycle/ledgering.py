"""The ledger of a site, changed by whoever holds its lock."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msdcomp.edge.files import FileFault
from msdcomp.edge.ledgerfile import Change, change_ledger

if TYPE_CHECKING:
    from msdcomp.edge.lifecycle.site import Site

__all__ = ["write_ledger"]


def write_ledger(site: Site, change: Change) -> FileFault | None:
    """Change the ledger of a site; return why nothing was written, if so."""
    found = change_ledger(site.root.ledger_root, change)
    return found if isinstance(found, FileFault) else None
