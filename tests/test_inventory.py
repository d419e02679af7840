"""The rows of a listing."""

from __future__ import annotations

from typing import Any

import attrs
from hypothesis import given

from msdcomp.activation import ConfigLayers
from msdcomp.candidate import Candidate, Scope
from msdcomp.composition import Composition
from msdcomp.explanation import Verdict, explain
from msdcomp.fold import compose
from msdcomp.inventory import Row, inventory
from msdcomp.verdict import IgnoredEntry
from tests.overlays import (
    FIRST_PARTY,
    HOST,
    Plan,
    candidates,
    feature,
    plan_lists,
    said,
    switch,
)


def overlay(folder: str, scope: Scope = Scope.GLOBAL, **fields: Any) -> Candidate:
    return Candidate.read(feature(folder, **fields), scope=scope)


def composed(*found: Candidate) -> Composition:
    return compose(FIRST_PARTY, found, HOST)


def rows(composition: Composition, **config: Any) -> dict[tuple[str, str], Row]:
    listed = inventory(composition, ConfigLayers.of(config))
    return {(row.capability_id, row.scope): row for row in listed}


def test_a_shipped_capability_has_a_row_with_what_it_is() -> None:
    assert rows(composed())["base", "first-party"] == Row(
        capability_id="base",
        scope="first-party",
        verdict=Verdict.ACTIVE,
        role="feature",
        tier="core",
        version="1.0.0",
        title="Base",
    )


def test_rows_are_sorted_by_id_and_scope() -> None:
    listed = inventory(composed(overlay("aa"), overlay("aa", Scope.PROJECT)))

    assert [(row.capability_id, row.scope) for row in listed] == [
        ("aa", "global"),
        ("aa", "project"),
        ("base", "first-party"),
        ("cap-ga", "first-party"),
        ("host-a", "first-party"),
        ("lane", "first-party"),
    ]
    assert listed[1].verdict is Verdict.SHADOWED


def test_a_capability_that_is_switched_off_says_so() -> None:
    own = overlay("own", config={"own.on": switch()}, activationKey="own.on")

    assert rows(composed(own))["own", "global"].verdict is Verdict.ACTIVE
    off = rows(composed(own), own={"on": False})
    assert off["own", "global"].verdict is Verdict.INACTIVE


def test_a_skipped_overlay_has_a_row_with_code_and_reason() -> None:
    row = rows(composed(overlay("own", requires=["nowhere"])))["own", "global"]

    assert (row.verdict, row.code, row.role) == (Verdict.SKIPPED, "invariant", "")
    assert row.reason.endswith('requires "nowhere", which is not installed')


def test_what_a_fallback_took_along_has_a_row_and_the_set_has_none() -> None:
    found = [
        overlay("aa", contributions=[said("plan:pre", ["A.md"], ["B.md"])]),
        overlay("bb", contributions=[said("plan:pre", ["B.md"], ["A.md"])]),
    ]

    listed = rows(composed(*found))

    assert not any(scope == "set" for _, scope in listed)
    assert listed["aa", "global"] == Row(
        capability_id="aa",
        scope="global",
        verdict=Verdict.SKIPPED,
        code="set-build-failed",
        stage="composed",
        reason="every overlay was dropped, because the set cannot be built",
    )


def test_an_ignored_entry_has_a_row() -> None:
    entry = IgnoredEntry(scope="project", name="notes.md", reason="not a folder")

    listed = rows(attrs.evolve(composed(), ignored=(entry,)))

    assert listed["notes.md", "project"] == Row(
        capability_id="notes.md",
        scope="project",
        verdict=Verdict.IGNORED,
        reason="not a folder",
    )


@given(plan_lists)
def test_a_listing_tells_the_same_story_as_the_explanations(plans: list[Plan]) -> None:
    composition = composed(*candidates(plans))
    listed = rows(composition)

    assert len(listed) == len(plans) + len(FIRST_PARTY.capabilities)
    for (name, scope), row in listed.items():
        verdicts = {c.scope: c.verdict for c in explain(composition, name).copies}
        assert verdicts[scope] is row.verdict
