"""Changes a user's choices about the surface, and nothing else in the file.

What other programs keep there stays as it was written, and a file that cannot be read
is not written.
Source: docs/reference/surface.md, "Files".
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from typing import TypeAlias

from msdcomp.edge.files import FileFault, rewrite_atomic
from msdcomp.edge.jsonedit import set_member
from msdcomp.edge.jsonfiles import Json
from msdcomp.edge.locks import WAIT_S, locked
from msdcomp.edge.storetext import left_as_it_is, render
from msdcomp.edge.surfacefile import (
    FIELDS,
    MAX_BYTES,
    Kept,
    parse_choice,
    read_choice,
    read_text,
)
from msdcomp.edge.surfacing import SURFACE_NAME
from msdcomp.surface import Choice

__all__ = ["LOCK_NAME", "Change", "change_choice"]

#: From the choices until now to the new ones.
Change: TypeAlias = Callable[[Choice], Choice]

#: The lock beside the file.
LOCK_NAME = ".msd-surface.lock"

_REPAIR = "repair it by hand, or move it away"

#: Other hosts ignore a file in which one of these is missing.
_EXPECTED = frozenset({"disabled", "added", "removed"})


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
    with locked(f"{folder}/{LOCK_NAME}", wait_s) as busy:
        if busy:
            return busy
        before, text = read_text(folder)
        if before.fault:
            fault, name = before.fault, os.path.basename(before.file)  # noqa: PTH119
            named = FileFault(fault.code, f"{name} cannot be read ({fault.reason})")
            return left_as_it_is(named, _REPAIR)
        old = before.choice or Choice()
        new = change(old)
        if new == old:
            return before
        data = _fresh(new) if text is None else _edited(text, old, new)
        if isinstance(data, FileFault):
            return data
        # What cannot be read again must not be written.
        if len(data) > MAX_BYTES or isinstance(parse_choice(data), FileFault):
            return FileFault("too-large", "would hold more than is ever read again")
        # A link to the file stays a link.
        real = os.path.realpath(f"{folder}/{SURFACE_NAME}")
        return rewrite_atomic(real, data) or read_choice(folder)


def _fresh(choice: Choice) -> bytes | FileFault:
    """Return a new file."""
    document: dict[str, Json] = {"baseProfile": ",".join(choice.profiles)}
    for name, field in FIELDS.items():
        names: frozenset[str] = getattr(choice, field)
        if names or field in _EXPECTED:
            document[name] = [*sorted(names)]
    return render(document)


def _edited(text: str, old: Choice, new: Choice) -> bytes:
    """Return a file with new choices; all else stays, and a list keeps its order."""
    document = json.loads(text)
    wanted: dict[str, Json] = {}
    if new.profiles != old.profiles or "baseProfile" not in document:
        wanted["baseProfile"] = ",".join(new.profiles)
    for name, field in FIELDS.items():
        names: frozenset[str] = getattr(new, field)
        absent = name not in document and field in _EXPECTED
        if absent or names != getattr(old, field):
            had = dict.fromkeys(document.get(name, ()))
            kept = [one for one in had if one in names]
            wanted[name] = [*kept, *sorted(names.difference(kept))]
    for name, value in wanted.items():
        text = set_member(text, (name,), value)
    return text.encode()
