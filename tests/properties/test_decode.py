"""Laws of reading a manifest: total, pure, and the same whichever way it came in."""

from __future__ import annotations

import copy
import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from msdcomp import jsontext
from msdcomp.codes import CODES
from msdcomp.diagnostics import Problem, Severity
from msdcomp.jsonvalue import adopt
from msdcomp.rules import check
from msdcomp.vocabulary import POINTS
from msdcomp.wire import Decoded, decode, encode
from tests.strategies import broken, json_values, manifests, places


def _text(value: Any) -> str:
    return json.dumps(value)


def _found(decoded: Decoded) -> tuple[Problem, ...]:
    return decoded.problems + decoded.diagnostics


@given(manifests)
def test_a_valid_manifest_has_no_problems(document: dict[str, Any]) -> None:
    decoded = decode(_text(document), document["id"])

    assert decoded.problems == ()
    assert decoded.manifest is not None
    assert decoded.manifest.id == document["id"]


@given(manifests)
def test_reading_what_was_written_gives_the_same_manifest(
    document: dict[str, Any],
) -> None:
    manifest = decode(_text(document), document["id"]).manifest
    assert manifest is not None

    again = decode(encode(manifest), document["id"]).manifest

    assert again == manifest
    assert json.loads(encode(manifest)) == document


@given(broken())
def test_a_broken_manifest_is_either_accepted_or_explained(document: Any) -> None:
    decoded = decode(_text(document))

    assert (decoded.manifest is None) is bool(decoded.problems)
    for problem in _found(decoded):
        assert problem.code in CODES
        assert problem.message
        assert problem.hint
        assert problem.line is not None
        assert problem.column is not None


@given(json_values)
def test_any_json_is_read_without_raising(value: Any) -> None:
    decoded = decode(_text(value), "x")

    assert decoded.is_object is isinstance(value, dict)
    assert decoded.manifest is None
    assert decoded.problems


@given(manifests, st.data())
def test_any_json_may_stand_at_any_place(
    document: dict[str, Any], data: st.DataObject
) -> None:
    *parents, last = data.draw(st.sampled_from(list(places(document))))
    place: Any = document
    for key in parents:
        place = place[key]
    place[last] = data.draw(json_values)

    decoded = decode(document)

    assert (decoded.manifest is None) is bool(decoded.problems)


@given(st.binary() | st.text())
def test_any_text_is_read_without_raising(data: bytes | str) -> None:
    decoded = decode(data)

    assert decoded.manifest is None
    assert decoded.problems


@given(broken())
def test_a_mapping_is_left_as_it_was_and_judged_like_its_text(document: Any) -> None:
    before = copy.deepcopy(document)

    decoded = decode(document)

    assert document == before
    from_text = decode(_text(document))
    assert decoded.manifest == from_text.manifest
    assert decoded.gates == from_text.gates
    assert [(p.code, p.path, p.message) for p in _found(decoded)] == [
        (p.code, p.path, p.message) for p in _found(from_text)
    ]


def _reversed(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _reversed(value[key]) for key in reversed(list(value))}
    if isinstance(value, list):
        return [_reversed(entry) for entry in value]
    return value


@given(broken())
def test_the_order_of_keys_only_changes_the_order_of_problems(document: Any) -> None:
    def told(value: Any) -> list[tuple[str, str, str]]:
        return sorted((p.code, p.path, p.message) for p in check(value))

    assert told(_reversed(document)) == told(document)


@given(broken())
def test_problems_come_in_the_order_of_the_text(document: Any) -> None:
    decoded = decode(json.dumps(document, indent=1))

    for group in (decoded.problems, decoded.diagnostics):
        where = [(problem.line, problem.column) for problem in group]
        assert where == sorted(where, key=lambda place: (place[0] or 0, place[1] or 0))


@given(broken())
def test_gates_at_known_points_are_found_whatever_else_is_wrong(document: Any) -> None:
    gates = document.get("gates")
    entries = gates if isinstance(gates, list) else []
    wanted = [
        entry["point"]
        for entry in entries
        if isinstance(entry, dict) and entry.get("point") in POINTS
    ]

    assert [gate.point for gate in decode(document).gates] == wanted


@given(json_values)
def test_canonical_text_is_stable(value: Any) -> None:
    parsed = jsontext.parse(_text(value))
    assert parsed.problems == ()

    document = jsontext.canonical(parsed.value)

    assert jsontext.canonical(jsontext.parse(document).value) == document
    assert jsontext.canonical(_reversed(parsed.value)) == document
    assert adopt(value).value == parsed.value


@given(broken())
def test_notices_never_refuse_and_errors_always_do(document: Any) -> None:
    problems = check(document)
    errors = [p for p in problems if p.severity is Severity.ERROR]

    assert (decode(document).manifest is None) is bool(errors)
