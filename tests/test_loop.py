"""What is dispatched at a loop point."""

from __future__ import annotations

from typing import Any

import pytest
from pyrsistent import pmap

from msdcomp.activation import ConfigLayers, Unreadable, freeze_json
from msdcomp.gates import BlockedGate
from msdcomp.loop import LoopResolution, render_markdown, resolve
from msdcomp.loopview import LoopView, read_registry
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
from msdcomp.registry import Registry
from msdcomp.views import Hook, OwnedSlice, PointHooks
from msdcomp.vocabulary import POINTS

POINT = "plan:pre"


def hook(kind: str, **fields: Any) -> dict[str, Any]:
    return {"kind": kind, "capId": fields.pop("cap", "quay"), **fields}


def registry(*hooks: dict[str, Any], **slices: Any) -> LoopView:
    """Return a registry of some hooks at one point; `k=(type, default)` is a slice."""
    return read_registry(
        {
            "byLoopPoint": {
                POINT: {
                    f"{kind}s": [h for h in hooks if h["kind"] == kind]
                    for kind in ("step", "contribution", "gate")
                }
            },
            "configSchema": {
                key: {"type": type_, "default": default}
                for key, (type_, default) in slices.items()
            },
        }
    )


def kinds(resolution: LoopResolution) -> list[str]:
    return [active.kind for active in resolution.active_hooks]


EVERY_KIND = ("step", "contribution", "gate")
SWITCHED = tuple(hook(kind, when="k") for kind in EVERY_KIND)
BROKEN = ConfigLayers(project=Unreadable("no comma at line 3"))


def test_every_point_of_an_empty_registry_answers() -> None:
    for point in POINTS:
        resolution = resolve(Registry(), point, {})

        assert resolution == LoopResolution(point=point)
        assert resolution.to_wire() == {
            "point": point,
            "activeHooks": [],
            "rendered": f"_No active hooks at {point}._",
        }


@pytest.mark.parametrize(
    ("point", "meant"),
    [
        ("plan:pree", "plan:pre"),
        ("PLAN:PRE", "plan:pre"),
        ("plan-post", "plan:post"),
        ("execute_wave_pre", "execute:wave:pre"),
        ("ship", None),
        ("", None),
        ("x" * 1000, None),
    ],
)
def test_an_unknown_point_is_a_problem_that_names_the_twelve(
    point: str, meant: str | None
) -> None:
    resolution = resolve(Registry(), point, {})

    (problem,) = resolution.problems
    assert problem.code == "unknown-point"
    assert all(known in problem.message for known in POINTS)
    assert problem.hint is not None
    assert problem.hint.partition(" Did you mean ")[2] == (f"{meant}?" if meant else "")
    assert resolution.active_hooks == ()
    assert render_markdown(resolution) == ""


def test_an_unknown_point_is_repeated_safely_and_no_value_makes_it_raise() -> None:
    assert '"a b"' in resolve(Registry(), "a\x1b\nb", {}).problems[0].message
    points: list[Any] = [None, 5, [], {}]
    assert all(resolve(Registry(), point, {}).problems for point in points)


def test_no_configuration_at_all_leaves_the_defaults() -> None:
    on = registry(*SWITCHED, k=("boolean", True))
    off = registry(*SWITCHED, k=("boolean", False))

    assert kinds(resolve(on, POINT)) == list(EVERY_KIND)
    assert kinds(resolve(off, POINT)) == []


def test_a_configured_value_wins_over_the_default() -> None:
    on = registry(*SWITCHED, k=("boolean", True))

    assert kinds(resolve(on, POINT, {"k": False})) == []


def test_a_key_that_nothing_declares_is_off() -> None:
    assert kinds(resolve(registry(*SWITCHED), POINT, {})) == []


def test_a_value_of_the_wrong_type_is_reported_once() -> None:
    resolution = resolve(registry(*SWITCHED, k=("boolean", True)), POINT, {"k": "no"})

    assert kinds(resolution) == []
    assert [p.code for p in resolution.diagnostics] == ["config-type-mismatch"]
    (line,) = resolution.stderr_lines()
    assert line == (
        "msd: warning: k takes true or false, but the configuration given sets it to"
        ' the text "no"; it counts as off'
    )


def test_the_point_chosen_by_the_configuration() -> None:
    chosen = registry(hook("step", pointFrom="at"), at=("enum", "plan:pre"))

    assert kinds(resolve(chosen, POINT)) == ["step"]
    assert kinds(resolve(chosen, POINT, {"at": "plan:post"})) == []
    assert kinds(resolve(chosen, POINT, {"at": True})) == []
    assert kinds(resolve(registry(hook("step", pointFrom="no")), POINT)) == []


def test_states_filter_capabilities() -> None:
    view = registry(hook("step", cap="a"), hook("gate", cap="b"))

    assert kinds(resolve(view, POINT)) == ["step", "gate"]
    assert kinds(resolve(view, POINT, states={"a": True})) == ["step"]
    assert kinds(resolve(view, POINT, states={"a": False, "b": True})) == ["gate"]
    assert kinds(resolve(view, POINT, states={})) == []


def test_when_the_configuration_cannot_be_read_only_gates_are_kept() -> None:
    """No default takes the place of the user's choice, and every hook says so."""
    resolution = resolve(registry(*SWITCHED, k=("boolean", True)), POINT, BROKEN)

    assert kinds(resolution) == ["gate"]
    assert [p.code for p in resolution.diagnostics] == ["config-unreadable"] * 3
    assert resolution.stderr_lines()[0] == (
        "msd: warning: could not check the step of quay at plan:pre: the value of k is"
        " unknown, because .planning/config.json cannot be read (no comma at line 3);"
        " it is left out"
    )
    assert resolution.stderr_lines()[2].endswith("; it is kept")


def test_hooks_that_depend_on_no_key_do_not_mind() -> None:
    view = registry(*(hook(kind) for kind in EVERY_KIND))

    resolution = resolve(view, POINT, BROKEN)

    assert kinds(resolution) == list(EVERY_KIND)
    assert resolution.diagnostics == ()


def test_a_key_given_explicitly_is_known_all_the_same() -> None:
    layers = ConfigLayers(explicit={"k": True}, project=Unreadable("x"))

    resolution = resolve(registry(*SWITCHED), POINT, layers)

    assert kinds(resolution) == list(EVERY_KIND)
    assert resolution.diagnostics == ()


def test_a_point_that_cannot_be_checked_keeps_a_gate_too() -> None:
    view = registry(hook("gate", pointFrom="at"), hook("step", pointFrom="at"))

    resolution = resolve(view, POINT, BROKEN)

    assert kinds(resolution) == ["gate"]
    assert len(resolution.diagnostics) == 2


def test_a_gate_that_is_certainly_off_is_not_kept_for_another_doubt() -> None:
    layers = ConfigLayers(explicit={"k": False}, project=Unreadable("x"))
    view = registry(hook("gate", when="k", pointFrom="at"))

    resolution = resolve(view, POINT, layers)

    assert kinds(resolution) == []
    assert resolution.diagnostics == ()


def test_a_capability_whose_state_is_unknown_keeps_its_gates_only() -> None:
    view = registry(*(hook(kind) for kind in EVERY_KIND))

    resolution = resolve(view, POINT, {}, states={"quay": None})

    assert kinds(resolution) == ["gate"]
    assert resolution.stderr_lines()[2] == (
        "msd: warning: could not check the gate of quay at plan:pre: whether its"
        " capability is active is unknown; it is kept"
    )


VALUES = {"depth": "k", "none": "no.such", "__proto__": "k", "constructor": "k"}


def test_config_values_are_resolved_and_what_has_no_value_is_left_out() -> None:
    view = registry(hook("contribution", configValues=VALUES), k=("number", 3))

    default, given = (resolve(view, POINT, config) for config in ({}, {"k": [1, {}]}))

    assert default.to_wire()["activeHooks"][0]["configValues"] == {"depth": 3}
    assert given.to_wire()["activeHooks"][0]["configValues"] == {"depth": [1, {}]}


@pytest.mark.parametrize("value", [1, "true", [], {}, None, False])
def test_reviewer_lanes_are_supported_by_a_literal_true_alone(value: Any) -> None:
    steps = (hook("step", supportsReviewerLanes=given) for given in (True, value))
    yes, no = resolve(registry(*steps), POINT).to_wire()["activeHooks"]

    assert yes["supportsReviewerLanes"] is True
    assert "supportsReviewerLanes" not in no


def typed(kind: str, **fields: Any) -> LoopView:
    """Return a registry of one contribution that shows one key of a type."""
    wire = {
        "byLoopPoint": {
            POINT: {"contributions": [hook("contribution", configValues={"v": "k"})]}
        },
        "configSchema": {"k": {"type": kind, "default": None, **fields}},
    }
    return read_registry(wire)


@pytest.mark.parametrize(
    ("kind", "value", "takes", "shown"),
    [
        ("boolean", "off", "true or false", 'the text "off"'),
        ("number", "3", "a number", 'the text "3"'),
        ("number", True, "a number", "true"),
        ("number", {}, "a number", "an object"),
        ("string", 3, "a text", "the number 3"),
        ("enum", "low", 'one of "mid", "high"', 'the text "low"'),
        ("enum", ["mid"], 'one of "mid", "high"', "a list"),
    ],
)
def test_a_config_value_of_the_wrong_type_is_shown_and_reported(
    kind: str, value: Any, takes: str, shown: str
) -> None:
    resolution = resolve(typed(kind, values=["mid", "high"]), POINT, {"k": value})

    assert resolution.active_hooks[0].config_values == pmap({"v": freeze_json(value)})
    (problem,) = resolution.diagnostics
    assert (problem.code, problem.path) == ("config-type-mismatch", "/k")
    assert problem.message == (
        f"k takes {takes}, but the configuration given sets it to {shown}; the "
        f"contribution of quay at {POINT} shows it as it is"
    )


def test_an_integer_that_python_does_not_write_is_reported_by_its_size() -> None:
    huge = {"k": 10**5000}
    shown = resolve(typed("string"), POINT, huge)
    switched = resolve(registry(hook("step", when="k"), k=("boolean", 1)), POINT, huge)

    for resolution in (shown, switched):
        assert "of 16610 bits" in resolution.diagnostics[0].message
        assert resolution.stderr_lines()
        assert resolution.to_wire()["activeHooks"]


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("boolean", False),
        ("number", 0.5),
        ("string", ""),
        ("enum", "mid"),
        ("boolean", None),
        ("odd", [1]),
    ],
)
def test_a_config_value_of_the_right_type_is_no_matter(kind: str, value: Any) -> None:
    resolution = resolve(typed(kind, values=["mid"]), POINT, {"k": value})

    assert resolution.diagnostics == ()
    assert resolution.active_hooks[0].config_values == pmap({"v": freeze_json(value)})


def test_a_config_value_that_is_a_default_is_not_the_users_to_mend() -> None:
    view = registry(hook("contribution", configValues={"v": "k"}), k=("number", "x"))

    assert resolve(view, POINT).diagnostics == ()


def test_an_enum_whose_values_are_unknown_takes_any_text() -> None:
    assert resolve(typed("enum"), POINT, {"k": "any"}).diagnostics == ()
    assert resolve(typed("enum"), POINT, {"k": 3}).diagnostics != ()


def test_without_any_value_the_field_is_left_out() -> None:
    view = registry(hook("contribution", configValues={"none": "no.such"}))

    assert "configValues" not in resolve(view, POINT).to_wire()["activeHooks"][0]


def test_a_config_value_that_cannot_be_read_is_reported() -> None:
    view = registry(hook("contribution", configValues=VALUES), k=("number", 3))

    resolution = resolve(view, POINT, BROKEN)

    assert resolution.active_hooks[0].config_values == pmap()
    assert [p.message.partition(":")[0] for p in resolution.diagnostics] == [
        "could not check a value that the contribution of quay at plan"
    ] * 2


BLOCKED = BlockedGate(
    point=POINT,
    capability_id="anchor",
    scope="project",
    path=".msd/capabilities/anchor",
    code="unconsented",
    reason="nobody agreed to it",
    remedy="`msd capability trust anchor`, or `msd capability remove anchor`",
    blocking=False,
)


def test_a_blocked_gate_is_a_warning_and_never_a_hook() -> None:
    gates = pmap({POINT: (BLOCKED, BLOCKED)})

    resolution = resolve(Registry(), POINT, {}, blocked_gates=gates)

    assert resolution.active_hooks == ()
    assert len(resolution.warnings) == 2
    assert resolution.to_wire()["warnings"] == [
        w.to_wire() for w in resolution.warnings
    ]
    assert resolution.stderr_lines()[0] == resolution.warnings[0].line()
    assert resolve(Registry(), "plan:post", {}, blocked_gates=gates).warnings == ()


def test_the_typed_registry_answers_like_the_one_read_from_json() -> None:
    def owned(kind: str, body: Any) -> Hook:
        return Hook(capability_id=CapabilityId("quay"), kind=kind, index=0, body=body)

    key, point = ConfigKey("k"), Point(POINT)
    typed = Registry(
        by_loop_point=pmap(
            {
                POINT: PointHooks(
                    steps=(
                        owned(
                            "step",
                            Step(
                                point=point,
                                ref=Ref(skill="moor"),
                                produces=("A.md",),
                                consumes=(),
                                on_error="skip",
                                when=key,
                                point_from=ConfigKey("at"),
                            ),
                        ),
                    ),
                    contributions=(
                        owned(
                            "contribution",
                            Contribution(
                                point=point,
                                into="planner",
                                fragment=Fragment(inline="Tie up."),
                                produces=(),
                                consumes=(),
                                config_values=pmap({"depth": key}),
                            ),
                        ),
                    ),
                    gates=(
                        owned(
                            "gate",
                            Gate(
                                point=point,
                                check=GateCheck(query="q"),
                                blocking=True,
                                on_error="halt",
                                when=key,
                            ),
                        ),
                    ),
                )
            }
        ),
        config_schema=pmap(
            {
                key: OwnedSlice(
                    owner=CapabilityId("quay"),
                    type="boolean",
                    default=True,
                    description="",
                ),
                ConfigKey("at"): OwnedSlice(
                    owner=CapabilityId("quay"),
                    type="enum",
                    default=POINT,
                    description="",
                ),
            }
        ),
    )
    loose = registry(
        hook(
            "step",
            ref={"skill": "moor"},
            produces=["A.md"],
            onError="skip",
            when="k",
            pointFrom="at",
        ),
        hook(
            "contribution",
            into="planner",
            fragment={"inline": "Tie up."},
            configValues={"depth": "k"},
        ),
        hook("gate", check={"query": "q"}, blocking=True, onError="halt", when="k"),
        k=("boolean", True),
        at=("enum", POINT),
    )

    for config in ({}, {"k": False}, {"k": "off"}, {"at": "plan:post"}, BROKEN):
        assert resolve(typed, POINT, config) == resolve(loose, POINT, config)
    assert kinds(resolve(typed, POINT, {})) == list(EVERY_KIND)


def test_the_envelope_is_fresh_each_time() -> None:
    resolution = resolve(registry(hook("step", produces=["A"])), POINT)

    resolution.to_wire()["activeHooks"][0]["produces"].append("B")

    assert resolution.to_wire()["activeHooks"][0]["produces"] == ["A"]
