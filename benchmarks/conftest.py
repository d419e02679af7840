"""Gives every benchmark its sizes, kinds and shapes, and what it is timed with."""

from __future__ import annotations

import functools
import gc
from collections.abc import Callable
from typing import TypeVar, cast

import pytest
from kit import SHAPE_SIZES, SIZES, HomeOf, Timed
from overlays import install
from pytest_benchmark.fixture import BenchmarkFixture
from shapes import SHAPES

_T = TypeVar("_T")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Give every benchmark that asks for them all sizes, kinds and shapes."""
    names = metafunc.fixturenames
    if "shape" in names:
        metafunc.parametrize("shape", SHAPES)
    if "dirty" in names:
        metafunc.parametrize("dirty", [False, True], ids=["clean", "dirty"])
    if "count" in names:
        metafunc.parametrize("count", SHAPE_SIZES if "shape" in names else SIZES)


@pytest.fixture
def timed(benchmark: BenchmarkFixture, count: int) -> Timed:
    """Return what times a piece of work: the larger, the fewer rounds."""
    rounds = 3 if count >= 10_000 else 5 if count >= 1_000 else 20
    warmup_rounds = 0 if count >= 10_000 else 1

    def run(work: Callable[[], _T]) -> _T:
        pedantic = cast(
            Callable[..., _T],
            benchmark.pedantic,  # type: ignore[no-untyped-call, unused-ignore]
        )
        # The sets that the suites keep are no part of the work: without this the
        # garbage collector would go through them again and again.
        gc.collect()
        gc.freeze()
        try:
            return pedantic(work, rounds=rounds, warmup_rounds=warmup_rounds)
        finally:
            gc.unfreeze()

    return run


@pytest.fixture(scope="session")
def home_of(tmp_path_factory: pytest.TempPathFactory) -> HomeOf:
    """Return what installs a set below a home, once."""

    @functools.cache
    def made(count: int, *, dirty: bool) -> str:
        home = tmp_path_factory.mktemp("home")
        install(home, count, dirty=dirty)
        return str(home)

    return made
