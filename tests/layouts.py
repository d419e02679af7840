"""Lay the files of a composition vector out on a real disk.

The form of a vector is described in `conformance/README.md`.
"""

from __future__ import annotations

import base64
import json
import os
import shutil
from pathlib import Path
from typing import Any

import attrs

from msdcomp.edge.consent import ConsentRecord, record_consent
from msdcomp.wire import decode

__all__ = ["Layout", "feature", "lay_out", "overlay", "put", "write"]


@attrs.frozen(kw_only=True)
class Layout:
    """Where the parts of a vector came to lie.

    Attributes:
        root: The folder everything is below.
        home: The user's home.
        project: The project whose bundles `consent` speaks of.
        cwd: The working directory to look for a project from.
    """

    root: Path
    home: Path
    project: Path
    cwd: Path

    def relative(self, path: Path) -> str:
        """Return a path as a vector writes it: physical, relative to the root."""
        return os.path.relpath(os.path.realpath(path), os.path.realpath(self.root))


def write(path: Path, content: bytes | str) -> None:
    """Write a file, making its folders."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)


def _compact(value: Any) -> str:
    # Without spaces: a vector tampers with white space by writing them.
    return json.dumps(value, separators=(",", ":"))


def put(path: Path, spec: Any) -> None:
    """Put one entry of `files` or `tamper` in its place; None takes it away."""
    match spec:
        case None:
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        case str():
            write(path, spec)
        case {"json": value}:
            write(path, _compact(value))
        case {"base64": text}:
            write(path, base64.b64decode(text))
        case {"dir": True}:
            path.mkdir(parents=True, exist_ok=True)
        case {"fifo": True}:
            path.parent.mkdir(parents=True, exist_ok=True)
            os.mkfifo(path)
        case {"symlink": target}:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.symlink_to(target)
        case {"pad": {"json": value, "bytes": size}}:
            write(path, _compact(value).ljust(size))
        case {"nested": {"json": value, "depth": depth}}:
            text = _compact(value)
            tail = "," if value else ""
            write(path, f'{text[:-1]}{tail}"zz": {"[" * depth}{"]" * depth}}}')
        case _:
            message = f"no form of a file: {spec!r:.200}"
            raise ValueError(message)


def feature(capability_id: str, **fields: Any) -> dict[str, Any]:
    """Return a small valid manifest, with fields of one's own."""
    return {
        "id": capability_id,
        "role": "feature",
        "version": "1.0.0",
        "title": capability_id.title(),
        "description": "A capability for a test.",
        "tier": "standard",
        "requires": [],
        "runtimeCompat": {"supported": ["*"], "unsupported": []},
        "skills": [],
        "agents": [],
        "config": {},
        "steps": [],
        "contributions": [],
        "gates": [],
        **fields,
    }


def overlay(root: Path, capability_id: str, **fields: Any) -> Path:
    """Write an overlay below the root of a scope; return its folder."""
    folder = root / ".msd" / "capabilities" / capability_id
    write(folder / "capability.json", _compact(feature(capability_id, **fields)))
    return folder


def lay_out(vector: dict[str, Any], root: Path) -> Layout:
    """Lay a vector out under an empty folder: files, then consent, then tampering."""
    layout = Layout(
        root=root,
        home=root / vector["home"],
        project=root / vector["project"],
        cwd=root / vector["cwd"],
    )
    files = vector["files"].items()
    links = [(name, spec) for name, spec in files if _is_link(spec)]
    for name, spec in files:
        if not _is_link(spec):
            put(root / name, spec)
    for name, spec in links:
        put(root / name, spec)
    for folder in (layout.home, layout.cwd):
        folder.mkdir(parents=True, exist_ok=True)
    if "consent_file" in vector:
        write(layout.home / ".msd" / "consent.json", vector["consent_file"])
    for entry in vector.get("consent", ()):
        _consent(layout, entry)
    for name, spec in vector.get("tamper", {}).items():
        put(root / name, spec)
    return layout


def _is_link(spec: Any) -> bool:
    return isinstance(spec, dict) and "symlink" in spec


def _consent(layout: Layout, entry: dict[str, Any]) -> None:
    project = layout.root / entry["project"] if "project" in entry else layout.project
    bundle = project / ".msd" / "capabilities" / entry["id"]
    if "bundle" in entry:
        bundle = layout.root / entry["bundle"]
    manifest = bundle / "capability.json"
    gates = decode(manifest.read_bytes()).gates if manifest.is_file() else ()
    content = bundle
    if entry["state"] == "wrong-hash":
        content = layout.root / "some-other-content"
        write(content / "capability.json", "{}")
    recorded = record_consent(
        str(layout.home),
        str(project),
        str(content),
        entry["id"],
        tuple(gate.point for gate in gates),
    )
    assert isinstance(recorded, ConsentRecord), recorded
