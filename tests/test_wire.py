"""Bytes to records and back: what a manifest becomes, and what is said otherwise."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import attrs
import pytest
from pyrsistent import pmap

from msdcomp.diagnostics import Problem, Severity
from msdcomp.gates import DeclaredGate, GateCondition
from msdcomp.jsontext import MAX_BYTES, canonical
from msdcomp.manifest import (
    ArtifactKind,
    CommandModule,
    ConfigSlice,
    Contribution,
    Engines,
    Fragment,
    Gate,
    GateCheck,
    HttpInvoke,
    LifecycleHook,
    Manifest,
    Probe,
    Provenance,
    Ref,
    ResolverInvoke,
    RuntimeCompat,
    SpawnInvoke,
    Step,
    TaskContentResolver,
)
from msdcomp.wire import decode, encode, place
from tests.documents import changed, feature, http_reviewer, reviewer, runtime

SHIPPED = Path(__file__).parent.parent / "capabilities"


def _manifest(document: dict[str, Any]) -> Manifest:
    decoded = decode(json.dumps(document), document["id"])
    assert decoded.problems == ()
    assert decoded.manifest is not None
    return decoded.manifest


# Records.


def test_a_feature_is_read_into_records() -> None:
    document = feature(
        engines={"msd": "^1.2"},
        compatVersions={"0.9.0": "1.0.0"},
        provenance={"sourceRepo": "r", "commit": "c"},
        hooks=[{"event": "E", "script": "a.sh", "matcher": "*"}],
        commands=[{"family": "f", "module": "m.cjs", "router": "r"}],
        activationKey="tides.on",
        taskContentResolver={
            "trackerPrefix": "beads",
            "invoke": {"binary": "b", "args": ["{{id}}"], "timeoutMs": 5000.0},
        },
    )

    manifest = _manifest(document)

    assert manifest.id == "tides"
    assert manifest.engines == Engines(msd="^1.2")
    assert manifest.compat_versions == pmap({"0.9.0": "1.0.0"})
    assert manifest.provenance == Provenance(source_repo="r", commit="c")
    assert manifest.commands == (CommandModule(family="f", module="m.cjs", router="r"),)
    assert manifest.config["tides.at"] == ConfigSlice(  # type: ignore[index]
        type="enum",
        default="plan:pre",
        description="When to read it.",
        values=("plan:pre", "plan:post"),
    )
    assert manifest.runtime is None
    assert manifest.reviewer is None
    body = manifest.feature
    assert body is not None
    assert body.runtime_compat == RuntimeCompat(supported=("*",))
    assert body.skills == ("read-tide",)
    assert body.activation_key == "tides.on"
    assert body.hooks == (LifecycleHook(event="E", script="a.sh", matcher="*"),)
    assert body.steps == (
        Step(
            point="plan:pre",  # type: ignore[arg-type]
            ref=Ref(skill="read-tide"),
            produces=("TIDE.md",),
            consumes=("CONTEXT.md",),
            on_error="skip",
            when="tides.on",  # type: ignore[arg-type]
        ),
    )
    assert body.contributions == (
        Contribution(
            point="plan:pre",  # type: ignore[arg-type]
            into="planner",
            fragment=Fragment(inline="Mind the tide."),
            produces=(),
            consumes=(),
        ),
    )
    assert body.gates == (
        Gate(
            point="plan:post",  # type: ignore[arg-type]
            check=GateCheck(query="tide.safe"),
            blocking=True,
            on_error="halt",
            when="tides.on",  # type: ignore[arg-type]
        ),
    )
    resolver = ResolverInvoke(binary="b", args=("{{id}}",), timeout_ms=5000)
    assert body.task_content_resolver == TaskContentResolver(
        tracker_prefix="beads", invoke=resolver
    )


def test_a_runtime_is_read_into_records() -> None:
    document = runtime(
        reviewer=reviewer()["reviewer"],
        commands=[
            {"family": "f"},
            {"family": "g", "module": 5, "router": "r", "subcommands": ["a", 1]},
            {"family": ""},
            {"module": "m.cjs"},
            "h",
        ],
    )
    body = document["runtime"]
    body["hostBehaviors"] = {"reapplyCommand": ["/x", {"a": None}]}
    body["configHome"]["skillsHome"] = {
        "kind": "dot-home-nested",
        "name": "n",
        "parent": "p",
        "env": [],
    }

    manifest = _manifest(document)

    assert manifest.feature is None
    assert manifest.reviewer is not None
    # Only features are held to the full shape of a command.
    assert manifest.commands == (
        CommandModule(family="f"),
        CommandModule(family="g", router="r", subcommands=("a",)),
    )
    read = manifest.runtime
    assert read is not None
    assert read.host_behaviors["reapplyCommand"] == ("/x", pmap({"a": None}))
    assert read.host_integration.state_io == "filesystem"
    assert read.host_integration.dispatch.background == "undocumented"
    assert read.trigger_precedence == ("skills", "commands")
    assert read.artifact_layout.global_ == (
        ArtifactKind(
            kind="skills",
            dest_subpath="berths",
            nesting="flat",
            prefix="pier-",
            converter=None,
        ),
    )
    inner = read.config_home.skills_home
    assert inner is not None
    assert (inner.kind, inner.parent) == ("dot-home-nested", "p")


def test_the_transport_of_a_lane_says_which_invocation_it_has() -> None:
    spawn = _manifest(reviewer()).reviewer
    http = _manifest(http_reviewer()).reviewer

    assert spawn is not None
    assert isinstance(spawn.invoke, SpawnInvoke)
    assert spawn.probe == Probe(kind="command-exists", binary="gull")
    assert http is not None
    assert http.invoke == HttpInvoke(
        host_config_key="review.host",
        path="/v1/chat/completions",
        model_discovery="none",
        effort_channel="none",
    )
    assert http.probe.timeout_ms == 2000


def test_a_value_no_rule_depends_on_is_left_out_when_it_is_odd() -> None:
    document = changed(feature(), "/contributions/0/configValues", {"a": "k", "b": 1})
    document["config"]["tides.on"]["values"] = "all"
    manifest = _manifest(document)
    assert manifest.feature is not None
    assert manifest.feature.contributions[0].config_values == pmap({"a": "k"})
    assert manifest.config["tides.on"].values == ()  # type: ignore[index]

    lane = _manifest(changed(http_reviewer(), "/reviewer/invoke/defaultHost", 5))
    assert lane.reviewer is not None
    assert isinstance(lane.reviewer.invoke, HttpInvoke)
    assert lane.reviewer.invoke.default_host is None

    odd = _manifest(changed(runtime(), "/runtime/hostBehaviors", ["x"]))
    assert odd.runtime is not None
    assert odd.runtime.host_behaviors == pmap()


@pytest.mark.parametrize("config", [[], None, 5, {}, {"constructor": 5}])
def test_what_declares_no_keys_is_no_config_on_a_lane(config: object) -> None:
    assert _manifest(reviewer(config=config)).config == pmap()


def test_a_number_beyond_two_to_53_may_be_a_bound() -> None:
    lane = _manifest(changed(reviewer(), "/reviewer/timeoutFloorMs", 1e21)).reviewer

    assert lane is not None
    assert lane.timeout_floor_ms == 10**21


def test_json_inside_a_manifest_is_frozen_for_good() -> None:
    check = {"predicate": {"kind": "config-equals", "value": [{"a": [1]}]}}
    manifest = _manifest(changed(feature(), "/gates/0/check", check))

    assert manifest.feature is not None
    predicate = manifest.feature.gates[0].check.predicate
    assert predicate == pmap({"kind": "config-equals", "value": (pmap({"a": (1,)}),)})
    assert hash(manifest) == hash(_manifest(json.loads(encode(manifest))))


@pytest.mark.parametrize(
    "path", sorted(SHIPPED.glob("*/capability.json")), ids=lambda path: path.parent.name
)
def test_a_shipped_manifest_has_nothing_to_report(path: Path) -> None:
    decoded = decode(path.read_bytes(), path.parent.name, "capability.json")

    assert decoded.problems == ()
    assert decoded.diagnostics == ()
    assert decoded.manifest is not None
    assert decode(encode(decoded.manifest), path.parent.name) == decoded


# The wire.


def test_the_document_is_canonical_and_independent_of_how_it_was_written() -> None:
    document = feature()
    backwards = {key: document[key] for key in reversed(list(document))}
    spaced = json.dumps(backwards, indent=4).replace("true", " true ")

    assert encode(_manifest(document)) == canonical(document)
    assert decode(spaced).manifest == decode(document).manifest


# Problems.


def test_problems_carry_file_line_and_column() -> None:
    text = '{\n  "id": "tides",\n  "role": "feature", "tier": 5\n}'

    decoded = decode(text, "tides", "capabilities/tides/capability.json")

    tier = next(p for p in decoded.problems if p.path == "/tier")
    assert tier == Problem(
        code="wrong-type",
        path="/tier",
        message='tier must be "core", "standard" or "full", got number',
        hint='Give "core", "standard" or "full".',
        file="capabilities/tides/capability.json",
        line=3,
        column=30,
    )
    title = next(p for p in decoded.problems if p.path == "/title")
    assert (title.line, title.column) == (1, 1)


def test_problems_of_a_mapping_have_a_file_but_no_line() -> None:
    decoded = decode({"id": 5}, None, "x.json")

    assert {p.file for p in decoded.problems} == {"x.json"}
    assert {p.line for p in decoded.problems} == {None}


def test_the_folder_is_only_compared_when_it_is_known() -> None:
    assert decode(feature()).problems == ()
    (problem,) = decode(feature(), "other").problems
    assert problem.code == "id-folder-mismatch"


def test_notices_stand_apart_from_faults() -> None:
    decoded = decode(feature(homepage=5))

    assert decoded.manifest is not None
    assert decoded.problems == ()
    assert [p.severity for p in decoded.diagnostics] == [Severity.WARNING]


def test_problems_found_later_can_be_placed_in_the_same_text() -> None:
    problem = Problem(code="when-undeclared", path="/steps/0/when", message="m")

    (placed,) = place([problem], json.dumps(feature(), indent=1), "f")
    (unplaced,) = place([problem], feature(), "f")

    assert (placed.file, placed.line) == ("f", 50)
    assert (unplaced.file, unplaced.line) == ("f", None)


BAD = {
    "not-utf-8": (b'{"id": "\xff"}', "invalid-utf8", 1, 9),
    "byte-order-mark": (b"\xef\xbb\xbf{}", "byte-order-mark", 1, 1),
    "nan": (b'{"id":\nNaN}', "not-finite", 2, 1),
    "repeated-key": (b'{"id": 1, "id": 2}', "duplicate-key", 1, 11),
    "lone-surrogate": (b'{"id": "\\ud800"}', "lone-surrogate", 1, 8),
    "deep": (b'{"id":' + b"[" * 100_000, "too-deep", 1, 206),
    "large": (b" " * (9 * 1024 * 1024), "too-large", 1, 1),
    "number": (b"5", "not-an-object", 1, 1),
    "array": (b"[{}]", "not-an-object", 1, 1),
    "null": (b" null", "not-an-object", 1, 2),
    "empty": (b"", "json-syntax", 1, 1),
}


@pytest.mark.parametrize(("data", "code", "line", "column"), BAD.values(), ids=BAD)
def test_what_is_no_strict_json_object_has_one_problem_with_place_and_hint(
    data: bytes, code: str, line: int, column: int
) -> None:
    decoded = decode(data, "tides", "f.json")

    (problem,) = decoded.problems
    assert (problem.code, problem.line, problem.column) == (code, line, column)
    assert problem.hint
    assert problem.file == "f.json"
    assert decoded.is_object is False
    assert decoded.manifest is None


@pytest.mark.parametrize(
    ("path", "value", "code"),
    [
        *((f"/{name}", [None], "wrong-type") for name in ("requires", "skills")),
        *((f"/{name}", [None], "wrong-type") for name in ("steps", "gates", "hooks")),
        ("/engines", 5, "wrong-type"),
        ("/config", 5, "wrong-type"),
        ("/steps/0/ref", 5, "wrong-type"),
        ("/gates/0/check", 5, "wrong-type"),
        ("/config/__proto__", feature()["config"]["tides.on"], "reserved-name"),
        ("/id", "tides\n", "bad-id"),
        ("/version", "\uff11.0.0", "bad-version"),
    ],
)
def test_a_hostile_value_has_one_clear_problem(
    path: str, value: object, code: str
) -> None:
    document = changed(feature(agents=["tide-eye"]), path, value)
    if path == "/skills":
        document = changed(document, "/steps/0/ref", {"command": "c"})

    (problem,) = decode(json.dumps(document, indent=1), "tides").problems

    assert problem.code == code
    assert problem.path.startswith(path)
    assert problem.line is not None
    assert problem.hint


# Declared gates.

SAFE = DeclaredGate(
    point="plan:post",
    blocking=True,
    condition=GateCondition(key="tides.on", type="boolean", default=True),
    check='{"query":"tide.safe"}',
)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("/title", "Tides"),
        ("/title", 5),
        ("/role", "unknown"),
        ("/role", "runtime"),
        ("/steps", [None]),
        ("/id", ["x"]),
        ("/gates/0/onError", None),
        ("/config/tides.on/description", 5),
    ],
)
def test_a_gate_is_found_whatever_else_is_wrong(path: str, value: object) -> None:
    document = changed(feature(), path, value)

    assert decode(document).gates == (SAFE,)
    assert decode(json.dumps(document)).gates == (SAFE,)


@pytest.mark.parametrize(
    ("path", "value", "changes"),
    [
        ("/gates/0/blocking", "yes", {"blocking": None}),
        ("/gates/0/check", [], {"check": None}),
        ("/gates/0/check", {"b": 1, "a": [2.0]}, {"check": '{"a":[2],"b":1}'}),
        ("/gates/0/when", 5, {"condition": None}),
        ("/gates/0/when", "x", {"condition": GateCondition(key="x")}),
        ("/config", [], {"condition": GateCondition(key="tides.on")}),
        ("/config/tides.on", 5, {"condition": GateCondition(key="tides.on")}),
        (
            "/config/tides.on/type",
            "date",
            {"condition": GateCondition(key="tides.on")},
        ),
        (
            "/config/tides.on/default",
            [],
            {"condition": GateCondition(key="tides.on", type="boolean")},
        ),
    ],
)
def test_what_cannot_be_read_of_a_gate_is_not_known(
    path: str, value: object, changes: dict[str, Any]
) -> None:
    document = changed(changed(feature(), path, value), "/title", 5)

    assert decode(document).gates == (attrs.evolve(SAFE, **changes),)


@pytest.mark.parametrize(
    "gates",
    [None, "plan:pre", {"point": "plan:pre"}, [None, "plan:pre", ["plan:pre"], {}]],
)
def test_what_names_no_point_is_no_gate(gates: object) -> None:
    assert decode(feature(gates=gates)).gates == ()
    point = "/gates/0/point"
    assert decode(changed(feature(), point, "plan:never")).gates == ()
    assert decode(changed(feature(), point, ["plan:pre"])).gates == ()


def _loose(text: str) -> tuple[DeclaredGate, ...]:
    decoded = decode(text)
    assert decoded.is_object is False
    return decoded.gates


@pytest.mark.parametrize(
    "break_",
    [
        lambda text: "\ufeff" + text,
        lambda text: text[:-1] + ', "zz": NaN}',
        lambda text: text[:-1] + ', "zz": 1e999}',
        lambda text: text[:-1] + ', "zz": [12345678901234567890]}',
        lambda text: text[:-1] + ', "zz": "\\udfff"}',
        lambda text: text[:-1] + ', "tier": "full"}',
    ],
)
def test_a_text_refused_for_strictness_is_still_read_for_its_gates(break_: Any) -> None:
    assert _loose(break_(json.dumps(feature()))) == (SAFE,)


def test_bytes_that_are_not_utf_8_are_still_read_for_their_gates() -> None:
    data = json.dumps(feature()).encode().replace(b"Tides", b"T\xff")

    assert decode(data).gates == (SAFE,)


def test_repeated_gates_all_count() -> None:
    other = '[{"point": "ship:pre"}]'
    text = json.dumps(feature())[:-1] + f', "gates": {other}, "gates": 5}}'

    assert _loose(text) == (SAFE, DeclaredGate(point="ship:pre"))


def test_of_repeated_fields_inside_a_gate_the_careful_reading_counts() -> None:
    text = json.dumps(feature())
    gate = '"point": "plan:post"'
    twice = text.replace(gate, f'{gate}, "point": "ship:pre"')
    assert [found.point for found in _loose(twice)] == ["plan:post", "ship:pre"]

    advisory = text.replace('"blocking": true', '"blocking": true, "blocking": false')
    assert _loose(advisory) == (SAFE,)

    switched = text.replace('"onError": "halt"', '"when": "other", "onError": "halt"')
    assert _loose(switched) == (attrs.evolve(SAFE, condition=None),)

    unclear = text.replace('"onError": "halt"', '"check": {}, "onError": "halt"')
    assert _loose(unclear) == (attrs.evolve(SAFE, check=None),)

    sliced = text[:-1] + ', "config": {}}'
    unknown = GateCondition(key="tides.on")
    assert _loose(sliced) == (attrs.evolve(SAFE, condition=unknown),)


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(feature())[:-1],
        json.dumps(feature())[:-1] + ', "zz": ' + "[" * 300 + "]" * 300 + "}",
        json.dumps(feature()) + " " * MAX_BYTES,
        json.dumps([feature()]),
    ],
    ids=["cut", "deep", "large", "array"],
)
def test_what_is_no_json_object_of_sane_size_has_no_gates(text: str) -> None:
    assert _loose(text) == ()


def test_a_mapping_that_is_no_json_is_still_read_for_its_gates() -> None:
    decoded = decode(feature(zz={1, 2}))

    assert decoded.is_object is False
    assert decoded.gates == (SAFE,)
