"""Agreeing, and taking it back: what is written into the consent store.

Several commands may do so at once, so each reads the store again while it holds the
lock. What is damaged is never written over, and what is not understood is kept.

A command of the package lifecycle agrees before the moment at which it counts, so that
nothing is left to be repaired when it is killed after that moment. Until it is done the
record is provisional: it carries the one it replaced, which can be put back.
Source: docs/reference/consent-store.md.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from typing import TypeAlias

import attrs

from msdcomp.edge.consentstore import (
    REPLACES,
    VERSION,
    ConsentRecord,
    ConsentStore,
    Key,
    as_recorded,
    is_id,
    list_consents,
    load_store,
    read_consent,
    read_record,
    records_of,
    spoken_of,
    store_path,
)
from msdcomp.edge.content_hash import read_bundle
from msdcomp.edge.files import FileFault, fault_of, write_atomic
from msdcomp.edge.jsonfiles import Json, gate_points
from msdcomp.edge.locks import WAIT_S, consent_lock
from msdcomp.edge.storetext import StoreState, left_as_it_is, render, timestamp
from msdcomp.scope import Scope

__all__ = [
    "MAX_RECORDS",
    "ConsentRecord",
    "ConsentStore",
    "list_consents",
    "read_consent",
    "record_consent",
    "restore_consent",
    "revoke_consent",
    "settle_consent",
    "write_consent",
]

#: Most records of a store that takes a new one.
MAX_RECORDS = 4096

#: Who may read the store: it names the user's projects.
_MODE = 0o600

_NOT_ITS_OWN = FileFault(
    "damaged",
    "what a provisional record says it replaced is not about the same capability; it "
    "is left as it is: agree again, or revoke it",
)

_REPAIR = "repair it by hand, or move it away and agree again to what you still trust"


def record_consent(
    home: str,
    project_root: str,
    bundle: str,
    capability_id: str,
    gates: tuple[str, ...] = (),
    *,
    integrity: str = "",
    disclosure_signature: str = "",
) -> ConsentRecord | FileFault:
    """Record that the user agrees to what a folder of a project holds now.

    The folder is read here. Whoever has shown its content before must make sure that
    it is still the same, and does so by `write_consent` with the hash of what was
    shown.

    Args:
        home: The user's home.
        project_root: The project; recorded by its physical path.
        bundle: The folder whose content is agreed to.
        capability_id: The capability.
        gates: Loop points at which its manifest declares gates.
        integrity: Digest of the archive it was installed from, if any.
        disclosure_signature: What was shown to the user, in canonical form.

    Returns:
        The record, or why nothing was written.
    """
    if not is_id(capability_id):
        return FileFault("bad-id", "not a capability id")
    content = read_bundle(bundle)
    if isinstance(content, FileFault):
        return content
    record = ConsentRecord(
        project_root=project_root,
        id=capability_id,
        content_hash=content.digest,
        gate_points=gates,
        integrity=integrity,
        disclosure_signature=disclosure_signature,
    )
    return write_consent(home, record)


def write_consent(
    home: str,
    record: ConsentRecord,
    *,
    provisional: bool = False,
    wait_s: float = WAIT_S,
    clock: Callable[[], float] = time.time,
) -> ConsentRecord | FileFault:
    """Record an agreement.

    An earlier record of the same scope, project and id is replaced, also one that makes
    no sense; all others stay as they are. A damaged store is refused, not replaced:
    replacing it would forget every other agreement.

    What a provisional record replaces is kept in it until `settle_consent` or
    `restore_consent`. When that is provisional, too, its command never got to either,
    and the record that counts as the earlier one is the one before that: what a chain
    of killed commands leaves is undone in one step. So whoever finds a provisional
    record of a command that did count settles it first.

    Args:
        home: The user's home.
        record: The agreement; its project is recorded by its physical path.
        provisional: Whether the earlier record may still have to be put back.
        wait_s: Longest time to wait for another command, in seconds.
        clock: Tells the time of an agreement that does not say it, in seconds.

    Returns:
        The record as it was written, or why nothing was written.
    """
    root = _physical(record.project_root)
    if isinstance(root, FileFault):
        return root
    made = attrs.evolve(
        record,
        project_root=root,
        gate_points=gate_points(list(record.gate_points)),
        consented_at=record.consented_at or timestamp(clock),
        provisional=provisional,
    )
    key = (made.scope, root, made.id)
    value = _wire(made)
    if not is_id(made.id):
        return FileFault("bad-id", "not a capability id")
    if read_record(key, value) != made:
        return FileFault("bad-record", "not a record that could be read again")

    def put(records: dict[str, Json]) -> dict[str, Json] | FileFault:
        kept = {n: other for n, other in records.items() if spoken_of(other) != key}
        if len(kept) == len(records) and len(kept) >= MAX_RECORDS:
            return FileFault(
                "too-many", f"holds {len(kept):,} records already: revoke one first"
            )
        name = _filed_under(made)
        while name in kept:  # a record about something else; the key does not matter
            name += " "
        if not provisional:
            return {**kept, name: value}
        return {**kept, name: {**value, REPLACES: _replaced(records, key)}}

    written = _change(home, put, wait_s)
    return written if isinstance(written, FileFault) else made


def _replaced(records: dict[str, Json], key: Key) -> Json:
    """Return the raw record that another of its key replaces, or None.

    Of several the last one counts, as it does when the store is read.
    """
    earlier = None
    for record in records.values():
        if isinstance(record, dict) and spoken_of(record) == key:
            earlier = record
    return earlier.get(REPLACES, earlier) if earlier else None


def revoke_consent(
    home: str,
    root: str,
    capability_id: str,
    *,
    scope: Scope = Scope.PROJECT,
    wait_s: float = WAIT_S,
) -> bool | FileFault:
    """Forget an agreement, also one whose record makes no sense.

    Args:
        home: The user's home.
        root: The project, by any path or as it is recorded; the home, in the global
            scope.
        capability_id: The capability.
        scope: Only a record of this scope is forgotten.
        wait_s: Longest time to wait for another command, in seconds.

    Returns:
        Whether there was one, or why nothing was written.
    """
    keys = _keys(root, capability_id, scope)
    if isinstance(keys, FileFault):
        return keys
    if read_consent(home).state is StoreState.ABSENT:
        return False  # and no folder is made in order to say so
    return _change(home, _for_each(keys, lambda _: None), wait_s)


def settle_consent(
    home: str,
    root: str,
    capability_id: str,
    *,
    scope: Scope = Scope.PROJECT,
    wait_s: float = WAIT_S,
) -> bool | FileFault:
    """Make a provisional agreement one like any other: what it replaced is let go.

    Args:
        home: The user's home.
        root: As for `revoke_consent`.
        capability_id: The capability.
        scope: Only a record of this scope is settled.
        wait_s: Longest time to wait for another command, in seconds.

    Returns:
        Whether it was provisional, or why nothing was written.
    """
    return _finish(home, _keys(root, capability_id, scope), _settled, wait_s)


def restore_consent(
    home: str,
    root: str,
    capability_id: str,
    *,
    scope: Scope = Scope.PROJECT,
    wait_s: float = WAIT_S,
) -> bool | FileFault:
    """Put back what a provisional agreement replaced, or forget it if that is nothing.

    An agreement that is not provisional stays.

    Args:
        home: The user's home.
        root: As for `revoke_consent`.
        capability_id: The capability.
        scope: Only a record of this scope is taken back.
        wait_s: Longest time to wait for another command, in seconds.

    Returns:
        Whether it was provisional, or why nothing was written; `damaged` also when
        what it says it replaced is about something else.
    """
    return _finish(home, _keys(root, capability_id, scope), _restored, wait_s)


def _settled(record: dict[str, Json]) -> dict[str, Json]:
    return {name: value for name, value in record.items() if name != REPLACES}


def _restored(record: dict[str, Json]) -> dict[str, Json] | FileFault | None:
    earlier = record.get(REPLACES, record)
    if earlier is None:
        return None
    if not isinstance(earlier, dict) or spoken_of(earlier) != spoken_of(record):
        return _NOT_ITS_OWN
    return earlier


def _keys(root: str, capability_id: str, scope: Scope) -> frozenset[Key] | FileFault:
    physical = _physical(root)
    if isinstance(physical, FileFault):
        return physical
    # The folder may be gone by now, or its path lead elsewhere.
    return frozenset(
        (scope, where, capability_id) for where in (physical, as_recorded(root))
    )


def _physical(path: str) -> str | FileFault:
    try:
        return as_recorded(os.path.realpath(path))
    except (OSError, ValueError) as error:
        return fault_of(error)


#: Returns the new records, why there are none, or None to write nothing; the same of a
#: single record, where None takes it away.
_Change: TypeAlias = Callable[[dict[str, Json]], dict[str, Json] | FileFault | None]


def _for_each(keys: frozenset[Key], change: _Change) -> _Change:
    """Return what changes the records of some keys, or nothing where none changes."""

    def change_all(records: dict[str, Json]) -> dict[str, Json] | FileFault | None:
        kept: dict[str, Json] = {}
        changed = False
        for name, record in records.items():
            if not isinstance(record, dict) or spoken_of(record) not in keys:
                kept[name] = record
                continue
            made = change(record)
            if isinstance(made, FileFault):
                return made
            changed = changed or made != record
            if made is not None:
                kept[name] = made
        return kept if changed else None

    return change_all


def _finish(
    home: str, keys: frozenset[Key] | FileFault, change: _Change, wait_s: float
) -> bool | FileFault:
    """Change records where there is anything to change, and lock nothing otherwise."""
    if isinstance(keys, FileFault):
        return keys
    change_all = _for_each(keys, change)
    store = load_store(home)
    if isinstance(store, FileFault):
        if store.code == "missing":
            return False
    elif change_all(records_of(store)) is None:
        return False
    return _change(home, change_all, wait_s)


def _change(home: str, change: _Change, wait_s: float) -> bool | FileFault:
    """Read the records, change them and write them, with nobody else in between.

    Returns whether anything was written, or why not.
    """
    with consent_lock(home, wait_s) as busy:
        if busy:
            return busy
        store = load_store(home)
        if isinstance(store, FileFault):
            if store.code != "missing":
                return left_as_it_is(store, _REPAIR)
            store = {}
        records = change(records_of(store))
        if isinstance(records, FileFault):
            return records
        if records is None:
            return False
        data = render({"version": VERSION, **store, "records": records})
        if isinstance(data, FileFault):
            return left_as_it_is(data, _REPAIR)
        return write_atomic(store_path(home), data, _MODE) or True


def _wire(record: ConsentRecord) -> dict[str, Json]:
    value: dict[str, Json] = {
        "projectRoot": record.project_root,
        "id": record.id,
        "scope": record.scope.value,
        "integrity": record.integrity,
        "disclosureSignature": record.disclosure_signature,
        "contentHash": record.content_hash,
        "gatePoints": list(record.gate_points),
        "consentedAt": record.consented_at,
    }
    if record.reviewer_host:
        value["reviewerHost"] = record.reviewer_host
    if record.provisional:
        value[REPLACES] = None
    return value


def _filed_under(record: ConsentRecord) -> str:
    """Return the key a JavaScript host would file a record under.

    A home can be a project, too, so a record of the global scope has a key of its own.
    """
    name = {"r": record.project_root, "i": record.id}
    if record.scope is Scope.GLOBAL:
        name["s"] = Scope.GLOBAL.value
    return json.dumps(name, separators=(",", ":"), ensure_ascii=False)
