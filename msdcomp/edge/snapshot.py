"""The frozen first-party registry: built at release time, only read afterwards.

The manifests under `capabilities/` are the source; the snapshot holds them with their
fragment texts in one file of the package. They were checked when the snapshot was
made, so reading it structures them and builds the views, and checks nothing.
Source: docs/explanation/composition.md, "The frozen snapshot".
"""

from __future__ import annotations

import functools
import json
import os
from pathlib import Path
from typing import Any

import attrs
from pyrsistent import pmap

from msdcomp.candidate import Candidate, FragmentText, Scope
from msdcomp.diagnostics import Problem
from msdcomp.edge.files import FileFault, read_file, write_atomic
from msdcomp.edge.roots import Places, Root, StrPath
from msdcomp.edge.scan import scan
from msdcomp.fold import compose
from msdcomp.host import DEFAULT_HOST_VERSION, CentralConfig, Host, HostContract
from msdcomp.jsontext import canonical
from msdcomp.records import Record
from msdcomp.registry import BuildFailure, Entry, Registry, build
from msdcomp.rules import undispatched
from msdcomp.wire import _structure as structure

__all__ = [
    "Snapshot",
    "SnapshotCheck",
    "check_snapshot",
    "make_snapshot",
    "read_central_config",
    "read_snapshot",
    "snapshot_path",
    "write_snapshot",
]

#: Format of the snapshot file; a reader knows exactly one.
FORMAT = 1

_DATA = Path(__file__).parent.parent / "data"


def snapshot_path() -> str:
    """Return the path of the packaged snapshot."""
    return str(_DATA / "first-party.json")


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Snapshot(Record):
    """A snapshot made from manifests.

    Attributes:
        content: The file, byte for byte the same for the same manifests anywhere.
        problems: Why it must not be shipped; empty when it may.
    """

    content: bytes = attrs.field(repr=False)
    problems: tuple[Problem, ...] = ()


@attrs.frozen(kw_only=True, eq=False, repr=False)
class SnapshotCheck(Record):
    """Whether the packaged snapshot is what the manifests say now."""

    stale: bool
    problems: tuple[Problem, ...] = ()


def make_snapshot(capabilities: StrPath) -> Snapshot:
    """Make a snapshot of the manifests in a folder.

    The first party is held to everything that an overlay is held to, by the same fold
    over a registry that holds nothing yet; a hook that its point does not dispatch is
    an error here, not a notice.

    Args:
        capabilities: Folder with one folder per capability.
    """
    folder = str(Path(capabilities).absolute())
    root = Root(
        scope=Scope.GLOBAL, folder=folder, shown="capabilities", ledger_root=folder
    )
    found = scan(Places(home=None, project=None, roots=(root,))).candidates
    host = Host(central=read_central_config())
    composed = compose(Registry(), found, host)
    warnings = (w for _, group in sorted(composed.warnings.items()) for w in group)
    problems = [problem for warning in warnings for problem in warning.problems]
    for candidate in found:
        problems += _undispatched(candidate, host.contract)
    if not found:
        problems.append(
            Problem(
                code="unreadable",
                message="the folder holds no capabilities",
                file="capabilities",
            )
        )
    document = {
        "format": FORMAT,
        "hostVersion": DEFAULT_HOST_VERSION,
        "capabilities": [_document(candidate) for candidate in found],
    }
    text = json.dumps(document, indent=1, sort_keys=True, ensure_ascii=False)
    return Snapshot(content=f"{text}\n".encode(), problems=tuple(problems))


def _undispatched(candidate: Candidate, contract: HostContract) -> tuple[Problem, ...]:
    manifest = candidate.decoded.manifest if candidate.decoded else None
    if manifest is None:
        return ()
    file = f"{candidate.path}/capability.json"
    return tuple(problem.at(None, file) for problem in undispatched(manifest, contract))


def _document(candidate: Candidate) -> dict[str, Any]:
    manifest = candidate.decoded.manifest if candidate.decoded else None
    return {
        "manifest": json.loads(manifest.document) if manifest else None,
        "fragments": {
            path: found.text
            for path, found in candidate.fragments.items()
            if isinstance(found, FragmentText)
        },
    }


def write_snapshot(
    capabilities: StrPath, path: StrPath | None = None
) -> Snapshot | FileFault:
    """Make a snapshot and, when nothing is wrong with it, write it.

    Args:
        capabilities: Folder with one folder per capability.
        path: The file; by default the packaged one.

    Returns:
        The snapshot (with problems: nothing was written), or why it was not written.
    """
    made = make_snapshot(capabilities)
    if made.problems:
        return made
    target = os.fspath(path) if path is not None else snapshot_path()
    return write_atomic(str(Path(target).absolute()), made.content) or made


def check_snapshot(capabilities: StrPath, path: StrPath | None = None) -> SnapshotCheck:
    """Compare a snapshot with the manifests it should have been made from.

    Args:
        capabilities: Folder with one folder per capability.
        path: The file; by default the packaged one.
    """
    made = make_snapshot(capabilities)
    held = read_file(os.fspath(path) if path is not None else snapshot_path())
    return SnapshotCheck(stale=held != made.content, problems=made.problems)


@functools.cache
def read_snapshot() -> Registry:
    """Return the shipped registry; the same object for the life of the process.

    Raises:
        RuntimeError: The installed package is damaged. The first party is no
            candidate: without it there is nothing to fall back to.
    """
    return load_snapshot(_packaged("first-party.json"))


def load_snapshot(content: bytes) -> Registry:
    """Return the registry that a snapshot holds, without checking its manifests.

    Raises:
        RuntimeError: It is of another format, or no registry can be built of it.
    """
    document = json.loads(content)
    if document.get("format") != FORMAT:
        message = f"the snapshot has format {document.get('format')}, not {FORMAT}"
        raise RuntimeError(message)
    built = build(
        Entry(
            manifest=structure(item["manifest"], canonical(item["manifest"])),
            fragments=pmap(item["fragments"]),
        )
        for item in document["capabilities"]
    )
    if isinstance(built, BuildFailure):
        message = f"the snapshot cannot be built: {sorted(built.culprits)}"
        raise RuntimeError(message)  # noqa: TRY004 -- no argument has a wrong type
    return built


@functools.cache
def read_central_config() -> CentralConfig:
    """Return the host's own configuration keys; the same object every time.

    Raises:
        RuntimeError: The installed package is damaged.
    """
    return CentralConfig.from_wire(json.loads(_packaged("central-config.json")))


def _packaged(name: str) -> bytes:
    content = read_file(str(_DATA / name))
    if isinstance(content, FileFault):
        message = f"the file {name} of the installed package: {content.reason}"
        raise RuntimeError(message)  # noqa: TRY004 -- no argument has a wrong type
    return content
