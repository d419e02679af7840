"""Carrying a plan out, so that a kill at any moment leaves the old or the new state.

The order is always the same: the new bundle reaches the disk in our own folder, the
intent is written down, folders change places, settings and agreement follow, and the
ledger is written without the intent. That last write is the moment from which the
change counts; what is left to do then is clearing away.
Source: docs/explanation/lifecycle.md, "What a kill can leave".
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

import attrs

from msdcomp.edge.consent import settle_consent, write_consent
from msdcomp.edge.consentstore import is_id
from msdcomp.edge.content_hash import Bundle
from msdcomp.edge.files import FileFault, fault_of
from msdcomp.edge.ledgerfile import (
    Change,
    InstalledEntry,
    Pending,
    read_entries,
    with_entry,
    with_pending,
    without_entry,
)
from msdcomp.edge.lifecycle.composing import record_of
from msdcomp.edge.lifecycle.ledgering import write_ledger
from msdcomp.edge.lifecycle.parcel import gate_points_of
from msdcomp.edge.lifecycle.planning import Prepared, planned_again
from msdcomp.edge.lifecycle.recovery import finish_removal, recover
from msdcomp.edge.lifecycle.settled import apply_edits, standing
from msdcomp.edge.lifecycle.world import Kind, World, moved
from msdcomp.edge.lifecycle.yard import Yard, aside_name, is_aside, open_yard
from msdcomp.edge.locks import WAIT_S, lifecycle_lock
from msdcomp.edge.storetext import timestamp
from msdcomp.plan import Block, Plan
from msdcomp.records import Record

if TYPE_CHECKING:
    from msdcomp.edge.lifecycle.parcel import Parcel
    from msdcomp.edge.lifecycle.site import Site

__all__ = ["Done", "apply"]

#: What a folder is called aside that has no name a ledger could hold; no id itself,
#: or it would be taken for what an upgrade of that id has set aside.
_UNNAMED = "_unnamed"

#: Asked about the plan as it is now, when the world has moved.
Accepts: TypeAlias = Callable[[Plan], bool]


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Done(Record):
    """What was done.

    Attributes:
        plan: The plan that was carried out.
        notes: What a person should know, a sentence each.
    """

    plan: Plan
    notes: tuple[str, ...] = ()


def apply(
    prepared: Prepared,
    *,
    accepts: Accepts | None = None,
    wait_s: float = WAIT_S,
) -> Done | tuple[Block, ...]:
    """Carry out a plan that was agreed to.

    Args:
        prepared: The plan.
        accepts: Asked about the plan as it would be made now, where the world has moved
            since; without it, a plan from another world is refused. With it, a plan
            that is blocked is made again, too: what was in its way may have been
            another command at work.
        wait_s: Longest time to wait for another command, in seconds.

    Returns:
        What was done, or why nothing was; then everything is as it was before, or the
        next `reconcile` makes it so.
    """
    if prepared.plan.blocks and accepts is None:
        return prepared.plan.blocks
    site = prepared.site
    if prepared.plan.action == "none":
        return Done(plan=prepared.plan)
    with lifecycle_lock(site.root.ledger_root, wait_s, own=site.is_own) as busy:
        if busy:
            return (Block(busy.code, f"the scope: {busy.reason}"),)
        now = planned_again(prepared)
        if now.plan.blocks:
            return now.plan.blocks
        what = _moved(prepared, now)
        if what and not (accepts is not None and accepts(now.plan)):
            reason = f"{' and '.join(what)} changed since the plan was made"
            return (Block("moved", reason, "look at the plan again"),)
        if now.plan.action == "none":
            return Done(plan=now.plan)
        with open_yard(site) as yard:
            if isinstance(yard, FileFault):
                return (Block("place", f"the overlay root: {yard.reason}"),)
            return _carried_out(now, yard, timestamp())


def _moved(before: Prepared, now: Prepared) -> tuple[str, ...]:
    settings = () if before.edits == now.edits else ("a settings file",)
    return (*moved(before.world, now.world), *settings)


def _carried_out(prepared: Prepared, yard: Yard, now: str) -> Done | tuple[Block, ...]:
    if prepared.parcel is None:
        return _removed(prepared, yard)
    return _installed(prepared, prepared.parcel, yard, now)


# Installing


def _installed(
    prepared: Prepared, parcel: Parcel, yard: Yard, now: str
) -> Done | tuple[Block, ...]:
    site = prepared.site
    entry = attrs.evolve(_entry(prepared), installed_at=now)
    live = prepared.world.installed.kind is not Kind.NOTHING
    backup = aside_name(entry.id) if live else None
    files = tuple(file for file, _ in prepared.edits.edits)
    pending = Pending(
        kind="upgrade" if live else "install",
        backup_name=backup,
        shared_files=files,
        hooks=standing(site, entry.id, files) if live else None,
    )
    begun = False
    # An agreement that an earlier command did not get to settle: it did count.
    settle_consent(site.home, site.consent_root, entry.id, scope=site.scope)
    try:
        staged = yard.stage(parcel.tree)
        fault = write_ledger(site, _intent(prepared.world, entry, pending))
        if not fault:
            begun = True
            if backup is not None:
                yard.set_aside(entry.id, backup)
            yard.promote(staged, entry.id)
            fault = _completed(prepared, parcel, entry)
    except OSError as error:
        fault = fault_of(error)
    if fault:
        return _undone(site, yard, entry.id, fault, begun=begun)
    settle_consent(site.home, site.consent_root, entry.id, scope=site.scope)
    if backup is not None:
        _clear(yard, backup)
    return Done(plan=prepared.plan)


def _entry(prepared: Prepared) -> InstalledEntry:
    if prepared.entry is None:
        raise ValueError("a plan to install has an entry")
    return prepared.entry


def _intent(world: World, entry: InstalledEntry, pending: Pending) -> Change:
    if pending.kind == "install":
        begun = attrs.evolve(entry, pending=pending)
        return lambda old, now: with_entry(old, begun, now)
    # What the ledger says of the version before stays until the new one counts. Of an
    # entry that makes no sense, nothing can be kept but that there is one.
    before = world.entry(entry.id) or InstalledEntry(id=entry.id, version="", source="")
    found = world.installed.bundle
    points = gate_points_of(found) if isinstance(found, Bundle) else ()
    if world.entry(entry.id) and frozenset(points).issubset(before.gate_points):
        return lambda old, now: with_pending(old, entry.id, pending, now)
    # Nobody could tell otherwise whose gates are missed while it stands nowhere.
    marked = attrs.evolve(
        before, pending=pending, gate_points=(*before.gate_points, *points)
    )
    return lambda old, now: with_entry(old, marked, now)


def _completed(
    prepared: Prepared, parcel: Parcel, entry: InstalledEntry
) -> FileFault | None:
    """Do what follows the bundle; the last of it is the commit."""
    site = prepared.site
    fault = apply_edits(prepared.edits)
    if fault:
        return fault
    record = write_consent(site.home, record_of(site, parcel), provisional=True)
    if isinstance(record, FileFault):
        return record
    return write_ledger(site, lambda old, now: with_entry(old, entry, now))


def _undone(
    site: Site, yard: Yard, capability_id: str, fault: FileFault, *, begun: bool
) -> tuple[Block, ...]:
    """Put everything back, and say why."""
    remedy = "nothing was changed"
    if begun:
        with contextlib.suppress(OSError):
            entry = _ledgered(site, capability_id)
            undone = recover(site, yard, entry) if entry else None
            if isinstance(undone, FileFault):
                remedy = "run `msd capability reconcile`: " + undone.reason
    for name in yard.names():
        if name.startswith("new-"):
            _clear(yard, name)
    return (Block(f"write-{fault.code}", fault.reason, remedy),)


def _ledgered(site: Site, capability_id: str) -> InstalledEntry | None:
    return read_entries(site.root.ledger_root).entries.get(capability_id)


def _clear(yard: Yard, name: str) -> None:
    """Delete what nobody needs any more; what cannot be is left to `reconcile`."""
    with contextlib.suppress(OSError):
        yard.delete(name)


# Removing


def _removed(prepared: Prepared, yard: Yard) -> Done | tuple[Block, ...]:
    folder = prepared.folder
    try:
        if is_id(folder):
            found = _removed_entry(prepared, yard)
        else:
            found = _removed_unnamed(prepared, yard)
    except OSError as error:
        found = fault_of(error)
    if isinstance(found, FileFault):
        again = _to_finish(prepared.site, folder)
        return (Block(f"write-{found.code}", found.reason, again),)
    for name in yard.names():
        if is_aside(name, folder) or is_aside(name, _UNNAMED):
            _clear(yard, name)
    return Done(plan=prepared.plan, notes=(*prepared.plan.notes, *found))


def _to_finish(site: Site, folder: str) -> str:
    """Return how a removal that failed is brought to an end."""
    entry = _ledgered(site, folder)
    if entry is not None and entry.pending is not None:
        return "run `msd capability reconcile` to finish it"
    # The intent is what could not be written, or there was none to write.
    return "nothing is in flight; mend that, and remove it again"


def _removed_entry(prepared: Prepared, yard: Yard) -> tuple[str, ...] | FileFault:
    site, folder = prepared.site, prepared.folder
    entry = prepared.world.entry(folder)
    if entry is None:
        # Nobody recorded it, so the intent is all that is known.
        entry = InstalledEntry(id=folder, version="", source="")
    pending = Pending(
        kind="remove", shared_files=tuple(file for file, _ in prepared.edits.edits)
    )
    begun = attrs.evolve(entry, pending=pending)
    fault = write_ledger(site, lambda old, now: with_entry(old, begun, now))
    if fault and fault.code not in {"too-many", "too-large"}:
        return fault
    # A ledger that takes no more keeps nobody from removing: it may have been planted
    # for that. Whoever is killed without having written the intent removes once more.
    return finish_removal(site, yard, begun)


def _removed_unnamed(prepared: Prepared, yard: Yard) -> tuple[str, ...] | FileFault:
    """Remove a folder that no entry can name; one rename is all there is to do."""
    folder = prepared.folder
    if yard.holds(folder):
        yard.set_aside(folder, aside_name(_UNNAMED))
    if folder not in prepared.world.ledger.unclear:
        return ()
    # What is filed under such a name makes no sense, and speaks of nothing any more.
    fault = write_ledger(
        prepared.site, lambda old, now: without_entry(old, folder, now)
    )
    return fault or ()
