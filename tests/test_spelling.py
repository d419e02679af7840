"""Slips of one letter are found, whatever the options; the cost has a bound."""

from __future__ import annotations

from collections.abc import Collection, Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from msdcomp import spelling
from msdcomp.spelling import MAX_OPTIONS, MAX_TEXT, closest, is_slip

words = st.text("abAB.-é", max_size=8)


def edits(text: str, letter: str) -> set[str]:
    """Return everything one edit makes of a text."""
    cuts = [(text[:at], text[at:]) for at in range(len(text) + 1)]
    made = {head + letter + tail for head, tail in cuts}
    made |= {head + tail[1:] for head, tail in cuts}
    made |= {head + letter + tail[1:] for head, tail in cuts if tail}
    made |= {
        head + tail[1] + tail[0] + tail[2:] for head, tail in cuts if len(tail) > 1
    }
    return made - {text}


@given(words, st.sampled_from("abx"))
def test_every_single_edit_is_a_slip_both_ways(text: str, letter: str) -> None:
    for made in edits(text, letter):
        assert is_slip(text, made)
        assert is_slip(made, text)
        assert closest(made, [text]) == text


@given(words, words)
def test_what_is_no_single_edit_is_no_slip(one: str, other: str) -> None:
    made = {text for letter in {*other, "a"} for text in edits(one, letter)}

    assert is_slip(one, other) is (other in made)
    assert is_slip(one, other) is is_slip(other, one)


@given(words, st.lists(words, max_size=6))
def test_the_order_of_the_options_does_not_matter(
    text: str, options: list[str]
) -> None:
    found = closest(text, options)

    assert closest(text, options[::-1]) == found
    assert found is None or found in options
    assert found != text


@pytest.mark.parametrize(
    ("text", "options", "meant"),
    [
        ("Gates", ["gates", "Gate"], "gates"),
        ("GATES", ["gates", "Gates"], "Gates"),
        ("gtaes", ["gates"], "gates"),
        ("gat", ["gate", "gats"], "gate"),
        ("gates", ["gates"], None),
        ("gats", [], None),
        ("", ["a"], "a"),
        ("gas", ["gates"], None),
        ("x" * MAX_TEXT, ["x" * (MAX_TEXT + 1)], "x" * (MAX_TEXT + 1)),
        ("x" * (MAX_TEXT + 1), ["x" * MAX_TEXT], None),
        ("gat", ["gate", *map(str, range(MAX_OPTIONS - 1))], "gate"),
        ("gat", ["gate", *map(str, range(MAX_OPTIONS))], None),
    ],
)
def test_at_most_one_option_is_meant(
    text: str, options: list[str], meant: str | None
) -> None:
    assert closest(text, options) == meant


class Counted(Collection[str]):
    """Many options that must not be looked at."""

    def __len__(self) -> int:
        """Claim one too many."""
        return MAX_OPTIONS + 1

    def __iter__(self) -> Iterator[str]:
        """Fail."""
        raise AssertionError

    def __contains__(self, _: object) -> bool:
        """Fail."""
        raise AssertionError


def test_too_many_options_are_not_even_looked_at() -> None:
    assert closest("gat", Counted()) is None


def test_each_option_is_looked_at_once_and_only_when_its_length_fits(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen: list[str] = []

    def counted(_: str, other: str) -> bool:
        seen.append(other)
        return False

    monkeypatch.setattr(spelling, "is_slip", counted)

    assert closest("gate", ["gates", "goat", "g" * 10**6, "x", "gat"]) is None
    assert seen == ["gates", "goat", "gat"]
