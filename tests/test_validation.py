"""Everything that can be said about one manifest by itself."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given

from msdcomp.candidate import Candidate, Consent, Scope
from msdcomp.diagnostics import Problem, Severity
from msdcomp.fold import compose
from msdcomp.host import Host, HostContract
from msdcomp.registry import Registry
from msdcomp.validation import validate
from tests.overlays import Plan, candidates, feature, gate, plan_lists, said

CONTRACT = HostContract()
FILE = ".msd/capabilities/own/capability.json"


def checked(document: Any, **fields: Any) -> tuple[Problem, ...]:
    text = json.dumps(document, indent=1)
    return validate(Candidate.read(text, "own", **fields), CONTRACT)


def own(**fields: Any) -> dict[str, Any]:
    return feature("own", **fields)


def test_a_healthy_manifest_has_nothing_to_report() -> None:
    assert checked(own(contributions=[said("plan:pre")])) == ()


def test_what_cannot_be_read_is_one_problem() -> None:
    candidate = Candidate(folder="own", unreadable="no such file")

    assert validate(candidate, CONTRACT) == (
        Problem(
            code="unreadable",
            message="cannot be read: no such file",
            hint="Put a regular file of at most 8 MiB there.",
            file=FILE,
        ),
    )


@pytest.mark.parametrize(
    ("document", "code", "path", "severity"),
    [
        (own(title=""), "empty-string", "/title", Severity.ERROR),
        (own(unheard=1), "unknown-field", "/unheard", Severity.WARNING),
        (
            own(contributions=[said("plan:pre", into="nobody")]),
            "role-not-published",
            "/contributions/0/into",
            Severity.ERROR,
        ),
        (
            own(gates=[gate("verify:post")]),
            "kind-not-dispatched",
            "/gates/0/point",
            Severity.ERROR,
        ),
        (
            own(contributions=[said("plan:pre", path="gone.md")]),
            "fragment-unreadable",
            "/contributions/0/fragment/path",
            Severity.ERROR,
        ),
        (own(engines={"msd": "1.x.2"}), "bad-range", "/engines/msd", Severity.ERROR),
    ],
)
def test_a_fault_or_notice_is_reported_with_its_place(
    document: dict[str, Any], code: str, path: str, severity: Severity
) -> None:
    (problem,) = checked(document)

    assert (problem.path, problem.severity) == (path, severity)
    assert problem.code == code
    assert problem.file == FILE
    assert problem.line is not None


@pytest.mark.parametrize(
    "candidate",
    [
        Candidate(folder="", path="/dev/zero", unreadable="not a regular file"),
        Candidate.read('{"id": ', "own"),
        Candidate.read(json.dumps(own(title="", unheard=1)), "own"),
        Candidate.read(json.dumps(own(gates=[gate("verify:post")])), "own"),
        Candidate.read(feature("msd-own")),
    ],
)
def test_problems_name_the_file_that_was_given(candidate: Candidate) -> None:
    found = validate(candidate, CONTRACT, file="draft.json")

    assert found
    assert {problem.file for problem in found} == {"draft.json"}
    assert [problem.code for problem in found] == [
        problem.code for problem in validate(candidate, CONTRACT)
    ]


def test_a_range_that_does_not_parse_is_an_error_in_words() -> None:
    (problem,) = checked(own(engines={"msd": "1.x.2"}))

    assert problem.message == '"1.x.2" is no npm range, so no host satisfies it'
    assert problem.hint == "Write a range such as >=1.6.0 <3.0.0."


def test_a_range_that_this_host_is_outside_of_is_fine() -> None:
    assert checked(own(engines={"msd": ">=99.0.0"})) == ()


def test_problems_come_in_document_order() -> None:
    document = own(
        engines={"msd": "1.x.2"},
        contributions=[said("plan:pre", path="gone.md", into="nobody")],
        gates=[gate("verify:post")],
    )

    found = checked(document)

    lines = [problem.line for problem in found]
    assert lines == sorted(lines, key=lambda line: line or 0)
    assert len(found) == 4
    assert found[-1].code == "bad-range"


@pytest.mark.parametrize("first_party", [True, False])
def test_a_reserved_id_is_the_first_partys_own(first_party: bool) -> None:
    candidate = Candidate.read(feature("msd-own"))

    found = validate(candidate, CONTRACT, first_party=first_party)

    assert [problem.code for problem in found] == (
        [] if first_party else ["reserved-prefix"]
    )


def test_a_reserved_id_is_reported_beside_other_faults() -> None:
    found = validate(Candidate.read("{", "anthropic-x"), CONTRACT)

    assert [problem.code for problem in found] == ["reserved-prefix", "json-syntax"]
    assert found[0].message == (
        'the id "anthropic-x" begins with a prefix that is kept for the host\'s own '
        "capabilities"
    )


@given(plan_lists)
def test_what_validates_is_never_skipped_for_itself(plans: list[Plan]) -> None:
    """Only the company of others, a store or the host's version may still stop it."""
    host = Host()
    for candidate in candidates(plans):
        faults = [
            problem
            for problem in validate(candidate, CONTRACT)
            if problem.severity is Severity.ERROR
        ]
        agreed = candidate.consent is Consent.MATCHES
        if not faults and (agreed or candidate.scope is Scope.GLOBAL):
            alone = compose(Registry(), [candidate], host)
            for (warning,) in alone.warnings.values():
                assert warning.code in {
                    "invariant",
                    "pending",
                    "linked-folder",
                    "incompatible-engine",
                }
