"""What a hostile repository is made of, and a way to see whatever it changed."""

from __future__ import annotations

import json
import os
import shlex
import stat
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import attrs

from msdcomp.edge.consent import ConsentRecord, read_consent
from msdcomp.edge.roots import CAPABILITIES, LEDGER_NAME, Places, find_places
from msdcomp.edge.scan import scan
from msdcomp.scope import Scope
from tests.layouts import feature, write

__all__ = [
    "GATE",
    "HOOK",
    "RUN",
    "Finished",
    "Ground",
    "bundle",
    "entry",
    "ledger",
    "new",
    "picture",
]

#: A hook and the script it runs.
HOOK = {"event": "PostToolUse", "script": "run.sh"}
RUN = b"#!/bin/sh\ntrue\n"

GATE = {
    "point": "ship:pre",
    "check": {"query": "a.b"},
    "blocking": True,
    "onError": "halt",
}

#: What belongs to no overlay, and may be left by a command that did nothing.
LOCKS = (".lock", ".consent.lock")


@attrs.frozen
class Finished:
    """What a command left: exit code and both outputs."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The output, read as JSON."""
        return json.loads(self.out)

    @property
    def text(self) -> str:
        """Both outputs on one line, as if no terminal had a width."""
        return " ".join((self.out + self.err).split())


@attrs.frozen(kw_only=True)
class Ground:
    """A home, a project and what lies outside of both.

    Attributes:
        top: Folder that holds all of them.
        home: The user's home; `$MSD_HOME` names it.
        project: A repository, and the working directory.
        outside: The user's own files, which nothing may touch.
        command: Runs `msd`.
    """

    top: Path
    home: Path
    project: Path
    outside: Path
    command: Callable[..., Finished] = attrs.field(repr=False)

    def msd(self, *arguments: str | Path) -> Finished:
        """Run `msd` as somebody in the project would whom nobody can ask."""
        return self.command(*arguments)

    def capability(self, *arguments: str | Path) -> Finished:
        """Run `msd capability`."""
        return self.command("capability", *arguments)

    def as_printed(self, line: str) -> Finished:
        """Run a command just as a warning prints it."""
        program, *arguments = shlex.split(line)
        assert program == "msd", line
        return self.command(*arguments)

    def root(self, scope: str) -> Path:
        """Return the root of a scope."""
        return self.home if scope == "global" else self.project

    def folder(self, capability_id: str, scope: str = "project") -> Path:
        """Return where an overlay is installed."""
        return self.root(scope) / CAPABILITIES / capability_id

    def places(self) -> Places:
        return find_places(self.project, self.home)

    def scanned(self) -> set[str]:
        return {one.folder for one in scan(self.places()).candidates}

    def composed(self) -> dict[str, Any]:
        """Return the composition here, as JSON data."""
        found: dict[str, Any] = self.msd("compose", "--json").json
        return found

    def active(self) -> set[str]:
        """Return the overlays that take part here."""
        return {
            row["id"]
            for row in self.capability("list", "--json").json
            if row["status"] == "active" and row["scope"] != "first-party"
        }

    def row(self, capability_id: str, scope: str = "project") -> dict[str, Any]:
        """Return what `list` says of an overlay."""
        rows: list[dict[str, Any]] = self.capability("list", "--json").json
        (found,) = [
            row for row in rows if (row["id"], row["scope"]) == (capability_id, scope)
        ]
        return found

    def agreed(self, capability_id: str, scope: str = "project") -> Any:
        """Return the record of an agreement, or what stands for none."""
        root = str(self.root(scope))
        store = read_consent(str(self.home))
        found = store.find(root, capability_id, Scope(scope))
        return found if isinstance(found, ConsentRecord) else None


def bundle(
    folder: Path,
    capability_id: str = "tide",
    files: Mapping[str, bytes] | None = None,
    **fields: Any,
) -> Path:
    """Write a bundle, not installed anywhere; return its folder."""
    write(folder / "capability.json", json.dumps(feature(capability_id, **fields)))
    for name, data in (files or {}).items():
        write(folder / name, data)
    return folder


def entry(capability_id: str = "tide", **fields: Any) -> dict[str, Any]:
    """Return an entry of a ledger."""
    return {
        "id": capability_id,
        "version": "1.0.0",
        "source": "/nowhere",
        "integrity": "",
        "commit": "",
        "files": [f"{CAPABILITIES}/{capability_id}"],
        "sharedEdits": [],
        "gatePoints": [],
        "contentHash": "",
        "disclosureSignature": "",
        "installedAt": "2026-01-01T00:00:00.000Z",
        **fields,
    }


def ledger(root: Path, *entries: dict[str, Any]) -> Path:
    """Plant a ledger; return its path."""
    path = root / LEDGER_NAME
    held = {one["id"]: one for one in entries}
    write(path, json.dumps({"version": "1", "entries": held}))
    return path


def picture(*tops: Path, without: Iterable[str] = ()) -> dict[str, object]:
    """Return everything below folders: what it is, its permissions and its content.

    Args:
        tops: The folders.
        without: Names that are left out, with all below them.
    """
    left = frozenset(without)
    found: dict[str, object] = {}
    for top in tops:
        for where, folders, files in os.walk(top):
            folders[:] = [name for name in folders if name not in left]
            for name in (*folders, *files):
                if name not in left:
                    path = Path(where) / name
                    found[str(path)] = _seen(path)
    return found


def _seen(path: Path) -> object:
    mode = path.lstat().st_mode
    if stat.S_ISLNK(mode):
        return ("link", str(path.readlink()))
    if stat.S_ISREG(mode):
        return (stat.S_IMODE(mode), path.read_bytes())
    return (stat.S_IFMT(mode), stat.S_IMODE(mode))


def new(before: Mapping[str, object], after: Mapping[str, object]) -> set[str]:
    """Return the names of what differs between two pictures."""
    return {
        Path(path).name
        for path in {*before, *after}
        if before.get(path) != after.get(path)
    }
