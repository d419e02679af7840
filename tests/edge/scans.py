"""Helpers of the scan tests."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

from msdcomp.candidate import Candidate, FragmentFault, FragmentText
from msdcomp.edge.consent import ConsentRecord, record_consent
from msdcomp.edge.scan import Scan

__all__ = ["GATE", "Scanner", "agree", "code", "fragment", "only", "reasons", "text"]

Scanner: TypeAlias = Callable[[], Scan]

GATE = {
    "point": "ship:pre",
    "check": {"query": "state all-done"},
    "blocking": True,
    "onError": "halt",
}


def only(found: Scan) -> Candidate:
    assert len(found.candidates) == 1
    return found.candidates[0]


def reasons(found: Scan) -> dict[str, str]:
    return {entry.name: entry.reason for entry in found.ignored}


def text(path: str) -> dict[str, Any]:
    """A contribution that takes its text from a file."""
    return {
        "point": "plan:pre",
        "into": "planner",
        "fragment": {"path": path},
        "produces": [],
        "consumes": [],
    }


def agree(home: Path, project: Path, bundle: Path) -> None:
    made = record_consent(
        str(home), str(project), str(bundle), bundle.name, ("plan:post",)
    )
    assert isinstance(made, ConsentRecord)


def fragment(found: Scan, path: str = "a.md") -> FragmentText | FragmentFault:
    return only(found).fragments[path]


def code(found: Scan, path: str = "a.md") -> str:
    fault = fragment(found, path)
    assert isinstance(fault, FragmentFault)
    return fault.code
