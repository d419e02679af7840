"""The user's choices about the surface, in a host's own configuration folder.

`.msd-surface.json` holds them; where there is none, `.msd-profile` may name a profile.
What other programs keep in the file stays, and one that cannot be read is not written.
Source: docs/reference/surface.md, "Files".
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from typing import TypeAlias

import attrs

from msdcomp.edge.files import FileFault, read_file, write_atomic
from msdcomp.edge.jsonfiles import Json, parse_object
from msdcomp.edge.locks import WAIT_S, locked
from msdcomp.edge.storetext import left_as_it_is, render
from msdcomp.edge.surfacing import PROFILE_NAME, SURFACE_NAME
from msdcomp.records import Record
from msdcomp.surface import Choice

__all__ = [
    "Kept",
    "change_choice",
    "read_choice",
]

#: Longest of the two files, in bytes; they hold names.
_MAX_BYTES = 1024 * 1024
#: Most names of one list.
_MAX_NAMES = 10_000

_PROFILE = re.compile(r"[A-Za-z0-9,_-]+")
_REPAIR = "repair it by hand, or move it away"

#: Field of the file -> field of the record. The first four are known to every host.
_LISTS = {
    "disabledClusters": "disabled",
    "explicitAdds": "added",
    "explicitRemoves": "removed",
    "enabledCapabilities": "enabled",
}


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
    path = f"{folder}/{SURFACE_NAME}"
    data = read_file(path, _MAX_BYTES)
    if isinstance(data, bytes):
        found = _choice(data)
        if isinstance(found, FileFault):
            return Kept(file=path, fault=found)
        return Kept(file=path, choice=found)
    if data.code != "missing":
        return Kept(file=path, fault=data)
    return _marked(folder)


def _marked(folder: str) -> Kept:
    path = f"{folder}/{PROFILE_NAME}"
    data = read_file(path, _MAX_BYTES)
    if isinstance(data, FileFault):
        if data.code == "missing":
            return Kept()
        return Kept(file=path, fault=data)
    name = data.decode("utf-8", "replace").strip()
    if not _PROFILE.fullmatch(name):
        return Kept(file=path, fault=FileFault("damaged", "names no profile"))
    return Kept(file=path, choice=Choice(profiles=_profiles(name)))


def _profiles(text: str) -> tuple[str, ...]:
    return tuple(part.strip().lower() for part in text.split(","))


def _choice(data: bytes) -> Choice | FileFault:
    document = parse_object(data, strict=True)
    return document if isinstance(document, FileFault) else _of(document)


def _of(document: dict[str, Json]) -> Choice | FileFault:
    profile = document.get("baseProfile", "full")
    if not isinstance(profile, str):
        return FileFault("damaged", "its baseProfile is not a text")
    lists: dict[str, frozenset[str]] = {}
    for name, field in _LISTS.items():
        value = document.get(name, [])
        if not isinstance(value, list) or len(value) > _MAX_NAMES:
            return FileFault("damaged", f"its {name} is not a list of names")
        texts = [item for item in value if isinstance(item, str)]
        if len(texts) < len(value):
            return FileFault("damaged", f"its {name} is not a list of names")
        lists[field] = frozenset(texts)
    return Choice(profiles=_profiles(profile), **lists)


Change: TypeAlias = Callable[[Choice], Choice]


def change_choice(
    folder: str, change: Change, *, wait_s: float = WAIT_S
) -> Kept | FileFault:
    """Read what a configuration folder says, change it, and write it.

    Args:
        folder: The folder; made when it is missing.
        change: From the choices until now to the new ones.
        wait_s: Longest time to wait for another command, in seconds.

    Returns:
        What the folder says now, read again, or why nothing was written.
    """
    path = f"{folder}/{SURFACE_NAME}"
    with locked(f"{folder}/.msd-surface.lock", wait_s) as busy:
        if busy:
            return busy
        before = read_choice(folder)
        if before.fault:
            return left_as_it_is(before.fault, _REPAIR)
        old = before.choice or Choice()
        new = change(old)
        if new == old and before.file == path:
            return before
        document = _document(path)
        if isinstance(document, FileFault):
            return left_as_it_is(document, _REPAIR)
        data = render(_written(document, old, new))
        if isinstance(data, FileFault):
            return data
        fault = write_atomic(path, data)
        return fault or read_choice(folder)


def _document(path: str) -> dict[str, Json] | FileFault:
    """Return the file as it is, to keep all of it that is not ours."""
    if not os.path.lexists(path):
        return {}
    data = read_file(path, _MAX_BYTES)
    return data if isinstance(data, FileFault) else parse_object(data, strict=True)


def _written(document: dict[str, Json], old: Choice, new: Choice) -> dict[str, Json]:
    """Return the file with new choices; a list keeps the order it had."""
    made: dict[str, Json] = {"baseProfile": ",".join(new.profiles), **document}
    if new.profiles != old.profiles:
        made["baseProfile"] = ",".join(new.profiles)
    for name, field in _LISTS.items():
        wanted: frozenset[str] = getattr(new, field)
        listed = made.get(name, [])
        had = (
            [item for item in listed if isinstance(item, str)]
            if isinstance(listed, list)
            else []
        )
        kept = [item for item in dict.fromkeys(had) if item in wanted]
        rest: list[Json] = [*kept, *sorted(wanted.difference(kept))]
        # Other hosts ignore the whole file when one of their lists is missing.
        if rest or name in made or name != "enabledCapabilities":
            made[name] = rest
    return made
