"""Reading a stored registry, however damaged."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pyrsistent import pmap

from msdcomp.activehook import ActiveHook, JsonText
from msdcomp.composition import Composition
from msdcomp.gates import BlockedGate, GateCondition
from msdcomp.loop import resolve
from msdcomp.loopview import LoopView, ViewSlice, read_blocked_gates, read_registry
from msdcomp.manifest import Fragment
from msdcomp.registry import Entry, Registry, build
from msdcomp.vocabulary import POINTS
from msdcomp.wire import decode

POINT = "plan:pre"
CAPABILITIES = Path(__file__).parent.parent / "capabilities"


def hooks(group: str, *entries: Any) -> list[ActiveHook]:
    """Read some entries of one list at one point."""
    view = read_registry({"byLoopPoint": {POINT: {group: list(entries)}}})
    return [declared.hook for declared in view.by_loop_point[POINT].all()]


@pytest.mark.parametrize(
    "value",
    [
        None,
        [],
        "x",
        5,
        {},
        {"byLoopPoint": "x", "configSchema": [1], "_overlay": 3},
        {"byLoopPoint": {"no:point": {}}, "configSchema": {}, "_overlay": {}},
    ],
)
def test_what_is_no_registry_is_an_empty_one(value: Any) -> None:
    assert read_registry(value) == LoopView()


@pytest.mark.parametrize(
    "entry", [None, "x", [], {"steps": "x"}, {"steps": [None, 5, "x", []]}]
)
def test_a_malformed_point_has_no_hooks(entry: Any) -> None:
    assert (
        read_registry({"byLoopPoint": {POINT: entry}}).by_loop_point[POINT].all() == ()
    )


def test_the_kinds_come_in_the_order_of_dispatch() -> None:
    view = read_registry(
        {"byLoopPoint": {POINT: {"gates": [{}], "contributions": [{}], "steps": [{}]}}}
    )

    kinds = [declared.hook.kind for declared in view.by_loop_point[POINT].all()]
    assert kinds == ["step", "contribution", "gate"]


def test_a_step_of_the_right_shape() -> None:
    assert hooks(
        "steps",
        {
            "capId": "quay",
            "point": POINT,
            "ref": {"skill": "moor"},
            "produces": ["A", 5, None, "B"],
            "consumes": "A",
            "onError": "skip",
            "when": "q.on",
            "fragment": {"inline": "i", "path": "p.md", "zz": 1},
            "supportsReviewerLanes": True,
        },
    ) == [
        ActiveHook(
            capability_id="quay",
            kind="step",
            ref=JsonText('{"skill":"moor"}'),
            produces=("A", "B"),
            on_error="skip",
            when="q.on",
            fragment=Fragment(inline="i", path="p.md"),
            supports_reviewer_lanes=True,
        )
    ]


def test_a_field_of_the_wrong_type_is_as_good_as_missing() -> None:
    junk = {
        "capId": 5,
        "ref": "x",
        "into": 5,
        "fragment": {"inline": 5},
        "check": [],
        "blocking": "yes",
        "produces": {},
        "onError": True,
        "supportsReviewerLanes": 1,
        "configValues": [],
    }

    assert hooks("steps", junk) == [ActiveHook(capability_id="", kind="step")]
    assert hooks("contributions", junk) == [
        ActiveHook(capability_id="", kind="contribution")
    ]
    assert hooks("gates", junk) == [ActiveHook(capability_id="", kind="gate")]


def test_a_kind_takes_only_the_fields_of_its_own() -> None:
    everything = {
        "capId": "quay",
        "ref": {"skill": "moor"},
        "into": "planner",
        "fragment": {"inline": "i"},
        "check": {"query": "q"},
        "blocking": False,
        "produces": ["A"],
        "supportsReviewerLanes": True,
    }

    assert hooks("contributions", everything) == [
        ActiveHook(
            capability_id="quay",
            kind="contribution",
            into="planner",
            fragment=Fragment(inline="i"),
            produces=("A",),
        )
    ]
    assert hooks("gates", everything) == [
        ActiveHook(
            capability_id="quay",
            kind="gate",
            check=JsonText('{"query":"q"}'),
            blocking=False,
        )
    ]


@pytest.mark.parametrize("field", ["when", "pointFrom"])
@pytest.mark.parametrize("value", [5, True, {}, [], ""])
def test_a_condition_that_is_no_key_is_never_met(field: str, value: Any) -> None:
    view = read_registry({"byLoopPoint": {POINT: {"gates": [{field: value}]}}})

    (declared,) = view.by_loop_point[POINT].all()
    assert declared.never


@pytest.mark.parametrize("field", ["when", "pointFrom"])
def test_a_null_condition_is_no_condition(field: str) -> None:
    view = read_registry({"byLoopPoint": {POINT: {"gates": [{field: None}]}}})

    (declared,) = view.by_loop_point[POINT].all()
    assert not declared.never


def test_config_values_keep_what_is_a_key() -> None:
    contribution = {"configValues": {"a": "k.a", "b": 5, "c": None}}
    view = read_registry({"byLoopPoint": {POINT: {"contributions": [contribution]}}})

    (declared,) = view.by_loop_point[POINT].all()
    assert declared.config_keys == {"a": "k.a"}


def test_half_a_surrogate_pair_becomes_a_replacement_character() -> None:
    (hook,) = hooks("contributions", {"fragment": {"inline": "x\ud800y"}})

    assert hook.fragment == Fragment(inline="x\ufffdy")


def test_a_slice_counts_when_it_has_a_default() -> None:
    deep: Any = 1
    for _ in range(300):
        deep = [deep]
    schema = {
        "a": {"type": "enum", "default": True, "values": ["x", 7]},
        "b": {"default": [1]},
        "c": {},
        "d": 5,
        "e": {"default": deep},
        "f": {"type": 7, "default": None},
        9: {"default": 1},
    }

    assert read_registry({"configSchema": schema}).config_schema == {
        "a": ViewSlice(type="enum", default=True, values=("x",)),
        "b": ViewSlice(type=None, default=(1,)),
        "f": ViewSlice(type=None, default=None),
    }


def blocked(**fields: Any) -> BlockedGate:
    """Return a blocked gate about which nothing is known but its point."""
    given: dict[str, Any] = {
        "point": POINT,
        "capability_id": "",
        "scope": "",
        "path": "",
        "code": "",
        "reason": "",
        "remedy": "",
    } | fields
    return BlockedGate(**given)


def test_blocked_gates_are_read_from_the_overlay_part() -> None:
    stored = {
        "point": POINT,
        "capId": "anchor",
        "scope": "project",
        "path": ".msd/capabilities/anchor",
        "code": "unconsented",
        "reason": "not agreed to",
        "remedy": "`msd capability remove anchor`",
        "blocking": True,
        "conditions": [{"key": "a.on", "type": "boolean", "default": False}],
    }

    assert read_registry({"_overlay": {"blockedGates": [stored]}}).blocked_gates == {
        POINT: (
            blocked(
                capability_id="anchor",
                scope="project",
                path=".msd/capabilities/anchor",
                code="unconsented",
                reason="not agreed to",
                remedy="`msd capability remove anchor`",
                blocking=True,
                conditions=(GateCondition(key="a.on", type="boolean", default=False),),
            ),
        )
    }


def test_a_damaged_record_still_counts_at_its_point() -> None:
    entries = [
        {"point": POINT},
        {"point": POINT, "capId": 5, "reason": 42, "blocking": 1, "conditions": 7},
        {"point": POINT, "reason": {"a": 1}},
        {"point": POINT, "reason": {1, 2}},
        {"point": "no:point", "capId": "x"},
        {"point": ["plan:pre"]},
        None,
        "x",
    ]

    assert read_blocked_gates(entries) == {
        POINT: (blocked(), blocked(reason="42"), blocked(reason='{"a":1}'), blocked())
    }
    assert read_blocked_gates({"plan:pre": []}) == pmap()


def test_a_condition_that_cannot_be_read_counts_as_met() -> None:
    unreadable = [{"key": "a", "type": "string"}, {"type": "boolean"}]
    odd_default = [{"key": "a", "type": "boolean", "default": []}]

    gates = read_blocked_gates(
        [
            {"point": POINT, "conditions": unreadable},
            {"point": POINT, "conditions": odd_default},
        ]
    )

    assert [gate.conditions for gate in gates[POINT]] == [
        (),
        (GateCondition(key="a"),),
    ]


def test_the_shipped_registry_answers_alike_typed_and_stored() -> None:
    """What a JavaScript host keeps is enough to resolve every point as we do."""
    manifests = [
        decode(path.read_bytes()).manifest
        for path in sorted(CAPABILITIES.glob("*/capability.json"))
    ]
    registry = build(Entry(manifest=manifest) for manifest in manifests if manifest)
    assert isinstance(registry, Registry)
    view = read_registry(
        json.loads(json.dumps(Composition(registry=registry).to_wire()))
    )

    assert len(registry.by_loop_point) > 5
    for point in POINTS:
        typed, stored = resolve(registry, point, {}), resolve(view, point, {})
        assert typed == stored
        assert typed.to_wire() == stored.to_wire()
