"""Checks of the machine and of the places where everything else is looked for."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from msdcomp.configlayers import ConfigLayers, Origin, lookup
from msdcomp.edge.config import PROJECT_FILE
from msdcomp.edge.lifecycle.origin import origin
from msdcomp.edge.surfacing import find_surface
from msdcomp.health import Finding, finding
from msdcomp.safetext import safe
from msdcomp.scope import Scope
from msdcomp.sourcepolicy import POLICY_KEY, SourcePolicy
from msdcomp.sourcespec import SourceSpec
from msdcomp.surface import Surface

if TYPE_CHECKING:
    from msdcomp.edge.lifecycle.checks.view import View
    from msdcomp.edge.roots import Places
    from msdcomp.registry import Registry

__all__ = ["check_git", "check_policy", "check_surface", "check_whereabouts"]

_PROJECT = Scope.PROJECT.value


def check_whereabouts(places: Places) -> Iterator[Finding]:
    """Yield what is odd about the home and the project."""
    if places.home is not None and not os.path.isdir(places.home):  # noqa: PTH112
        yield finding(
            "home-missing",
            f"there is no folder {safe(places.home)}, which is to be the home",
            "look at MSD_HOME",
        )
    if places.project is None:
        yield finding("no-project", "there is no project here, so only the home counts")
    elif all(root.scope is Scope.PROJECT for root in places.roots):
        yield finding(
            "no-global-scope",
            "what is installed in the home counts as the project's, since its folder "
            "is not provably outside of the project: each of it has to be agreed to",
        )


def check_policy(layers: ConfigLayers) -> Iterator[Finding]:
    """Yield why the project's list of hosts does not say what was meant."""
    held = lookup(POLICY_KEY, layers, {})
    policy = SourcePolicy.of(layers)
    meant = isinstance(held.value, list | tuple) and not held.value
    if policy.closed and (held.origin is Origin.UNREADABLE or not meant):
        yield finding(
            "policy-unreadable",
            f"{policy.closed}",
            "mend the configuration",
            scope=_PROJECT,
            subject=PROJECT_FILE,
        )
    for entry in policy.useless:
        yield finding(
            "policy-entry-useless",
            f"{POLICY_KEY} lists {safe(entry, 100)}, which is no plain name of a host "
            "and allows nothing",
            "write the name of a host, without scheme, port and path",
            scope=_PROJECT,
            subject=PROJECT_FILE,
        )


def check_surface(places: Places, registry: Registry) -> Iterator[Finding]:
    """Yield why nobody knows what the user has on the surface."""
    found = find_surface(places, registry)
    if isinstance(found, Surface) and found.unreadable:
        yield finding(
            "surface-unreadable",
            f"{safe(found.file, 400)}: {found.unreadable}; steps and contributions are "
            "left out, and gates are kept",
            "mend the file, or move it away and choose again with `msd surface`",
        )


def check_git(views: Iterable[View]) -> Iterator[Finding]:
    """Yield whether `git` is missing, and whether anybody needs it."""
    if shutil.which("git") is not None:
        return
    specs = [
        origin(entry, allow_insecure=True) for view in views for entry in view.settled
    ]
    if any(isinstance(spec, SourceSpec) and spec.kind == "git" for spec in specs):
        yield finding(
            "git-missing",
            "git is not installed, and something here came from a repository",
            "install git, to be able to update it",
        )
    else:
        yield finding("git-absent", "git is not installed; no repository can be used")
