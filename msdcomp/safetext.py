"""Text of unknown origin, made fit for a terminal, a log line or a document.

An overlay's own words reach people in warnings. They must not move a cursor, hide
behind a bidirectional override, break out of a code span or flood a screen.
Source: docs/reference/wire-format.md, "Text taken from overlays".
"""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["MAX_TEXT", "is_capability_id", "safe", "unsafe_characters"]

#: Longest text repeated from an overlay, in characters.
MAX_TEXT = 300

_ID = re.compile(r"[a-z][a-z0-9-]*")

# Control characters (C0, DEL, C1), every kind of white space, every formatting
# character (the bidirectional ones, the invisible joiners, tags and selectors out of
# sight) become one plain space; lone surrogates cannot be written anywhere. The set is
# spelled out because the categories of `unicodedata` change with the Python version.
_UNSAFE_SET = (
    "\x00-\x20\x7f-\xa0\xad\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u1680"
    "\u180e\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3"
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)


@functools.cache
def _unsafe(*, runs: bool) -> re.Pattern[str]:
    # Made when it is needed: most text is plain, and most commands are short.
    return re.compile(f"[{_UNSAFE_SET}]{'+' if runs else ''}")


def safe(text: object, limit: int = MAX_TEXT) -> str:
    r"""Return `text` on one line, without anything a terminal or markdown would obey.

    Args:
        text: Any value; what is not text is shown as `str` shows it.
        limit: Longest result in characters.

    >>> safe("run `x`\n\x1b[31mnow")
    'run x [31mnow'
    """
    # Cut generously first: a hostile text of megabytes must not be scanned whole.
    raw = (text if isinstance(text, str) else str(text))[: limit * 8]
    bare = raw.replace("`", "")
    if not (bare.isascii() and bare.isprintable() and "  " not in bare):
        bare = _unsafe(runs=True).sub(" ", bare)
    return bare.strip()[:limit]


def unsafe_characters(text: str, replace: Callable[[str], str]) -> str:
    """Return `text` with every character that `safe` would not let through replaced.

    Args:
        text: Any text; it is neither cut nor are its spaces joined.
        replace: Given one such character, a plain space among them, what to write.
    """
    return _unsafe(runs=False).sub(lambda match: replace(match[0]), text)


def is_capability_id(text: str) -> bool:
    """Tell whether `text` may stand unquoted in a command shown to a person.

    Longer than 100 characters is not an id anybody would type.
    """
    return len(text) <= 100 and _ID.fullmatch(text) is not None
