"""`load_registry`: the shipped capabilities and whatever is installed, composed.

Source: docs/explanation/composition.md.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from msdcomp.edge.roots import StrPath, find_places
from msdcomp.edge.scan import Scan, scan
from msdcomp.edge.snapshot import read_central_config, read_snapshot
from msdcomp.fold import OnSetFailure, compose
from msdcomp.host import DEFAULT_HOST_VERSION, Host

if TYPE_CHECKING:
    from msdcomp.composition import Composition
    from msdcomp.registry import Registry

__all__ = ["compose_scan", "load_registry"]


def load_registry(
    include_installed: bool = True,  # noqa: FBT001, FBT002 -- the documented signature
    *,
    cwd: StrPath | None = None,
    home: StrPath | None = None,
    project: StrPath | None = None,
    host_version: str | None = None,
    base: Registry | None = None,
    on_set_failure: OnSetFailure = "fallback",
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

    Returns:
        The composition; its `ignored` lists every entry of a root that is no candidate.

    Source: docs/explanation/composition.md, "The registry is a function".
    """
    found = scan(find_places(cwd, home, project)) if include_installed else Scan()
    return compose_scan(
        found,
        base=base if base is not None else read_snapshot(),
        host=_host(host_version, found),
        on_set_failure=on_set_failure,
    )


def _host(version: str | None, found: Scan) -> Host:
    version = version if version is not None else DEFAULT_HOST_VERSION
    if not found.candidates:  # nobody claims a key, so nobody's claim is looked up
        return Host(version=version)
    return Host(version=version, central=read_central_config())


def compose_scan(
    found: Scan,
    *,
    base: Registry,
    host: Host,
    on_set_failure: OnSetFailure = "fallback",
) -> Composition:
    """Compose what a scan found, for a host and a first party of the caller's own."""
    composed = compose(base, found.candidates, host, on_set_failure=on_set_failure)
    return attrs.evolve(composed, ignored=found.ignored) if found.ignored else composed
