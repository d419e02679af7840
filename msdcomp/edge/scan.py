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
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, TypeAlias

import attrs

from msdcomp.candidate import Candidate, FragmentFault, FragmentText
from msdcomp.edge.consent import ConsentRecord, ConsentStore, read_consent
from msdcomp.edge.content_hash import Bundle, read_bundle
from msdcomp.edge.files import (
    MAX_ENTRIES,
    MAX_FILE_BYTES,
    FileFault,
    fault_of,
    list_folder,
    open_folder,
    read_confined,
    read_file,
    relative_parts,
)
from msdcomp.edge.ledger import LEDGER_NAME, read_ledger
from msdcomp.records import Record
from msdcomp.safetext import is_capability_id
from msdcomp.scope import Consent, Scope
from msdcomp.verdict import IgnoredEntry
from msdcomp.wire import Decoded, decode

if TYPE_CHECKING:
    from msdcomp.edge.progress import OnProgress
    from msdcomp.edge.roots import Places, Root
    from msdcomp.manifest import Manifest

__all__ = [
    "MANIFEST_NAME",
    "MAX_FRAGMENTS_BYTES",
    "MAX_UNAGREED_BYTES",
    "Scan",
    "as_fragment",
    "fragment_paths",
    "scan",
]

MANIFEST_NAME = "capability.json"

#: Most bytes of all fragment files of one overlay together: as much as an installed
#: folder may hold at all.
MAX_FRAGMENTS_BYTES = 128 * 1024 * 1024

#: Most bytes of all manifests of a root together that nobody agreed to: a repository
#: cannot keep a host busy by holding thousands of the largest.
MAX_UNAGREED_BYTES = 256 * 1024 * 1024

_Fragment: TypeAlias = FragmentText | FragmentFault

_TOO_MUCH = f"manifests before it are larger than {MAX_UNAGREED_BYTES:,} bytes"
_TOO_MUCH_TEXT = FileFault(
    "too-large", f"all fragment files are larger than {MAX_FRAGMENTS_BYTES:,} bytes"
)

_HIDDEN = "its name starts with a dot"
_NO_FOLDER = "not a folder"
_LINK_TO_FILE = "a symbolic link to something that is not a folder"
_DANGLING = "the folder is a symbolic link that leads nowhere"
#: Faults of a link that has no end: nothing is there, or it leads in a circle.
_NOWHERE = frozenset({"missing", "link"})
_UNFOLLOWED = "the folder is a symbolic link, and nothing was read through it"


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Scan(Record):
    """What the overlay roots hold: global first, then by folder name."""

    candidates: tuple[Candidate, ...] = ()
    ignored: tuple[IgnoredEntry, ...] = ()


def scan(places: Places, *, on_progress: OnProgress | None = None) -> Scan:
    """Read the overlay roots.

    Never raises for what lies there, and reads no more than the module says above.

    Args:
        places: The roots, and the home and project that consent is looked up for.
        on_progress: Told the number of entries looked at, after each.
    """
    candidates: list[Candidate] = []
    ignored: list[IgnoredEntry] = []
    consent: ConsentStore | None = None
    for root in places.roots:
        fd = open_folder(root.folder)
        if isinstance(fd, FileFault) and fd.code == "missing":
            continue
        if root.scope is Scope.PROJECT and consent is None:
            consent = read_consent(places.home)
        known = consent or ConsentStore()
        reader = _Reader(root, fd, known, places.project or "")
        try:
            for found in reader.entries():
                if isinstance(found, Candidate):
                    candidates.append(found)
                else:
                    ignored.append(found)
                if on_progress is not None:
                    on_progress(len(candidates) + len(ignored), None)
        finally:
            if isinstance(fd, int):
                os.close(fd)
    return Scan(candidates=tuple(candidates), ignored=tuple(ignored))


def _ignored(root: Root, name: str, reason: str) -> IgnoredEntry:
    return IgnoredEntry(scope=root.scope.value, name=name, reason=reason)


def _text(name: str) -> str:
    r"""Return the name of an entry as text that can be written anywhere.

    Bytes that are not UTF-8 are shown as `\xe9`. No valid id looks like that, so such
    a folder is refused for its name, and its gates are still heard of.
    """
    if name.isascii():
        return name
    return os.fsencode(name).decode("utf-8", "backslashreplace")


class _Reader:
    """Reads the entries of one root, as far as it could be opened."""

    def __init__(
        self, root: Root, fd: int | FileFault, consent: ConsentStore, project: str
    ) -> None:
        self.root = root
        self.fault = fd if isinstance(fd, FileFault) else None
        self.fd = fd if isinstance(fd, int) else -1
        self.ledger = read_ledger(root.ledger_root)
        self.consent = consent
        self.project = project
        self._unagreed_left = MAX_UNAGREED_BYTES

    def entries(self) -> Iterator[Candidate | IgnoredEntry]:
        """Yield what each entry is, by code point of the names."""
        root = self.root
        if self.ledger.fault:
            reason = f"the ledger says nothing: {self.ledger.fault.reason}"
            yield _ignored(root, LEDGER_NAME, reason)
        listing = self.fault or list_folder(self.fd)
        if isinstance(listing, FileFault):
            yield _ignored(root, root.shown, listing.reason)
            yield from self._remembered(listing.reason)
            return
        if not listing.complete:
            reason = f"only the first {MAX_ENTRIES:,} entries are looked at"
            yield _ignored(root, root.shown, reason)
        for entry in listing.entries:
            yield self._entry(entry)

    def _remembered(self, reason: str) -> Iterator[Candidate]:
        """Yield what the stores say lies in a root that cannot be listed.

        A control is not lost because its folder cannot be seen.
        """
        names = {n for n, entry in self.ledger.entries.items() if entry.gate_points}
        if self.root.scope is Scope.PROJECT:
            names |= self.consent.gated(self.project)
        for name in sorted(filter(is_capability_id, names)):
            yield self._candidate(name, None, unreadable=reason)

    def _entry(self, entry: os.DirEntry[str]) -> Candidate | IgnoredEntry:
        name = entry.name
        if name.startswith("."):
            return _ignored(self.root, _text(name), _HIDDEN)
        # What the listing itself says; asking the file system again would cost a call
        # for each of ten thousand folders, and every read below guards itself.
        if entry.is_symlink():
            return self._link(name)
        if not entry.is_dir(follow_symlinks=False):
            return _ignored(self.root, _text(name), _NO_FOLDER)
        if self.root.scope is Scope.GLOBAL:
            return self._global(name, linked=False)
        return self._project(name)

    def _link(self, name: str) -> Candidate | IgnoredEntry:
        """Follow a link in the global root; in a project's, only see what it is."""
        target = open_folder(name, dir_fd=self.fd)
        if isinstance(target, int):
            os.close(target)
            if self.root.scope is Scope.GLOBAL:
                return self._global(name, linked=True)
            return self._candidate(name, None, unreadable=_UNFOLLOWED, linked=True)
        leads = self._end_of(name)
        if leads is None and target.code == "not-a-folder":
            return _ignored(self.root, _text(name), _LINK_TO_FILE)
        dangling = leads in _NOWHERE
        reason = _DANGLING if dangling else target.reason
        return self._candidate(
            name, None, unreadable=reason, linked=True, dangling=dangling
        )

    def _end_of(self, name: str) -> str | None:
        """Return why a link has no end, as the code of a fault, or None."""
        try:
            os.stat(name, dir_fd=self.fd)
        except OSError as error:
            return fault_of(error).code
        return None

    def _global(self, name: str, *, linked: bool) -> Candidate:
        data = read_file(f"{name}/{MANIFEST_NAME}", dir_fd=self.fd)
        if isinstance(data, FileFault):
            return self._candidate(name, None, unreadable=data.reason, linked=linked)
        decoded = self._decode(name, data)
        fragments: Mapping[str, _Fragment] = {}
        paths = fragment_paths(decoded.manifest)
        if paths and not self.ledger.of(name).pending:
            fragments = self._read_fragments(name, paths)
        return self._candidate(
            name, decoded, source=data, linked=linked, fragments=fragments
        )

    def _read_fragments(
        self, name: str, paths: Iterable[str]
    ) -> Mapping[str, _Fragment]:
        """Read fragment files that lie physically inside a folder."""
        fd = open_folder(name, dir_fd=self.fd)
        if isinstance(fd, FileFault):
            return dict.fromkeys(paths, as_fragment(fd))
        folder = f"{self.root.folder}/{name}"
        found: dict[str, _Fragment] = {}
        left = MAX_FRAGMENTS_BYTES
        try:
            for path in paths:
                data = read_confined(fd, folder, path) if left > 0 else _TOO_MUCH_TEXT
                left -= len(data) if isinstance(data, bytes) else 0
                found[path] = as_fragment(data)
        finally:
            os.close(fd)
        return found

    def _project(self, name: str) -> Candidate:
        record = self.consent.find(self.project, _text(name))
        if isinstance(record, Consent):
            return self._unagreed(name, record)
        bundle = read_bundle(name, dir_fd=self.fd, follow=False)
        if isinstance(bundle, FileFault) or bundle.digest != record.content_hash:
            return self._unagreed(name, Consent.CHANGED, record)
        data = bundle.files.get(MANIFEST_NAME.encode())
        agreed = (Consent.MATCHES, record)
        if data is None:
            return self._candidate(
                name, None, unreadable="no such file", consent=agreed
            )
        if len(data) > MAX_FILE_BYTES:
            reason = f"larger than {MAX_FILE_BYTES:,} bytes"
            return self._candidate(name, None, unreadable=reason, consent=agreed)
        decoded = self._decode(name, data)
        fragments = {
            path: as_fragment(_from_bundle(bundle, path))
            for path in fragment_paths(decoded.manifest)
        }
        return self._candidate(
            name, decoded, source=data, consent=agreed, fragments=fragments
        )

    def _unagreed(
        self, name: str, consent: Consent, record: ConsentRecord | None = None
    ) -> Candidate:
        """Read the manifest alone, without leaving the folder, and keep only its gates.

        Nothing else that the overlay says can then be repeated by accident.
        """
        said = (consent, record)
        if self._unagreed_left <= 0:
            return self._candidate(name, None, unreadable=_TOO_MUCH, consent=said)
        fd = open_folder(name, dir_fd=self.fd, follow=False)
        if isinstance(fd, FileFault):
            return self._candidate(name, None, unreadable=fd.reason, consent=said)
        try:
            folder = f"{self.root.folder}/{name}"
            data = read_confined(fd, folder, MANIFEST_NAME)
        finally:
            os.close(fd)
        if isinstance(data, FileFault):
            return self._candidate(name, None, unreadable=data.reason, consent=said)
        self._unagreed_left -= len(data)
        decoded = self._decode(name, data)
        gates = Decoded(gates=decoded.gates, is_object=decoded.is_object)
        return self._candidate(name, gates, consent=said)

    def _decode(self, name: str, data: bytes) -> Decoded:
        folder = _text(name)
        return decode(data, folder, f"{self.root.shown}/{folder}/{MANIFEST_NAME}")

    def _candidate(
        self,
        name: str,
        decoded: Decoded | None,
        *,
        source: bytes | None = None,
        unreadable: str | None = None,
        linked: bool = False,
        dangling: bool = False,
        consent: tuple[Consent, ConsentRecord | None] | None = None,
        fragments: Mapping[str, _Fragment] | None = None,
    ) -> Candidate:
        folder = _text(name)
        known = self.ledger.of(folder)
        if consent is None:
            consent = (Consent.NONE, None)
            if self.root.scope is Scope.PROJECT:  # a link: its content is not compared
                found = self.consent.find(self.project, folder)
                if isinstance(found, Consent):
                    consent = (found, None)
                else:
                    consent = (Consent.CHANGED, found)
        said, record = consent
        return Candidate(
            folder=folder,
            scope=self.root.scope,
            decoded=decoded,
            source=source,
            unreadable=unreadable,
            path=f"{self.root.shown}/{folder}",
            linked=linked,
            dangling=dangling,
            pending=known.pending,
            committed=known.committed,
            consent=said,
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
            fragment.path
            for fragment in fragments
            if fragment is not None
            and fragment.inline is None
            and fragment.path is not None
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
