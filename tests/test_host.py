"""What a host offers: points, roles, artefacts, kinds, its own keys."""

from __future__ import annotations

from typing import Any

import pytest

from msdcomp.host import CentralConfig, Host, HostContract, Phase, enclosing
from msdcomp.vocabulary import POINTS

CONTRACT = HostContract()


def test_the_points_are_those_of_the_loop_in_order() -> None:
    assert CONTRACT.points == POINTS
    assert [CONTRACT.order[point] for point in POINTS] == list(range(12))


@pytest.mark.parametrize(
    ("point", "roles"),
    [
        ("discuss:pre", {"orchestrator"}),
        ("plan:post", {"researcher", "planner", "checker"}),
        ("execute:wave:post", {"executor", "verifier"}),
        ("verify:post", {"orchestrator"}),
        ("ship:pre", {"orchestrator"}),
        ("plan:never", set()),
    ],
)
def test_each_phase_publishes_one_family_of_roles(point: str, roles: set[str]) -> None:
    assert CONTRACT.roles_at(point) == roles


EVERY = {"step", "contribution", "gate"}


@pytest.mark.parametrize(
    ("point", "kinds"),
    [
        ("discuss:pre", EVERY),
        ("discuss:post", EVERY),
        ("plan:pre", EVERY),
        ("plan:post", EVERY),
        ("execute:pre", set()),
        ("execute:wave:pre", {"step", "contribution"}),
        ("execute:wave:post", EVERY),
        ("execute:post", {"step", "gate"}),
        ("verify:pre", EVERY),
        ("verify:post", {"step"}),
        ("ship:pre", {"gate"}),
        ("ship:post", {"step"}),
        ("plan:never", set()),
    ],
)
def test_a_point_dispatches_these_kinds(point: str, kinds: set[str]) -> None:
    assert CONTRACT.kinds_at(point) == kinds


@pytest.mark.parametrize(
    ("artefact", "since"),
    [
        ("CONTEXT.md", "discuss:post"),
        ("PLAN.md", "plan:post"),
        ("SUMMARY.md", "execute:post"),
        ("UAT.md", "verify:post"),
    ],
)
def test_a_phase_leaves_its_artefact_from_its_last_point_on(
    artefact: str, since: str
) -> None:
    given_at = [point for point in POINTS if CONTRACT.gives(artefact, point)]

    assert given_at == list(POINTS[POINTS.index(since) :])
    assert not CONTRACT.gives(artefact, "plan:never")


def test_the_host_leaves_nothing_else() -> None:
    assert CONTRACT.artefacts() == {"CONTEXT.md", "PLAN.md", "SUMMARY.md", "UAT.md"}
    assert not CONTRACT.gives("GHOST.md", "ship:post")


def test_of_two_phases_that_leave_an_artefact_the_earlier_counts() -> None:
    phases = tuple(
        Phase(
            name=name,
            points=(f"{name}:pre", f"{name}:post"),
            roles=frozenset(),
            produces=frozenset({"A.md"}),
        )
        for name in ("one", "two")
    )
    contract = HostContract(phases=phases, kinds={})

    assert contract.gives("A.md", "one:post")
    assert not contract.gives("A.md", "one:pre")
    assert contract.kinds_at("one:pre") == frozenset()


def test_hosts_and_contracts_are_equal_by_value() -> None:
    assert Host() == Host()
    assert HostContract() == CONTRACT
    assert Host(version="1.0.0") != Host()


CENTRAL = CentralConfig.of(["core.mode"], [r"core\.[a-z]+\.size", r"a|b"])


@pytest.mark.parametrize(
    ("key", "owned"),
    [
        ("core.mode", True),
        ("core.mast.size", True),
        ("core.mast.sizes", False),
        ("my.core.mast.size", False),
        ("core.mast.size\n", False),
        ("core.\u00e9.size", False),
        ("b", True),
        ("ab", False),
        ("", False),
    ],
)
def test_a_key_is_the_hosts_by_name_or_when_a_pattern_matches_all_of_it(
    key: str, owned: bool
) -> None:
    assert CENTRAL.owns(key) is owned


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({}, CentralConfig()),
        (
            {"validKeys": ["a", 7, None], "dynamicKeyPatterns": [{"source": "b+"}]},
            CentralConfig.of(["a"], ["b+"]),
        ),
        (
            {"validKeys": "abc", "dynamicKeyPatterns": {"source": "b+"}},
            CentralConfig(),
        ),
        (
            {"validKeys": ("a",), "dynamicKeyPatterns": ("b+", {"source": 7}, {})},
            CentralConfig.of(["a"]),
        ),
    ],
)
def test_a_schema_is_read_as_far_as_it_makes_sense(
    schema: dict[str, Any], expected: CentralConfig
) -> None:
    assert CentralConfig.from_wire(schema) == expected


@pytest.mark.parametrize(
    ("path", "holds"),
    [
        ("core", True),
        ("core.mode", False),
        ("core.mast", False),
        ("models", True),
        ("effort", True),
        ("effort.tiers", True),
        ("effort.tiers.light", False),
        ("free", False),
        ("", False),
    ],
)
def test_the_hosts_keys_and_patterns_make_objects(path: str, holds: bool) -> None:
    central = CentralConfig.of(
        ["core.mode", "mode"],
        [r"^models\.(plan|ship)$", r"^effort\.tiers\.[a-z]+$", "^free$", "[a-z]+"],
    )
    assert central.holds_keys(path) is holds


def test_a_key_lies_in_every_object_of_its_path() -> None:
    assert list(enclosing("a.b.c")) == ["a.b", "a"]
    assert list(enclosing("a")) == list(enclosing("")) == []
    assert list(enclosing("a..b")) == ["a.", "a"]
    assert list(enclosing(".a.b")) == [".a"]


def test_a_key_of_millions_of_parts_lies_in_a_few_objects() -> None:
    deep = "a." * 4_000_000 + "a"
    assert list(enclosing(deep)) == [deep[: 2 * n - 1] for n in range(16, 0, -1)]
    assert list(enclosing("b" * 301 + ".a")) == []
    assert list(enclosing("b" * 300 + ".a.c")) == ["b" * 300]
