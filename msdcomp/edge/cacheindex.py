"""The index of the global root: what was seen of it, and how to tell that it still is.

For every overlay that was read cleanly the index has the stamps of the files and
folders that were read. Whatever else was there (a link, a fault, a file just written)
is looked at again each time, and compared by a digest of what is seen.
Source: docs/reference/cache.md, "How it is checked".
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator
from typing import Any

import attrs

from msdcomp.edge.files import FileFault, relative_parts
from msdcomp.edge.sight import (
    FOLDER,
    LINK,
    MANIFEST_NAME,
    Names,
    RootReader,
    Sight,
)
from msdcomp.edge.stamps import (
    Stamp,
    is_folder,
    now_ns,
    settled_file,
    stamp_of,
    stamps_of,
)
from msdcomp.records import Record

__all__ = ["Checked", "Index", "Seen", "WatchingReader", "check", "is_overlay"]


def is_overlay(name: str, kind: str) -> bool:
    """Tell whether an entry must be looked at to know what becomes of it."""
    return kind in {FOLDER, LINK} and not name.startswith(".")


@attrs.frozen(eq=False, repr=False)
class Seen(Record):
    """What was seen of one overlay.

    Attributes:
        token: Digest of what was read.
        fragments: The paths of its fragment files.
        files: Path below the root -> stamp of each file that was read; empty when the
            overlay cannot be told by stamps.
        folders: The same for the folders that fragment files lie in.
    """

    token: bytes
    fragments: tuple[str, ...] = ()
    files: tuple[tuple[str, Stamp], ...] = ()
    folders: tuple[tuple[str, Stamp], ...] = ()


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Index(Record):
    """What was seen of a root.

    Attributes:
        listing: Its entries.
        tokens: Name of each overlay -> digest of what was read.
        fragments: Name -> paths of fragment files, where there are any.
        files: Paths below the root of the files that are told by their stamps.
        stamps: Their stamps, in the same order.
        folders: The same for folders.
        folder_stamps: The stamps of these.
        doubtful: Names of the overlays that cannot be told by stamps.
        identity: Digest of what was seen, however it can be told again.
    """

    listing: Names
    tokens: dict[str, bytes]
    fragments: dict[str, tuple[str, ...]]
    files: list[str]
    stamps: list[Stamp]
    folders: list[str]
    folder_stamps: list[Stamp]
    doubtful: list[str]
    identity: bytes

    @classmethod
    def of(cls, listing: Names, seen: dict[str, Seen]) -> Index:
        """Return the index of a listing and what was seen of each overlay in it."""
        files = [pair for one in seen.values() for pair in one.files]
        folders = [pair for one in seen.values() for pair in one.folders]
        tokens = {name: one.token for name, one in seen.items()}
        digest = hashlib.sha256(repr((listing.kinds, listing.complete)).encode())
        # Names may hold what is no text; their form as a literal always is.
        digest.update(ascii(listing.names).encode())
        for token in tokens.values():
            digest.update(token)
        return cls(
            listing=listing,
            tokens=tokens,
            fragments={n: one.fragments for n, one in seen.items() if one.fragments},
            files=[path for path, _ in files],
            stamps=[stamp for _, stamp in files],
            folders=[path for path, _ in folders],
            folder_stamps=[stamp for _, stamp in folders],
            doubtful=[name for name, one in seen.items() if not one.files],
            identity=digest.digest(),
        )

    def seen(self) -> dict[str, Seen]:
        """Return what was seen of each overlay."""
        files = _by_owner(self.files, self.stamps)
        folders = _by_owner(self.folders, self.folder_stamps)
        return {
            name: Seen(
                token,
                self.fragments.get(name, ()),
                tuple(files.get(name, ())),
                tuple(folders.get(name, ())),
            )
            for name, token in self.tokens.items()
        }

    def plain(self) -> tuple[Any, ...]:
        """Return it without records."""
        listing = self.listing
        rest = (getattr(self, field.name) for field in attrs.fields(Index)[1:])
        return ((listing.names, listing.kinds, listing.complete), *rest)

    @classmethod
    def from_plain(cls, value: Any) -> Index | None:  # noqa: ANN401 -- from a file
        """Return what `plain` gave, or None when a value is something else."""
        names = [field.name for field in attrs.fields(cls)][1:]
        try:
            listing, *rest = value
            found = cls(listing=Names(*listing), **dict(zip(names, rest, strict=True)))
            return found if found.is_sound() else None
        except (AttributeError, TypeError, ValueError):
            return None

    def is_sound(self) -> bool:
        """Tell whether every field holds what it should; a file may hold anything."""
        told, listing = self.tokens, self.listing
        return (
            _are(listing.names, str)
            and _are([listing.kinds], str)
            and len(listing.names) == len(listing.kinds)
            and _are(told, str)
            and _are(told.values(), bytes)
            and _are(self.fragments, str)
            and all(_are(paths, str) for paths in self.fragments.values())
            and _are_stamped(self.files, self.stamps)
            and _are_stamped(self.folders, self.folder_stamps)
            and _are(self.doubtful, str)
            and told.keys() >= {*self.doubtful, *map(_owner, self.files)}
            and told.keys() >= set(map(_owner, self.folders))
            and _are([self.identity], bytes)
        )


def _are(values: Iterable[object], kind: type) -> bool:
    return set(map(type, values)) <= {kind}


def _are_stamped(paths: object, stamps: object) -> bool:
    """Tell whether these are paths, with as many stamps."""
    return (
        isinstance(paths, list)
        and isinstance(stamps, list)
        and len(paths) == len(stamps)
        and _are(paths, str)
        and _are(stamps, tuple)
        and set(map(len, stamps)) <= {6}
    )


def _by_owner(
    paths: list[str], stamps: list[Stamp]
) -> dict[str, list[tuple[str, Stamp]]]:
    found: dict[str, list[tuple[str, Stamp]]] = {}
    for path, stamp in zip(paths, stamps, strict=True):
        found.setdefault(_owner(path), []).append((path, stamp))
    return found


def _owner(path: str) -> str:
    return path.partition("/")[0]


class WatchingReader(RootReader):
    """Looks at a global root, and takes the stamps of what it reads.

    A stamp is taken before and after reading, and counts only when both are the same
    and had settled before.
    """

    def look(self, name: str, kind: str) -> Sight:
        """Return what an entry is; what is read from here on counts for it."""
        self._files: dict[str, Stamp | None] = {}
        self._folders: dict[str, Stamp | None] = {}
        self._now = now_ns()
        return super().look(name, kind)

    def _manifest(self, name: str) -> bytes | FileFault:
        path = f"{name}/{MANIFEST_NAME}"
        before = stamp_of(path, self.fd)
        data = super()._manifest(name)
        self._watch(path, before, data)
        return data

    def _fragment(self, fd: int, name: str, path: str) -> bytes | FileFault:
        parts = relative_parts(path)
        if isinstance(parts, FileFault):
            self._files[path] = None
            return super()._fragment(fd, name, path)
        steps = [f"{name}/{part}" for part in _paths(parts)]
        before = stamp_of(steps[-1], self.fd)
        data = super()._fragment(fd, name, path)
        self._watch(steps[-1], before, data)
        for folder in (name, *steps[:-1]):
            stamp = stamp_of(folder, self.fd)
            # Which folder it is and who may read it counts, and not what else somebody
            # put there. Its own folder is opened for its fragments alone.
            self._folders[folder] = _which(stamp) if is_folder(stamp) else None
        return data

    def _watch(self, path: str, before: Stamp | None, data: bytes | FileFault) -> None:
        after = stamp_of(path, self.fd)
        clean = (
            isinstance(data, bytes)
            and before is not None
            and before == after
            and len(data) == before[2]
            and settled_file(before, self._now)
        )
        self._files[path] = before if clean else None

    def seen(self, sight: Sight) -> Seen:
        """Return what was seen of the overlay that was looked at last."""
        files, folders = self._files, self._folders
        paths = tuple(path for path, _ in sight.fragments)
        # Of fragments that were not even looked for there is no stamp.
        whole = all(isinstance(data, bytes) for _, data in sight.fragments)
        clean = files and whole and not sight.linked
        stamps = {**files, **folders}
        if not clean or None in stamps.values():
            return Seen(sight.token(), paths)
        return Seen(
            sight.token(),
            paths,
            tuple((p, s) for p, s in files.items() if s is not None),
            tuple((p, s) for p, s in folders.items() if s is not None),
        )


def _paths(parts: Iterable[bytes]) -> Iterator[str]:
    path = b""
    for part in parts:
        path = path + b"/" + part if path else part
        yield os.fsdecode(path)


def _which(stamp: Stamp | None) -> Stamp | None:
    """Return what of a stamp says which folder it is, and who may read it."""
    return stamp and (stamp[0], stamp[1], 0, 0, 0, stamp[5])


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Checked(Record):
    """What a check of a root against its index found.

    Attributes:
        listing: What the root holds now.
        index: What it was checked against; None when there is none.
        changed: Names of overlays that are not as they were, or were not there.
        again: Name -> what was seen of an overlay that had to be looked at again, and
            is as it was.
    """

    listing: Names
    index: Index | None = None
    changed: frozenset[str]
    again: dict[str, Seen]

    @property
    def identity(self) -> bytes | None:
        """What the index says the root is, when it is all as it was."""
        index = self.index
        if index is None or self.changed or self.listing != index.listing:
            return None
        return index.identity

    @property
    def better(self) -> bool:
        """Tell whether another index could tell more by stamps than this one does."""
        return any(seen.files for seen in self.again.values())

    def seen(self) -> dict[str, Seen]:
        """Return what was seen of each overlay that is as it was."""
        if self.index is None:
            return {}
        known = {**self.index.seen(), **self.again}
        return {
            name: known[name]
            for name, kind in self.listing
            if is_overlay(name, kind) and name not in self.changed
        }


def check(reader: WatchingReader, listing: Names, index: Index | None) -> Checked:
    """Find out which overlays of a root are as they were when its index was made."""
    if index is None:
        names = frozenset(name for name, kind in listing if is_overlay(name, kind))
        return Checked(listing=listing, changed=names, again={})
    suspects = dict.fromkeys(index.doubtful)
    for paths, before, now in (
        (index.files, index.stamps, stamps_of(index.files, reader.fd)),
        (
            index.folders,
            index.folder_stamps,
            [_which(stamp) for stamp in stamps_of(index.folders, reader.fd)],
        ),
    ):
        # Comparing the lists first is a single step where nothing has changed.
        if now != before:
            for path, old, new in zip(paths, before, now, strict=True):
                if old != new:
                    suspects[_owner(path)] = None
    changed: set[str] = set()
    if listing != index.listing:
        kinds = dict(index.listing)
        for name, kind in listing:
            if is_overlay(name, kind) and kinds.get(name) != kind:
                changed.add(name)
    kinds = dict(listing) if suspects else {}
    again: dict[str, Seen] = {}
    for name in suspects:
        if name in kinds and name not in changed:
            seen = _look_again(reader, name, kinds[name], index)
            if seen is None:
                changed.add(name)
            else:
                again[name] = seen
    return Checked(
        listing=listing, index=index, changed=frozenset(changed), again=again
    )


def _look_again(
    reader: WatchingReader, name: str, kind: str, index: Index
) -> Seen | None:
    """Return what is seen of an overlay, or None when it is not what it was."""
    sight = reader.look(name, kind)
    paths = index.fragments.get(name, ())
    if paths and sight.data is not None:
        sight = reader.read_fragments(sight, paths)
    seen = reader.seen(sight)
    return seen if seen.token == index.tokens[name] else None
