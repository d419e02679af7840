"""What a ledger says about where something came from, as a source again.

Source: docs/reference/sources.md, "What may be written".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msdcomp.edge.consentstore import read_consent
from msdcomp.safetext import safe
from msdcomp.scope import Consent, Scope
from msdcomp.sourcefault import SourceFault
from msdcomp.sourcespec import SourceSpec, parse_source

if TYPE_CHECKING:
    from msdcomp.edge.ledgerfile import InstalledEntry
    from msdcomp.edge.lifecycle.site import Site

__all__ = ["origin", "unheard"]


def origin(
    entry: InstalledEntry, *, allow_insecure: bool = False
) -> SourceSpec | SourceFault:
    """Return the source of what is installed, or why an update cannot use it.

    Args:
        entry: What the ledger says; anybody may have written it.
        allow_insecure: Whether git may be spoken over `http` and `git`.
    """
    spec = parse_source(entry.source, "/", allow_insecure=allow_insecure)
    if isinstance(spec, SourceFault) or spec.kind != "local":
        return spec
    # We record absolute paths. Of a relative one nobody knows where it starts.
    if entry.source.strip().lower().startswith(("/", "file://")):
        return spec
    return SourceFault(
        "relative",
        f"{safe(entry.source, 120)} does not say where it starts from",
        "install it again",
    )


def unheard(site: Site, capability_id: str, spec: SourceSpec) -> bool:
    """Tell whether asking a source would follow a ledger that nobody has agreed to.

    The ledger of a project came with a repository. Asking its sources would speak to
    servers that a stranger chose, perhaps with the user's own keys. What lies on this
    machine speaks to nobody.
    """
    if site.scope is Scope.GLOBAL or spec.is_here:
        return False
    found = read_consent(site.home).find(site.consent_root, capability_id, site.scope)
    return found is Consent.NONE
