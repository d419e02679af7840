"""The record behind one code."""

from __future__ import annotations

import attrs

from msdcomp.records import Record


@attrs.frozen(eq=False, repr=False)
class Code(Record):
    """One kind of fault.

    Attributes:
        code: Permanent kebab-case name.
        meaning: What is wrong, in full sentences.
        remedy: What to do about it; shown as the hint when there is no better one.
        source: The page of docs/, and the section, that the rule comes from.
    """

    code: str
    meaning: str
    remedy: str
    source: str
