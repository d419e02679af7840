"""Bounded reads that never block and never raise for what a file is.

A folder of overlays is written by strangers: a manifest may be a FIFO nobody writes
to, a link to an endless device, gigabytes long, or gone between listing and opening.
Each of these is an answer (`FileFault`), not an accident.

Every read opens first and asks afterwards, of the descriptor: what a name stood for a
moment ago proves nothing about what has been opened.
Source: docs/explanation/edges.md, "Reading untrusted files".
"""

from __future__ import annotations

import contextlib
import errno
import heapq
import itertools
import os
import stat
from pathlib import Path

import attrs

from msdcomp.records import Record

__all__ = [
    "MAX_ENTRIES",
    "MAX_FILE_BYTES",
    "FileFault",
    "Listing",
    "fault_of",
    "list_folder",
    "open_folder",
    "read_confined",
    "read_file",
    "relative_parts",
    "rewrite_atomic",
    "write_atomic",
]

#: Longest manifest, fragment, ledger or consent store, in bytes.
MAX_FILE_BYTES = 8 * 1024 * 1024

#: Most entries of one folder that are looked at.
MAX_ENTRIES = 100_000

# O_NONBLOCK: a FIFO opens at once and is then refused for what it is.
# O_NOCTTY: a terminal does not become ours by being named like a manifest.
_FILE = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_FOLDER = os.O_RDONLY | os.O_NONBLOCK | os.O_DIRECTORY | os.O_CLOEXEC
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW

#: What systems answer when O_NOFOLLOW meets a link; with O_DIRECTORY, Linux says
#: ENOTDIR.
_MAYBE_LINK = frozenset({errno.ELOOP, errno.EMLINK, errno.ENOTDIR})


@attrs.frozen(eq=False, repr=False)
class FileFault(Record):
    """Why a file or folder could not be used.

    Attributes:
        code: `missing`, `not-regular`, `not-a-folder`, `too-large`, `too-many`,
            `permission`, `link`, `escapes`, `changed`, `unreadable` or `unwritable`;
            of a store also `damaged`, `busy` and what its page says.
        reason: A clause for a person, the same on every machine; names no path.
    """

    code: str
    reason: str


_NOT_REGULAR = FileFault("not-regular", "not a regular file")
_ESCAPES = FileFault("escapes", "leads out of the folder")
_LINK = FileFault("link", "a symbolic link that cannot be followed")
_DENIED = FileFault("permission", "permission denied")
_MISSING = FileFault("missing", "no such file")

_FAULTS = {
    errno.ENOENT: _MISSING,
    errno.ENOTDIR: _MISSING,
    errno.EISDIR: _NOT_REGULAR,
    errno.ENXIO: _NOT_REGULAR,  # a socket, or a device nothing stands behind
    errno.ENODEV: _NOT_REGULAR,
    errno.EOPNOTSUPP: _NOT_REGULAR,
    errno.EACCES: _DENIED,
    errno.EPERM: _DENIED,
    errno.ELOOP: _LINK,
    errno.EMLINK: _LINK,
    errno.ENAMETOOLONG: FileFault("unreadable", "the path is too long"),
}


def fault_of(error: OSError | ValueError) -> FileFault:
    """Return the fault that an exception of the operating system stands for.

    A `ValueError` is a path no file can have: it holds a NUL or a lone surrogate.
    The wording is not the system's own, which depends on the locale.
    """
    if isinstance(error, OSError):
        number = error.errno or 0
        name = errno.errorcode.get(number, "unknown error")
        return _FAULTS.get(number) or FileFault(
            "unreadable", f"cannot be read ({name})"
        )
    return FileFault("unreadable", "not a possible file name")


def read_file(
    path: str | bytes,
    limit: int = MAX_FILE_BYTES,
    *,
    dir_fd: int | None = None,
    follow: bool = True,
) -> bytes | FileFault:
    """Return the content of a regular file of at most `limit` bytes.

    Args:
        path: The file, relative to `dir_fd` when that is given.
        limit: Most bytes accepted; a longer file is refused, never cut.
        dir_fd: Descriptor of a folder.
        follow: Whether the last component may be a link (to a regular file).
    """
    flags = _FILE if follow else _FILE | os.O_NOFOLLOW
    try:
        fd = os.open(path, flags, dir_fd=dir_fd)
    except (OSError, ValueError) as error:
        return fault_of(error)
    return _read_and_close(fd, limit)


def _read_and_close(fd: int, limit: int) -> bytes | FileFault:
    try:
        found = os.fstat(fd)
        if not stat.S_ISREG(found.st_mode):
            return _NOT_REGULAR
        if found.st_size > limit:
            return _too_large(limit)
        # One byte more than expected: a short answer then is the end of the file.
        data = os.read(fd, found.st_size + 1)
        if len(data) != found.st_size or not data:
            data = _read_rest(fd, data, limit)
        return data if len(data) <= limit else _too_large(limit)
    except OSError as error:
        return fault_of(error)
    finally:
        os.close(fd)


def _read_rest(fd: int, start: bytes, limit: int) -> bytes:
    """Read on to the end, or just past the limit.

    Reached when a file changes its length while it is read, and for the empty-looking
    regular files of /proc.
    """
    chunks = [start]
    total = len(start)
    while total <= limit and (chunk := os.read(fd, min(65536, limit + 1 - total))):
        chunks.append(chunk)
        total += len(chunk)
    return b"".join(chunks)


def _too_large(limit: int) -> FileFault:
    return FileFault("too-large", f"larger than {limit:,} bytes")


def open_folder(
    path: str | bytes, *, dir_fd: int | None = None, follow: bool = True
) -> int | FileFault:
    """Return a descriptor of a folder; the caller closes it.

    Args:
        path: The folder, relative to `dir_fd` when that is given.
        dir_fd: Descriptor of another folder.
        follow: Whether the last component may be a link (to a folder).
    """
    flags = _FOLDER if follow else _FOLDER | os.O_NOFOLLOW
    try:
        return os.open(path, flags, dir_fd=dir_fd)
    except (OSError, ValueError) as error:
        if isinstance(error, OSError) and error.errno == errno.ENOTDIR:
            return FileFault("not-a-folder", "not a folder")
        return fault_of(error)


@attrs.frozen(eq=False, repr=False)
class Listing(Record):
    """The entries of a folder by code point of their names, unless there are more."""

    entries: tuple[os.DirEntry[str], ...]
    complete: bool = True


def list_folder(fd: int, limit: int = MAX_ENTRIES) -> Listing | FileFault:
    """Return the entries of an open folder in an order no file system decides.

    Args:
        fd: Descriptor of the folder; stays open, and must while entries are used.
        limit: Most entries returned: those with the smallest names, so that the cut
            does not depend on the order of the folder either.
    """
    try:
        with os.scandir(fd) as found:
            entries = list(itertools.islice(found, limit + 1))
            if len(entries) <= limit:
                return Listing(tuple(sorted(entries, key=_name)))
            rest = itertools.chain(entries, found)
            return Listing(
                tuple(heapq.nsmallest(limit, rest, key=_name)), complete=False
            )
    except OSError as error:
        return fault_of(error)


def _name(entry: os.DirEntry[str]) -> str:
    return entry.name


def read_confined(
    folder_fd: int, folder: str, path: str, limit: int = MAX_FILE_BYTES
) -> bytes | FileFault:
    """Return the content of a file that lies physically inside a folder.

    Links are allowed as long as they stay inside. The check cannot be outrun: whatever
    a link is resolved to is then opened component by component from the descriptor of
    the folder, following none.

    Args:
        folder_fd: Descriptor of the folder.
        folder: Path of the same folder.
        path: The file, relative to the folder, with `/` between components.
        limit: Most bytes accepted.
    """
    parts = relative_parts(path)
    if isinstance(parts, FileFault):
        return parts
    fd = _open_beneath(folder_fd, parts)
    if isinstance(fd, OSError) and fd.errno in _MAYBE_LINK:
        try:
            real = os.path.realpath(b"/".join((os.fsencode(folder), *parts)))
            root = os.path.realpath(os.fsencode(folder))
        except (OSError, ValueError) as error:
            return fault_of(error)
        if real != root and not real.startswith(root.rstrip(b"/") + b"/"):
            return _ESCAPES
        inside = [part for part in real[len(root) :].split(b"/") if part]
        fd = _open_beneath(folder_fd, inside)
    if isinstance(fd, OSError | ValueError):
        return fault_of(fd)
    return _read_and_close(fd, limit)


def relative_parts(path: str) -> list[bytes] | FileFault:
    """Return the components of a path below a folder, or why there are none.

    `.` and repeated slashes vanish, `..` and absolute paths escape. Always UTF-8, the
    encoding of manifests, whatever the locale makes of file names.
    """
    if path.startswith("/") or ".." in path.split("/"):
        return _ESCAPES
    if path.endswith("/"):
        return _NOT_REGULAR
    try:
        encoded = path.encode()
    except UnicodeEncodeError as error:
        return fault_of(error)
    parts = [part for part in encoded.split(b"/") if part not in {b"", b"."}]
    return parts or _NOT_REGULAR


def _open_beneath(folder_fd: int, parts: list[bytes]) -> int | OSError | ValueError:
    """Open a file below a folder without following a link in any component."""
    if not parts:
        return OSError(errno.EISDIR, "")
    current = folder_fd
    try:
        for part in parts[:-1]:
            below = os.open(part, _FOLDER | os.O_NOFOLLOW, dir_fd=current)
            if current != folder_fd:
                os.close(current)
            current = below
        return os.open(parts[-1], _FILE | os.O_NOFOLLOW, dir_fd=current)
    except (OSError, ValueError) as error:
        return error
    finally:
        if current != folder_fd:
            os.close(current)


def rewrite_atomic(path: str, data: bytes) -> FileFault | None:
    """Replace a file as `write_atomic` does, and leave it its permissions.

    They may be there to hide it, or to share it. A file that is missing is made.
    """
    try:
        mode = stat.S_IMODE(os.lstat(path).st_mode)
    except (OSError, ValueError):
        return write_atomic(path, data)
    return write_atomic(path, data, mode, exact=True)


def write_atomic(
    path: str, data: bytes, mode: int = 0o666, *, exact: bool = False
) -> FileFault | None:
    """Replace a file so that readers see the old content or the new, never a part.

    The new content is on the disk before it takes the name. A link of that name is
    replaced by a file, not written through. Whoever is killed on the way leaves the old
    content, and perhaps a file named like this one with `.tmp.` and more behind it.

    Args:
        path: The file; missing folders are made.
        data: Its whole new content.
        mode: Its permissions, less those that the process takes from every new file.
        exact: Take none from them, where the system allows it.
    """
    folder = Path(path).parent
    temporary = f"{path}.tmp.{os.getpid()}-{os.urandom(4).hex()}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        fd = os.open(temporary, _CREATE, mode)
    except (OSError, ValueError) as error:
        return _write_fault(error)
    try:
        with os.fdopen(fd, "wb") as stream:
            stream.write(data)
            stream.flush()
            if exact:
                with contextlib.suppress(OSError):
                    os.fchmod(fd, mode)
            os.fsync(fd)
        Path(temporary).replace(path)
    except BaseException as error:  # an interrupted command leaves nothing, either
        with contextlib.suppress(OSError):
            Path(temporary).unlink()
        if isinstance(error, OSError):
            return _write_fault(error)
        raise
    _sync_folder(folder)
    return None


def _write_fault(error: OSError | ValueError) -> FileFault:
    """Return the fault of a write; what a thing is, is told as for a read."""
    if not isinstance(error, OSError):
        return fault_of(error)
    number = error.errno or 0
    # That something is missing would name the wrong thing: the file is being made.
    if number in _FAULTS and _FAULTS[number] is not _MISSING:
        return _FAULTS[number]
    name = errno.errorcode.get(number, "unknown error")
    return FileFault("unwritable", f"cannot be written ({name})")


def _sync_folder(folder: Path) -> None:
    """Ask for the rename itself to reach the disk; some file systems cannot."""
    try:
        fd = os.open(folder, _FOLDER)
    except OSError:
        return
    try:
        os.fsync(fd)
    except OSError:
        return
    finally:
        os.close(fd)
