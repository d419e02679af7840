"""How long the pure functions take: decode, compose, build, resolve.

Run with `make bench`. Absolute times say little; `benchmarks/ratios.py` prints what is
claimed.
"""

from __future__ import annotations

import pytest
from overlays import manifests
from pytest_benchmark.fixture import BenchmarkFixture

from msdcomp import Candidate, build, compose, decode_manifest, resolve
from msdcomp.edge.snapshot import read_snapshot

SIZES = [0, 10, 100, 1_000]


def candidates(count: int, *, dirty: bool = False) -> list[Candidate]:
    return [
        Candidate.read(text, folder) for folder, text in manifests(count, dirty=dirty)
    ]


def test_decode(benchmark: BenchmarkFixture) -> None:
    folder, text = next(manifests(1))
    assert benchmark(decode_manifest, text, folder).manifest


@pytest.mark.parametrize("dirty", [False, True], ids=["clean", "dirty"])
@pytest.mark.parametrize("count", SIZES)
def test_compose(benchmark: BenchmarkFixture, count: int, dirty: bool) -> None:
    given = candidates(count, dirty=dirty)
    composed = benchmark(compose, read_snapshot(), given)
    assert len(composed.accepted) + len(composed.warnings) == count


@pytest.mark.parametrize("count", SIZES)
def test_build(benchmark: BenchmarkFixture, count: int) -> None:
    entries = compose(read_snapshot(), candidates(count)).registry.entries()
    assert benchmark(build, entries).capabilities


@pytest.mark.parametrize("count", SIZES)
def test_resolve(benchmark: BenchmarkFixture, count: int) -> None:
    registry = compose(read_snapshot(), candidates(count)).registry
    assert benchmark(resolve, registry, "plan:pre").active_hooks
