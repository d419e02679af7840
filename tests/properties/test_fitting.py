"""Whoever plainly fits breaks no rule, and whoever breaks none mostly fits plainly."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import event, given

from msdcomp import admission
from msdcomp.contender import Outline
from msdcomp.crosscheck import NobodyElse, violations
from msdcomp.fitting import plainly_fits
from msdcomp.flow import Flow
from msdcomp.fold import compose
from msdcomp.invariants import Draft, collisions
from msdcomp.manifest import Contribution, Step
from msdcomp.rules.contract import undispatched
from tests.overlays import FIRST_PARTY, HOST, Plan, candidates, plan_lists

FLOW = Flow.of(
    FIRST_PARTY.capabilities[owner] for owner in sorted(FIRST_PARTY.capabilities)
)


def broken(outline: Outline, draft: Draft) -> tuple[Any, ...]:
    """Return what the rules say that explain."""
    manifest = outline.manifest
    return (
        *collisions(draft, manifest, HOST.central),
        *violations(draft, manifest, HOST.contract, FLOW, NobodyElse()),
    )


def needs_a_closer_look(outline: Outline) -> bool:
    """Tell whether there is something about which only the rules can tell."""
    feature = outline.manifest.feature
    if feature is None:
        return False
    hooks: list[tuple[str, Step | Contribution]] = [
        *(("step", hook) for hook in feature.steps),
        *(("contribution", hook) for hook in feature.contributions),
    ]
    needed = {(kind, hook.point, a) for kind, hook in hooks for a in hook.consumes}
    closes = any(
        (kind, hook.point, a) in needed | FLOW.readers.keys()
        for kind, hook in hooks
        for a in hook.produces
    )
    return closes or any(step.point_from for step in feature.steps)


@given(plan_lists)
def test_the_lookups_agree_with_the_rules_at_every_step_of_a_fold(
    plans: list[Plan],
) -> None:
    def both(outline: Outline, draft: Draft) -> bool:
        fits = plainly_fits(outline, draft)
        found = broken(outline, draft)
        event(f"fits: {fits}, broken: {bool(found)}")
        assert not (fits and found)
        assert fits or found or needs_a_closer_look(outline)
        assert outline.dispatched == (not undispatched(outline.manifest, HOST.contract))
        return fits

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(admission, "plainly_fits", both)
        composed = compose(FIRST_PARTY, candidates(plans), HOST)

    # A failed assertion would have become a warning.
    told = (w for warnings in composed.warnings.values() for w in warnings)
    assert "internal-error" not in {warning.code for warning in told}


@given(plan_lists)
def test_a_fold_without_the_lookups_gives_the_same(plans: list[Plan]) -> None:
    given_ = candidates(plans)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(admission, "plainly_fits", lambda *_: False)
        slow = compose(FIRST_PARTY, given_, HOST)

    assert compose(FIRST_PARTY, given_, HOST) == slow
