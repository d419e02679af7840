"""Composes what the overlay roots hold; imported only where there is something.

Source: docs/explanation/composition.md.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from msdcomp.edge.scan import Scan, scan
from msdcomp.edge.snapshot import read_central_config
from msdcomp.fold import OnSetFailure, compose
from msdcomp.host import Host

if TYPE_CHECKING:
    from msdcomp.composition import Composition
    from msdcomp.edge.progress import OnProgress
    from msdcomp.edge.roots import Places
    from msdcomp.registry import Registry

__all__ = ["compose_places", "compose_scan"]


def compose_places(
    places: Places,
    *,
    base: Registry,
    host_version: str,
    on_set_failure: OnSetFailure = "fallback",
    on_progress: OnProgress | None = None,
) -> Composition:
    """Read the overlay roots and compose what they hold."""
    found = scan(places, on_progress=on_progress)
    # Where nobody claims a key, nobody's claim has to be looked up.
    host = (
        Host(version=host_version, central=read_central_config())
        if found.candidates
        else Host(version=host_version)
    )
    return compose_scan(found, base=base, host=host, on_set_failure=on_set_failure)


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
