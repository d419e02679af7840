"""Which value a key has, and whether it switches something on."""

from __future__ import annotations

from typing import Any

import attrs
import pytest
from pyrsistent import PMap, pmap, pvector

from msdcomp.activation import (
    ConfigLayers,
    Effective,
    Origin,
    Unreadable,
    capability_states,
    freeze_json,
    lookup,
    mismatch,
    state_problems,
    truthy,
)
from msdcomp.diagnostics import Severity
from msdcomp.manifest import CapabilityId, ConfigKey, Feature, Manifest, RuntimeCompat

NAN = float("nan")


@attrs.frozen
class OneSlice:
    type: str | None
    default: Any = False


@attrs.frozen
class EnumSlice(OneSlice):
    values: tuple[str, ...] = ()


def look(
    config: object, key: str = "k.a", *, type_: str | None = None, default: Any = False
) -> Effective:
    """Look up one key under explicit values."""
    schema = {key: OneSlice(type_, default)} if type_ else {}
    return lookup(key, ConfigLayers.of(config), schema)


@pytest.mark.parametrize(
    ("kind", "value", "fits"),
    [
        ("boolean", False, True),
        ("boolean", "off", False),
        ("number", True, False),
        ("string", pmap(), False),
        ("enum", "neap", True),
        ("enum", "high", False),
        ("enum", None, True),
        (None, "neap", None),
    ],
)
def test_a_value_tells_whether_it_is_of_the_type_of_its_slice(
    kind: str | None, value: Any, fits: bool | None
) -> None:
    slices = {"tide.kind": EnumSlice(kind, "neap", ("neap",))} if kind else {}

    found = lookup("tide.kind", ConfigLayers.of({"tide": {"kind": value}}), slices)

    assert found.fits is fits
    unread = ConfigLayers(project=Unreadable("line 1"))
    assert lookup("tide.kind", unread, slices).fits is None


@pytest.mark.parametrize(
    ("value", "on"),
    [
        (True, True),
        (False, False),
        (None, False),
        (0, False),
        (-0.0, False),
        (NAN, False),
        (1, True),
        (-1, True),
        (0.5, True),
        (float("inf"), True),
        ("", False),
        (" ", True),
        ("0", True),
        ("false", True),
        ("no", True),
        ((), True),
        ((False,), True),
        (pmap(), True),
    ],
)
def test_truth_is_that_of_javascript(value: Any, on: bool) -> None:
    assert truthy(value) is on


OFF_TEXTS = ["", "0", "false", "no", "off", "FALSE", "Off", " no ", "\t0\n", "  "]


@pytest.mark.parametrize("text", OFF_TEXTS)
def test_a_boolean_key_takes_texts_that_mean_false_for_off(text: str) -> None:
    effective = look({"k": {"a": text}}, type_="boolean", default=True)

    assert effective.on is False
    assert effective.value == text


@pytest.mark.parametrize("text", ["true", "00", "n", "f", "none", "null", "0.0"])
def test_a_boolean_key_takes_any_other_text_for_on(text: str) -> None:
    assert look({"k": {"a": text}}, type_="boolean").on is True


@pytest.mark.parametrize("type_", ["string", "enum", "number", None])
@pytest.mark.parametrize("text", ["false", "off", "no", "0", "  "])
def test_in_other_slices_the_same_texts_are_on(type_: str | None, text: str) -> None:
    assert look({"k": {"a": text}}, type_=type_).on is True


@pytest.mark.parametrize(
    ("value", "shown", "counts"),
    [
        ("false", 'the text "false"', "off"),
        ("yes", 'the text "yes"', "on"),
        (0, "a number, 0", "off"),
        (2.5, "a number, 2.5", "on"),
        ([], "a list", "on"),
        ({}, "an object", "on"),
    ],
)
def test_a_boolean_key_with_another_type_is_reported(
    value: Any, shown: str, counts: str
) -> None:
    problem = mismatch(look({"k": {"a": value}}, type_="boolean"))

    assert problem is not None
    assert problem.code == "config-type-mismatch"
    assert problem.severity is Severity.WARNING
    assert problem.path == "/k/a"
    assert problem.message == (
        "k.a takes true or false, but the configuration given sets it to"
        f" {shown}; it counts as {counts}"
    )


@pytest.mark.parametrize("value", [True, False, None])
def test_true_false_and_null_are_nothing_to_report(value: Any) -> None:
    assert mismatch(look({"k": {"a": value}}, type_="boolean")) is None


def test_only_what_is_configured_is_reported() -> None:
    assert mismatch(look({}, type_="boolean", default="false")) is None
    assert mismatch(look({"k": {"a": "x"}}, type_="string")) is None
    assert mismatch(look({"k": {"a": "x"}})) is None


def test_the_report_names_the_file_that_holds_the_value() -> None:
    schema = {"k": OneSlice("boolean")}
    project = lookup("k", ConfigLayers(project={"k": "x"}), schema)
    named = ConfigLayers(workstream={"k": 1}, workstream_file="ws/config.json")
    unnamed = ConfigLayers(workstream={"k": 1})

    found = [
        mismatch(project),
        mismatch(lookup("k", named, schema)),
        mismatch(lookup("k", unnamed, schema)),
    ]

    assert [
        (p.file, p.message.split(" but ")[1].split(" sets")[0]) for p in found if p
    ] == [
        (".planning/config.json", ".planning/config.json"),
        ("ws/config.json", "ws/config.json"),
        (None, "the workstream configuration"),
    ]


def test_the_first_layer_that_has_the_key_decides() -> None:
    schema = {"k": OneSlice("string", "default")}
    layers = ConfigLayers(
        explicit={"k": "explicit"},
        workstream={"k": "workstream"},
        project={"k": "project"},
    )

    seen = []
    for drop in ("explicit", "workstream", "project", None):
        effective = lookup("k", layers, schema)
        seen.append((effective.value, effective.origin))
        if drop:
            change: Any = {drop: {"other": 1}}
            layers = attrs.evolve(layers, **change)

    assert seen == [
        ("explicit", Origin.EXPLICIT),
        ("workstream", Origin.WORKSTREAM),
        ("project", Origin.PROJECT),
        ("default", Origin.DEFAULT),
    ]
    assert lookup("k", layers, {}).origin is Origin.ABSENT


def test_a_null_that_is_there_counts_as_found() -> None:
    effective = look({"k": {"a": None}}, type_="boolean", default=True)

    assert effective.origin is Origin.EXPLICIT
    assert effective.found
    assert effective.on is False


def test_an_absent_key_is_off() -> None:
    effective = look({})

    assert effective.on is False
    assert not effective.found


@pytest.mark.parametrize(
    ("config", "key", "value"),
    [
        ({"a": {"b": {"c": 1}}}, "a.b.c", 1),
        ({"a": {"": 1}}, "a.", 1),
        ({"": {"": 1}}, ".", 1),
        ({"a": [7, 8]}, "a.1", 8),
        ({"a": [{"b": 9}]}, "a.0.b", 9),
        ({"a": {"0": 5}}, "a.0", 5),
        ([4], "0", 4),
    ],
)
def test_a_path_follows_own_properties(config: Any, key: str, value: int) -> None:
    assert look(config, key).value == value


@pytest.mark.parametrize(
    ("config", "key"),
    [
        ({"a.b": 1}, "a.b"),
        ({"a": {"b": 1}}, "a.b.c"),
        ({"a": "text"}, "a.0"),
        ({"a": "text"}, "a.length"),
        ({"a": [1]}, "a.length"),
        ({"a": [1]}, "a.1"),
        ({"a": [1]}, "a.-1"),
        ({"a": [1, 2]}, "a.01"),
        ({"a": [1]}, "a.\u0660"),
        ({"a": [1]}, "a." + "0" * 5000),
        ({"a": None}, "a.b"),
        ({"__proto__": 1}, "__proto__"),
        ({"a": {"constructor": 1}}, "a.constructor"),
        ({"prototype": {"a": 1}}, "prototype.a"),
        ("text", "a"),
        (5, "a"),
        (None, "a"),
    ],
)
def test_a_path_follows_nothing_else(config: Any, key: str) -> None:
    assert look(config, key).origin is Origin.ABSENT


def test_an_inherited_name_has_no_default_either() -> None:
    schema = {"constructor": OneSlice("boolean", default=True)}

    assert lookup("constructor", ConfigLayers(), schema).origin is Origin.ABSENT


def test_an_unreadable_layer_ends_the_search() -> None:
    """It might have held the key, so neither a lower layer nor a default may speak."""
    schema = {"k": OneSlice("boolean", default=True)}
    layers = ConfigLayers(
        explicit={"x": 1}, workstream=Unreadable("line 3"), project={"k": True}
    )

    effective = lookup("k", layers, schema)

    assert effective.origin is Origin.UNREADABLE
    assert effective.on is None
    assert not effective.found
    assert (effective.layer, effective.reason) == (Origin.WORKSTREAM, "line 3")


def test_a_layer_above_an_unreadable_one_still_decides() -> None:
    layers = ConfigLayers(explicit={"k": True}, project=Unreadable("damaged"))

    assert lookup("k", layers, {}).on is True


@pytest.mark.parametrize("value", [[], "text", 5, False])
def test_a_file_that_holds_no_object_is_unreadable(value: Any) -> None:
    layers = ConfigLayers(project=value)

    assert layers.project == Unreadable("it holds JSON, but not one object")


def nested(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = {"a": value}
    return value


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ({"a": {1, 2}}, "it holds a value that is not JSON"),
        ({"a": b"x"}, "it holds a value that is not JSON"),
        ({1: "a"}, "it has a key that is not a string"),
        (nested(201), "it is nested deeper than 200 levels"),
        (nested(100_000), "it is nested deeper than 200 levels"),
    ],
)
def test_a_layer_that_is_not_json_is_unreadable(value: Any, reason: str) -> None:
    assert ConfigLayers.of(value).explicit == Unreadable(reason)


def test_two_hundred_levels_are_fine() -> None:
    assert isinstance(ConfigLayers.of(nested(200)).explicit, PMap)


def test_layers_do_not_share_what_they_were_given() -> None:
    config = {"a": {"b": [1, {"c": 2}]}}
    layers = ConfigLayers.of(config)

    config["a"]["b"].append(3)

    assert layers == ConfigLayers.of({"a": {"b": [1, {"c": 2}]}})
    assert hash(layers) == hash(ConfigLayers.of({"a": {"b": [1, {"c": 2}]}}))


def test_layers_of_layers_are_the_same_layers() -> None:
    layers = ConfigLayers(project={})

    assert ConfigLayers.of(layers) is layers
    assert ConfigLayers(explicit=Unreadable("x")).explicit == Unreadable("x")


def test_freezing_takes_every_form_of_json() -> None:
    value = freeze_json({"a": [1, 2.5, None, True, "x", (3,), pvector([4]), pmap()]})

    assert value == pmap({"a": (1, 2.5, None, True, "x", (3,), (4,), pmap())})


def manifest(
    id_: str, activation_key: str | None = None, role: str = "feature"
) -> Manifest:
    feature = Feature(
        runtime_compat=RuntimeCompat(supported=("*",)),
        activation_key=ConfigKey(activation_key) if activation_key else None,
    )
    return Manifest(
        document=b"{}",
        id=CapabilityId(id_),
        role=role,
        version="1.0.0",
        title="T",
        description="D",
        tier="full",
        feature=feature if role == "feature" else None,
    )


@attrs.frozen
class Composed:
    capabilities: PMap[CapabilityId, Manifest]
    config_schema: PMap[str, OneSlice]

    @classmethod
    def of(cls, *manifests: Manifest) -> Composed:
        schema = {
            "a.on": OneSlice("boolean", default=True),
            "b.on": OneSlice("boolean"),
        }
        return cls(pmap({m.id: m for m in manifests}), pmap(schema))


COMPOSED = Composed.of(
    manifest("always"),
    manifest("alpha", "a.on"),
    manifest("beta", "b.on"),
    manifest("lost", "no.such"),
    manifest("engine", role="runtime"),
)


def test_an_activation_key_switches_its_capability() -> None:
    assert capability_states(COMPOSED, ConfigLayers()) == {
        "always": True,
        "alpha": True,
        "beta": False,
        "lost": False,
        "engine": True,
    }
    assert state_problems(COMPOSED, ConfigLayers()) == ()


def test_a_text_in_an_activation_key_is_read_by_type_and_reported() -> None:
    layers = ConfigLayers.of({"a": {"on": "Off"}, "b": {"on": True}})

    states = capability_states(COMPOSED, layers)
    problems = state_problems(COMPOSED, layers)

    assert (states["alpha"], states["beta"]) == (False, True)
    assert [p.code for p in problems] == ["config-type-mismatch"]


def test_a_state_that_cannot_be_checked_is_neither_on_nor_off() -> None:
    layers = ConfigLayers(explicit={"a": {"on": True}}, project=Unreadable("line 1"))

    states = capability_states(COMPOSED, layers)
    problems = state_problems(COMPOSED, layers)

    assert states["beta"] is None
    assert (states["alpha"], states["always"]) == (True, True)
    assert [(p.code, p.path, p.file) for p in problems] == [
        ("config-unreadable", "/b/on", ".planning/config.json"),
        ("config-unreadable", "/no/such", ".planning/config.json"),
    ]
    assert problems[0].message == (
        "could not check whether capability beta is active: the value of b.on is"
        " unknown, because .planning/config.json cannot be read (line 1); its steps"
        " and contributions are left out, its gates are kept"
    )
