"""Loading through the cache: a composition is taken from it when nothing has changed.

What a composition depends on is looked at first: the roots, their ledgers, and in a
project what the user has agreed to. Where the cache holds the composition of exactly
that, nothing is decoded, and nothing that decodes is imported.
Source: docs/reference/cache.md.
"""

from __future__ import annotations

import hashlib
import os
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import attrs

from msdcomp.composition import Composition
from msdcomp.edge.cachefolder import COMPOSITION, SCAN
from msdcomp.edge.cacheindex import Index, WatchingReader, check
from msdcomp.edge.cachevalues import dump, dump_plain, load, load_plain
from msdcomp.edge.files import FileFault, open_folder, read_file
from msdcomp.edge.firstparty import first_party, is_whole
from msdcomp.edge.roots import LEDGER_NAME
from msdcomp.edge.sight import Names, RootReader
from msdcomp.scope import Scope

if TYPE_CHECKING:
    from msdcomp.edge.cachefolder import CacheFile, CacheFolder
    from msdcomp.edge.cacheindex import Checked
    from msdcomp.edge.consent import ConsentStore
    from msdcomp.edge.progress import OnProgress
    from msdcomp.edge.roots import Places, Root
    from msdcomp.making import OnSetFailure
    from msdcomp.registry import Registry

__all__ = [
    "GlobalView",
    "ProjectView",
    "View",
    "file_name",
    "key_of",
    "load_through",
    "pack",
    "write_composition",
    "write_index",
]


@attrs.frozen(kw_only=True, eq=False, repr=False)
class GlobalView:
    """The global root, held open, and how far it is as it was."""

    reader: WatchingReader
    ledger: bytes | FileFault
    checked: Checked
    file: CacheFile | None


@attrs.frozen(kw_only=True, eq=False, repr=False)
class ProjectView:
    """The project's root, held open, and what stands for all that lies in it."""

    root: Root
    fd: int
    ledger: bytes | FileFault
    consent: ConsentStore
    listing: Names
    tokens: tuple[bytes, ...]


@attrs.frozen(kw_only=True, eq=False, repr=False)
class View:
    """What lies in the overlay roots; None for a root that is not there."""

    shared: GlobalView | None = None
    own: ProjectView | None = None


def load_through(
    folder: CacheFolder,
    places: Places,
    *,
    host_version: str,
    on_set_failure: OnSetFailure,
    on_progress: OnProgress | None = None,
) -> Composition | None:
    """Compose what the overlay roots hold, or take it from the cache.

    Returns:
        The composition; None when a root cannot be listed, which is no case for a
        cache.
    """
    with ExitStack() as stack:
        view = _look(stack, folder, places)
        if view is None:
            return None
        shared = view.shared
        identity = shared.checked.identity if shared else None
        name = file_name(view, places, host_version, on_set_failure)
        if shared is None or identity is not None:
            key = key_of(view, identity, host_version, on_set_failure)
            found = _read_composition(folder, name, key)
            if found is not None:
                if shared and shared.checked.better and shared.file:
                    write_index(folder, shared.checked, shared.file.section(1))
                if on_progress is not None:
                    for count in range(_count(view)):
                        on_progress(count + 1, None)
                return found
        # Imported here because most of the library is behind it.
        from msdcomp.edge.cachemiss import compose_view  # noqa: PLC0415

        return compose_view(
            view,
            folder,
            places,
            host_version=host_version,
            on_set_failure=on_set_failure,
            on_progress=on_progress,
        )


def _look(stack: ExitStack, folder: CacheFolder, places: Places) -> View | None:
    """Look at the roots, or return None when one of them cannot be listed."""
    found: dict[str, Any] = {}
    for root in places.roots:
        fd = open_folder(root.folder)
        if isinstance(fd, FileFault):
            if fd.code == "missing":
                continue
            return None
        stack.callback(os.close, fd)
        ledger = read_file(f"{root.ledger_root}/{LEDGER_NAME}")
        if root.scope is Scope.GLOBAL:
            reader = WatchingReader(root, fd)
            listing = reader.list_names()
            if isinstance(listing, FileFault):
                return None
            file = folder.open(SCAN, "")
            if file is not None:
                stack.callback(file.close)
            found["shared"] = GlobalView(
                reader=reader,
                ledger=ledger,
                checked=check(reader, listing, _read_index(file)),
                file=file,
            )
        else:
            own = _look_at_project(root, fd, ledger, places)
            if own is None:
                return None
            found["own"] = own
    return View(**found)


def _look_at_project(
    root: Root, fd: int, ledger: bytes | FileFault, places: Places
) -> ProjectView | None:
    """Read what lies in a project as a scan would, and keep a digest of each entry.

    The content itself is let go: on a miss it is read again, and what is written then
    is kept under the digests of that reading.
    """
    listing = RootReader(root, fd).list_names()
    if isinstance(listing, FileFault):
        return None
    from msdcomp.edge.consent import read_consent  # noqa: PLC0415 -- not for every load
    from msdcomp.edge.projectsight import ProjectReader  # noqa: PLC0415

    consent = read_consent(places.home)
    reader = ProjectReader(root, fd, consent, places.project or "")
    tokens = tuple(reader.look(name, kind).token() for name, kind in listing)
    return ProjectView(
        root=root,
        fd=fd,
        ledger=ledger,
        consent=consent,
        listing=listing,
        tokens=tokens,
    )


def _read_index(file: CacheFile | None) -> Index | None:
    if file is None or len(file) != 2:
        return None
    data = file.section(0)
    return None if data is None else Index.from_plain(load_plain(data))


def write_index(
    folder: CacheFolder, checked: Checked, values: bytes | memoryview | None
) -> None:
    """Write what is known of the global root beside the values that are known."""
    index = Index.of(checked.listing, checked.seen())
    plain = dump_plain(index.plain())
    if values is not None:
        folder.write(SCAN, "", plain, values)


def key_of(
    view: View,
    identity: bytes | None,
    host_version: str,
    on_set_failure: OnSetFailure,
) -> bytes:
    """Return a digest of everything that a composition depends on.

    Args:
        view: What lies in the roots.
        identity: What stands for the content of the global root.
        host_version: As for `load_registry`.
        on_set_failure: The same.
    """
    shared, own = view.shared, view.own
    said = (
        host_version,
        on_set_failure,
        shared and (_ledger_token(shared.ledger), identity),
        own
        and (
            own.root.shown,
            _ledger_token(own.ledger),
            own.listing.names,
            own.listing.kinds,
            own.listing.complete,
            own.tokens,
        ),
    )
    return hashlib.sha256(ascii(said).encode()).digest()


def _ledger_token(data: bytes | FileFault) -> object:
    if isinstance(data, bytes):
        return hashlib.sha256(data).digest()
    return (data.code, data.reason)


def file_name(
    view: View, places: Places, host_version: str, on_set_failure: OnSetFailure
) -> str:
    """Return a name for each project, host version and policy.

    Projects without overlays of their own share what is composed.
    """
    project = places.project if view.own else None
    said = ascii((project, host_version, on_set_failure)).encode()
    return hashlib.sha256(said).hexdigest()[:24]


def _count(view: View) -> int:
    shared = len(view.shared.checked.listing.names) if view.shared else 0
    return shared + (len(view.own.listing.names) if view.own else 0)


def pack(composition: Composition, base: Registry) -> dict[str, object]:
    """Return what is written of a composition.

    Fields that do not count for equality hold what composing left to go on from; they
    are left out. The first party itself is written once, for all compositions.
    """
    fields = {
        field.name: getattr(composition, field.name)
        for field in attrs.fields(Composition)
        if field.eq and field.init and not field.name.startswith("_")
    }
    if composition.registry is base:
        fields["registry"] = None
    return fields


def _unpack(value: Any, folder: CacheFolder) -> Composition | None:  # noqa: ANN401
    try:
        fields = {"registry": None, **value}
        if fields["registry"] is None:
            fields["registry"] = first_party(folder)
        return Composition(**fields) if is_whole(fields["registry"]) else None
    except TypeError:
        return None


def _read_composition(folder: CacheFolder, name: str, key: bytes) -> Composition | None:
    with folder.reading(COMPOSITION, name) as file:
        if file is None or len(file) != 2 or file.section(0) != key:
            return None
        data = file.section(1)
    return None if data is None else _unpack(load(data), folder)


def write_composition(
    folder: CacheFolder, name: str, key: bytes, composition: Composition, base: Registry
) -> None:
    """Keep a composition for the next load of the same."""
    data = dump(pack(composition, base))
    if data is not None:
        folder.write(COMPOSITION, name, key, data)
