"""Stamps: whether a file is still the one that was read, told without reading it.

A stamp holds what a file system changes whenever somebody changes a file. The time of
the last change of the inode is part of it: a program can set the other times, not this
one. A stamp taken in the same tick of a clock as a change cannot tell the two apart, so
only a file that had been left alone for a while when it was read can be trusted by its
stamp; git guards its index in the same way.
Source: docs/reference/cache.md, "How it is checked".
"""

from __future__ import annotations

import functools
import operator
import os
import stat
import time
from collections.abc import Callable, Iterable
from typing import TypeAlias

__all__ = [
    "SETTLING_NS",
    "Stamp",
    "is_folder",
    "now_ns",
    "settled_file",
    "stamp_of",
    "stamps_of",
]

#: Device, inode, size, times of the last change of content and of inode, mode.
Stamp: TypeAlias = tuple[int, int, int, int, int, int]

#: How long a file must have been left alone before its stamp is trusted, in
#: nanoseconds: the coarsest clock of a file system in use ticks every two seconds.
SETTLING_NS = 2_000_000_000

_stamp: Callable[[os.stat_result], Stamp] = operator.attrgetter(
    "st_dev", "st_ino", "st_size", "st_mtime_ns", "st_ctime_ns", "st_mode"
)


def now_ns() -> int:
    """Return the time of day; a function so that a test can set the clock."""
    return time.time_ns()


def stamp_of(path: str, dir_fd: int) -> Stamp | None:
    """Return the stamp of what a path names, links not followed; None for nothing."""
    try:
        return _stamp(os.stat(path, dir_fd=dir_fd, follow_symlinks=False))
    except (OSError, ValueError):
        return None


def stamps_of(paths: Iterable[str], dir_fd: int) -> list[Stamp | None]:
    """Return the stamp of each path."""
    asked = functools.partial(os.stat, dir_fd=dir_fd, follow_symlinks=False)
    names = list(paths)
    try:
        # Nothing of this loop is run by the interpreter; it is most of what a load of
        # ten thousand unchanged overlays has to do.
        return list(map(_stamp, map(asked, names)))
    except (OSError, ValueError):
        return [stamp_of(name, dir_fd) for name in names]


def settled_file(stamp: Stamp | None, now: int) -> bool:
    """Tell whether a stamp is of a regular file that was left alone for a while."""
    if stamp is None or not stat.S_ISREG(stamp[5]):
        return False
    # A time in the future would never get old enough to tell anything.
    return max(stamp[3], stamp[4]) < now - SETTLING_NS


def is_folder(stamp: Stamp | None) -> bool:
    """Tell whether a stamp is of a folder, and not of a link to one."""
    return stamp is not None and stat.S_ISDIR(stamp[5])
