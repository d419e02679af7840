"""Verdicts on single manifests, against the reference.

Where the reference decides something for a whole registry that msdcomp decides with the
manifest (configuration slices, config format), `build_valid` says what is expected.
"""

from __future__ import annotations

import copy
import functools
import json
from typing import Any

from msdcomp.diagnostics import Problem
from msdcomp.host import HostContract
from msdcomp.rules import check_contract
from msdcomp.vocabulary import RESERVED_NAMES
from msdcomp.wire import Decoded, decode, encode

CONTRACT = HostContract()

#: Part of a record's name -> whether it is valid here, and why its verdict is another.
DIFFERENT_VERDICT = {
    "self-cycle:": (
        True,
        (
            "an ordering cycle is found when a registry is built from it, not "
            "in the manifest (design, section 3)"
        ),
    ),
    "=9007199254740993": (
        False,
        (
            "the text of a manifest is strict JSON, which has no integers beyond 2^53 "
            "(design, section 4)"
        ),
    ),
}

#: (place changed, place reported, why): a change that makes something else wrong.
ELSEWHERE = (
    ("/role", "/", "each field that the other role needs or refuses is named"),
    ("/skills", "/steps/", "a step dispatches to a stem that is no longer owned"),
    ("/agents", "/steps/", "a step dispatches to a stem that is no longer owned"),
    ("/config", "/activationKey", "the key it names is no longer declared"),
    ("/gates/0/check", "/blocking/", "the records vary both"),
    ("/steps/0/pointFrom", "/config/", "the records vary the slice it names"),
    ("/runtime/extendedHookEvents", "/runtime/hookEvents", "the records vary both"),
    ("/config/", "/default/", "the default no longer fits the type or the values"),
    ("/config/", "/values/", "the type asks for values"),
    ("/config/", "/type/", "what an unknown type asks for is not known"),
    ("/runtime/configHome", "/parent/", "the kind asks for it"),
    ("/runtime/configHome", "/runtime/localConfigDir", "the kind decides about it"),
    ("/runtime/installSurface", "/runtime/", "hooks and format have to fit it"),
    ("/runtime/hookEvents", "/runtime/extendedHookEvents", "the events have to fit it"),
    ("/reviewer/transport", "/reviewer/invoke", "the transport selects its shape"),
    ("/reviewer/probe/kind", "/reviewer/probe/", "the kind selects the fields"),
    (
        "/reviewer/invoke/outputChannel",
        "/reviewer/invoke/outputArg",
        "they go together",
    ),
    ("/reviewer/effortConfigKey", "/reviewer/defaultEffort", "they go together"),
    ("/reviewer/defaultEffort", "/reviewer/effortConfigKey", "they go together"),
)

#: Most unknown fields listed, and the one that sums up the rest. The reference lists as
#: many for each object; the design has one list for a capability.
MOST_NOTICES = 11


@functools.cache
def _decode_text(text: str, folder: str) -> Decoded:
    return decode(text, folder)


def _decoded(record: dict[str, Any]) -> Decoded:
    # Every test looks at the same thousands of results.
    return _decode_text(json.dumps(record["manifest"]), record["folder"])


def _expected(record: dict[str, Any]) -> bool:
    for part, (valid, _) in DIFFERENT_VERDICT.items():
        if part in record["name"]:
            return valid
    return bool(record["valid"]) and record["build_valid"] is not False


def _touches(touched: str, problem: Problem) -> bool:
    path = problem.path
    if path == touched or path.startswith(f"{touched}/"):
        return True
    if touched.startswith(f"{path}/"):
        return True
    return any(
        touched.startswith(place) and reported in f"{path}/"
        for place, reported, _ in ELSEWHERE
    )


def test_a_manifest_is_valid_exactly_when_the_reference_says_so(
    manifest_chunk: list[dict[str, Any]],
) -> None:
    wrong = []
    for record in manifest_chunk:
        decoded = _decoded(record)
        if (decoded.manifest is not None) is not _expected(record):
            messages = [f"{p.path}: {p.message}" for p in decoded.problems]
            wrong.append((record["name"], record["codes"], messages))

    assert wrong == []


def test_a_fault_is_reported_where_the_manifest_was_changed(
    manifest_chunk: list[dict[str, Any]],
) -> None:
    wrong = []
    for record in manifest_chunk:
        problems = _decoded(record).problems
        if problems and not any(_touches(record["touched"], p) for p in problems):
            places = [problem.path for problem in problems]
            wrong.append((record["name"], record["touched"], places))

    assert wrong == []


def test_a_mapping_is_judged_like_its_text_and_left_as_it_was(
    manifest_chunk: list[dict[str, Any]],
) -> None:
    for record in manifest_chunk[::7]:
        value = record["manifest"]
        if not isinstance(value, dict):
            continue
        before = copy.deepcopy(value)
        from_mapping = decode(value, record["folder"])
        from_text = _decoded(record)

        assert value == before
        assert from_mapping.manifest == from_text.manifest
        assert [(p.code, p.path) for p in from_mapping.problems] == [
            (p.code, p.path) for p in from_text.problems
        ]


def test_what_is_written_reads_back_as_the_same_manifest(
    manifest_chunk: list[dict[str, Any]],
) -> None:
    for record in manifest_chunk:
        manifest = _decoded(record).manifest
        if manifest is not None:
            assert decode(encode(manifest), record["folder"]).manifest == manifest


def test_the_host_contract_is_asked_of_valid_manifests(
    manifest_chunk: list[dict[str, Any]],
) -> None:
    wrong = []
    for record in manifest_chunk:
        manifest = _decoded(record).manifest
        if manifest is None or record["contract_valid"] is None:
            continue
        problems = check_contract(manifest, CONTRACT)
        codes = {f"contract-{problem.code}" for problem in problems}
        if codes != set(record.get("contract_codes", ())):
            wrong.append((record["name"], record.get("contract_codes"), codes))

    assert wrong == []


def _counted(problem: Problem) -> bool:
    """Tell whether the reference has a notice for the same thing."""
    if problem.code not in {"unknown-field", "unknown-fields", "removed-field"}:
        return False
    parent, _, key = problem.path.rpartition("/")
    if problem.code == "unknown-fields":
        parent = problem.path
    elif key in RESERVED_NAMES:
        return False
    return parent in {"/reviewer", "/reviewer/probe", "/runtime/hostBehaviors"}


def _notices(record: dict[str, Any]) -> int:
    """Return the number of notices the design asks for."""
    behaviors = record["manifest"].get("runtime", {}).get("hostBehaviors", {})
    removed = int("reviewerCli" in behaviors)
    unknown: int = record["warnings"] - removed
    return min(unknown, MOST_NOTICES) + removed


def test_valid_manifests_get_the_notices_of_the_reference(
    manifest_chunk: list[dict[str, Any]],
) -> None:
    wrong = []
    for record in manifest_chunk:
        decoded = _decoded(record)
        if decoded.manifest is None or not record["warnings"]:
            counted = [p.path for p in decoded.diagnostics if _counted(p)]
            if decoded.manifest is not None and counted:
                wrong.append((record["name"], 0, counted))
            continue
        counted = [p.path for p in decoded.diagnostics if _counted(p)]
        if len(counted) != _notices(record):
            wrong.append((record["name"], _notices(record), counted))

    assert wrong == []
