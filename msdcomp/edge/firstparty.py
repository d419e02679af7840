"""The shipped registry, from the snapshot or, where there is a cache, from there.

Structuring it from the snapshot imports most of the library; from the cache it is read
as it is.
Source: docs/reference/cache.md.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, TypeGuard

import attrs
from pyrsistent import PMap

from msdcomp.registry import Registry

if TYPE_CHECKING:
    from msdcomp.edge.cachefolder import CacheFolder

__all__ = ["first_party", "is_whole"]

_shipped: list[Registry] = []


def first_party(folder: CacheFolder | None = None) -> Registry:
    """Return the shipped registry; the same object for the life of the process.

    Raises:
        RuntimeError: The installed package is damaged.
    """
    if not _shipped:
        _shipped.append(_read(folder))
    return _shipped[0]


def _read(folder: CacheFolder | None) -> Registry:
    snapshot = sys.modules.get("msdcomp.edge.snapshot")
    known = snapshot is not None and snapshot.read_snapshot.cache_info().currsize
    if folder is not None and not known:
        kept = _kept(folder)
        if is_whole(kept):
            return kept
    from msdcomp.edge.snapshot import read_snapshot  # noqa: PLC0415 -- see the module

    registry = read_snapshot()
    if folder is not None and not known:
        _keep(folder, registry)
    return registry


def is_whole(registry: object) -> TypeGuard[Registry]:
    """Tell whether this is a registry with every view; a file may hold anything."""
    if not isinstance(registry, Registry):
        return False
    views = (getattr(registry, view.name, None) for view in attrs.fields(Registry))
    return all(isinstance(view, PMap) for view in views)


def _kept(folder: CacheFolder) -> object:
    from msdcomp.edge.cachefolder import FIRST_PARTY  # noqa: PLC0415 -- only with one
    from msdcomp.edge.cachevalues import load  # noqa: PLC0415

    with folder.reading(FIRST_PARTY, "") as file:
        data = file.section(0) if file and len(file) == 1 else None
    return None if data is None else load(data)


def _keep(folder: CacheFolder, registry: Registry) -> None:
    from msdcomp.edge.cachefolder import FIRST_PARTY  # noqa: PLC0415
    from msdcomp.edge.cachevalues import dump  # noqa: PLC0415

    data = dump(registry)
    if data is not None:
        folder.write(FIRST_PARTY, "", data)
