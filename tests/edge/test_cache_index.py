"""An index that is read from a file is one, or it is none."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from msdcomp.edge.cacheindex import Index, Seen
from msdcomp.edge.sight import FOLDER, Names

STAMP = (1, 2, 3, 4, 5, 6)
PLAIN = Index.of(
    Names(("a", "b"), FOLDER * 2),
    {
        "a": Seen(b"a", ("x.md",), (("a/capability.json", STAMP),), (("a", STAMP),)),
        "b": Seen(b"b"),
    },
).plain()

junk = st.recursive(
    st.none() | st.integers() | st.text(max_size=2) | st.binary(max_size=2),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=6).map(tuple)
        | st.dictionaries(st.text(max_size=2) | st.integers(), inner, max_size=2)
    ),
    max_leaves=6,
)


def test_what_was_written_is_read() -> None:
    found = Index.from_plain(PLAIN)

    assert found is not None
    assert found.plain() == PLAIN


@given(st.integers(0, len(PLAIN) - 1), junk)
def test_a_field_of_another_kind_makes_it_none(place: int, value: Any) -> None:
    found = Index.from_plain((*PLAIN[:place], value, *PLAIN[place + 1 :]))

    if found is not None:  # what was put there could stand there
        assert found.is_sound()
        assert set(found.seen()) == set(found.tokens)


@given(junk)
def test_anything_at_all_is_no_index(value: Any) -> None:
    assert Index.from_plain(value) is None


@pytest.mark.parametrize("place", range(len(PLAIN)))
def test_a_field_less_makes_it_none(place: int) -> None:
    assert Index.from_plain((*PLAIN[:place], *PLAIN[place + 1 :])) is None
