"""The user's choices about the surface, in a host's own configuration folder.

`.msd-surface.json` holds them; where there is none, `.msd-profile` may name a profile.
What other programs keep in the file stays, and one that cannot be read is not written.
Source: docs/reference/surface.md, "Files".
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from typing import TypeAlias

import attrs

from msdcomp.edge.files import FileFault, read_file, write_atomic
from msdcomp.edge.jsonedit import set_member
from msdcomp.edge.jsonfiles import Json, parse_object
from msdcomp.edge.locks import WAIT_S, locked
from msdcomp.edge.storetext import left_as_it_is, render
from msdcomp.edge.surfacing import PROFILE_NAME, SURFACE_NAME
from msdcomp.records import Record
from msdcomp.surface import Choice

__all__ = [
    "Change",
    "Kept",
    "change_choice",
    "read_choice",
    "read_marker",
]

#: From the choices until now to the new ones.
Change: TypeAlias = Callable[[Choice], Choice]

#: Longest of the two files, in bytes; they hold names.
_MAX_BYTES = 1024 * 1024
#: Most names of one list.
_MAX_NAMES = 10_000

_PROFILE = re.compile(r"[A-Za-z0-9,_-]+")
_REPAIR = "repair it by hand, or move it away"

#: Field of the file -> field of the record.
_LISTS = {
    "disabledClusters": "disabled",
    "explicitAdds": "added",
    "explicitRemoves": "removed",
    "enabledCapabilities": "enabled",
}
#: Other hosts ignore a file in which one of these is missing.
_EXPECTED = frozenset({"disabled", "added", "removed"})


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
    return _read(folder)[0]


def read_marker(folder: str) -> Kept:
    """Return what the folder says without `.msd-surface.json`; never raises."""
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


def _read(folder: str) -> tuple[Kept, str | None]:
    """Return what a folder says, and the text of its `.msd-surface.json`."""
    path = f"{folder}/{SURFACE_NAME}"
    data = read_file(path, _MAX_BYTES)
    if isinstance(data, bytes):
        document = parse_object(data, strict=True)
        found = document if isinstance(document, FileFault) else _choice(document)
        if isinstance(found, FileFault):
            return Kept(file=path, fault=found), None
        return Kept(file=path, choice=found), data.decode()
    if data.code != "missing":
        return Kept(file=path, fault=data), None
    return read_marker(folder), None


def _profiles(text: str) -> tuple[str, ...]:
    return tuple(part.strip().lower() for part in text.split(","))


def _choice(document: dict[str, Json]) -> Choice | FileFault:
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
    with locked(f"{folder}/.msd-surface.lock", wait_s) as busy:
        if busy:
            return busy
        before, text = _read(folder)
        if before.fault:
            return left_as_it_is(before.fault, _REPAIR)
        old = before.choice or Choice()
        new = change(old)
        if new == old and text is not None:
            return before
        data = _fresh(new) if text is None else _edited(text, old, new)
        if isinstance(data, FileFault):
            return left_as_it_is(data, _REPAIR)
        if len(data) > _MAX_BYTES:
            return FileFault("too-large", f"would be larger than {_MAX_BYTES:,} bytes")
        # Some keep their settings elsewhere and link to them; such a link stays.
        fault = write_atomic(os.path.realpath(f"{folder}/{SURFACE_NAME}"), data)
        return fault or read_choice(folder)


def _fresh(choice: Choice) -> bytes | FileFault:
    """Return a new file."""
    document: dict[str, Json] = {"baseProfile": ",".join(choice.profiles)}
    for name, field in _LISTS.items():
        names: frozenset[str] = getattr(choice, field)
        if names or field in _EXPECTED:
            document[name] = [*sorted(names)]
    return render(document)


def _edited(text: str, old: Choice, new: Choice) -> bytes | FileFault:
    """Return a file with new choices; all else stays, and a list keeps its order."""
    document = json.loads(text)
    wanted: dict[str, Json] = {}
    if new.profiles != old.profiles or "baseProfile" not in document:
        wanted["baseProfile"] = ",".join(new.profiles)
    for name, field in _LISTS.items():
        names: frozenset[str] = getattr(new, field)
        absent = name not in document and field in _EXPECTED
        if absent or names != getattr(old, field):
            had = dict.fromkeys(document.get(name, ()))
            kept = [one for one in had if one in names]
            wanted[name] = [*kept, *sorted(names.difference(kept))]
    try:
        for name, value in wanted.items():
            text = set_member(text, (name,), value)
        return text.encode()
    except (ValueError, RecursionError):
        return FileFault("damaged", "it cannot be edited")
