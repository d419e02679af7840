"""The reasons behind the order at a point: replayed, they are that order."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from msdcomp.looporder import Held, Placed, Rule, order_of, way
from msdcomp.manifest import Gate
from msdcomp.registry import Entry, Registry, build
from msdcomp.views import Hook, PointHooks
from msdcomp.wire import decode
from tests.overlays import feature, gate, said, step

POINT = "plan:pre"

some = st.lists(st.sampled_from(["A", "B", "C", "D"]), max_size=2, unique=True)


@st.composite
def hook_sets(draw: st.DrawFn) -> PointHooks:
    """Return the hooks of a point, of a few capabilities; chains are common."""
    ids = draw(st.permutations(["ash", "bay", "cove", "dune", "eel", "fen"]))
    documents = []
    for owner in ids[: draw(st.integers(1, 6))]:
        count = draw(st.integers(0, 3))
        steps = [step(POINT, draw(some), draw(some)) for _ in range(count)]
        more = draw(st.integers(0, 2))
        given_ = [said(POINT, draw(some), draw(some)) for _ in range(more)]
        gates = [gate(POINT) for _ in range(draw(st.integers(0, 2)))]
        documents.append(feature(owner, steps=steps, contributions=given_, gates=gates))
    built = registry(*documents)
    # Those with a cycle have no order that could be explained.
    return built.by_loop_point.get(POINT, PointHooks()) if built else PointHooks()


def registry(*documents: Any) -> Registry | None:
    manifests = [decode(document).manifest for document in documents]
    built = build(Entry(manifest=m) for m in manifests if m is not None)
    return built if isinstance(built, Registry) else None


def explained(*documents: Any) -> tuple[Placed, ...]:
    built = registry(*documents)
    assert built is not None
    return order_of(built.by_loop_point[POINT])


def rank(hook: Hook) -> tuple[str, int]:
    return (hook.capability_id, hook.index)


def given_to(one: Hook, other: Hook) -> set[str]:
    """Return what one hook produces and the other, of the same kind, consumes."""
    if one.kind != other.kind or isinstance(one.body, Gate) or one == other:
        return set()
    assert not isinstance(other.body, Gate)
    return set(one.body.produces) & set(other.body.consumes)


def reach(hooks: Sequence[Hook], start: Hook) -> list[Hook]:
    """Return everything that waits for a hook, directly or not."""
    found: list[Hook] = []
    frontier = [start]
    while frontier:
        one = frontier.pop()
        for other in hooks:
            if other not in found and given_to(one, other):
                found.append(other)
                frontier.append(other)
    return found


@given(hook_sets())
def test_the_order_is_the_registrys_own(hooks: PointHooks) -> None:
    assert tuple(placed.hook for placed in order_of(hooks)) == hooks.all()


@given(hook_sets())
def test_data_flow_is_named_where_there_is_a_way_and_nowhere_else(
    hooks: PointHooks,
) -> None:
    order = order_of(hooks)

    for before, placed in pairwise(order):
        linked = placed.hook in reach(hooks.all(), before.hook)
        assert (placed.rule is Rule.DATA_FLOW) is linked
        # A way between neighbours is direct: nothing stands between them.
        assert set(placed.artefacts) == given_to(before.hook, placed.hook)
        assert bool(placed.artefacts) is linked


@given(hook_sets())
def test_the_tie_break_is_named_where_neither_waits_and_it_says_so(
    hooks: PointHooks,
) -> None:
    for before, placed in pairwise(order_of(hooks)):
        if placed.rule not in (Rule.CAPABILITY_ID, Rule.DECLARATION):
            continue
        one, other = before.hook, placed.hook
        assert one.kind == other.kind
        assert one not in reach(hooks.all(), other)
        assert rank(one) < rank(other)
        same = one.capability_id == other.capability_id
        assert (placed.rule is Rule.DECLARATION) is same


@given(hook_sets())
def test_kinds_are_named_where_they_change_and_only_the_first_has_no_reason(
    hooks: PointHooks,
) -> None:
    order = order_of(hooks)

    assert [p.rule for p in order[:1]] == [None] * bool(order)
    for before, placed in pairwise(order):
        assert placed.rule is not None
        changes = before.hook.kind != placed.hook.kind
        assert (placed.rule is Rule.KIND) is changes


@given(hook_sets())
def test_what_stands_after_a_larger_one_was_held_back_until_the_largest(
    hooks: PointHooks,
) -> None:
    order = order_of(hooks)

    for place, placed in enumerate(order):
        larger = [
            other
            for other in range(place)
            if order[other].hook.kind == placed.hook.kind
            and rank(order[other].hook) > rank(placed.hook)
        ]
        assert bool(larger) is (placed.held is not None)
        if placed.held is not None:
            largest = max(larger, key=lambda other: rank(order[other].hook))
            assert placed.held.until == largest


@given(hook_sets())
def test_the_way_of_what_was_held_back_is_one_of_real_artefacts(
    hooks: PointHooks,
) -> None:
    order = order_of(hooks)

    for place, placed in enumerate(order):
        taker, last = place, None
        for giver, artefact in way(order, place):
            assert artefact in given_to(order[giver].hook, order[taker].hook)
            assert giver < taker
            taker = last = giver
        assert last == (placed.held.until if placed.held else None)


@given(hook_sets())
def test_the_reasons_replayed_are_the_order(hooks: PointHooks) -> None:
    order = order_of(hooks)
    kinds = ["step", "contribution", "gate"]

    def standing(place: int) -> tuple[int, tuple[str, int], bool, int]:
        placed = order[place]
        kind = kinds.index(placed.hook.kind)
        # What was held back follows the one it waited for, before what is larger.
        if placed.held is None:
            return (kind, rank(placed.hook), False, 0)
        return (kind, rank(order[placed.held.until].hook), True, place)

    assert sorted(range(len(order)), key=standing) == list(range(len(order)))


def test_a_chain_is_followed_to_the_hook_that_all_of_it_waited_for() -> None:
    order = explained(
        feature("ash", steps=[step(POINT, ["A"], ["B"])]),
        feature("bay", steps=[step(POINT, [], [])]),
        feature("cove", steps=[step(POINT, ["B"], ["C"])]),
        feature("dune", steps=[step(POINT, ["C"], [])]),
        feature("eel", steps=[step(POINT, [], ["A"])]),
    )

    assert [(p.hook.capability_id, p.rule, p.artefacts) for p in order] == [
        ("bay", None, ()),
        ("dune", Rule.CAPABILITY_ID, ()),
        ("cove", Rule.DATA_FLOW, ("C",)),
        ("ash", Rule.DATA_FLOW, ("B",)),
        ("eel", Rule.DATA_FLOW, ("A",)),
    ]
    assert order[3].held == Held(until=1, waits_for=2, artefact="B")
    assert list(way(order, 3)) == [(2, "B"), (1, "C")]
    assert order[4].held is None


def test_two_that_were_held_back_together_are_told_apart_by_their_ids() -> None:
    order = explained(
        feature("ash", steps=[step(POINT, [], ["A"]), step(POINT, [], ["A"])]),
        feature("bay", steps=[step(POINT, [], ["A"])]),
        feature("cove", steps=[step(POINT, ["A"], [])]),
    )

    assert [p.rule for p in order] == [
        None,
        Rule.DATA_FLOW,
        Rule.DECLARATION,
        Rule.CAPABILITY_ID,
    ]
    held = Held(until=0, waits_for=0, artefact="A")
    assert [p.held for p in order] == [None, held, held, held]


def test_a_long_chain_costs_what_it_holds() -> None:
    # Each capability waits for the next one, so all but one are held back.
    count = 3000
    steps = [step(POINT, [f"{n}"], [f"{n + 1}"]) for n in range(count)]
    order = explained(feature("ash", steps=steps))

    assert [p.hook.index for p in order] == list(reversed(range(count)))
    assert {p.rule for p in order[1:]} == {Rule.DATA_FLOW}
    assert len(list(way(order, count - 1))) == count - 1
