"""The surface of a host, for a person and as JSON data."""

from __future__ import annotations

from typing import Any

from msdcomp.present.page import Page, Screen, count
from msdcomp.present.state import standing_text
from msdcomp.registry import Registry
from msdcomp.safetext import safe
from msdcomp.surface import PROFILES, Surface, profiles_of

__all__ = ["render_surface", "surface_wire"]


def render_surface(surface: Surface, registry: Registry, screen: Screen) -> str:
    """Return a row for each capability: on or not, what decided, its profiles."""
    page = Page(screen)
    page.line(("profile ", "bold"), surface.profile, f" of {', '.join(PROFILES)}")
    if surface.runtime is not None:
        page.line(f"for the runtime {safe(surface.runtime)}", indent=1)
    if surface.file:
        page.line(f"chosen in {safe(surface.file, 400)}", indent=1)
    if surface.unreadable:
        page.line(("cannot be read: ", "bold red"), surface.unreadable, indent=1)
    page.line()
    profiles = profiles_of(registry)
    page.table(
        ("id", "on", "profiles", "skills", "because"),
        [
            (
                owner,
                _on(surface, owner),
                ", ".join(profiles[owner]),
                str(len(registry.capability_clusters.get(owner, ()))),
                standing_text(surface.standings.get(owner), surface),
            )
            for owner in sorted(registry.capabilities)
        ],
    )
    on = sum(surface.on(owner) is True for owner in registry.capabilities)
    total = count(len(registry.capabilities), "capability", "capabilities")
    page.line()
    page.line(f"{on} of {total} on the surface")
    return page.render()


def _on(surface: Surface, owner: str) -> str:
    return {True: "yes", False: "no", None: "?"}[surface.on(owner)]


def surface_wire(surface: Surface, registry: Registry) -> dict[str, Any]:
    """Return the same as fresh JSON data."""
    profiles = profiles_of(registry)
    return {
        "profile": surface.profile,
        "runtime": surface.runtime,
        "file": surface.file,
        "unreadable": surface.unreadable,
        "capabilities": [
            {
                "id": owner,
                "on": surface.on(owner),
                "profiles": list(profiles[owner]),
                "cluster": list(registry.capability_clusters.get(owner, ())),
                "switch": standing.switch.value if standing is not None else None,
                "because": standing.because if standing is not None else "",
            }
            for owner in sorted(registry.capabilities)
            for standing in [surface.standings.get(owner)]
        ],
    }
