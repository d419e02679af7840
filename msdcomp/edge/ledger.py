"""The ledger: what the package lifecycle says about the folders of one scope.

Composition asks it two things: whether a folder is in the middle of an installation
(then it must not be composed) and whether one was installed completely (then its
command modules may be run). It is read entry by entry, so a bad entry costs only
itself; a file that cannot be read says nothing about anybody.
Source: docs/reference/ledger.md.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

import attrs

from msdcomp.edge.files import FileFault, read_file
from msdcomp.edge.jsonfiles import Json, gate_points, is_strings, parse_object
from msdcomp.edge.roots import LEDGER_NAME
from msdcomp.records import Record

__all__ = [
    "LEDGER_NAME",
    "MAX_FILES",
    "MAX_SHARED_EDITS",
    "Ledger",
    "LedgerEntry",
    "is_complete",
    "parse_ledger",
    "read_ledger",
]

#: Most files that one entry names.
MAX_FILES = 10_000

#: Most edits of shared files that one entry names.
MAX_SHARED_EDITS = 256

_ID = re.compile(r"[a-z][a-z0-9-]*")


@attrs.frozen(kw_only=True, eq=False, repr=False)
class LedgerEntry(Record):
    """What one entry says.

    Attributes:
        pending: An installation or upgrade is in flight.
        committed: The entry is complete and nothing is in flight.
        set_aside: An upgrade is in flight that has taken the version before out of its
            place, or is about to.
        gate_points: Loop points at which the installed manifest declared gates.
    """

    pending: bool = False
    committed: bool = False
    set_aside: bool = False
    gate_points: tuple[str, ...] = ()


#: What an absent or unusable entry says.
_SILENT = LedgerEntry()


def _nothing() -> Mapping[str, LedgerEntry]:
    return MappingProxyType({})


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Ledger(Record):
    """What a ledger says: folder -> entry, or why nothing is known of anybody."""

    entries: Mapping[str, LedgerEntry] = attrs.field(factory=_nothing, repr=False)
    #: None when the file is sound, and when it is missing.
    fault: FileFault | None = None

    def of(self, folder: str) -> LedgerEntry:
        """Return what is known of a folder."""
        return self.entries.get(folder, _SILENT)


def read_ledger(scope_root: str) -> Ledger:
    """Read the ledger of a scope."""
    return parse_ledger(read_file(f"{scope_root}/{LEDGER_NAME}"))


def parse_ledger(data: bytes | FileFault) -> Ledger:
    """Return what the text of a ledger says, or what follows of having none.

    Of repeated keys the last wins, as for the JavaScript host that reads the same file.
    """
    found = parse_object(data, strict=False) if isinstance(data, bytes) else data
    if isinstance(found, FileFault):
        return Ledger() if found.code == "missing" else Ledger(fault=found)
    entries = found.get("entries")
    if not isinstance(entries, dict):
        return Ledger(fault=FileFault("damaged", "holds no entries"))
    return Ledger(
        entries=MappingProxyType(
            {
                folder: _entry(folder, value)
                for folder, value in entries.items()
                if isinstance(value, dict)
            }
        )
    )


def _entry(folder: str, value: dict[str, Json]) -> LedgerEntry:
    return LedgerEntry(
        pending=_is_truthy(value.get("_pending")),
        committed="_pending" not in value and is_complete(folder, value),
        set_aside=_is_upgrade(value.get("_pending")),
        gate_points=gate_points(value.get("gatePoints")),
    )


def _is_truthy(value: Json) -> bool:
    """Tell what JavaScript would: an empty object or list is a marker, too."""
    return isinstance(value, dict | list) or bool(value)


def _is_upgrade(marker: Json) -> bool:
    return (
        isinstance(marker, dict)
        and marker.get("kind") == "upgrade"
        and isinstance(marker.get("backupName"), str)
    )


def is_complete(folder: str, value: dict[str, Json]) -> bool:
    """Tell whether an entry has all that one must have, whatever is in flight."""
    edits = value.get("sharedEdits")
    return (
        _ID.fullmatch(folder) is not None
        and value.get("id") == folder
        and all(
            isinstance(value.get(name), str)
            for name in ("version", "source", "integrity")
        )
        and is_strings(value.get("files"), MAX_FILES)
        and isinstance(edits, list)
        and len(edits) <= MAX_SHARED_EDITS
        and all(_is_shared_edit(edit) for edit in edits)
    )


def _is_shared_edit(value: Json) -> bool:
    if not isinstance(value, dict):
        return False
    fields = (value.get("file"), value.get("marker"))
    return all(isinstance(field, str) and field for field in fields)
