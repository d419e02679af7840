"""Runs a function over many things in several processes, and keeps their order.

Workers are started afresh (`spawn`), so that nothing of the caller's threads and locks
is copied into them. Each holds one end of a pipe whose other end only this process
has: when it is closed, or this process dies, they end, whatever they are at.
Source: docs/explanation/edges.md, "Several processes".
"""

from __future__ import annotations

import contextlib
import itertools
import multiprocessing
import os
import resource
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing.connection import Connection
from typing import TypeVar

__all__ = ["BrokenProcessPool", "in_order"]

#: Results a worker may be ahead of the one that is waited for: enough to stay busy
#: behind a slow one, and a bound for what is held in memory.
AHEAD = 4

#: Descriptors that are left to everything else here, and those that one worker takes.
_SPARE, _EACH = 64, 2

_T = TypeVar("_T")
_R = TypeVar("_R")


def in_order(
    work: Callable[[_T], _R], things: Iterable[_T], jobs: int
) -> Generator[_R, None, None]:
    """Yield `work(thing)` for each thing, in their order, computed by workers.

    Where no worker can be started, the work is done in this process instead: the
    results are the same. Close the iterator to end the workers early.

    Args:
        work: A function of a module; it, its argument and its result are pickled.
        things: Taken only as far ahead as the workers need.
        jobs: Most workers at a time; fewer where their pipes would use up the
            descriptors that this process may open.

    Raises:
        BrokenProcessPool: A worker was killed, or ran out of memory.
    """
    rest = iter(things)
    jobs = min(jobs, _room())
    if jobs < 1:
        yield from map(work, rest)
        return
    with contextlib.ExitStack() as stack:
        try:
            executor = stack.enter_context(_started(jobs))
        except (ImportError, NotImplementedError, OSError):
            # No semaphores, no descriptors: what containers and limits can lack.
            yield from map(work, rest)
            return
        waiting: deque[Future[_R]] = deque()
        for thing in rest:
            try:
                with _uninterrupted():
                    waiting.append(executor.submit(work, thing))
            except OSError:  # no further process is allowed
                rest = itertools.chain((thing,), rest)
                break
            if len(waiting) >= jobs * AHEAD:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    yield from map(work, rest)


def _room() -> int:
    """Return for how many workers there are descriptors.

    With none left, a folder or a manifest could not be opened here, and would be told
    to be unreadable.
    """
    limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if limit == resource.RLIM_INFINITY:
        return sys.maxsize
    return (limit - _SPARE) // _EACH


@contextlib.contextmanager
def _started(jobs: int) -> Iterator[ProcessPoolExecutor]:
    """Yield an executor; its workers end with the block, at once when it fails."""
    context = multiprocessing.get_context("spawn")
    held, holding = context.Pipe(duplex=False)
    with held, holding:
        executor = ProcessPoolExecutor(
            jobs, mp_context=context, initializer=_attend, initargs=(held,)
        )
        try:
            yield executor
        except BaseException:
            holding.close()
            raise
        finally:
            executor.shutdown(cancel_futures=True)


@contextlib.contextmanager
def _uninterrupted() -> Iterator[None]:
    """Start processes that no Ctrl-C reaches: they end with this one, and quietly.

    A mask is inherited, so it holds from the first instruction of a worker on.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _attend(held: Connection) -> None:
    """Let a worker end when the other end of its pipe is closed."""
    threading.Thread(target=_end_with, args=(held,), daemon=True).start()


def _end_with(held: Connection) -> None:
    with contextlib.suppress(EOFError, OSError):
        held.recv_bytes()
    os._exit(1)
