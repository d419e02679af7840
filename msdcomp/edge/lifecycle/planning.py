"""Plans: what installing or removing a capability would do, without doing any of it.

A plan is judged by the very fold that a load runs, over the very overlays that a load
finds, with the change made among them: what is refused here would be skipped there.
Source: docs/explanation/lifecycle.md, "A plan is a value".
"""

from __future__ import annotations

from collections.abc import Iterable
from types import MappingProxyType
from typing import TYPE_CHECKING

import attrs

from msdcomp.disclosure import MANIFEST, compare, path_text
from msdcomp.edge.config import read_layers
from msdcomp.edge.consentstore import ConsentRecord
from msdcomp.edge.content_hash import Bundle
from msdcomp.edge.disclosing import disclosure_of
from msdcomp.edge.files import FileFault
from msdcomp.edge.firstparty import first_party
from msdcomp.edge.ledger import Ledger, LedgerEntry
from msdcomp.edge.ledgerfile import InstalledEntry, Pending, with_entry
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
from msdcomp.edge.scan import RootScan
from msdcomp.edge.sight import RootReader, Sight, name_text
from msdcomp.edge.snapshot import read_central_config
from msdcomp.edge.storetext import StoreState
from msdcomp.fold import compose
from msdcomp.host import Host
from msdcomp.manifest import CapabilityId
from msdcomp.plan import Block, Effects, FileEdit, Plan, effects, file_edits
from msdcomp.recomposition import recompose
from msdcomp.records import Record
from msdcomp.safetext import safe
from msdcomp.scope import Consent, Scope
from msdcomp.signature import drift
from msdcomp.verdict import BundlePath

if TYPE_CHECKING:
    from msdcomp.candidate import Candidate
    from msdcomp.composition import Composition
    from msdcomp.disclosure import Changes

__all__ = [
    "Prepared",
    "candidate_of",
    "dependents",
    "plan_install",
    "plan_removal",
    "planned_again",
    "record_of",
]

_LEDGER_REMEDY = "repair the ledger by hand, or move it away and install again"
_CONSENT_REMEDY = (
    "repair `consent.json` by hand, or move it away and agree again to what you still "
    "trust"
)
_RECONCILE = "run `msd capability reconcile`"


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
    before = _composed(site, world)
    after = recompose(before, _with(site, world, parcel))
    blocks = (
        *_store_blocks(world, folder),
        *_room_blocks(world, made),
        *_place_blocks(world, parcel),
        *(
            Block("settings", f"{safe(file)}: {fault.reason}", "mend it, or name none")
            for file, fault in edits.faults
        ),
        *_composition_blocks(site, folder, after),
    )
    told = effects(before, after, [(site.scope.value, folder)])
    blocks += tuple(
        Block(
            "displaces",
            f"{left.id} ({left.scope}) would no longer take part: {left.reason}",
            f"remove it first, if that is meant: {_removal(left.scope, left.id)}",
        )
        for left in told.leaves
    )
    asks = _asks(world, parcel, entry)
    nothing = not asks and not blocks and _is_done(world, made, parcel, edits)
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
        asks=asks,
        notes=(
            *parcel.notes,
            *_notes(
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


def _asks(world: World, parcel: Parcel, entry: InstalledEntry | None) -> str:
    """Return why the user must agree; what lies on the disk proves nothing."""
    record = world.record
    if not isinstance(record, ConsentRecord):
        return "nobody has agreed to it here yet"
    if not record.disclosure_signature:
        return "what was agreed to before was not recorded"
    differs = drift(record.disclosure_signature, parcel.signature)
    changed = [
        words
        for words, is_changed in (
            ("what it runs or sends", differs.surfaces),
            ("files that may run", differs.files),
            ("what it tells agents", differs.text),
        )
        if is_changed
    ]
    if changed:
        return f"{_listed(changed)} changed since it was agreed to"
    if entry is not None and _is_edited(world, entry):
        return "its folder was edited since it was installed, and the edits would go"
    return ""


def _listed(words: list[str]) -> str:
    return " and ".join([", ".join(words[:-1]), words[-1]] if words[1:] else words)


def _is_edited(world: World, entry: InstalledEntry) -> bool:
    found = world.installed.digest
    return bool(entry.content_hash) and bool(found) and found != entry.content_hash


def _notes(
    world: World,
    entry: InstalledEntry | None,
    *,
    declared: bool,
    hooks: bool,
    kept: tuple[str, ...],
) -> tuple[str, ...]:
    notes = []
    if declared and not hooks:
        notes.append("no settings file can name its hooks: the path is not UTF-8")
    if hooks and not kept:
        notes.append("no host runs its hooks yet: name a settings file with --settings")
    if entry is not None and _is_edited(world, entry):
        notes.append("its folder was edited since it was installed; the edits would go")
    return tuple(notes)


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


# What stands in the way


def _store_blocks(world: World, folder: str) -> tuple[Block, ...]:
    blocks = []
    if world.ledger.state is StoreState.CORRUPT and world.ledger.fault:
        reason = f"the ledger cannot be read: {world.ledger.fault.reason}"
        blocks.append(Block("ledger-unreadable", reason, _LEDGER_REMEDY))
    if world.record is Consent.UNREADABLE:
        reason = "what was agreed to cannot be read"
        blocks.append(Block("consent-unreadable", reason, _CONSENT_REMEDY))
    entry = world.entry(folder)
    if entry is not None and entry.pending is not None:
        reason = f"an earlier {entry.pending.kind} of it was interrupted"
        blocks.append(Block("pending", reason, _RECONCILE))
    return tuple(blocks)


def _room_blocks(world: World, made: InstalledEntry) -> tuple[Block, ...]:
    """Return why the ledger cannot take an entry, before anything is made for it."""
    begun = attrs.evolve(made, pending=Pending(kind="install"))
    found = with_entry(world.ledger.data, begun, "")
    if not isinstance(found, FileFault):
        return ()
    reason = f"the ledger cannot take an entry of it: {found.reason}"
    return (Block("ledger-unwritable", reason, _LEDGER_REMEDY),)


def _place_blocks(world: World, parcel: Parcel) -> tuple[Block, ...]:
    installed, folder = world.installed, parcel.manifest.id
    known = world.entry(folder) is not None or folder in world.ledger.unclear
    match installed.kind:
        case Kind.UNKNOWN if installed.fault is not None:
            return (Block("place", f"the overlay root: {installed.fault.reason}"),)
        case Kind.LINK:
            return (_occupied("a symbolic link is", folder),)
        case Kind.OTHER:
            return (_occupied("something that is no folder is", folder),)
        case Kind.FOLDER if not known and installed.digest == parcel.bundle.digest:
            # The very same content: all that is missing is that somebody says so.
            return ()
        case Kind.FOLDER if not known:
            return (_occupied("a folder that was not installed is", folder),)
        case Kind.FOLDER if isinstance(installed.bundle, FileFault):
            reason = f"what is installed cannot be read: {installed.bundle.reason}"
            return (Block("occupied", reason, f"run {_command(folder)}"),)
        case _:
            return ()


def _occupied(what: str, folder: str) -> Block:
    remedy = f"move it away, or run {_command(folder)}"
    return Block("occupied", f"{what} in its place", remedy)


def _command(folder: str) -> str:
    return f"`msd capability remove {folder}`"


def _removal(scope: str, folder: str) -> str:
    return f"`msd capability remove {folder} --scope {scope}`"


def _composition_blocks(
    site: Site, folder: str, after: Composition
) -> tuple[Block, ...]:
    """Return why a load would not take it."""
    own = BundlePath(scope=site.scope.value, path=site.path(folder))
    if after.paths.get(CapabilityId(folder)) == own:
        return ()
    for key in ((site.scope.value, folder), ("set", "*")):
        for warning in after.warnings.get(key, ()):
            return (
                Block(
                    warning.code,
                    f"it would be left out: {warning.reason}",
                    problems=warning.problems,
                ),
            )
    return (Block("left-out", "it would be left out"),)


# Composing


def _composed(site: Site, world: World) -> Composition:
    host = Host(version=site.host_version, central=read_central_config())
    return compose(first_party(), world.candidates, host)


def _place(candidate: Candidate) -> tuple[Scope, str]:
    return candidate.scope, candidate.path


def _with(site: Site, world: World, parcel: Parcel) -> tuple[Candidate, ...]:
    """Return the overlays that a load would find with the parcel installed."""
    folder = parcel.manifest.id
    own = (site.scope, site.path(folder))
    kept = (one for one in world.candidates if _place(one) != own)
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
    blocks = _removal_blocks(world, known=known)
    told = Effects()
    if not blocks:
        before = _composed(site, world)
        places = {(site.scope, site.path(name)), *map(_place, others)}
        left = [one for one in world.candidates if _place(one) not in places]
        about = [(site.scope.value, name), *(one.key for one in others)]
        told = effects(before, recompose(before, left), about)
    blocks += tuple(
        Block(
            "dependents",
            f"{left.id} ({left.scope}) depends on it: {left.reason}",
            "say --cascade to remove what depends on it as well",
        )
        for left in told.leaves
    )
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
    places = {_place(one): one for one in prepared.world.candidates}
    around = sites(prepared.site.places, prepared.site.host_version)
    before = _composed(prepared.site, prepared.world)
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


def _removal_blocks(world: World, *, known: bool) -> tuple[Block, ...]:
    installed = world.installed
    if world.ledger.state is StoreState.CORRUPT and world.ledger.fault:
        reason = f"the ledger cannot be read: {world.ledger.fault.reason}"
        return (Block("ledger-unreadable", reason, _LEDGER_REMEDY),)
    if installed.kind is Kind.UNKNOWN and installed.fault is not None:
        return (Block("place", f"the overlay root: {installed.fault.reason}"),)
    if installed.kind is Kind.OTHER:
        return (Block("occupied", "it is no folder, and nothing here put it there"),)
    if installed.kind is Kind.NOTHING and not known:
        return (Block("not-installed", "nothing of that name is installed here"),)
    return ()
