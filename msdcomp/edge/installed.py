"""Composes what the overlay roots hold; imported only where there is something.

Source: docs/explanation/composition.md.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from msdcomp.collector import collector_paused
from msdcomp.edge.scan import Scan, scan
from msdcomp.edge.snapshot import read_central_config
from msdcomp.fold import OnSetFailure, compose
from msdcomp.host import Host, HostContract

if TYPE_CHECKING:
    from msdcomp.composition import Composition
    from msdcomp.edge.progress import OnProgress
    from msdcomp.edge.roots import Places
    from msdcomp.registry import Registry

__all__ = ["compose_places", "compose_scan", "host_for"]


def compose_places(
    places: Places,
    *,
    base: Registry,
    host_version: str,
    on_set_failure: OnSetFailure = "fallback",
    on_progress: OnProgress | None = None,
    contract: HostContract | None = None,
) -> Composition:
    """Read the overlay roots and compose what they hold."""
    with collector_paused():
        found = scan(places, on_progress=on_progress)
        host = host_for(found, host_version, contract)
        return compose_scan(found, base=base, host=host, on_set_failure=on_set_failure)


def host_for(found: Scan, version: str, contract: HostContract | None = None) -> Host:
    """Return the host that a scan is composed for; by default with MSD's contract."""
    contract = contract or HostContract()
    # Where nobody claims a key, nobody's claim has to be looked up.
    if not found.candidates:
        return Host(version=version, contract=contract)
    return Host(version=version, contract=contract, central=read_central_config())


def compose_scan(
    found: Scan,
    *,
    base: Registry,
    host: Host,
    on_set_failure: OnSetFailure = "fallback",
) -> Composition:
    """Compose what a scan found, for a host and a first party of the caller's own."""
    composed = compose(base, found.candidates, host, on_set_failure=on_set_failure)
    # What it was made of would be in memory for as long as it is, and a composition
    # from the cache has none either.
    return attrs.evolve(composed, ignored=found.ignored, making=None)
