"""Versions and ranges beyond the reference pairs."""

from __future__ import annotations

import nodesemver
import pytest
from hypothesis import given
from hypothesis import strategies as st

from msdcomp.semver import core, is_range, is_version, satisfies

_parts = st.integers(0, 30)
_versions = st.tuples(_parts, _parts, _parts)


def spelled(version: tuple[int, int, int]) -> str:
    return ".".join(map(str, version))


@pytest.mark.parametrize(
    ("text", "valid"),
    [
        ("0.0.0", True),
        ("1.2.3-rc.1+build.5", True),
        ("1.2.3-0a", True),
        ("1.2", False),
        ("01.2.3", False),
        ("1.2.3-01", False),
        ("v1.2.3", False),
        (" 1.2.3", False),
        ("1.2.3\n", False),
        ("", False),
    ],
)
def test_a_version_follows_the_grammar_of_semver(text: str, valid: bool) -> None:
    assert is_version(text) is valid


@pytest.mark.parametrize(
    ("version", "release"),
    [
        ("1.2.3", "1.2.3"),
        (" v1.2.3-rc.1+b ", "1.2.3"),
        ("vv1.2.3", None),
        ("next", None),
        ("", None),
        (f"{2**53 - 1}.0.0", f"{2**53 - 1}.0.0"),
        (f"{2**53}.0.0", None),
        (f"1.2.3-{'a' * 300}", None),
    ],
)
def test_the_release_of_a_host_is_its_version_without_what_follows(
    version: str, release: str | None
) -> None:
    assert core(version) == release


@pytest.mark.parametrize(
    ("range_", "valid"),
    [
        ("*", True),
        (">= 1.2.3 < 2", True),
        ("1 - 2", True),
        ("^1 || ", True),
        ("+build", True),
        ("", False),
        (" || ", False),
        ("1.x.2", False),
        ("^1 || nonsense", False),
        ("=> 1", False),
        (f">={2**53}.0.0", False),
        (">=1.0.0" + " " * 300, True),
        (" || ".join([">=1.0.0"] * 24), True),
        (" || ".join([">=1.0.0"] * 600), False),
    ],
)
def test_a_range_follows_the_grammar_of_npm(range_: str, valid: bool) -> None:
    assert is_range(range_) is valid


@given(st.text(max_size=12), st.text(max_size=12))
def test_any_text_gets_an_answer_and_no_range_is_never_satisfied(
    version: str, range_: str
) -> None:
    answer = satisfies(version, range_)

    assert not answer or (core(version) is not None and is_range(range_))


@given(_versions, _versions)
def test_bounds_compare_number_by_number(
    host: tuple[int, int, int], bound: tuple[int, int, int]
) -> None:
    here = spelled(host)

    assert satisfies(here, f">={spelled(bound)}") is (host >= bound)
    assert satisfies(here, f"<{spelled(bound)}") is (host < bound)
    assert satisfies(here, spelled(bound)) is (host == bound)
    assert satisfies(f"{here}-rc.1+build", f">={spelled(bound)}") is (host >= bound)


@given(_versions, _versions, _versions)
def test_alternatives_are_satisfied_by_any_side_and_bounds_only_by_all(
    host: tuple[int, int, int], low: tuple[int, int, int], high: tuple[int, int, int]
) -> None:
    here = spelled(host)
    above, below = f">{spelled(low)}", f"<={spelled(high)}"

    assert satisfies(here, f"{above} {below}") is (low < host <= high)
    assert satisfies(here, f"{above} || {below}") is (host > low or host <= high)
    assert satisfies(here, f"{above} ||") is (host > low)


TRIPLES = st.builds("{}.{}.{}".format, *[st.integers(0, 3)] * 3)
BOUNDS = st.builds(
    "{}{}{}".format,
    st.sampled_from([">=", "<=", ">", "<", "=", ""]),
    st.sampled_from(["", " "]),
    TRIPLES,
)


@given(TRIPLES, st.lists(BOUNDS, min_size=1, max_size=3).map(" ".join))
def test_whole_versions_compare_as_the_library_compares_them(
    version: str, range_: str
) -> None:
    assert satisfies(version, range_) is nodesemver.satisfies(
        version, range_, loose=False
    )
