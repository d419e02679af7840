"""Predicates as values: reading any JSON, and an answer to whatever was found."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyrsistent import pmap

from msdcomp.configlayers import ConfigLayers, Effective, Origin, freeze_json, lookup
from msdcomp.manifest.names import CapabilityId
from msdcomp.predicate import (
    Answer,
    Artifact,
    ArtifactExists,
    CommandExitZero,
    ConfigEquals,
    Ended,
    FieldValue,
    FrontMatter,
    FrontmatterEquals,
    Result,
    artifact_exists,
    command_exit_zero,
    config_equals,
    could_not_check,
    equal,
    frontmatter_equals,
    read_predicate,
)
from msdcomp.predicate._values import form
from msdcomp.registry import OwnedSlice
from msdcomp.rules import check
from msdcomp.safetext import safe
from msdcomp.vocabulary import PREDICATE_KINDS
from tests.documents import changed, feature
from tests.strategies import json_values, predicates, scalars, texts

KINDS = st.sampled_from([*sorted(PREDICATE_KINDS), "moon-phase", ""])
FIELDS = st.sampled_from(
    ["artifact", "key", "equals", "field", "command", "timeout", "artifacts", "note"]
)

#: Objects that get past the door, with anything in their fields.
odd_predicates = st.builds(
    lambda kind, rest: {**rest, "kind": kind},
    KINDS | json_values,
    st.dictionaries(FIELDS | texts, json_values, max_size=5),
)

frozen = json_values.map(freeze_json)
reasons = st.none() | texts
artifacts = st.builds(
    Artifact, files=st.lists(texts, max_size=3).map(tuple), reason=reasons
)
front_matters = st.builds(
    FrontMatter,
    fields=st.dictionaries(
        st.sampled_from(["f", "g"]),
        st.builds(FieldValue, frozen, st.none() | texts),
        max_size=2,
    ).map(pmap),
    reason=reasons,
)


# Reading.


@given(json_values | odd_predicates | predicates)
def test_any_json_is_a_predicate_or_has_a_fault(value: Any) -> None:
    reading = read_predicate(value)

    assert (reading.predicate is None) is bool(reading.faults)
    if not isinstance(value, str):
        again = read_predicate(json.dumps(value))
        assert again.predicate == reading.predicate
        assert [p.path for p in again.problems] == [p.path for p in reading.problems]


@given(st.text() | st.binary())
def test_any_text_is_read(text: str | bytes) -> None:
    reading = read_predicate(text)

    assert (reading.predicate is None) is bool(reading.faults)


@given(predicates)
def test_what_can_be_evaluated_has_no_fault_in_a_manifest(value: Any) -> None:
    gate = {"check": {"predicate": value}, "blocking": True, "onError": "halt"}
    document = feature() | {"gates": [{"point": "ship:pre", **gate}]}

    assert read_predicate(value).predicate is not None
    assert {p.code for p in check(document)} <= {"unknown-field"}


@given(odd_predicates)
def test_a_manifest_is_told_what_an_evaluation_would_say(value: Any) -> None:
    document = changed(feature(), "/gates/0/check", {"predicate": value})
    prefix = "/gates/0/check/predicate"

    in_manifest = {
        (p.code, p.path.removeprefix(prefix))
        for p in check(document)
        if p.path.startswith(f"{prefix}/")
    }

    alone = {(p.code, p.path) for p in read_predicate(value).problems}
    assert in_manifest == alone


@pytest.mark.parametrize(
    ("given_", "record"),
    [
        (
            {"kind": "artifact-exists", "artifact": "PLAN.md"},
            ArtifactExists(artifact="PLAN.md"),
        ),
        (
            {"kind": "config-equals", "key": "a.b", "equals": None},
            ConfigEquals(key="a.b", equals=None),
        ),
        (
            {
                "kind": "artifact-frontmatter-equals",
                "artifact": "A.md",
                "field": "f",
                "equals": [{"a": 1}],
            },
            FrontmatterEquals(artifact="A.md", field="f", equals=(pmap({"a": 1}),)),
        ),
        (
            {"kind": "command-exit-zero", "command": "true"},
            CommandExitZero(command="true", timeout_s=30),
        ),
        (
            {"kind": "command-exit-zero", "command": "-x", "timeout": 0.5},
            CommandExitZero(command="-x", timeout_s=0.5),
        ),
    ],
)
def test_each_kind_becomes_its_record(given_: Any, record: Any) -> None:
    assert read_predicate(json.dumps(given_)).predicate == record


COMMAND = {"kind": "command-exit-zero", "command": "true"}
EXISTS = {"kind": "artifact-exists"}


@pytest.mark.parametrize(
    ("value", "path", "code"),
    [
        ([], "", "wrong-type"),
        (None, "", "wrong-type"),
        ({}, "/kind", "missing-field"),
        ({"kind": ""}, "/kind", "empty-string"),
        ({"kind": "moon-phase"}, "/kind", "unknown-predicate"),
        (EXISTS, "/artifact", "missing-field"),
        ({**EXISTS, "artifact": ""}, "/artifact", "bad-format"),
        ({**EXISTS, "artifact": "."}, "/artifact", "bad-format"),
        ({**EXISTS, "artifact": ".."}, "/artifact", "bad-format"),
        ({**EXISTS, "artifact": "a/b"}, "/artifact", "bad-format"),
        ({**EXISTS, "artifact": "a\\b"}, "/artifact", "bad-format"),
        ({**EXISTS, "artifact": "a\0"}, "/artifact", "bad-format"),
        ({**EXISTS, "artifact": "a\n"}, "/artifact", "bad-format"),
        ({**EXISTS, "artifact": "\u00e9" * 128}, "/artifact", "bad-format"),
        ({**EXISTS, "artifact": ["a"]}, "/artifact", "wrong-type"),
        ({"kind": "config-equals", "key": "a"}, "/equals", "missing-field"),
        ({"kind": "config-equals", "equals": 1}, "/key", "missing-field"),
        ({**COMMAND, "command": " \n"}, "/command", "bad-format"),
        ({**COMMAND, "command": "a" * 4097}, "/command", "bad-format"),
        ({**COMMAND, "command": "a\0"}, "/command", "bad-format"),
        ({**COMMAND, "command": ["true"]}, "/command", "wrong-type"),
        ({**COMMAND, "command": "ls '${PHASE_DIR}'"}, "/command", "unexpanded-value"),
        ({**COMMAND, "timeout": 0}, "/timeout", "out-of-range"),
        ({**COMMAND, "timeout": -1}, "/timeout", "out-of-range"),
        ({**COMMAND, "timeout": 600.5}, "/timeout", "out-of-range"),
        ({**COMMAND, "timeout": True}, "/timeout", "wrong-type"),
        ({**COMMAND, "timeout": "5"}, "/timeout", "wrong-type"),
        ({**COMMAND, "timeout": None}, "/timeout", "wrong-type"),
    ],
)
def test_a_fault_is_named_at_its_place(value: Any, path: str, code: str) -> None:
    reading = read_predicate(value)

    assert reading.predicate is None
    assert [(p.path, p.code) for p in reading.faults] == [(path, code)]


@pytest.mark.parametrize("most", ["a" * 4096, "\u00e9" * 4096])
def test_the_longest_command_is_read(most: str) -> None:
    value = {"kind": "command-exit-zero", "command": most, "timeout": 600}

    assert read_predicate(value).predicate is not None


def test_a_field_that_is_not_known_is_a_notice_with_a_place() -> None:
    text = '{"kind": "artifact-exists", "artifact": "A.md",\n  "artefact": "B.md"}'

    reading = read_predicate(text)

    assert reading.predicate == ArtifactExists(artifact="A.md")
    (notice,) = reading.problems
    assert (notice.code, notice.path) == ("unknown-field", "/artefact")
    assert (notice.line, notice.column) == (2, 15)
    assert notice.hint == 'Did you mean "artifact"?'


def test_what_is_no_json_has_the_place_of_its_fault() -> None:
    (problem,) = read_predicate('{"kind": }').faults

    assert problem.line == 1


# Equality.


@given(frozen, frozen)
def test_equality_is_that_of_json(one: Any, other: Any) -> None:
    assert equal(one, one)
    assert equal(one, other) is equal(other, one)


@given(json_values)
def test_numbers_are_one_by_value_and_booleans_are_no_numbers(value: Any) -> None:
    assert equal(freeze_json([value, 1]), freeze_json([value, 1.0]))
    assert not equal(
        freeze_json({"a": value, "b": 1}), freeze_json({"a": value, "b": True})
    )


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (1, True),
        (0, False),
        (0, None),
        ("", None),
        ("1", 1),
        ([], {}),
        ([1], [1, 2]),
        ({"a": 1}, {"b": 1}),
        ({"a": 1}, {"a": 1, "b": 1}),
        ([True], [1]),
        ([[]], [{}]),
    ],
)
def test_these_are_not_one(one: Any, other: Any) -> None:
    assert not equal(freeze_json(one), freeze_json(other))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "null"),
        (True, "true"),
        (1.0, "1"),
        (1.5, "1.5"),
        (1e300, "1e+300"),
        ("x", "x"),
        ({"b": [1, "x"], "a": None}, '{"a":null,"b":[1,"x"]}'),
        (["\ud800"], ""),
    ],
)
def test_a_value_has_a_text_that_stands_for_it(value: Any, text: str) -> None:
    assert form(freeze_json(value)) == text


# Answers: whatever is found, there is one, and it is JSON.


def _is_an_answer(answer: Answer) -> bool:
    wire = answer.to_wire()
    json.dumps(wire)
    return (
        wire["block"] is (wire["result"] != "pass")
        and all(char == " " or safe(char) == char for char in answer.message)
        and "kind" in answer.details
    )


@given(texts, artifacts)
def test_looking_for_an_artefact_always_has_an_answer(
    name: str, found: Artifact
) -> None:
    answer = artifact_exists(ArtifactExists(artifact=name), found)

    assert _is_an_answer(answer)
    expected = Result.PASS if found.files else Result.FAIL
    assert answer.result is (
        expected if found.reason is None else Result.COULD_NOT_CHECK
    )


@given(texts, frozen, artifacts, st.none() | front_matters)
def test_front_matter_always_has_an_answer(
    name: str, wanted: Any, found: Artifact, read: FrontMatter | None
) -> None:
    asked = FrontmatterEquals(artifact=name, field="f", equals=wanted)

    answer = frontmatter_equals(asked, found, read)

    assert _is_an_answer(answer)
    if answer.result is Result.PASS:
        assert read is not None
        assert len(found.files) == 1
        assert "f" in read.fields


@given(texts, frozen, st.sampled_from(Origin), frozen, reasons)
def test_a_configuration_value_always_has_an_answer(
    key: str, wanted: Any, origin: Origin, value: Any, reason: str | None
) -> None:
    found = Effective(key=key, origin=origin, value=value, reason=reason)

    answer = config_equals(ConfigEquals(key=key, equals=wanted), found)

    assert _is_an_answer(answer)
    passes = answer.result is Result.PASS
    assert passes is (found.found and equal(value, wanted))


@given(st.none() | st.integers(-300, 300), st.none() | texts, reasons, st.text())
def test_a_command_always_has_an_answer(
    code: int | None, signal: str | None, reason: str | None, output: str
) -> None:
    ended = Ended(code=code, signal=signal, reason=reason, output=output)
    asked = CommandExitZero(command="c", timeout_s=1)

    answer = command_exit_zero(asked, ended)

    assert _is_an_answer(answer)
    passes = code == 0 and signal is None and reason is None
    assert (answer.result is Result.PASS) is passes
    if reason is not None or (code is None and signal is None):
        assert answer.result is Result.COULD_NOT_CHECK


@given(scalars, texts)
def test_a_field_equals_itself_quoted_or_not(value: Any, written: str) -> None:
    """What is compared is the value, or else how it is written."""
    asked = FrontmatterEquals(artifact="A.md", field="f", equals=value)
    here = Artifact(files=("A.md",))
    for held in (FieldValue(value), FieldValue(written, form(value))):
        fields = FrontMatter(fields=pmap({"f": held}))
        assert frontmatter_equals(asked, here, fields).result is Result.PASS


@pytest.mark.parametrize(
    ("held", "wanted", "result"),
    [
        (FieldValue(0, "0"), 0, Result.PASS),
        (FieldValue("0", "0"), 0, Result.PASS),
        (FieldValue(0, "0"), "0", Result.PASS),
        (FieldValue(1.0, "1.0"), "1.0", Result.PASS),
        (FieldValue(1.0, "1.0"), 1, Result.PASS),
        (FieldValue("true", "true"), True, Result.PASS),
        (FieldValue(None, ""), "", Result.PASS),
        (FieldValue((1, "x")), (1, "x"), Result.PASS),
        (FieldValue((1, "x")), '[1,"x"]', Result.PASS),
        (FieldValue(value=False, text="false"), 0, Result.FAIL),
        (FieldValue("yes", "yes"), True, Result.FAIL),
        (FieldValue(None, ""), 0, Result.FAIL),
        (FieldValue("0 ", "0 "), 0, Result.FAIL),
    ],
)
def test_how_a_field_is_compared(held: FieldValue, wanted: Any, result: Result) -> None:
    asked = FrontmatterEquals(artifact="A.md", field="f", equals=wanted)
    read = FrontMatter(fields=pmap({"f": held}))

    answer = frontmatter_equals(asked, Artifact(files=("A.md",)), read)

    assert answer.result is result


SLICE = OwnedSlice(
    owner=CapabilityId("o"), type="boolean", default=True, description="-"
)


@pytest.mark.parametrize(
    ("layers", "wanted", "result", "message"),
    [
        (ConfigLayers(), True, Result.PASS, "a.b is true by default"),
        (
            ConfigLayers(project={"a": {"b": False}}),
            True,
            Result.FAIL,
            "a.b is false in .planning/config.json, not true",
        ),
        (
            ConfigLayers(project={"a": {"b": "true"}}),
            True,
            Result.FAIL,
            'a.b is "true" in .planning/config.json, not true',
        ),
        (
            ConfigLayers(explicit={"a": {"b": [1]}}),
            True,
            Result.FAIL,
            "a.b is [1] in the explicit configuration, not true",
        ),
        (
            ConfigLayers(explicit={"a": {"b": None}}),
            None,
            Result.PASS,
            "a.b is null in the explicit configuration",
        ),
        (
            ConfigLayers(project=7),
            True,
            Result.COULD_NOT_CHECK,
            (
                "could not look up a.b: .planning/config.json cannot be read "
                "(it holds JSON, but not one object)"
            ),
        ),
    ],
)
def test_what_is_said_about_a_configuration_value(
    layers: ConfigLayers, wanted: Any, result: Result, message: str
) -> None:
    found = lookup("a.b", layers, {"a.b": SLICE})

    answer = config_equals(ConfigEquals(key="a.b", equals=wanted), found)

    assert (answer.result, answer.message) == (result, message)


def test_a_key_that_is_set_nowhere_equals_nothing() -> None:
    found = lookup("a.c", ConfigLayers(), {})

    answer = config_equals(ConfigEquals(key="a.c", equals=None), found)

    assert answer.result is Result.FAIL
    assert answer.message == "a.c is set nowhere, want null"


def test_output_of_a_command_cannot_speak_to_a_terminal() -> None:
    asked = CommandExitZero(command="c", timeout_s=1)

    answer = command_exit_zero(asked, Ended(code=2, output="\x1b[31mno\r\n`x`"))

    assert answer.message == "the command ended with 2: [31mno x"
    assert answer.details["output"] == "\x1b[31mno\r\n`x`"


def test_could_not_check_blocks_whoever_reads_no_more() -> None:
    answer = could_not_check(None, "why", problems=())

    assert answer.to_wire() == {
        "result": "could-not-check",
        "block": True,
        "message": "why",
        "details": {"kind": None, "problems": []},
    }
