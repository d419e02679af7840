"""Reads configuration files into layers; a damaged one is a value, not a default.

They are held to the JSON of manifests: a value that another reader would round, lose
or take from elsewhere is no value to decide by.
"""

from __future__ import annotations

import os
import re

from msdcomp.configlayers import ConfigLayers, Layer, Unreadable
from msdcomp.edge.files import FileFault, open_folder, read_confined, read_file

__all__ = [
    "PROJECT_FILE",
    "PROJECT_NAME",
    "has_workstream",
    "read_layer",
    "read_layers",
    "workstream_file",
]

#: The project's configuration, relative to the project.
PROJECT_FILE = ".planning/config.json"

#: Environment variable that names the folder below `.planning/` that holds the
#: workstreams, where a repository has several projects.
PROJECT_NAME = "MSD_PROJECT"

#: A name that is one component of a path, hidden to nobody.
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")

_GRAMMAR = "a name has letters, digits, dots, dashes and underscores"


def workstream_file(name: str) -> str | FileFault:
    """Return the configuration file of a workstream, relative to the project.

    Args:
        name: What the workstream is called; one component of a path.

    Returns:
        The path; a fault `bad-name` when the name, or the one in `$MSD_PROJECT`, could
        lead elsewhere.

    Source: docs/reference/configuration.md, "Workstreams".
    """
    above = os.environ.get(PROJECT_NAME, "")
    if not _NAME.fullmatch(name):
        return FileFault("bad-name", f"the workstream has no plain name: {_GRAMMAR}")
    if above and not _NAME.fullmatch(above):
        return FileFault("bad-name", f"${PROJECT_NAME} is no plain name: {_GRAMMAR}")
    folder = f"{above}/" if above else ""
    return f".planning/{folder}workstreams/{name}/config.json"


def has_workstream(project: str, file: str) -> bool:
    """Tell whether there is the workstream that a configuration file would be of."""
    return os.path.isdir(os.path.dirname(f"{project}/{file}"))  # noqa: PTH112, PTH120


def read_layer(path: str) -> Layer:
    """Return a configuration file as a layer, or None when there is no such file.

    The reason why one is unreadable has the place of the first fault.
    """
    return _layer(read_file(path))


def _layer(data: bytes | FileFault) -> Layer:
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


def _workstream(project: str | None, file: str | FileFault) -> Layer:
    """Return the layer of a workstream that somebody named.

    A workstream without a file sets nothing. One that is not there at all is a slip,
    and deciding by the project alone would hide it.
    """
    if isinstance(file, FileFault):
        return Unreadable(file.reason)
    if project is None:
        return Unreadable("there is no project that could have workstreams")
    folder = open_folder(project)
    if isinstance(folder, FileFault):
        return Unreadable(folder.reason)
    try:
        found = _layer(read_confined(folder, project, file))
    finally:
        os.close(folder)
    if found is None and not has_workstream(project, file):
        return Unreadable("there is no such workstream")
    return found


def read_layers(
    project: str | None, explicit: str | None = None, workstream: str | None = None
) -> ConfigLayers:
    """Return the configuration of a project, under a file given with the call.

    Args:
        project: Path of the project; None when there is none.
        explicit: Path of a file whose values come before the project's own; one that
            does not exist counts as unreadable, since somebody asked for it.
        workstream: Name of the active workstream, whose file comes before the
            project's; None when there is none.
    """
    given: Layer = None
    if explicit is not None:
        given = read_layer(explicit)
        if given is None:
            given = Unreadable("there is no such file")
    own = read_layer(f"{project}/{PROJECT_FILE}") if project is not None else None
    if workstream is None:
        return ConfigLayers(explicit=given, project=own)
    file = workstream_file(workstream)
    return ConfigLayers(
        explicit=given,
        workstream=_workstream(project, file),
        project=own,
        workstream_file=None if isinstance(file, FileFault) else file,
    )
