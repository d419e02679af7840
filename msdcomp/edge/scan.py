"""`scan`: overlay roots -> candidates. The only place that reads overlays.

Every entry of a root ends as a candidate or as ignored, with a reason. How much of a
folder is read depends on whose it is and what the user agreed to:

- a global overlay: its manifest, and the fragment files the manifest names;
- a project overlay without a consent record: its manifest alone, for its gates;
- one with a record: everything, once, to compare it with the record; what is composed
  then comes from the very bytes that were compared.
Source: docs/explanation/edges.md, "From folders to candidates".
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, TypeAlias

import attrs

from msdcomp.candidate import Candidate, FragmentFault, FragmentText
from msdcomp.edge.consent import ConsentStore, read_consent
from msdcomp.edge.content_hash import Bundle
from msdcomp.edge.files import MAX_FILE_BYTES, FileFault, open_folder, relative_parts
from msdcomp.edge.ledger import LEDGER_NAME, Ledger, read_ledger
from msdcomp.edge.projectsight import MAX_UNAGREED_BYTES, ProjectReader
from msdcomp.edge.sight import (
    CROWDED,
    MANIFEST_NAME,
    MAX_FRAGMENTS_BYTES,
    Names,
    RootReader,
    Sight,
    name_text,
)
from msdcomp.records import Record
from msdcomp.safetext import is_capability_id
from msdcomp.scope import Scope
from msdcomp.verdict import IgnoredEntry
from msdcomp.wire import Decoded, decode

if TYPE_CHECKING:
    from msdcomp.edge.progress import OnProgress
    from msdcomp.edge.roots import Places
    from msdcomp.manifest import Manifest

__all__ = [
    "MANIFEST_NAME",
    "MAX_FRAGMENTS_BYTES",
    "MAX_UNAGREED_BYTES",
    "Found",
    "RootScan",
    "Scan",
    "as_fragment",
    "fragment_paths",
    "scan",
]

_Fragment: TypeAlias = FragmentText | FragmentFault

_SET_ASIDE = "set aside by an upgrade"

#: What becomes of an entry.
Found: TypeAlias = Candidate | IgnoredEntry


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Scan(Record):
    """What the overlay roots hold: global first, then by folder name."""

    candidates: tuple[Candidate, ...] = ()
    ignored: tuple[IgnoredEntry, ...] = ()

    @classmethod
    def of(cls, found: Iterator[Found], on_progress: OnProgress | None = None) -> Scan:
        """Part candidates from what is ignored, and count them."""
        candidates: list[Candidate] = []
        ignored: list[IgnoredEntry] = []
        for one in found:
            if isinstance(one, Candidate):
                candidates.append(one)
            else:
                ignored.append(one)
            if on_progress is not None:
                on_progress(len(candidates) + len(ignored), None)
        return cls(candidates=tuple(candidates), ignored=tuple(ignored))


def scan(places: Places, *, on_progress: OnProgress | None = None) -> Scan:
    """Read the overlay roots.

    Never raises for what lies there, and reads no more than the module says above.

    Args:
        places: The roots, and the home and project that consent is looked up for.
        on_progress: Told the number of entries looked at, after each.
    """
    return Scan.of(_scanned(places), on_progress)


def _scanned(places: Places) -> Iterator[Found]:
    consent: ConsentStore | None = None
    for root in places.roots:
        fd = open_folder(root.folder)
        if isinstance(fd, FileFault) and fd.code == "missing":
            continue
        try:
            if root.scope is Scope.PROJECT:
                consent = consent or read_consent(places.home)
                reader: RootReader = ProjectReader(
                    root, fd, consent, places.project or ""
                )
            else:
                reader = RootReader(root, fd)
            yield from RootScan(reader, read_ledger(root.ledger_root)).entries()
        finally:
            if isinstance(fd, int):
                os.close(fd)


class RootScan:
    """Makes of each entry of a root what becomes of it.

    Args:
        reader: Looks at the entries.
        ledger: What the ledger of the same scope says.
    """

    def __init__(self, reader: RootReader, ledger: Ledger) -> None:
        """Scan what a reader sees."""
        self.reader = reader
        self.root = reader.root
        self.ledger = ledger

    def entries(self) -> Iterator[Found]:
        """Yield what each entry is, by code point of the names."""
        listing = self.reader.list_names()
        yield from self.notices(listing)
        if isinstance(listing, Names):
            for name, kind in listing:
                yield self.read(self.reader.look(name, kind))[0]

    def notices(self, listing: Names | FileFault) -> Iterator[Found]:
        """Yield what is to be told beside the entries themselves."""
        if self.ledger.fault:
            reason = f"the ledger says nothing: {self.ledger.fault.reason}"
            yield self._ignored(LEDGER_NAME, reason)
        if isinstance(listing, FileFault):
            yield self._ignored(self.root.shown, listing.reason)
            yield from self._remembered(listing.reason)
        elif not listing.complete:
            yield self._ignored(self.root.shown, CROWDED)
        else:
            yield from self._set_aside(listing)

    def _set_aside(self, listing: Names) -> Iterator[Candidate]:
        """Yield what an upgrade took out of its place and was killed before replacing.

        It took part before, so its controls are missed and not merely absent.
        """
        there = frozenset(listing.names)
        for name, entry in sorted(self.ledger.entries.items()):
            if entry.set_aside and name not in there and is_capability_id(name):
                yield self._unread(Sight(name=name, unreadable=_SET_ASIDE))

    def _remembered(self, reason: str) -> Iterator[Candidate]:
        """Yield what the stores say lies in a root that cannot be listed.

        A control is not lost because its folder cannot be seen.
        """
        names = {n for n, entry in self.ledger.entries.items() if entry.gate_points}
        reader = self.reader
        if isinstance(reader, ProjectReader):
            names |= reader.consent.gated(reader.project)
        for name in sorted(filter(is_capability_id, names)):
            yield self._unread(Sight(name=name, unreadable=reason))

    def _unread(self, sight: Sight) -> Candidate:
        if isinstance(self.reader, ProjectReader):
            sight = self.reader.unread(sight)
        return self._candidate(sight, None)

    def read(self, sight: Sight) -> tuple[Found, Sight]:
        """Return what becomes of an entry, and the sight with all that was read."""
        if sight.ignored is not None:
            return self._ignored(name_text(sight.name), sight.ignored), sight
        if sight.data is None:
            return self._candidate(sight, None), sight
        folder = name_text(sight.name)
        decoded = decode(
            sight.data, folder, f"{self.root.shown}/{folder}/{MANIFEST_NAME}"
        )
        if self.root.scope is Scope.PROJECT and sight.bundle is None:
            # Nothing else that the overlay says can then be repeated by accident.
            gates = Decoded(gates=decoded.gates, is_object=decoded.is_object)
            return self._candidate(sight, gates), sight
        paths = fragment_paths(decoded.manifest)
        if sight.bundle is not None:
            fragments = {
                path: as_fragment(_from_bundle(sight.bundle, path)) for path in paths
            }
            return self._candidate(sight, decoded, fragments), sight
        if paths and not self.ledger.of(folder).pending:
            sight = self.reader.read_fragments(sight, paths)
        fragments = {path: as_fragment(data) for path, data in sight.fragments}
        return self._candidate(sight, decoded, fragments), sight

    def _ignored(self, name: str, reason: str) -> IgnoredEntry:
        return IgnoredEntry(scope=self.root.scope.value, name=name, reason=reason)

    def _candidate(
        self,
        sight: Sight,
        decoded: Decoded | None,
        fragments: Mapping[str, _Fragment] | None = None,
    ) -> Candidate:
        folder = name_text(sight.name)
        known = self.ledger.of(folder)
        record = sight.record
        readable = self.root.scope is Scope.GLOBAL or sight.bundle is not None
        return Candidate(
            folder=folder,
            scope=self.root.scope,
            decoded=decoded,
            source=sight.data if readable else None,
            unreadable=sight.unreadable,
            path=f"{self.root.shown}/{folder}",
            linked=sight.linked,
            dangling=sight.dangling,
            pending=known.pending,
            committed=known.committed,
            consent=sight.consent,
            fragments=fragments or {},
            stored_gates=known.gate_points,
            consented_gates=record.gate_points if record else (),
        )


def fragment_paths(manifest: Manifest | None) -> tuple[str, ...]:
    """Return the files a manifest takes prompt text from, each once."""
    if manifest is None or manifest.feature is None:
        return ()
    feature = manifest.feature
    if not feature.steps and not feature.contributions:
        return ()
    fragments = (
        *(step.fragment for step in feature.steps),
        *(contribution.fragment for contribution in feature.contributions),
    )
    return tuple(
        dict.fromkeys(
            fragment.file
            for fragment in fragments
            if fragment is not None and fragment.file is not None
        )
    )


def _from_bundle(bundle: Bundle, path: str) -> bytes | FileFault:
    """Return a file of a folder that was read whole; it holds no links."""
    parts = relative_parts(path)
    if isinstance(parts, FileFault):
        return parts
    data = bundle.files.get(b"/".join(parts))
    if data is None:
        return FileFault("missing", "no such file")
    if len(data) > MAX_FILE_BYTES:
        return FileFault("too-large", f"larger than {MAX_FILE_BYTES:,} bytes")
    return data


_FRAGMENT_CODES = {"too-large": "fragment-too-large", "escapes": "fragment-escapes"}


def as_fragment(data: bytes | FileFault) -> _Fragment:
    """Return the text of a fragment file exactly as it is: line ends and BOM stay."""
    if isinstance(data, FileFault):
        code = _FRAGMENT_CODES.get(data.code, "fragment-unreadable")
        return FragmentFault(code, data.reason)
    if not data:
        return FragmentFault("fragment-empty", "it is empty")
    try:
        return FragmentText(data.decode())
    except UnicodeDecodeError:
        return FragmentFault("fragment-unreadable", "it is not UTF-8 text")
