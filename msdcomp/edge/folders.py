"""Folders opened one inside another, where a link on the way would lead astray.

Source: docs/explanation/edges.md, "Reading untrusted files".
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Iterable

__all__ = ["open_below", "open_inside"]

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def open_inside(folder: int, name: str, *, make: bool = True) -> int:
    """Return a descriptor of a folder inside another one.

    Args:
        folder: Descriptor of the outer folder; stays open.
        name: One component.
        make: Whether to make it when it is missing.

    Raises:
        OSError: It cannot be opened; ELOOP when it is a link.
    """
    if make:
        with contextlib.suppress(FileExistsError):
            os.mkdir(name, dir_fd=folder)
    try:
        return os.open(name, _FOLDER, dir_fd=folder)
    except NotADirectoryError:
        # What Linux says of a link, too.
        if stat.S_ISLNK(os.lstat(name, dir_fd=folder).st_mode):
            raise OSError(errno.ELOOP, "") from None
        raise


def open_below(folder: int, names: Iterable[str], *, make: bool = True) -> int:
    """Return a descriptor of a folder some levels below another, which is closed.

    Raises:
        OSError: As `open_inside`; the outer descriptor is closed then, too.
    """
    for name in names:
        try:
            inner = open_inside(folder, name, make=make)
        finally:
            os.close(folder)
        folder = inner
    return folder
