"""A capability on its way into a registry."""

from __future__ import annotations

from collections.abc import Mapping

import attrs
from pyrsistent import PMap, pmap

from msdcomp.manifest import Manifest
from msdcomp.records import Record

__all__ = ["Entry"]


def _texts(value: Mapping[str, str]) -> PMap[str, str]:
    return pmap(value)


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Entry(Record):
    """A capability that is to be a member, with the texts of its fragment files."""

    manifest: Manifest
    #: Declared path -> text.
    fragments: PMap[str, str] = attrs.field(factory=pmap, converter=_texts, repr=False)
