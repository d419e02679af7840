"""A folder on this machine, copied; or the bytes of an archive that lies there."""

from __future__ import annotations

import os
import stat

from msdcomp.edge.files import (
    FileFault,
    list_folder,
    open_folder,
    read_file,
)
from msdcomp.edge.sources.network import Deadline
from msdcomp.edge.sources.options import MAX_ARCHIVE_BYTES, MAX_DEPTH, MAX_ENTRIES
from msdcomp.edge.sources.staging import Refused, Staging, is_left_out, split_name

__all__ = ["copy_folder", "local_archive"]


def local_archive(path: str) -> bytes | None:
    """Return the bytes of an archive, or None where there is a folder.

    Raises:
        Refused: There is neither.
    """
    data = read_file(path, MAX_ARCHIVE_BYTES, follow=False)
    if not isinstance(data, FileFault):
        return data
    if data.code == "not-regular":
        fd = open_folder(path, follow=False)
        if not isinstance(fd, FileFault):
            os.close(fd)
            return None
    raise Refused.file(data, path)


def copy_folder(path: str, staging: Staging, deadline: Deadline) -> None:
    """Copy a folder without `.git`.

    Raises:
        Refused: It holds a link, a special file, or the staging folder itself.
        OSError: The disk would not do.
    """
    fd = open_folder(path, follow=False)
    if isinstance(fd, FileFault):
        raise Refused.file(fd, path)
    try:
        _copy(fd, [], staging, deadline)
    finally:
        os.close(fd)


def _copy(fd: int, above: list[str], staging: Staging, deadline: Deadline) -> None:
    here = os.fstat(fd)
    if (here.st_dev, here.st_ino) == staging.identity:
        raise Refused(
            "holds-target", "the folder holds the one that it would be installed to"
        )
    if len(above) > MAX_DEPTH:
        raise Refused("too-many", f"folders nested deeper than {MAX_DEPTH}")
    listing = list_folder(fd, MAX_ENTRIES)
    if isinstance(listing, FileFault):
        raise Refused.file(listing, "/".join(above))
    if not listing.complete:
        raise Refused("too-many", f"more than {MAX_ENTRIES:,} files and folders")
    for entry in listing.entries:
        if not deadline.left():
            raise Refused.of(deadline.fault())
        parts = [*above, entry.name]
        shown = "/".join(parts)
        if is_left_out(parts):
            continue
        # The rules for names in archives: whoever reads the bundle next is the same.
        split_name(shown)
        found = entry.stat(follow_symlinks=False)
        if stat.S_ISLNK(found.st_mode):
            raise Refused("link", f"{shown}: a symbolic link", "copy what it leads to")
        if stat.S_ISDIR(found.st_mode):
            staging.add_folder(parts)
            below = open_folder(entry.name, dir_fd=fd, follow=False)
            if isinstance(below, FileFault):
                raise Refused.file(below, shown)
            try:
                _copy(below, parts, staging, deadline)
            finally:
                os.close(below)
            continue
        staging.expect(found.st_size)
        data = read_file(entry.name, staging.bytes_left, dir_fd=fd, follow=False)
        if isinstance(data, FileFault):
            raise Refused.file(data, shown)
        staging.add_file(parts, [data], executable=bool(found.st_mode & 0o100))
