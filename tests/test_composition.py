"""The result of composing, as a value."""

from __future__ import annotations

import attrs
import pytest

from msdcomp.candidate import Candidate
from msdcomp.composition import Composition
from msdcomp.fold import compose
from msdcomp.verdict import IgnoredEntry
from tests.overlays import FIRST_PARTY, HOST, feature, gate, said


def composed() -> Composition:
    found = [
        Candidate.read(feature("aa", requires=["nowhere"], gates=[gate("ship:pre")])),
        Candidate.read(feature("bb", gates=[gate("plan:pre"), gate("ship:pre")])),
        Candidate.read(feature("cc", requires=["nobody"], gates=[gate("plan:pre")])),
    ]
    return compose(FIRST_PARTY, found, HOST)


def test_it_shows_counts_only() -> None:
    assert repr(composed()) == (
        "<Composition of 5 capabilities: 1 accepted, 2 skipped>"
    )


def test_the_ids_behind_missing_gates_are_sorted_and_named_once() -> None:
    assert composed().incompatible_gate_cap_ids == ("aa", "cc")


def test_it_fell_back_only_when_the_whole_set_failed() -> None:
    ring = [
        Candidate.read(feature(one, contributions=[said("plan:pre", [made], [used])]))
        for one, made, used in (("aa", "A.md", "B.md"), ("bb", "B.md", "A.md"))
    ]

    assert not composed().fell_back
    assert compose(FIRST_PARTY, ring, HOST).fell_back


def test_equal_compositions_have_equal_digests_and_different_ones_do_not() -> None:
    assert composed() == composed()
    assert composed().digest() == composed().digest()
    assert composed().digest() != compose(FIRST_PARTY, (), HOST).digest()
    assert len(composed().digest()) == 64


def test_there_is_no_overlay_part_when_there_is_nothing_to_report() -> None:
    assert "_overlay" not in compose(FIRST_PARTY, (), HOST).to_wire()


def test_what_is_ignored_is_not_worth_an_overlay_part_of_its_own() -> None:
    entry = IgnoredEntry(scope="global", name=".x", reason="hidden")
    nothing = attrs.evolve(compose(FIRST_PARTY, (), HOST), ignored=(entry,))

    assert "_overlay" not in nothing.to_wire()
    something = attrs.evolve(composed(), ignored=(entry,))
    assert something.to_wire()["_overlay"]["ignored"] == [
        {"scope": "global", "name": ".x", "reason": "hidden"}
    ]


def test_nothing_of_it_can_be_changed() -> None:
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        composed().accepted = ()  # type: ignore[misc]
