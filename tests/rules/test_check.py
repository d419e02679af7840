"""How the rules work together: all faults at once, in order, none without end."""

from __future__ import annotations

import json
from typing import Any

import pytest

from msdcomp.diagnostics import Problem, Severity, errors
from msdcomp.rules import check
from msdcomp.rules._order import in_document_order
from msdcomp.rules._words import label
from tests.documents import MISSING, changed, feature, reviewer, runtime


@pytest.mark.parametrize("document", [feature(), runtime(), reviewer()])
def test_a_healthy_manifest_has_no_problem(document: dict[str, Any]) -> None:
    assert check(document) == ()
    assert check(document, document["id"]) == ()


@pytest.mark.parametrize("value", [None, True, 1, 1.5, "x", [], [{}]])
def test_what_is_no_object_has_one_problem(value: object) -> None:
    (problem,) = check(value, "x")

    assert (problem.code, problem.path) == ("not-an-object", "")
    assert problem.message.startswith("the manifest must be an object, got ")


def test_every_fault_of_a_document_is_reported_in_document_order() -> None:
    document = {
        "gates": [{"point": "plan:pre", "zz": 1, "blocking": "yes"}],
        "id": "Tides",
        "role": "feature",
        "skills": [1],
        "steps": {},
        "tier": "core",
        "config": {"b": {"type": "number", "default": "1", "description": "x"}},
    }

    places = [problem.path for problem in check(document, "tides")]

    assert places == [
        # What is missing stands before the content of the object that lacks it.
        *("/version", "/title", "/description", "/requires"),
        *("/runtimeCompat", "/agents", "/contributions"),
        *("/gates/0/check", "/gates/0/onError", "/gates/0/zz", "/gates/0/blocking"),
        *("/id", "/skills/0", "/steps", "/config/b/default"),
    ]


@pytest.mark.parametrize("role", ["agent", None, 7, MISSING])
def test_without_a_role_every_section_is_checked_by_its_own_shape(role: object) -> None:
    document = feature()
    document |= {"runtime": {"supportTier": 9}, "reviewer": 5, "hooks": [1]}
    document["gates"][0]["blocking"] = 1
    document = changed(document, "/role", role)

    places = {problem.path for problem in errors(check(document))}

    assert places >= {
        *("/role", "/runtime/supportTier", "/runtime/configHome"),
        *("/reviewer", "/hooks/0", "/gates/0/blocking"),
    }


def test_a_missing_section_is_no_fault_when_the_role_is_not_known() -> None:
    document = changed(reviewer(), "/role", "revewer")

    (problem,) = check(document)

    assert (problem.path, problem.hint) == ("/role", 'Did you mean "reviewer"?')


def test_at_most_ten_unknown_fields_are_listed_and_the_documented_ones_first() -> None:
    document = runtime()
    document |= {f"root{number}": 1 for number in range(4)}
    behaviors = {f"zz{number}": 1 for number in range(8)} | {"reviewerCli": True}
    document["runtime"]["hostBehaviors"] = behaviors

    found = check(document)

    paths = [problem.path for problem in found]
    assert paths == [
        # The sum stands at the object that the first field left out belongs to.
        "",
        *(f"/runtime/hostBehaviors/zz{number}" for number in range(8)),
        "/runtime/hostBehaviors/reviewerCli",
        *("/root0", "/root1"),
    ]
    assert found[0].code == "unknown-fields"
    assert found[0].message == "2 more unknown fields are ignored"
    assert all(problem.severity is Severity.WARNING for problem in found)


def test_one_unknown_field_left_out_is_summed_up_in_the_singular() -> None:
    document = reviewer()
    document["reviewer"] |= {f"zz{number}": 1 for number in range(11)}

    found = check(document)

    assert found[0].path == "/reviewer"
    assert found[0].message == "1 more unknown field is ignored"


@pytest.mark.parametrize(
    ("key", "shown"),
    [
        ("zz\x1b[31m", '"zz [31m"'),
        ("z`z\u202e", '"zz"'),
        ("z" * 500, f'"{"z" * 60}"'),
        ("", '""'),
    ],
)
def test_the_text_of_an_unknown_key_is_made_safe(key: str, shown: str) -> None:
    document = reviewer()
    document["reviewer"][key] = 1

    (problem,) = check(document)

    assert problem.message == f"{shown} is not a field of reviewer and is ignored"


def test_a_long_value_is_cut_and_shown_without_what_cannot_be_seen() -> None:
    (problem,) = errors(check(changed(feature(), "/tier", "\u202ex\n" + "y" * 500)))

    expected = 'tier must be "core", "standard" or "full", got "\\u202ex\\n'
    assert problem.message == f'{expected}{"y" * 57}..."'


def test_at_most_one_suggestion_is_made() -> None:
    for problem in check(changed(feature(), "/steps/0/point", "plan:pro")):
        assert (problem.hint or "").count("Did you mean") == 1


def test_a_hostile_number_of_faults_is_cut_short() -> None:
    document = feature()
    document["steps"] = [{}] * 5000
    document["skills"] = [None] * 5000

    found = check(document)

    assert len(found) == 1001
    assert found[-1].code == "too-many-problems"
    assert found[-1].message == "the manifest has more than 1000 faults"


@pytest.mark.parametrize(
    "document",
    [
        changed(feature(), "/config", {f"k{n}": {f"z{n}": 1} for n in range(5000)}),
        changed(feature(), "/runtimeCompat/supported", ["*", *[None] * 5000]),
        changed(reviewer(), "/reviewer/flags", ["--a"] * 5000),
        feature() | {f"zz{number}": 1 for number in range(5000)},
    ],
    ids=["config", "runtimes", "repeated", "unknown"],
)
def test_no_kind_of_fault_floods_the_report(document: dict[str, Any]) -> None:
    assert 0 < len(check(document)) <= 1012


def test_a_slip_in_the_name_of_the_whole_section_is_named() -> None:
    text = json.dumps(feature()).replace('"contributions"', '"Contribution"')

    missing, unknown = check(json.loads(text))

    assert missing.message == "contributions is missing; expected an array of objects"
    assert unknown.path == "/Contribution"
    assert unknown.hint == 'Did you mean "contributions"?'


@pytest.mark.parametrize(
    "name", ["author", "homepage", "repository", "license", "keywords", "$schema"]
)
@pytest.mark.parametrize("value", [None, True, 0, 1.5])
def test_descriptive_metadata_of_the_wrong_type_is_only_reported(
    name: str, value: object
) -> None:
    (problem,) = check(feature() | {name: value})

    assert problem.code == "odd-type"
    assert problem.severity is Severity.WARNING


def test_a_place_that_is_not_there_comes_before_what_is() -> None:
    document = {"a": [1], "b": {"c": 1}}
    paths = ["/b/c", "/b/none", "/b", "/a/0", "/a/9", "/a/x", "/a/0/z", "/none/0", ""]
    problems = [Problem(code="bad-id", path=path, message="m") for path in paths]

    ordered = [problem.path for problem in in_document_order(document, problems)]

    assert ordered == [
        *("", "/none/0", "/a/9", "/a/x", "/a/0", "/a/0/z"),
        *("/b", "/b/none", "/b/c"),
    ]


def test_places_have_readable_names() -> None:
    paths = ("", "/tier", "/steps/0", "/config/a~1b/default", "/config/", "/0")

    assert [label(path) for path in paths] == [
        *("the manifest", "tier", "steps[0]", "default", '""', "0")
    ]


def test_a_dunder_proto_key_is_an_ordinary_unknown_field() -> None:
    (problem,) = check(feature(__proto__={"role": "runtime"}))

    assert (problem.code, problem.path) == ("unknown-field", "/__proto__")
