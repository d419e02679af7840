"""What the answer is, given what was found; every function here is total."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
from pyrsistent import PMap, pmap

from msdcomp.configlayers import Effective, Origin
from msdcomp.frozenjson import equal
from msdcomp.manifest.names import Json
from msdcomp.predicate._answers import Answer, Result, could_not_check
from msdcomp.predicate._values import form, shown
from msdcomp.records import Record
from msdcomp.safetext import safe

if TYPE_CHECKING:
    from msdcomp.predicate._records import (
        ArtifactExists,
        CommandExitZero,
        ConfigEquals,
        FrontmatterEquals,
    )

__all__ = [
    "Artifact",
    "Ended",
    "FieldValue",
    "FrontMatter",
    "artifact_exists",
    "command_exit_zero",
    "config_equals",
    "equal",
    "frontmatter_equals",
]

#: Longest part of a command's output in a message, in characters.
_SAID = 300


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Artifact(Record):
    """What came of looking for an artefact.

    Attributes:
        files: What it may be, relative to the folder that was looked into; empty when
            there is nothing of that name.
        reason: Why nobody can tell, as a clause; None when it is known.
    """

    files: tuple[str, ...] = ()
    reason: str | None = None


@attrs.frozen(eq=False, repr=False)
class FieldValue(Record):
    """A field of front matter.

    Attributes:
        value: What it holds, as JSON.
        text: How a single value is written, without quotes; None for lists and maps.
    """

    value: Json
    text: str | None = None


@attrs.frozen(kw_only=True, eq=False, repr=False)
class FrontMatter(Record):
    """The fields in the front matter of a file.

    Attributes:
        fields: Name -> value.
        reason: Why they cannot be read, as a clause; None when they can.
    """

    fields: PMap[str, FieldValue] = attrs.field(factory=pmap)
    reason: str | None = None


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Ended(Record):
    """How a command ended.

    Attributes:
        code: Its exit code; None when it did not end by itself.
        signal: Name of the signal that ended it, if one did.
        reason: Why it did not run to its end, as a clause: no shell, out of time.
        output: The end of what it wrote to stderr, or else to stdout.
    """

    code: int | None = None
    signal: str | None = None
    reason: str | None = None
    output: str = ""


def _answer(passes: object, kind: str, message: str, **details: object) -> Answer:
    return Answer(
        result=Result.PASS if passes else Result.FAIL,
        message=message,
        details={"kind": kind, **details},
    )


def artifact_exists(asked: ArtifactExists, found: Artifact) -> Answer:
    """Return whether an artefact is there."""
    kind, name = asked.kind, safe(asked.artifact)
    if found.reason is not None:
        reason = f"could not look for {name}: {safe(found.reason)}"
        return could_not_check(kind, reason, artifact=asked.artifact)
    if not found.files:
        return _answer(
            None, kind, f"{name} is not there", artifact=asked.artifact, file=None
        )
    file = found.files[0]
    message = f"{name} is there" if file == asked.artifact else f"{safe(file)} is there"
    return _answer(True, kind, message, artifact=asked.artifact, file=file)  # noqa: FBT003


def frontmatter_equals(
    asked: FrontmatterEquals, found: Artifact, read: FrontMatter | None = None
) -> Answer:
    """Return whether a field of an artefact has a value.

    Args:
        asked: The predicate.
        found: Where the artefact is.
        read: The front matter of that file; needed when there is exactly one.
    """
    kind = asked.kind
    told = {"artifact": asked.artifact, "field": asked.field, "expected": asked.equals}
    name, field = safe(asked.artifact), safe(asked.field, 60)
    if found.reason is not None:
        reason = f"could not look for {name}: {safe(found.reason)}"
        return could_not_check(kind, reason, **told)
    if not found.files:
        return _answer(
            None, kind, f"{name} is not there", **told, file=None, found=None
        )
    if len(found.files) > 1:
        several = " and ".join(safe(file) for file in found.files[:2])
        reason = f"could not tell which file is {name}: there are {several}"
        return could_not_check(kind, reason, **told)
    file = found.files[0]
    told["file"] = file
    if read is None or read.reason is not None:
        why = "was not read" if read is None else safe(read.reason)
        reason = f"could not read the front matter of {safe(file)}: {why}"
        return could_not_check(kind, reason, **told)
    held = read.fields.get(asked.field)
    wanted = shown(asked.equals)
    if held is None:
        message = f"{field} is not in the front matter of {safe(file)}, want {wanted}"
        return _answer(None, kind, message, **told, found=None)
    passes = _same(held, asked.equals)
    got = shown(held.value)
    message = f"{field} of {safe(file)} is {got}" + (
        "" if passes else f", not {wanted}"
    )
    return _answer(passes, kind, message, **told, found=held.value)


def _same(held: FieldValue, wanted: Json) -> bool:
    """Tell whether a field has a value: as JSON, or else as it is written.

    Front matter is written by hand and by agents, who quote or not as they like.
    """
    if equal(held.value, wanted):
        return True
    return form(wanted) in {form(held.value), held.text}


def config_equals(asked: ConfigEquals, found: Effective) -> Answer:
    """Return whether a configuration key has a value; nothing is converted."""
    kind, key, wanted = asked.kind, safe(asked.key), shown(asked.equals)
    told = {"key": asked.key, "expected": asked.equals, "origin": str(found.origin)}
    where = safe(found.file or f"the {found.layer or found.origin} configuration")
    if found.origin is Origin.UNREADABLE:
        reason = safe(found.reason or "nobody knows why")
        message = f"could not look up {key}: {where} cannot be read ({reason})"
        return could_not_check(kind, message, **told)
    if not found.found:
        message = f"{key} is set nowhere, want {wanted}"
        return _answer(None, kind, message, **told, found=None)
    passes = equal(found.value, asked.equals)
    source = "by default" if found.origin is Origin.DEFAULT else f"in {where}"
    message = f"{key} is {shown(found.value)} {source}"
    message += "" if passes else f", not {wanted}"
    return _answer(passes, kind, message, **told, found=found.value)


def command_exit_zero(asked: CommandExitZero, ended: Ended) -> Answer:
    """Return whether a command ended with 0."""
    kind = asked.kind
    told = {"command": asked.command, "code": ended.code, "output": ended.output}
    if ended.signal is not None:
        told["signal"] = ended.signal
    said = safe(ended.output, _SAID)
    said = f": {said}" if said else ""
    if ended.reason is not None or (ended.code is None and ended.signal is None):
        why = safe(ended.reason or "nobody knows why")
        reason = f"could not run the command to its end: {why}{said}"
        return could_not_check(kind, reason, **told)
    if ended.signal is not None:
        how = f"the command was ended by {safe(ended.signal)}{said}"
        return _answer(None, kind, how, **told)
    if ended.code == 0:
        return _answer(True, kind, "the command ended with 0", **told)  # noqa: FBT003
    return _answer(None, kind, f"the command ended with {ended.code}{said}", **told)
