"""The files of a bundle in memory, as they are to be on the disk."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator, Mapping

import attrs

from msdcomp.edge.content_hash import Bundle
from msdcomp.records import Record

__all__ = ["Tree", "executables", "parents"]


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Tree(Record):
    """What is written when a bundle is installed: what its hash covers, and no more.

    Attributes:
        files: Relative path, as raw bytes with `/`, -> content.
        folders: Paths of all folders, each after those it lies in.
        executables: Paths of the files that may be run.
    """

    files: Mapping[bytes, bytes] = attrs.field(repr=False)
    folders: tuple[bytes, ...]
    executables: frozenset[bytes] = frozenset()

    @classmethod
    def of(cls, bundle: Bundle, runnable: Iterable[bytes] = ()) -> Tree:
        """Return the tree of a bundle; a folder it needs is there, hashed or not."""
        needed = {above for path in bundle.files for above in parents(path)}
        return cls(
            files=bundle.files,
            folders=tuple(sorted({*bundle.folders, *needed})),
            executables=frozenset(runnable).intersection(bundle.files),
        )


def parents(path: bytes) -> Iterator[bytes]:
    """Yield the folders that a path lies in, outermost first."""
    at = path.find(b"/")
    while at != -1:
        yield path[:at]
        at = path.find(b"/", at + 1)


def executables(folder: str, paths: Iterable[bytes]) -> frozenset[bytes]:
    """Return the files below a folder that their owner may run.

    Args:
        folder: A folder nobody else writes to.
        paths: Relative paths of regular files in it.
    """
    top = os.fsencode(folder)
    return frozenset(
        path
        for path in paths
        if os.lstat(b"/".join((top, path))).st_mode & stat.S_IXUSR
    )
