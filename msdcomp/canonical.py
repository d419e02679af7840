"""The one way to write JSON as the bytes a manifest is kept, compared and hashed by."""

from __future__ import annotations

import json

__all__ = ["canonical"]

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
