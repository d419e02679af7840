"""The cache folder in the user's home: which files are trusted, and how they are made.

Everything here is allowed to fail. What cannot be read is as if it were not there, what
cannot be written is not written, and nobody is told: a cache only saves time.
Source: docs/reference/cache.md.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import re
import stat
import struct
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Self, TypeAlias

from msdcomp._version import __version__
from msdcomp.edge.roots import find_project
from msdcomp.scope import Scope

if TYPE_CHECKING:
    from msdcomp.edge.roots import Places

__all__ = [
    "COMPOSITION",
    "FIRST_PARTY",
    "FORMAT",
    "MAX_BYTES",
    "SCAN",
    "CacheFile",
    "CacheFolder",
    "Data",
    "find_folder",
    "fingerprint",
]

#: Format of the files; a reader knows exactly one.
FORMAT = 1

#: Largest file that is written or read, in bytes.
MAX_BYTES = 512 * 1024 * 1024

#: Kinds of file: the first word of their names.
FIRST_PARTY, SCAN, COMPOSITION = "first-party", "scan", "composition"

#: Most files of each kind, and most bytes of one kind together.
_KEPT = {FIRST_PARTY: 4, SCAN: 4, COMPOSITION: 16}
_KEPT_BYTES = MAX_BYTES

_OWN_NAME = re.compile(
    rf"(?P<kind>{'|'.join(_KEPT)})-[\w.+-]+\.bin(?P<part>\.[0-9a-f-]+\.tmp)?"
)

#: How old what an interrupted writer left must be before it is removed, in seconds.
_LEFTOVER_S = 3600

_MAGIC = b"msdcache"
_HEAD = struct.Struct(">8sH16sB")
_SECTION = struct.Struct(">Q32s")

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_READ = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_NOFOLLOW | os.O_CLOEXEC
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC

#: A section on its way to a file.
Data: TypeAlias = "bytes | memoryview"


@functools.cache
def fingerprint() -> bytes:
    """Return a digest of the code that makes what is cached.

    It covers the files of this package, so that a checkout that is being worked on
    never reads what older code has made, and the folders packages are installed in,
    since a version range is decided by one of them. Taken once: the code of a process
    is the one it has started with.
    """
    found: list[object] = [FORMAT, __version__, sys.version_info[:3]]
    # A module of its own for paths would be imported for this alone.
    package = os.path.dirname(os.path.dirname(__file__))  # noqa: PTH120
    found.extend(_files(package, ""))
    for folder in sys.path:
        if folder.endswith(("site-packages", "dist-packages")):
            with contextlib.suppress(OSError, ValueError):
                # Installing or removing anything changes it.
                found.append((folder, os.stat(folder).st_mtime_ns))  # noqa: PTH116
    return hashlib.sha256(repr(found).encode()).digest()[:16]


def _files(folder: str, prefix: str) -> list[tuple[str, int, int]]:
    found = []
    with os.scandir(folder) as entries:
        for entry in sorted(entries, key=lambda entry: entry.name):
            name = f"{prefix}{entry.name}"
            if entry.is_dir():
                if entry.name != "__pycache__":
                    found += _files(entry.path, f"{name}/")
            elif not entry.name.endswith(".pyc"):
                held = entry.stat()
                found.append((name, held.st_size, held.st_mtime_ns))
    return found


def find_folder(places: Places) -> CacheFolder | None:
    """Return the cache of a home, or None where none may be used.

    Never in a project: a home that lies inside of one, or is one, has no cache, and
    neither has one whose `.msd` is one.
    """
    home = places.home
    if home is None or not places.roots:
        return None
    if places.roots[0].scope is not Scope.GLOBAL:
        return None
    try:
        # Merely looking makes no such folder in a home that has none.
        above = os.open(f"{home}/.msd", _FOLDER)
    except (OSError, ValueError):
        return None
    _, marked = find_project(f"{home}/.msd", None)
    if marked or not _has_fingerprint():
        os.close(above)
        return None
    return CacheFolder(above)


def _has_fingerprint() -> bool:
    """Tell whether the package lies in files that can be looked at."""
    try:
        fingerprint()
    except OSError:
        return False
    return True


class CacheFile:
    """A file of the cache that is open; every section is checked when it is read."""

    def __init__(self, fd: int, sections: Sequence[tuple[int, int, bytes]]) -> None:
        """Take an open file over; `sections` are offset, length and digest."""
        self._fd = fd
        self._sections = sections

    def __len__(self) -> int:
        """Return the number of sections."""
        return len(self._sections)

    def section(self, index: int) -> bytes | None:
        """Return a section, or None when it is damaged."""
        offset, length, digest = self._sections[index]
        try:
            data = _read(self._fd, offset, length)
        except (OSError, MemoryError):
            return None
        return data if hashlib.sha256(data).digest() == digest else None

    def close(self) -> None:
        """Let go of the file."""
        os.close(self._fd)


def _read(fd: int, offset: int, length: int) -> bytes:
    data = os.pread(fd, length, offset)
    if len(data) == length:
        return data
    chunks = [data]
    done = len(data)
    while done < length and (chunk := os.pread(fd, length - done, offset + done)):
        chunks.append(chunk)
        done += len(chunk)
    return b"".join(chunks)


class CacheFolder:
    """`<home>/.msd/cache`, which is made when something is first written."""

    def __init__(self, above: int) -> None:
        """Take over the descriptor of `<home>/.msd`."""
        self._above = above
        self._fd: int | None = None

    def close(self) -> None:
        """Let go of the folder."""
        os.close(self._above)
        if self._fd is not None:
            os.close(self._fd)

    def __enter__(self) -> Self:
        """Use it for a while."""
        return self

    def __exit__(self, *_: object) -> None:
        """Let go of it."""
        self.close()

    def _open(self) -> int:
        """Return the folder's descriptor; raises `OSError` for one that is not ours."""
        if self._fd is None:
            fd = os.open("cache", _FOLDER, dir_fd=self._above)
            if not _is_own(os.fstat(fd)):
                os.close(fd)
                raise PermissionError
            self._fd = fd
        return self._fd

    @contextlib.contextmanager
    def reading(self, kind: str, name: str) -> Iterator[CacheFile | None]:
        """Open a file for as long as it is used; None when there is no usable one."""
        file = self.open(kind, name)
        try:
            yield file
        finally:
            if file is not None:
                file.close()

    def open(self, kind: str, name: str) -> CacheFile | None:
        """Return a file, which the caller closes; None when there is no usable one."""
        try:
            fd = os.open(_name(kind, name), _READ, dir_fd=self._open())
        except OSError:
            return None
        try:
            sections = _sections(fd)
        except (OSError, struct.error):
            sections = None
        if sections is None:
            os.close(fd)
            return None
        return CacheFile(fd, sections)

    def write(self, kind: str, name: str, *sections: Data) -> None:
        """Replace a file, so that a reader sees the old one, or the new one whole.

        Of two writers the last one wins. It need not survive a loss of power: a file
        that was not written whole fails its check.
        """
        head = _HEAD.pack(_MAGIC, FORMAT, fingerprint(), len(sections))
        table = [_SECTION.pack(len(s), hashlib.sha256(s).digest()) for s in sections]
        parts = [head, *table, *sections]
        if sum(map(len, parts)) > MAX_BYTES:
            return
        with contextlib.suppress(OSError):
            with contextlib.suppress(FileExistsError):
                os.mkdir("cache", 0o700, dir_fd=self._above)
            folder = self._open()
            own = _name(kind, name)
            temporary = f"{own}.{os.getpid():x}-{os.urandom(4).hex()}.tmp"
            try:
                _create(folder, temporary, parts)
                os.replace(temporary, own, src_dir_fd=folder, dst_dir_fd=folder)
            except OSError:
                with contextlib.suppress(OSError):
                    os.unlink(temporary, dir_fd=folder)
                return
            _tidy(folder, kind)


def _name(kind: str, name: str) -> str:
    """Return a file name: each version of Python and of this package has its own."""
    tag = sys.implementation.cache_tag or "python"
    return "-".join(filter(None, (kind, __version__, tag, name))) + ".bin"


def _is_own(held: os.stat_result) -> bool:
    """Tell whether nobody but the user can have written something."""
    return held.st_uid == os.geteuid() and not held.st_mode & 0o022


def _sections(fd: int) -> list[tuple[int, int, bytes]] | None:
    """Return offset, length and digest of each section, if the file can be used."""
    held = os.fstat(fd)
    if not stat.S_ISREG(held.st_mode) or not _is_own(held) or held.st_size > MAX_BYTES:
        return None
    magic, number, made_by, count = _HEAD.unpack(os.pread(fd, _HEAD.size, 0))
    if (magic, number, made_by) != (_MAGIC, FORMAT, fingerprint()):
        return None
    table = os.pread(fd, _SECTION.size * count, _HEAD.size)
    offset = _HEAD.size + _SECTION.size * count
    found = []
    for length, digest in _SECTION.iter_unpack(table):
        found.append((offset, length, digest))
        offset += length
    return found if len(found) == count and offset == held.st_size else None


def _create(folder: int, name: str, parts: Sequence[Data]) -> None:
    fd = os.open(name, _CREATE, 0o600, dir_fd=folder)
    with os.fdopen(fd, "wb", buffering=0) as stream:
        for part in parts:
            rest = memoryview(part)
            while rest:
                rest = rest[stream.write(rest) :]


def _tidy(folder: int, kind: str) -> None:
    """Remove the oldest files of a kind, and what interrupted writers have left."""
    held = []
    newest = 0.0
    with os.scandir(folder) as entries:
        for entry in entries:
            own = _OWN_NAME.fullmatch(entry.name)
            if own is None:
                continue
            found = entry.stat(follow_symlinks=False)
            newest = max(newest, found.st_mtime)
            if own["part"] or own["kind"] == kind:
                part = own["part"] is not None
                held.append((found.st_mtime, found.st_size, entry.name, part))
    kept = size = 0
    for written, length, name, is_part in sorted(held, reverse=True):
        if is_part:
            gone = written < newest - _LEFTOVER_S
        else:
            kept += 1
            size += length
            gone = kept > 1 and (kept > _KEPT[kind] or size > _KEPT_BYTES)
        if gone:
            os.unlink(name, dir_fd=folder)
