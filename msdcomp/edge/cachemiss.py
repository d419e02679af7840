"""Composes what the cache has no composition of, and lets it have one.

Source: docs/reference/cache.md.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import attrs

from msdcomp.candidate import Candidate
from msdcomp.collector import collector_paused
from msdcomp.edge.cache import file_name, key_of, write_composition
from msdcomp.edge.cachefolder import SCAN
from msdcomp.edge.cacheindex import Index, Seen, is_overlay
from msdcomp.edge.cachevalues import dump, dump_plain, load
from msdcomp.edge.firstparty import first_party
from msdcomp.edge.installed import compose_scan, host_for
from msdcomp.edge.ledger import parse_ledger
from msdcomp.edge.projectsight import ProjectReader
from msdcomp.edge.scan import Found, RootScan, Scan, fragment_paths

if TYPE_CHECKING:
    from msdcomp.composition import Composition
    from msdcomp.edge.cache import GlobalView, ProjectView, View
    from msdcomp.edge.cachefolder import CacheFolder
    from msdcomp.edge.ledger import Ledger
    from msdcomp.edge.progress import OnProgress
    from msdcomp.edge.roots import Places
    from msdcomp.making import OnSetFailure

__all__ = ["compose_view"]


def compose_view(
    view: View,
    folder: CacheFolder,
    places: Places,
    *,
    host_version: str,
    on_set_failure: OnSetFailure,
    on_progress: OnProgress | None = None,
) -> Composition:
    """Compose what the cache has no composition of, and let it have one.

    Only what has changed in the global root is read again; what lies in a project is
    always read, and the composition is kept under the digests of that reading.
    """
    with collector_paused():
        shared = _SharedRoot(view.shared, folder) if view.shared else None
        own = _OwnRoot(view.own, places) if view.own else None

        def entries() -> Iterator[Found]:
            if shared is not None:
                yield from shared.entries()
            if own is not None:
                yield from own.entries()

        found = Scan.of(entries(), on_progress)
        base = first_party(folder)
        composed = compose_scan(
            found,
            base=base,
            host=host_for(found, host_version),
            on_set_failure=on_set_failure,
        )
        seen = attrs.evolve(
            view,
            own=attrs.evolve(view.own, tokens=tuple(own.tokens))
            if view.own and own
            else None,
        )
        identity = shared.write() if shared else None
        write_composition(
            folder,
            file_name(view, places, host_version, on_set_failure),
            key_of(seen, identity, host_version, on_set_failure),
            composed,
            base,
        )
        return composed


class _SharedRoot:
    """The global root: what has not changed comes from the cache."""

    def __init__(self, view: GlobalView, folder: CacheFolder) -> None:
        self._view = view
        self._folder = folder
        self._seen: dict[str, Seen] = {}
        self._values: dict[str, Found] = {}
        self._fresh = False

    def entries(self) -> Iterator[Found]:
        """Yield what each entry is, by code point of the names."""
        view = self._view
        listing = view.checked.listing
        ledger = parse_ledger(view.ledger)
        scanned = RootScan(view.reader, ledger)
        yield from scanned.notices(listing)
        same = view.checked.seen()
        values = self._stored() if same else {}
        for name, kind in listing:
            if not is_overlay(name, kind):
                yield scanned.read(view.reader.look(name, kind))[0]
                continue
            seen = same.get(name)
            found = _as_told(values.get(name), ledger) if seen is not None else None
            if seen is None or found is None:
                self._fresh = True
                found, sight = scanned.read(view.reader.look(name, kind))
                seen = view.reader.seen(sight)
            self._seen[name] = seen
            self._values[name] = found
            yield found

    def _stored(self) -> dict[str, Found]:
        """Return what became of each overlay when the index was made."""
        file = self._view.file
        data = file.section(1) if file else None
        found = None if data is None else load(data)
        return found if isinstance(found, dict) else {}

    def write(self) -> bytes:
        """Keep what was read; return what stands for the content of the root."""
        checked = self._view.checked
        index = Index.of(checked.listing, self._seen)
        before = checked.index
        if self._fresh or before is None or before.listing != index.listing:
            values: Any = dump(self._values)
        elif checked.better and self._view.file:
            values = self._view.file.section(1)
        else:
            return index.identity
        if values is not None:
            self._folder.write(SCAN, "", dump_plain(index.plain()), values)
        return index.identity


def _as_told(found: Found | None, ledger: Ledger) -> Found | None:
    """Return a stored value with what the ledger says now; None if that is not enough.

    Of an overlay whose installation is in flight no fragment is read.
    """
    if not isinstance(found, Candidate):
        return found
    known = ledger.of(found.folder)
    told = (found.pending, found.committed, found.stored_gates)
    if told == (known.pending, known.committed, known.gate_points):
        return found
    manifest = found.decoded.manifest if found.decoded else None
    if known.pending != found.pending and fragment_paths(manifest):
        return None
    return attrs.evolve(
        found,
        pending=known.pending,
        committed=known.committed,
        stored_gates=known.gate_points,
    )


class _OwnRoot:
    """The project's root: everything is read, and its digests are kept."""

    def __init__(self, view: ProjectView, places: Places) -> None:
        self._view = view
        self._project = places.project or ""
        self.tokens: list[bytes] = []

    def entries(self) -> Iterator[Found]:
        """Yield what each entry is, by code point of the names."""
        view = self._view
        reader = ProjectReader(view.root, view.fd, view.consent, self._project)
        scanned = RootScan(reader, parse_ledger(view.ledger))
        yield from scanned.notices(view.listing)
        for name, kind in view.listing:
            sight = reader.look(name, kind)
            self.tokens.append(sight.token())
            yield scanned.read(sight)[0]
