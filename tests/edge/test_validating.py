"""Many manifests: the same verdicts in the same order, whoever works them out."""

from __future__ import annotations

import json
import os
import pickle
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from msdcomp.candidate import Candidate
from msdcomp.diagnostics import Problem, Severity
from msdcomp.edge import validating, workers
from msdcomp.edge.inspect import read_manifest
from msdcomp.edge.validating import (
    CHUNK,
    FEW,
    LostWorkersError,
    usable_cpus,
    validate_all,
    validate_chunk,
    validate_file,
)
from msdcomp.host import HostContract
from tests.layouts import overlay
from tests.strategies import manifests


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    """Twelve manifests, every third of them with a fault."""
    tiers = ["full", "core", "large"]
    return [
        f"{overlay(tmp_path, f'cap-{n}', tier=tiers[n % 3])}/capability.json"
        for n in range(12)
    ]


def test_a_chunk_is_its_files(files: list[str]) -> None:
    assert validate_chunk(files, first_party=False) == tuple(map(validate_file, files))


def test_workers_come_to_the_same(files: list[str]) -> None:
    alone = list(validate_all(files, jobs=1))

    assert [len(found) for found in alone] == [0, 0, 1] * 4
    assert list(validate_all(files, jobs=2)) == alone


def _told(path: str, **_: object) -> tuple[Problem, ...]:
    return (Problem(code="x", message=path),)


Asked = list[tuple[int, list[int]]]


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Asked:
    """The number of jobs and the sizes of the chunks, whenever workers are wanted."""
    found: Asked = []

    def in_order(
        work: Callable[[Any], Any], things: Iterable[Any], jobs: int
    ) -> Iterator[Any]:
        chunks = list(things)
        found.append((jobs, [len(chunk) for chunk in chunks]))
        yield from map(work, chunks)

    monkeypatch.setattr(workers, "in_order", in_order)
    monkeypatch.setattr(validating, "validate_file", _told)
    monkeypatch.setattr(validating, "usable_cpus", lambda: 4)
    return found


def _validated(count: int, jobs: int | None) -> None:
    names = [str(number) for number in range(count)]
    assert list(validate_all(names, jobs=jobs)) == list(map(_told, names))


def test_few_files_are_validated_by_this_process(asked: Asked) -> None:
    _validated(FEW - 1, None)
    _validated(0, 3)
    _validated(1, 3)
    _validated(5000, 1)

    assert asked == []


def test_many_files_are_shared_by_all_processors(asked: Asked) -> None:
    _validated(FEW + CHUNK + 1, None)

    ((jobs, sizes),) = asked
    assert jobs == 4
    assert set(sizes[:-1]) == {CHUNK}
    assert sum(sizes) == FEW + CHUNK + 1


@pytest.mark.parametrize(
    ("count", "jobs", "sizes"), [(5, 2, [3, 2]), (2, 9, [1, 1]), (70, 2, [32, 32, 6])]
)
def test_a_number_of_jobs_that_is_asked_for_is_given_work(
    asked: Asked, count: int, jobs: int, sizes: list[int]
) -> None:
    _validated(count, jobs)

    assert asked == [(jobs, sizes)]


def test_a_lost_worker_is_told(
    files: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def in_order(*_: object) -> Iterator[Any]:
        yield from ()
        raise workers.BrokenProcessPool

    monkeypatch.setattr(workers, "in_order", in_order)

    with pytest.raises(LostWorkersError):
        list(validate_all(files, jobs=2))


def test_the_processors_that_count_are_those_this_process_may_use(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(os, "process_cpu_count", lambda: 3, raising=False)
    assert usable_cpus() == 3
    monkeypatch.delattr(os, "process_cpu_count")
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 5}, raising=False)
    assert usable_cpus() == 2
    monkeypatch.delattr(os, "sched_getaffinity")
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert usable_cpus() == 1


# What travels between processes


def _travelled(value: Any) -> Any:
    return pickle.loads(pickle.dumps(value))  # noqa: S301 - our own


_WORDS = st.text(max_size=20)


@given(
    st.builds(
        Problem,
        code=_WORDS,
        message=_WORDS,
        path=_WORDS,
        hint=st.none() | _WORDS,
        severity=st.sampled_from(Severity),
        file=st.none() | st.text(st.characters(), max_size=20),
        line=st.none() | st.integers(),
        about=st.lists(_WORDS).map(tuple),
    )
)
def test_a_problem_is_the_same_after_the_journey(problem: Problem) -> None:
    there = _travelled(problem)

    assert there == problem
    assert hash(there) == hash(problem)
    assert repr(there) == repr(problem)
    assert attrs.asdict(there) == attrs.asdict(problem)


@given(manifests)
def test_a_candidate_is_the_same_after_the_journey(manifest: dict[str, Any]) -> None:
    candidate = Candidate.read(manifest)

    assert _travelled(candidate) == candidate


def test_records_of_every_kind_are_the_same_after_the_journey(
    files: list[str],
) -> None:
    candidate = read_manifest(files[0])

    for record in (candidate, candidate.decoded, HostContract()):
        assert _travelled(record) == record
    assert json.dumps(sorted(_travelled(HostContract()).kinds)) == json.dumps(
        sorted(HostContract().kinds)
    )
