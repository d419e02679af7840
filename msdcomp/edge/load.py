"""`load_registry`: the shipped capabilities and whatever is installed, composed.

Source: docs/explanation/composition.md.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from msdcomp._version import DEFAULT_HOST_VERSION
from msdcomp.composition import Composition
from msdcomp.edge.firstparty import first_party
from msdcomp.edge.roots import Places, StrPath, find_places

if TYPE_CHECKING:
    from msdcomp.edge.cachefolder import CacheFolder
    from msdcomp.edge.progress import OnProgress
    from msdcomp.host import HostContract
    from msdcomp.making import OnSetFailure
    from msdcomp.registry import Registry

__all__ = ["OFF", "load_places", "load_registry"]

#: Environment variable that switches the cache off when it is set to anything.
OFF = "MSD_NO_CACHE"


def load_registry(  # noqa: PLR0913 -- each of them is named where it is given
    include_installed: bool = True,  # noqa: FBT001, FBT002 -- the documented signature
    *,
    cwd: StrPath | None = None,
    home: StrPath | None = None,
    project: StrPath | None = None,
    host_version: str | None = None,
    base: Registry | None = None,
    on_set_failure: OnSetFailure = "fallback",
    cache: bool | None = None,
    contract: HostContract | None = None,
) -> Composition:
    """Compose the shipped capabilities with whatever is installed here.

    Nothing that lies in an overlay root, a store or a ledger makes it raise.

    Args:
        include_installed: Whether to look for overlays at all.
        cwd: Where to look for the project from; by default the working directory.
        home: The user's home; by default `$MSD_HOME`, else the user's own.
        project: The project, when it need not be looked for.
        host_version: Running version of the host; by default the one that the shipped
            capabilities belong to.
        base: First-party registry; by default the shipped one.
        on_set_failure: What to do when the accepted overlays cannot be built together:
            `fallback` drops all of them, `isolate` only the culprits.
        cache: Whether the cache in the home may be read and written; by default
            unless `$MSD_NO_CACHE` is set to anything. The result is the same. With a
            `base` or a `contract` of the caller's own it is never used.
        contract: What the loop of the host offers to overlays; by default MSD's own.
            The shipped capabilities are taken as they are.

    Returns:
        The composition; its `ignored` lists every entry of a root that is no candidate.

    Source: docs/explanation/composition.md, "The registry is a function".
    """
    if not include_installed:
        return Composition(registry=base if base is not None else first_party())
    return load_places(
        find_places(cwd, home, project),
        host_version=host_version,
        base=base,
        on_set_failure=on_set_failure,
        cache=cache,
        contract=contract,
    )


def load_places(
    places: Places,
    *,
    host_version: str | None = None,
    base: Registry | None = None,
    on_set_failure: OnSetFailure = "fallback",
    on_progress: OnProgress | None = None,
    cache: bool | None = None,
    contract: HostContract | None = None,
) -> Composition:
    """Do what `load_registry` does, for places that were found already.

    `on_progress` is told the number of entries looked at, after each.
    """
    version = DEFAULT_HOST_VERSION if host_version is None else host_version
    empty = not any(_exists(root.folder) for root in places.roots)
    if cache is None:
        cache = not os.environ.get(OFF)
    # What is in the cache was composed for the contract of MSD.
    own = base is not None or contract is not None
    folder = _cache(places) if cache and not own else None
    if folder is not None:
        with folder:
            if empty:
                return Composition(registry=first_party(folder))
            from msdcomp.edge.cache import load_through  # noqa: PLC0415 -- as below

            found = load_through(
                folder,
                places,
                host_version=version,
                on_set_failure=on_set_failure,
                on_progress=on_progress,
            )
            if found is not None:
                return found
    base = base if base is not None else first_party()
    if empty:
        return Composition(registry=base)
    # Imported here because most of the library is behind it, and a host without
    # overlays, which asks at every point of its loop, should not pay for that.
    from msdcomp.edge.installed import compose_places  # noqa: PLC0415

    return compose_places(
        places,
        base=base,
        host_version=version,
        on_set_failure=on_set_failure,
        on_progress=on_progress,
        contract=contract,
    )


def _cache(places: Places) -> CacheFolder | None:
    if places.home is None or not _exists(f"{places.home}/.msd"):
        return None
    # Imported here because many a home holds nothing to be cached.
    from msdcomp.edge.cachefolder import find_folder  # noqa: PLC0415

    return find_folder(places)


def _exists(folder: str) -> bool:
    try:
        os.lstat(folder)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except (OSError, ValueError):
        pass  # something is there, and the scan says what is wrong with it
    return True
