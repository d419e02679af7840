"""One schema of the host's keys and the slices; reads and checks are typed by it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyrsistent import PMap, pmap, thaw

from msdcomp.configlayers import (
    ConfigLayers,
    Effective,
    Origin,
    Unreadable,
    freeze_json,
    lookup,
)
from msdcomp.configreading import MAX_UNKNOWN, list_keys, read
from msdcomp.configschema import HOST, ConfigSchema, KnownKey, fits, takes
from msdcomp.configwriting import (
    ConfigEdit,
    check_gates,
    check_key,
    check_set,
    effect,
)
from msdcomp.host import CentralConfig
from msdcomp.manifest import CapabilityId, ConfigKey
from msdcomp.registry import Entry, OwnedSlice, Registry, build
from msdcomp.testing import feature
from msdcomp.wire import decode


def _slice(owner: str, type_: str, default: Any, **fields: Any) -> OwnedSlice:
    return OwnedSlice(
        owner=CapabilityId(owner),
        type=type_,
        default=default,
        description="What it does.",
        **fields,
    )


def _slices(slices: Mapping[str, OwnedSlice]) -> PMap[ConfigKey, OwnedSlice]:
    return pmap({ConfigKey(key): slice_ for key, slice_ in slices.items()})


CENTRAL = CentralConfig.of(
    ["mode", "git.base_branch", "review.budget"],
    [r"^agent_skills\.[a-z-]+$", r"^models\.(planning|research)$", r"^x\.a[.]b$"],
)
SCHEMA = ConfigSchema(
    slices=_slices(
        {
            "tide.on": _slice("tides", "boolean", True),  # noqa: FBT003
            "tide.height": _slice("tides", "number", 2),
            "tide.name": _slice("tides", "string", ""),
            "tide.kind": _slice("tides", "enum", "neap", values=("neap", "spring")),
            "review.budget.tides": _slice("tides", "number", -1),
            "wind.on": _slice("winds", "boolean", False),  # noqa: FBT003
        }
    ),
    central=CENTRAL,
)
ABSENT = object()
LEAVES = st.sampled_from([True, False, None, 0, 3, 1.5, "", "off", "neap", "x"])
LAYERS = st.one_of(
    st.none(),
    st.just(Unreadable("damaged")),
    st.fixed_dictionaries(
        {},
        optional={
            "tide": LEAVES
            | st.fixed_dictionaries(
                {},
                optional={
                    "on": LEAVES,
                    "height": LEAVES,
                    "name": LEAVES,
                    "kind": LEAVES,
                    "odd": LEAVES,
                },
            ),
            "mode": LEAVES,
            "agent_skills": st.dictionaries(
                st.sampled_from(["a", "b-c", "D"]), LEAVES, max_size=2
            ),
            "zz": LEAVES,
        },
    ),
)
CONFIGS = st.builds(
    ConfigLayers,
    explicit=LAYERS,
    workstream=LAYERS,
    project=LAYERS,
    workstream_file=st.just("w.json"),
)
KEYS = st.sampled_from(
    [*SCHEMA.keys, "agent_skills.a", "agent_skills", "tide", "tide.odd", "zz", "no"]
)


# The schema.


def test_every_key_has_one_owner() -> None:
    assert SCHEMA.known("tide.kind") == KnownKey(
        key="tide.kind",
        owner="tides",
        type="enum",
        default="neap",
        values=("neap", "spring"),
        description="What it does.",
    )
    for key in ("mode", "agent_skills.a-b", "models.planning"):
        assert SCHEMA.known(key) == KnownKey(key=key, owner=HOST, central=True)
    for key in ("tide", "models.other", "agent_skills", "Mode", ""):
        assert SCHEMA.known(key) is None
    assert repr(SCHEMA) == "<ConfigSchema of 9 keys>"


def test_an_object_is_known_by_the_keys_in_it() -> None:
    for path in ("tide", "git", "review", "review.budget", "models", "agent_skills"):
        assert SCHEMA.holds_keys(path)
    for path in ("mode", "tide.on", "models.planning", "tid", "", "x.a"):
        assert not SCHEMA.holds_keys(path)
    assert SCHEMA.may_hold_keys("models.other")
    assert SCHEMA.holds_keys("x")
    assert not SCHEMA.may_hold_keys("tide.on")


def test_a_pattern_that_begins_anyhow_makes_nothing_an_object() -> None:
    schema = ConfigSchema(central=CentralConfig.of([], ["^[a-z]+$"]))
    assert not schema.holds_keys("a")
    assert schema.known("a") is not None


@pytest.mark.parametrize(
    ("key", "meant"),
    [
        ("tide.onn", "tide.on"),
        ("Tide.On", "tide.on"),
        ("tide.hieght", "tide.height"),
        ("mod", "mode"),
        ("tide.on", None),
        ("nothing", None),
        ("t" * 100, None),
    ],
)
def test_a_slip_is_told_from_another_word(key: str, meant: str | None) -> None:
    assert SCHEMA.suggest(key) == meant


def test_a_slip_is_seen_among_thousands_of_keys() -> None:
    slices = {f"k{n}.on": _slice("a", "boolean", default=True) for n in range(2000)}
    assert ConfigSchema(slices=_slices(slices)).suggest("k1234.onn") == "k1234.on"


@pytest.mark.parametrize(
    ("key", "yes", "no"),
    [
        ("tide.on", [True, False, None], [0, 1, "true", (), pmap()]),
        ("tide.height", [0, 1.5, None], [True, "1", ()]),
        ("tide.name", ["", "x", None], [1, False, pmap()]),
        ("tide.kind", ["neap", None], ["Neap", "", True]),
        ("mode", [1, "x", None, (), pmap()], []),
    ],
)
def test_a_value_is_held_to_the_type(key: str, yes: list[Any], no: list[Any]) -> None:
    known = SCHEMA.known(key)
    assert known is not None
    assert [fits(known, value) for value in yes] == [True] * len(yes)
    assert [fits(known, value) for value in no] == [False] * len(no)


def test_what_a_key_takes_is_said_in_words() -> None:
    said = {key: takes(known) for key in SCHEMA.keys if (known := SCHEMA.known(key))}
    assert said["tide.on"] == "true or false"
    assert said["tide.height"] == "a number"
    assert said["tide.name"] == "a text"
    assert said["tide.kind"] == 'one of "neap", "spring"'
    assert said["mode"] == "any JSON"


# Reading.


@given(KEYS, CONFIGS)
def test_a_read_says_what_lookup_says(key: str, layers: ConfigLayers) -> None:
    reading = read(key, layers, SCHEMA)

    assert reading.effective == lookup(key, layers, SCHEMA.slices)
    assert reading.known == SCHEMA.known(key)


@given(KEYS, CONFIGS)
def test_what_is_overridden_is_what_would_count_without_the_layers_above(
    key: str, layers: ConfigLayers
) -> None:
    chain = [read(key, layers, SCHEMA).effective, *read(key, layers, SCHEMA).overrides]

    left: dict[str, Any] = {
        name: getattr(layers, name) for name in ("explicit", "workstream", "project")
    }
    expected: list[Effective] = []
    while True:
        rest = ConfigLayers(**left, workstream_file="w.json")
        found = lookup(key, rest, SCHEMA.slices)
        if found.origin is not Origin.ABSENT or not expected:
            expected.append(found)
        if found.layer is None:
            break
        for name in left:
            left[name] = None
            if name == found.layer.value:
                break
    assert chain == expected


@given(CONFIGS)
def test_a_listing_agrees_with_every_single_read(layers: ConfigLayers) -> None:
    listing = list_keys(layers, SCHEMA, absent=True)

    keys = [one.key for one in listing.readings]
    assert keys == sorted(set(keys))
    assert set(SCHEMA.keys) <= set(keys)
    assert all(one == read(one.key, layers, SCHEMA) for one in listing.readings)
    assert listing.readable == (
        not any(isinstance(layer, Unreadable) for _, layer in layers.in_order())
    )
    some = list_keys(layers, SCHEMA)
    assert some.problems == listing.problems
    assert some.readings == tuple(
        one for one in listing.readings if one.effective.origin is not Origin.ABSENT
    )


@given(CONFIGS)
def test_every_value_of_a_readable_file_is_a_key_or_reported(
    layers: ConfigLayers,
) -> None:
    listing = list_keys(layers, SCHEMA, absent=True)

    told = {p.path for p in listing.problems if p.code == "unknown-config-key"}
    known = {"/" + one.key.replace(".", "/") for one in listing.readings}
    for _, layer in layers.in_order():
        if isinstance(layer, Unreadable):
            continue
        for path in _leaves(thaw(layer)):
            covered = {path[:end] for end in _ends(path)}
            assert covered & (told | known)
            assert not (path in told and path in known)


def _leaves(value: Any, path: str = "") -> list[str]:
    if isinstance(value, dict) and value:
        return [
            leaf for name in value for leaf in _leaves(value[name], f"{path}/{name}")
        ]
    return [path] if path and not isinstance(value, dict) else []


def _ends(path: str) -> list[int]:
    return [n for n, char in enumerate(path) if char == "/" and n] + [len(path)]


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("tide.on", "off", 'sets it to the text "off"; it counts as off'),
        ("tide.on", 1, "sets it to a number, 1; it counts as on"),
        ("tide.height", "1", 'takes a number, but p.json sets it to the text "1"'),
        ("tide.height", True, "takes a number, but p.json sets it to true"),
        ("tide.name", [1], "takes a text, but p.json sets it to a list"),
        ("tide.name", {}, "takes a text, but p.json sets it to an object"),
        ("tide.kind", "x", '"spring", but p.json sets it to the text "x"'),
        ("tide.kind", 2.5, "but p.json sets it to the number 2.5"),
    ],
)
def test_a_value_of_another_type_is_told_and_still_counts(
    key: str, value: Any, message: str
) -> None:
    layers = ConfigLayers(project=_nest(key, value), project_file="p.json")

    reading = read(key, layers, SCHEMA)

    assert reading.fits is False
    (problem,) = reading.problems()
    assert problem.code == "config-type-mismatch"
    assert message in problem.message
    assert reading.effective.value == freeze_json(value)
    assert list_keys(layers, SCHEMA).problems == (problem,)


def _nest(key: str, value: Any) -> dict[str, Any]:
    for name in reversed(key.split(".")):
        value = {name: value}
    return dict(value)


def test_what_cannot_be_read_decides_nothing_and_hides_what_is_below() -> None:
    layers = ConfigLayers(project=Unreadable("line 1"), project_file="p.json")

    reading = read("tide.on", layers, SCHEMA)

    assert reading.effective.origin is Origin.UNREADABLE
    assert (reading.fits, reading.effective.on) == (None, None)
    assert [below.origin for below in reading.overrides] == [Origin.DEFAULT]
    assert [p.code for p in reading.problems()] == ["config-unreadable"]
    listing = list_keys(layers, SCHEMA)
    assert not listing.readable
    (problem,) = listing.problems
    assert problem.message.startswith("p.json cannot be read (line 1), so nothing")


@pytest.mark.parametrize(
    ("document", "messages"),
    [
        ({"tide": {"onn": 1}}, ["nobody declares tide.onn"]),
        ({"zz": {"a": 1, "b": 2}}, ["nobody declares zz"]),
        ({"tide": 1}, ["tide must be an object, since it has keys in it, and is the"]),
        ({"models": {"other": 1}}, ["nobody declares models.other"]),
        ({"tide.on": 1}, ['the name "tide.on" holds a dot, so no key reaches it']),
        ({"": 1}, ["nobody declares "]),
        ({"review": {"budget": {"tides": 1, "else": 2}}}, []),
        ({"agent_skills": {"a": {"b": {"c.d": 1}}}}, []),
        ({"tide": {}, "git": {}, "agent_skills": {}}, []),
        ({"models": {"deep": {"er": 1}}}, ["nobody declares models.deep.er"]),
    ],
)
def test_what_nobody_declares_is_told_once(
    document: dict[str, Any], messages: list[str]
) -> None:
    problems = list_keys(ConfigLayers(project=document), SCHEMA).problems

    unknown = [p for p in problems if p.code == "unknown-config-key"]
    assert len(unknown) == len(messages)
    assert all(p.message.startswith(m) for p, m in zip(unknown, messages, strict=True))
    assert all(p.file == ".planning/config.json" for p in unknown)


@pytest.mark.parametrize("explicit", [[1], "x", 5, False])
def test_values_given_that_are_no_object_hold_no_keys(explicit: Any) -> None:
    listing = list_keys(ConfigLayers(explicit=explicit), SCHEMA)
    assert listing.problems == ()
    assert {one.effective.origin for one in listing.readings} == {Origin.DEFAULT}


def test_a_key_below_a_key_of_the_hosts_is_found_in_it() -> None:
    layers = ConfigLayers(project={"review": {"budget": {"tides": 5}}})

    found = {one.key: one.effective for one in list_keys(layers, SCHEMA).readings}

    assert found["review.budget.tides"].value == 5
    assert found["review.budget"].origin is Origin.PROJECT


def test_a_flood_of_unknown_keys_is_counted() -> None:
    document = {f"z{n:04}": 1 for n in range(MAX_UNKNOWN + 7)}
    document["y" * 1000] = 1

    problems = list_keys(ConfigLayers(explicit=document), SCHEMA).problems

    assert len(problems) == MAX_UNKNOWN + 1
    assert problems[-1].message == (
        "8 more keys that nobody declares, in the explicit configuration"
    )
    assert all(len(p.path) < 400 and len(p.message) < 400 for p in problems)


# Writing.


@given(KEYS | st.text(max_size=8), LEAVES, st.booleans())
def test_what_may_be_set_is_afterwards_a_known_value_that_fits(
    key: str, value: Any, force: bool
) -> None:
    if check_set(key, value, SCHEMA, force=force):
        return

    reading = read(key, ConfigLayers(project=_nest(key, value)), SCHEMA)

    assert reading.effective.origin is Origin.PROJECT
    assert reading.fits is not False
    assert force or reading.known is not None


@pytest.mark.parametrize(
    ("key", "value", "code", "told"),
    [
        ("tide.onn", True, "unknown-config-key", "Did you mean tide.on?"),
        ("zz", 1, "unknown-config-key", "not composed here"),
        ("tide", 1, "config-key-overlap", "tide has keys below it, such as tide.h"),
        ("tide", pmap(), "unknown-config-key", "an object with keys in it"),
        ("agent_skills", pmap(), "unknown-config-key", "an object with keys in it"),
        ("tide.on", "x", "config-type-mismatch", 'true or false, got the text "x"'),
        ("tide.name", 5, "config-type-mismatch", "Quote a text as JSON"),
        ("tide.kind", "x", "config-type-mismatch", 'one of "neap", "spring"'),
        ("tide.on.x", 1, "config-key-overlap", "lies below tide.on, a key of tides"),
        ("review.budget", 5, "config-key-overlap", "review.budget.tides"),
        ("review.budget", None, "config-key-overlap", "got null"),
        (
            "review.budget",
            pmap({"tides": "x"}),
            "config-type-mismatch",
            "review.budget.tides takes a number",
        ),
        ("a..b", 1, "bad-config-key", "a part of it is empty"),
        ("", 1, "bad-config-key", "is empty"),
        ("a.__proto__", 1, "bad-config-key", "no host would find"),
        ("a" + ".a" * 300, 1, "bad-config-key", "got 301"),
    ],
)
def test_a_refusal_says_what_is_in_the_way(
    key: str, value: Any, code: str, told: str
) -> None:
    found = check_set(key, value, SCHEMA)
    assert [p.code for p in found] == [code]
    assert told in f"{found[0].message} {found[0].hint}"


def test_only_what_nobody_declares_can_be_forced() -> None:
    assert check_set("zz", 1, SCHEMA, force=True) == ()
    for key, value in (("tide.on", 1), ("tide", 1), ("tide.on.x", 1), ("", 1)):
        assert check_set(key, value, SCHEMA, force=True)
    assert check_set("review.budget", pmap({"tides": 5, "x": "y"}), SCHEMA) == ()


def test_the_key_that_is_unset_need_not_be_declared() -> None:
    assert check_key("zz.yy") is None


def _registry() -> Registry:
    switches = {
        "tide.on": {"type": "boolean", "default": True, "description": "-"},
        "tide.name": {"type": "string", "default": "", "description": "-"},
    }
    other = {"wind.on": {"type": "boolean", "default": True, "description": "-"}}
    manifests = [
        decode(feature("tides", config=switches)).manifest,
        decode(feature("winds", config=other)).manifest,
        decode(feature("calm")).manifest,
    ]
    built = build(Entry(manifest=m) for m in manifests if m is not None)
    assert isinstance(built, Registry)
    assert len(built.capabilities) == 3
    return built


@pytest.mark.parametrize(
    ("owner", "key", "code", "told"),
    [
        ("tides", "tide.onn", "unknown-config-key", "Did you mean tide.on?"),
        ("tides", "zz", "unknown-config-key", "The switches of tides: tide.on."),
        ("tides", "wind.on", "foreign-config-key", "it belongs to winds"),
        ("tides", "mode", "foreign-config-key", "it belongs to the host"),
        ("tides", "tide.name", "config-type-mismatch", "it takes a text"),
        ("calm", "zz", "unknown-config-key", "calm has no switch."),
        ("tide", "tide.on", "unknown-capability", "Did you mean tides?"),
        ("storms", "tide.on", "unknown-capability", "no capability storms is composed"),
    ],
)
def test_only_a_capabilitys_own_switch_is_one(
    owner: str, key: str, code: str, told: str
) -> None:
    registry = _registry()
    schema = ConfigSchema.of(registry, CENTRAL)

    found = check_gates(registry, schema, owner, [key, key])

    assert [p.code for p in found] == [code]
    assert told in f"{found[0].message} {found[0].hint}"


def test_every_refused_switch_is_told() -> None:
    registry = _registry()
    schema = ConfigSchema.of(registry, CENTRAL)
    assert check_gates(registry, schema, "tides", ["tide.on"]) == ()
    found = check_gates(registry, schema, "tides", ["zz", "tide.on", "wind.on"])
    assert [p.path for p in found] == ["/zz", "/wind/on"]


@pytest.mark.parametrize(
    ("layers", "wanted", "took"),
    [
        ({"project": {"tide": {"on": True}}}, True, True),
        ({"project": {"tide": {"on": 1}}}, True, False),
        ({"project": {"tide": {"on": True}}, "workstream": {}}, True, True),
        (
            {"project": {"tide": {"on": True}}, "explicit": {"tide": {"on": True}}},
            True,
            False,
        ),
        ({"project": {"tide": {"on": [1, {"a": 1.0}]}}}, (1, pmap({"a": 1.0})), True),
        ({}, True, False),
    ],
)
def test_a_change_took_when_its_own_layer_decides(
    layers: Mapping[str, Any], wanted: Any, took: bool
) -> None:
    edit = ConfigEdit(key="tide.on", value=freeze_json(wanted))
    reading = read("tide.on", ConfigLayers(**layers), SCHEMA)
    assert effect(edit, reading, Origin.PROJECT).took is took


def test_an_unset_took_when_its_own_layer_no_longer_decides() -> None:
    edit = ConfigEdit(key="tide.on", unset=True)
    held = read("tide.on", ConfigLayers(project={"tide": {"on": 1}}), SCHEMA)
    free = read("tide.on", ConfigLayers(project={}), SCHEMA)
    assert not effect(edit, held, Origin.PROJECT).took
    assert effect(edit, free, Origin.PROJECT).took


def test_the_schema_of_a_registry_is_the_registrys_own() -> None:
    registry = _registry()
    schema = ConfigSchema.of(registry, CENTRAL)
    assert schema.slices == registry.config_schema
    assert json.dumps(schema.keys) == json.dumps(sorted(schema.keys))


def test_a_name_of_megabytes_is_not_put_together_for_each_value_below_it() -> None:
    names = {f"k{n}": 1 for n in range(2000)}
    layers = ConfigLayers(project={"models": {"m" * 1_000_000: names}})

    (problem,) = list_keys(layers, SCHEMA).problems

    assert problem.code == "unknown-config-key"
    assert problem.path == ""
