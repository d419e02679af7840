"""Changes configuration files: all of a change or nothing of it, under a lock.

What is not changed stays byte for byte, and a file that cannot be understood is not
touched. Every change is followed by a new read, which alone says what it came to.
Source: docs/reference/configuration.md, "How a file is edited".
"""

from __future__ import annotations

import os
from collections.abc import Mapping

import attrs

from msdcomp.configlayers import Origin
from msdcomp.configreading import read
from msdcomp.configschema import ConfigSchema
from msdcomp.configwriting import (
    ConfigChange,
    ConfigEdit,
    check_gates,
    check_key,
    check_set,
    effect,
)
from msdcomp.diagnostics import Problem
from msdcomp.edge.config import (
    PROJECT_FILE,
    has_workstream,
    read_layers,
    workstream_file,
)
from msdcomp.edge.files import FileFault, fault_of, read_file, rewrite_atomic
from msdcomp.edge.jsonedit import set_member, unset_member
from msdcomp.edge.locks import WAIT_S, locked
from msdcomp.edge.roots import Places
from msdcomp.edge.snapshot import read_central_config
from msdcomp.frozenjson import thawed
from msdcomp.jsontext import parse
from msdcomp.manifest.names import Json
from msdcomp.registry import Registry
from msdcomp.safetext import safe

__all__ = [
    "LOCK",
    "edit_file",
    "schema_of",
    "set_gates",
    "set_key",
    "unset_key",
]

#: The lock of a project's configuration, relative to the project.
LOCK = ".planning/.config.lock"

#: What a new configuration file starts from.
_NEW = b"{}\n"

_ESCAPES = FileFault("escapes", "leads out of the project")


def schema_of(registry: Registry) -> ConfigSchema:
    """Return the composed schema of a registry, under the shipped host's own keys."""
    return ConfigSchema.of(registry, read_central_config())


# Verbs.


def set_key(
    project: str | None,
    schema: ConfigSchema,
    key: str,
    value: Json,
    *,
    workstream: str | None = None,
    force: bool = False,
) -> ConfigChange:
    """Set one key, unless the schema is against it.

    Args:
        project: Path of the project; None when there is none.
        schema: The composed schema.
        key: The dotted key.
        value: What it is to be.
        workstream: Whose file it goes into; None for the project's.
        force: Let a key pass that nobody declares.
    """
    refused = check_set(key, value, schema, force=force)
    edit = ConfigEdit(key=key, value=value)
    return _change(project, schema, (edit,), workstream, refused)


def unset_key(
    project: str | None,
    schema: ConfigSchema,
    key: str,
    *,
    workstream: str | None = None,
) -> ConfigChange:
    """Take one key out, whether somebody declares it or not."""
    bad = check_key(key)
    edit = ConfigEdit(key=key, unset=True)
    return _change(project, schema, (edit,), workstream, () if bad is None else (bad,))


def set_gates(
    places: Places,
    registry: Registry,
    capability_id: str,
    gates: Mapping[str, bool],
    *,
    workstream: str | None = None,
) -> ConfigChange:
    """Set switches of one capability, all of them or none.

    Args:
        places: For the project; without one nothing can be set.
        registry: The composed registry.
        capability_id: Whose switches; each key must be a boolean slice of it.
        gates: Key -> what it is to be.
        workstream: Whose file they go into; None for the project's.

    Returns:
        The change; its effects are in the order of `gates`.

    Source: docs/reference/configuration.md, "Writing".
    """
    schema = schema_of(registry)
    refused = check_gates(registry, schema, capability_id, tuple(gates))
    for key, value in () if refused else gates.items():
        refused = (*refused, *check_set(key, value, schema))
    edits = tuple(ConfigEdit(key=key, value=value) for key, value in gates.items())
    return _change(places.project, schema, edits, workstream, refused)


def _change(
    project: str | None,
    schema: ConfigSchema,
    edits: tuple[ConfigEdit, ...],
    workstream: str | None,
    refused: tuple[Problem, ...],
) -> ConfigChange:
    file = PROJECT_FILE if workstream is None else workstream_file(workstream)
    if isinstance(file, FileFault):
        return ConfigChange(problems=(*refused, _unwritten("the file", file)))
    if refused:
        return ConfigChange(file=file, problems=refused)
    written: bool | FileFault
    if project is None:
        written = FileFault("missing", "there is no project to be configured")
    elif workstream is not None and not has_workstream(project, file):
        written = FileFault("missing", "there is no such workstream")
    else:
        written = edit_file(project, file, edits)
    if isinstance(written, FileFault):
        return ConfigChange(file=file, problems=(_unwritten(file, written),))
    layers = read_layers(project, workstream=workstream)
    own = Origin.PROJECT if workstream is None else Origin.WORKSTREAM
    readings = [read(edit.key, layers, schema) for edit in edits]
    return ConfigChange(
        file=file,
        written=written,
        effects=tuple(
            effect(edit, one, own) for edit, one in zip(edits, readings, strict=True)
        ),
    )


def _unwritten(what: str, fault: FileFault) -> Problem:
    """Return the problem of a file that is left as it is."""
    return Problem(
        code="config-unwritable",
        message=f"{safe(what)} is left as it is: {safe(fault.reason)}",
        hint="Correct the file; nothing of it is lost."
        if fault.code == "damaged"
        else None,
        file=None if what == "the file" else what,
    )


# The file.


def edit_file(
    project: str,
    file: str,
    edits: tuple[ConfigEdit, ...],
    wait_s: float = WAIT_S,
) -> bool | FileFault:
    """Make all of some edits in a configuration file, or none.

    Args:
        project: Path of the project.
        file: The file, relative to the project; made when it is missing and something
            is to be set.
        edits: What to change, in order.
        wait_s: Longest time to wait for another command that changes it, in seconds.

    Returns:
        Whether anything was written; else why nothing was.
    """
    looked = _edited(project, file, edits)
    if isinstance(looked, FileFault):
        return looked
    if not looked.changes:
        return False
    with locked(f"{project}/{LOCK}", wait_s, below=project) as unlocked:
        if unlocked is not None:
            return unlocked
        # Somebody else may have written since.
        now = _edited(project, file, edits)
        if isinstance(now, FileFault) or not now.changes:
            return now if isinstance(now, FileFault) else False
        return rewrite_atomic(now.path, now.after) or True


@attrs.frozen(kw_only=True)
class _Edited:
    """A file on its way: where it is, what is in it, what is to be in it."""

    path: str
    before: bytes | None
    after: bytes

    @property
    def changes(self) -> bool:
        return self.after != (self.before if self.before is not None else _NEW)


def _edited(
    project: str, file: str, edits: tuple[ConfigEdit, ...]
) -> _Edited | FileFault:
    real = _inside(project, file)
    if isinstance(real, FileFault):
        return real
    before: bytes | FileFault | None = read_file(real, follow=False)
    if isinstance(before, FileFault):
        if before.code != "missing":
            return before
        before = None
    parsed = parse(_NEW if before is None else before)
    if parsed.problems:
        first = parsed.problems[0]
        where = f"line {first.line}, column {first.column}: {first.message}"
        return FileFault("damaged", where)
    if not isinstance(parsed.value, dict):
        return FileFault("damaged", "it holds JSON, but not one object")
    text = (_NEW if before is None else before).decode()
    for edit in edits:
        path = edit.key.split(".")
        try:
            text = (
                unset_member(text, path)
                if edit.unset
                else set_member(text, path, thawed(edit.value))
            )
        except (RecursionError, ValueError):
            return _blocked(parse(text).value, edit.key)
    after = text.encode()
    # What cannot be read again must not be written.
    if problems := parse(after).problems:
        return FileFault("wrong-shape", f"it could not be read: {problems[0].message}")
    return _Edited(path=real, before=before, after=after)


def _inside(project: str, file: str) -> str | FileFault:
    """Return the physical path of a file, if that is in the project."""
    try:
        base = os.path.realpath(project, strict=True)
        real = os.path.realpath(os.path.join(base, file))  # noqa: PTH118 - text
        real.encode()
    except (OSError, ValueError) as error:
        return fault_of(error)
    return real if real.startswith(base.rstrip("/") + "/") else _ESCAPES


def _blocked(document: object, key: str) -> FileFault:
    """Return the fault of a key that something in the file is in the way of."""
    parts = key.split(".")
    at = 0
    while at < len(parts) and isinstance(document, dict) and parts[at] in document:
        document = document[parts[at]]
        at += 1
    if at == len(parts) or isinstance(document, dict):
        return FileFault("wrong-shape", "the value cannot be written as JSON")
    name = ".".join(parts[:at])
    reason = f"{name} is no object there, so nothing can be put below it"
    return FileFault("wrong-shape", reason)
