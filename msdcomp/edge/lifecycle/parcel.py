"""A capability at hand, ready to be shown and installed, and nothing of it run.

It is fetched into a folder of the system's own for such things and read into memory
from there: what is shown, hashed, judged and written later are the same bytes, and
whoever says no leaves nothing behind.
Source: docs/explanation/lifecycle.md, "From a source to a parcel".
"""

from __future__ import annotations

import re
import tempfile
from typing import TYPE_CHECKING

import attrs

from msdcomp.configlayers import ConfigLayers
from msdcomp.disclosure import MANIFEST, Disclosure
from msdcomp.edge.content_hash import Bundle, read_bundle
from msdcomp.edge.disclosing import disclosure_of
from msdcomp.edge.files import FileFault
from msdcomp.edge.jsonfiles import gate_points
from msdcomp.edge.lifecycle.tree import Tree, executables
from msdcomp.edge.sources import Fetched, Options, enumerates, fetch, latest
from msdcomp.hookcommand import script_parts
from msdcomp.plan import Block, Pin
from msdcomp.records import Record
from msdcomp.safetext import safe
from msdcomp.semver import is_version, satisfies
from msdcomp.signature import signature
from msdcomp.sourcefault import SourceFault
from msdcomp.sourcespec import SourceSpec
from msdcomp.wire import decode

if TYPE_CHECKING:
    from msdcomp.edge.ledgerfile import InstalledEntry
    from msdcomp.manifest import Manifest

__all__ = [
    "Parcel",
    "gate_points_of",
    "procure",
    "procure_again",
    "step_down",
]

#: Most versions that are fetched in the search for one that fits the host.
MAX_STEPS = 8

_DEFAULTS = Options()
_NOTHING = ConfigLayers()

_PARTIAL = re.compile(r"[0-9]+(?:\.[0-9]+)?")


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Parcel(Record):
    """A capability that could be installed.

    Attributes:
        spec: Where it came from.
        integrity: Digest of the archive it came in; empty where there was none.
        commit: Commit it is of; empty where it is of none.
        manifest: Its manifest, valid by itself.
        bundle: Its content.
        tree: The same, as it is written.
        disclosure: What it runs, sends or tells an agent.
        signature: What an agreement to that is bound to.
        gate_points: Loop points at which it declares gates.
        notes: What was decided on the way, a sentence each.
    """

    spec: SourceSpec
    integrity: str = ""
    commit: str = ""
    manifest: Manifest
    bundle: Bundle = attrs.field(repr=False)
    tree: Tree = attrs.field(repr=False)
    disclosure: Disclosure = attrs.field(repr=False)
    signature: str = attrs.field(repr=False)
    gate_points: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def pin(self) -> Pin:
        """What holds the source to this content."""
        if self.integrity:
            return Pin(kind="integrity", value=self.integrity)
        if self.commit and self.spec.pinned:
            return Pin(kind="commit", value=self.commit)
        return Pin()


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
    range_ = parcel.manifest.engines.msd
    if range_ is None or satisfies(host_version, range_):
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


# Reading


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
    # Nobody but us may look into it, and it is gone whatever happens.
    with tempfile.TemporaryDirectory(
        prefix="msd-", ignore_cleanup_errors=True
    ) as folder:
        fetched = fetch(
            spec, folder, terms.options, integrity=terms.integrity, version=version
        )
        if isinstance(fetched, SourceFault):
            return Block(fetched.code, fetched.reason, fetched.hint)
        bundle = read_bundle(folder)
        if isinstance(bundle, FileFault):
            return Block(f"bundle-{bundle.code}", f"the bundle: {bundle.reason}")
        runnable = executables(folder, bundle.files)
    found = _read(bundle, runnable, terms.layers)
    if isinstance(found, Block):
        return found
    manifest, disclosure, tree = found
    parcel = Parcel(
        spec=spec,
        integrity=fetched.integrity or "",
        commit=fetched.commit or "",
        manifest=manifest,
        bundle=bundle,
        tree=tree,
        disclosure=disclosure,
        signature=signature(disclosure),
        gate_points=gate_points_of(bundle),
    )
    return _unlike_declared(parcel) or (parcel, fetched)


def gate_points_of(bundle: Bundle) -> tuple[str, ...]:
    """Return the loop points at which a bundle declares gates, in loop order."""
    gates = decode(bundle.files.get(MANIFEST.encode(), b"")).gates
    return gate_points([gate.point for gate in gates])


def _read(
    bundle: Bundle, runnable: frozenset[bytes], layers: ConfigLayers
) -> tuple[Manifest, Disclosure, Tree] | Block:
    decoded = decode(bundle.files.get(MANIFEST.encode(), b""), file=MANIFEST)
    manifest = decoded.manifest
    if manifest is None:
        return Block(
            "invalid-manifest",
            "its manifest is not valid",
            "see `msd validate`",
            problems=decoded.problems,
        )
    disclosure = disclosure_of(bundle, layers)
    if disclosure.blockers:
        first = disclosure.blockers[0]
        return Block(
            "not-agreeable",
            f"nobody can agree to it as it is: {first.place}: {safe(first.reason)}",
        )
    # A hook is run as a file, and an archive may not have kept the permission.
    scripts = {
        "/".join(script_parts(hook.script)).encode()
        for hook in (manifest.feature.hooks if manifest.feature else ())
    }
    return manifest, disclosure, Tree.of(bundle, runnable | scripts)


def _unlike_declared(parcel: Parcel) -> Block | None:
    """Return the fault of an archive that is not the one its manifest speaks of."""
    declared = parcel.manifest.integrity
    if not declared or not parcel.integrity or declared == parcel.integrity:
        return None
    return Block(
        "integrity-mismatch",
        f"the manifest declares {safe(declared)}, and the archive is "
        f"{parcel.integrity}",
        "a file cannot hold the hash of an archive it lies in: leave `integrity` out "
        "of the manifest, and publish it beside the archive",
    )


# Stepping down


def step_down(
    manifest: Manifest, offered: tuple[str, ...], host_version: str
) -> tuple[str, ...]:
    """Return the versions that a manifest says the host can take, newest first.

    Args:
        manifest: Its `compatVersions` maps a version to the lowest version of the host
            that it takes, or to a range.
        offered: Versions there are, newest first.
        host_version: Running version of the host.
    """
    table = manifest.compat_versions
    return tuple(
        version
        for version in offered
        if version in table
        and version != manifest.version
        and satisfies(host_version, _least(table[version]))
    )


def _least(text: str) -> str:
    """Return a lowest version as a range; also one that leaves numbers out."""
    is_lowest = is_version(text) or _PARTIAL.fullmatch(text)
    return f">={text}" if is_lowest else text


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
        _why_not_older(newest, fetched, host_version, tried),
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
    range_ = older.engines.msd
    if range_ is not None and not satisfies(host_version, range_):
        return f"needs MSD {range_}"
    return None


def _why_not_older(
    newest: Parcel, fetched: Fetched, host_version: str, tried: list[str]
) -> str:
    table = newest.manifest.compat_versions
    listed = [
        version
        for version in sorted(table)
        if satisfies(host_version, _least(table[version]))
    ]
    if tried:
        return f"none of the versions it names can be used: {'; '.join(tried)}"
    if not listed:
        return "it names no version for this host; another version of MSD is needed"
    names = ", ".join(listed)
    if not fetched.versions:
        return (
            f"version {names} would fit: name its own address, since this source "
            "holds one version only"
        )
    return f"version {names} would fit, and the source does not offer it"
