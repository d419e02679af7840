"""The two ways to write JSON: to be kept and compared, and to be read."""

from __future__ import annotations

import json

__all__ = ["canonical", "pretty"]

_ENCODE = json.JSONEncoder(
    sort_keys=True,
    separators=(",", ":"),
    ensure_ascii=False,
    allow_nan=False,
    check_circular=False,
).encode


def canonical(value: object) -> bytes:
    """Return plain JSON as canonical bytes: sorted keys, no spaces, UTF-8.

    Raises:
        UnicodeEncodeError: A string holds half a surrogate pair.
    """
    return _ENCODE(value).encode()


def pretty(value: object) -> str:
    """Return JSON data as people and version control read it.

    Sorted keys, two spaces, ASCII only, so that no terminal can be spoken to, and one
    newline at the end.
    """
    return json.dumps(value, indent=2, sort_keys=True) + "\n"
