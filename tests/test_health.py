"""Findings, and the page that explains their codes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from msdcomp.health import CHECKS, SEVERITIES, Finding, finding, is_sound, ranked

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "doctor.md"
ROW = re.compile(r"^\| `([a-z-]+)` \| (error|warning|info) \|", re.MULTILINE)

FINDINGS = st.lists(
    st.builds(
        Finding,
        code=st.sampled_from(sorted(CHECKS)),
        subject=st.sampled_from(["a", "b"]),
        reason=st.just("it is so"),
    )
)


def test_the_page_explains_every_code_and_no_other() -> None:
    rows = ROW.findall(PAGE.read_text(encoding="utf-8"))

    assert len(rows) == len(CHECKS)
    assert dict(rows) == dict(CHECKS)


@given(FINDINGS)
def test_the_worst_comes_first_and_nothing_is_lost(found: list[Finding]) -> None:
    made = ranked(found)

    assert sorted(made, key=repr) == sorted(found, key=repr)
    places = [SEVERITIES.index(one.severity) for one in made]
    assert places == sorted(places)
    for severity in SEVERITIES:
        assert [one for one in made if one.severity == severity] == [
            one for one in found if one.severity == severity
        ]


@given(FINDINGS)
def test_only_what_is_to_know_is_sound(found: list[Finding]) -> None:
    assert is_sound(found) == ({one.severity for one in found} <= {"info"})


def test_a_code_that_is_none_is_a_defect() -> None:
    with pytest.raises(ValueError, match="odd is no check"):
        finding("odd", "it is so")
