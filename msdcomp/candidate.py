"""What composition is given: one record per folder found under an overlay root.

A candidate is a value. Everything that needs a disk, a clock or a user's decision was
settled at the edge before it was made; composing the same candidates again gives the
same result anywhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import attrs
from pyrsistent import PMap, pmap

from msdcomp.diagnostics import Problem
from msdcomp.records import Record
from msdcomp.scope import Consent, Scope
from msdcomp.wire import Decoded, decode, place

__all__ = ["Candidate", "Consent", "FragmentFault", "FragmentText", "Scope"]


@attrs.frozen(eq=False, repr=False)
class FragmentText(Record):
    """The text of a fragment file, decoded as UTF-8."""

    text: str


@attrs.frozen(eq=False, repr=False)
class FragmentFault(Record):
    """Why a fragment file could not be used.

    `code` is one of `fragment-unreadable`, `fragment-empty`, `fragment-too-large`,
    `fragment-escapes`.
    """

    code: str
    reason: str


def _fragments(
    value: Mapping[str, FragmentText | FragmentFault],
) -> PMap[str, FragmentText | FragmentFault]:
    return pmap(value)


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Candidate(Record):
    """One folder of an overlay root, read as far as it may be read.

    Attributes:
        folder: Name of the folder; a manifest's `id` must equal it.
        scope: Root it was found under, already escalated to `project` where the global
            root is not provably distinct from the project's.
        decoded: Its manifest, or None when no file could be read.
        source: The text that `decoded` was read from, to give problems of composition
            a line and column; None when it was read from a mapping, or is not kept.
        unreadable: Why no file could be read; None when `decoded` is set.
        path: The folder relative to the root of its scope.
        linked: The folder is a symbolic link: followed in the global root, refused in
            a project's.
        dangling: The folder is a symbolic link that leads nowhere.
        pending: The ledger says that an install or upgrade is in flight.
        committed: The ledger holds a complete entry without a pending marker.
        consent: For project scope; ignored for global.
        fragments: Declared fragment path -> its text, or why there is none.
        stored_gates: Loop points at which the installed manifest declared gates, as
            the ledger recorded them.
        consented_gates: The same, as the consent record has them.
    """

    folder: str
    scope: Scope = Scope.GLOBAL
    decoded: Decoded | None = None
    source: bytes | str | None = attrs.field(default=None, repr=False)
    unreadable: str | None = None
    path: str = attrs.field()
    linked: bool = False
    dangling: bool = False
    pending: bool = False
    committed: bool = False
    consent: Consent = Consent.NONE
    fragments: PMap[str, FragmentText | FragmentFault] = attrs.field(
        factory=pmap, converter=_fragments, repr=False
    )
    stored_gates: tuple[str, ...] = ()
    consented_gates: tuple[str, ...] = ()

    @path.default
    def _usual_path(self) -> str:
        return f".msd/capabilities/{self.folder}"

    @property
    def key(self) -> tuple[str, str]:
        """`(scope, folder)`, the key of its warning."""
        return (self.scope.value, self.folder)

    def placed(self, problems: Iterable[Problem]) -> tuple[Problem, ...]:
        """Return problems of this manifest with file, line and column.

        Those that have a file already are left as they are; line and column need the
        text at hand.
        """
        found = tuple(problems)
        file = f"{self.path}/capability.json"
        if not found:  # mostly; finding places means reading the text again
            return ()
        if self.source is None or any(problem.file for problem in found):
            return tuple(p if p.file else p.at(None, file) for p in found)
        return place(found, self.source, file)

    @classmethod
    def read(
        cls,
        data: bytes | str | Mapping[str, object],
        folder: str | None = None,
        *,
        scope: Scope = Scope.GLOBAL,
        consent: Consent = Consent.MATCHES,
        fragments: Mapping[str, str] | None = None,
    ) -> Candidate:
        """Return a candidate from a manifest in memory, as an embedding host has it.

        Args:
            data: The manifest as JSON text or as a mapping.
            folder: Name of its folder; by default the `id` it declares.
            scope: Root it counts as found under.
            consent: For project scope; by default given.
            fragments: Declared fragment path -> text.
        """
        if folder is None:
            declared = data.get("id") if isinstance(data, Mapping) else None
            if declared is None:
                manifest = decode(data).manifest
                declared = manifest.id if manifest else ""
            folder = declared if isinstance(declared, str) else ""
        return cls(
            folder=folder,
            scope=scope,
            decoded=decode(data, folder, f".msd/capabilities/{folder}/capability.json"),
            source=None if isinstance(data, Mapping) else data,
            consent=consent,
            fragments={
                path: FragmentText(text) for path, text in (fragments or {}).items()
            },
        )
