"""Generated sets of overlays on a disk, and a site that judges by their first party."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path

import attrs
import pytest

from msdcomp.composition import Composition
from msdcomp.edge.consent import ConsentRecord, write_consent
from msdcomp.edge.consentstore import is_id
from msdcomp.edge.content_hash import Bundle, read_bundle
from msdcomp.edge.ledgerfile import InstalledEntry, Pending, with_entry
from msdcomp.edge.lifecycle import Parcel, Site, composing, procure
from msdcomp.edge.lifecycle.composing import record_of
from msdcomp.edge.scan import scan
from msdcomp.fold import compose
from msdcomp.scope import Scope
from tests import overlays
from tests.edge.lifecycle.shops import folder_of, place, site_of, spec_of
from tests.overlays import FIRST_PARTY, WRITERS, Plan

__all__ = ["Ground", "by_hand", "ground", "made", "packed", "said"]

#: Files that any of the documents may name.
FILES = {"m.cjs": "", "note.md": "Mind the ebb.", "skills/x.md": "x"}


@attrs.frozen(kw_only=True)
class Ground:
    """A disk with overlays, and the two sites of it."""

    top: Path
    sites: dict[Scope, Site]


@contextlib.contextmanager
def ground(top: Path, plans: Iterable[Plan]) -> Iterator[Ground]:
    """Lay a set of overlays out in a new folder, which is gone afterwards."""
    home, project = top / "home", top / "project"
    home.mkdir(parents=True)
    (project / ".git").mkdir(parents=True)
    found = {scope: site_of(home, project, scope.value) for scope in Scope}
    laid = Ground(top=top, sites=found)
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(composing, "first_party", lambda: FIRST_PARTY)
            patch.setattr(composing, "read_central_config", _central)
            for scope, site in found.items():
                _lay(site, [plan for plan in plans if plan.scope is scope])
            yield laid
    finally:
        shutil.rmtree(top)


def _central() -> object:
    return overlays.HOST.central


def made(site: Site) -> Composition:
    """Return what a load would compose here, for the generated first party."""
    host = attrs.evolve(overlays.HOST, version=site.host_version)
    return compose(FIRST_PARTY, scan(site.places).candidates, host)


def packed(laid: Ground, plan: Plan) -> Parcel | None:
    """Return the overlay of a plan as a parcel, if nothing is wrong with it alone."""
    where = place(laid.top / "source", plan.document, FILES)
    found = procure(spec_of(where), laid.sites[plan.scope].host_version)
    return found if isinstance(found, Parcel) else None


def by_hand(site: Site, parcel: Parcel) -> None:
    """Put a parcel in its place without any command, and agree to it."""
    folder = folder_of(site, parcel.manifest.id)
    if folder.is_dir():
        shutil.rmtree(folder)
    for path in parcel.tree.folders:
        (folder / os.fsdecode(path)).mkdir(parents=True, exist_ok=True)
    for path, content in parcel.tree.files.items():
        target = folder / os.fsdecode(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
    record = write_consent(site.home, record_of(site, parcel))
    assert isinstance(record, ConsentRecord)


def _lay(site: Site, plans: list[Plan]) -> None:
    ledger: bytes | None = None
    for plan in plans:
        folder = folder_of(site, plan.folder)
        folder.parent.mkdir(parents=True, exist_ok=True)
        target = folder
        if plan.state == "linked":
            target = Path(site.home).parent / f"{plan.scope.value}-{plan.folder}"
            folder.symlink_to(target)
        _write(target, plan)
        if plan.state in {"there", "pending"} and is_id(plan.folder):
            written = with_entry(ledger, _entry(site, plan, target), "now")
            assert isinstance(written, bytes)
            ledger = written
        if site.scope is Scope.PROJECT and plan.state not in {"none", "linked"}:
            _agree(site, plan, target)
    if ledger is not None:
        Path(site.root.ledger_root, ".msd-capabilities.json").write_bytes(ledger)


def _write(target: Path, plan: Plan) -> None:
    place(target, {}, FILES)
    manifest = target / "capability.json"
    manifest.write_text(WRITERS[plan.writer](plan.document), "utf-8")
    if plan.state == "unreadable":
        manifest.unlink()
    note = target / "note.md"
    if plan.fragment == "blank":
        note.write_text("", "utf-8")
    elif plan.fragment == "missing":
        note.unlink()


def _entry(site: Site, plan: Plan, target: Path) -> InstalledEntry:
    bundle = read_bundle(str(target))
    assert isinstance(bundle, Bundle)
    return InstalledEntry(
        id=plan.folder,
        version="0.9.0",
        source="/gone",
        files=(site.path(plan.folder),),
        gate_points=plan.stored,
        content_hash=bundle.digest,
        pending=Pending(kind="install") if plan.state == "pending" else None,
    )


def _agree(site: Site, plan: Plan, target: Path) -> None:
    if not is_id(plan.folder):
        return
    bundle = read_bundle(str(target))
    assert isinstance(bundle, Bundle)
    record = ConsentRecord(
        project_root=site.consent_root,
        id=plan.folder,
        content_hash="sha512-other" if plan.state == "changed" else bundle.digest,
        gate_points=plan.stored,
    )
    assert isinstance(write_consent(site.home, record), ConsentRecord)


def said(composition: Composition, scope: Scope, folder: str) -> str:
    """Return the code of the warning that leaves an overlay out."""
    for key in ((scope.value, folder), ("set", "*")):
        for warning in composition.warnings.get(key, ()):
            return warning.code
    return ""
