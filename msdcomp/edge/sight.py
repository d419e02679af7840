"""What lies in an overlay root, seen before anything of it is decoded.

Looking and decoding are apart so that a load can tell whether anything has changed
without importing what decodes. A `Sight` holds the bytes that were read, and its token
stands for all that a candidate made of it depends on.
Source: docs/explanation/edges.md, "From folders to candidates".
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import attrs

from msdcomp.edge.files import (
    MAX_ENTRIES,
    FileFault,
    fault_of,
    list_folder,
    open_folder,
    read_confined,
    read_file,
)
from msdcomp.edge.roots import OWN_NAMES
from msdcomp.records import Record
from msdcomp.scope import Consent
from msdcomp.vocabulary import MANIFEST_NAME

if TYPE_CHECKING:
    from msdcomp.edge.consent import ConsentRecord
    from msdcomp.edge.content_hash import Bundle
    from msdcomp.edge.roots import Root

__all__ = [
    "CROWDED",
    "FOLDER",
    "LINK",
    "MANIFEST_NAME",
    "MAX_FRAGMENTS_BYTES",
    "OTHER",
    "Names",
    "RootReader",
    "Sight",
    "name_text",
]

#: Most bytes of all fragment files of one overlay together: as much as an installed
#: folder may hold at all.
MAX_FRAGMENTS_BYTES = 128 * 1024 * 1024

#: What a listing says of an entry, one letter each.
FOLDER, LINK, OTHER = "d", "l", "o"

CROWDED = f"only the first {MAX_ENTRIES:,} entries are looked at"

_TOO_MUCH_TEXT = FileFault(
    "too-large", f"all fragment files are larger than {MAX_FRAGMENTS_BYTES:,} bytes"
)

_HIDDEN = "its name starts with a dot"
_NO_FOLDER = "not a folder"
_LINK_TO_FILE = "a symbolic link to something that is not a folder"
_DANGLING = "the folder is a symbolic link that leads nowhere"
#: Faults of a link that has no end: nothing is there, or it leads in a circle.
_NOWHERE = frozenset({"missing", "link"})


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Sight(Record):
    """One entry of a root, as far as it may be read.

    Attributes:
        name: As the file system has it.
        ignored: Why it is no candidate; None when it is one.
        data: The bytes of its manifest.
        unreadable: Why there are none.
        linked: It is a symbolic link.
        dangling: It is a symbolic link that leads nowhere.
        fragments: Path of a fragment file -> its bytes, or why there are none; of a
            global overlay only, and only once its manifest has been decoded.
        consent: In a project, what the user has said about the content.
        record: The record of that, when there is one.
        bundle: In a project, the whole content, when it is what was agreed to.
    """

    name: str
    ignored: str | None = None
    data: bytes | None = attrs.field(default=None, repr=False)
    unreadable: str | None = None
    linked: bool = False
    dangling: bool = False
    fragments: tuple[tuple[str, bytes | FileFault], ...] = attrs.field(
        default=(), repr=False
    )
    consent: Consent = Consent.NONE
    record: ConsentRecord | None = None
    bundle: Bundle | None = attrs.field(default=None, repr=False)

    def token(self) -> bytes:
        """Return a digest of everything here.

        The content of an agreed bundle is in its own digest, so it is not hashed twice.
        """
        record = self.record
        said = (
            self.name,
            self.ignored,
            self.bundle.digest if self.bundle else _digest(self.data),
            self.unreadable,
            self.linked,
            self.dangling,
            [(path, _digest(data)) for path, data in self.fragments],
            self.consent.value,
            record and (record.content_hash, record.gate_points),
        )
        return hashlib.sha256(repr(said).encode()).digest()[:16]


def _digest(data: bytes | FileFault | None) -> object:
    if isinstance(data, bytes):
        return hashlib.sha256(data).digest()
    return data and (data.code, data.reason)


def name_text(name: str) -> str:
    r"""Return the name of an entry as text that can be written anywhere.

    Bytes that are not UTF-8 are shown as `\xe9`. No valid id looks like that, so such
    a folder is refused for its name, and its gates are still heard of.
    """
    if name.isascii():
        return name
    return os.fsencode(name).decode("utf-8", "backslashreplace")


@attrs.frozen(eq=False, repr=False)
class Names(Record):
    """The entries of a root by code point of their names, and what each of them is.

    Attributes:
        names: As the file system has them.
        kinds: One letter for each: `FOLDER`, `LINK` or `OTHER`.
        complete: Whether these are all.
    """

    names: tuple[str, ...]
    kinds: str
    complete: bool = True

    def __iter__(self) -> Iterator[tuple[str, str]]:
        """Yield each name with its kind."""
        return zip(self.names, self.kinds, strict=True)


class RootReader:
    """Looks at the entries of a global root, as far as it could be opened.

    Args:
        root: The root.
        fd: Its descriptor, which stays the caller's, or why there is none.
    """

    def __init__(self, root: Root, fd: int | FileFault) -> None:
        """Look at a root that the caller has opened, and will close."""
        self.root = root
        self.fault = fd if isinstance(fd, FileFault) else None
        self.fd = fd if isinstance(fd, int) else -1

    def list_names(self) -> Names | FileFault:
        """Return what the root holds, or why that cannot be said.

        What an entry is, is what the listing itself says: asking the file system again
        would cost a call for each of ten thousand folders, and every read guards
        itself.

        What the lifecycle keeps there is none of it: it comes and goes with every
        install, and what is composed is still the same.
        """
        listing = self.fault or list_folder(self.fd)
        if isinstance(listing, FileFault):
            return listing
        entries = [entry for entry in listing.entries if entry.name not in OWN_NAMES]
        kinds = [
            LINK
            if entry.is_symlink()
            else FOLDER
            if entry.is_dir(follow_symlinks=False)
            else OTHER
            for entry in entries
        ]
        names = tuple(entry.name for entry in entries)
        return Names(names, "".join(kinds), listing.complete)

    def look(self, name: str, kind: str) -> Sight:
        """Return what an entry is; fragments are left for `read_fragments`."""
        if name.startswith("."):
            return Sight(name=name, ignored=_HIDDEN)
        if kind == LINK:
            return self._link(name)
        if kind != FOLDER:
            return Sight(name=name, ignored=_NO_FOLDER)
        return self._folder(name)

    def _link(self, name: str) -> Sight:
        """Follow a link, as far as the scope allows."""
        target = open_folder(name, dir_fd=self.fd)
        if isinstance(target, int):
            os.close(target)
            return self._linked(name)
        leads = self._end_of(name)
        if leads is None and target.code == "not-a-folder":
            return Sight(name=name, ignored=_LINK_TO_FILE)
        dangling = leads in _NOWHERE
        reason = _DANGLING if dangling else target.reason
        return Sight(name=name, unreadable=reason, linked=True, dangling=dangling)

    def _end_of(self, name: str) -> str | None:
        """Return why a link has no end, as the code of a fault, or None."""
        try:
            os.stat(name, dir_fd=self.fd)
        except OSError as error:
            return fault_of(error).code
        return None

    def _linked(self, name: str) -> Sight:
        return attrs.evolve(self._folder(name), linked=True)

    def _folder(self, name: str) -> Sight:
        data = self._manifest(name)
        if isinstance(data, FileFault):
            return Sight(name=name, unreadable=data.reason)
        return Sight(name=name, data=data)

    def _manifest(self, name: str) -> bytes | FileFault:
        return read_file(f"{name}/{MANIFEST_NAME}", dir_fd=self.fd)

    def read_fragments(self, sight: Sight, paths: Iterable[str]) -> Sight:
        """Return a sight with fragment files that lie physically inside its folder."""
        name = sight.name
        fd = open_folder(name, dir_fd=self.fd)
        if isinstance(fd, FileFault):
            return attrs.evolve(sight, fragments=tuple((path, fd) for path in paths))
        found: list[tuple[str, bytes | FileFault]] = []
        left = MAX_FRAGMENTS_BYTES
        try:
            for path in paths:
                data = self._fragment(fd, name, path) if left > 0 else _TOO_MUCH_TEXT
                left -= len(data) if isinstance(data, bytes) else 0
                found.append((path, data))
        finally:
            os.close(fd)
        return attrs.evolve(sight, fragments=tuple(found))

    def _fragment(self, fd: int, name: str, path: str) -> bytes | FileFault:
        return read_confined(fd, f"{self.root.folder}/{name}", path)
