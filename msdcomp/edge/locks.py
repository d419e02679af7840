"""Locks between commands: of the kernel, waited for, never in the way of the dead.

A lock is on an open file and not the existence of one. The kernel lets go of it when
its holder ends, however it ends, so nobody has to judge whether a holder is still
alive. Its last act is to delete the file, so nothing of it shows in a repository; one
that a killed command has left, empty, means nothing.

A lock file of a project lies where a stranger may have put anything. It is opened
without following a link below the project and without waiting for what it is.
Source: docs/reference/ledger.md, "Locking".
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from msdcomp.edge.files import FileFault, fault_of, open_folder
from msdcomp.edge.folders import open_below
from msdcomp.edge.roots import CAPABILITIES, LOCK_NAME

__all__ = ["WAIT_S", "consent_lock", "lifecycle_lock", "locked"]

#: How long a command waits for another one to finish, in seconds.
WAIT_S = 10.0

#: Time between two tries, in seconds.
_PAUSE_S = 0.01

# Open for writing: some network file systems refuse an exclusive lock otherwise.
_LOCK = (
    os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
)

_LINK = FileFault("link", "the lock, or a folder above it, is a symbolic link")
_NOT_REGULAR = FileFault("not-regular", "the lock is not a regular file")


def lifecycle_lock(
    scope_root: str, wait_s: float = WAIT_S, *, own: bool = False
) -> contextlib.AbstractContextManager[FileFault | None]:
    """Lock what is installed in a scope: its folders and its ledger.

    Whoever needs the consent store as well takes this one first.

    Args:
        scope_root: Root of the scope.
        wait_s: Longest time to wait, in seconds.
        own: The root is the user's home, so links in it are the user's and followed.
    """
    path = f"{scope_root}/{CAPABILITIES}/{LOCK_NAME}"
    return locked(path, wait_s, below=None if own else scope_root)


def consent_lock(
    home: str, wait_s: float = WAIT_S
) -> contextlib.AbstractContextManager[FileFault | None]:
    """Lock the consent store of a home."""
    return locked(f"{home}/.msd/.consent.lock", wait_s)


@contextlib.contextmanager
def locked(
    path: str,
    wait_s: float = WAIT_S,
    *,
    below: str | None = None,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> Iterator[FileFault | None]:
    """Hold a lock, or know why not; the body runs either way and has to look.

    Threads exclude each other as processes do. Nothing is reentrant: a holder that
    asks again waits for itself, and is told so when the time is up.

    Args:
        path: The lock file; it and its folders are made when missing.
        wait_s: Longest time to wait, in seconds; 0 to try once.
        below: Folder above `path` under which no link is followed.
        clock: Tells the time, in seconds.
        sleep: Waits for a number of seconds.

    Yields:
        None while the lock is held, else a fault: `busy` when the time is up.
    """
    held = _acquire(path, wait_s, below, clock, sleep)
    if isinstance(held, FileFault):
        yield held
        return
    try:
        yield None
    finally:
        held.release()


class _Lock:
    """A lock file that is open, in a folder that is."""

    def __init__(self, folder: int, name: str, fd: int) -> None:
        self._folder = folder
        self._name = name
        self._fd = fd

    def try_it(self) -> bool | FileFault:
        """Lock the file; tell whether it is ours, or why it cannot be."""
        # Only who writes locks, and importing the package takes 30 ms.
        from filelock import lock_descriptor  # noqa: PLC0415

        try:
            found = os.fstat(self._fd)
            if not stat.S_ISREG(found.st_mode):
                return _NOT_REGULAR
            locked_ = lock_descriptor(self._fd, blocking=False)
            return locked_ and self._is_still(found)
        except OSError as error:
            name = errno.errorcode.get(error.errno or 0, "unknown error")
            return FileFault("unlockable", f"cannot be locked ({name})")

    def _is_still(self, found: os.stat_result) -> bool:
        """Tell whether the name still stands for the file that was locked."""
        try:
            return os.path.samestat(found, os.lstat(self._name, dir_fd=self._folder))
        except FileNotFoundError:
            return False

    def release(self) -> None:
        """Delete the file and let it go.

        Whoever waits for the deleted one sees that it has lost its name, and makes
        another. One with something in it was put there by a program that takes its
        existence for the lock; it is left to that.
        """
        from filelock import unlock_descriptor  # noqa: PLC0415

        with contextlib.suppress(OSError):
            found = os.fstat(self._fd)
            if found.st_size == 0 and self._is_still(found):
                os.unlink(self._name, dir_fd=self._folder)
        # Closing alone would leave the lock to a child that was forked meanwhile.
        with contextlib.suppress(OSError):
            unlock_descriptor(self._fd)
        self.close()

    def close(self) -> None:
        """Give the descriptors back."""
        os.close(self._fd)
        os.close(self._folder)


def _acquire(
    path: str,
    wait_s: float,
    below: str | None,
    clock: Callable[[], float],
    sleep: Callable[[float], None],
) -> _Lock | FileFault:
    end = clock() + wait_s
    while True:
        held = _try(path, below)
        if held is not None:
            return held
        left = end - clock()
        if left <= 0:
            waited = f", also after {wait_s:g} seconds" if wait_s > 0 else ""
            return FileFault("busy", f"in use by another command{waited}")
        sleep(min(_PAUSE_S, left))


def _try(path: str, below: str | None) -> _Lock | FileFault | None:
    """Return the lock that is held, a fault, or None when another holds it.

    The file is opened anew at each try, so whoever deletes it keeps nobody waiting for
    a lock that no longer means anything.
    """
    lock = _open(path, below)
    if isinstance(lock, FileFault):
        return lock
    found: bool | FileFault = False
    try:
        found = lock.try_it()
    finally:
        if found is not True:
            lock.close()
    if isinstance(found, FileFault):
        return found
    return lock if found else None


def _open(path: str, below: str | None) -> _Lock | FileFault:
    """Open the lock file, making what is missing."""
    parent, slash, name = path.rpartition("/")
    parent = parent or slash or "."
    top = parent if below is None else below
    try:
        Path(top).mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:
        return _unmade(error)
    folder = open_folder(top)
    if isinstance(folder, FileFault):
        return folder
    inside = [part for part in parent[len(top) :].split("/") if part]
    try:
        folder = open_below(folder, inside)
    except (OSError, ValueError) as error:
        return _unmade(error)
    try:
        return _Lock(folder, name, os.open(name, _LOCK, 0o666, dir_fd=folder))
    except (OSError, ValueError) as error:
        os.close(folder)
        return _unmade(error)


def _unmade(error: OSError | ValueError) -> FileFault:
    if not isinstance(error, OSError):
        return fault_of(error)
    if error.errno in {errno.ELOOP, errno.EMLINK}:
        return _LINK
    if error.errno in {errno.EISDIR, errno.ENXIO, errno.ENODEV}:
        return _NOT_REGULAR
    if error.errno in {errno.EACCES, errno.EPERM}:
        return fault_of(error)
    name = errno.errorcode.get(error.errno or 0, "unknown error")
    return FileFault("unwritable", f"the lock cannot be made ({name})")
