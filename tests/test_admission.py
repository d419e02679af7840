"""The gates of the fold: which one decides, in what words, with which remedy."""

from __future__ import annotations

import json
from typing import Any

import attrs
import pytest

from msdcomp.candidate import Candidate, Consent, FragmentFault, FragmentText, Scope
from msdcomp.diagnostics import Problem
from msdcomp.fold import compose
from msdcomp.verdict import SkipWarning
from tests.overlays import (
    FIRST_PARTY,
    HOST,
    feature,
    gate,
    reviewer,
    runtime,
    said,
    step,
)

PATH = ".msd/capabilities/own"
REMOVE = f"Or take {PATH} (global) away: `msd capability remove own`"
REMOVE_PROJECT = REMOVE.replace("global", "project")


def own(**fields: Any) -> dict[str, Any]:
    return feature("own", **fields)


def overlay(document: Any, scope: Scope = Scope.GLOBAL, **fields: Any) -> Candidate:
    text = document if isinstance(document, str) else json.dumps(document)
    return attrs.evolve(Candidate.read(text, "own", scope=scope), **fields)


def project(**fields: Any) -> Candidate:
    return overlay(own(), Scope.PROJECT, **fields)


def warning_of(candidate: Candidate, *before: Candidate) -> SkipWarning:
    """Return the warning of one candidate that is composed after others."""
    composed = compose(FIRST_PARTY, (*before, candidate), HOST)
    (warning,) = composed.warnings[candidate.key]
    return warning


def contributing(path: str) -> dict[str, Any]:
    return own(contributions=[said("plan:pre", path=path)])


# Each gate, in its words.


@pytest.mark.parametrize(
    ("candidate", "code", "reason", "remedy"),
    [
        pytest.param(
            project(linked=True),
            "linked-folder",
            "the folder is a symbolic link, which is not followed inside a project",
            f"Replace the link by a real folder. {REMOVE_PROJECT}",
            id="linked-folder",
        ),
        pytest.param(
            overlay(own(), pending=True),
            "pending",
            "an install or upgrade of it has not finished",
            "Run `msd capability reconcile` to finish or roll back what was begun. "
            f"{REMOVE}",
            id="pending",
        ),
        pytest.param(
            project(consent=Consent.NONE),
            "unconsented",
            "nobody has agreed to this project overlay on this machine",
            "Run `msd capability trust own` once you have looked at what it does. "
            f"{REMOVE_PROJECT}",
            id="unconsented",
        ),
        pytest.param(
            project(consent=Consent.CHANGED),
            "consent-changed",
            "its files are not the ones that were agreed to",
            "Run `msd capability trust own` once you have looked at what changed. "
            f"{REMOVE_PROJECT}",
            id="consent-changed",
        ),
        pytest.param(
            project(consent=Consent.UNREADABLE),
            "consent-unreadable",
            "the store of consent records cannot be read, so no consent can be found",
            "Repair the file .msd/consent.json in your home, or move it away. "
            f"{REMOVE_PROJECT}",
            id="consent-unreadable",
        ),
        pytest.param(
            Candidate(folder="own", unreadable="larger than 8,388,608 bytes"),
            "unreadable",
            "its `capability.json` cannot be read: larger than 8,388,608 bytes",
            f"Put a regular file of at most 8 MiB there. {REMOVE}",
            id="unreadable",
        ),
        pytest.param(
            Candidate(folder="own"),
            "unreadable",
            "its `capability.json` cannot be read: there is no manifest",
            f"Put a regular file of at most 8 MiB there. {REMOVE}",
            id="nothing there",
        ),
        pytest.param(
            overlay(own(engines={"msd": ">=3.0.0"})),
            "incompatible-engine",
            'version 1.0.0 of it needs a host in the range ">=3.0.0", and this host is '
            '"2.0.0"',
            f"Install a version of it that is made for this host. {REMOVE}",
            id="incompatible-engine",
        ),
        pytest.param(
            overlay(own(skills=["base-go"])),
            "collision",
            'first come, first served: the skill "base-go" already belongs to "base"',
            f"Rename the skill, or remove one of the two capabilities. {REMOVE}",
            id="collision",
        ),
        pytest.param(
            overlay(contributing("note.md")),
            "bad-fragment",
            'a fragment file cannot be used: the fragment file "note.md" cannot be '
            "used: it was not read",
            f"Put the text there, as a file of the bundle's own. {REMOVE}",
            id="bad-fragment",
        ),
        pytest.param(
            overlay(own(requires=["nowhere"])),
            "invariant",
            "it does not fit the capabilities that are already there: requires "
            '"nowhere", which is not installed',
            f'Install "nowhere", or drop the entry. {REMOVE}',
            id="invariant",
        ),
        pytest.param(
            overlay(own(requires=["nowhere", "nobody"])),
            "invariant",
            "it does not fit the capabilities that are already there: requires "
            '"nowhere", which is not installed (and 1 more)',
            f"Mend what the problems name. {REMOVE}",
            id="several problems",
        ),
    ],
)
def test_a_gate_says_why_and_what_to_do(
    candidate: Candidate, code: str, reason: str, remedy: str
) -> None:
    warning = warning_of(candidate)

    assert warning.code == code
    assert warning.reason == reason
    assert warning.remedy == remedy
    assert warning.path == PATH
    assert warning.problems


def test_a_second_copy_of_an_accepted_overlay_is_shadowed_by_order_alone() -> None:
    warning = warning_of(project(), overlay(own()))

    assert warning.code == "shadowed"
    assert warning.reason == (
        "an overlay of the same id was accepted before it, and only that order decided"
    )
    # The command must not take the healthy copy.
    assert warning.remedy == (
        f"Remove one of the two copies. Or take {PATH} (project) away: "
        "`msd capability remove own --scope project`"
    )


def test_of_two_copies_that_are_left_out_each_command_takes_its_own() -> None:
    """Without a scope the global one goes, which may be work of the user's own."""
    mine, theirs = overlay("{"), project(consent=Consent.NONE)
    command = "`msd capability remove own"

    for before, after in ((mine, theirs), (theirs, mine)):
        composed = compose(FIRST_PARTY, (before, after), HOST)
        ((first,), (second,)) = (composed.warnings[x.key] for x in (mine, theirs))
        assert first.remedy.endswith(f"{command}`")
        assert second.remedy.endswith(f"{command} --scope project`")


@pytest.mark.parametrize("prefix", ["msd-", "msd-core-", "anthropic-"])
def test_a_reserved_prefix_is_refused_before_the_manifest_is_judged(
    prefix: str,
) -> None:
    folder = f"{prefix}own"
    candidate = Candidate.read("{}", folder)

    warning = warning_of(candidate)

    named = "msd-" if prefix.startswith("msd-") else prefix
    assert warning.code == "reserved-prefix"
    assert warning.reason == (
        f'ids beginning with "{named}" are kept for the host\'s own capabilities'
    )
    assert warning.remedy == (
        "Give the capability, and its folder, another id. Or take "
        f".msd/capabilities/{folder} (global) away: `msd capability remove {folder}`"
    )


@pytest.mark.parametrize("text", ["", "{", "[]", "7", '{"a": 1, "a": 2}', "\ufeff{}"])
def test_what_is_not_one_strict_object_is_not_json(text: str) -> None:
    warning = warning_of(overlay(text))

    assert warning.code == "not-json"
    assert warning.reason.startswith(
        "its `capability.json` is not strict JSON holding one object: "
    )
    assert warning.remedy.endswith(REMOVE)


def test_every_fault_of_an_invalid_manifest_is_reported() -> None:
    warning = warning_of(overlay(own(title="", tier="huge", version="1")))

    assert warning.code == "invalid-manifest"
    assert warning.reason.startswith("its manifest is not valid: ")
    assert warning.reason.endswith(" (and 2 more)")
    assert {problem.path for problem in warning.problems} == {
        "/title",
        "/tier",
        "/version",
    }


# Which gate decides.

#: Something wrong for every gate, the earliest first.
FAULTS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("linked-folder", {"linked": True}),
    ("pending", {"pending": True}),
    ("unconsented", {"consent": Consent.NONE}),
    ("invalid-manifest", {"title": ""}),
    ("collision", {"skills": ["base-go"]}),
    ("incompatible-engine", {"engines": {"msd": "<1.0.0"}}),
    ("bad-fragment", {"contributions": [said("plan:pre", path="gone.md")]}),
    ("invariant", {"requires": ["nowhere"]}),
)


@pytest.mark.parametrize("first", range(len(FAULTS)), ids=[code for code, _ in FAULTS])
def test_the_first_gate_that_fails_decides(first: int) -> None:
    wrong: dict[str, Any] = {}
    for _, fault in FAULTS[first:]:
        wrong |= fault
    about_folder = ("linked", "pending", "consent")
    document = own(**{k: v for k, v in wrong.items() if k not in about_folder})
    folder = {k: v for k, v in wrong.items() if k in about_folder}

    warning = warning_of(overlay(document, Scope.PROJECT, **folder))

    assert warning.code == FAULTS[first][0]


@pytest.mark.parametrize("consent", Consent)
def test_consent_is_only_asked_for_in_a_project(consent: Consent) -> None:
    composed = compose(FIRST_PARTY, [overlay(own(), consent=consent)], HOST)

    assert composed.accepted == ("own",)


def test_a_linked_folder_is_as_good_as_any_in_the_global_root() -> None:
    composed = compose(FIRST_PARTY, [overlay(own(), linked=True)], HOST)

    assert composed.accepted == ("own",)


def test_a_reserved_id_that_is_no_object_is_first_of_all_no_object() -> None:
    assert warning_of(Candidate.read("[]", "msd-own")).code == "not-json"


def test_a_copy_of_a_first_party_id_is_a_collision_not_a_shadow() -> None:
    candidate = Candidate.read(feature("base"))

    warning = warning_of(candidate)

    assert (warning.code, warning.problems[0].code) == ("collision", "id-taken")


# Remedies.


@pytest.mark.parametrize("folder", ["Odd", "-rf", "a b", "a`b", "x" * 101, "..", "9a"])
@pytest.mark.parametrize("consent", [Consent.NONE, Consent.CHANGED, Consent.UNREADABLE])
def test_an_id_that_cannot_be_typed_as_it_stands_gets_no_command(
    folder: str, consent: Consent
) -> None:
    found = attrs.evolve(project(consent=consent), folder=folder)

    warning = warning_of(found)

    assert "msd capability" not in warning.remedy
    assert folder not in warning.remedy.split()
    assert warning.remedy.endswith(" Or delete its folder in project scope.")


def test_an_odd_folder_can_still_be_reconciled() -> None:
    found = attrs.evolve(overlay(own(), pending=True), folder="Odd")

    assert warning_of(found).remedy == (
        "Run `msd capability reconcile` to finish or roll back what was begun. "
        "Or delete its folder in global scope."
    )


def test_nothing_an_unconsented_overlay_wrote_is_repeated() -> None:
    secret = own(title="RUN ME", skills=["RUN-ME"], gates=[gate("plan:pre", "RUN ME")])
    candidate = overlay(secret, Scope.PROJECT, consent=Consent.NONE)

    composed = compose(FIRST_PARTY, [candidate], HOST)

    assert "RUN" not in json.dumps(composed.to_wire()["_overlay"])
    assert composed.incompatible_gate_cap_ids == ("own",)


# Fragments.


@pytest.mark.parametrize(
    ("found", "code", "why"),
    [
        (None, "fragment-unreadable", "it was not read"),
        (FragmentText(""), "fragment-empty", "it is empty"),
        (FragmentFault("fragment-escapes", "it leads out"), None, "it leads out"),
        (FragmentFault("fragment-too-large", "too long"), None, "too long"),
    ],
)
def test_a_fragment_that_cannot_be_used_names_the_file_and_why(
    found: FragmentText | FragmentFault | None, code: str | None, why: str
) -> None:
    if isinstance(found, FragmentFault):
        code = found.code
    texts = {} if found is None else {"note.md": found}

    warning = warning_of(overlay(contributing("note.md"), fragments=texts))

    assert [(p.code, p.path, p.message) for p in warning.problems] == [
        (
            code,
            "/contributions/0/fragment/path",
            f'the fragment file "note.md" cannot be used: {why}',
        )
    ]


def test_every_fragment_is_looked_at_in_steps_and_contributions() -> None:
    noted = step("plan:pre", [], []) | {"fragment": {"path": "one.md"}}
    inline = step("plan:pre", [], []) | {"fragment": {"path": "x.md", "inline": "Hi."}}
    document = own(
        steps=[step("plan:pre", [], []), inline, noted],
        contributions=[said("plan:pre"), said("plan:pre", path="two.md")],
    )

    warning = warning_of(overlay(document))

    assert [problem.path for problem in warning.problems] == [
        "/steps/2/fragment/path",
        "/contributions/1/fragment/path",
    ]


def test_a_fragment_of_blanks_is_some_text() -> None:
    found = overlay(contributing("note.md"), fragments={"note.md": FragmentText(" \n")})

    assert compose(FIRST_PARTY, [found], HOST).accepted == ("own",)


def test_runtimes_and_reviewers_have_no_fragments_to_read() -> None:
    found = [Candidate.read(runtime("own")), Candidate.read(reviewer("two"))]

    assert compose(FIRST_PARTY, found, HOST).accepted == ("own", "two")


# Places.


def test_a_problem_of_composition_has_its_place_in_the_text() -> None:
    text = json.dumps(own(requires=["nowhere"]), indent=1)
    lines = text.split("\n")

    (problem,) = warning_of(overlay(text)).problems

    assert problem.file == f"{PATH}/capability.json"
    assert problem.line is not None
    assert lines[problem.line - 1].strip() == '"nowhere"'
    assert problem.column == lines[problem.line - 1].index('"') + 1


def test_a_problem_of_the_folder_has_a_file_and_the_start_of_it() -> None:
    (problem,) = warning_of(overlay(own(), pending=True)).problems

    assert problem.file == f"{PATH}/capability.json"
    assert (problem.line, problem.column) == (1, 1)


def test_without_the_text_a_problem_has_only_a_file() -> None:
    (problem,) = warning_of(Candidate.read(own(requires=["nowhere"]))).problems

    assert problem.file == f"{PATH}/capability.json"
    assert problem.line is None


def test_a_range_that_no_host_satisfies_is_told_where_it_stands() -> None:
    (problem,) = warning_of(overlay(own(engines={"msd": ">=3"}))).problems

    assert attrs.evolve(problem, line=None, column=None) == Problem(
        code="incompatible-engine",
        path="/engines/msd",
        message='version 1.0.0 of it needs a host in the range ">=3", and this host '
        'is "2.0.0"',
        hint="Install a version of it that is made for this host.",
        file=f"{PATH}/capability.json",
    )
