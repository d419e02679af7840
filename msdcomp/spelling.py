"""Slips of the pen: which known name somebody may have meant.

The names often come out of the document that is being judged, so the cost is bounded
by construction: only short texts, only a few options, one look along each of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection

__all__ = ["MAX_OPTIONS", "MAX_TEXT", "closest", "is_slip"]

#: Longest text that is looked at, in characters; nobody mistypes a longer name.
MAX_TEXT = 60
#: Most options that are looked at; among more of them a guess is no help.
MAX_OPTIONS = 256


def closest(text: str, options: Collection[str]) -> str | None:
    """Return the option that `text` is a slip of, if there is one.

    An option is meant when only the case of its letters differs, or else when, letter
    case aside, it is one edit away; the smallest by code point among equals.

    Args:
        text: What somebody wrote.
        options: What could have been meant; only asked for its length when there are
            more than `MAX_OPTIONS`.

    >>> closest("Contribution", ["contributions", "gates"])
    'contributions'
    >>> closest("moon", ["contributions", "gates"]) is None
    True
    """
    if len(text) > MAX_TEXT or len(options) > MAX_OPTIONS:
        return None
    lowered = text.lower()
    same: list[str] = []
    near: list[str] = []
    for option in options:
        if abs(len(option) - len(text)) > 1 or option == text:
            continue
        other = option.lower()
        if other == lowered:
            same.append(option)
        elif is_slip(lowered, other):
            near.append(option)
    return min(same or near, default=None)


def is_slip(one: str, other: str) -> bool:
    """Tell whether one edit turns a text into the other one.

    An edit inserts, deletes or replaces a character or swaps two neighbours. Takes
    time proportional to the shorter text.

    >>> is_slip("gates", "gtaes"), is_slip("gates", "gates"), is_slip("gates", "gas")
    (True, False, False)
    """
    short, long = sorted((one, other), key=len)
    if len(long) - len(short) > 1 or short == long:
        return False
    at = 0
    while at < len(short) and short[at] == long[at]:
        at += 1
    if len(short) < len(long):
        return short[at:] == long[at + 1 :]
    if short[at + 1 :] == long[at + 1 :]:
        return True
    swapped = short[at + 1 : at + 2] + short[at]
    return swapped == long[at : at + 2] and short[at + 2 :] == long[at + 2 :]
