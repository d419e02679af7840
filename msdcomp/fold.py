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
from msdcomp.diagnostics import Problem, Severity
from msdcomp.flow import Flow
from msdcomp.gates import BlockedGate
from msdcomp.host import Host
from msdcomp.invariants import Draft, Index
from msdcomp.ordering import in_order, offered
from msdcomp.outlook import FoldOutlook
from msdcomp.records import Record
from msdcomp.registry import Entry, Registry, build
from msdcomp.rules.contract import undispatched
from msdcomp.setfailure import SetFailure
from msdcomp.verdict import BundlePath, Skipped, SkipWarning

__all__ = ["OnSetFailure", "compose"]

#: What to do when the accepted set cannot be built: drop every overlay, or only the
#: ones that make it impossible.
OnSetFailure = Literal["fallback", "isolate"]


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
    outlook = FoldOutlook(ordered, host.contract)
    folded = _fold(ordered, index, flow, host, outlook)
    skipped = folded.skipped
    while folded.accepted:
        built = build((*base.entries(), *(a.entry for a in folded.accepted)))
        if isinstance(built, Registry):
            return _composition(built, folded.accepted, skipped, (), host)
        failure = SetFailure.of(built)
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
    outlook: FoldOutlook,
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
            outlook.accepted(candidate)
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
