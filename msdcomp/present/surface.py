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
                standing_text(surface.standing(owner), surface),
            )
            for owner in sorted(registry.capabilities)
        ],
    )
    on = sum(surface.on(owner) is True for owner in registry.capabilities)
    total = count(len(registry.capabilities), "capability", "capabilities")
    page.line()
    page.line(f"{on} of {total} on the surface")
    if elsewhere := _elsewhere(surface, registry):
        names = safe(", ".join(elsewhere), 400)
        page.line(f"chosen about, and not composed here: {names}")
    if unknown := _unknown(surface):
        page.line((f"no profile: {safe(', '.join(unknown), 400)}", "bold yellow"))
    return page.render()


def _elsewhere(surface: Surface, registry: Registry) -> list[str]:
    """Return what was chosen about and is not composed: a cluster, or gone."""
    return sorted(surface.choice.names().difference(map(str, registry.capabilities)))


def _unknown(surface: Surface) -> list[str]:
    return [name for name in surface.choice.profiles if name not in PROFILES]


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
        "unknownProfiles": _unknown(surface),
        "notComposed": _elsewhere(surface, registry),
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
            for standing in [surface.standing(owner)]
        ],
    }
