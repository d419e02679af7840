"""The envelope that every role shares, and the values named throughout.

A `Manifest` has the document it was read from as canonical bytes (`document`) and,
beside it, the typed reading of those bytes. The bytes are what is written, hashed and
compared; the attributes are for programs. Both come from `msdcomp.wire.decode`, so
they cannot disagree.
"""

from __future__ import annotations

from collections.abc import Callable

import attrs
from pyrsistent import PMap, pmap

from msdcomp.manifest.feature import Feature
from msdcomp.manifest.names import CapabilityId, ConfigKey, Scalar
from msdcomp.manifest.reviewer import Lane
from msdcomp.manifest.runtime import Runtime
from msdcomp.records import Record


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Engines(Record):
    """Host compatibility: `msd` is an npm range over the host's version, or None."""

    msd: str | None = None


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Provenance(Record):
    """Where a release was built from."""

    source_repo: str
    commit: str


@attrs.frozen(kw_only=True, eq=False, repr=False)
class ConfigSlice(Record):
    """One federated configuration key: its type, default and meaning.

    `values` only means something where `type` is `enum`.
    """

    type: str
    default: Scalar
    description: str
    values: tuple[str, ...] = ()


@attrs.frozen(kw_only=True, eq=False, repr=False)
class CommandModule(Record):
    """A command family and the module that answers it.

    `module` and `router` are None where a runtime or a reviewer names a family without
    them: only features are held to the full shape.
    """

    family: str
    module: str | None = None
    router: str | None = None
    subcommands: tuple[str, ...] = ()


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Manifest(Record):
    """One checked `capability.json`.

    Attributes:
        document: The document as canonical JSON (UTF-8, sorted keys, no spaces). It may
            be given as a function: of thousands of overlays that are composed at every
            point of a loop, none is written.
        role: `feature`, `runtime` or `reviewer`; says which of the three bodies is set.
        tier: `core`, `standard` or `full`.
        config: Key to slice, for every role.
        commands: Command families, in the order declared.
        feature: Hooks and owned stems; set exactly for features.
        runtime: The runtime descriptor; set exactly for runtimes.
        reviewer: The reviewer lane, on a reviewer or a runtime.
    """

    _document: bytes | Callable[[], bytes] = attrs.field(
        alias="document", eq=False, repr=False
    )
    id: CapabilityId
    role: str
    version: str
    title: str
    description: str
    tier: str
    requires: tuple[CapabilityId, ...] = ()
    engines: Engines = Engines()
    compat_versions: PMap[str, str] = attrs.field(factory=pmap, repr=False)
    integrity: str | None = attrs.field(default=None, repr=False)
    provenance: Provenance | None = attrs.field(default=None, repr=False)
    config: PMap[ConfigKey, ConfigSlice] = attrs.field(factory=pmap, repr=False)
    commands: tuple[CommandModule, ...] = attrs.field(default=(), repr=False)
    feature: Feature | None = attrs.field(default=None, repr=False)
    runtime: Runtime | None = attrs.field(default=None, repr=False)
    reviewer: Lane | None = attrs.field(default=None, repr=False)

    def __eq__(self, other: object) -> bool:
        """Tell whether another manifest has the same document and reads the same."""
        if not isinstance(other, Manifest):
            return NotImplemented
        return super().__eq__(other) and self.document == other.document

    __hash__ = Record.__hash__

    @property
    def document(self) -> bytes:
        """The document as canonical JSON."""
        held = self._document
        if isinstance(held, bytes):
            return held
        written = held()
        # The same value in another form; nobody can tell when it was made.
        object.__setattr__(self, "_document", written)
        return written
