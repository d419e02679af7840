"""What differs between two compositions, named in the words of a composition."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from msdcomp import Candidate, compose
from msdcomp.diffing import Change, Difference, compare
from msdcomp.edge.snapshot import read_snapshot
from msdcomp.scope import Scope
from msdcomp.testing import candidate, gate, step
from tests.strategies import json_values


def wire(*candidates: Candidate) -> dict[str, Any]:
    return compose(read_snapshot(), candidates).to_wire()


SLICE = {"type": "boolean", "default": True, "description": "x"}


def test_the_same_composition_does_not_differ() -> None:
    made = wire(candidate("anchor"), candidate("anchor", scope=Scope.PROJECT))

    assert compare(made, copy.deepcopy(made)) == ()


def told(before: dict[str, Any], after: dict[str, Any]) -> list[tuple[str, ...]]:
    return [
        (c.subject, c.name, c.difference.value, c.before, c.after)
        for c in compare(before, after)
    ]


def test_everything_of_a_new_overlay_appears() -> None:
    new = candidate(
        "anchor",
        skills=["lift"],
        agents=["eye"],
        config={"anchor.on": SLICE},
        commands=[{"family": "chain", "module": "a.cjs", "router": "r"}],
        steps=[step("plan:pre")],
        gates=[gate("ship:pre")],
    )

    assert told(wire(), wire(new)) == [
        ("capability", "anchor", "appeared", "", "version 1.0.0"),
        ("skill", "lift", "appeared", "", "of anchor"),
        ("agent", "eye", "appeared", "", "of anchor"),
        ("configuration key", "anchor.on", "appeared", "", "of anchor"),
        ("command family", "chain", "appeared", "", "of anchor"),
        ("step", "anchor (ref command check) at plan:pre", "appeared", "", ""),
        ("gate", "anchor (check query check.passed) at ship:pre", "appeared", "", ""),
    ]
    assert {c.difference for c in compare(wire(new), wire())} == {Difference.VANISHED}


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (
            [candidate("anchor")],
            [candidate("anchor", version="1.1.0")],
            [("capability", "anchor", "changed", "version 1.0.0", "version 1.1.0")],
        ),
        (
            [candidate("anchor")],
            [candidate("anchor", title="Other", tier="core")],
            [
                (
                    "capability",
                    "anchor",
                    "changed",
                    "",
                    "tier, title, under the same version",
                )
            ],
        ),
        (
            [candidate("anchor")],
            [candidate("anchor", scope=Scope.PROJECT)],
            [
                (
                    "overlay",
                    "anchor",
                    "moved",
                    "global .msd/capabilities/anchor",
                    "project .msd/capabilities/anchor",
                )
            ],
        ),
        (
            [candidate("anchor", engines={"msd": ">=9"}, gates=[gate("ship:pre")])],
            [candidate("anchor", tier="large", gates=[gate("ship:pre")])],
            [
                (
                    "left out",
                    "anchor (global)",
                    "changed",
                    "incompatible-engine",
                    "invalid-manifest",
                ),
                (
                    "gate not enforced",
                    "anchor (global) at ship:pre",
                    "changed",
                    "incompatible-engine",
                    "invalid-manifest",
                ),
            ],
        ),
    ],
)
def test_a_change_is_told_with_before_and_after(
    before: list[Candidate], after: list[Candidate], expected: list[tuple[str, ...]]
) -> None:
    assert told(wire(*before), wire(*after)) == expected


def test_a_name_that_changes_hands_has_moved() -> None:
    before = wire(candidate("anchor", skills=["lift"]), candidate("bollard"))
    after = wire(candidate("anchor"), candidate("bollard", skills=["lift"]))

    assert ("skill", "lift", "moved", "of anchor", "of bollard") in told(before, after)


def test_a_slice_of_the_same_owner_has_changed() -> None:
    before = wire(candidate("anchor", config={"a.b": SLICE}))
    after = wire(candidate("anchor", config={"a.b": {**SLICE, "default": False}}))

    assert (
        "configuration key",
        "a.b",
        "changed",
        "default True",
        "default False",
    ) in told(before, after)


def test_the_same_hooks_in_another_order_are_reordered() -> None:
    first = candidate("anchor", steps=[step("plan:pre", produces=["A.md"])])
    later = candidate(
        "anchor", steps=[step("plan:pre", produces=["A.md"], consumes=["B.md"])]
    )
    other = candidate("bollard", steps=[step("plan:pre", produces=["B.md"])])

    changes = compare(wire(first, other), wire(later, other))

    (change,) = [c for c in changes if c.difference is Difference.REORDERED]
    assert (change.subject, change.name) == ("step", "plan:pre")
    assert change.before.index("anchor") < change.before.index("bollard")
    assert change.after.index("bollard") < change.after.index("anchor")


def test_two_hooks_alike_are_told_apart() -> None:
    once = wire(candidate("anchor", steps=[step("plan:pre")]))
    twice = wire(candidate("anchor", steps=[step("plan:pre"), step("plan:pre")]))

    assert Change(
        subject="step",
        name="anchor (ref command check) #2 at plan:pre",
        difference=Difference.APPEARED,
    ) in compare(once, twice)


@given(json_values, json_values)
def test_anything_can_be_compared(before: Any, after: Any) -> None:
    assert compare(before, before) == ()
    assert len(compare(before, after)) == len(compare(after, before))


VIEWS = st.sampled_from(
    ["capabilities", "bySkill", "byLoopPoint", "configSchema", "_overlay", "x"]
)


@given(
    st.dictionaries(VIEWS, json_values, max_size=4),
    st.dictionaries(VIEWS, json_values, max_size=4),
)
def test_damaged_views_can_be_compared(
    before: dict[str, Any], after: dict[str, Any]
) -> None:
    kept = copy.deepcopy((before, after))

    compare(before, after)

    assert (before, after) == kept
