"""Hostile sets: what is told of them grows with them, never with their square.

Counted in characters and records, not in seconds.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from msdcomp import Candidate, Consent, Scope, compose
from msdcomp.diagnostics import MAX_PROBLEMS
from msdcomp.edge.snapshot import read_snapshot
from msdcomp.flow import MAX_HOPS
from msdcomp.lostgates import MAX_CONDITIONS
from msdcomp.present.composition import render_composition
from msdcomp.present.names import WITHHELD
from msdcomp.present.page import Screen
from msdcomp.registry import Registry
from msdcomp.testing import candidate, feature, gate, step


def contribution(**fields: Any) -> dict[str, Any]:
    return {
        "point": "plan:pre",
        "into": "planner",
        "produces": [],
        "consumes": [],
        "fragment": {"inline": "x"},
        **fields,
    }


def requires_ring(size: int) -> list[Candidate]:
    return [
        candidate(f"a{n:04d}", requires=[f"a{(n + 1) % size:04d}"]) for n in range(size)
    ]


def tails(size: int) -> list[Candidate]:
    half = size // 2
    ring = requires_ring(half)
    return [
        *ring,
        *(candidate(f"a-t{n}", requires=[f"a{n:04d}"]) for n in range(half)),
    ]


def artefact_ring(size: int) -> list[Candidate]:
    return [
        candidate(
            f"a{n:04d}",
            contributions=[
                contribution(produces=[f"A{n}"], consumes=[f"A{(n + 1) % size}"])
            ],
        )
        for n in range(size)
    ]


def one_artefact(size: int) -> list[Candidate]:
    both = contribution(produces=["X"], consumes=["X"])
    return [candidate(f"a{n:04d}", contributions=[both]) for n in range(size)]


SHAPES: dict[str, Callable[[int], list[Candidate]]] = {
    "a circle of requirements": requires_ring,
    "followers of a circle": tails,
    "a circle of artefacts": artefact_ring,
    "everybody gives and needs one artefact": one_artefact,
}


@pytest.mark.parametrize("policy", ["fallback", "isolate"])
@pytest.mark.parametrize("shape", SHAPES)
def test_what_is_told_of_a_hostile_set_grows_with_it(shape: str, policy: Any) -> None:
    def told(size: int) -> int:
        composed = compose(Registry(), SHAPES[shape](size), on_set_failure=policy)
        assert composed.accepted == ()
        return len(json.dumps(composed.to_wire()))

    assert told(400) < 5 * told(100)


def test_a_long_circle_is_told_in_its_beginning_and_end() -> None:
    (warning,) = compose(Registry(), requires_ring(50)).warnings["global", "a0000"]

    (problem,) = warning.problems
    assert problem.message.count(" requires ") == MAX_HOPS + 1
    assert " requires (30 more) requires " in problem.message
    assert problem.message.endswith('"a0049" requires "a0000"')


def test_a_short_circle_is_told_whole() -> None:
    (warning,) = compose(Registry(), requires_ring(MAX_HOPS)).warnings[
        "global", "a0000"
    ]

    assert "more)" not in warning.problems[0].message
    assert len(warning.problems[0].about) == MAX_HOPS


@pytest.mark.parametrize(
    "fields",
    [
        {"requires": [f"absent{n}" for n in range(MAX_PROBLEMS + 5)]},
        {"skills": ["ui-review"] + [f"s{n}" for n in range(3)] * 600},
        {
            "steps": [
                step("plan:pre", consumes=[f"Absent{n}.md"])
                for n in range(MAX_PROBLEMS + 5)
            ]
        },
    ],
)
def test_no_more_problems_are_told_than_anybody_would_read(
    fields: dict[str, Any],
) -> None:
    made = compose(Registry(), [candidate("anchor", **fields)])

    (warning,) = made.warnings["global", "anchor"]
    assert len(warning.problems) == MAX_PROBLEMS


def test_no_more_collisions_are_told_than_anybody_would_read() -> None:
    names = [f"s{n}" for n in range(MAX_PROBLEMS + 5)]
    first, second = candidate("anchor", skills=names), candidate("bo", skills=names)

    (warning,) = compose(Registry(), [first, second]).warnings["global", "bo"]

    assert {p.code for p in warning.problems} == {"skill-taken"}
    assert len(warning.problems) == MAX_PROBLEMS


def test_more_keys_than_anybody_would_look_up_make_a_gate_unconditional() -> None:
    def lost(count: int) -> int:
        switch = {"type": "boolean", "default": True, "description": "x"}
        keys = [f"k{n}.on" for n in range(count)]
        made = candidate(
            "anchor",
            engines={"msd": ">=9"},
            config=dict.fromkeys(keys, switch),
            gates=[gate("ship:pre", when=key) for key in keys],
        )
        (blocked,) = compose(Registry(), [made]).blocked_gates["ship:pre"]
        return len(blocked.conditions)

    assert lost(MAX_CONDITIONS) == MAX_CONDITIONS
    assert lost(MAX_CONDITIONS + 1) == 0


SPEAKS = feature(
    "quiet",
    title="SPEAKS",
    config={
        "speaks.on": {"type": "string", "default": "SPEAKS", "description": "SPEAKS"}
    },
    gates=[gate("ship:pre", when="SPEAKS please"), gate("plan:pre", when="speaks.on")],
)


@pytest.mark.parametrize("consent", [Consent.NONE, Consent.CHANGED, Consent.UNREADABLE])
@pytest.mark.parametrize("folder", ["quiet", "SPEAKS please"])
def test_an_overlay_without_consent_cannot_speak(folder: str, consent: Consent) -> None:
    made = Candidate.read(SPEAKS, folder, scope=Scope.PROJECT, consent=consent)
    composed = compose(read_snapshot(), [made])

    page = render_composition(composed, "1.11.0", Screen(), {"project": "/srv"})

    assert "SPEAKS" not in page
    assert "speaks" not in page
    assert (WITHHELD in page) == (folder != "quiet")
    if folder == "quiet":
        wire = json.dumps(composed.to_wire()["_overlay"])
        assert "SPEAKS" not in wire
        assert "speaks" not in wire
    # What decides whether the gate would have been on is still known here.
    (blocked,) = composed.blocked_gates["plan:pre"]
    assert [c.key for c in blocked.conditions] == ["speaks.on"]


def test_a_remedy_never_aims_at_a_healthy_copy() -> None:
    healthy = candidate("anchor")
    pending = Candidate(folder="anchor", scope=Scope.PROJECT, pending=True)

    (warning,) = compose(Registry(), [healthy, pending]).warnings["project", "anchor"]

    assert warning.remedy.endswith("`msd capability remove anchor --scope project`")


def test_a_link_that_leads_nowhere_is_unreadable_in_both_scopes() -> None:
    for scope in Scope:
        nowhere = Candidate(folder="anchor", scope=scope, linked=True, dangling=True)

        (warning,) = compose(Registry(), [nowhere]).warnings[scope.value, "anchor"]

        assert warning.code == "unreadable"
