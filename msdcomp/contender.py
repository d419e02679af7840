"""What a candidate brings to the fold, read once.

A fold asks the same of every candidate several times over: what it claims, gives and
needs. Its manifest is many small records, and walking those of ten thousand overlays
again for each question costs more than the questions do.
Source: docs/explanation/performance.md.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import attrs

from msdcomp.invariants import Made, around, made_by, names
from msdcomp.records import Record
from msdcomp.scope import Consent, Scope
from msdcomp.vocabulary import RESERVED_PREFIXES

if TYPE_CHECKING:
    from msdcomp.candidate import Candidate
    from msdcomp.ground import Ground
    from msdcomp.manifest import Contribution, Fragment, Manifest, Step

__all__ = ["Contender", "Lack", "Name", "Outline", "contenders", "offered"]

#: What can be owned or looked up, as `msdcomp.invariants.named` has it.
Name: TypeAlias = str

#: Kind of hook, point, artefact.
_Here: TypeAlias = tuple[str, str, str]


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
        names: Everything it claims to own, repeats included.
        around: The objects that its configuration keys lie in, as names.
        runtimes: Ids of the runtimes it names.
        made: What its steps produce.
        lacks: What its steps consume and the host does not give.
        artefacts: What its hooks produce, as names.
        asked: Names that it looks up.
        sound: Nothing about it by itself needs a closer look: no name twice, none of
            the host's own, every switch declared, no circle within reach.
        dispatched: The host dispatches every hook of it.
        reads_files: Some prompt text of it lies in a file.
    """

    manifest: Manifest
    names: tuple[Name, ...]
    around: tuple[Name, ...]
    runtimes: tuple[str, ...]
    made: tuple[Made, ...]
    lacks: tuple[Lack, ...]
    artefacts: tuple[Name, ...]
    asked: tuple[Name, ...]
    sound: bool
    dispatched: bool
    reads_files: bool

    @classmethod
    def of(
        cls, manifest: Manifest, ground: Ground, spellings: dict[str, Name]
    ) -> Outline:
        """Return the outline of a manifest.

        Args:
            manifest: Structurally valid.
            ground: What it will be judged against.
            spellings: Artefact -> its name, shared by many manifests; grows.
        """
        return _Reading(manifest, ground, spellings).outline()


class _Reading:
    """One way through a manifest; of most of it, nothing is read again."""

    def __init__(
        self, manifest: Manifest, ground: Ground, spellings: dict[str, Name]
    ) -> None:
        self.manifest = manifest
        self.spellings = spellings
        self.contract = ground.host.contract
        self.readers = ground.flow.readers
        self.names = names(manifest)
        self.switches = set(manifest.config)
        self.around = around(manifest)
        central = ground.host.central
        self.sound = (
            len(set(self.names)) == len(self.names)
            and set(self.names).isdisjoint(self.around)
            and not any(central.owns(k) or central.holds_keys(k) for k in self.switches)
        )
        self.dispatched = True
        self.reads_files = False
        self.made: list[Made] = []
        self.lacks: list[Lack] = []
        self.artefacts: list[Name] = []
        self.asked: list[Name] = [f"id {needed}" for needed in manifest.requires]
        # Who owns one of those objects as a key matters as much as who is required.
        self.asked += self.around
        # What hooks give and need at a point among their own kind.
        self._gives: list[_Here] = []
        self._needs: set[_Here] = set()

    def outline(self) -> Outline:
        runtimes: tuple[str, ...] = ()
        if feature := self.manifest.feature:
            runtimes = tuple(feature.runtime_compat.named)
            self.asked += [f"id {runtime}" for runtime in runtimes]
            for index, step in enumerate(feature.steps):
                self._step(index, step)
            for contribution in feature.contributions:
                self._contribution(contribution)
            for gate in feature.gates:
                self._hook("gate", gate.point, gate.when)
        closes = any(h in self._needs or h in self.readers for h in self._gives)
        return Outline(
            self.manifest,
            tuple(self.names),
            tuple(self.around),
            runtimes,
            tuple(self.made),
            tuple(self.lacks),
            tuple(self.artefacts),
            tuple(self.asked),
            self.sound and not closes,
            self.dispatched,
            self.reads_files,
        )

    def _step(self, index: int, step: Step) -> None:
        point = step.point
        place = self.contract.place(point)
        self.made += made_by(step, index, place)
        self.lacks += [
            Lack(artefact, place, index)
            for artefact in step.consumes
            if not self.contract.gives(artefact, point)
        ]
        if step.point_from is not None:
            self.sound = False
        self._hook("step", point, step.when)
        self._flow("step", step, step.fragment)

    def _contribution(self, contribution: Contribution) -> None:
        if contribution.into not in self.contract.roles_at(contribution.point):
            self.sound = False
        self._hook("contribution", contribution.point, contribution.when)
        self._flow("contribution", contribution, contribution.fragment)

    def _hook(self, kind: str, point: str, when: str | None) -> None:
        if when is not None and when not in self.switches:
            self.sound = False
        if kind not in self.contract.kinds_at(point):
            self.dispatched = False

    def _flow(
        self, kind: str, hook: Step | Contribution, fragment: Fragment | None
    ) -> None:
        if fragment is not None and fragment.file is not None:
            self.reads_files = True
        for artefact in hook.produces:
            self._gives.append((kind, hook.point, artefact))
            self.artefacts.append(self._artefact(artefact))
        for artefact in hook.consumes:
            self._needs.add((kind, hook.point, artefact))
            self.asked.append(self._artefact(artefact))

    def _artefact(self, artefact: str) -> Name:
        """Return an artefact as a name; other spellings are looked for as well."""
        name = self.spellings.get(artefact)
        if name is None:
            name = self.spellings[artefact] = f"artefact {artefact.lower()}"
        return name


class Contender(NamedTuple):
    """A candidate, and the outline of its manifest if that is `offered`."""

    candidate: Candidate
    outline: Outline | None


def contenders(candidates: Iterable[Candidate], ground: Ground) -> list[Contender]:
    """Return candidates with the outlines of their manifests."""
    found = []
    spellings: dict[str, Name] = {}
    for candidate in candidates:
        manifest = offered(candidate)
        outline = None if manifest is None else Outline.of(manifest, ground, spellings)
        found.append(Contender(candidate, outline))
    return found
