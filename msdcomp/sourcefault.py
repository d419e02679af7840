"""Why a source cannot be used, as a value."""

from __future__ import annotations

import attrs

from msdcomp.records import Record

__all__ = ["SourceFault"]


@attrs.frozen(eq=False, repr=False)
class SourceFault(Record):
    """Why a source cannot be used.

    Attributes:
        code: A permanent name of the fault; docs/reference/sources.md lists them.
        reason: A clause for a person; text of strangers in it has been made safe.
        hint: What to do instead; empty when there is nothing to say.
    """

    code: str
    reason: str
    hint: str = ""
