"""A source's bundle, fetched into a folder of the system's own and read into memory.

Nobody but us may look into that folder, and it is gone whatever happens.
Source: docs/explanation/lifecycle.md, "From a source to a parcel".
"""

from __future__ import annotations

import attrs

from msdcomp.edge.content_hash import Bundle, read_bundle
from msdcomp.edge.files import FileFault
from msdcomp.edge.lifecycle.tree import executables
from msdcomp.edge.sources import Fetched, Options, fetch
from msdcomp.edge.sources.scratch import scratch
from msdcomp.records import Record
from msdcomp.sourcefault import SourceFault
from msdcomp.sourcespec import SourceSpec

__all__ = ["Unpacked", "unpack"]


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Unpacked(Record):
    """What a source holds.

    Attributes:
        fetched: What was found out on the way.
        bundle: The content.
        runnable: Paths of the files that may be run.
    """

    fetched: Fetched
    bundle: Bundle = attrs.field(repr=False)
    runnable: frozenset[bytes] = frozenset()


def unpack(
    spec: SourceSpec,
    options: Options,
    *,
    integrity: str | None = None,
    version: str | None = None,
) -> Unpacked | SourceFault:
    """Return what an install would put in place: without `.git`, within its limits.

    Args:
        spec: The source.
        options: What a fetch is allowed.
        integrity: What the archive must hash to.
        version: One of those the source offers, to step down to it.
    """
    held = scratch("msd-")
    if isinstance(held, SourceFault):
        return held
    with held as folder:
        fetched = fetch(spec, folder, options, integrity=integrity, version=version)
        if isinstance(fetched, SourceFault):
            return fetched
        bundle = read_bundle(folder)
        if isinstance(bundle, FileFault):
            return SourceFault(f"bundle-{bundle.code}", f"the bundle: {bundle.reason}")
        runnable = executables(folder, bundle.files)
    return Unpacked(fetched=fetched, bundle=bundle, runnable=runnable)
