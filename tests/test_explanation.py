"""One verdict about one capability, and the way to it."""

from __future__ import annotations

from typing import Any

import attrs
import pytest
from hypothesis import given
from pyrsistent import pmap

from msdcomp.activation import ConfigLayers
from msdcomp.candidate import Candidate, Scope
from msdcomp.composition import Composition
from msdcomp.explanation import GATES, Verdict, explain, passages
from msdcomp.fold import compose
from msdcomp.verdict import IgnoredEntry
from tests.overlays import (
    FIRST_PARTY,
    HOST,
    Plan,
    candidates,
    feature,
    gate,
    plan_lists,
    said,
    switch,
)


def overlay(folder: str, scope: Scope = Scope.GLOBAL, **fields: Any) -> Candidate:
    return Candidate.read(feature(folder, **fields), scope=scope)


def composed(*found: Candidate) -> Composition:
    return compose(FIRST_PARTY, found, HOST)


def ring() -> list[Candidate]:
    """Return two overlays that cannot be built together."""
    return [
        overlay("aa", contributions=[said("plan:pre", ["A.md"], ["B.md"])]),
        overlay("bb", contributions=[said("plan:pre", ["B.md"], ["A.md"])]),
    ]


SWITCHED = overlay("own", config={"own.on": switch()}, activationKey="own.on")


def test_a_shipped_capability_is_active_and_went_through_no_gate() -> None:
    found = explain(composed(), "base")

    assert found.verdict is Verdict.ACTIVE
    (copy,) = found.copies
    assert (copy.scope, copy.path, copy.passages) == ("first-party", "", ())
    assert found.manifest is FIRST_PARTY.capabilities["base"]  # type: ignore[index]
    assert found.state is not None
    assert (found.state.stopped, found.state.switch) == (None, None)


def test_an_accepted_overlay_passed_every_gate() -> None:
    (copy,) = explain(composed(overlay("own")), "own").copies

    assert (copy.verdict, copy.scope, copy.path) == (
        Verdict.ACTIVE,
        "global",
        ".msd/capabilities/own",
    )
    assert [passage.gate for passage in copy.passages] == [gate for gate, _ in GATES]
    assert all(passage.passed for passage in copy.passages)


@pytest.mark.parametrize(
    ("config", "verdict"),
    [({}, Verdict.ACTIVE), ({"own": {"on": False}}, Verdict.INACTIVE)],
)
def test_a_capability_that_is_switched_off_is_inactive(
    config: dict[str, Any], verdict: Verdict
) -> None:
    found = explain(composed(SWITCHED), "own", ConfigLayers.of(config))

    assert found.verdict is verdict
    assert found.state is not None
    assert found.state.switch is not None
    assert found.state.active is (verdict is Verdict.ACTIVE)


def test_a_skipped_overlay_shows_where_it_stopped_and_which_gates_are_missing() -> None:
    lost = overlay(
        "own", skills=["base-go"], gates=[gate("ship:pre"), gate("plan:pre")]
    )

    found = explain(composed(lost), "own")

    assert found.verdict is Verdict.SKIPPED
    assert found.manifest is None
    (copy,) = found.copies
    assert copy.warning is not None
    assert copy.reason == copy.warning.reason
    assert [p.passed for p in copy.passages] == [True] * 6 + [False] + [None] * 4
    assert [g.point for g in copy.gates] == ["plan:pre", "ship:pre"]


def test_the_causes_lead_from_the_nearest_to_the_root() -> None:
    found = explain(
        composed(
            overlay("cc", requires=["bb"]),
            overlay("bb", requires=["aa"]),
            attrs.evolve(overlay("aa"), pending=True),
        ),
        "cc",
    )

    (copy,) = found.copies
    assert [cause.capability_id for cause in copy.causes] == ["bb", "aa"]
    assert copy.causes[-1].code == "pending"


def test_a_circle_of_causes_is_followed_once() -> None:
    found = composed(overlay("aa", requires=["bb"]), overlay("bb", requires=["aa"]))

    for one in ("aa", "bb"):
        (copy,) = explain(found, one).copies
        assert len(copy.causes) <= 1


def test_a_cause_that_is_not_on_record_ends_the_chain() -> None:
    (warnings,) = composed(overlay("own", requires=["nowhere"])).warnings.values()
    torn = attrs.evolve(warnings[0], because=(("global", "gone"),))
    composition = Composition(registry=FIRST_PARTY, warnings=pmap({torn.key: (torn,)}))

    (copy,) = explain(composition, "own").copies
    assert copy.causes == ()


def test_a_shadowed_copy_comes_after_the_one_that_counts() -> None:
    found = explain(composed(overlay("own"), overlay("own", Scope.PROJECT)), "own")

    assert found.verdict is Verdict.ACTIVE
    assert [(copy.verdict, copy.scope) for copy in found.copies] == [
        (Verdict.ACTIVE, "global"),
        (Verdict.SHADOWED, "project"),
    ]


def test_what_a_fallback_took_along_stopped_at_the_last_gate() -> None:
    found = explain(composed(*ring(), overlay("own", gates=[gate("ship:pre")])), "own")

    assert found.verdict is Verdict.SKIPPED
    (copy,) = found.copies
    assert [p.passed for p in copy.passages] == [True] * 10 + [False]
    assert copy.reason.startswith("no registry can be built of all accepted overlays")
    assert [g.point for g in copy.gates] == ["ship:pre"]


def test_what_a_fallback_took_along_counts_before_the_copy_it_shadowed() -> None:
    shadow = overlay("aa", Scope.PROJECT)

    found = explain(composed(*ring(), shadow), "aa")

    assert found.verdict is Verdict.SKIPPED
    assert [(copy.verdict, copy.scope) for copy in found.copies] == [
        (Verdict.SKIPPED, "global"),
        (Verdict.SHADOWED, "project"),
    ]


def test_an_ignored_entry_is_found_by_its_name() -> None:
    entry = IgnoredEntry(scope="global", name=".cache", reason="its name is hidden")

    found = explain(attrs.evolve(composed(), ignored=(entry,)), ".cache")

    assert found.verdict is Verdict.IGNORED
    assert found.copies[0].reason == "its name is hidden"


@pytest.mark.parametrize(
    ("asked", "suggestion"),
    [
        ("bass", "base"),
        ("owmed", "owned"),
        ("zzz", None),
        ("", None),
        ("x" * 9999, None),
    ],
)
def test_an_id_that_is_not_there_gets_at_most_a_suggestion(
    asked: str, suggestion: str | None
) -> None:
    found = explain(composed(overlay("owned", requires=["nowhere"])), asked)

    assert found.verdict is Verdict.NOT_FOUND
    assert found.copies == ()
    assert found.suggestion == suggestion


def test_a_code_of_no_gate_passes_them_all() -> None:
    assert all(passage.passed for passage in passages("no-such-code"))


@given(plan_lists)
def test_every_candidate_is_explained_by_its_own_folder(plans: list[Plan]) -> None:
    found = candidates(plans)
    composition = composed(*found)

    for candidate in found:
        explanation = explain(composition, candidate.folder)
        scopes = [copy.scope for copy in explanation.copies]
        assert candidate.scope.value in scopes
        assert explanation.verdict is explanation.copies[0].verdict
        for copy in explanation.copies:
            stops = [passage.passed for passage in copy.passages].count(False)
            assert stops == (copy.warning is not None)
