"""Composition once more, as the documents word it: slow, and easy to believe.

Nothing is indexed and nothing grows: for every candidate the whole merged set is looked
at from scratch. Shares with the package only the reading of manifests and the tables of
the host (points, roles, artefacts, tiers, reserved prefixes).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence

import attrs

from msdcomp.candidate import Candidate, Consent, FragmentText, Scope
from msdcomp.host import Host
from msdcomp.manifest import Contribution, Feature, Gate, Manifest, Step
from msdcomp.semver import satisfies
from msdcomp.vocabulary import HOST_PHASES, POINTS, RESERVED_PREFIXES, TIERS

__all__ = ["Outcome", "compose"]

Hook = tuple[str, int]
Flow = dict[Hook, Step | Contribution]
_KINDS: dict[str, type] = {"step": Step, "contribution": Contribution}
PLACES = {point: place for place, point in enumerate(POINTS)}


@attrs.frozen
class Outcome:
    """What composing comes to.

    Attributes:
        accepted: Ids in the order of acceptance.
        codes: Sorted `(scope, folder, code)` of everything that was skipped.
        gates: Sorted `(point, scope, folder)` of the gates that are lost.
        points: Point -> `(id, kind, index)` in dispatch order.
        fell_back: Everything was dropped.
    """

    accepted: tuple[str, ...]
    codes: list[tuple[str, str, str]]
    gates: list[tuple[str, str, str]]
    points: dict[str, list[tuple[str, str, int]]]
    fell_back: bool


def compose(
    base: Sequence[Manifest],
    candidates: Iterable[Candidate],
    host: Host,
    *,
    isolate: bool,
) -> Outcome:
    """Compose by the letter of the documents."""
    queue = ordered(list(candidates), base)
    skipped: list[tuple[Candidate, str, Candidate | None]] = []
    while True:
        accepted: list[Candidate] = []
        for candidate in queue:
            members = [_manifest(other) for other in accepted]
            code = verdict(candidate, base, members, host)
            if code is None:
                accepted.append(candidate)
                continue
            rival = [o for o in accepted if o.folder == candidate.folder]
            shadow = rival[0] if code == "shadowed" else None
            skipped.append((candidate, code, shadow))
        everybody = [*base, *map(_manifest, accepted)]
        culprits = {owner for owner, _ in tied(everybody)}
        if not culprits or not accepted:
            break
        gone = [c for c in accepted if not isolate or c.folder in culprits]
        skipped += [(c, "set-build-failed", None) for c in gone]
        queue = [candidate for candidate in accepted if candidate not in gone]
        if not isolate:
            accepted, everybody = [], list(base)
            break
    return Outcome(
        tuple(candidate.folder for candidate in accepted),
        sorted((c.scope.value, c.folder, code) for c, code, _ in skipped),
        sorted(
            (point, c.scope.value, c.folder)
            for c, _, shadow in skipped
            for point in lost(c, shadow)
        ),
        dispatched(everybody),
        bool(culprits) and not isolate,
    )


def _manifest(candidate: Candidate) -> Manifest:
    assert candidate.decoded is not None
    assert candidate.decoded.manifest is not None
    return candidate.decoded.manifest


def _feature(manifest: Manifest) -> Feature | None:
    return manifest.feature


def _steps(manifest: Manifest) -> Sequence[Step]:
    feature = _feature(manifest)
    return feature.steps if feature else ()


def _movable(manifest: Manifest) -> Sequence[Step | Contribution]:
    """Return the hooks that data flow moves about."""
    feature = _feature(manifest)
    found: list[Step | Contribution] = []
    if feature:
        found += feature.steps
        found += feature.contributions
    return found


# The order of decision.


def ordered(candidates: list[Candidate], base: Sequence[Manifest]) -> list[Candidate]:
    """Take the smallest id whose predecessors are taken; if none, the smallest id."""
    found: list[Candidate] = []
    for scope in (Scope.GLOBAL, Scope.PROJECT):
        left = [c for c in candidates if c.scope is scope]
        left.sort(key=lambda candidate: candidate.folder)
        while left:
            free = [
                c
                for c in left
                if not any(precedes(other, c, base) for other in left if other is not c)
            ]
            taken = (free or left)[0]
            left.remove(taken)
            found.append(taken)
    return found


def _heard(candidate: Candidate) -> Manifest | None:
    """Return the manifest of a candidate that passes gates 1 to 5."""
    agreed = candidate.consent is Consent.MATCHES and not candidate.linked
    if candidate.pending or (candidate.scope is Scope.PROJECT and not agreed):
        return None
    if candidate.decoded is None or candidate.folder.startswith(RESERVED_PREFIXES):
        return None
    return candidate.decoded.manifest


def precedes(one: Candidate, other: Candidate, base: Sequence[Manifest]) -> bool:
    """Tell whether `one` has to be decided before `other`."""
    first, second = _heard(one), _heard(other)
    if first is None or second is None:
        return False
    if first.id in second.requires:
        return True
    feature = _feature(second)
    if feature and first.runtime and first.id in feature.runtime_compat.named:
        return True
    return any(
        artefact in maker.produces and PLACES[maker.point] <= PLACES[user.point]
        for user in _steps(second)
        for artefact in user.consumes
        if not _host_gives(artefact, user.point)
        and not _made(artefact, user.point, base, None)
        for maker in _steps(first)
    )


def _host_gives(artefact: str, point: str) -> bool:
    return any(
        artefact in produces and PLACES[points[-1]] <= PLACES[point]
        for _, points, _, produces, _ in HOST_PHASES
    )


def _made(
    artefact: str, point: str, members: Iterable[Manifest], but: Step | None
) -> bool:
    """Tell whether another step gives an artefact at a point, or before it."""
    return any(
        artefact in maker.produces and PLACES[maker.point] <= PLACES[point]
        for member in members
        for maker in _steps(member)
        if maker is not but
    )


# The gates.


def verdict(
    candidate: Candidate, base: Sequence[Manifest], accepted: list[Manifest], host: Host
) -> str | None:
    """Return the code of the first gate that a candidate fails, or None."""
    project = candidate.scope is Scope.PROJECT
    if project and candidate.linked:
        return "linked-folder"
    if candidate.pending:
        return "pending"
    if project and candidate.consent is not Consent.MATCHES:
        return {
            Consent.NONE: "unconsented",
            Consent.CHANGED: "consent-changed",
            Consent.UNREADABLE: "consent-unreadable",
        }[candidate.consent]
    if candidate.decoded is None:
        return "unreadable"
    if not candidate.decoded.is_object:
        return "not-json"
    if candidate.folder.startswith(RESERVED_PREFIXES):
        return "reserved-prefix"
    manifest = candidate.decoded.manifest
    if manifest is None:
        return "invalid-manifest"
    if manifest.id in {member.id for member in accepted}:
        return "shadowed"
    owned = {name for member in (*base, *accepted) for name in _exclusive(member)}
    central = any(host.central.owns(key) for key in manifest.config)
    others = {key for member in (*base, *accepted) for key in member.config}
    if any(_nested(key, other) for key in manifest.config for other in others):
        return "collision"
    if any(
        own.startswith(f"{key}.")
        for key in manifest.config
        for own in host.central.keys
    ):
        return "collision"
    if central or owned & set(_exclusive(manifest)):
        return "collision"
    wanted = manifest.engines.msd
    if wanted is not None and not satisfies(host.version, wanted):
        return "incompatible-engine"
    if not _fragments_read(candidate, manifest):
        return "bad-fragment"
    if not sound([*base, *accepted, manifest]) or tied([*base, manifest]):
        return "invariant"
    return None


def _nested(one: str, other: str) -> bool:
    """Tell whether one of two configuration keys lies below the other."""
    return one.startswith(f"{other}.") or other.startswith(f"{one}.")


def _exclusive(manifest: Manifest) -> list[tuple[str, str]]:
    """List the names over which two capabilities collide."""
    feature = _feature(manifest)
    return [
        ("id", manifest.id),
        *(("skill", stem) for stem in (feature.skills if feature else ())),
        *(("agent", stem) for stem in (feature.agents if feature else ())),
        *(("key", key) for key in manifest.config),
        *(("family", command.family) for command in manifest.commands),
    ]


def _fragments_read(candidate: Candidate, manifest: Manifest) -> bool:
    for hook in _movable(manifest):
        fragment = hook.fragment
        if fragment is None or fragment.inline is not None:
            continue
        text = candidate.fragments.get(fragment.path or "")
        if not isinstance(text, FragmentText) or not text.text:
            return False
    return True


def sound(members: list[Manifest]) -> bool:
    """Tell whether a merged set keeps every cross-capability invariant."""
    return (
        _unique(members)
        and _required(members)
        and _runtimes(members)
        and all(_fits_the_host(member) for member in members)
        and _one_producer(members)
        and all(
            _host_gives(artefact, user.point)
            or _made(artefact, user.point, members, user)
            for member in members
            for user in _steps(member)
            for artefact in user.consumes
        )
    )


def _unique(members: list[Manifest]) -> bool:
    names: list[tuple[str, str]] = []
    for member in members:
        names += _exclusive(member)
        feature, lane = _feature(member), member.reviewer
        if feature and feature.task_content_resolver:
            names.append(("tracker", feature.task_content_resolver.tracker_prefix))
        if lane:
            names += [("slug", lane.slug), ("section", lane.reviews_section)]
            names += [("flag", flag) for flag in lane.flags]
    keys = [key for member in members for key in member.config]
    return len(names) == len(set(names)) and not any(
        _nested(one, other) for one in keys for other in keys
    )


def _required(members: list[Manifest]) -> bool:
    by_id = {str(member.id): member for member in members}
    for member in members:
        for needed in member.requires:
            if needed not in by_id:
                return False
            if TIERS.index(by_id[needed].tier) > TIERS.index(member.tier):
                return False
        reach: set[str] = set(member.requires)
        for _ in members:
            reach |= {n for one in reach for n in by_id[one].requires if n in by_id}
            if not reach <= by_id.keys():
                return False
        if member.id in reach:
            return False
    return True


def _runtimes(members: list[Manifest]) -> bool:
    known = {str(member.id) for member in members if member.runtime}
    features = [feature for m in members if (feature := _feature(m))]
    return all(feature.runtime_compat.named <= known for feature in features)


def _fits_the_host(member: Manifest) -> bool:
    feature = _feature(member)
    if feature is None:
        return True
    switches = [hook.when for hook in (*_movable(member), *feature.gates)]
    roles = {point: set(r) for _, points, r, _, _ in HOST_PHASES for point in points}
    return set(switches) <= {None, *member.config} and all(
        contribution.into in roles[contribution.point]
        for contribution in feature.contributions
    )


def _one_producer(members: list[Manifest]) -> bool:
    made = [
        (user.point, artefact)
        for member in members
        for user in _steps(member)
        for artefact in set(user.produces)
    ]
    return len(made) == len(set(made))


# The loop.


def _flows(members: list[Manifest]) -> Iterator[tuple[str, str, Flow]]:
    for point, kind in itertools.product(POINTS, _KINDS):
        flow: Flow = {}
        for member in members:
            group = [h for h in _movable(member) if isinstance(h, _KINDS[kind])]
            for index, hook in enumerate(group):
                if hook.point == point:
                    flow[member.id, index] = hook
        yield point, kind, flow


def _before(flow: Flow, hook: Hook) -> set[Hook]:
    """Return the hooks that give what a hook consumes; it cannot wait for itself."""
    wanted = set(flow[hook].consumes)
    return {o for o in flow if o != hook and wanted & set(flow[o].produces)}


def tied(members: list[Manifest]) -> set[Hook]:
    """Return every hook that waits for itself in the end."""
    found: set[Hook] = set()
    for _, _, flow in _flows(members):
        for hook in flow:
            reach = _before(flow, hook)
            for _ in flow:
                reach |= {before for one in reach for before in _before(flow, one)}
            if hook in reach:
                found.add(hook)
    return found


def dispatched(members: list[Manifest]) -> dict[str, list[tuple[str, str, int]]]:
    """Return the hooks of every point: the smallest order that data flow allows."""
    points: dict[str, list[tuple[str, str, int]]] = {}
    for point, kind, flow in _flows(members):
        left = sorted(flow)
        placed: list[Hook] = []
        while left:
            ready = [h for h in left if _before(flow, h) <= set(placed)]
            placed.append(ready[0])
            left.remove(ready[0])
        points.setdefault(point, []).extend((o, kind, index) for o, index in placed)
    for member in sorted(members, key=lambda member: member.id):
        feature = _feature(member)
        gates: Sequence[Gate] = feature.gates if feature else ()
        for index, gate in enumerate(gates):
            points[gate.point].append((member.id, "gate", index))
    return {point: hooks for point, hooks in points.items() if hooks}


def lost(candidate: Candidate, shadow: Candidate | None) -> set[str]:
    """Return the points at which a skipped candidate is known to declare gates."""
    decoded = candidate.decoded
    kept = shadow.decoded.gates if shadow and shadow.decoded else ()
    known = {g.point for g in (decoded.gates if decoded else ()) if g not in kept}
    if decoded is None or not decoded.is_object:
        known |= {*candidate.stored_gates, *candidate.consented_gates}
    if candidate.scope is Scope.PROJECT and candidate.consent is Consent.CHANGED:
        known |= set(candidate.consented_gates)
    return known & set(POINTS)
