"""Ordering by data flow: whoever gives a resource comes before whoever needs it.

Used twice: for the hooks of one loop point, where a resource is an artefact, and for
the overlays of one scope, where it is also a capability or a runtime. Tasks are plain
indexes; their numeric order is the tie-break.

The work is linear in the number of gives and needs. Edges from every giver to every
needer are never made: a thousand givers and a thousand needers of one artefact would
be a million of them.
"""

from __future__ import annotations

import heapq
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from typing import Generic, TypeAlias, TypeVar

import attrs

from msdcomp.records import Record

__all__ = ["Cycle", "Schedule", "Slot", "Task", "cycles", "schedule", "slots"]

R = TypeVar("R", bound=Hashable)


@attrs.frozen(eq=False, repr=False)
class Task(Record, Generic[R]):
    """What a task gives and needs; giving a resource to oneself counts for nothing.

    Either holds a resource once.
    """

    gives: Collection[R]
    needs: Collection[R]


@attrs.frozen(eq=False, repr=False)
class Schedule(Record):
    """An order of task indexes, and those that a cycle kept from being placed.

    `forced` are the tasks that were taken although they still waited, as they were.
    """

    order: tuple[int, ...]
    stuck: tuple[int, ...] = ()
    forced: tuple[int, ...] = ()


class _Waiting(Generic[R]):
    """Tasks left per resource; lives within one call of `schedule`.

    A task waits for a resource until every *other* task that gives it is placed. For a
    task that gives the resource itself that moment is when one giver is left and it is
    the task itself; a running sum of the indexes of the givers left names that one
    without looking for it.

    Only resources that somebody needs are followed, and each has a number: a resource
    is looked up once for each mention of it.
    """

    def __init__(self, tasks: Sequence[Task[R]]) -> None:
        numbers: dict[R, int] = {}
        needs = [
            [numbers.setdefault(resource, len(numbers)) for resource in task.needs]
            for task in tasks
        ]
        self._gives = [
            [numbers[resource] for resource in task.gives if resource in numbers]
            for task in tasks
        ]
        self._needs = needs
        self._left = [0] * len(numbers)
        self._sum = [0] * len(numbers)
        for index, given in enumerate(self._gives):
            for number in given:
                self._left[number] += 1
                self._sum[number] += index
        self._needers: list[list[int]] = [[] for _ in numbers]
        self.missing = [0] * len(tasks)
        for index, needed in enumerate(needs):
            for number in needed:
                if self._left[number] - (number in self._gives[index]):
                    self.missing[index] += 1
                    self._needers[number].append(index)

    def place(self, index: int) -> Iterable[int]:
        """Take a task off its resources; yield the tasks that wait for nothing now."""
        for number in self._gives[index]:
            self._left[number] -= 1
            self._sum[number] -= index
            if self._left[number] == 0:
                released = [
                    needer
                    for needer in self._needers[number]
                    if number not in self._gives[needer]
                ]
            elif self._left[number] == 1:
                last = self._sum[number]
                released = [last] if number in self._needs[last] else []
            else:
                continue
            for needer in released:
                self.missing[needer] -= 1
                if self.missing[needer] == 0:
                    yield needer


def schedule(tasks: Sequence[Task[R]], *, break_cycles: bool = False) -> Schedule:
    """Return the lexicographically smallest order in which needs follow gives.

    Args:
        tasks: In tie-break order.
        break_cycles: When no task is ready, take the smallest one left instead of
            stopping.

    Returns:
        Every task once. Without `break_cycles`, tasks on a cycle and after one are in
        `stuck`, ascending, instead of in `order`.
    """
    waiting = _Waiting(tasks)
    placed = [False] * len(tasks)
    ready = [index for index, missing in enumerate(waiting.missing) if not missing]
    order: list[int] = []
    forced: list[int] = []
    smallest = 0
    while len(order) < len(tasks):
        if ready:
            index = heapq.heappop(ready)
        elif break_cycles:
            while placed[smallest]:
                smallest += 1
            index = smallest
            forced.append(index)
        else:
            break
        placed[index] = True
        order.append(index)
        for released in waiting.place(index):
            if not placed[released]:
                heapq.heappush(ready, released)
    stuck = tuple(index for index, done in enumerate(placed) if not done)
    return Schedule(tuple(order), stuck, tuple(forced))


#: Where a task stands: 1 once cycles are being broken, the head of its run, its place
#: in that run. Sorted by this, tasks are in their order.
Slot: TypeAlias = tuple[int, int, int]


def slots(schedule: Schedule) -> Iterable[Slot]:
    """Yield where each task of an order stands, in that order.

    A task that is placed later than its number says waited for a larger one. It follows
    the largest task placed so far, the head of its run, and that is one it waited for:
    had it not, it would have been ready, and taken, before. So a slot depends on
    nothing but the tasks that its own is tied to, and stays what it is whatever else is
    scheduled along with them: an order can be mended instead of made anew. The same
    holds of a task that was forced, the smallest one left, and those it let go.
    Source: docs/explanation/composition.md, "Composing again".
    """
    forced = frozenset(schedule.forced)
    broken, head, place = 0, -1, 0
    for index in schedule.order:
        if index in forced:
            broken, head, place = 1, index, 0
        elif not broken and index > head:
            head, place = index, 0
        else:
            place += 1
        yield broken, head, place


@attrs.frozen(eq=False, repr=False)
class Cycle(Record, Generic[R]):
    """One way around: task, the resource it gives to the next, and so on to the start.

    `members` are all tasks that lie on some cycle together with these, ascending.
    """

    hops: tuple[tuple[int, R], ...]
    members: tuple[int, ...]


def cycles(tasks: Sequence[Task[R]]) -> tuple[Cycle[R], ...]:
    """Return one shortest cycle for every knot of tasks that wait for each other.

    Works on the graph of tasks and resources, so its size is that of the declarations.
    """
    stuck = schedule(tasks).stuck
    needers: dict[R, list[int]] = {}
    for index in stuck:
        for resource in tasks[index].needs:
            needers.setdefault(resource, []).append(index)
    # Tasks and resources are the nodes of one graph; resources are numbered after the
    # tasks. An edge leads from a task to what it gives and from there to its needers.
    node_of = {resource: len(tasks) + n for n, resource in enumerate(needers)}
    graph = {
        index: [node_of[r] for r in tasks[index].gives if r in node_of]
        for index in stuck
    }
    graph.update({node_of[resource]: found for resource, found in needers.items()})
    knots = (
        sorted(node for node in component if node < len(tasks))
        for component in _components(graph)
    )
    found = [
        Cycle(_shortest(tasks, knot[0], frozenset(knot), needers), tuple(knot))
        for knot in knots
        if len(knot) > 1
    ]
    return tuple(sorted(found, key=lambda cycle: cycle.members))


def _components(graph: Mapping[int, Sequence[int]]) -> list[list[int]]:
    """Return the strongly connected components (Tarjan's algorithm, no recursion)."""
    number: dict[int, int] = {}
    low: dict[int, int] = {}
    stack: list[int] = []
    position: dict[int, int] = {}
    on_stack: set[int] = set()
    components: list[list[int]] = []
    for start in graph:
        work = [] if start in number else [(start, iter(graph[start]))]
        while work:
            node, following = work[-1]
            if node not in number:
                number[node] = low[node] = len(number)
                position[node] = len(stack)
                stack.append(node)
                on_stack.add(node)
            for successor in following:
                if successor not in number:
                    work.append((successor, iter(graph[successor])))
                    break
                if successor in on_stack:
                    low[node] = min(low[node], number[successor])
            else:
                work.pop()
                if work:
                    parent = work[-1][0]
                    low[parent] = min(low[parent], low[node])
                if low[node] == number[node]:
                    cut = position[node]
                    components.append(stack[cut:])
                    on_stack.difference_update(stack[cut:])
                    del stack[cut:]
    return components


def _shortest(
    tasks: Sequence[Task[R]],
    start: int,
    members: frozenset[int],
    needers: dict[R, list[int]],
) -> tuple[tuple[int, R], ...]:
    """Return the shortest way from `start` back to itself inside `members`.

    Neighbours are tried in ascending order of task and of the resource's text, so the
    cycle that is shown does not depend on the hash seed.
    """
    came_from: dict[int, tuple[int, R]] = {}
    # Each resource is followed once: whoever needs it is as near as it will get.
    followed: set[R] = set()
    frontier = [start]
    while frontier:
        following: list[int] = []
        for index in frontier:
            gives = sorted(tasks[index].gives, key=repr)
            last = next((r for r in gives if r in tasks[start].needs), None)
            if last is not None and index != start:
                hops = [(index, last)]
                while hops[-1][0] != start:
                    hops.append(came_from[hops[-1][0]])
                return tuple(reversed(hops))
            for resource in gives:
                if resource in followed:
                    continue
                followed.add(resource)
                for needer in needers.get(resource, ()):
                    if needer in members and needer not in came_from:
                        came_from[needer] = (index, resource)
                        following.append(needer)
        frontier = sorted(set(following) - {start})
    raise AssertionError  # pragma: no cover - members of a component reach each other
