"""Where a scope keeps what is installed, and whose it counts as.

The scope that decides about consent is the one a load uses: a global root that is not
provably outside of the project is a project's, for installing as for composing.
Source: docs/explanation/composition.md, "Where overlays come from".
"""

from __future__ import annotations

import os

import attrs

from msdcomp._version import DEFAULT_HOST_VERSION
from msdcomp.edge.files import FileFault
from msdcomp.edge.roots import CAPABILITIES, Places, Root
from msdcomp.records import Record
from msdcomp.scope import Scope

__all__ = ["Site", "find_site", "sites"]


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Site(Record):
    """One overlay root, and all that counts with it.

    Attributes:
        places: Home, project and every root that is composed here.
        root: The root that is changed.
        home: The user's home, which holds the consent store.
        host_version: Running version of the host.
    """

    places: Places
    root: Root
    home: str
    host_version: str = DEFAULT_HOST_VERSION

    @property
    def scope(self) -> Scope:
        """What its overlays count as."""
        return self.root.scope

    @property
    def is_own(self) -> bool:
        """Whether links on the way to it are the user's own, and followed."""
        return self.scope is Scope.GLOBAL

    @property
    def consent_root(self) -> str:
        """The root that a consent record names: the project, or else the home.

        Records name physical paths, and the way to a home may lead over a link.
        """
        if self.scope is Scope.PROJECT and self.places.project is not None:
            return self.places.project
        return os.path.realpath(self.home)

    def path(self, folder: str) -> str:
        """Return where a folder of it lies, relative to the root of its scope."""
        return f"{self.root.shown}/{folder}"


def find_site(
    places: Places, scope: str, host_version: str = DEFAULT_HOST_VERSION
) -> Site | FileFault:
    """Return where a scope installs.

    Args:
        places: Home, project and roots.
        scope: `global` or `project`, as the user says it.
        host_version: Running version of the host.
    """
    if places.home is None:
        return FileFault("no-home", "there is no home; name one with --home")
    if scope == Scope.PROJECT.value and places.project is None:
        return FileFault("no-project", "there is no project; name one with --project")
    top = places.home if scope == Scope.GLOBAL.value else places.project
    wanted = f"{top}/{CAPABILITIES}"
    # The global root is left out where it is physically the project's.
    root = next((r for r in places.roots if r.folder == wanted), places.roots[-1])
    return Site(places=places, root=root, home=places.home, host_version=host_version)


def sites(
    places: Places,
    host_version: str = DEFAULT_HOST_VERSION,
    *,
    scope: str | None = None,
) -> tuple[Site, ...]:
    """Return every root here, global first; none where there is no home.

    Args:
        places: Home, project and roots.
        host_version: Running version of the host.
        scope: Only what a user means by `global` or `project`. A root of the home that
            counts as the project's is both.
    """
    if places.home is None:
        return ()
    found = tuple(
        Site(places=places, root=root, home=places.home, host_version=host_version)
        for root in places.roots
    )
    if scope == Scope.GLOBAL.value:
        site = find_site(places, scope, host_version)
        return () if isinstance(site, FileFault) else (site,)
    if scope == Scope.PROJECT.value:
        # The project's own root comes last among all, and here counts first.
        return tuple(site for site in reversed(found) if site.scope is Scope.PROJECT)
    return found
