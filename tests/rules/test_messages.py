"""What the rules say, word for word.

Each case in `cases/` names a healthy document, a place in it and the new value there;
below stand all problems that follow, each with its message and hint.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from msdcomp.diagnostics import Problem
from msdcomp.rules import check
from tests import documents

CASES = Path(__file__).parent / "cases"


def _cases() -> Iterator[Any]:
    for file in sorted(CASES.glob("*.txt")):
        for block in file.read_text("utf-8").strip().split("\n\n"):
            head, *expected = block.split("\n")
            yield pytest.param(head, expected, id=f"{file.stem}: {head[:60]}")


def _told(problem: Problem) -> list[str]:
    return [
        f"    {problem.severity} {problem.code} at {problem.path}",
        f"        {problem.message}",
        f"        {problem.hint}",
    ]


@pytest.mark.parametrize(("head", "expected"), list(_cases()))
def test_a_change_is_answered_in_these_words(head: str, expected: list[str]) -> None:
    name, place = head.split(" ", 1)
    path, _, value = place.partition(" = ")
    document = getattr(documents, name)()
    new = json.loads(value) if value else documents.MISSING

    changed = documents.changed(document, path.removesuffix(" deleted"), new)
    found = check(changed, document["id"])

    lines = [line for problem in found for line in _told(problem)]
    assert (lines or ["    no problem"]) == expected
