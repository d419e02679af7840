"""Laws of the loop: it answers whatever it is given, and nothing forges a line."""

from __future__ import annotations

import copy
import json
import re
import string
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from msdcomp.activation import ConfigLayers, Unreadable, lookup
from msdcomp.activehook import ActiveHook, JsonText
from msdcomp.gates import BlockedGate
from msdcomp.gatewarning import gate_warnings
from msdcomp.loop import LoopResolution, resolve
from msdcomp.loopview import read_blocked_gates, read_registry
from msdcomp.manifest import Fragment
from msdcomp.markdown import render
from msdcomp.vocabulary import POINTS

#: Text with a liking for what could forge a tag, a line or an escape.
hostile = st.lists(
    st.sampled_from(
        [
            "<",
            "/",
            "contribution",
            "CONTRIBUTION",
            "</contribution>",
            "<contribution from=",
            "<`contribution",
            '"',
            "`",
            "\n",
            "\r",
            "\u2028",
            "\u202e",
            "\x1b[2J",
            "\x85",
            "\ud800",
            "&lt;",
            "msd capability remove ",
            " ",
            "x",
        ]
    ),
    max_size=8,
).map("".join)
texts = st.one_of(hostile, st.text(max_size=12), st.sampled_from(["quay", "k", "k.a"]))
scalars = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), texts, st.just(10**400)
)
json_values = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(texts, inner, max_size=3)
    ),
    max_leaves=8,
)


def loose(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Objects with some of these fields; now and then of any shape at all."""
    junk = {name: st.one_of(field, json_values) for name, field in fields.items()}
    return st.one_of(
        st.fixed_dictionaries({}, optional=fields),
        st.fixed_dictionaries(fields),
        st.fixed_dictionaries({}, optional=junk),
        json_values,
    )


ids = st.one_of(st.sampled_from(["quay", "anchor", "9a", ""]), texts)
keys = st.sampled_from(["k", "k.a", "a.0", "__proto__", ""])
points = st.sampled_from(POINTS[2:4])
fragments = loose(inline=texts, path=texts)
hooks = loose(
    capId=ids,
    ref=loose(skill=texts, agent=texts, command=texts),
    into=texts,
    fragment=fragments,
    when=keys,
    pointFrom=keys,
    produces=st.lists(texts, max_size=2),
    consumes=st.lists(texts, max_size=2),
    onError=texts,
    check=loose(query=texts, predicate=json_values),
    blocking=st.booleans(),
    configValues=st.dictionaries(texts, keys, max_size=2),
    supportsReviewerLanes=st.booleans(),
)
hook_lists = st.lists(hooks, max_size=3)
blocked = st.lists(
    loose(
        point=points,
        capId=ids,
        scope=st.sampled_from(["global", "project"]),
        path=texts,
        reason=texts,
        remedy=texts,
        blocking=st.booleans(),
        conditions=st.lists(
            loose(key=keys, type=st.sampled_from(["boolean", "enum"]), default=scalars),
            max_size=2,
        ),
    ),
    max_size=3,
)
registries = loose(
    byLoopPoint=st.fixed_dictionaries(
        {},
        optional={
            point: loose(steps=hook_lists, contributions=hook_lists, gates=hook_lists)
            for point in POINTS[2:4]
        },
    ),
    configSchema=st.dictionaries(
        keys,
        loose(
            type=st.sampled_from(["boolean", "string", "number", "enum"]),
            default=scalars,
            values=st.lists(texts, max_size=2),
        ),
        max_size=3,
    ),
    _overlay=loose(blockedGates=blocked),
)
configs = st.one_of(
    json_values,
    loose(k=loose(a=scalars), a=st.lists(scalars, max_size=2)),
    st.builds(
        ConfigLayers,
        explicit=json_values,
        workstream=st.one_of(json_values, st.builds(Unreadable, texts)),
        project=st.one_of(json_values, st.builds(Unreadable, texts)),
        workstream_file=st.one_of(st.none(), texts),
    ),
)
states = st.one_of(
    st.none(), st.dictionaries(ids, st.one_of(st.booleans(), st.none()), max_size=3)
)


def answer(registry: Any, point: Any, config: Any, gates: Any, active: Any) -> Any:
    """Ask as an embedding host would."""
    return resolve(
        read_registry(registry),
        point,
        config,
        blocked_gates=read_blocked_gates(gates),
        states=active,
    )


def printable(text: str) -> bool:
    """Tell whether a terminal shows the text as one line and obeys nothing in it."""
    return not re.search(
        "[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]", text
    )


@given(registries, st.one_of(points, json_values), configs, blocked, states)
def test_every_input_has_an_answer_that_can_be_written(
    registry: Any, point: Any, config: Any, gates: Any, active: Any
) -> None:
    resolution: LoopResolution = answer(registry, point, config, gates, active)

    assert bool(resolution.problems) is (point not in POINTS)
    if not resolution.problems:
        rendered = resolution.to_wire()["rendered"]
        assert rendered.encode()
    for line in resolution.stderr_lines():
        assert line.startswith("msd: warning: ")
        assert printable(line)
        assert line.encode()


@given(registries, points, configs, blocked, states)
def test_asking_changes_nothing_and_the_answer_is_always_the_same(
    registry: Any, point: str, config: Any, gates: Any, active: Any
) -> None:
    inputs = (registry, config, gates, active)
    before = copy.deepcopy(inputs)

    first = answer(registry, point, config, gates, active)
    second = answer(registry, point, config, gates, active)

    # NaN differs from itself, so equality would be too much to ask of the inputs.
    assert repr(inputs) == repr(before)
    assert json.dumps(first.to_wire()) == json.dumps(second.to_wire())
    assert first.stderr_lines() == second.stderr_lines()


@given(registries, points, configs, states)
def test_the_envelope_is_strict_json(
    registry: Any, point: str, config: Any, active: Any
) -> None:
    wire = answer(registry, point, config, [], active).to_wire()

    assert json.loads(json.dumps(wire, allow_nan=False)) == wire
    assert set(wire) <= {"point", "activeHooks", "rendered", "warnings"}


@given(registries, points, configs, blocked, states)
def test_hooks_come_in_the_order_of_their_kinds(
    registry: Any, point: str, config: Any, gates: Any, active: Any
) -> None:
    kinds = [
        h.kind for h in answer(registry, point, config, gates, active).active_hooks
    ]

    assert kinds == sorted(kinds, key=("step", "contribution", "gate").index)


switched = st.lists(
    st.fixed_dictionaries({"when": st.sampled_from(["k", "k.a", "z"])}), max_size=3
)
switches = st.fixed_dictionaries(
    {
        "byLoopPoint": st.fixed_dictionaries(
            {
                "plan:pre": st.fixed_dictionaries(
                    {"steps": switched, "contributions": switched, "gates": switched}
                )
            }
        ),
        "configSchema": st.dictionaries(
            st.sampled_from(["k", "k.a"]),
            st.fixed_dictionaries({"type": st.just("boolean"), "default": scalars}),
        ),
    }
)


@given(switches, blocked, json_values, texts)
def test_without_a_readable_configuration_no_gate_is_lost(
    registry: Any, gates: Any, held: Any, reason: str
) -> None:
    """Whatever the damaged file held, it switched on no gate that is missing now."""
    damaged = ConfigLayers(project=Unreadable(reason))
    broken = answer(registry, "plan:pre", damaged, gates, None)
    intact = answer(registry, "plan:pre", {"k": held}, gates, None)

    kept = [hook for hook in broken.active_hooks if hook.kind == "gate"]
    assert all(hook in kept for hook in intact.active_hooks if hook.kind == "gate")
    assert set(intact.warnings) <= set(broken.warnings)
    assert kept == list(broken.active_hooks)


named = st.sampled_from(["anchor", "a-1", "Anchor", "a`b", "../x", "x\ny", "a b"])


@given(
    st.builds(
        BlockedGate,
        point=points,
        capability_id=named,
        scope=st.sampled_from(["global", "project"]),
        path=st.one_of(hostile, named.map(".msd/capabilities/{}".format)),
        code=st.just("invalid-manifest"),
        reason=hostile,
        remedy=hostile,
        blocking=st.sampled_from([True, False, None]),
    )
)
def test_a_warning_is_one_printable_line_with_a_command_only_for_an_id(
    gate: BlockedGate,
) -> None:
    (warning,) = gate_warnings((gate,), ConfigLayers(), {})

    line = warning.line()
    known = gate.capability_id in {"anchor", "a-1"}
    assert printable(line)
    assert "`" not in line
    assert (f"msd capability remove {gate.capability_id}" in line) is known
    assert known or gate.capability_id not in json.dumps(warning.to_wire())


active_hooks = st.builds(
    ActiveHook,
    capability_id=hostile,
    kind=st.sampled_from(["step", "contribution", "gate"]),
    ref=st.one_of(
        st.none(),
        st.dictionaries(
            st.sampled_from(["skill", "agent", "command"]), hostile, max_size=2
        ).map(JsonText.of),
    ),
    into=st.one_of(st.none(), hostile),
    fragment=st.one_of(st.none(), st.builds(Fragment, inline=hostile, path=hostile)),
    when=st.one_of(st.none(), hostile),
    check=st.one_of(
        st.none(), st.dictionaries(hostile, hostile, max_size=2).map(JsonText.of)
    ),
    produces=st.lists(hostile, max_size=2).map(tuple),
    on_error=st.one_of(st.none(), hostile),
)


@given(st.lists(active_hooks, max_size=4))
def test_only_contributions_open_and_close_blocks(found: list[ActiveHook]) -> None:
    rendered = render("plan:pre", found)
    blocks = sum(hook.kind == "contribution" for hook in found)

    opened = re.findall("<contribution", rendered, re.IGNORECASE)
    closed = re.findall("</contribution", rendered, re.IGNORECASE)
    whole = re.findall(
        r'^<contribution from="[^"<>]*" into="[^"<>]*">$', rendered, re.MULTILINE
    )
    assert len(opened) == len(closed) == len(whole) == blocks


@given(active_hooks, st.text(string.ascii_lowercase, max_size=9))
def test_all_but_fragments_keep_to_their_line(hook: ActiveHook, text: str) -> None:
    bare = render("plan:pre", [ActiveHook(**_fields(hook, Fragment(inline=text)))])

    assert all(printable(line) for line in bare.split("\n"))


def _fields(hook: ActiveHook, fragment: Fragment) -> dict[str, Any]:
    return {
        "capability_id": hook.capability_id,
        "kind": hook.kind,
        "ref": hook.ref,
        "into": hook.into,
        "when": hook.when,
        "check": hook.check,
        "produces": hook.produces,
        "on_error": hook.on_error,
        "fragment": fragment,
    }


@given(json_values, st.text("k.a0_", max_size=8), scalars)
@settings(max_examples=200)
def test_a_lookup_always_ends_somewhere(config: Any, key: str, value: Any) -> None:
    layers = ConfigLayers(explicit=config, project={"k": {"a": value}})

    effective = lookup(key, layers, {})

    assert effective.on in (True, False, None)
    assert (effective.on is None) == (effective.origin == "unreadable")
