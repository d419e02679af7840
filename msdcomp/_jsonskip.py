"""Expressions that carry a scan over harmless stretches of a large text.

They run in C and look for what cannot be odd: values of few levels, entries without
repeated keys or half characters. Where they stop, somebody looks closely.
"""

from __future__ import annotations

import functools
import re

#: Shortest text in which harmless stretches are passed over, in characters.
LARGE = 64 * 1024

_LOOSE_STRING = r'"(?:[^"\\]++|\\.)*+"'
_CLEAN_STRING = (
    r'"(?:[^"\\\x00-\x1f\ud800-\udfff]++|\\(?:["\\/bfnrt]|'
    r'u(?![dD][89a-fA-F])[0-9a-fA-F]{4}))*+"'
)
_CLEAN_SCALAR = (
    rf"{_CLEAN_STRING}|true|false|null"
    r"|-?(?:0|[1-9][0-9]{0,14}+)(?:\.[0-9]++)?+(?![0-9.eE])"
)
_GAP = r"[ \t\n\r]*+"
#: Levels below a value that is passed over by its brackets alone.
SHALLOW_LEVELS = 6
#: Length below which looking at every object of a value costs least, in characters.
SMALL = 400


def _skipped() -> str:
    """Return an expression for a value of few levels, known to be JSON."""
    inner = rf'[^"\[\]{{}}]++|{_LOOSE_STRING}'
    pattern = rf"[\[{{](?:{inner})*+[\]}}]"
    for _ in range(SHALLOW_LEVELS):
        pattern = rf"[\[{{](?:{inner}|{pattern})*+[\]}}]"
    return pattern


def _clean() -> str:
    """Return an expression for a value in which nothing can be odd.

    That is a scalar, or an array or an object of one key that holds only such.
    """
    entry = rf"(?:{_CLEAN_SCALAR}|\[{_GAP}\]|\{{{_GAP}\}})"
    array = rf"\[{_GAP}(?:{entry}{_GAP}(?:,{_GAP}(?!\])|(?=\])))*+\]"
    single = rf"\{{{_GAP}(?:{_CLEAN_STRING}{_GAP}:{_GAP}{entry}{_GAP})?+\}}"
    return rf"(?:{_CLEAN_SCALAR}|{array}|{single})"


@functools.cache
def shallow() -> re.Pattern[str]:
    return re.compile(_skipped(), re.DOTALL)


@functools.cache
def run_of(size: int, *, clean: bool) -> re.Pattern[str]:
    """Return an expression for `size` entries of an array with the commas behind."""
    loose = rf'(?:{_LOOSE_STRING}|[^"\[\]{{}},\s]++|{_skipped()})'
    entry = _clean() if clean else loose
    return re.compile(rf"(?:{entry}{_GAP},{_GAP}){{{size}}}+", re.DOTALL)


#: Numbers of entries that are passed over at once.
SIZES = (4, 64, 1024)
