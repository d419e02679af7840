"""The frozen first-party registry: built at release time, only read afterwards.

The manifests under `capabilities/` are the source; the snapshot holds them with their
fragment texts in one file of the package. They were checked when the snapshot was
made, so reading it structures them and builds the views, and checks nothing.
Source: docs/explanation/composition.md, "The frozen snapshot".
"""

from __future__ import annotations

import functools
import json
import os
from typing import TYPE_CHECKING

from pyrsistent import pmap

from msdcomp.canonical import canonical
from msdcomp.edge.files import FileFault, read_file
from msdcomp.registry import BuildFailure, Entry, Registry, build
from msdcomp.structuring import structure

if TYPE_CHECKING:
    from msdcomp.host import CentralConfig

__all__ = [
    "FORMAT",
    "load_snapshot",
    "read_central_config",
    "read_snapshot",
    "snapshot_path",
]

#: Format of the snapshot file; a reader knows exactly one.
FORMAT = 1

_DATA = os.path.dirname(os.path.dirname(__file__)) + "/data"  # noqa: PTH120


def snapshot_path() -> str:
    """Return the path of the packaged snapshot."""
    return f"{_DATA}/first-party.json"


@functools.cache
def read_snapshot() -> Registry:
    """Return the shipped registry; the same object for the life of the process.

    Raises:
        RuntimeError: The installed package is damaged. The first party is no
            candidate: without it there is nothing to fall back to.
    """
    return load_snapshot(_packaged("first-party.json"))


def load_snapshot(content: bytes) -> Registry:
    """Return the registry that a snapshot holds, without checking its manifests.

    Raises:
        RuntimeError: It is of another format, or no registry can be built of it.
    """
    document = json.loads(content)
    if document.get("format") != FORMAT:
        message = f"the snapshot has format {document.get('format')}, not {FORMAT}"
        raise RuntimeError(message)
    built = build(
        Entry(
            manifest=structure(
                item["manifest"], functools.partial(canonical, item["manifest"])
            ),
            fragments=pmap(item["fragments"]),
        )
        for item in document["capabilities"]
    )
    if isinstance(built, BuildFailure):
        message = f"the snapshot cannot be built: {sorted(built.culprits)}"
        raise RuntimeError(message)  # noqa: TRY004 -- no argument has a wrong type
    return built


@functools.cache
def read_central_config() -> CentralConfig:
    """Return the host's own configuration keys; the same object every time.

    Raises:
        RuntimeError: The installed package is damaged.
    """
    # Only where something is installed that could claim one of them.
    from msdcomp.host import CentralConfig  # noqa: PLC0415

    return CentralConfig.from_wire(json.loads(_packaged("central-config.json")))


def _packaged(name: str) -> bytes:
    content = read_file(f"{_DATA}/{name}")
    if isinstance(content, FileFault):
        message = f"the file {name} of the installed package: {content.reason}"
        raise RuntimeError(message)  # noqa: TRY004 -- no argument has a wrong type
    return content
