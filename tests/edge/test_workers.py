"""Several processes: the order stays, none is left over, and none is waited for."""

from __future__ import annotations

import os
import resource
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from multiprocessing import Pipe
from typing import Any

import attrs
import pytest

from msdcomp.edge import workers
from msdcomp.edge.workers import AHEAD, BrokenProcessPool, in_order
from tests.edge.crew import double, fail, hang_after_the_first, vanish


def test_results_come_in_the_order_of_the_things() -> None:
    assert list(in_order(double, range(50), 3)) == [2 * n for n in range(50)]


def test_nothing_to_do() -> None:
    assert list(in_order(double, (), 2)) == []


def test_things_are_taken_as_they_are_needed() -> None:
    taken: list[int] = []

    def things() -> Iterator[int]:
        for number in range(1000):
            taken.append(number)
            yield number

    results = in_order(double, things(), 2)
    assert taken == []
    assert next(results) == 0
    assert len(taken) == 2 * AHEAD
    results.close()


def test_a_fault_of_the_work_is_the_callers() -> None:
    with pytest.raises(LookupError):
        list(in_order(fail, range(3), 2))


def test_a_worker_that_is_killed_is_told_and_not_waited_for() -> None:
    with pytest.raises(BrokenProcessPool):
        list(in_order(vanish, range(100), 2))


def test_closing_ends_workers_that_are_busy() -> None:
    results = in_order(hang_after_the_first, range(10), 1)
    worker = next(results)
    os.kill(worker, 0)

    results.close()

    with pytest.raises(ProcessLookupError):
        os.kill(worker, 0)


@pytest.mark.parametrize("reason", [ImportError, NotImplementedError, OSError])
def test_where_no_process_can_be_started_the_work_is_done_here(
    monkeypatch: pytest.MonkeyPatch, reason: type[Exception]
) -> None:
    def refusing(*_: object, **__: object) -> None:
        raise reason

    monkeypatch.setattr(workers, "ProcessPoolExecutor", refusing)

    assert list(in_order(double, range(5), 2)) == [0, 2, 4, 6, 8]


@pytest.mark.parametrize(
    ("limit", "jobs"),
    [(resource.RLIM_INFINITY, 1000), (1024, 480), (66, 1), (65, None), (8, None)],
)
def test_no_more_workers_are_started_than_there_are_descriptors_for(
    monkeypatch: pytest.MonkeyPatch, limit: int, jobs: int | None
) -> None:
    started: list[int] = []

    def starting(jobs: int, **_: object) -> Inline:
        started.append(jobs)
        return Inline(1000)

    monkeypatch.setattr(resource, "getrlimit", lambda _: (limit, limit))
    monkeypatch.setattr(workers, "ProcessPoolExecutor", starting)

    assert list(in_order(double, range(5), 1000)) == [0, 2, 4, 6, 8]
    assert started == ([] if jobs is None else [jobs])


@attrs.define
class Inline:
    """An executor that works at once, and takes so much and no more."""

    left: int

    def submit(self, work: Callable[[int], int], thing: int) -> Future[int]:
        if self.left == 0:
            raise BlockingIOError(11, "no more processes")
        self.left -= 1
        done: Future[int] = Future()
        done.set_result(work(thing))
        return done

    def shutdown(self, **_: object) -> None:
        """Do nothing, as there is nothing to end."""


@pytest.mark.parametrize("most", [0, 1, 5, 11, 30])
def test_where_no_further_process_can_be_started_the_rest_is_done_here(
    monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    monkeypatch.setattr(workers, "ProcessPoolExecutor", lambda *_, **__: Inline(most))

    assert list(in_order(double, range(30), 2)) == [2 * n for n in range(30)]


def test_a_worker_ends_when_nobody_holds_its_pipe(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ended: list[int] = []
    started: list[Any] = []

    class Thread:
        def __init__(self, **given: Any) -> None:
            assert given["daemon"]
            self.run = lambda: given["target"](*given["args"])

        def start(self) -> None:
            started.append(self)

    held, holding = Pipe(duplex=False)
    with held, monkeypatch.context() as patch:
        patch.setattr("threading.Thread", Thread)
        patch.setattr("os._exit", ended.append)
        workers._attend(held)
        holding.close()
        started[0].run()
    assert ended == [1]
