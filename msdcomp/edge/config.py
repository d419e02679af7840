"""Reads configuration files into layers; a damaged one is a value, not a default.

They are held to the JSON of manifests: a value that another reader would round, lose
or take from elsewhere is no value to decide by.
"""

from __future__ import annotations

from msdcomp.configlayers import ConfigLayers, Layer, Unreadable
from msdcomp.edge.files import FileFault, read_file

__all__ = ["PROJECT_FILE", "read_layer", "read_layers"]

#: The project's configuration, relative to the project.
PROJECT_FILE = ".planning/config.json"


def read_layer(path: str) -> Layer:
    """Return a configuration file as a layer, or None when there is no such file.

    The reason why one is unreadable has the place of the first fault.
    """
    data = read_file(path)
    if isinstance(data, FileFault):
        return None if data.code == "missing" else Unreadable(data.reason)
    # Imported here because most projects have no such file.
    from msdcomp.jsontext import parse  # noqa: PLC0415

    parsed = parse(data)
    if parsed.problems:
        first, more = parsed.problems[0], len(parsed.problems) - 1
        rest = f" (and {more} more)" if more else ""
        return Unreadable(
            f"line {first.line}, column {first.column}: {first.message}{rest}"
        )
    if not isinstance(parsed.value, dict):
        return Unreadable("it holds JSON, but not one object")
    return parsed.value  # type: ignore[return-value]  # frozen by ConfigLayers


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
