"""The order of decision: dependencies first, then code points, nothing else."""

from __future__ import annotations

from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from msdcomp.candidate import Candidate, Consent, Scope
from msdcomp.contender import offered
from msdcomp.host import HostContract
from tests import oracle
from tests.overlays import (
    FIRST_PARTY,
    Plan,
    candidates,
    feature,
    in_order,
    plan_lists,
    runtime,
    said,
    step,
)

CONTRACT = HostContract()
BASE = [FIRST_PARTY.capabilities[owner] for owner in sorted(FIRST_PARTY.capabilities)]


def order(*found: Candidate) -> list[str]:
    return [candidate.folder for candidate in in_order(found)]


def overlay(folder: str, scope: Scope = Scope.GLOBAL, **fields: Any) -> Candidate:
    return Candidate.read(feature(folder, **fields), scope=scope)


def makes(folder: str, artefact: str, point: str = "plan:pre") -> Candidate:
    return overlay(folder, steps=[step(point, [artefact], [])])


def uses(folder: str, artefact: str, point: str = "plan:pre") -> Candidate:
    return overlay(folder, steps=[step(point, [], [artefact])])


@given(plan_lists)
def test_the_order_is_the_one_the_design_words(plans: list[Plan]) -> None:
    found = candidates(plans)

    assert list(in_order(found)) == oracle.ordered(list(found), BASE)


@given(st.lists(st.text("aAzZ09-_é\u00df", min_size=1, max_size=3), unique=True))
def test_free_candidates_are_ordered_by_code_point(folders: list[str]) -> None:
    found = (Candidate(folder=folder) for folder in folders)

    assert order(*found) == sorted(folders)


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        pytest.param(
            [overlay("aa", Scope.PROJECT), overlay("zz")],
            ["zz", "aa"],
            id="global before project",
        ),
        pytest.param(
            [overlay("aa", requires=["zz"]), overlay("zz")],
            ["zz", "aa"],
            id="what is required comes first",
        ),
        pytest.param(
            [overlay("aa", requires=["zz"]), overlay("zz", Scope.PROJECT)],
            ["aa", "zz"],
            id="but not across scopes",
        ),
        pytest.param(
            [
                overlay("aa", runtimeCompat={"supported": ["zz"], "unsupported": []}),
                Candidate.read(runtime("zz")),
            ],
            ["zz", "aa"],
            id="a runtime that is named comes first",
        ),
        pytest.param(
            [
                overlay("aa", runtimeCompat={"supported": ["zz"], "unsupported": []}),
                overlay("zz"),
            ],
            ["aa", "zz"],
            id="unless it is none",
        ),
        pytest.param(
            [uses("aa", "NEW.md"), makes("zz", "NEW.md")],
            ["zz", "aa"],
            id="a producer at the same point comes first",
        ),
        pytest.param(
            [uses("aa", "NEW.md", "ship:post"), makes("zz", "NEW.md")],
            ["zz", "aa"],
            id="and one at an earlier point",
        ),
        pytest.param(
            [uses("aa", "NEW.md"), makes("zz", "NEW.md", "plan:post")],
            ["aa", "zz"],
            id="but not one at a later point",
        ),
        pytest.param(
            [uses("aa", "CONTEXT.md"), makes("zz", "CONTEXT.md")],
            ["aa", "zz"],
            id="what the host leaves is not waited for",
        ),
        pytest.param(
            [uses("aa", "BASE.md"), makes("zz", "BASE.md", "discuss:post")],
            ["aa", "zz"],
            id="nor what the first party makes",
        ),
        pytest.param(
            [uses("aa", "PLAN.md"), makes("zz", "PLAN.md")],
            ["zz", "aa"],
            id="unless the host leaves it only later",
        ),
        pytest.param(
            [
                overlay("aa", contributions=[said("plan:pre", [], ["NEW.md"])]),
                overlay("zz", contributions=[said("plan:pre", ["NEW.md"], [])]),
            ],
            ["aa", "zz"],
            id="contributions do not order candidates",
        ),
        pytest.param(
            [overlay("aa", requires=["aa"]), overlay("bb")],
            ["aa", "bb"],
            id="nobody waits for oneself",
        ),
        pytest.param(
            [
                overlay("cc", requires=["bb"]),
                overlay("bb", requires=["cc"]),
                overlay("aa", requires=["bb"]),
            ],
            ["aa", "bb", "cc"],
            id="when all wait for a circle the smallest id goes first",
        ),
    ],
)
def test_candidates_are_decided_in_this_order(
    found: list[Candidate], expected: list[str]
) -> None:
    assert order(*found) == expected
    assert order(*reversed(found)) == expected


def test_a_folder_found_twice_in_a_scope_is_ordered_by_path() -> None:
    one = attrs.evolve(overlay("aa", Scope.PROJECT), path="home/.msd/capabilities/aa")
    other = overlay("aa", Scope.PROJECT)

    assert in_order((one, other)) == (other, one)
    assert in_order((other, one)) == (other, one)


HEALTHY = overlay("aa", Scope.PROJECT)


@pytest.mark.parametrize(
    "candidate",
    [
        pytest.param(attrs.evolve(HEALTHY, pending=True), id="pending"),
        pytest.param(attrs.evolve(HEALTHY, linked=True), id="linked in a project"),
        pytest.param(attrs.evolve(HEALTHY, consent=Consent.NONE), id="unconsented"),
        pytest.param(attrs.evolve(HEALTHY, consent=Consent.CHANGED), id="changed"),
        pytest.param(attrs.evolve(HEALTHY, consent=Consent.UNREADABLE), id="unknown"),
        pytest.param(Candidate(folder="aa"), id="unreadable"),
        pytest.param(Candidate.read({"id": "aa"}), id="invalid"),
        pytest.param(overlay("msd-aa"), id="reserved"),
    ],
)
def test_who_does_not_pass_the_first_five_gates_moves_nobody(
    candidate: Candidate,
) -> None:
    assert offered(candidate) is None


def test_a_link_in_the_global_root_is_as_good_as_a_folder() -> None:
    linked = attrs.evolve(overlay("aa"), linked=True)

    assert offered(linked) is not None
    assert offered(HEALTHY) is not None


def test_an_unconsented_dependency_does_not_hold_anybody_up() -> None:
    secret = Candidate.read(feature("zz"), scope=Scope.PROJECT, consent=Consent.NONE)

    assert order(overlay("aa", Scope.PROJECT, requires=["zz"]), secret) == ["aa", "zz"]
