"""Fetching a capability, the newest version of it that the host can take.

It is fetched into a folder of the system's own for such things and read into memory
from there, so whoever says no leaves nothing behind.
Source: docs/explanation/lifecycle.md, "From a source to a parcel".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from msdcomp.configlayers import ConfigLayers
from msdcomp.edge.lifecycle.parcel import Parcel, parcel_of
from msdcomp.edge.lifecycle.stepping import fits, step_down, why_not_older
from msdcomp.edge.lifecycle.unpacking import unpack
from msdcomp.edge.sources import Fetched, Options, enumerates, latest
from msdcomp.plan import Block
from msdcomp.records import Record
from msdcomp.safetext import safe
from msdcomp.sourcefault import SourceFault
from msdcomp.sourcespec import SourceSpec

if TYPE_CHECKING:
    from msdcomp.edge.ledgerfile import InstalledEntry
    from msdcomp.manifest import Manifest

__all__ = ["procure", "procure_again"]

#: Most versions that are fetched in the search for one that fits the host.
MAX_STEPS = 8

_DEFAULTS = Options()
_NOTHING = ConfigLayers()


def procure(
    spec: SourceSpec,
    host_version: str,
    options: Options = _DEFAULTS,
    *,
    integrity: str | None = None,
    layers: ConfigLayers = _NOTHING,
) -> Parcel | Block:
    """Fetch a capability, or the newest version of it that the host can take.

    Args:
        spec: Where it comes from.
        host_version: Running version of the host.
        options: What a fetch is allowed.
        integrity: What the archive must hash to.
        layers: Configuration that may say where a reviewer of it sends to.

    Returns:
        The parcel, or why there is none.
    """
    terms = _Terms(
        host_version=host_version, options=options, integrity=integrity, layers=layers
    )
    found = _fetched(spec, terms)
    if isinstance(found, Block):
        return found
    parcel, fetched = found
    if fits(parcel.manifest, host_version):
        return parcel
    return _older(parcel, fetched, terms)


def procure_again(
    spec: SourceSpec,
    host_version: str,
    entry: InstalledEntry,
    options: Options = _DEFAULTS,
    *,
    integrity: str | None = None,
    layers: ConfigLayers = _NOTHING,
) -> Parcel | Block:
    """Fetch what is installed already once more, as an update does.

    The digest that was recorded counts again for the same archive, and for the same
    version of a package: neither may change under its name.
    """
    pinned = integrity
    if pinned is None and entry.integrity and _is_same(spec, entry, options):
        pinned = entry.integrity
    found = procure(spec, host_version, options, integrity=pinned, layers=layers)
    if isinstance(found, Parcel) and found.manifest.id != entry.id:
        return Block(
            "another-id",
            f"the source holds {found.manifest.id} now, not {entry.id}",
            "install it under its own name, if that is what you want",
        )
    if integrity is None and isinstance(found, Parcel):
        found = _swapped(found, entry) or found
    if isinstance(found, Block) and found.code == "integrity-mismatch":
        return attrs.evolve(
            found,
            remedy="if the change is meant, say `--integrity` with the new value, or "
            "install it again",
        )
    return found


def _swapped(found: Parcel, entry: InstalledEntry) -> Block | None:
    """Return the fault of a package that holds another archive as the same version.

    Which version is taken may only be known now: the newest one may not fit the host.
    """
    if found.spec.kind != "npm" or found.manifest.version != entry.version:
        return None
    if not entry.integrity or entry.integrity == found.integrity:
        return None
    return Block(
        "integrity-mismatch",
        f"version {entry.version} is {found.integrity} now, and "
        f"{safe(entry.integrity)} is what was installed",
    )


def _is_same(spec: SourceSpec, entry: InstalledEntry, options: Options) -> bool:
    """Tell whether a source must still hold the archive that was installed."""
    if spec.kind in {"local", "archive"}:
        return True
    if spec.kind != "npm":
        return False
    if not enumerates(spec) and spec.ref is not None and spec.ref.kind == "version":
        return True
    return latest(spec, options).version == entry.version


@attrs.frozen(kw_only=True, eq=False, repr=False)
class _Terms(Record):
    """What holds for every fetch of one command."""

    host_version: str
    options: Options
    integrity: str | None
    layers: ConfigLayers


def _fetched(
    spec: SourceSpec, terms: _Terms, version: str | None = None
) -> tuple[Parcel, Fetched] | Block:
    found = unpack(spec, terms.options, integrity=terms.integrity, version=version)
    if isinstance(found, SourceFault):
        return Block(found.code, found.reason, found.hint)
    parcel = parcel_of(spec, found.fetched, found.bundle, found.runnable, terms.layers)
    return parcel if isinstance(parcel, Block) else (parcel, found.fetched)


def _older(newest: Parcel, fetched: Fetched, terms: _Terms) -> Parcel | Block:
    """Return the newest older version that fits, or why none does."""
    manifest, host_version = newest.manifest, terms.host_version
    reason = (
        f"{manifest.id} {manifest.version} needs MSD {manifest.engines.msd}, "
        f"and this is {host_version}"
    )
    steps = step_down(manifest, fetched.versions, host_version)
    tried: list[str] = []
    for version in steps[:MAX_STEPS]:
        found = _fetched(newest.spec, terms, version)
        fault = _unfit(found, manifest, version, host_version)
        if fault is None and not isinstance(found, Block):
            note = f"{reason}; {version} is the newest version that fits"
            return attrs.evolve(found[0], notes=(note,))
        tried.append(f"{version} ({fault})")
    return Block(
        "incompatible-engine",
        reason,
        why_not_older(manifest, fetched.versions, host_version, tried),
    )


def _unfit(
    found: tuple[Parcel, Fetched] | Block,
    manifest: Manifest,
    version: str,
    host_version: str,
) -> str | None:
    if isinstance(found, Block):
        return found.reason
    older = found[0].manifest
    if older.id != manifest.id:
        return "holds another capability"
    if older.version != version:
        return f"holds version {older.version}"
    return None if fits(older, host_version) else f"needs MSD {older.engines.msd}"
