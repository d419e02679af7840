"""Finds what a gate predicate asks about, and has it answered.

An artefact is looked for in the folder of the phase, or in the project when there is
none. Its name has no folder in it, and no link in the folder leads out of it.
Source: docs/reference/predicates.md, "Where an artefact is looked for".
"""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING, TypeAlias, assert_never

import attrs

from msdcomp.configlayers import Effective
from msdcomp.edge.files import (
    MAX_FILE_BYTES,
    FileFault,
    list_folder,
    open_folder,
    read_confined,
)
from msdcomp.placeholders import PLACEHOLDERS, is_plain, reads_again
from msdcomp.predicate import (
    Answer,
    Artifact,
    ArtifactExists,
    CommandExitZero,
    ConfigEquals,
    Ended,
    FrontMatter,
    FrontmatterEquals,
    Predicate,
    artifact_exists,
    command_exit_zero,
    config_equals,
    frontmatter_equals,
)
from msdcomp.records import Record

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["Phase", "evaluate", "find_artifact"]

#: Looks up a configuration key.
Lookup: TypeAlias = "Callable[[str], Effective]"

#: Where artefacts of the project lie that no phase owns.
_PLANNING = ".planning"


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Phase(Record):
    """What a predicate is asked about.

    Attributes:
        project: Path of the project; None when there is none.
        folder: Folder of the phase, absolute or relative to the project; empty when
            the host named none.
        number: Number of the phase, as the host writes it.
        requirements: Ids of its requirements, as the host writes them.
    """

    project: str | None
    folder: str = ""
    number: str = ""
    requirements: str = ""

    @property
    def path(self) -> str | None:
        """The folder that artefacts are looked for in; None when there is none."""
        if self.project is None:
            return self.folder if self.folder.startswith("/") else None
        return os.path.join(self.project, self.folder)  # noqa: PTH118 - text stays text

    @property
    def values(self) -> dict[str, str]:
        """The variables of a command; empty for what the host did not say."""
        given = (self.number, self.folder, self.requirements)
        return dict(zip(PLACEHOLDERS, given, strict=True))


def evaluate(
    predicate: Predicate,
    phase: Phase,
    lookup: Lookup,
    is_given_up: Callable[[], object] = lambda: None,
) -> Answer:
    """Return the answer to a predicate; never raises for what it finds.

    Args:
        predicate: What is asked.
        phase: What it is asked about.
        lookup: Asked only for `config-equals`.
        is_given_up: Asked while a command runs; something true stops it.
    """
    match predicate:
        case ArtifactExists():
            return artifact_exists(predicate, find_artifact(predicate.artifact, phase))
        case FrontmatterEquals():
            return _front_matter(predicate, phase)
        case ConfigEquals():
            return config_equals(predicate, lookup(predicate.key))
        case CommandExitZero():
            return command_exit_zero(predicate, _run(predicate, phase, is_given_up))
        case _:
            assert_never(predicate)


def find_artifact(name: str, phase: Phase) -> Artifact:
    """Return the files that may be an artefact.

    The first of these that there is: the file of that name, the one in `.planning/`,
    every file whose name ends with a dash and that name.
    """
    with _folder(phase) as folder:
        if isinstance(folder, str):
            return Artifact(reason=folder)
        return _find(name, folder)


def _front_matter(asked: FrontmatterEquals, phase: Phase) -> Answer:
    # The folder stays open in between, so what is read is what was found.
    with _folder(phase) as folder:
        if isinstance(folder, str):
            return frontmatter_equals(asked, Artifact(reason=folder))
        found = _find(asked.artifact, folder, every=True)
        if found.reason is not None or len(found.files) != 1:
            return frontmatter_equals(asked, found)
        data = folder.read(found.files[0], MAX_FILE_BYTES)
        if isinstance(data, FileFault):
            return frontmatter_equals(asked, found, FrontMatter(reason=data.reason))
    # Imported here because the other kinds have no front matter.
    from msdcomp.edge.frontmatter import read_front_matter  # noqa: PLC0415

    return frontmatter_equals(asked, found, read_front_matter(data))


@attrs.frozen
class _Folder:
    """An open folder, and its path."""

    fd: int
    path: str

    def read(self, name: str, limit: int) -> bytes | FileFault:
        return read_confined(self.fd, self.path, name, limit)

    def holds(self, name: str) -> bool | FileFault:
        """Tell whether a regular file is there; its content does not matter."""
        data = self.read(name, 0)
        if isinstance(data, bytes) or data.code == "too-large":
            return True
        return False if data.code == "missing" else data


@contextlib.contextmanager
def _folder(phase: Phase) -> Iterator[_Folder | str]:
    """Open the folder of a phase, or say why not."""
    if phase.path is None:
        yield "there is no project here"
        return
    fd = open_folder(phase.path)
    if isinstance(fd, FileFault):
        yield f"the folder of the phase: {fd.reason}"
        return
    try:
        yield _Folder(fd, phase.path)
    finally:
        os.close(fd)


def _find(name: str, folder: _Folder, *, every: bool = False) -> Artifact:
    """Return the files that may be an artefact; with `every`, all of them or none."""
    for file in (name, f"{_PLANNING}/{name}"):
        held = folder.holds(file)
        if isinstance(held, FileFault):
            return Artifact(reason=f"{file}: {held.reason}")
        if held:
            return Artifact(files=(file,))
    listing = list_folder(folder.fd)
    if isinstance(listing, FileFault):
        return Artifact(reason=f"the folder of the phase: {listing.reason}")
    files = []
    for entry in listing.entries:
        if not entry.name.endswith(f"-{name}"):
            continue
        held = folder.holds(entry.name)
        if isinstance(held, FileFault):
            return Artifact(reason=f"{entry.name}: {held.reason}")
        if held:
            files.append(entry.name)
    if not listing.complete and (every or not files):
        return Artifact(reason="the folder of the phase has too many entries")
    return Artifact(files=tuple(files))


def _run(
    asked: CommandExitZero, phase: Phase, is_given_up: Callable[[], object]
) -> Ended:
    if phase.project is None:
        return Ended(reason="there is no project here to run it in")
    if reads_again(asked.command):
        odd = [name for name, value in phase.values.items() if not is_plain(value)]
        named = [name for name in odd if name in asked.command]
        if named:
            return Ended(
                reason=f"it may read {named[0]} as code, and the value has characters "
                "that mean something there"
            )
    # Imported here because the other kinds start nothing.
    from msdcomp.edge.gatecommand import run_command  # noqa: PLC0415

    return run_command(
        asked.command,
        cwd=phase.project,
        values=phase.values,
        timeout_s=asked.timeout_s,
        is_given_up=is_given_up,
    )
