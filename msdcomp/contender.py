"""What a candidate brings to the fold, read once.

A fold asks the same of every candidate several times over: what it claims, gives and
needs. Its manifest is many small records, and walking those of ten thousand overlays
again for each question costs more than the questions do.
Source: docs/explanation/performance.md.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

import attrs

from msdcomp.invariants import Made, made, names
from msdcomp.records import Record
from msdcomp.scope import Consent, Scope
from msdcomp.vocabulary import RESERVED_PREFIXES

if TYPE_CHECKING:
    from msdcomp.candidate import Candidate
    from msdcomp.host import HostContract
    from msdcomp.manifest import Manifest

__all__ = ["Contender", "Lack", "Outline", "contenders", "offered"]


def offered(candidate: Candidate) -> Manifest | None:
    """Return the manifest of a candidate that passes gates 1 to 5, else None.

    Only such a manifest says anything about order: what an overlay claims while it is
    pending, not consented to or malformed moves nobody.
    """
    project = candidate.scope is Scope.PROJECT
    if (
        candidate.pending
        or (project and (candidate.linked or candidate.consent is not Consent.MATCHES))
        or candidate.decoded is None
        or candidate.folder.startswith(RESERVED_PREFIXES)
    ):
        return None
    return candidate.decoded.manifest


class Lack(NamedTuple):
    """An artefact that a step consumes and the host does not give it."""

    artefact: str
    #: Place of the step's point in the loop.
    place: int
    step: int


@attrs.frozen(eq=False, repr=False)
class Outline(Record):
    """What a manifest claims, gives and needs.

    Attributes:
        manifest: The manifest.
        names: `(kind, name)` of everything it claims to own, repeats included.
        runtimes: Ids of the runtimes it names.
        made: What its steps produce.
        lacks: What its steps consume and the host does not give.
    """

    manifest: Manifest
    names: tuple[tuple[str, str], ...]
    runtimes: tuple[str, ...]
    made: tuple[Made, ...]
    lacks: tuple[Lack, ...]

    @classmethod
    def of(cls, manifest: Manifest, contract: HostContract) -> Outline:
        """Return the outline of a manifest."""
        feature = manifest.feature
        claimed = tuple(names(manifest))
        if feature is None:
            return cls(manifest, claimed, (), (), ())
        lacks = [
            Lack(artefact, contract.place(step.point), index)
            for index, step in enumerate(feature.steps)
            for artefact in step.consumes
            if not contract.gives(artefact, step.point)
        ]
        return cls(
            manifest,
            claimed,
            tuple(feature.runtime_compat.named),
            tuple(made(manifest, contract.place)),
            tuple(lacks),
        )


class Contender(NamedTuple):
    """A candidate, and the outline of its manifest if that is `offered`."""

    candidate: Candidate
    outline: Outline | None


def contenders(
    candidates: Iterable[Candidate], contract: HostContract
) -> list[Contender]:
    """Return candidates with the outlines of their manifests."""
    found = []
    for candidate in candidates:
        manifest = offered(candidate)
        outline = None if manifest is None else Outline.of(manifest, contract)
        found.append(Contender(candidate, outline))
    return found
