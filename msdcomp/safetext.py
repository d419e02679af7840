"""Text of unknown origin, made fit for a terminal, a log line or a document.

An overlay's own words reach people in warnings. They must not move a cursor, hide
behind a bidirectional override, break out of a code span or flood a screen.
Source: docs/reference/wire-format.md, "Text taken from overlays".
"""

from __future__ import annotations

import re

__all__ = ["MAX_TEXT", "is_capability_id", "safe"]

#: Longest text repeated from an overlay, in characters.
MAX_TEXT = 300

_ID = re.compile(r"[a-z][a-z0-9-]*")

# Control characters (C0, DEL, C1), every kind of white space, the bidirectional
# formatting characters and the invisible joiners become one plain space; lone
# surrogates cannot be written anywhere.
_UNSAFE = re.compile(
    "[\x00-\x20\x7f-\xa0\xad\u061c\u1680\u180e\u2000-\u200f\u2028-\u202f"
    "\u205f-\u206f\u3000\ufeff\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f]+"
)


def safe(text: object, limit: int = MAX_TEXT) -> str:
    """Return `text` on one line, without anything a terminal or markdown would obey.

    Args:
        text: Any value; what is not text is shown as `str` shows it.
        limit: Longest result in characters.

    >>> safe("run `x`\\n\\x1b[31mnow")
    'run x [31mnow'
    """
    # Cut generously first: a hostile text of megabytes must not be scanned whole.
    raw = (text if isinstance(text, str) else str(text))[: limit * 8]
    return _UNSAFE.sub(" ", raw.replace("`", "")).strip()[:limit]


def is_capability_id(text: str) -> bool:
    """Tell whether `text` may stand unquoted in a command shown to a person.

    Longer than 100 characters is not an id anybody would type.
    """
    return len(text) <= 100 and _ID.fullmatch(text) is not None
