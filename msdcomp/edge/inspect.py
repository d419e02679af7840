"""Reads manifests that somebody wants judged, wherever they lie.

Source: docs/reference/command-line.md, "msd validate".
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from msdcomp.candidate import Candidate
from msdcomp.edge.files import (
    FileFault,
    fault_of,
    open_folder,
    read_confined,
    read_file,
)
from msdcomp.edge.scan import MANIFEST_NAME, as_fragment, fragment_paths
from msdcomp.wire import decode

__all__ = ["find_manifests", "is_absent", "read_manifest"]


def is_absent(path: str) -> bool:
    """Tell whether nothing has that name; what cannot be looked at is no such thing."""
    return _look(path) == "missing"


def _look(path: str | Path) -> str | None:
    """Return why a name cannot be looked at, as the code of a fault, or None."""
    try:
        os.lstat(path)
    except (OSError, ValueError) as error:
        return fault_of(error).code
    return None


def find_manifests(path: str) -> Iterator[str]:
    """Yield the manifests that a path means, by code point.

    A folder with a manifest means that manifest, another folder every manifest below
    it; hidden folders other than `.msd` are left out, and links to folders are not
    followed. A folder that cannot be listed counts as one with a manifest, since it
    may have one. Anything else means itself.
    """
    if Path(path).name == MANIFEST_NAME or not os.path.isdir(path):  # noqa: PTH112 - Path raises
        yield path
        return
    own = Path(path) / MANIFEST_NAME
    if _look(own) is None:
        yield str(own)
        return
    closed: list[OSError] = []
    for folder, folders, files in os.walk(path, onerror=closed.append):
        yield from _drained(closed)
        folders[:] = sorted(
            name for name in folders if name == ".msd" or not name.startswith(".")
        )
        held = Path(folder) / MANIFEST_NAME
        if MANIFEST_NAME in files or MANIFEST_NAME in folders:
            # Fragments and scripts below a bundle are its own; no bundle nests there.
            folders.clear()
            yield str(held)
    yield from _drained(closed)


def _drained(closed: list[OSError]) -> Iterator[str]:
    """Yield, once, the manifests that folders may have which could not be listed."""
    for error in closed:
        yield str(Path(error.filename) / MANIFEST_NAME)
    closed.clear()


def read_manifest(path: str) -> Candidate:
    """Read one manifest and, where it lies in a bundle, the fragments it names.

    Only a file called `capability.json` is held to the name of its folder.

    Args:
        path: The file. Never read when it is not regular, so this never blocks.
    """
    file = Path(path)
    bundle = file.parent
    named = file.name == MANIFEST_NAME
    folder = bundle.absolute().name if named else None
    data = _read(path)
    shown = str(bundle) if named else path
    if isinstance(data, FileFault):
        return Candidate(folder=folder or "", path=shown, unreadable=data.reason)
    decoded = decode(data, folder, path)
    fragments = {}
    paths = fragment_paths(decoded.manifest) if named else ()
    fd = open_folder(str(bundle)) if paths else None
    if isinstance(fd, int):
        try:
            for name in paths:
                fragments[name] = as_fragment(read_confined(fd, str(bundle), name))
        finally:
            os.close(fd)
    return Candidate(
        folder=folder or "",
        path=shown,
        decoded=decoded,
        source=data,
        fragments=fragments,
    )


def _read(path: str) -> bytes | FileFault:
    try:
        mode = Path(path).stat().st_mode
    except (OSError, ValueError):
        return read_file(path)
    if stat.S_ISDIR(mode):
        return FileFault("not-regular", "a folder, not a file")
    return read_file(path)
