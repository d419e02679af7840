"""Where a host runtime keeps its own configuration on this machine.

Its descriptor says how to find the folder; an environment variable that it names comes
first, as it does for the host itself.
Source: docs/reference/surface.md, "Which folder".
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from msdcomp.manifest.runtime import ConfigHome

__all__ = ["config_folder"]

#: How the variable of a file ends, where others name a folder.
_OF_A_FILE = "_CONFIG"

#: Variables that name a folder in which hosts have folders of their own.
_SHARED = frozenset({"XDG_CONFIG_HOME"})


def config_folder(
    found: ConfigHome, home: str, environment: Mapping[str, str] | None = None
) -> str | None:
    """Return the configuration folder of a host, whether or not it is there.

    Args:
        found: How its descriptor says to find it.
        home: The user's home.
        environment: Variables; by default those of this process.

    Returns:
        A path in the home, or the absolute one that a variable names; None for a host
        that has no such folder, or whose descriptor leads out of the home.
    """
    variables = os.environ if environment is None else environment
    if found.kind == "none" or not found.name or _leads_out(found):
        return None
    for name in found.env:
        value = variables.get(name, "")
        if value.startswith("~/"):
            value = f"{home}{value[1:]}"
        if not value.startswith("/"):
            # Unset, empty, or relative to whatever folder a host happens to start in.
            continue
        if name in _SHARED:
            return f"{value.rstrip('/')}/{found.name}"
        if name.endswith(_OF_A_FILE):
            return os.path.dirname(value)  # noqa: PTH120
        return value
    match found.kind:
        case "xdg":
            return f"{home}/.config/{found.name}"
        case "dot-home-nested":
            return _probed(found, f"{home}/{found.parent or ''}", home)
        case "generic-agents-root":
            return _probed(found, f"{home}/.config", home)
        case _:
            return f"{home}/{found.name}"


def _probed(found: ConfigHome, parent: str, home: str) -> str:
    """Return the first folder that the host has marked, else the first there is."""
    candidates = [
        f"{home}{probe[1:]}" if probe.startswith("~/") else f"{parent}/{probe}"
        for probe in found.probe
    ]
    if found.probe_exists:
        for candidate in candidates:
            if os.path.lexists(f"{candidate}/{found.probe_exists}"):
                return candidate
        if found.kind == "generic-agents-root":
            # There, what is not marked belongs to somebody else.
            return candidates[0] if candidates else f"{parent}/{found.name}"
    there = (one for one in candidates if os.path.isdir(one))  # noqa: PTH112
    return next(there, f"{parent}/{found.name}")


def _leads_out(found: ConfigHome) -> bool:
    """Tell whether a descriptor names what is not below the home."""
    parts = (found.name, found.parent, found.probe_exists, *found.probe)
    return any(
        part is not None and ("\0" in part or ".." in part.split("/")) for part in parts
    )
