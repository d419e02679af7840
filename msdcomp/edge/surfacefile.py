"""The user's choices about the surface, in a host's own configuration folder.

`.msd-surface.json` holds them; where there is none, `.msd-profile` may name a profile.
A file that cannot be read is not taken for one that is not there.
Source: docs/reference/surface.md, "Files".
"""

from __future__ import annotations

import re

import attrs

from msdcomp.edge.files import FileFault, read_file
from msdcomp.edge.jsonfiles import Json, parse_object
from msdcomp.edge.surfacing import PROFILE_NAME, SURFACE_NAME
from msdcomp.records import Record
from msdcomp.surface import Choice

__all__ = [
    "FIELDS",
    "MAX_BYTES",
    "Kept",
    "parse_choice",
    "read_choice",
    "read_marker",
    "read_text",
]

#: Longest of the two files, in bytes; they hold names.
MAX_BYTES = 1024 * 1024
#: List of the file -> field of the record.
FIELDS = {
    "disabledClusters": "disabled",
    "explicitAdds": "added",
    "explicitRemoves": "removed",
    "enabledCapabilities": "enabled",
}
#: Most names of one list.
_MAX_NAMES = 10_000

_PROFILE = re.compile(r"[A-Za-z0-9,_-]+")


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Kept(Record):
    """What a configuration folder says about the surface.

    Attributes:
        choice: What was chosen; None when nobody has.
        file: The file that says so; empty when there is none.
        fault: Why nobody knows what was chosen.
    """

    choice: Choice | None = None
    file: str = ""
    fault: FileFault | None = None


def read_choice(folder: str) -> Kept:
    """Return what a configuration folder says; never raises."""
    return read_text(folder)[0]


def read_marker(folder: str) -> Kept:
    """Return what the folder says without `.msd-surface.json`; never raises."""
    path = f"{folder}/{PROFILE_NAME}"
    data = read_file(path, MAX_BYTES)
    if isinstance(data, FileFault):
        if data.code == "missing":
            return Kept()
        return Kept(file=path, fault=data)
    name = data.decode("utf-8", "replace").strip()
    if not _PROFILE.fullmatch(name):
        return Kept(file=path, fault=FileFault("damaged", "names no profile"))
    return Kept(file=path, choice=Choice(profiles=_profiles(name)))


def read_text(folder: str) -> tuple[Kept, str | None]:
    """Return what a folder says, and the text of its `.msd-surface.json`."""
    path = f"{folder}/{SURFACE_NAME}"
    data = read_file(path, MAX_BYTES)
    if isinstance(data, bytes):
        found = parse_choice(data)
        if isinstance(found, FileFault):
            return Kept(file=path, fault=found), None
        return Kept(file=path, choice=found), data.decode()
    if data.code != "missing":
        return Kept(file=path, fault=data), None
    return read_marker(folder), None


def _profiles(text: str) -> tuple[str, ...]:
    return tuple(part.strip().lower() for part in text.split(","))


def parse_choice(data: bytes) -> Choice | FileFault:
    """Return what the text of a `.msd-surface.json` says."""
    document = parse_object(data, strict=True)
    return document if isinstance(document, FileFault) else _choice(document)


def _choice(document: dict[str, Json]) -> Choice | FileFault:
    profile = document.get("baseProfile", "full")
    if not isinstance(profile, str):
        return FileFault("damaged", "its baseProfile is not a text")
    lists: dict[str, frozenset[str]] = {}
    for name, field in FIELDS.items():
        value = document.get(name, [])
        if not isinstance(value, list) or len(value) > _MAX_NAMES:
            return FileFault("damaged", f"its {name} is not a list of names")
        texts = [item for item in value if isinstance(item, str)]
        if len(texts) < len(value):
            return FileFault("damaged", f"its {name} is not a list of names")
        lists[field] = frozenset(texts)
    return Choice(profiles=_profiles(profile), **lists)
