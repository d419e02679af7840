"""What an overlay of a project is made of, for a user who is asked to agree to it.

The folder is read once: what is shown, what is hashed and what is agreed to are the
same bytes, so nothing that is swapped while somebody reads is agreed to with it.
Source: docs/explanation/trust.md.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import attrs

from msdcomp.disclosure import MANIFEST, Disclosure
from msdcomp.edge.config import read_layers
from msdcomp.edge.consent import ConsentRecord, write_consent
from msdcomp.edge.content_hash import Bundle, read_bundle
from msdcomp.edge.disclosing import disclosure_of
from msdcomp.edge.files import FileFault, open_folder
from msdcomp.records import Record
from msdcomp.scope import Scope
from msdcomp.signature import signature
from msdcomp.wire import decode

if TYPE_CHECKING:
    from msdcomp.edge.roots import Places

__all__ = ["Offer", "agree", "look"]


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Offer(Record):
    """An overlay of a project, as it is now.

    Attributes:
        capability_id: Name of its folder.
        project: Physical path of the project.
        path: The folder, relative to the project.
        content_hash: Of everything in it.
        disclosure: What it would run, send or tell an agent.
        gate_points: Loop points at which its manifest declares gates.
    """

    capability_id: str
    project: str
    path: str
    content_hash: str
    disclosure: Disclosure
    gate_points: tuple[str, ...]


def look(places: Places, capability_id: str) -> Offer | FileFault:
    """Return the project's overlay of an id, or why there is nothing to agree to.

    Args:
        places: Where overlays lie.
        capability_id: Name of its folder.
    """
    found: list[tuple[str, Bundle | FileFault]] = []
    for root in places.roots:
        if root.scope is not Scope.PROJECT:
            continue
        fd = open_folder(root.folder)
        if isinstance(fd, FileFault):
            continue
        try:
            bundle = read_bundle(capability_id, dir_fd=fd, follow=False)
        finally:
            os.close(fd)
        if not (isinstance(bundle, FileFault) and bundle.code == "missing"):
            found.append((f"{root.shown}/{capability_id}", bundle))
    if not found or places.project is None:
        return FileFault("missing", "no overlay of this project has that id")
    if len(found) > 1:
        where = " and ".join(path for path, _ in found)
        return FileFault("two", f"two folders have that id, {where}: remove one")
    path, bundle = found[0]
    if isinstance(bundle, FileFault):
        return bundle
    return _offer(capability_id, places.project, path, bundle)


def _offer(capability_id: str, project: str, path: str, bundle: Bundle) -> Offer:
    data = bundle.files.get(MANIFEST.encode(), b"")
    gates = decode(data, capability_id).gates
    return Offer(
        capability_id=capability_id,
        project=project,
        path=path,
        content_hash=bundle.digest,
        disclosure=disclosure_of(bundle, read_layers(project)),
        gate_points=tuple(dict.fromkeys(gate.point for gate in gates)),
    )


def agree(home: str, offer: Offer) -> ConsentRecord | FileFault:
    """Record that the user agrees to exactly what was looked at."""
    return write_consent(
        home,
        ConsentRecord(
            project_root=offer.project,
            id=offer.capability_id,
            content_hash=offer.content_hash,
            gate_points=offer.gate_points,
            disclosure_signature=signature(offer.disclosure),
            reviewer_host=offer.disclosure.reviewer_host,
        ),
    )
