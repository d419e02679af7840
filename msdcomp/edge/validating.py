"""Validates many manifests, in this process or in several, in the order given.

Each manifest is validated by itself, so the result is the same however many processes
share the work; no more is held than a few chunks of results.
Source: docs/reference/command-line.md, "msd validate".
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import os
from collections.abc import Generator, Iterable

from msdcomp.diagnostics import Problem
from msdcomp.edge.inspect import read_manifest
from msdcomp.host import HostContract
from msdcomp.validation import validate

__all__ = [
    "FEW",
    "MAX_JOBS",
    "LostWorkersError",
    "usable_cpus",
    "validate_all",
    "validate_chunk",
    "validate_file",
]

#: Fewer manifests than this are left to this process unless somebody asks for more:
#: that takes half a second, and two workers need nearly as long to start and share it.
FEW = 5000

#: Most processes that can be asked for; no machine gains by more.
MAX_JOBS = 1000

#: Manifests that a worker is handed at a time: some milliseconds of work.
CHUNK = 32


class LostWorkersError(Exception):
    """A process that shared the work ended before it was done."""


def usable_cpus() -> int:
    """Return the number of processors that this process may use, at least 1."""
    if counting := getattr(os, "process_cpu_count", None):  # Python 3.13
        return counting() or 1
    if asking := getattr(os, "sched_getaffinity", None):  # Linux
        return len(asking(0))
    return os.cpu_count() or 1


def validate_all(
    files: Iterable[str],
    *,
    jobs: int | None = None,
    first_party: bool = False,
    contract: HostContract | None = None,
) -> Generator[tuple[Problem, ...], None, None]:
    """Yield the problems of each manifest, in the order of the files.

    Args:
        files: Taken as the work goes on, never all at once.
        jobs: Processes to use, 1 for this one; by default as many as there are
            processors, unless there are few files.
        first_party: The reserved id prefixes are the first party's own.
        contract: Roles, artefacts and kinds of the host; by default those of MSD.

    Raises:
        LostWorkersError: A worker was killed, or ran out of memory.
    """
    rest = iter(files)
    first = tuple(itertools.islice(rest, FEW))
    if jobs is None:
        jobs = usable_cpus() if len(first) == FEW else 1
    # Few files are dealt out evenly, so that as many take part as were asked for.
    size = max(1, min(CHUNK, -(-len(first) // jobs)))
    rest = itertools.chain(first, rest)
    if jobs == 1 or len(first) < 2:
        for file in rest:
            yield validate_file(file, first_party=first_party, contract=contract)
        return
    # Imported here because most trees are small, and processes cost an import too.
    from msdcomp.edge.workers import BrokenProcessPool, in_order  # noqa: PLC0415

    work = functools.partial(validate_chunk, first_party=first_party, contract=contract)
    chunks = iter(lambda: tuple(itertools.islice(rest, size)), ())
    try:
        # Closed at once, also when whoever asked is interrupted.
        with contextlib.closing(in_order(work, chunks, jobs)) as results:
            for chunk in results:
                yield from chunk
    except BrokenProcessPool as error:
        raise LostWorkersError from error


def validate_chunk(
    files: Iterable[str], *, first_party: bool, contract: HostContract | None = None
) -> tuple[tuple[Problem, ...], ...]:
    """Validate some manifests; this is what a worker does."""
    return tuple(
        validate_file(file, first_party=first_party, contract=contract)
        for file in files
    )


def validate_file(
    path: str, *, first_party: bool = False, contract: HostContract | None = None
) -> tuple[Problem, ...]:
    """Read one manifest and return everything that can be said about it by itself."""
    return validate(read_manifest(path), contract, first_party=first_party, file=path)
