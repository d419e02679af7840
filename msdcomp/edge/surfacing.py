"""The surface that counts here, found without importing more than an answer needs.

At every point of a loop most users have chosen nothing, so all that is done then is to
ask whether there is a file.
Source: docs/reference/surface.md, "Which folder".
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

from msdcomp.edge.confighome import config_folder
from msdcomp.edge.files import FileFault
from msdcomp.safetext import safe

if TYPE_CHECKING:
    from msdcomp.edge.roots import Places
    from msdcomp.registry import Registry
    from msdcomp.surface import Surface

__all__ = [
    "DEFAULT_RUNTIME",
    "PROFILE_NAME",
    "SURFACE_NAME",
    "find_folder",
    "find_surface",
]

#: Names in the configuration folder of a host.
SURFACE_NAME = ".msd-surface.json"
PROFILE_NAME = ".msd-profile"

#: The runtime whose folder counts where nobody names one.
DEFAULT_RUNTIME = "claude"


def find_folder(
    places: Places,
    registry: Registry,
    runtime: str | None,
    environment: Mapping[str, str] | None = None,
) -> str | FileFault | None:
    """Return the configuration folder of a runtime, or of the default one.

    Args:
        places: The home that hosts keep their folders in.
        registry: A composed registry, for the descriptors of its runtimes.
        runtime: Id of a runtime; None for the default one.
        environment: Variables that may name the folder; by default those of this
            process.

    Returns:
        The folder; None when there can be none; a fault for an unknown runtime.
    """
    known = {str(owner): found for owner, found in registry.runtimes.items()}
    found = known.get(DEFAULT_RUNTIME if runtime is None else runtime)
    if found is None:
        if runtime is None:
            return None
        names = safe(", ".join(sorted(known)), 600)
        return FileFault(
            "unknown-runtime", f"{safe(runtime)} is no runtime here (known: {names})"
        )
    if places.home is None:
        return None
    return config_folder(found.config_home, places.home, environment)


def find_surface(
    places: Places,
    registry: Registry,
    runtime: str | None = None,
    folder: str | None = None,
    environment: Mapping[str, str] | None = None,
) -> Surface | FileFault | None:
    """Return the surface of a host, None where all of the registry is on it.

    Args:
        places: The home that hosts keep their folders in.
        registry: A composed registry.
        runtime: Id of a runtime, to bound the surface by; by default none does.
        folder: The configuration folder; by default that of the runtime.
        environment: As in `find_folder`.

    Returns:
        The surface, or a fault for a runtime that there is not.
    """
    found = find_folder(places, registry, runtime, environment)
    if isinstance(found, FileFault):
        return found
    held = found if folder is None else folder
    kept_there = held is not None and any(
        _may_be(f"{held}/{name}") for name in (SURFACE_NAME, PROFILE_NAME)
    )
    if not kept_there and runtime is None:
        return None
    from msdcomp.edge.surfacefile import Kept, read_choice  # noqa: PLC0415 - see above
    from msdcomp.surface import Choice, Surface, surface  # noqa: PLC0415

    kept = read_choice(held) if held is not None and kept_there else Kept()
    choice = kept.choice or Choice()
    return Surface(
        standings=surface(registry, choice, runtime),
        choice=choice,
        runtime=runtime,
        file=kept.file,
        unreadable=kept.fault.reason if kept.fault else "",
    )


def _may_be(path: str) -> bool:
    """Tell whether there is a file, or no way to find out."""
    try:
        os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except (OSError, ValueError):
        # Whoever reads it says why that is not possible.
        return True
    return True
