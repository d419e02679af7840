"""A folder of the system's own for what is fetched, gone when it is closed.

Source: docs/reference/sources.md, "Faults".
"""

from __future__ import annotations

import tempfile

from msdcomp.sourcefault import SourceFault

__all__ = ["Scratch", "scratch"]

#: A folder that nobody but us may look into; as a context, its path.
Scratch = tempfile.TemporaryDirectory[str]

_NO_ROOM = SourceFault(
    "system",
    "no temporary folder can be made",
    "free some room, or name a folder that can be written with TMPDIR",
)


def scratch(prefix: str) -> Scratch | SourceFault:
    """Return a new temporary folder, or why there is none.

    Python looks for a place by writing there, so a full disk has none.

    Args:
        prefix: What its name begins with.
    """
    try:
        return Scratch(prefix=prefix, ignore_cleanup_errors=True)
    except OSError:
        return _NO_ROOM
