"""`outdated`: what is installed, beside what its source offers; installs nothing.

Sources are asked for versions and commits, never for a bundle. Only a folder of this
machine is read, as an install would read it.
Source: docs/reference/outdated.md.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, TypeAlias

import attrs

from msdcomp.disclosure import MANIFEST
from msdcomp.edge.ledgerfile import InstalledEntry, read_entries
from msdcomp.edge.lifecycle.origin import origin, unheard
from msdcomp.edge.lifecycle.unpacking import unpack
from msdcomp.edge.lifecycle.world import look_at
from msdcomp.edge.sources import Latest, Options, latest
from msdcomp.edge.sources.versions import newest_first
from msdcomp.edge.storetext import StoreState
from msdcomp.outdated import Standing
from msdcomp.records import Record
from msdcomp.safetext import safe
from msdcomp.semver import is_version
from msdcomp.sourcefault import SourceFault
from msdcomp.sourcespec import SourceSpec
from msdcomp.wire import decode

if TYPE_CHECKING:
    from msdcomp.edge.lifecycle.site import Site

__all__ = ["MAX_ASKED", "TOTAL_S", "Ask", "outdated"]

#: Most sources that are asked at a time.
MAX_ASKED = 8

#: Longest time for all sources together, in seconds: a ledger can name thousands that
#: do not answer, and somebody waits.
TOTAL_S = 300.0

_DEFAULTS = Options()

#: Returns what a source offers now.
Ask: TypeAlias = Callable[[SourceSpec, Options], Latest]


@attrs.frozen(eq=False, repr=False)
class _Asked(Record):
    """An entry whose source is to be asked, and the standing as far as it is known."""

    site: Site
    entry: InstalledEntry
    spec: SourceSpec
    standing: Standing


def outdated(
    sites: Iterable[Site],
    options: Options = _DEFAULTS,
    *,
    ask: Ask = latest,
    total_s: float = TOTAL_S,
    clock: Callable[[], float] = time.monotonic,
) -> tuple[Standing, ...]:
    """Return how everything that is installed stands to its source.

    Whatever goes wrong with one entry is told of that entry alone. No row depends on
    which source answers first.

    Args:
        sites: Where to look.
        options: What asking is allowed; its time is that of one source.
        ask: Asks a source.
        total_s: Longest time for all of them, in seconds; those that are not asked by
            then are unknown.
        clock: Tells the time, in seconds from any moment.

    Returns:
        By site, and by id in each; a ledger that cannot be read is one standing.
    """
    rows = [row for site in sites for row in _rows(site, options)]
    end = clock() + total_s

    def standing(row: Standing | _Asked) -> Standing:
        if isinstance(row, Standing):
            return row
        left = end - clock()
        if left <= 0:
            reason = f"not asked: the others took longer than {total_s:g} seconds"
            return attrs.evolve(row.standing, reason=reason)
        limit = min(left, options.timeout_s)
        return _compared(row, attrs.evolve(options, timeout_s=limit), ask)

    with ThreadPoolExecutor(max_workers=MAX_ASKED) as pool:
        return tuple(pool.map(standing, rows))


def _rows(site: Site, options: Options) -> Iterator[Standing | _Asked]:
    scope = site.scope.value
    ledger = read_entries(site.root.ledger_root)
    if ledger.state is StoreState.CORRUPT and ledger.fault:
        reason = f"the ledger cannot be read: {ledger.fault.reason}"
        yield Standing(scope=scope, status="unreadable", reason=reason)
    for name in sorted({*ledger.entries, *ledger.unclear}):
        known = Standing(scope=scope, capability_id=safe(name), status="unknown")
        entry = ledger.entries.get(name)
        if entry is None:
            reason = "its entry in the ledger makes no sense"
            yield attrs.evolve(known, reason=reason)
            continue
        known = attrs.evolve(
            known, version=safe(entry.version, 100), commit=safe(entry.commit, 64)
        )
        spec = origin(entry, allow_insecure=options.allow_insecure)
        if isinstance(spec, SourceFault):
            yield attrs.evolve(known, reason=_clause(spec))
        elif unheard(site, name, spec):
            reason = "not asked: nobody has agreed to it in this project"
            yield attrs.evolve(known, kind=spec.kind, reason=reason)
        else:
            known = attrs.evolve(known, kind=spec.kind)
            yield _Asked(site, entry, spec, known)


def _clause(fault: SourceFault) -> str:
    return f"{fault.reason}; {fault.hint}" if fault.hint else fault.reason


def _compared(asked: _Asked, options: Options, ask: Ask) -> Standing:
    if asked.spec.kind == "local" and _is_folder(asked.spec.location):
        return _beside_folder(asked, options)
    known = asked.standing
    found = ask(asked.spec, options)
    match found.status:
        case "version":
            return _by_version(known, found)
        case "commit":
            return _by_commit(known, found)
        case "pinned":
            return attrs.evolve(known, status="pinned")
        case "manual" if asked.spec.kind != "local" or _is_there(asked.spec.location):
            return attrs.evolve(known, status="manual")
        case "manual":
            return attrs.evolve(known, reason="there is nothing at its source any more")
        case _:
            reason = _clause(found.fault) if found.fault else "the source does not say"
            return attrs.evolve(known, reason=reason)


def _by_version(known: Standing, found: Latest) -> Standing:
    offered = safe(found.version or "", 100)
    told = attrs.evolve(
        known, latest=offered, latest_commit=safe(found.commit or "", 64)
    )
    if offered == known.version or (known.commit and known.commit == found.commit):
        return attrs.evolve(told, status="current")
    if not (is_version(offered) and is_version(known.version)):
        return attrs.evolve(told, status="outdated")
    if newest_first((offered, known.version))[0] == offered:
        return attrs.evolve(told, status="outdated")
    reason = "what is installed is newer than what the source offers"
    return attrs.evolve(told, status="current", reason=reason)


def _by_commit(known: Standing, found: Latest) -> Standing:
    commit = safe(found.commit or "", 64)
    told = attrs.evolve(known, latest_commit=commit)
    if not known.commit:
        reason = "the ledger does not say which commit is installed"
        return attrs.evolve(told, reason=reason)
    same = known.commit == commit
    return attrs.evolve(told, status="current" if same else "outdated")


# Folders of this machine


def _is_folder(path: str) -> bool:
    try:
        return stat.S_ISDIR(os.lstat(path).st_mode)
    except (OSError, ValueError):
        return False


def _is_there(path: str) -> bool:
    return os.path.lexists(path)


def _beside_folder(asked: _Asked, options: Options) -> Standing:
    """Compare what an install would take from a folder with what it took."""
    known, entry = asked.standing, asked.entry
    found = unpack(asked.spec, options)
    if isinstance(found, SourceFault):
        return attrs.evolve(known, reason=_clause(found))
    bundle = found.bundle
    decoded = decode(bundle.files.get(MANIFEST.encode(), b""))
    if decoded.manifest is None:
        return attrs.evolve(known, reason="the manifest there is not valid")
    offered = decoded.manifest
    if offered.id != entry.id:
        reason = f"the source holds {safe(offered.id, 100)} now"
        return attrs.evolve(known, reason=reason)
    told = attrs.evolve(known, latest=safe(offered.version, 100))
    # Another program may have recorded no hash; then what lies there has to do.
    held = entry.content_hash or look_at(asked.site, entry.id).digest
    if not held:
        return attrs.evolve(told, reason="there is no content to compare with")
    if held == bundle.digest:
        return attrs.evolve(told, status="current")
    same = offered.version == entry.version
    reason = "the same version with other content" if same else ""
    return attrs.evolve(told, status="outdated", reason=reason)
