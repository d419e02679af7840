"""Makes, checks and writes the frozen first-party snapshot, at release time.

Source: docs/explanation/composition.md, "The frozen snapshot".
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import attrs

from msdcomp.candidate import Candidate, FragmentText
from msdcomp.diagnostics import Problem
from msdcomp.edge.files import FileFault, read_file, write_atomic
from msdcomp.edge.roots import Places, Root, StrPath
from msdcomp.edge.scan import scan
from msdcomp.edge.snapshot import FORMAT, read_central_config, snapshot_path
from msdcomp.fold import compose
from msdcomp.host import DEFAULT_HOST_VERSION, Host, HostContract
from msdcomp.records import Record
from msdcomp.registry import Registry
from msdcomp.rules import undispatched
from msdcomp.scope import Scope

__all__ = [
    "Snapshot",
    "SnapshotCheck",
    "check_snapshot",
    "make_snapshot",
    "write_snapshot",
]


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
