"""The staging folder: every file of a bundle, wherever from, is written through here.

The rules stand in one place, so an archive, a repository and a folder cannot differ in
what they may bring along. Everything is made below a descriptor of the staging folder,
component by component, new, and never through a link: whoever can write there cannot
lead a file astray.
Source: docs/reference/sources.md, "What a bundle may hold".
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import stat
import unicodedata
from collections.abc import Iterable
from typing import Self

from msdcomp.edge.files import FileFault, fault_of, list_folder, open_folder
from msdcomp.edge.sources.options import (
    MAX_DEPTH,
    MAX_ENTRIES,
    MAX_NAME_BYTES,
    MAX_PATH_BYTES,
    MAX_TOTAL_BYTES,
)
from msdcomp.safetext import safe, unsafe_characters
from msdcomp.sourcefault import SourceFault
from msdcomp.vocabulary import MANIFEST_NAME

__all__ = [
    "Refused",
    "Staging",
    "fault_in_system",
    "is_left_out",
    "split_name",
]

_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC | os.O_NOFOLLOW
_DRIVE = re.compile(r"[A-Za-z]:")


class Refused(Exception):  # noqa: N818  # it carries a fault, which is the error
    """Ends a fetch from deep inside; never leaves this package."""

    def __init__(self, code: str, reason: str, hint: str = "") -> None:
        """Make the fault that is carried."""
        super().__init__(reason)
        self.fault = SourceFault(code, reason, hint)

    @classmethod
    def of(cls, fault: SourceFault) -> Self:
        """Return the exception that carries a fault."""
        return cls(fault.code, fault.reason, fault.hint)

    @classmethod
    def file(cls, fault: FileFault, where: str) -> Self:
        """Return the exception for what a file is."""
        code = fault.code
        hint = ""
        if code == "link":
            return cls(code, f"{safe(where, 120)}: a symbolic link", "give its target")
        return cls(code, f"{safe(where, 120)}: {fault.reason}", hint)


def split_name(name: str) -> list[str]:
    """Return the components of a name in an archive or a repository.

    `.` and repeated slashes vanish.

    Raises:
        Refused: The name leads out of the bundle, or no file should have it.
    """
    shown = safe(name, 120)
    # A plain space is fine; all that cannot be seen is not.
    if unsafe_characters(name, lambda _: " ") != name:
        raise Refused("bad-name", f"{shown}: holds a control or invisible character")
    if name.startswith("/") or _DRIVE.match(name) or "\\" in name:
        raise Refused("escapes", f"{shown}: an absolute path or one of Windows")
    parts = [part for part in name.split("/") if part not in {"", "."}]
    if ".." in parts:
        raise Refused("escapes", f"{shown}: leads out of the bundle")
    if len(parts) > MAX_DEPTH:
        raise Refused("too-many", f"folders nested deeper than {MAX_DEPTH}")
    if any(len(part.encode()) > MAX_NAME_BYTES for part in parts):
        raise Refused("bad-name", f"{shown}: longer than {MAX_NAME_BYTES} bytes")
    if len(name.encode()) > MAX_PATH_BYTES:
        raise Refused("bad-name", f"{shown}: a path of over {MAX_PATH_BYTES:,} bytes")
    return parts


def is_left_out(parts: list[str]) -> bool:
    """Tell whether a path is no part of the bundle: `.git`, and what Finder adds."""
    return parts[0] == "__MACOSX" or any(part.lower() == ".git" for part in parts)


def _clash_key(name: str) -> str:
    """Return what two names share that some file system takes for one."""
    if name.isascii():
        return name.lower()
    folded = unicodedata.normalize("NFD", name).casefold()
    return unicodedata.normalize("NFC", folded)


class Staging:
    """An empty folder that is being filled, counted while it is."""

    def __init__(self, path: str) -> None:
        """Open the folder.

        Raises:
            Refused: It is no folder, or not empty.
        """
        fd = open_folder(path, follow=False)
        if isinstance(fd, FileFault):
            raise Refused.file(fd, path)
        listing = list_folder(fd, 1)
        if isinstance(listing, FileFault) or listing.entries:
            os.close(fd)
            raise Refused("not-empty", f"{safe(path, 120)}: not an empty folder")
        self.path = path
        self._fd = fd
        found = os.fstat(fd)
        self.identity = (found.st_dev, found.st_ino)
        #: What is there: the key of a path -> the path as it was first written, and
        #: whether it is a folder.
        self._known: dict[tuple[str, ...], tuple[tuple[str, ...], bool]] = {}
        self._bytes_left = MAX_TOTAL_BYTES

    @property
    def bytes_left(self) -> int:
        """How many bytes may still be written."""
        return self._bytes_left

    def close(self) -> None:
        """Give the descriptor back."""
        os.close(self._fd)

    def clear(self) -> None:
        """Remove all that was written, as far as the system lets us."""
        with contextlib.suppress(OSError):
            for name in os.listdir(self._fd):  # noqa: PTH208  # a descriptor
                self._remove(name)

    def _remove(self, name: str) -> None:
        found = os.stat(name, dir_fd=self._fd, follow_symlinks=False)
        if stat.S_ISDIR(found.st_mode):
            shutil.rmtree(name, dir_fd=self._fd, ignore_errors=True)
        else:
            os.unlink(name, dir_fd=self._fd)

    def expect(self, size: int) -> None:
        """Refuse early what says of itself that it is too large.

        Raises:
            Refused: It is.
        """
        if size > self._bytes_left:
            raise _too_large()

    def add_folder(self, parts: list[str]) -> None:
        """Make a folder, and those above it; one that is there is fine."""
        self._claim_folders(parts)
        os.close(self._open(parts))

    def add_file(
        self, parts: list[str], chunks: Iterable[bytes], *, executable: bool
    ) -> int:
        """Write a file and return its length.

        Raises:
            Refused: Its name clashes with another, or there is too much.
            OSError: The disk would not take it.
        """
        self._claim_folders(parts[:-1])
        self._claim(parts, tuple(map(_clash_key, parts)), folder=False)
        parent = self._open(parts[:-1])
        try:
            fd = os.open(parts[-1], _NEW_FILE, 0o600, dir_fd=parent)
        finally:
            os.close(parent)
        size = 0
        with os.fdopen(fd, "wb") as stream:
            for chunk in chunks:
                size += len(chunk)
                self._bytes_left -= len(chunk)
                if self._bytes_left < 0:
                    raise _too_large()
                stream.write(chunk)
            # Whatever the umask and the source say: nothing else about a file counts.
            os.fchmod(fd, 0o755 if executable else 0o644)
        return size

    def _claim_folders(self, parts: list[str]) -> None:
        keys = tuple(map(_clash_key, parts))
        # Known as it is written, so are all above it.
        if self._known.get(keys) == (tuple(parts), True):
            return
        for depth in range(1, len(parts) + 1):
            self._claim(parts[:depth], keys[:depth], folder=True)

    def _claim(self, parts: list[str], key: tuple[str, ...], *, folder: bool) -> None:
        found = self._known.get(key)
        if found is None:
            if len(self._known) >= MAX_ENTRIES:
                raise _too_many()
            self._known[key] = (tuple(parts), folder)
        elif found != (tuple(parts), folder) or not folder:
            raise Refused(
                "clash",
                f"{safe('/'.join(parts), 120)}: there twice, "
                "or a name that some systems take for another's",
            )

    def _open(self, parts: list[str]) -> int:
        """Return a descriptor of a folder, which is made if it is not there."""
        current = os.dup(self._fd)
        for part in parts:
            try:
                below = _folder_in(current, part)
            finally:
                os.close(current)
            current = below
        return current

    def settle(self) -> None:
        """Make the folder with the manifest the staging folder itself.

        An archive may wrap everything in one folder, whatever that is called.

        Raises:
            Refused: There is no manifest.
        """
        tops = {path[0]: folder for path, folder in self._known.values() if path[1:]}
        tops.update(
            {path[0]: folder for path, folder in self._known.values() if not path[1:]}
        )
        if tops.get(MANIFEST_NAME) is False:
            return
        top = next(iter(tops)) if len(tops) == 1 else ""
        manifest = self._known.get((_clash_key(top), MANIFEST_NAME))
        if manifest != ((top, MANIFEST_NAME), False):
            raise Refused(
                "no-manifest",
                f"no {MANIFEST_NAME}, neither at the top nor in a single folder there",
            )
        self._lift(top)

    def _lift(self, top: str) -> None:
        # Moved aside first: the folder may hold an entry of its own name.
        aside = f".lift-{os.urandom(8).hex()}"
        fd = self._fd
        os.rename(top, aside, src_dir_fd=fd, dst_dir_fd=fd)
        inner = os.open(aside, _FOLDER, dir_fd=fd)
        try:
            for name in os.listdir(inner):  # noqa: PTH208  # a descriptor
                os.rename(name, name, src_dir_fd=inner, dst_dir_fd=fd)
        finally:
            os.close(inner)
        os.rmdir(aside, dir_fd=fd)


def _folder_in(parent: int, name: str) -> int:
    with contextlib.suppress(FileNotFoundError):
        return os.open(name, _FOLDER, dir_fd=parent)
    os.mkdir(name, 0o700, dir_fd=parent)
    fd = os.open(name, _FOLDER, dir_fd=parent)
    os.fchmod(fd, 0o755)
    return fd


def _too_large() -> Refused:
    return Refused("too-large", f"files of more than {MAX_TOTAL_BYTES:,} bytes")


def _too_many() -> Refused:
    return Refused("too-many", f"more than {MAX_ENTRIES:,} files and folders")


def fault_in_system(error: OSError) -> SourceFault:
    """Return the fault of a disk or a connection that would not do."""
    return SourceFault("system", fault_of(error).reason)
