"""Ordering by data flow, against a search that tries everything."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from msdcomp.dataflow import Cycle, Schedule, Task, cycles, schedule, slots

_resources = st.frozensets(st.sampled_from("abcd"), max_size=2)
task_lists = st.lists(st.builds(Task, _resources, _resources), max_size=6)


def task(gives: str = "", needs: str = "") -> Task[str]:
    return Task(frozenset(gives), frozenset(needs))


def waits(tasks: list[Task[str]], one: int, other: int) -> bool:
    """Tell whether a task waits for another: what it needs, the other gives."""
    return one != other and bool({*tasks[one].needs} & {*tasks[other].gives})


def orders(tasks: list[Task[str]]) -> list[tuple[int, ...]]:
    """Return every order in which needs follow gives, the smallest first."""
    return [
        order
        for order in itertools.permutations(range(len(tasks)))
        if not any(
            waits(tasks, earlier, later)
            for earlier, later in itertools.combinations(order, 2)
        )
    ]


def broken(tasks: list[Task[str]]) -> tuple[int, ...]:
    """Take the smallest task that is ready; if there is none, the smallest."""
    left, order = list(range(len(tasks))), []
    while left:
        free = [i for i in left if not any(waits(tasks, i, o) for o in left)]
        order.append((free or left)[0])
        left.remove(order[-1])
    return tuple(order)


def reaches(tasks: list[Task[str]]) -> dict[int, set[int]]:
    """Return, for every task, the tasks that wait for it in the end."""
    everyone = range(len(tasks))
    reach = {i: {o for o in everyone if waits(tasks, o, i)} for i in everyone}
    for _ in everyone:
        for one in everyone:
            reach[one] |= {o for via in reach[one] for o in reach[via]}
    return reach


def knots(tasks: list[Task[str]]) -> list[tuple[int, ...]]:
    """Return the sets of tasks that all wait for each other."""
    reach = reaches(tasks)
    return sorted(
        {
            tuple(other for other in reach[one] if one in reach[other])
            for one in reach
            if one in reach[one]
        }
    )


@given(task_lists)
def test_the_order_is_the_smallest_one_in_which_needs_follow_gives(
    tasks: list[Task[str]],
) -> None:
    possible = orders(tasks)

    found = schedule(tasks)

    if possible:
        assert found == Schedule(order=possible[0])
    else:
        assert found.stuck


@given(task_lists)
def test_what_is_stuck_lies_on_a_cycle_or_after_one(tasks: list[Task[str]]) -> None:
    found = schedule(tasks)

    reach = reaches(tasks)
    tied = {one for one in reach if one in reach[one]}
    assert set(found.stuck) == tied | {o for one in tied for o in reach[one]}
    assert sorted((*found.order, *found.stuck)) == list(range(len(tasks)))
    assert list(found.stuck) == sorted(found.stuck)


@given(task_lists)
def test_breaking_cycles_takes_the_smallest_task_whenever_none_is_ready(
    tasks: list[Task[str]],
) -> None:
    assert schedule(tasks, break_cycles=True).order == broken(tasks)


def apart(tasks: list[Task[str]]) -> list[list[int]]:
    """Return the tasks in groups that have no resource in common."""
    groups: list[tuple[set[str], list[int]]] = []
    for index, one in enumerate(tasks):
        names, members = {*one.gives, *one.needs}, [index]
        for group in [g for g in groups if g[0] & names]:
            groups.remove(group)
            names |= group[0]
            members += group[1]
        groups.append((names, members))
    return [sorted(members) for _, members in groups]


@given(task_lists)
def test_where_a_task_stands_depends_on_those_it_is_tied_to_alone(
    tasks: list[Task[str]],
) -> None:
    standing = {}
    for group in apart(tasks):
        found = schedule([tasks[index] for index in group], break_cycles=True)
        for local, (broken_, head, place) in zip(
            found.order, slots(found), strict=True
        ):
            standing[group[local]] = (broken_, group[head], place)

    whole = schedule(tasks, break_cycles=True)

    assert tuple(sorted(standing, key=standing.__getitem__)) == whole.order
    assert [standing[index] for index in whole.order] == list(slots(whole))


@given(task_lists)
def test_a_cycle_is_found_for_every_set_that_waits_for_itself(
    tasks: list[Task[str]],
) -> None:
    assert [cycle.members for cycle in cycles(tasks)] == knots(tasks)


@given(task_lists)
def test_a_cycle_shown_is_real_and_none_through_its_first_task_is_shorter(
    tasks: list[Task[str]],
) -> None:
    for cycle in cycles(tasks):
        way = [index for index, _ in cycle.hops]
        for (giver, resource), (needer, _) in zip(
            cycle.hops, (*cycle.hops[1:], cycle.hops[0]), strict=True
        ):
            assert giver != needer
            assert resource in tasks[giver].gives
            assert resource in tasks[needer].needs
        assert len(set(way)) == len(way)
        assert set(way) <= set(cycle.members)
        assert way[0] == cycle.members[0]
        assert len(way) == _shortest(tasks, way[0])


def _shortest(tasks: list[Task[str]], start: int) -> int:
    """Return the length of the shortest way from a task back to itself."""
    everyone = range(len(tasks))
    reached, length = {start}, 0
    while start not in reached or not length:
        reached = {o for one in reached for o in everyone if waits(tasks, o, one)}
        length += 1
    return length


@pytest.mark.parametrize(
    ("tasks", "order"),
    [
        pytest.param([], (), id="nothing"),
        pytest.param([task("a"), task("b")], (0, 1), id="free: as given"),
        pytest.param([task("", "a"), task("a")], (1, 0), id="the giver first"),
        pytest.param([task("a", "a")], (0,), id="one's own gift is not waited for"),
        pytest.param(
            [task("", "a"), task("a"), task("a")], (1, 2, 0), id="every giver is"
        ),
        pytest.param([task("", "z")], (0,), id="what nobody gives is not"),
        pytest.param(
            [task("a", "a"), task("a")], (1, 0), id="nor one's own beside another's"
        ),
    ],
)
def test_tasks_are_ordered_like_this(
    tasks: list[Task[str]], order: tuple[int, ...]
) -> None:
    assert schedule(tasks) == Schedule(order=order)


def test_two_tasks_that_both_give_and_need_one_thing_wait_for_each_other() -> None:
    assert cycles([task("a", "a"), task("a", "a")]) == (
        Cycle(hops=((0, "a"), (1, "a")), members=(0, 1)),
    )


def test_of_several_cycles_in_one_knot_the_shortest_is_shown() -> None:
    tasks = [task("ab", "cd"), task("c", "b"), task("x", "a"), task("d", "x")]

    assert cycles(tasks) == (Cycle(hops=((0, "b"), (1, "c")), members=(0, 1, 2, 3)),)


def test_separate_knots_are_told_apart_and_followers_are_in_none() -> None:
    tasks = [
        task("a", "b"),
        task("b", "a"),
        task("", "a"),
        task("c", "d"),
        task("d", "cb"),
    ]

    assert [cycle.members for cycle in cycles(tasks)] == [(0, 1), (3, 4)]
    assert schedule(tasks).stuck == (0, 1, 2, 3, 4)


def test_a_thousand_givers_and_needers_of_one_thing_are_ordered_without_edges() -> None:
    size = 1000
    tasks = [task("", "a")] * size + [task("a")] * size

    assert schedule(tasks).order == (*range(size, 2 * size), *range(size))


def test_a_long_chain_closing_on_itself_is_followed_without_recursion() -> None:
    size = 5000
    ring = [
        Task(frozenset({place}), frozenset({(place - 1) % size}))
        for place in range(size)
    ]

    (cycle,) = cycles(ring)

    assert len(cycle.hops) == size
    assert cycle.members == tuple(range(size))
