"""The content hash of a capability's folder: what a user's consent is bound to.

Reading and hashing are one pass, and what was hashed is what is handed on: a manifest
or a fragment that is composed on the strength of a hash is taken from the very bytes
that went into it, so nothing can be swapped between the check and the use.
Source: docs/reference/consent-store.md, "Content hash".
"""

from __future__ import annotations

import binascii
import hashlib
import os
from collections.abc import Mapping
from types import MappingProxyType

import attrs

from msdcomp.edge.files import (
    MAX_ENTRIES,
    FileFault,
    fault_of,
    list_folder,
    open_folder,
    read_file,
)
from msdcomp.records import Record

__all__ = ["MAX_BUNDLE_BYTES", "MAX_DEPTH", "Bundle", "read_bundle"]

#: Most bytes of all files of a folder together.
MAX_BUNDLE_BYTES = 16 * 1024 * 1024

#: Deepest nesting of folders; each level holds a descriptor open while it is read.
MAX_DEPTH = 64

_CACHE_FOLDERS = frozenset({b"__pycache__", b".pytest_cache"})
_BYTECODE_FOLDER = b"__pycache__"
_BYTECODE = (b".pyc", b".pyo")

_FOLDER_MARK, _FILE_MARK = b"\x02", b"\x01"


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Bundle(Record):
    """A folder's content.

    Attributes:
        digest: `sha512-` and the hash in Base64.
        files: Relative path, as raw bytes with `/`, -> content; exactly the files that
            the hash covers.
        folders: The same kind of paths of exactly the folders that the hash covers,
            sorted. A folder of a cache that holds a file which counts is not among
            them: it comes with the path of the file.
    """

    digest: str
    files: Mapping[bytes, bytes] = attrs.field(repr=False)
    folders: tuple[bytes, ...] = attrs.field(repr=False)


def read_bundle(
    path: str | bytes, *, dir_fd: int | None = None, follow: bool = True
) -> Bundle | FileFault:
    """Read a folder whole and hash it.

    The hash runs over an 8-byte count of entries, then each entry sorted by the raw
    bytes of its path: for a folder the byte 2, a 4-byte length and the path; for a file
    the byte 1, a 4-byte length, the path, an 8-byte length and the content. Numbers are
    big-endian. What interpreters leave behind does not count: folders named
    `__pycache__` or `.pytest_cache` have no entry of their own, and bytecode directly
    inside a `__pycache__` has none either.

    Args:
        path: The folder, relative to `dir_fd` when that is given.
        dir_fd: Descriptor of another folder.
        follow: Whether the folder itself may be a link.

    Returns:
        The content, or a fault: a link or special file anywhere inside, more than
        `MAX_ENTRIES` entries or `MAX_BUNDLE_BYTES`, deeper than `MAX_DEPTH`, or
        anything unreadable.
    """
    fd = open_folder(path, dir_fd=dir_fd, follow=follow)
    if isinstance(fd, FileFault):
        return fd
    walk = _Walk()
    name = path if isinstance(path, bytes) else os.fsencode(path)
    try:
        fault = walk.folder(fd, b"", name.rstrip(b"/").rpartition(b"/")[2], 1)
    except OSError as error:
        fault = fault_of(error)
    finally:
        os.close(fd)
    if fault:
        return fault
    return Bundle(
        digest=walk.digest(),
        files=MappingProxyType(walk.files),
        folders=tuple(sorted(walk.folders)),
    )


class _Walk:
    """What one pass over a folder has gathered so far."""

    def __init__(self) -> None:
        self.files: dict[bytes, bytes] = {}
        self.folders: list[bytes] = []
        self._seen = 0
        self._bytes_left = MAX_BUNDLE_BYTES

    def folder(
        self, fd: int, prefix: bytes, name: bytes, depth: int
    ) -> FileFault | None:
        """Take in a folder; `prefix` is its path with a final slash, or empty."""
        if depth > MAX_DEPTH:
            return FileFault("too-many", f"folders nested deeper than {MAX_DEPTH}")
        listing = list_folder(fd, MAX_ENTRIES - self._seen)
        if isinstance(listing, FileFault):
            return listing
        if not listing.complete:
            return FileFault("too-many", f"more than {MAX_ENTRIES:,} entries")
        self._seen += len(listing.entries)
        for entry in listing.entries:
            child = os.fsencode(entry.name)
            if entry.is_symlink():
                return FileFault("link", "holds a symbolic link")
            if entry.is_dir(follow_symlinks=False):
                fault = self._subfolder(fd, prefix + child, child, depth)
            else:
                counts = not (name == _BYTECODE_FOLDER and child.endswith(_BYTECODE))
                fault = self._file(fd, prefix + child, child, counts=counts)
            if fault:
                return fault
        return None

    def _subfolder(
        self, parent: int, path: bytes, name: bytes, depth: int
    ) -> FileFault | None:
        if name not in _CACHE_FOLDERS:
            self.folders.append(path)
        fd = open_folder(name, dir_fd=parent, follow=False)
        if isinstance(fd, FileFault):
            return fd
        try:
            return self.folder(fd, path + b"/", name, depth + 1)
        finally:
            os.close(fd)

    def _file(
        self, parent: int, path: bytes, name: bytes, *, counts: bool
    ) -> FileFault | None:
        content = read_file(name, self._bytes_left, dir_fd=parent, follow=False)
        if isinstance(content, FileFault):
            if content.code == "too-large":
                reason = f"files of more than {MAX_BUNDLE_BYTES:,} bytes together"
                return FileFault("too-large", reason)
            return content
        self._bytes_left -= len(content)
        if counts:
            self.files[path] = content
        return None

    def digest(self) -> str:
        """Return the hash of everything taken in."""
        entries: list[tuple[bytes, bytes | None]] = [
            *((path, None) for path in self.folders),
            *self.files.items(),
        ]
        entries.sort(key=_path)
        sha = hashlib.sha512(len(entries).to_bytes(8, "big"))
        for path, content in entries:
            sha.update(_FOLDER_MARK if content is None else _FILE_MARK)
            sha.update(len(path).to_bytes(4, "big"))
            sha.update(path)
            if content is not None:
                sha.update(len(content).to_bytes(8, "big"))
                sha.update(content)
        return "sha512-" + binascii.b2a_base64(sha.digest(), newline=False).decode()


def _path(entry: tuple[bytes, bytes | None]) -> bytes:
    return entry[0]
