"""What the consent store and the ledger have in common: states, text and time.

Both are files that several programs write, and a person may. So there are three states
and never two: a file that says nothing because it is damaged is not one that is not
there, and is left as it is.
Source: docs/reference/consent-store.md and docs/reference/ledger.md.
"""

from __future__ import annotations

import enum
import json
import time
from collections.abc import Callable, Mapping

from msdcomp.edge.files import MAX_FILE_BYTES, FileFault
from msdcomp.edge.jsonfiles import Json

__all__ = ["StoreState", "left_as_it_is", "render", "timestamp"]


class StoreState(enum.StrEnum):
    """What is known of a store."""

    #: There is no file: nothing was ever recorded.
    ABSENT = "absent"
    #: There is one that cannot be read: nobody knows what was recorded.
    CORRUPT = "corrupt"
    #: It was read; a single record may still make no sense.
    READABLE = "readable"


def render(document: Mapping[str, Json]) -> bytes | FileFault:
    """Return the text of a store, or why it would be one that nobody could read.

    All of it is ASCII: escapes keep a path readable that is not UTF-8.
    """
    try:
        text = json.dumps(document, indent=2, allow_nan=False)
    except ValueError:  # 1e400 was read as infinity
        return FileFault("damaged", "holds a number that is too large")
    except RecursionError:
        return FileFault("damaged", "nested too deep")
    data = text.encode("ascii") + b"\n"
    if len(data) > MAX_FILE_BYTES:
        return FileFault("too-large", f"would be larger than {MAX_FILE_BYTES:,} bytes")
    return data


def timestamp(clock: Callable[[], float] = time.time) -> str:
    """Return a time in UTC as ISO 8601 writes it, to the second."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(clock()))


def left_as_it_is(fault: FileFault, remedy: str) -> FileFault:
    """Return why a store is not written, and what to do about it."""
    return FileFault(fault.code, f"{fault.reason}; it is left as it is: {remedy}")
