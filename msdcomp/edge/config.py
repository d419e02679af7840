"""Reads configuration files into layers; a damaged one is a value, not a default."""

from __future__ import annotations

from msdcomp.configlayers import ConfigLayers, Layer, Unreadable
from msdcomp.edge.files import FileFault
from msdcomp.edge.jsonfiles import read_object

__all__ = ["PROJECT_FILE", "read_layer", "read_layers"]

#: The project's configuration, relative to the project.
PROJECT_FILE = ".planning/config.json"


def read_layer(path: str) -> Layer:
    """Return a configuration file as a layer, or None when there is no such file."""
    found = read_object(path, strict=True)
    if not isinstance(found, FileFault):
        return found  # type: ignore[return-value]  # frozen by ConfigLayers
    return None if found.code == "missing" else Unreadable(found.reason)


def read_layers(project: str | None, explicit: str | None = None) -> ConfigLayers:
    """Return the configuration of a project, under a file given with the call.

    Args:
        project: Path of the project; None when there is none.
        explicit: Path of a file whose values come before the project's own; one that
            does not exist counts as unreadable, since somebody asked for it.
    """
    given: Layer = None
    if explicit is not None:
        given = read_layer(explicit)
        if given is None:
            given = Unreadable("there is no such file")
    own = read_layer(f"{project}/{PROJECT_FILE}") if project is not None else None
    return ConfigLayers(explicit=given, project=own)
