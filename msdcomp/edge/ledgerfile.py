"""Writing the ledger: whole entries, and functions from its old bytes to its new ones.

Every change of what is installed goes through here, while the caller holds the lock of
the scope. What is not understood is kept as it is: another program may have written it.
A ledger that cannot be read is left alone, and nothing is written that this module
could not read again.
Source: docs/reference/ledger.md.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Literal, TypeAlias

import attrs

from msdcomp.edge.files import FileFault, read_file, write_atomic
from msdcomp.edge.jsonfiles import Json, gate_points, is_strings, parse_object
from msdcomp.edge.ledger import LEDGER_NAME, MAX_FILES, MAX_SHARED_EDITS, is_complete
from msdcomp.edge.storetext import StoreState, left_as_it_is, render, timestamp
from msdcomp.records import Record

__all__ = [
    "MAX_LEDGER_ENTRIES",
    "Change",
    "InstalledEntry",
    "LedgerFile",
    "Pending",
    "PendingKind",
    "SharedEdit",
    "change_ledger",
    "committed",
    "parse_entries",
    "read_entries",
    "undone",
    "with_entry",
    "with_pending",
    "without_entry",
]

#: Format of the ledger, in its `version` field.
VERSION = "1"

#: Field of a marker: the entry that it replaced as it was, when there was one.
REPLACES = "replaces"

#: Most entries of one ledger.
MAX_LEDGER_ENTRIES = 4096

_REPAIR = "repair it by hand, or move it away and install again"

_NO_ENTRY = FileFault("missing", "no entry of that id")
_BAD_ENTRY = FileFault("bad-entry", "not an entry that could be read again")
_TOO_MANY = FileFault("too-many", f"more than {MAX_LEDGER_ENTRIES:,} entries")

PendingKind: TypeAlias = Literal["install", "upgrade", "remove"]
_KINDS: tuple[PendingKind, ...] = ("install", "upgrade", "remove")


@attrs.frozen(kw_only=True, eq=False, repr=False)
class SharedEdit(Record):
    """One place in a file that others write as well.

    Attributes:
        file: The file, relative to the root of the scope.
        marker: What marks the capability's part of it.
    """

    file: str
    marker: str


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Pending(Record):
    """What is in flight, written down before it begins.

    Attributes:
        kind: What is being done.
        backup_name: Name of the folder that the version before was moved to, if any.
        shared_files: Shared files that may have been edited on the way.
        hooks: What stands for the entries it had in them before; None when nobody wrote
            that down.
    """

    kind: PendingKind
    backup_name: str | None = None
    shared_files: tuple[str, ...] = ()
    hooks: tuple[str, ...] | None = None


@attrs.frozen(kw_only=True, eq=False, repr=False)
class InstalledEntry(Record):
    """What is known of one installed capability.

    Attributes:
        id: The capability, and the name of its folder.
        version: Its version.
        source: Where it came from, as it is asked for again; a folder of this machine
            by its absolute path.
        integrity: Digest of the archive it came in, if any.
        commit: Commit it is of, if it came from a repository.
        files: What was put in place, relative to the root of the scope.
        shared_edits: Its parts of files that others write as well.
        gate_points: Loop points at which its manifest declares gates.
        content_hash: Hash of its folder, as for consent.
        disclosure_signature: What was shown to the user, in canonical form.
        installed_at: When, in UTC.
        pending: What is in flight; None when nothing is.
    """

    id: str
    version: str
    source: str
    integrity: str = ""
    commit: str = ""
    files: tuple[str, ...] = ()
    shared_edits: tuple[SharedEdit, ...] = ()
    gate_points: tuple[str, ...] = ()
    content_hash: str = ""
    disclosure_signature: str = ""
    installed_at: str = ""
    pending: Pending | None = None


def _nothing() -> Mapping[str, InstalledEntry]:
    return MappingProxyType({})


@attrs.frozen(kw_only=True, eq=False, repr=False)
class LedgerFile(Record):
    """What a ledger holds.

    Attributes:
        state: Whether there is one, and a sound one.
        entries: Id -> entry, in the order of the file.
        unclear: Ids of entries that make no sense; they are kept as they are.
        fault: Why nothing is known of anybody; None unless the ledger is corrupt.
        data: Its bytes; None unless it is readable.
    """

    state: StoreState
    entries: Mapping[str, InstalledEntry] = attrs.field(factory=_nothing)
    unclear: tuple[str, ...] = ()
    fault: FileFault | None = None
    data: bytes | None = attrs.field(default=None, repr=False)


# Reading


def read_entries(scope_root: str) -> LedgerFile:
    """Read the ledger of a scope.

    A link is not followed. In a project it may lead anywhere, and writing would put a
    file in the place of the user's own link.
    """
    return parse_entries(read_file(f"{scope_root}/{LEDGER_NAME}", follow=False))


def parse_entries(data: bytes | FileFault) -> LedgerFile:
    """Return what the text of a ledger holds, or what follows of having none.

    Never raises. A bad entry costs only itself.
    """
    if isinstance(data, FileFault):
        if data.code == "missing":
            return LedgerFile(state=StoreState.ABSENT)
        return LedgerFile(state=StoreState.CORRUPT, fault=data)
    found = _opened(data)
    if isinstance(found, FileFault):
        return LedgerFile(state=StoreState.CORRUPT, fault=found)
    _, raw = found
    entries = {folder: _entry(folder, value) for folder, value in raw.items()}
    return LedgerFile(
        state=StoreState.READABLE,
        entries=MappingProxyType({n: entry for n, entry in entries.items() if entry}),
        unclear=tuple(name for name, entry in entries.items() if entry is None),
        data=data,
    )


_Opened: TypeAlias = tuple[dict[str, Json], dict[str, Json]]


def _opened(data: bytes | None) -> _Opened | FileFault:
    """Return a ledger and its entries as they are; of None, an empty one."""
    if data is None:
        return {}, {}
    document = parse_object(data, strict=False)
    if isinstance(document, FileFault):
        return document
    if document.get("version", VERSION) != VERSION:
        return FileFault("damaged", "written in a format this version does not know")
    entries = document.get("entries")
    if not isinstance(entries, dict):
        return FileFault("damaged", "holds no entries")
    return _TOO_MANY if len(entries) > MAX_LEDGER_ENTRIES else (document, entries)


def _entry(folder: str, value: Json) -> InstalledEntry | None:
    """Return an entry, or None when a field of it is missing or of another kind."""
    if not isinstance(value, dict) or not is_complete(folder, value):
        return None
    pending = None
    if "_pending" in value:
        pending = _pending(value["_pending"])
        if pending is None:
            return None
    optional = [
        value.get(name, "")
        for name in ("contentHash", "disclosureSignature", "installedAt", "commit")
    ]
    texts = [text for text in optional if isinstance(text, str)]
    if len(texts) != len(optional):
        return None
    return InstalledEntry(
        id=folder,
        version=_text(value["version"]),
        source=_text(value["source"]),
        integrity=_text(value["integrity"]),
        files=_texts(value["files"]),
        shared_edits=_shared_edits(value["sharedEdits"]),
        gate_points=gate_points(value.get("gatePoints")),
        content_hash=texts[0],
        disclosure_signature=texts[1],
        installed_at=texts[2],
        commit=texts[3],
        pending=pending,
    )


def _pending(value: Json) -> Pending | None:
    if not isinstance(value, dict) or "backupName" not in value:
        return None
    backup, shared = value["backupName"], value.get("sharedFiles")
    hooks = value.get("hooks")
    kinds = [kind for kind in _KINDS if kind == value.get("kind")]
    if (
        not kinds
        or not (hooks is None or is_strings(hooks, MAX_FILES))
        or not (backup is None or isinstance(backup, str))
        or not is_strings(shared, MAX_SHARED_EDITS)
    ):
        return None
    return Pending(
        kind=kinds[0],
        backup_name=backup,
        shared_files=_texts(shared),
        hooks=None if hooks is None else _texts(hooks),
    )


def _text(value: Json) -> str:
    return value if isinstance(value, str) else ""


def _texts(value: Json) -> tuple[str, ...]:
    items = value if isinstance(value, list) else []
    return tuple(item for item in items if isinstance(item, str))


def _shared_edits(value: Json) -> tuple[SharedEdit, ...]:
    items = value if isinstance(value, list) else []
    return tuple(
        SharedEdit(file=_text(item["file"]), marker=_text(item["marker"]))
        for item in items
        if isinstance(item, dict)
    )


# From old bytes to new ones. None stands for a ledger that does not exist yet.


def with_entry(old: bytes | None, entry: InstalledEntry, now: str) -> bytes | FileFault:
    """Put an entry in its place; the fields of it that are not ours stay.

    Where that is an intent which can still be undone, the marker keeps what it
    replaces, whatever that is.

    Args:
        old: The ledger as it is.
        entry: The entry; what it says to be pending included.
        now: The time, for the ledger's own record of its last change.
    """
    found = _opened(old)
    if isinstance(found, FileFault):
        return found
    document, entries = found
    before = entries.get(entry.id)
    kept = dict(before) if isinstance(before, dict) else {}
    kept.pop("_pending", None)
    points = gate_points(list(entry.gate_points))
    made = attrs.evolve(entry, gate_points=points)
    value: dict[str, Json] = {**kept, **_wire(made)}
    if _entry(entry.id, value) != made:
        return _BAD_ENTRY
    pending = made.pending
    if pending is not None and pending.kind != "remove" and entry.id in entries:
        value["_pending"] = {**_pending_wire(pending), REPLACES: before}
    return _closed(document, {**entries, entry.id: value}, now)


def without_entry(old: bytes | None, capability_id: str, now: str) -> bytes | FileFault:
    """Take an entry away, also one that makes no sense; `missing` if there is none."""
    found = _opened(old)
    if isinstance(found, FileFault):
        return found
    document, entries = found
    if capability_id not in entries:
        return _NO_ENTRY
    kept = {name: value for name, value in entries.items() if name != capability_id}
    return _closed(document, kept, now)


def with_pending(
    old: bytes | None, capability_id: str, pending: Pending, now: str
) -> bytes | FileFault:
    """Mark an entry as in flight, and keep all else that it says."""
    marker: Json = _pending_wire(pending)
    if _pending(marker) != pending:
        return _BAD_ENTRY
    return _changed(old, capability_id, {"_pending": marker}, now)


def committed(old: bytes | None, capability_id: str, now: str) -> bytes | FileFault:
    """Say that nothing is in flight any more, and keep all else that an entry says."""
    return _changed(old, capability_id, {}, now)


def undone(old: bytes | None, capability_id: str, now: str) -> bytes | FileFault:
    """Take an intent back: what it replaced returns as it was.

    An entry that was only marked loses the marker, and one that an install began goes
    where there was none before.
    """
    found = _opened(old)
    if isinstance(found, FileFault):
        return found
    document, entries = found
    entry = entries.get(capability_id)
    marker = entry.get("_pending") if isinstance(entry, dict) else None
    if not isinstance(marker, dict):
        return _NO_ENTRY if capability_id not in entries else _BAD_ENTRY
    if REPLACES in marker:
        return _closed(document, {**entries, capability_id: marker[REPLACES]}, now)
    if marker.get("kind") == "install":
        return without_entry(old, capability_id, now)
    return committed(old, capability_id, now)


def _changed(
    old: bytes | None, capability_id: str, marker: dict[str, Json], now: str
) -> bytes | FileFault:
    found = _opened(old)
    if isinstance(found, FileFault):
        return found
    document, entries = found
    before = entries.get(capability_id)
    if capability_id not in entries:
        return _NO_ENTRY
    if not isinstance(before, dict):
        return _BAD_ENTRY
    kept = {name: value for name, value in before.items() if name != "_pending"}
    return _closed(document, {**entries, capability_id: {**kept, **marker}}, now)


def _closed(
    document: dict[str, Json], entries: dict[str, Json], now: str
) -> bytes | FileFault:
    """Return the text of a ledger, as long as it is one that can be read."""
    if len(entries) > MAX_LEDGER_ENTRIES:
        return _TOO_MANY
    frame: dict[str, Json] = {"version": VERSION, "updatedAt": now}
    return render({**frame, **document, "updatedAt": now, "entries": entries})


def _wire(entry: InstalledEntry) -> dict[str, Json]:
    value: dict[str, Json] = {
        "id": entry.id,
        "version": entry.version,
        "source": entry.source,
        "integrity": entry.integrity,
        "commit": entry.commit,
        "files": list(entry.files),
        "sharedEdits": [
            {"file": edit.file, "marker": edit.marker} for edit in entry.shared_edits
        ],
        "gatePoints": list(entry.gate_points),
        "contentHash": entry.content_hash,
        "disclosureSignature": entry.disclosure_signature,
        "installedAt": entry.installed_at,
    }
    if entry.pending is not None:
        value["_pending"] = _pending_wire(entry.pending)
    return value


def _pending_wire(pending: Pending) -> dict[str, Json]:
    wire: dict[str, Json] = {
        "kind": pending.kind,
        "backupName": pending.backup_name,
        "sharedFiles": list(pending.shared_files),
    }
    if pending.hooks is not None:
        wire["hooks"] = list(pending.hooks)
    return wire


# Writing

#: From the old bytes of a ledger and the time to its new bytes.
Change: TypeAlias = Callable[[bytes | None, str], bytes | FileFault]


def change_ledger(
    scope_root: str, change: Change, *, clock: Callable[[], float] = time.time
) -> LedgerFile | FileFault:
    """Read the ledger of a scope, change it, and write it.

    The caller holds the lock of the scope, for longer than this takes.

    Args:
        scope_root: Root of the scope.
        change: Gives the new bytes, by the functions above.
        clock: Tells the time, in seconds.

    Returns:
        The ledger as it is now, or why nothing was written.
    """
    before = read_entries(scope_root)
    if before.fault:
        return left_as_it_is(before.fault, _REPAIR)
    data = change(before.data, timestamp(clock))
    if isinstance(data, FileFault):
        return left_as_it_is(data, _REPAIR) if data.code == "damaged" else data
    after = parse_entries(data)
    if after.fault:
        return after.fault
    return write_atomic(f"{scope_root}/{LEDGER_NAME}", data) or after
