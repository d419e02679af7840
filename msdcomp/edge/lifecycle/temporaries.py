"""Temporary files of writes that were killed, beside the files that they were for.

Whoever looks for them holds the lock under which such a file is written, so what is
found belongs to nobody any more.
Source: docs/explanation/lifecycle.md, "What a kill can leave".
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
from collections.abc import Iterable, Iterator

from msdcomp.edge.files import FileFault, open_folder

__all__ = ["cleared", "temporaries"]

_TEMPORARY = re.compile(r"\.tmp\.[0-9]+-[0-9a-f]{8}")


def temporaries(root: str, files: Iterable[str]) -> tuple[str, ...]:
    """Return the temporary files beside some files, relative to their root, sorted.

    A file may be a link, and is then written where that ends.

    Args:
        root: A folder.
        files: Files that are written whole, relative to it. One that leads out of it is
            passed over: a ledger names some, and may have been planted.
    """
    top = os.path.realpath(root)
    inside = top.rstrip("/") + "/"
    places = {place for file in files for place in _places(top, file)}
    return tuple(
        sorted(
            f"{folder}/{name}"[len(inside) :]
            for folder, base in places
            if f"{folder}/".startswith(inside)
            for name in _beside(folder, base)
        )
    )


def _places(top: str, file: str) -> tuple[tuple[str, str], ...]:
    """Return the folder and the name of a file, and of what it is a link to."""
    path = f"{top}/{file}"
    folder, _, base = path.rpartition("/")
    try:
        real, _, end = os.path.realpath(path).rpartition("/")
        return (os.path.realpath(folder), base), (real, end)
    except (OSError, ValueError):  # not a possible file name
        return ()


def _beside(folder: str, base: str) -> Iterator[str]:
    fd = open_folder(folder, follow=False)
    if isinstance(fd, FileFault):
        return
    try:
        for name in os.listdir(fd):  # noqa: PTH208 - a descriptor
            if name.startswith(base) and _TEMPORARY.fullmatch(name[len(base) :]):
                yield name
    except OSError:
        return
    finally:
        os.close(fd)


def cleared(root: str, names: Iterable[str]) -> tuple[str, ...]:
    """Delete temporary files below a folder; return those that are gone now."""
    return tuple(name for name in names if _unlinked(f"{root}/{name}"))


def _unlinked(path: str) -> bool:
    """Delete a regular file; anything else of that name is not ours."""
    with contextlib.suppress(OSError):
        if stat.S_ISREG(os.lstat(path).st_mode):
            os.unlink(path)  # noqa: PTH108 - text
            return True
    return False
