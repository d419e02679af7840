"""The host contract that `--host-contract` names; imported only where one is named."""

from __future__ import annotations

from msdcomp.cli.common import complain
from msdcomp.diagnostics import Problem
from msdcomp.edge.contractfile import read_contract
from msdcomp.host import HostContract
from msdcomp.safetext import safe

__all__ = ["asked_contract"]


def asked_contract(path: str) -> HostContract | None:
    """Return the contract of a file, or complain about every fault and return None."""
    found = read_contract(path)
    if isinstance(found, HostContract):
        return found
    for problem in found:
        complain(f"--host-contract: {_line(problem)}")
    return None


def _line(problem: Problem) -> str:
    place = safe(problem.file, 400)
    if problem.line is not None:
        place += f":{problem.line}:{problem.column}"
    where = f" ({safe(problem.path)})" if problem.path else ""
    return (
        f"{place}: [{problem.code}] {safe(problem.message, 600)}{where}; "
        f"{safe(problem.hint, 600)}"
    )
