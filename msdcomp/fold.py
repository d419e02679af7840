"""`compose`: a fold of untrusted candidates over the first-party registry.

Each candidate sees what the ones before it left; one with a fault is skipped whole and
leaves nothing behind but its warning and its gates. Then the set is built, by the same
builder as the first party.
Source: docs/explanation/composition.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

import attrs
from pyrsistent import pmap
from toolz import concat, groupby

from msdcomp.admission import Admission, Fault, skip
from msdcomp.candidate import Candidate
from msdcomp.composition import Composition
from msdcomp.crosscheck import Flow, spelled
from msdcomp.dataflow import Task, cycles
from msdcomp.diagnostics import Problem, Severity
from msdcomp.gates import BlockedGate
from msdcomp.host import Host
from msdcomp.invariants import Draft, Index, quoted, steps
from msdcomp.ordering import in_order, offered
from msdcomp.records import Record
from msdcomp.registry import BuildFailure, Entry, OrderingCycle, Registry, build
from msdcomp.rules.contract import undispatched
from msdcomp.verdict import BundlePath, Skipped, SkipWarning

__all__ = ["OnSetFailure", "compose"]

#: What to do when the accepted set cannot be built: drop every overlay, or only the
#: ones that make it impossible.
OnSetFailure = Literal["fallback", "isolate"]


class _Outlook:
    """What became of the other candidates; grows along the passes of one fold."""

    def __init__(
        self, candidates: Sequence[Candidate], order: Mapping[str, int]
    ) -> None:
        """Take note of what candidates past the first five gates declare."""
        #: Scope of the candidate that is being judged.
        self.deciding = ""
        #: Folder -> scopes in which it is not decided yet.
        self._waiting: dict[str, list[str]] = {}
        self._requires: dict[str, tuple[str, ...]] = {}
        self._runtimes: set[str] = set()
        #: Artefact -> folder -> first place in the loop where it would be made.
        self._makers: dict[str, dict[str, int]] = {}
        self._skipped: dict[str, list[SkipWarning]] = {}
        self._roots: dict[tuple[str, str], SkipWarning] = {}
        # Found once for all, and only when a dependency is still undecided.
        self._rings: Mapping[str, tuple[str, ...]] | None = None
        for candidate in candidates:
            manifest = offered(candidate)
            if manifest is None:
                continue
            folder = candidate.folder
            self._requires[folder] = manifest.requires
            if manifest.runtime is not None:
                self._runtimes.add(folder)
            for step in steps(manifest):
                for artefact in step.produces:
                    places = self._makers.setdefault(artefact, {})
                    here = order[step.point]
                    places[folder] = min(here, places.get(folder, here))

    def judging(self, candidates: Iterable[Candidate]) -> None:
        """Take note of candidates that are to be decided, in this pass, from now on."""
        for candidate in candidates:
            waiting = self._waiting.setdefault(candidate.folder, [])
            waiting.append(candidate.scope.value)

    def decided(self, candidate: Candidate) -> None:
        """Take note that a candidate is decided, whatever the verdict."""
        self._waiting[candidate.folder].remove(candidate.scope.value)

    def skipped(self, skipped: Skipped) -> None:
        """Take note of a skip; its root is that of its first cause."""
        warning = skipped.warning
        self._skipped.setdefault(warning.capability_id, []).append(warning)
        causes = (self._roots[key] for key in warning.because if key in self._roots)
        self._roots[warning.key] = next(causes, warning)

    def fate(self, capability_id: str) -> str | None:
        """Say why an installed capability is not a member, with the root cause."""
        waiting = self._waiting.get(capability_id, [])
        if self.deciding in waiting:
            # Dependencies come first inside a scope; this one could not.
            return "is not decided yet: the two, or what they need, wait for each other"
        if warnings := self._skipped.get(capability_id):
            root = self._roots[warnings[-1].key]
            if root is warnings[-1]:
                return f"was skipped ({root.code}: {root.reason})"
            return (
                f"was skipped, because of {quoted(root.capability_id)} "
                f"({root.code}: {root.reason})"
            )
        if waiting:
            return f"belongs to {waiting[0]} scope, which is decided later"
        return None

    def may_be_runtime(self, capability_id: str) -> bool:
        """Tell whether an installed capability describes a runtime, for all we know."""
        return capability_id in self._runtimes or capability_id not in self._requires

    def ring(self, one: str, other: str) -> tuple[str, ...]:
        """Return the ids along a `requires` cycle when two lie on the same knot."""
        if self._rings is None:
            self._rings = _rings(self._requires)
        ring = self._rings.get(one, ())
        return ring if ring and self._rings.get(other) is ring else ()

    def makers(self, artefact: str) -> Mapping[str, int]:
        """Return who declares a step producing an artefact, and its first place."""
        return self._makers.get(artefact, {})

    def keys(self, capability_id: str) -> tuple[tuple[str, str], ...]:
        """Return the keys of the skipped candidates of an id."""
        return tuple(w.key for w in self._skipped.get(capability_id, ()))


def _rings(requires: Mapping[str, tuple[str, ...]]) -> Mapping[str, tuple[str, ...]]:
    """Return, for every id on a `requires` cycle, the ids along one."""
    names = sorted(requires)
    tasks = [Task(frozenset({name}), frozenset(requires[name])) for name in names]
    rings: dict[str, tuple[str, ...]] = {}
    for knot in cycles(tasks):
        # A hop leads from what is required to whoever requires it.
        first, *rest = (names[index] for index, _ in knot.hops)
        ring = (first, *reversed(rest))
        rings.update(dict.fromkeys((names[index] for index in knot.members), ring))
    return rings


@attrs.frozen(eq=False, repr=False)
class _Accepted(Record):
    candidate: Candidate
    entry: Entry


@attrs.frozen(eq=False, repr=False)
class _Folded(Record):
    """What one pass over the candidates left."""

    accepted: tuple[_Accepted, ...]
    skipped: tuple[Skipped, ...]


def compose(
    base: Registry,
    candidates: Iterable[Candidate],
    host: Host | None = None,
    *,
    on_set_failure: OnSetFailure = "fallback",
) -> Composition:
    """Fold untrusted candidates over the first-party registry.

    Args:
        base: The frozen first-party registry; no candidate can change an entry.
        candidates: One per folder found, in any order.
        host: Running version, loop and central configuration keys; by default the
            host that the shipped capabilities belong to.
        on_set_failure: `fallback` drops every overlay when the set of those accepted
            cannot be built, `isolate` only the culprits and their dependents.

    Returns:
        The registry (`base` itself when nothing is accepted) with a warning for every
        candidate that is not in it and a record for every gate lost with it.

    Cost: proportional to what the candidates declare, plus sorting.
    Source: docs/explanation/composition.md, "First-party always wins".
    """
    host = host or Host()
    given = tuple(candidates)
    firsts = tuple(base.capabilities[owner] for owner in sorted(base.capabilities))
    index = Index.of(firsts, host.contract.order)
    flow = Flow.of(firsts)
    ordered = in_order(given, index, host.contract)
    outlook = _Outlook(ordered, host.contract.order)
    folded = _fold(ordered, index, flow, host, outlook)
    skipped = folded.skipped
    while folded.accepted:
        built = build((*base.entries(), *(a.entry for a in folded.accepted)))
        if isinstance(built, Registry):
            return _composition(built, folded.accepted, skipped, (), host)
        failure = _SetFailure.of(built)
        gone = built.culprits.intersection(a.candidate.folder for a in folded.accepted)
        # With nobody to isolate the base itself is tied up, and stays so.
        if on_set_failure != "isolate" or not gone:
            skipped += tuple(
                failure.dropped(accepted.candidate, host)
                for accepted in folded.accepted
            )
            fallen = _composition(base, (), skipped, (failure.warning(),), host)
            dropped = {a.entry.manifest.id: a.candidate for a in folded.accepted}
            return attrs.evolve(
                fallen,
                dropped=pmap({owner: _bundle(c) for owner, c in dropped.items()}),
            )
        # Whoever is on a cycle goes; the others are judged again without them, since
        # some may have depended on what is gone.
        for accepted in folded.accepted:
            if accepted.candidate.folder in gone:
                dropped_one = failure.dropped(accepted.candidate, host)
                outlook.skipped(dropped_one)
                skipped += (dropped_one,)
        rest = [a.candidate for a in folded.accepted if a.candidate.folder not in gone]
        folded = _fold(rest, index, flow, host, outlook)
        skipped += folded.skipped
    return _composition(base, (), skipped, (), host)


def _fold(
    ordered: Sequence[Candidate],
    index: Index,
    flow: Flow,
    host: Host,
    outlook: _Outlook,
) -> _Folded:
    """Judge candidates one after the other.

    Args:
        ordered: In the order of decision.
        index: Who owns what in the first party.
        flow: Data flow among the first party's hooks.
        host: What they are judged for.
        outlook: What earlier passes left behind; grows.
    """
    outlook.judging(ordered)
    draft = Draft(index, host.contract.order)
    admission = Admission(
        draft=draft, host=host, flow=flow, outlook=outlook, accepted={}
    )
    accepted: list[_Accepted] = []
    skipped: list[Skipped] = []
    for scope, group in groupby(lambda c: c.scope.value, ordered).items():
        outlook.deciding = scope
        # Who fails one of the first five gates does so whatever the others do. Their
        # verdicts come first, to be named as causes wherever their ids stand in order.
        alone = [candidate for candidate in group if offered(candidate) is None]
        rest = [candidate for candidate in group if offered(candidate) is not None]
        for candidate in (*alone, *rest):
            verdict = _judged(admission, candidate)
            outlook.decided(candidate)
            if isinstance(verdict, Skipped):
                skipped.append(verdict)
                outlook.skipped(verdict)
                continue
            draft.add(verdict.manifest)
            admission.accepted[candidate.folder] = candidate
            accepted.append(_Accepted(candidate, verdict))
    return _Folded(tuple(accepted), tuple(skipped))


def _judged(admission: Admission, candidate: Candidate) -> Entry | Skipped:
    try:
        return admission.judge(candidate)
    except Exception as error:  # noqa: BLE001 - a defect costs one candidate, not all
        message = (
            f"composing it failed inside this library ({type(error).__name__}); "
            "that is a defect, please report it with the manifest"
        )
        problem = Problem(code="internal-error", message=message)
        fault = Fault(
            code="internal-error",
            reason=message,
            problems=(problem,),
            advice="Report the defect with the manifest.",
        )
        return skip(candidate, fault, admission.host)


_SET_ADVICE = (
    "Take one capability of each cycle away, or drop one of the artefacts named from "
    "its consumes."
)


@attrs.frozen(eq=False, repr=False)
class _SetFailure(Record):
    """A failure of the whole set in words, made once for all overlays it drops."""

    failure: BuildFailure
    problems: tuple[Problem, ...]

    @classmethod
    def of(cls, failure: BuildFailure) -> _SetFailure:
        return cls(failure, tuple(_cycle_problem(cycle) for cycle in failure.cycles))

    def warning(self) -> SkipWarning:
        """Return the one warning of a fallback."""
        return SkipWarning(
            code="set-build-failed",
            scope="set",
            capability_id="*",
            reason="no registry can be built of all accepted overlays, so every one "
            f"of them was dropped; {_some(self.failure.culprits)} wait for each other",
            problems=self.problems,
            remedy=_SET_ADVICE,
        )

    def dropped(self, candidate: Candidate, host: Host) -> Skipped:
        """Return the record of an overlay that the failure takes along."""
        own = candidate.folder
        if own in self.failure.culprits:
            problems = tuple(p for p in self.problems if own in p.about)
            others = frozenset(c for p in problems for c in p.about if c != own)
            reason = f"its hooks and those of {_some(others)} wait for each other"
        else:
            problems = self.problems[:1]
            reason = (
                "it was dropped with every other overlay, because "
                f"{_some(self.failure.culprits)} wait for each other"
            )
        fault = Fault(
            code="set-build-failed",
            reason=reason,
            problems=problems,
            advice=_SET_ADVICE,
        )
        return skip(candidate, fault, host)


def _some(ids: Iterable[str]) -> str:
    """Name a few ids: a sentence stays one, however many there are."""
    names = [quoted(name) for name in sorted(ids)]
    more = f" and {len(names) - 5} more" if len(names) > 5 else ""
    return ", ".join(names[:5]) + more


def _cycle_problem(cycle: OrderingCycle) -> Problem:
    way = (
        ((hook.capability_id, hook.kind, hook.index), artefact)
        for hook, artefact in cycle.hops
    )
    return Problem(
        code="ordering-cycle",
        message=f"the {cycle.kind}s at {cycle.point} wait for each other: "
        + spelled(way),
        hint=_SET_ADVICE,
        about=tuple(cycle.culprits),
    )


def _composition(
    registry: Registry,
    accepted: Sequence[_Accepted],
    skipped: Sequence[Skipped],
    whole: Sequence[SkipWarning],
    host: Host,
) -> Composition:
    """Gather the values of a finished fold."""
    fallen = bool(whole)
    warnings: dict[tuple[str, str], tuple[SkipWarning, ...]] = {}
    # After a fallback one warning speaks for everything the set took along.
    singles = [
        s.warning
        for s in skipped
        if not (fallen and s.warning.code == "set-build-failed")
    ]
    for warning in (*singles, *whole):
        warnings[warning.key] = (*warnings.get(warning.key, ()), warning)
    return Composition(
        registry=registry,
        warnings=pmap(warnings),
        blocked_gates=pmap(_by_point(skipped)),
        accepted=tuple(a.entry.manifest.id for a in accepted),
        paths=pmap({a.entry.manifest.id: _bundle(a.candidate) for a in accepted}),
        diagnostics=pmap(_notices(accepted, host)),
        command_roots=pmap(
            {
                a.entry.manifest.id: _bundle(a.candidate)
                for a in accepted
                if a.candidate.committed and a.entry.manifest.commands
            }
        ),
    )


def _bundle(candidate: Candidate) -> BundlePath:
    return BundlePath(scope=candidate.scope.value, path=candidate.path)


def _by_point(skipped: Iterable[Skipped]) -> Mapping[str, tuple[BlockedGate, ...]]:
    gates: Iterable[BlockedGate] = concat(one.gates for one in skipped)
    found: dict[str, list[BlockedGate]] = groupby(lambda gate: gate.point, gates)
    return {
        point: tuple(sorted(lost, key=lambda g: (g.scope, g.capability_id)))
        for point, lost in found.items()
    }


def _notices(
    accepted: Sequence[_Accepted], host: Host
) -> Mapping[tuple[str, str], tuple[Problem, ...]]:
    """Return what should be looked at in overlays that joined nevertheless."""
    notices = {}
    for one in accepted:
        decoded = one.candidate.decoded
        known = decoded.diagnostics if decoded is not None else ()
        # Its author should not have shipped it; here it is a notice, since the rest of
        # the overlay works.
        dropped = [
            attrs.evolve(problem, severity=Severity.WARNING)
            for problem in undispatched(one.entry.manifest, host.contract)
        ]
        found = (*known, *one.candidate.placed(dropped))
        if found:
            notices[one.candidate.key] = found
    return notices
