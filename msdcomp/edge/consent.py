"""The consent store: which content of which project the user has agreed to.

The store lies in the user's home and never in a repository. A record binds a project
(its physical path), a capability id and a content hash. Reading is total and honest:
a missing store holds no records; a damaged one is not the same as an empty one, since
then nobody knows what was agreed to.
Source: docs/reference/consent-store.md.
"""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Mapping
from types import MappingProxyType

import attrs

from msdcomp.edge.content_hash import read_bundle
from msdcomp.edge.files import FileFault, write_atomic
from msdcomp.edge.jsonfiles import Json, gate_points, read_object
from msdcomp.records import Record
from msdcomp.scope import Consent

__all__ = ["ConsentRecord", "ConsentStore", "read_consent", "record_consent"]

#: Format of the store, in its `version` field.
VERSION = "1"

_ID = re.compile(r"[a-z][a-z0-9-]*")


@attrs.frozen(kw_only=True, eq=False, repr=False)
class ConsentRecord(Record):
    """One agreement.

    Attributes:
        project_root: Physical path of the project.
        id: The capability.
        content_hash: As `msdcomp.edge.content_hash` computes it.
        gate_points: Loop points at which the agreed manifest declared gates.
    """

    project_root: str
    id: str
    content_hash: str
    gate_points: tuple[str, ...] = ()


def _nothing() -> Mapping[tuple[str, str], ConsentRecord | None]:
    return MappingProxyType({})


@attrs.frozen(kw_only=True, eq=False, repr=False)
class ConsentStore(Record):
    """What a store says.

    Attributes:
        records: `(project root, id)` -> the record, or None where there is one that
            cannot be made sense of.
        fault: Why nothing at all is known; None when the store is sound or missing.
    """

    records: Mapping[tuple[str, str], ConsentRecord | None] = attrs.field(
        factory=_nothing, repr=False
    )
    fault: FileFault | None = None

    def find(self, project_root: str, capability_id: str) -> ConsentRecord | Consent:
        """Return the record of an overlay, else why there is none to compare with.

        Returns:
            The record, `Consent.NONE`, or `Consent.UNREADABLE` when the store or the
            very record is damaged.
        """
        if self.fault:
            return Consent.UNREADABLE
        key = (_as_recorded(project_root), capability_id)
        if key not in self.records:
            return Consent.NONE
        return self.records[key] or Consent.UNREADABLE

    def gated(self, project_root: str) -> set[str]:
        """Return the ids of a project whose agreed manifest declared gates."""
        root = _as_recorded(project_root)
        records = (record for record in self.records.values() if record)
        return {r.id for r in records if r.project_root == root and r.gate_points}


def _as_recorded(path: str) -> str:
    """Return a path as records spell it: in UTF-8, whatever the locale."""
    return os.fsencode(path).decode("utf-8", "surrogateescape")


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
    store = _load(home)
    if isinstance(store, FileFault):
        return ConsentStore() if store.code == "missing" else ConsentStore(fault=store)
    found: dict[tuple[str, str], ConsentRecord | None] = {}
    for value in store.values():
        if isinstance(value, dict):
            root, capability_id = value.get("projectRoot"), value.get("id")
            if isinstance(root, str) and isinstance(capability_id, str):
                found[root, capability_id] = _record(root, capability_id, value)
    return ConsentStore(records=MappingProxyType(found))


def _load(home: str) -> dict[str, Json] | FileFault:
    """Return the raw records of a store."""
    store = read_object(store_path(home), strict=True)
    if isinstance(store, FileFault):
        return store
    if store.get("version", VERSION) != VERSION:
        return FileFault("damaged", "written in a format this version does not know")
    records = store.get("records")
    if not isinstance(records, dict):
        return FileFault("damaged", "holds no records")
    return records


def _record(
    root: str, capability_id: str, value: dict[str, Json]
) -> ConsentRecord | None:
    """Return a record, or None when any field of it is missing or of another kind."""
    content_hash = value.get("contentHash")
    sound = (
        root
        and _ID.fullmatch(capability_id)
        and value.get("scope") == "project"
        and isinstance(value.get("integrity"), str)
        and isinstance(value.get("disclosureSignature"), str)
        and isinstance(value.get("consentedAt"), str)
    )
    if not sound or not isinstance(content_hash, str) or not content_hash:
        return None
    return ConsentRecord(
        project_root=root,
        id=capability_id,
        content_hash=content_hash,
        gate_points=gate_points(value.get("gatePoints")),
    )


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
    """Record that the user agrees to what a folder holds now.

    A damaged store is refused, not replaced: replacing it would forget every other
    agreement. An earlier record of the same project and id is replaced.

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
    if not _ID.fullmatch(capability_id):
        return FileFault("bad-id", "not a capability id")
    content = read_bundle(bundle)
    if isinstance(content, FileFault):
        return content
    records = _load(home)
    if isinstance(records, FileFault):
        if records.code != "missing":
            return records
        records = {}
    record = ConsentRecord(
        project_root=_as_recorded(os.path.realpath(project_root)),
        id=capability_id,
        content_hash=content.digest,
        gate_points=gate_points(list(gates)),
    )
    # The form of the key is what a JavaScript host files its records under.
    key = json.dumps(
        {"r": record.project_root, "i": capability_id},
        separators=(",", ":"),
        ensure_ascii=False,
    )
    kept = {
        other: value
        for other, value in records.items()
        if not (
            isinstance(value, dict)
            and value.get("projectRoot") == record.project_root
            and value.get("id") == capability_id
        )
    }
    kept[key] = {
        "projectRoot": record.project_root,
        "id": capability_id,
        "scope": "project",
        "integrity": integrity,
        "disclosureSignature": disclosure_signature,
        "contentHash": record.content_hash,
        "gatePoints": list(record.gate_points),
        "consentedAt": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    }
    # Escapes keep a path that is not UTF-8 readable and writable.
    text = json.dumps({"version": VERSION, "records": kept}, indent=2) + "\n"
    fault = write_atomic(store_path(home), text.encode("ascii"))
    return fault or record
