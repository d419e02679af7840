"""Why a plan cannot be carried out, each reason with what to do about it.

Source: docs/reference/lifecycle.md, "Blocks".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from msdcomp.edge.files import FileFault
from msdcomp.edge.ledgerfile import InstalledEntry, Pending, with_entry
from msdcomp.edge.lifecycle.world import Kind, World
from msdcomp.edge.storetext import StoreState
from msdcomp.manifest import CapabilityId
from msdcomp.plan import Block, Leaves
from msdcomp.scope import Consent
from msdcomp.verdict import BundlePath

if TYPE_CHECKING:
    from collections.abc import Iterable

    from msdcomp.composition import Composition
    from msdcomp.edge.lifecycle.parcel import Parcel
    from msdcomp.edge.lifecycle.site import Site

__all__ = [
    "composition_blocks",
    "dependent_blocks",
    "displacing_blocks",
    "place_blocks",
    "removal_blocks",
    "room_blocks",
    "store_blocks",
]

_LEDGER_REMEDY = "repair the ledger by hand, or move it away and install again"
_CONSENT_REMEDY = (
    "repair `consent.json` by hand, or move it away and agree again to what you still "
    "trust"
)
_RECONCILE = "run `msd capability reconcile`"


def store_blocks(world: World, folder: str) -> tuple[Block, ...]:
    """Return which store cannot be read or is in the middle of something."""
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


def room_blocks(world: World, made: InstalledEntry) -> tuple[Block, ...]:
    """Return why the ledger cannot take an entry, before anything is made for it."""
    begun = attrs.evolve(made, pending=Pending(kind="install"))
    found = with_entry(world.ledger.data, begun, "")
    if not isinstance(found, FileFault):
        return ()
    reason = f"the ledger cannot take an entry of it: {found.reason}"
    return (Block("ledger-unwritable", reason, _LEDGER_REMEDY),)


def place_blocks(site: Site, world: World, parcel: Parcel) -> tuple[Block, ...]:
    """Return what stands where the bundle would."""
    installed, folder = world.installed, parcel.manifest.id
    # Without its scope the command would take one of the same id in the other scope.
    command = _removal(site.scope.value, folder)
    known = world.entry(folder) is not None or folder in world.ledger.unclear
    match installed.kind:
        case Kind.UNKNOWN if installed.fault is not None:
            return (Block("place", f"the overlay root: {installed.fault.reason}"),)
        case Kind.LINK:
            return (_occupied("a symbolic link is", command),)
        case Kind.OTHER:
            # No command takes away what none of ours put there.
            reason = "something that is no folder is in its place"
            return (Block("occupied", reason, "move it away"),)
        case Kind.FOLDER if not known and installed.digest == parcel.bundle.digest:
            # The very same content: all that is missing is that somebody says so.
            return ()
        case Kind.FOLDER if not known:
            return (_occupied("a folder that was not installed is", command),)
        case Kind.FOLDER if isinstance(installed.bundle, FileFault):
            reason = f"what is installed cannot be read: {installed.bundle.reason}"
            return (Block("occupied", reason, f"run {command}"),)
        case _:
            return ()


def _occupied(what: str, command: str) -> Block:
    remedy = f"move it away, or run {command}"
    return Block("occupied", f"{what} in its place", remedy)


def _removal(scope: str, folder: str) -> str:
    return f"`msd capability remove {folder} --scope {scope}`"


def composition_blocks(
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


def displacing_blocks(leaves: Iterable[Leaves]) -> tuple[Block, ...]:
    """Return whom an install would push out."""
    return tuple(
        Block(
            "displaces",
            f"{left.id} ({left.scope}) would no longer take part: {left.reason}",
            f"remove it first, if that is meant: {_removal(left.scope, left.id)}",
        )
        for left in leaves
    )


def dependent_blocks(leaves: Iterable[Leaves]) -> tuple[Block, ...]:
    """Return who would be left without what a removal takes away."""
    return tuple(
        Block(
            "dependents",
            f"{left.id} ({left.scope}) depends on it: {left.reason}",
            "say --cascade to remove what depends on it as well",
        )
        for left in leaves
    )


def removal_blocks(world: World, *, known: bool) -> tuple[Block, ...]:
    """Return why a folder cannot be removed.

    Args:
        world: As it is.
        known: Whether the ledger has an entry of that name.
    """
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
