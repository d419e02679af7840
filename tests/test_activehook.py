"""Hooks on their way from a registry to the loop."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

import pytest
from pyrsistent import pmap, pvector

from msdcomp.activehook import ActiveHook, JsonText, declare, plain_json
from msdcomp.manifest import (
    CapabilityId,
    ConfigKey,
    Contribution,
    Fragment,
    Gate,
    GateCheck,
    Point,
    Ref,
    Step,
)
from msdcomp.views import AnyHook, Hook

POINT = Point("plan:pre")


def hook(kind: str, body: AnyHook) -> Hook:
    return Hook(capability_id=CapabilityId("quay"), kind=kind, index=0, body=body)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"b": 1, "a": [True, None]}, '{"b":1,"a":[true,null]}'),
        (pmap({"b": 1, "a": 2}), '{"a":2,"b":1}'),
        (OrderedDict(z=1, a=2), '{"z":1,"a":2}'),
        (pvector([1, (2,)]), "[1,[2]]"),
        (1.0, "1"),
        (-0.0, "0"),
        (2.5, "2.5"),
        (1e21, "1e+21"),
        (float("inf"), "null"),
        (float("nan"), "null"),
        (10**400, "null"),
        ("\u00fc\u2028", '"\u00fc\u2028"'),
        ("\ud800x", '"\\ud800x"'),
    ],
)
def test_json_text_is_what_a_javascript_host_would_write(value: Any, text: str) -> None:
    assert JsonText.of(value) == JsonText(text)


def nested(levels: int) -> Any:
    value: Any = 0
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize("value", [{1: 2}, {"a": {1}}, b"x", nested(201), nested(9999)])
def test_what_is_not_json_has_no_text(value: Any) -> None:
    assert JsonText.of(value) is None


def test_plain_data_is_fresh() -> None:
    value = {"a": [1]}

    copy = plain_json(value)
    copy["a"].append(2)

    assert value == {"a": [1]}
    assert JsonText.of(value) == JsonText('{"a":[1]}')


def test_a_step_keeps_what_it_declares() -> None:
    body = Step(
        point=POINT,
        ref=Ref(skill="moor"),
        produces=("A.md",),
        consumes=(),
        on_error="skip",
        when=ConfigKey("q.on"),
        point_from=ConfigKey("q.at"),
        fragment=Fragment(path="p.md", inline="text"),
        supports_reviewer_lanes=True,
    )

    declared = declare(hook("step", body))

    assert declared.point_from == "q.at"
    assert not declared.never
    assert declared.hook.to_wire() == {
        "capId": "quay",
        "kind": "step",
        "ref": {"skill": "moor"},
        "fragment": {"inline": "text", "path": "p.md"},
        "when": "q.on",
        "produces": ["A.md"],
        "onError": "skip",
        "supportsReviewerLanes": True,
    }


@pytest.mark.parametrize(
    ("ref", "wire"),
    [
        (Ref(agent="scout"), {"agent": "scout"}),
        (Ref(command="log"), {"command": "log"}),
    ],
)
def test_a_step_may_dispatch_to_an_agent_or_a_command(ref: Ref, wire: Any) -> None:
    body = Step(point=POINT, ref=ref, produces=(), consumes=(), on_error="skip")

    assert declare(hook("step", body)).hook.to_wire()["ref"] == wire


def test_a_contribution_keeps_what_it_declares() -> None:
    body = Contribution(
        point=POINT,
        into="planner",
        fragment=Fragment(inline="text"),
        produces=(),
        consumes=("A.md",),
        config_values=pmap({"depth": ConfigKey("q.depth")}),
    )

    declared = declare(hook("contribution", body))

    assert declared.config_keys == {"depth": "q.depth"}
    assert declared.hook.to_wire() == {
        "capId": "quay",
        "kind": "contribution",
        "into": "planner",
        "fragment": {"inline": "text"},
        "consumes": ["A.md"],
    }


@pytest.mark.parametrize(
    ("check", "wire"),
    [
        (GateCheck(query="q"), {"query": "q"}),
        (GateCheck(predicate=pmap({"kind": "k"})), {"predicate": {"kind": "k"}}),
        (GateCheck(agent_verdict=pmap({"ref": "r"})), {"agentVerdict": {"ref": "r"}}),
    ],
)
def test_a_gate_keeps_what_it_declares(check: GateCheck, wire: Any) -> None:
    body = Gate(point=POINT, check=check, blocking=False, on_error="halt")

    assert declare(hook("gate", body)).hook.to_wire() == {
        "capId": "quay",
        "kind": "gate",
        "check": wire,
        "blocking": False,
        "onError": "halt",
    }


def test_an_empty_key_is_no_key() -> None:
    empty = ConfigKey("")
    ref, check = Ref(skill="s"), GateCheck(query="q")
    bodies: list[tuple[str, AnyHook]] = [
        (
            "step",
            Step(
                point=POINT,
                ref=ref,
                produces=(),
                consumes=(),
                on_error="skip",
                when=empty,
            ),
        ),
        (
            "step",
            Step(
                point=POINT,
                ref=ref,
                produces=(),
                consumes=(),
                on_error="skip",
                point_from=empty,
            ),
        ),
        (
            "contribution",
            Contribution(
                point=POINT,
                into="planner",
                fragment=Fragment(inline="x"),
                produces=(),
                consumes=(),
                when=empty,
            ),
        ),
        (
            "gate",
            Gate(point=POINT, check=check, blocking=True, on_error="halt", when=empty),
        ),
    ]

    assert all(declare(hook(kind, body)).never for kind, body in bodies)


def test_config_values_reach_the_wire_as_fresh_data() -> None:
    values: Any = pmap({"b": (1, pmap({"x": None})), "a": False})
    active = ActiveHook(capability_id="quay", kind="contribution", config_values=values)

    wire = active.to_wire()["configValues"]

    assert wire == {"a": False, "b": [1, {"x": None}]}
    assert list(wire) == ["a", "b"]
