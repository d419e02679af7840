"""Candidates as an embedding host makes them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from msdcomp.candidate import Candidate, Consent, FragmentText, Scope
from msdcomp.diagnostics import Problem
from tests.overlays import feature


@pytest.mark.parametrize(
    ("data", "folder"),
    [
        (feature("own"), "own"),
        (json.dumps(feature("own")), "own"),
        (json.dumps(feature("own")).encode(), "own"),
        ({}, ""),
        ({"id": 7}, ""),
        ("{", ""),
    ],
)
def test_the_folder_is_by_default_the_id_it_declares(data: Any, folder: str) -> None:
    candidate = Candidate.read(data)

    assert candidate.folder == folder
    assert candidate.path == f".msd/capabilities/{folder}"
    assert candidate.key == ("global", folder)


def test_a_folder_that_is_given_has_to_match_the_id() -> None:
    candidate = Candidate.read(feature("own"), "other", scope=Scope.PROJECT)

    assert candidate.decoded is not None
    assert [p.code for p in candidate.decoded.problems] == ["id-folder-mismatch"]
    assert candidate.key == ("project", "other")


def test_fragments_are_given_as_text_and_consent_unless_it_is_denied() -> None:
    candidate = Candidate.read(feature("own"), fragments={"a.md": "From a."})

    assert candidate.fragments == {"a.md": FragmentText("From a.")}
    assert candidate.consent is Consent.MATCHES
    denied = Candidate.read(feature("own"), consent=Consent.NONE)
    assert denied.consent is Consent.NONE


def test_only_text_is_kept_to_place_problems_in() -> None:
    text = json.dumps(feature("own"), indent=1)
    problem = Problem(code="pending", path="/title", message="Something.")

    (placed,) = Candidate.read(text).placed([problem])
    (unplaced,) = Candidate.read(feature("own")).placed([problem])

    assert placed.file == unplaced.file == ".msd/capabilities/own/capability.json"
    assert placed.line == text[: text.index('"title"')].count("\n") + 1
    assert unplaced.line is None


def test_a_problem_that_knows_its_file_keeps_it() -> None:
    known = Problem(code="pending", message="Something.", file="elsewhere.json")
    candidate = Candidate.read(json.dumps(feature("own")))

    assert candidate.placed([known]) == (known,)


def test_where_there_is_no_problem_there_is_nothing_to_place() -> None:
    assert Candidate.read("{}", "own").placed(()) == ()
    assert Candidate(folder="own").placed([]) == ()
