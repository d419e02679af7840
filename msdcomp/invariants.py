"""Who owns what, and whether one more capability may join.

The index answers every cross-capability question with a lookup, so admitting one
capability costs what that capability declares, however many came before it.
Source: docs/reference/manifest.md, "Conformance invariants".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

import attrs
from pyrsistent import PMap, pmap

from msdcomp.diagnostics import MAX_PROBLEMS, Problem, pointer
from msdcomp.host import enclosing
from msdcomp.records import Record
from msdcomp.safetext import safe

if TYPE_CHECKING:
    from msdcomp.host import CentralConfig
    from msdcomp.manifest import Manifest, Step

__all__ = [
    "Claim",
    "Draft",
    "Index",
    "Made",
    "Producer",
    "around",
    "claims",
    "collisions",
    "duplicates",
    "made",
    "made_by",
    "named",
    "names",
    "quoted",
    "steps",
]


class Claim(NamedTuple):
    """A name that one capability may own, and where the manifest claims it."""

    #: `skill`, `agent`, `config-key`, `command-family`, `lane-slug`, `lane-flag`,
    #: `lane-section` or `tracker-prefix`.
    kind: str
    name: str
    #: The place, in wire names.
    where: tuple[str | int, ...]

    @property
    def path(self) -> str:
        """The place as a JSON pointer; only problems need it."""
        return pointer(*self.where)


class Made(NamedTuple):
    """An artefact that a step produces."""

    artefact: str
    point: str
    #: Place of the point in the loop.
    place: int
    step: int


class Producer(NamedTuple):
    """A step, as the producer of an artefact."""

    capability_id: str
    step: int


#: Claims a rival overlay loses to whoever came first (gate 6), with the word for a
#: person and the code. The other kinds are cross-capability invariants (gate 9).
COLLISIONS: Mapping[str, tuple[str, str]] = pmap(
    {
        "skill": ("skill", "skill-taken"),
        "agent": ("agent", "agent-taken"),
        "config-key": ("configuration key", "config-key-taken"),
        "command-family": ("command family", "command-family-taken"),
    }
)
UNIQUE: Mapping[str, tuple[str, str]] = pmap(
    {
        "lane-slug": ("reviewer lane", "lane-slug-taken"),
        "lane-flag": ("reviewer flag", "lane-flag-taken"),
        "lane-section": ("review section", "lane-section-taken"),
        "tracker-prefix": ("tracker prefix", "tracker-prefix-taken"),
    }
)
_WORD = {
    kind: word for table in (COLLISIONS, UNIQUE) for kind, (word, _) in table.items()
}


def quoted(name: str) -> str:
    """Return a name from a manifest as a message may repeat it."""
    return f'"{safe(name, 80)}"'


def claims(manifest: Manifest) -> Iterator[Claim]:
    """Yield every name a manifest claims, in document terms, repeats included."""
    if feature := manifest.feature:
        for place, skill in enumerate(feature.skills):
            yield Claim("skill", skill, ("skills", place))
        for place, agent in enumerate(feature.agents):
            yield Claim("agent", agent, ("agents", place))
        if resolver := feature.task_content_resolver:
            where = ("taskContentResolver", "trackerPrefix")
            yield Claim("tracker-prefix", resolver.tracker_prefix, where)
    for key in sorted(manifest.config):
        yield Claim("config-key", key, ("config", key))
    for place, command in enumerate(manifest.commands):
        yield Claim("command-family", command.family, ("commands", place, "family"))
    if lane := manifest.reviewer:
        yield Claim("lane-slug", lane.slug, ("reviewer", "slug"))
        for place, flag in enumerate(lane.flags):
            yield Claim("lane-flag", flag, ("reviewer", "flags", place))
        section = ("reviewer", "reviewsSection")
        yield Claim("lane-section", lane.reviews_section, section)


def named(kind: str, name: str) -> str:
    """Return a name of a kind as one text: its hash is taken once, and not each time.

    No kind holds a space, so no two names become the same text.
    """
    return f"{kind} {name}"


def names(manifest: Manifest) -> list[str]:
    """Return every claim as `named` has it, without looking for places.

    Nearly always nobody else has any of them, and then that is all anybody asks.
    """
    found = [f"config-key {key}" for key in manifest.config]
    if feature := manifest.feature:
        found += [f"skill {skill}" for skill in feature.skills]
        found += [f"agent {agent}" for agent in feature.agents]
        if resolver := feature.task_content_resolver:
            found.append(f"tracker-prefix {resolver.tracker_prefix}")
    if manifest.commands:
        found += [f"command-family {command.family}" for command in manifest.commands]
    if lane := manifest.reviewer:
        found.append(f"lane-slug {lane.slug}")
        found += [f"lane-flag {flag}" for flag in lane.flags]
        found.append(f"lane-section {lane.reviews_section}")
    return found


def around(manifest: Manifest) -> list[str]:
    """Return the objects that the configuration keys of a manifest lie in, as names."""
    return [
        f"config-key {above}" for key in manifest.config for above in enclosing(key)
    ]


def made(manifest: Manifest, place: Callable[[str], int]) -> list[Made]:
    """Return what the steps of a manifest produce.

    Args:
        manifest: Structurally valid.
        place: Gives each point its place in the loop.
    """
    return [
        one
        for index, step in enumerate(steps(manifest))
        for one in made_by(step, index, place(step.point))
    ]


def made_by(step: Step, index: int, place: int) -> list[Made]:
    """Return what one step produces."""
    return [Made(artefact, step.point, place, index) for artefact in step.produces]


def steps(manifest: Manifest) -> tuple[Step, ...]:
    """Return the steps of a manifest; none unless it is a feature."""
    return manifest.feature.steps if manifest.feature else ()


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Index(Record):
    """Who owns what in a set of capabilities.

    Attributes:
        tiers: Capability id -> tier.
        runtimes: Ids of the capabilities that describe a runtime.
        owners: Name, as `named` has it -> id of the owner.
        objects: Name of an object that configuration keys lie in, as `named` has keys
            -> id of an owner of one of them.
        producers: `(point, artefact)` -> the step that produces it there.
        earliest: Artefact -> place in the loop of the first step that produces it.
        spellings: Artefact in lower case -> artefact, to notice a slip of the key.
    """

    tiers: PMap[str, str] = attrs.field(factory=pmap)
    runtimes: PMap[str, bool] = attrs.field(factory=pmap)
    owners: PMap[str, str] = attrs.field(factory=pmap)
    objects: PMap[str, str] = attrs.field(factory=pmap)
    producers: PMap[tuple[str, str], Producer] = attrs.field(factory=pmap)
    earliest: PMap[str, int] = attrs.field(factory=pmap)
    spellings: PMap[str, str] = attrs.field(factory=pmap)

    def __repr__(self) -> str:
        """Show the size only."""
        return f"<Index of {len(self.tiers)} capabilities>"

    @classmethod
    def of(cls, manifests: Iterable[Manifest], order: Mapping[str, int]) -> Index:
        """Return the index of a set that is known to be free of conflicts.

        Args:
            manifests: In any order.
            order: Point -> its place in the loop.
        """
        draft = Draft(cls(), order)
        for manifest in manifests:
            draft.add(manifest)
        return draft.freeze()


class Draft:
    """An index while it grows.

    Lives within one call of `compose`, where persistent updates of large maps would
    cost ten times the lookups they serve. `freeze` gives the persistent form.
    """

    def __init__(self, base: Index, order: Mapping[str, int]) -> None:
        """Start from `base`; `order` gives each point its place in the loop."""
        self._order = dict(order)
        self._tiers = dict(base.tiers)
        self._runtimes = dict(base.runtimes)
        self._owners = dict(base.owners)
        self._objects = dict(base.objects)
        self._producers = dict(base.producers)
        self._earliest = dict(base.earliest)
        self._spellings = dict(base.spellings)

    def tier(self, capability_id: str) -> str | None:
        """Return the tier of a member, or None for an id that is not one."""
        return self._tiers.get(capability_id)

    def is_runtime(self, capability_id: str) -> bool:
        """Tell whether a member describes a runtime."""
        return capability_id in self._runtimes

    def owner(self, kind: str, name: str) -> str | None:
        """Return the id that owns a name, or None when it is free."""
        return self._owners.get(named(kind, name))

    def free(self, names: Iterable[str]) -> bool:
        """Tell whether nobody owns any of these names, as `named` has them."""
        return self._owners.keys().isdisjoint(names)

    def apart(self, names: Iterable[str], around: Iterable[str]) -> bool:
        """Tell whether no key of a manifest lies in one of a member, or around one.

        Args:
            names: What the manifest claims, as `named` has it.
            around: The objects that its keys lie in.
        """
        return self._objects.keys().isdisjoint(names) and self.free(around)

    def entangled(self, key: str) -> tuple[str, str] | None:
        """Return who owns a key above or below one, and how the two lie, or None."""
        for above in enclosing(key):
            owner = self.owner("config-key", above)
            if owner is not None:
                return owner, f"lies below {quoted(above)}, a key of"
        owner = self._objects.get(named("config-key", key))
        return None if owner is None else (owner, "has a key below it, of")

    def unmade(self, artefacts: Iterable[tuple[str, str]]) -> bool:
        """Tell whether no step makes any of these artefacts, each with its point."""
        return self._producers.keys().isdisjoint(artefacts)

    def producer(self, point: str, artefact: str) -> Producer | None:
        """Return the step that produces an artefact at a point."""
        return self._producers.get((point, artefact))

    def first_made(self, artefact: str) -> int | None:
        """Return the place in the loop where a step first produces an artefact."""
        return self._earliest.get(artefact)

    def spelling(self, artefact: str) -> str | None:
        """Return an artefact of a member that differs in letter case only, if any."""
        return self._spellings.get(artefact.lower())

    def add(self, manifest: Manifest) -> None:
        """Make a manifest a member; the first owner of a name keeps it."""
        self.enter(
            manifest, names(manifest), made(manifest, self._place), around(manifest)
        )

    def _place(self, point: str) -> int:
        return self._order.get(point, len(self._order))

    def enter(
        self,
        manifest: Manifest,
        claimed: Iterable[str],
        makes: Iterable[Made],
        objects: Iterable[str],
    ) -> None:
        """Make a manifest a member.

        Of it `names`, `made` and `around` are known already.
        """
        owner = manifest.id
        self._tiers[owner] = manifest.tier
        if manifest.runtime is not None:
            self._runtimes[owner] = True
        for name in claimed:
            self._owners.setdefault(name, owner)
        for name in objects:
            self._objects.setdefault(name, owner)
        for artefact, point, place, step in makes:
            self._producers.setdefault((point, artefact), Producer(owner, step))
            if place < self._earliest.setdefault(artefact, place):
                self._earliest[artefact] = place
            self._spellings.setdefault(artefact.lower(), artefact)

    def freeze(self) -> Index:
        """Return the persistent form of everything known so far."""
        return Index(
            tiers=pmap(self._tiers),
            runtimes=pmap(self._runtimes),
            owners=pmap(self._owners),
            objects=pmap(self._objects),
            producers=pmap(self._producers),
            earliest=pmap(self._earliest),
            spellings=pmap(self._spellings),
        )


def collisions(
    draft: Draft, manifest: Manifest, central: CentralConfig
) -> tuple[Problem, ...]:
    """Return a problem for every name that already belongs to somebody else (gate 6).

    First come wins, and the first party always came first.
    """
    found = []
    if draft.tier(manifest.id) is not None:
        found.append(
            Problem(
                code="id-taken",
                path="/id",
                message=f"the id {quoted(manifest.id)} already belongs to a capability",
                hint="Give this capability, and its folder, another id.",
            )
        )
    seen = set()
    for claim in claims(manifest):
        if claim.kind not in COLLISIONS or (claim.kind, claim.name) in seen:
            continue
        seen.add((claim.kind, claim.name))
        word, code = COLLISIONS[claim.kind]
        owner = draft.owner(claim.kind, claim.name)
        if owner is not None:
            found.append(_taken(claim, code, word, quoted(owner)))
        elif claim.kind == "config-key" and central.owns(claim.name):
            found.append(_taken(claim, code, word, "the host's own configuration"))
        elif claim.kind == "config-key":
            entangled = draft.entangled(claim.name)
            if entangled is None and central.holds_keys(claim.name):
                entangled = ("", "has keys of the host's below it")
            if entangled is not None:
                found.append(_overlap(claim, *entangled))
        if len(found) == MAX_PROBLEMS:
            break
    return tuple(found)


def _taken(claim: Claim, code: str, word: str, owner: str) -> Problem:
    return Problem(
        code=code,
        path=claim.path,
        message=f"the {word} {quoted(claim.name)} already belongs to {owner}",
        hint=f"Rename the {word}, or remove one of the two capabilities.",
    )


def _overlap(claim: Claim, owner: str, lies: str) -> Problem:
    whose = f" {quoted(owner)}" if owner else ""
    return Problem(
        code="config-key-overlap",
        path=claim.path,
        message=f"the configuration key {quoted(claim.name)} {lies}{whose}",
        hint="Rename the configuration key: a key holds one value, and no keys.",
    )


def duplicates(draft: Draft, manifest: Manifest) -> Iterator[Problem]:
    """Yield names claimed twice by one manifest, and lane and tracker clashes."""
    seen: dict[tuple[str, str], Claim] = {}
    for claim in claims(manifest):
        key = (claim.kind, claim.name)
        word = _WORD[claim.kind]
        if key in seen:
            yield Problem(
                code="claimed-twice",
                path=claim.path,
                message=f"the {word} {quoted(claim.name)} is claimed twice, "
                f"first at {seen[key].path}",
                hint="Keep one of the two.",
            )
            continue
        seen[key] = claim
        if claim.kind == "config-key":
            above = next((a for a in enclosing(claim.name) if a in manifest.config), "")
            if above:
                yield _overlap(claim, "", f"lies below {quoted(above)}, of its own")
        owner = draft.owner(*key)
        if claim.kind in UNIQUE and owner is not None:
            yield _taken(claim, UNIQUE[claim.kind][1], word, quoted(owner))
