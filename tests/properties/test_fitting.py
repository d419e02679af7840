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
from msdcomp.host import Host
from msdcomp.invariants import Draft, collisions
from tests.overlays import FIRST_PARTY, HOST, Plan, candidates, plan_lists


def broken(outline: Outline, draft: Draft, host: Host, flow: Flow) -> tuple[Any, ...]:
    """Return what the rules say that explain."""
    manifest = outline.manifest
    return (
        *collisions(draft, manifest, host.central),
        *violations(draft, manifest, host.contract, flow, NobodyElse()),
    )


def needs_a_closer_look(outline: Outline, flow: Flow) -> bool:
    """Tell whether there is something about which only the rules can tell."""
    feature = outline.manifest.feature
    moved = feature is not None and any(step.point_from for step in feature.steps)
    return moved or flow.may_close(outline.manifest)


@given(plan_lists)
def test_the_lookups_agree_with_the_rules_at_every_step_of_a_fold(
    plans: list[Plan],
) -> None:
    def both(outline: Outline, draft: Draft, host: Host, flow: Flow) -> bool:
        fits = plainly_fits(outline, draft, host, flow)
        found = broken(outline, draft, host, flow)
        event(f"fits: {fits}, broken: {bool(found)}")
        assert not (fits and found)
        assert fits or found or needs_a_closer_look(outline, flow)
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
