"""What somebody probably meant by a name that there is not."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from msdcomp.safetext import safe
from msdcomp.spelling import closest

__all__ = ["meant"]

#: Longest name that is compared with others, in characters.
_MAX = 100


def meant(given: str, names: Iterable[str]) -> str:
    """Return a question to end a complaint with; empty when nothing comes close."""
    known = sorted(set(names))
    close = [closest(given, known)]
    close += difflib.get_close_matches(given[:_MAX], known, 1, 0.7)
    found = next(filter(None, close), None)
    return "" if found is None else f"; did you mean {safe(found)}?"
