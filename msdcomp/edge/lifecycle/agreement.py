"""Whether the user has to be asked, and what else they should know.

What was agreed to is told by the user's own store alone: what lies on the disk, or in a
project's ledger, may have come with a repository.
Source: docs/explanation/lifecycle.md, "Who is asked, and when".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msdcomp.edge.consentstore import ConsentRecord
from msdcomp.signature import drift

if TYPE_CHECKING:
    from msdcomp.edge.ledgerfile import InstalledEntry
    from msdcomp.edge.lifecycle.parcel import Parcel
    from msdcomp.edge.lifecycle.world import World

__all__ = ["asks", "is_edited", "notes"]


def asks(world: World, parcel: Parcel, entry: InstalledEntry | None) -> str:
    """Return why the user must agree; what lies on the disk proves nothing."""
    record = world.record
    if not isinstance(record, ConsentRecord):
        return "nobody has agreed to it here yet"
    if not record.disclosure_signature:
        return "what was agreed to before was not recorded"
    changed = drift(record.disclosure_signature, parcel.signature).told
    if changed:
        return f"{_listed(changed)} changed since it was agreed to"
    if entry is not None and is_edited(world, entry):
        return "its folder was edited since it was installed, and the edits would go"
    return ""


def _listed(words: tuple[str, ...]) -> str:
    return " and ".join([", ".join(words[:-1]), words[-1]] if words[1:] else words)


def is_edited(world: World, entry: InstalledEntry) -> bool:
    """Tell whether the folder is not what was installed."""
    found = world.installed.digest
    return bool(entry.content_hash) and bool(found) and found != entry.content_hash


def notes(
    world: World,
    entry: InstalledEntry | None,
    *,
    declared: bool,
    hooks: bool,
    kept: tuple[str, ...],
) -> tuple[str, ...]:
    """Return what else a person should know, a sentence each.

    Args:
        world: As it is.
        entry: What the ledger says.
        declared: Whether the new version has hooks.
        hooks: Whether a settings file can name them.
        kept: The settings files that are to run them.
    """
    told = []
    if declared and not hooks:
        told.append("no settings file can name its hooks: the path is not UTF-8")
    if hooks and not kept:
        told.append("no host runs its hooks yet: name a settings file with --settings")
    if entry is not None and is_edited(world, entry):
        told.append("its folder was edited since it was installed; the edits would go")
    return tuple(told)
