"""Every fault msdcomp can report, by its permanent name.

A code says what is wrong, not what to do; once published it keeps its meaning for good.
The reference page of codes is generated from `CODES`.
"""

from __future__ import annotations

from pyrsistent import PMap, pmap

from msdcomp.codes._code import Code
from msdcomp.codes.composition import COMPOSITION
from msdcomp.codes.contract import CONTRACT
from msdcomp.codes.document import DOCUMENT
from msdcomp.codes.manifest import MANIFEST

__all__ = ["CODES", "Code"]

#: Code -> what it means. Order of the groups: text, manifest, composition,
#: host contract.
CODES: PMap[str, Code] = pmap(
    {entry.code: entry for entry in (*DOCUMENT, *MANIFEST, *COMPOSITION, *CONTRACT)}
)
