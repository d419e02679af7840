"""Plans: what installing or removing a capability would do, without doing any of it.

A plan is judged by the very fold that a load runs, over the very overlays that a load
finds, with the change made among them: what is refused here would be skipped there.
Source: docs/explanation/lifecycle.md, "A plan is a value".
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import attrs

from msdcomp.disclosure import compare, path_text
from msdcomp.edge.config import read_layers
from msdcomp.edge.consentstore import ConsentRecord
from msdcomp.edge.content_hash import Bundle
from msdcomp.edge.disclosing import disclosure_of
from msdcomp.edge.ledgerfile import InstalledEntry
from msdcomp.edge.lifecycle.agreement import asks, notes
from msdcomp.edge.lifecycle.composing import composed, place_of, with_parcel
from msdcomp.edge.lifecycle.obstacles import (
    composition_blocks,
    dependent_blocks,
    displacing_blocks,
    place_blocks,
    removal_blocks,
    room_blocks,
    store_blocks,
)
from msdcomp.edge.lifecycle.parcel import Parcel
from msdcomp.edge.lifecycle.settled import (
    FileEdits,
    hook_edits,
    hook_entries,
    plan_edits,
    recorded,
    shared_edits,
)
from msdcomp.edge.lifecycle.site import Site, sites
from msdcomp.edge.lifecycle.world import Kind, World, see
from msdcomp.edge.sight import name_text
from msdcomp.manifest import CapabilityId
from msdcomp.plan import Block, Effects, FileEdit, Plan, effects, file_edits
from msdcomp.recomposition import recompose
from msdcomp.records import Record
from msdcomp.safetext import safe
from msdcomp.verdict import BundlePath

if TYPE_CHECKING:
    from msdcomp.candidate import Candidate
    from msdcomp.disclosure import Changes

__all__ = [
    "Prepared",
    "dependents",
    "plan_install",
    "plan_removal",
    "planned_again",
]


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Prepared(Record):
    """A plan, with all that is needed to carry it out.

    Attributes:
        plan: What it would do.
        site: Where.
        folder: To which folder.
        parcel: What is installed; None for a removal.
        settings: Settings files that are to have entries of it.
        gone: Others that are counted as removed already.
        edits: What becomes of settings files.
        world: What the plan was made from.
        entry: The ledger's new entry; None for a removal.
    """

    plan: Plan
    site: Site
    folder: str
    parcel: Parcel | None = None
    settings: tuple[str, ...] = ()
    gone: tuple[Candidate, ...] = ()
    edits: FileEdits = attrs.field(repr=False)
    world: World = attrs.field(repr=False)
    entry: InstalledEntry | None = None


def planned_again(prepared: Prepared) -> Prepared:
    """Return the same plan, made from the world as it is now."""
    if prepared.parcel is None:
        return plan_removal(prepared.site, prepared.folder, prepared.gone)
    return plan_install(prepared.site, prepared.parcel, prepared.settings)


# Installing


def plan_install(
    site: Site, parcel: Parcel, settings: Iterable[str] | None = None
) -> Prepared:
    """Return what installing a parcel would do, over a version of it or none.

    Args:
        site: Where.
        parcel: What.
        settings: Settings files, relative to the root of the scope, that are to have
            entries for its hooks; None for those that have them by the ledger.
    """
    folder = parcel.manifest.id
    world = see(site, folder)
    entry = world.entry(folder)
    had = recorded(entry)
    wanted = had if settings is None else tuple(dict.fromkeys(settings))
    feature = parcel.manifest.feature
    hooks = hook_entries(site, folder, parcel.manifest)
    edits = plan_edits(site, folder, (*had, *wanted), hooks, wanted)
    made = _entry(site, parcel, wanted if hooks else ())
    before = composed(site, world)
    after = recompose(before, with_parcel(site, world, parcel))
    blocks = (
        *store_blocks(world, folder),
        *room_blocks(world, made),
        *place_blocks(site, world, parcel),
        *(
            Block("settings", f"{safe(file)}: {fault.reason}", "mend it, or name none")
            for file, fault in edits.faults
        ),
        *composition_blocks(site, folder, after),
    )
    told = effects(before, after, [(site.scope.value, folder)])
    blocks += displacing_blocks(told.leaves)
    question = asks(world, parcel, entry)
    nothing = not question and not blocks and _is_done(world, made, parcel, edits)
    plan = Plan(
        action="none" if nothing else "upgrade" if entry else "install",
        scope=site.scope.value,
        capability_id=folder,
        path=site.path(folder),
        source=parcel.spec.text,
        pin=parcel.pin,
        version_before=entry.version if entry else "",
        version=parcel.manifest.version,
        content_hash=parcel.bundle.digest,
        disclosure=parcel.disclosure,
        differs=_differs(site, world, parcel),
        files=_files(world, parcel.bundle),
        hooks=hook_edits(edits),
        effects=told,
        asks=question,
        notes=(
            *parcel.notes,
            *notes(
                world,
                entry,
                declared=bool(feature and feature.hooks),
                hooks=bool(hooks),
                kept=wanted,
            ),
        ),
        blocks=blocks,
    )
    return Prepared(
        plan=plan,
        site=site,
        folder=folder,
        parcel=parcel,
        settings=wanted,
        edits=edits,
        world=world,
        entry=made,
    )


def _entry(site: Site, parcel: Parcel, settings: tuple[str, ...]) -> InstalledEntry:
    manifest = parcel.manifest
    return InstalledEntry(
        id=manifest.id,
        version=manifest.version,
        source=parcel.spec.text,
        integrity=parcel.integrity,
        commit=parcel.commit,
        files=(site.path(manifest.id),),
        shared_edits=shared_edits(manifest.id, settings),
        gate_points=parcel.gate_points,
        content_hash=parcel.bundle.digest,
        disclosure_signature=parcel.signature,
    )


def _is_done(
    world: World, made: InstalledEntry, parcel: Parcel, edits: FileEdits
) -> bool:
    """Tell whether everything is already as it would be."""
    entry = world.entry(made.id)
    record = world.record
    return (
        entry is not None
        and attrs.evolve(entry, installed_at="") == made
        and world.installed.digest == parcel.bundle.digest
        and isinstance(record, ConsentRecord)
        and record.content_hash == parcel.bundle.digest
        and not any(edit.changes for _, edit in edits.edits)
    )


def _differs(site: Site, world: World, parcel: Parcel) -> Changes | None:
    bundle = world.installed.bundle
    if not isinstance(bundle, Bundle):
        return None
    old = disclosure_of(bundle, read_layers(site.places.project))
    return compare(old, parcel.disclosure)


def _files(world: World, after: Bundle | None) -> tuple[FileEdit, ...]:
    before = world.installed.bundle
    old = before.files if isinstance(before, Bundle) else {}
    new = after.files if after is not None else {}
    return file_edits(
        {path_text(path): data for path, data in old.items()},
        {path_text(path): data for path, data in new.items()},
    )


# Removing


def plan_removal(site: Site, folder: str, gone: Iterable[Candidate] = ()) -> Prepared:
    """Return what removing a folder would do, whatever it is.

    Args:
        site: Where.
        folder: Name of the folder; a link of that name is removed, not followed.
        gone: Others that go before it.
    """
    world = see(site, folder)
    entry = world.entry(folder)
    # As a scan spells it; only a name that is no id can differ.
    name = name_text(folder)
    others = tuple(gone)
    known = entry is not None or folder in world.ledger.unclear
    pending = entry.pending if entry else None
    had = (*recorded(entry), *(pending.shared_files if pending else ()))
    edits = plan_edits(site, folder, had, (), ())
    blocks = removal_blocks(world, known=known)
    told = Effects()
    if not blocks:
        before = composed(site, world)
        places = {(site.scope, site.path(name)), *map(place_of, others)}
        left = [one for one in world.candidates if place_of(one) not in places]
        about = [(site.scope.value, name), *(one.key for one in others)]
        told = effects(before, recompose(before, left), about)
    blocks += dependent_blocks(told.leaves)
    plan = Plan(
        action="remove",
        scope=site.scope.value,
        capability_id=name,
        path=site.path(name),
        version_before=entry.version if entry else "",
        files=_gone_files(world),
        hooks=hook_edits(edits),
        effects=told,
        notes=tuple(
            f"{safe(file)} is left as it is, with entries of it if there are any: "
            f"{fault.reason}"
            for file, fault in edits.faults
        ),
        blocks=blocks,
    )
    return Prepared(
        plan=plan, site=site, folder=folder, gone=others, edits=edits, world=world
    )


def dependents(prepared: Prepared) -> tuple[tuple[Site, Candidate], ...]:
    """Return the overlays that a removal would make leave, with their sites.

    Each comes before those it depends on, so they can be removed in this order.
    """
    places = {place_of(one): one for one in prepared.world.candidates}
    around = sites(prepared.site.places, prepared.site.host_version)
    before = composed(prepared.site, prepared.world)
    found = []
    for left in prepared.plan.effects.leaves:
        # Of two folders of one name and scope, only that which takes part now.
        taken = before.paths[CapabilityId(left.id)]
        for site in around:
            place = BundlePath(scope=site.scope.value, path=site.path(left.id))
            if place == taken:
                found.append((site, places[site.scope, taken.path]))
    return tuple(found)


def _gone_files(world: World) -> tuple[FileEdit, ...]:
    if world.installed.kind in {Kind.LINK, Kind.FOLDER} and not world.installed.digest:
        # A link, or a folder that cannot be read whole.
        return (FileEdit("", "removed"),)
    return _files(world, None)
