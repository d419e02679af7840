"""The folders of a site, held open, and the few things that are done to them.

Bundles are prepared and taken apart in a folder of their own beside what is installed,
on the same disk, so that a bundle takes its place and leaves it in one rename. All of
it goes through descriptors: in a project, no link on the way is followed.
Source: docs/explanation/lifecycle.md, "What a kill can leave".
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator

from msdcomp.edge.content_hash import Bundle, read_bundle
from msdcomp.edge.files import FileFault, fault_of, open_folder
from msdcomp.edge.folders import open_below, open_inside
from msdcomp.edge.lifecycle.site import Site
from msdcomp.edge.lifecycle.tree import Tree
from msdcomp.edge.roots import CAPABILITIES, STAGING_NAME

__all__ = ["Yard", "aside_name", "is_aside", "open_yard"]

_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC | os.O_NOFOLLOW

_HEX = frozenset("0123456789abcdef")

#: Most characters of an id in the name of what is set aside: a name has 255 bytes.
_LONGEST = 200


def aside_name(folder: str) -> str:
    """Return a new name for what is set aside of a folder."""
    return f"{folder[:_LONGEST]}.before-{os.urandom(8).hex()}"


def is_aside(name: str, folder: str) -> bool:
    """Tell whether a name is one that `aside_name` gives for a folder.

    A ledger may have been planted, and what it names is renamed and deleted.
    """
    start, _, end = name.rpartition(".before-")
    return start == folder[:_LONGEST] and len(end) == 16 and _HEX.issuperset(end)


class Yard:
    """Where a site keeps its bundles.

    Every method raises OSError when the disk will not have it; what it did by then
    stands. What has returned has reached the disk.
    """

    def __init__(self, installed: int, staging: int) -> None:
        """Work in folders that are open already.

        Args:
            installed: Descriptor of the overlay root.
            staging: Descriptor of the folder in it that is ours alone.
        """
        self._installed = installed
        self._staging = staging

    def read(self, folder: str) -> Bundle | FileFault:
        """Return what is installed under a name."""
        return read_bundle(folder, dir_fd=self._installed, follow=False)

    def holds(self, folder: str) -> bool:
        """Tell whether anything is installed under a name."""
        return _is_there(self._installed, folder)

    def holds_aside(self, name: str) -> bool:
        """Tell whether anything was set aside under a name."""
        return _is_there(self._staging, name)

    def stage(self, tree: Tree) -> str:
        """Write a bundle into the staging folder and return its name there."""
        name = f"new-{os.urandom(8).hex()}"
        os.mkdir(name, 0o700, dir_fd=self._staging)
        top = os.open(name, _FOLDER, dir_fd=self._staging)
        try:
            folders = tree.folders
            for path in folders:
                os.mkdir(path, 0o700, dir_fd=top)
            for path, content in tree.files.items():
                _write(top, path, content, executable=path in tree.executables)
            for path in (*reversed(folders), b"."):
                _settle(top, path)
        finally:
            os.close(top)
        os.fsync(self._staging)
        return name

    def promote(self, name: str, folder: str) -> None:
        """Give a staged or set-aside bundle the place of a folder, which is empty."""
        staging, installed = self._staging, self._installed
        os.rename(name, folder, src_dir_fd=staging, dst_dir_fd=installed)
        self._sync()

    def set_aside(self, folder: str, name: str) -> None:
        """Take a folder, or a link, out of its place."""
        staging, installed = self._staging, self._installed
        _make_movable(installed, folder)
        os.rename(folder, name, src_dir_fd=installed, dst_dir_fd=staging)
        self._sync()

    def _sync(self) -> None:
        os.fsync(self._installed)
        os.fsync(self._staging)

    def names(self) -> list[str]:
        """Return what is in the staging folder."""
        return sorted(os.listdir(self._staging))  # noqa: PTH208 - a descriptor

    def delete(self, name: str) -> None:
        """Delete something from the staging folder, whatever it is.

        Folders inside are moved to the top first: however deep somebody has nested
        them, no more than one is open at a time. No link is followed.
        """
        left = [name]
        while left:
            current = left.pop()
            if not _is_folder(self._staging, current):
                os.unlink(current, dir_fd=self._staging)
                continue
            left += self._emptied(current)
            os.rmdir(current, dir_fd=self._staging)

    def _emptied(self, name: str) -> list[str]:
        """Empty a folder of the staging folder; return the names of those in it."""
        try:
            fd = os.open(name, _FOLDER, dir_fd=self._staging)
        except PermissionError:
            # Whoever may rename it owns it, and may look into it, too.
            os.chmod(name, 0o700, dir_fd=self._staging)
            fd = os.open(name, _FOLDER, dir_fd=self._staging)
        moved = []
        try:
            os.fchmod(fd, 0o700)
            for entry in os.listdir(fd):  # noqa: PTH208 - a descriptor
                if not _is_folder(fd, entry):
                    os.unlink(entry, dir_fd=fd)
                    continue
                _make_movable(fd, entry)
                aside = f"gone-{os.urandom(8).hex()}"
                os.rename(entry, aside, src_dir_fd=fd, dst_dir_fd=self._staging)
                moved.append(aside)
        finally:
            os.close(fd)
        return moved

    def tidy(self) -> None:
        """Take the staging folder away, if nothing is in it."""
        with contextlib.suppress(OSError):
            os.rmdir(STAGING_NAME, dir_fd=self._installed)


def _is_there(fd: int, name: str) -> bool:
    try:
        os.lstat(name, dir_fd=fd)
    except FileNotFoundError:
        return False
    return True


def _is_folder(fd: int, name: str) -> bool:
    return stat.S_ISDIR(os.lstat(name, dir_fd=fd).st_mode)


def _make_movable(fd: int, name: str) -> None:
    """Let a folder be moved: its own entry for what is above it changes with that."""
    mode = os.lstat(name, dir_fd=fd).st_mode
    if stat.S_ISDIR(mode) and mode & stat.S_IRWXU != stat.S_IRWXU:
        os.chmod(name, stat.S_IMODE(mode) | stat.S_IRWXU, dir_fd=fd)


def _write(top: int, path: bytes, content: bytes, *, executable: bool) -> None:
    fd = os.open(path, _NEW_FILE, 0o600, dir_fd=top)
    with os.fdopen(fd, "wb") as stream:
        stream.write(content)
        stream.flush()
        # Whatever the umask: nothing else about a file counts.
        os.fchmod(fd, 0o755 if executable else 0o644)
        os.fsync(fd)


def _settle(top: int, path: bytes) -> None:
    fd = os.open(path, _FOLDER, dir_fd=top)
    try:
        os.fchmod(fd, 0o755)
        os.fsync(fd)
    finally:
        os.close(fd)


@contextlib.contextmanager
def open_yard(site: Site) -> Iterator[Yard | FileFault]:
    """Open the folders of a site, making what is missing.

    The caller holds the lock of the site. A staging folder that is empty in the end is
    taken away.
    """
    try:
        installed = _open_installed(site)
    except OSError as error:
        yield fault_of(error)
        return
    try:
        staging = open_inside(installed, STAGING_NAME)
    except OSError as error:
        os.close(installed)
        yield fault_of(error)
        return
    yard = Yard(installed, staging)
    try:
        yield yard
    finally:
        yard.tidy()
        os.close(staging)
        os.close(installed)


def _open_installed(site: Site) -> int:
    if site.is_own:
        os.makedirs(site.root.folder, exist_ok=True)  # noqa: PTH103 - text
        return os.open(site.root.folder, _FOLDER & ~os.O_NOFOLLOW)
    top = open_folder(site.root.ledger_root)
    if isinstance(top, FileFault):
        raise OSError(top.reason)
    return open_below(top, CAPABILITIES.split("/"))
