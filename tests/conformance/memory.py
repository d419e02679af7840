"""Read a composition vector as candidates, without a disk.

A second reading of the same layouts, on purpose apart from the edge: what a vector says
lies somewhere is kept in a mapping of paths, links are followed by hand, and consent
compares the files of a bundle before and after tampering instead of hashing them.
The form of a vector is described in `conformance/README.md`.
"""

from __future__ import annotations

import base64
import json
import posixpath
from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

import attrs

from msdcomp.candidate import Candidate, Consent, FragmentFault, FragmentText, Scope
from msdcomp.host import HostContract
from msdcomp.manifest import Manifest
from msdcomp.wire import decode

__all__ = ["Tree", "Vector", "candidates_of", "project_of"]

CAPABILITIES = ".msd/capabilities"
MANIFEST = "capability.json"
MOST_BYTES = 8 * 1024 * 1024
_MOST_LINKS = 40
_POINTS = HostContract().points
_EDIT_FIELDS = ("file", "marker")

Vector: TypeAlias = Mapping[str, Any]
_Text: TypeAlias = FragmentText | FragmentFault
#: The files of a bundle by name, or None where no consent could be bound to them.
_Content: TypeAlias = Mapping[str, bytes] | None


@attrs.frozen
class _Link:
    target: str


class _Special:
    """A FIFO: there, but nothing to read."""


@attrs.frozen
class Tree:
    """Files, links and empty folders by their path below the root of the layout."""

    nodes: dict[str, bytes | _Link | _Special | None] = attrs.field(factory=dict)

    def put(self, path: str, spec: Any) -> None:
        """Put one entry of `files` or `tamper` in its place; None takes it away."""
        match spec:
            case None:
                below = f"{path}/"
                for name in [n for n in self.nodes if n == path or n.startswith(below)]:
                    del self.nodes[name]
                # The folder it lay in stays, and may be empty now.
                self.nodes.setdefault(posixpath.dirname(path), None)
            case str():
                self.nodes[path] = spec.encode()
            case {"json": value}:
                self.nodes[path] = _compact(value).encode()
            case {"base64": text}:
                self.nodes[path] = base64.b64decode(text)
            case {"dir": True}:
                self.nodes.setdefault(path, None)
            case {"fifo": True}:
                self.nodes[path] = _Special()
            case {"symlink": target}:
                self.nodes[path] = _Link(target)
            case {"pad": {"json": value, "bytes": size}}:
                self.nodes[path] = _compact(value).ljust(size).encode()
            case {"nested": {"json": value, "depth": depth}}:
                tail = "," if value else ""
                nested = f'{tail}"zz": {"[" * depth}{"]" * depth}}}'
                self.nodes[path] = (_compact(value)[:-1] + nested).encode()
            case _:
                message = f"no form of a file: {spec!r:.200}"
                raise ValueError(message)

    def physical(self, path: str) -> str | None:
        """Return a path without links; None when they lead in a circle."""
        left = [part for part in reversed(path.split("/")) if part not in {"", "."}]
        here: list[str] = []
        followed = 0
        while left:
            part = left.pop()
            if part == "..":
                here = here[:-1]
                continue
            node = self.nodes.get("/".join((*here, part)))
            if not isinstance(node, _Link):
                here.append(part)
                continue
            followed += 1
            if followed > _MOST_LINKS:
                return None
            if node.target.startswith("/"):
                here = []
            left += [p for p in reversed(node.target.split("/")) if p not in {"", "."}]
        return "/".join(here)

    def is_link(self, path: str) -> bool:
        """Tell whether the last component of a path is a link."""
        return isinstance(self.nodes.get(path), _Link)

    def is_folder(self, path: str | None) -> bool:
        """Tell whether a physical path is a folder."""
        if path is None:
            return False
        if path in self.nodes:
            return self.nodes[path] is None
        return any(name.startswith(f"{path}/") for name in self.nodes)

    def exists(self, path: str) -> bool:
        """Tell whether there is anything at a path, a dangling link included."""
        return path in self.nodes or self.is_folder(path)

    def names(self, folder: str) -> list[str]:
        """Return the names of the entries of a physical folder."""
        top = f"{folder}/" if folder else ""
        below = (n[len(top) :] for n in self.nodes if n.startswith(top))
        return sorted({name.split("/")[0] for name in below if name})

    def read(self, path: str) -> bytes | None:
        """Return the content of the regular file a path leads to."""
        real = self.physical(path)
        node = self.nodes.get(real) if real is not None else None
        return node if isinstance(node, bytes) else None

    def content(self, bundle: str) -> _Content:
        """Return what consent to a bundle is bound to; nothing where a link lies."""
        top = f"{bundle}/"
        if not self.is_folder(bundle):
            return None
        found: dict[str, bytes] = {}
        for path, node in self.nodes.items():
            if not path.startswith(top):
                continue
            name = path[len(top) :]
            if isinstance(node, _Link | _Special):
                return None
            folder = posixpath.basename(posixpath.dirname(name))
            if folder == "__pycache__" and name.endswith((".pyc", ".pyo")):
                continue
            if node is not None:
                found[name] = node
            inner = name if node is None else posixpath.dirname(name)
            while inner:
                if posixpath.basename(inner) not in {"__pycache__", ".pytest_cache"}:
                    found[f"{inner}/"] = b""
                inner = posixpath.dirname(inner)
        return found


def _compact(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))


@attrs.frozen
class _Agreement:
    """What the user agreed to: some content, and the gates it had."""

    content: _Content
    gate_points: tuple[str, ...]


@attrs.frozen
class _Root:
    scope: Scope
    folder: str
    shown: str
    ledger: Mapping[str, Any]


def project_of(tree: Tree, vector: Vector) -> tuple[str | None, bool]:
    """Return the project of a vector, and whether it is marked as one."""
    cwd = tree.physical(vector["cwd"]) or ""
    above = cwd
    while above:
        if tree.is_folder(tree.physical(f"{above}/.planning")):
            return above, True
        if tree.exists(f"{above}/.git"):
            return above, True
        above = posixpath.dirname(above)
    if cwd == tree.physical(vector["home"]):
        return None, False
    return cwd, False


def _roots(
    tree: Tree, vector: Vector, project: str | None, *, marked: bool
) -> Iterator[_Root]:
    home = vector["home"]
    common = f"{home}/{CAPABILITIES}"
    real = tree.physical(common)
    own = tree.physical(f"{project}/{CAPABILITIES}") if project is not None else None
    if project is None or real != own:
        scope, shown = Scope.GLOBAL, CAPABILITIES
        if marked and real is not None and real.startswith(f"{project}/"):
            scope, shown = Scope.PROJECT, posixpath.relpath(real, project)
        yield _Root(scope, real or "", shown, _ledger(tree, home))
    if project is not None:
        yield _Root(Scope.PROJECT, own or "", CAPABILITIES, _ledger(tree, project))


def _ledger(tree: Tree, scope_root: str) -> Mapping[str, Any]:
    text = tree.read(f"{scope_root}/.msd-capabilities.json")
    try:
        entries = json.loads(text or b"null")["entries"]
    except (ValueError, TypeError, KeyError):
        return {}
    return entries if isinstance(entries, dict) else {}


def _agreements(tree: Tree, vector: Vector) -> dict[str, _Agreement]:
    found = {}
    for entry in vector.get("consent", ()):
        place = f"{entry.get('project', vector['project'])}/{CAPABILITIES}"
        named = entry.get("bundle", f"{place}/{entry['id']}")
        bundle = tree.physical(named) or named
        text = tree.read(f"{bundle}/{MANIFEST}")
        gates = decode(text).gates if text is not None else ()
        content = tree.content(bundle)
        assert content is not None
        if entry["state"] == "wrong-hash":
            content = {**content, "some-other-file": b""}
        points = {gate.point for gate in gates}
        known = tuple(point for point in _POINTS if point in points)
        found[entry["id"]] = _Agreement(content, known)
    return found


def _is_damaged(tree: Tree, home: str) -> bool:
    """Tell whether a consent store lies in a home that nobody can read."""
    place = tree.physical(f"{home}/.msd/consent.json")
    if place is not None and not tree.exists(place):
        return False
    try:
        store = json.loads(tree.read(place or "") or b"")
    except ValueError:
        return True
    return not isinstance(store, dict) or not isinstance(store.get("records"), dict)


def candidates_of(vector: Vector) -> tuple[Tree, tuple[Candidate, ...]]:
    """Return what lies where in the end, and every candidate of a vector."""
    tree = Tree()
    for name, spec in vector["files"].items():
        tree.put(name, spec)
    for folder in (vector["home"], vector["cwd"]):
        if not tree.exists(folder):
            tree.put(folder, {"dir": True})
    if "consent_file" in vector:
        tree.put(f"{vector['home']}/.msd/consent.json", vector["consent_file"])
    agreed = _agreements(tree, vector)
    for name, spec in vector.get("tamper", {}).items():
        tree.put(name, spec)
    if not vector.get("include_installed", True):
        return tree, ()
    reader = _Reader(tree, agreed, damaged=_is_damaged(tree, vector["home"]))
    project, marked = project_of(tree, vector)
    return tree, tuple(
        candidate
        for root in _roots(tree, vector, project, marked=marked)
        for candidate in reader.entries(root)
    )


@attrs.frozen
class _Reader:
    tree: Tree
    agreed: Mapping[str, _Agreement]
    damaged: bool = attrs.field(kw_only=True)

    def entries(self, root: _Root) -> Iterator[Candidate]:
        for name in self.tree.names(root.folder):
            place = f"{root.folder}/{name}"
            real = self.tree.physical(place)
            if name.startswith("."):
                continue
            if self.tree.is_folder(real):
                yield self._folder(root, name, real or place)
            elif real is None or not self.tree.exists(real):
                yield self._candidate(root, name, linked=True, unreadable="dangling")

    def _folder(self, root: _Root, name: str, real: str) -> Candidate:
        linked = self.tree.is_link(f"{root.folder}/{name}")
        if root.scope is Scope.GLOBAL:
            text = self.tree.read(f"{real}/{MANIFEST}")
            return self._read(root, name, real, text, linked=linked)
        if linked:
            return self._candidate(root, name, linked=True, unreadable="not followed")
        inside = self._inside(real, MANIFEST)
        return self._read(root, name, real, inside if inside != "escapes" else None)

    def _inside(self, bundle: str, path: str) -> bytes | str | None:
        """Return a file that lies physically in a bundle, or `escapes`."""
        if path.startswith("/") or ".." in path.split("/"):
            return "escapes"
        real = self.tree.physical(f"{bundle}/{path}")
        if real is not None and not real.startswith(f"{bundle}/"):
            return "escapes"
        return self.tree.read(f"{bundle}/{path}")

    def _read(
        self,
        root: _Root,
        name: str,
        bundle: str,
        text: bytes | str | None,
        *,
        linked: bool = False,
    ) -> Candidate:
        if not isinstance(text, bytes) or len(text) > MOST_BYTES:
            return self._candidate(
                root, name, bundle=bundle, linked=linked, unreadable="unreadable"
            )
        decoded = decode(text, name)
        return attrs.evolve(
            self._candidate(root, name, bundle=bundle, linked=linked),
            decoded=decoded,
            source=text,
            fragments={
                path: self._fragment(bundle, path) for path in _paths(decoded.manifest)
            },
        )

    def _fragment(self, bundle: str, path: str) -> _Text:
        data = self._inside(bundle, path)
        if isinstance(data, str):
            return FragmentFault("fragment-escapes", "it leads out of the folder")
        if data is None:
            return FragmentFault("fragment-unreadable", "no regular file")
        if len(data) > MOST_BYTES:
            return FragmentFault("fragment-too-large", "it is too large")
        try:
            return FragmentText(data.decode())
        except UnicodeDecodeError:
            return FragmentFault("fragment-unreadable", "it is not UTF-8 text")

    def _candidate(
        self,
        root: _Root,
        name: str,
        *,
        bundle: str | None = None,
        linked: bool = False,
        unreadable: str | None = None,
    ) -> Candidate:
        entry = root.ledger.get(name)
        entry = entry if isinstance(entry, dict) else {}
        marker = entry.get("_pending")
        record = None if self.damaged else self.agreed.get(name)
        consent = Consent.UNREADABLE if self.damaged else Consent.NONE
        if record is not None:
            content = self.tree.content(bundle) if bundle is not None else None
            same = content is not None and content == record.content
            consent = Consent.MATCHES if same else Consent.CHANGED
        in_project = root.scope is Scope.PROJECT
        return Candidate(
            folder=name,
            scope=root.scope,
            path=f"{root.shown}/{name}",
            unreadable=unreadable,
            linked=linked,
            pending=bool(marker) or isinstance(marker, dict | list),
            committed="_pending" not in entry and _is_complete(name, entry),
            consent=consent,
            stored_gates=_stored(entry.get("gatePoints")),
            consented_gates=record.gate_points if record and in_project else (),
        )


def _stored(value: Any) -> tuple[str, ...]:
    named = value if isinstance(value, list) else ()
    return tuple(point for point in _POINTS if point in named)


def _is_complete(name: str, entry: Mapping[str, Any]) -> bool:
    texts = (entry.get(field) for field in ("version", "source", "integrity"))
    lists = (entry.get(field) for field in ("files", "sharedEdits"))
    return (
        entry.get("id") == name
        and all(isinstance(text, str) for text in texts)
        and all(isinstance(entries, list) for entries in lists)
        and all(isinstance(file, str) for file in entry["files"])
        and all(
            isinstance(edit, dict)
            and all(isinstance(edit.get(f), str) and edit[f] for f in _EDIT_FIELDS)
            for edit in entry["sharedEdits"]
        )
    )


def _paths(manifest: Manifest | None) -> Iterator[str]:
    feature = manifest.feature if manifest else None
    if feature is not None:
        steps = (step.fragment for step in feature.steps)
        for fragment in (*steps, *(c.fragment for c in feature.contributions)):
            if fragment and fragment.path is not None and fragment.inline is None:
                yield fragment.path
