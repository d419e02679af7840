"""A parcel among the overlays that are there, as a load would find them.

Source: docs/explanation/lifecycle.md, "A plan is a value".
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from msdcomp.disclosure import MANIFEST
from msdcomp.edge.consentstore import ConsentRecord
from msdcomp.edge.files import FileFault
from msdcomp.edge.firstparty import first_party
from msdcomp.edge.ledger import Ledger, LedgerEntry
from msdcomp.edge.scan import RootScan
from msdcomp.edge.sight import RootReader, Sight
from msdcomp.edge.snapshot import read_central_config
from msdcomp.fold import compose
from msdcomp.host import Host
from msdcomp.scope import Consent, Scope

if TYPE_CHECKING:
    from msdcomp.candidate import Candidate
    from msdcomp.composition import Composition
    from msdcomp.edge.lifecycle.parcel import Parcel
    from msdcomp.edge.lifecycle.site import Site
    from msdcomp.edge.lifecycle.world import World

__all__ = ["candidate_of", "composed", "place_of", "record_of", "with_parcel"]


def composed(site: Site, world: World) -> Composition:
    """Return what a load of this world would, and all to compose it again."""
    host = Host(version=site.host_version, central=read_central_config())
    return compose(first_party(), world.candidates, host)


def place_of(candidate: Candidate) -> tuple[Scope, str]:
    """Return what tells one folder from every other."""
    return candidate.scope, candidate.path


def with_parcel(site: Site, world: World, parcel: Parcel) -> tuple[Candidate, ...]:
    """Return the overlays that a load would find with the parcel installed."""
    folder = parcel.manifest.id
    own = (site.scope, site.path(folder))
    kept = (one for one in world.candidates if place_of(one) != own)
    return (*kept, candidate_of(site, parcel))


def candidate_of(site: Site, parcel: Parcel) -> Candidate:
    """Return what a scan will make of a parcel once it is installed and agreed to."""
    folder = parcel.manifest.id
    known = LedgerEntry(committed=True, gate_points=parcel.gate_points)
    reader = RootReader(site.root, FileFault("missing", "not there yet"))
    project = site.scope is Scope.PROJECT
    sight = Sight(
        name=folder,
        data=parcel.bundle.files[MANIFEST.encode()],
        bundle=parcel.bundle,
        consent=Consent.MATCHES if project else Consent.NONE,
        record=record_of(site, parcel) if project else None,
    )
    ledger = Ledger(entries=MappingProxyType({folder: known}))
    found, _ = RootScan(reader, ledger).read(sight)
    return found  # type: ignore[return-value]  # nothing of it is ignored


def record_of(site: Site, parcel: Parcel) -> ConsentRecord:
    """Return the agreement to a parcel, as it is written down."""
    return ConsentRecord(
        project_root=site.consent_root,
        id=parcel.manifest.id,
        scope=site.scope,
        content_hash=parcel.bundle.digest,
        gate_points=parcel.gate_points,
        integrity=parcel.integrity,
        disclosure_signature=parcel.signature,
        reviewer_host=parcel.disclosure.reviewer_host,
    )
