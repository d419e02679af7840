"""Plans as values: what differs between two compositions, and between two folders."""

from __future__ import annotations

from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from msdcomp import compose
from msdcomp.composition import Composition
from msdcomp.diffing import compare
from msdcomp.edge.snapshot import read_snapshot
from msdcomp.plan import (
    Block,
    Effects,
    FileEdit,
    HookEdit,
    Leaves,
    Pin,
    Plan,
    effects,
    file_edits,
)
from msdcomp.scope import Scope
from msdcomp.testing import candidate, gate
from tests.overlays import FIRST_PARTY, HOST, candidates, plan_lists
from tests.overlays import Plan as Overlay

_files = st.dictionaries(st.sampled_from("abcdef"), st.integers(0, 2))


@given(_files, _files)
def test_every_path_that_differs_is_told_once_in_order(
    before: dict[str, int], after: dict[str, int]
) -> None:
    edits = file_edits(before, after)

    paths = [edit.path for edit in edits]
    assert paths == sorted({*paths})
    changed = {*before.items()} ^ {*after.items()}
    assert {*paths} == {path for path, _ in changed}
    for edit in edits:
        if edit.how == "added":
            assert edit.path not in before
        elif edit.how == "removed":
            assert edit.path not in after
        else:
            assert edit.how == "changed"
            assert before[edit.path] != after[edit.path]


@given(_files, _files)
def test_told_backwards_what_was_added_is_removed(
    before: dict[str, int], after: dict[str, int]
) -> None:
    turned = {"added": "removed", "removed": "added", "changed": "changed"}

    there, back = file_edits(before, after), file_edits(after, before)

    assert back == tuple(FileEdit(edit.path, turned[edit.how]) for edit in there)


def _composed(overlays: list[Overlay]) -> Composition:
    return compose(FIRST_PARTY, candidates(overlays), HOST)


def _places(composition: Composition) -> set[tuple[str, str]]:
    return {(composition.paths[name].scope, name) for name in composition.accepted}


@given(plan_lists, plan_lists)
def test_effects_say_who_comes_and_who_goes(
    before: list[Overlay], after: list[Overlay]
) -> None:
    old, new = _composed(before), _composed(after)
    own = [("global", "cap-ba"), ("project", "cap-da")]

    found = effects(old, new, own)

    was, now = _places(old) - {*own}, _places(new) - {*own}
    assert {(left.scope, left.id) for left in found.leaves} == was - now
    assert sorted(found.joins) == sorted(name for _, name in now - was)
    assert found.changes == compare(old.to_wire(), new.to_wire())
    assert all(left.reason for left in found.leaves)


@given(plan_lists)
def test_what_stays_as_it_is_has_no_effects(overlays: list[Overlay]) -> None:
    made = _composed(overlays)

    assert effects(made, made, []) == Effects()


def test_who_goes_comes_before_whom_it_depends_on_and_says_why() -> None:
    base = read_snapshot()
    chain = [
        candidate("anchor"),
        candidate("buoy", requires=["anchor"]),
        candidate("crane", requires=["buoy"]),
    ]
    before, after = compose(base, chain), compose(base, chain[1:])

    found = effects(before, after, [("global", "anchor")])

    assert [left.id for left in found.leaves] == ["crane", "buoy"]
    told = [after.warnings["global", left.id][0].reason for left in found.leaves]
    assert [left.reason for left in found.leaves] == told


def test_who_is_simply_gone_says_so() -> None:
    base = read_snapshot()
    before = compose(base, [candidate("anchor")])

    assert effects(before, compose(base, []), []).leaves == (
        Leaves("global", "anchor", "it is no longer there"),
    )


def test_a_whole_set_that_falls_is_why() -> None:
    """Two whose steps wait for each other fall together with everybody."""
    ring = [
        candidate(
            name,
            scope=Scope.PROJECT,
            contributions=[
                {
                    "point": "plan:pre",
                    "into": "planner",
                    "produces": [makes],
                    "consumes": [takes],
                    "fragment": {"inline": "x"},
                }
            ],
        )
        for name, makes, takes in (("anchor", "A.md", "B.md"), ("buoy", "B.md", "A.md"))
    ]
    base = read_snapshot()
    before = compose(base, ring[:1])
    after = compose(base, ring)

    (left,) = effects(before, after, [("project", "buoy")]).leaves

    assert (left.scope, left.id) == ("project", "anchor")
    assert left.reason == after.warnings["set", "*"][0].reason


def test_who_moves_to_the_other_scope_leaves_and_joins() -> None:
    base = read_snapshot()
    before = compose(base, [candidate("anchor", gates=[gate("ship:pre")])])
    after = compose(base, [candidate("anchor", scope=Scope.PROJECT)])

    found = effects(before, after, [])

    assert (found.joins, [left.scope for left in found.leaves]) == (
        ("anchor",),
        ["global"],
    )


def _plan(**fields: Any) -> Plan:
    plan = Plan(action="install", scope="global", capability_id="anchor", path="x")
    return attrs.evolve(plan, **fields)


@pytest.mark.parametrize(
    "fields",
    [
        {"action": "upgrade"},
        {"asks": "so"},
        {"pin": Pin(kind="commit", value="0")},
        {"files": (FileEdit("a", "added"),)},
        {"hooks": (HookEdit("a", "added", "Stop", "{}"),)},
        {"effects": Effects(joins=("buoy",))},
        {"blocks": (Block("a", "b"),)},
        {"notes": ("a",)},
    ],
)
def test_plans_are_equal_where_all_that_they_say_is(fields: dict[str, Any]) -> None:
    assert _plan() == _plan()
    assert hash(_plan()) == hash(_plan())
    assert _plan(**fields) == _plan(**fields)
    assert _plan(**fields) != _plan()
