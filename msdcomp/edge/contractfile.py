"""Reads a host contract from a file; a faulty one is its faults, each with its place.

Source: docs/reference/host-contract.md, "A contract of your own".
"""

from __future__ import annotations

import attrs

from msdcomp.diagnostics import Problem
from msdcomp.edge.files import FileFault, read_file
from msdcomp.host import HostContract
from msdcomp.jsontext import locate_all, parse

__all__ = ["read_contract"]


def read_contract(path: str) -> HostContract | tuple[Problem, ...]:
    """Return the contract that a file holds, or everything that is wrong with it.

    Args:
        path: A regular file of at most 8 MiB.

    Returns:
        The contract, or problems with file, line and column, in the order of the text.
    """
    data = read_file(path)
    if isinstance(data, FileFault):
        problem = Problem(
            code="unreadable",
            message=f"the host contract cannot be read: {data.reason}",
            hint="Name a regular file of at most 8 MiB.",
            file=path,
        )
        return (problem,)
    parsed = parse(data)
    found = parsed.problems
    if not found:
        contract = HostContract.from_wire(parsed.value)
        if isinstance(contract, HostContract):
            return contract
        places = locate_all(data, {problem.path for problem in contract})
        found = tuple(problem.at(places[problem.path]) for problem in contract)
    named = (attrs.evolve(problem, file=path) for problem in found)
    return tuple(sorted(named, key=lambda p: (p.line or 0, p.column or 0)))
