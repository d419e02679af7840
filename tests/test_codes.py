"""The table of codes: complete, useful, and in step with the package."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import msdcomp
from msdcomp.codes import CODES, Code

PACKAGE = Path(msdcomp.__file__).parent
SOURCES = [
    path
    for path in sorted(PACKAGE.rglob("*.py"))
    if path.parent != PACKAGE / "codes"
]  # fmt: skip

#: Functions whose first argument is a code.
MAKERS = {"fault", "must_be", "refuse", "odd", "_problem", "_fault", "_BrokenError"}


def _calls(path: Path) -> Iterator[ast.Call]:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Call):
            yield node


def _used(path: Path) -> Iterator[str]:
    """Return the codes that are written down where a problem is made."""
    for call in _calls(path):
        named = [keyword.value for keyword in call.keywords if keyword.arg == "code"]
        name = getattr(call.func, "id", getattr(call.func, "attr", ""))
        first = call.args[:1] if name in MAKERS else []
        for value in (*named, *first):
            if isinstance(value, ast.Constant) and isinstance(value.value, str):
                yield value.value


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
def test_every_code_that_is_used_is_in_the_table(path: Path) -> None:
    assert set(_used(path)) <= set(CODES)


def test_every_code_in_the_table_is_used() -> None:
    text = "\n".join(path.read_text("utf-8") for path in SOURCES)

    assert [code for code in sorted(CODES) if f'"{code}"' not in text] == []


@pytest.mark.parametrize("code", sorted(CODES))
def test_a_code_is_kebab_case_and_explains_itself(code: str) -> None:
    entry = CODES[code]

    assert entry.code == code
    assert re.fullmatch(r"[a-z]+(-[a-z0-9]+)+|[a-z]+", code, re.ASCII)
    for sentence in (entry.meaning, entry.remedy):
        assert sentence.endswith(".")
        assert len(sentence) > 10
    assert entry.source.startswith("docs/")


def test_codes_are_compared_by_value() -> None:
    assert CODES["pending"] == Code(
        **{
            name: getattr(CODES["pending"], name)
            for name in ("code", "meaning", "remedy", "source")
        }
    )
