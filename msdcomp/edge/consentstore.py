"""The consent store: which content of which project the user has agreed to.

The store lies in the user's home and never in a repository. A record binds a project
(its physical path), a capability id and a content hash. Reading is total and honest:
a missing store holds no records; a damaged one is not the same as an empty one, since
then nobody knows what was agreed to.
Source: docs/reference/consent-store.md.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import TypeAlias

import attrs

from msdcomp.edge.files import FileFault
from msdcomp.edge.jsonfiles import Json, gate_points, read_object
from msdcomp.edge.storetext import StoreState
from msdcomp.records import Record
from msdcomp.scope import Consent, Scope

__all__ = [
    "REPLACES",
    "VERSION",
    "ConsentRecord",
    "ConsentStore",
    "Key",
    "as_recorded",
    "is_id",
    "list_consents",
    "load_store",
    "read_consent",
    "read_record",
    "records_of",
    "spoken_of",
    "store_path",
]

#: Format of the store, in its `version` field.
VERSION = "1"

#: Field of a provisional record: the record it replaced as it was, or null.
REPLACES = "replaces"

_ID = re.compile(r"[a-z][a-z0-9-]*")

#: What a record is about: the scope, the root of it, the capability.
Key: TypeAlias = tuple[Scope, str, str]


@attrs.frozen(kw_only=True, eq=False, repr=False)
class ConsentRecord(Record):
    """One agreement.

    Attributes:
        project_root: Physical path of the project; of the home, in the global scope.
        id: The capability.
        content_hash: As `msdcomp.edge.content_hash` computes it.
        gate_points: Loop points at which the agreed manifest declared gates.
        scope: Where it is installed. A record of the global scope tells what was shown
            then; nothing in a project is active on the strength of it.
        integrity: Digest of the archive it was installed from, if any.
        disclosure_signature: What was shown to the user, in canonical form.
        consented_at: When, in UTC.
        reviewer_host: Host that a reviewer of it sends to, if it has one.
        provisional: The command that wrote it has not said that it is done, and may
            still put back the record before it. It counts like any other all the same.
            Of a record to be written this says nothing; `write_consent` is told.
    """

    project_root: str
    id: str
    content_hash: str
    gate_points: tuple[str, ...] = ()
    scope: Scope = Scope.PROJECT
    integrity: str = ""
    disclosure_signature: str = ""
    consented_at: str = ""
    reviewer_host: str = ""
    provisional: bool = False


def _nothing() -> Mapping[Key, ConsentRecord | None]:
    return MappingProxyType({})


@attrs.frozen(kw_only=True, eq=False, repr=False)
class ConsentStore(Record):
    """What a store says.

    Attributes:
        records: `(scope, root, id)` -> the record, or None where there is one that
            cannot be made sense of.
        unclear: The keys that such records are filed under.
        state: Whether there is a store, and a sound one.
        fault: Why nothing at all is known; None when the store is sound or missing.
    """

    records: Mapping[Key, ConsentRecord | None] = attrs.field(
        factory=_nothing, repr=False
    )
    unclear: tuple[str, ...] = ()
    state: StoreState = StoreState.ABSENT
    fault: FileFault | None = None

    def find(
        self, root: str, capability_id: str, scope: Scope = Scope.PROJECT
    ) -> ConsentRecord | Consent:
        """Return the record of an overlay, else why there is none to compare with.

        Args:
            root: Physical path of the project; of the home, in the global scope.
            capability_id: The capability.
            scope: Only records of this scope count.

        Returns:
            The record, `Consent.NONE`, or `Consent.UNREADABLE` when the store or the
            very record is damaged.
        """
        if self.fault:
            return Consent.UNREADABLE
        key = (scope, as_recorded(root), capability_id)
        if key not in self.records:
            return Consent.NONE
        return self.records[key] or Consent.UNREADABLE

    def gated(self, project_root: str) -> set[str]:
        """Return the ids of a project whose agreed manifest declared gates."""
        root = as_recorded(project_root)
        return {
            record.id
            for (scope, where, _), record in self.records.items()
            if record and record.gate_points and (scope, where) == (_PROJECT, root)
        }


_PROJECT = Scope.PROJECT


def as_recorded(path: str) -> str:
    """Return a path as records spell it: in UTF-8, whatever the locale."""
    return os.fsencode(path).decode("utf-8", "surrogateescape")


def is_id(text: str) -> bool:
    """Tell whether a text is a capability id."""
    return _ID.fullmatch(text) is not None


def store_path(home: str) -> str:
    """Return the path of the consent store of a home."""
    return f"{home}/.msd/consent.json"


def read_consent(home: str | None) -> ConsentStore:
    """Read the store of a home; without a home there are no records.

    The file must be strict UTF-8 JSON: of two records under one repeated key, nobody
    can say which one the user meant. A `version` other than ours is another format.
    A bad record never hides others, and the key it is filed under does not matter.
    """
    if home is None:
        return ConsentStore()
    store = load_store(home)
    if isinstance(store, FileFault):
        if store.code == "missing":
            return ConsentStore()
        return ConsentStore(state=StoreState.CORRUPT, fault=store)
    found: dict[Key, ConsentRecord | None] = {}
    unclear = []
    for name, value in records_of(store).items():
        key = spoken_of(value)
        record = read_record(key, value) if key and isinstance(value, dict) else None
        if key:
            found[key] = record
        if record is None:
            unclear.append(name)
    return ConsentStore(
        records=MappingProxyType(found),
        unclear=tuple(unclear),
        state=StoreState.READABLE,
    )


def list_consents(home: str | None) -> tuple[ConsentRecord, ...] | FileFault:
    """Return every agreement by project and id, or why nobody knows them.

    A record that makes no sense is not among them; `ConsentStore.unclear` names it.
    """
    store = read_consent(home)
    if store.fault:
        return store.fault
    return tuple(sorted(filter(None, store.records.values()), key=_place))


def _place(record: ConsentRecord) -> tuple[str, str, str]:
    return record.project_root, record.id, record.scope


def load_store(home: str) -> dict[str, Json] | FileFault:
    """Return a store as it is; its `records` are an object."""
    store = read_object(store_path(home), strict=True)
    if isinstance(store, FileFault):
        return store
    if store.get("version", VERSION) != VERSION:
        return FileFault("damaged", "written in a format this version does not know")
    if not isinstance(store.get("records"), dict):
        return FileFault("damaged", "holds no records")
    return store


def records_of(store: dict[str, Json]) -> dict[str, Json]:
    """Return the records of a store, by the keys they are filed under."""
    records = store.get("records")
    return records if isinstance(records, dict) else {}


def spoken_of(value: Json) -> Key | None:
    """Return what a record is about, whether or not it makes sense otherwise."""
    if not isinstance(value, dict):
        return None
    root, capability_id = value.get("projectRoot"), value.get("id")
    if not isinstance(root, str) or not isinstance(capability_id, str):
        return None
    is_global = value.get("scope") == Scope.GLOBAL
    return (Scope.GLOBAL if is_global else _PROJECT), root, capability_id


def read_record(key: Key, value: dict[str, Json]) -> ConsentRecord | None:
    """Return a record, or None when any field of it is missing or of another kind.

    What a provisional record replaced may be anything: it is only ever put back.
    """
    scope, root, capability_id = key
    texts = [
        text
        for name in ("contentHash", "integrity", "disclosureSignature", "consentedAt")
        if isinstance(text := value.get(name), str)
    ]
    host = value.get("reviewerHost", "")
    if (
        not root
        or not is_id(capability_id)
        or value.get("scope") != scope
        or len(texts) != 4
        or not texts[0]
        or not isinstance(host, str)
    ):
        return None
    return ConsentRecord(
        project_root=root,
        id=capability_id,
        content_hash=texts[0],
        gate_points=gate_points(value.get("gatePoints")),
        scope=scope,
        integrity=texts[1],
        disclosure_signature=texts[2],
        consented_at=texts[3],
        reviewer_host=host,
        provisional=REPLACES in value,
    )
