"""The fold against a slow composition written from the documents."""

from __future__ import annotations

from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from msdcomp.candidate import Candidate, Scope
from msdcomp.composition import Composition
from msdcomp.fold import compose
from tests import oracle
from tests.overlays import (
    FIRST_PARTY,
    HOST,
    Plan,
    candidates,
    feature,
    gate,
    plan_lists,
    said,
    step,
)

BASE = [FIRST_PARTY.capabilities[owner] for owner in sorted(FIRST_PARTY.capabilities)]


def _outcome(composition: Composition) -> oracle.Outcome:
    skipped = [
        (w.scope, w.capability_id, w.code)
        for warnings in composition.warnings.values()
        for w in warnings
        if w.scope != "set"
    ]
    skipped += [
        (bundle.scope, owner, "set-build-failed")
        for owner, bundle in composition.dropped.items()
    ]
    return oracle.Outcome(
        tuple(composition.accepted),
        sorted(skipped),
        sorted(
            (point, gate.scope, gate.capability_id)
            for point, gates in composition.blocked_gates.items()
            for gate in gates
        ),
        {
            point: [(h.capability_id, h.kind, h.index) for h in hooks.all()]
            for point, hooks in composition.registry.by_loop_point.items()
        },
        composition.fell_back,
    )


def _plan(folder: str, scope: Scope = Scope.GLOBAL, **fields: Any) -> Plan:
    return Plan(folder=folder, scope=scope, document=feature(folder, **fields))


#: A circle of three, one overlay that needs one of them, and one that needs nobody.
CIRCLE_AND_DEPENDENT = [
    _plan("cap-ba", contributions=[said("plan:pre", ["P.md"], ["Q.md"])]),
    _plan("cap-da", contributions=[said("plan:pre", ["Q.md"], ["R.md"])]),
    _plan("cap-fa", contributions=[said("plan:pre", ["R.md"], ["P.md"])]),
    _plan("cap-ha", requires=["cap-ba"], gates=[gate("plan:pre")]),
    _plan("cap-ja", skills=["free"]),
]
#: A circle of two that goes through the first party.
CIRCLE_THROUGH_BASE = [
    _plan("cap-ba", steps=[step("plan:pre", ["CONTEXT.md"], ["P.md"])]),
    _plan("cap-da", steps=[step("plan:pre", ["P.md"], ["BASE.md"])]),
    _plan("cap-fa", Scope.PROJECT, steps=[step("plan:post", [], ["P.md"])]),
]


@example(CIRCLE_AND_DEPENDENT)
@example(CIRCLE_THROUGH_BASE)
@given(plan_lists)
def test_the_fold_agrees_with_the_oracle_when_a_failed_set_is_dropped(
    plans: list[Plan],
) -> None:
    given_ = candidates(plans)

    composed = compose(FIRST_PARTY, given_, HOST)

    assert _outcome(composed) == oracle.compose(BASE, given_, HOST, isolate=False)


@example(CIRCLE_AND_DEPENDENT)
@example(CIRCLE_THROUGH_BASE)
@given(plan_lists)
def test_the_fold_agrees_with_the_oracle_when_culprits_are_isolated(
    plans: list[Plan],
) -> None:
    given_ = candidates(plans)

    composed = compose(FIRST_PARTY, given_, HOST, on_set_failure="isolate")

    assert _outcome(composed) == oracle.compose(BASE, given_, HOST, isolate=True)


@given(st.permutations(range(len(BASE))))
def test_the_oracle_finds_the_first_party_sound(order: list[int]) -> None:
    members = [BASE[place] for place in order]
    nobody: list[Candidate] = []

    assert oracle.sound(members)
    assert oracle.tied(members) == set()
    assert oracle.compose(members, nobody, HOST, isolate=False) == _outcome(
        compose(FIRST_PARTY, nobody, HOST)
    )
