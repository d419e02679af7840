"""A hostile document costs no more than its own size, whatever it holds.

Counted is work, not time: what is looked at, and what is said.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from msdcomp import _jsonscan, jsontext, spelling
from msdcomp.diagnostics import Location, Problem, errors
from msdcomp.gates import GateCondition
from msdcomp.host import HostContract
from msdcomp.rules import check, check_contract, undispatched
from msdcomp.rules import declared as declared_module
from msdcomp.wire import decode
from tests.documents import changed, feature, runtime
from tests.strategies import broken, json_values

CONTRACT = HostContract()
STEP = feature()["steps"][0]
GATE = feature()["gates"][0]


@pytest.fixture
def compared(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the list of every option that a slip was looked for in."""
    seen: list[str] = []
    is_slip = spelling.is_slip

    def counted(one: str, other: str) -> bool:
        seen.append(other)
        return is_slip(one, other)

    monkeypatch.setattr(spelling, "is_slip", counted)
    return seen


# Suggestions.


def _names(count: int, letter: str) -> list[str]:
    return [f"{letter}{number:06}" for number in range(count)]


@pytest.mark.parametrize(("skills", "most"), [(256, 1001 * 256), (257, 0)])
def test_undeclared_skills_are_compared_up_to_a_bound(
    skills: int, most: int, compared: list[str]
) -> None:
    steps = [{**STEP, "ref": {"skill": name}} for name in _names(3000, "b")]

    found = check(feature(skills=_names(skills, "a"), steps=steps))

    assert len(found) == 1001
    assert len(compared) <= most


@pytest.mark.parametrize(("keys", "most"), [(256, 1001 * 256), (257, 0)])
def test_undeclared_conditions_are_compared_up_to_a_bound(
    keys: int, most: int, compared: list[str]
) -> None:
    slice_ = {"type": "boolean", "default": True, "description": "x"}
    document = feature(
        config=dict.fromkeys(_names(keys, "a"), slice_),
        gates=[{**GATE, "when": name} for name in _names(3000, "b")],
        steps=[],
        contributions=[],
    )
    manifest = decode(document).manifest
    assert manifest is not None

    found = check_contract(manifest, CONTRACT)

    assert len(found) == 1001
    assert found[-1].code == "too-many-problems"
    assert len(compared) <= most


def test_hooks_that_are_not_dispatched_are_listed_up_to_a_bound() -> None:
    steps = [{**STEP, "point": "ship:pre"}] * 3000
    manifest = decode(feature(steps=steps)).manifest
    assert manifest is not None

    found = undispatched(manifest, CONTRACT)

    assert len(found) == 1001
    assert found[-1].code == "too-many-problems"


# Faults.


def test_no_number_of_unknown_fields_hides_a_fault() -> None:
    steps = [{**STEP, "u": 1, "v": 2}] * 3000
    document = feature(steps=[*steps, {**STEP, "onError": "never"}])

    (problem,) = errors(check(document))

    assert problem.path == "/steps/3000/onError"


def test_a_late_event_of_another_dialect_is_found() -> None:
    document = runtime()
    document["runtime"] |= {"hookEvents": "claude"}
    document["runtime"]["extendedHookEvents"] = ["PreCompact"] * 200 + ["BeforeModel"]

    found = [problem.path for problem in errors(check(document))]

    assert found[-1:] == ["/runtime/extendedHookEvents/200"]


def test_events_of_another_dialect_are_listed_up_to_a_bound() -> None:
    document = runtime()
    document["runtime"]["extendedHookEvents"] = ["BeforeModel"] * 5000

    found = check(changed(document, "/runtime/hookEvents", "claude"))

    assert len(found) == 1001
    assert {problem.code for problem in found[:-1]} == {"dialect-mismatch"}


class Watched(list[Any]):
    """A list that knows how many of its entries were handed out one by one."""

    seen = 0

    def __iter__(self) -> Iterator[Any]:
        """Hand out and count."""
        for entry in super().__iter__():
            self.seen += 1
            yield entry


@pytest.mark.parametrize(
    ("path", "document"),
    [
        ("/steps", feature()),
        ("/gates", feature()),
        ("/contributions", feature()),
        ("/hooks", feature(hooks=[])),
        ("/commands", feature(commands=[])),
        ("/runtime/artifactLayout/global", runtime()),
    ],
)
def test_a_walk_ends_with_the_faults_that_are_told(
    path: str, document: dict[str, Any]
) -> None:
    entries = Watched([5] * 50_000)

    found = check(changed(document, path, entries))

    assert len(found) <= 1012
    # `set(map(type, ...))` and a walk across the fields look at every entry in passing.
    assert entries.seen <= 2 * 50_000 + 1001


@pytest.mark.parametrize(
    "text",
    [
        json.dumps({"steps": [{}] * 50_000}),
        json.dumps(feature(gates=[None] * 50_000)),
        json.dumps(feature(config={f"k{n}": {} for n in range(50_000)})),
        json.dumps(feature() | {f"u{n}": 1 for n in range(50_000)}),
        json.dumps({"config": {"k" * 10**6: {"values": [1] * 9000, "type": "enum"}}}),
        "{" + '"k":1,' * 50_000 + '"k":1}',
        '{"k":[' + "NaN," * 50_000 + "1]}",
        '{"' + "k" * 10**6 + '":[' + "NaN," * 9000 + "1]}",
    ],
    ids=["steps", "gates", "config", "unknown", "key", "repeated", "nan", "nan-key"],
)
def test_a_report_is_small_whatever_the_document(text: str) -> None:
    decoded = decode(text)

    found = decoded.problems + decoded.diagnostics
    assert 0 < len(found) <= 1012
    assert sum(len(p.path + p.message + (p.hint or "")) for p in found) < 10**6


# Gates that are read although the document is refused.


def test_repeated_keys_are_counted_once_for_all_gates() -> None:
    config = ",".join(['"k":{"type":"boolean"}'] * 3000)
    gates = ",".join(['{"point":"plan:pre","when":"k"}'] * 3000)

    found = decode(f'{{"config":{{{config}}},"gates":[{gates}]}}').gates

    assert len(found) == 3000
    assert {gate.condition for gate in found} == {GateCondition(key="k")}


def test_the_check_of_a_gate_is_written_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[object] = []

    def counted(value: object) -> bytes:
        calls.append(value)
        return b"{}"

    monkeypatch.setattr(declared_module, "canonical", counted)
    points = ",".join(['"point":"plan:pre"'] * 3000)

    assert len(decode(f'{{"gates":[{{"check":{{}},{points}}}]}}').gates) == 3000
    assert len(calls) == 1


# A large text is not read step by step.


def _told(problems: tuple[Problem, ...]) -> list[tuple[object, ...]]:
    return [(p.code, p.path, p.message, p.line, p.column) for p in problems]


def _twice(
    text: str, paths: list[str]
) -> tuple[list[tuple[object, ...]], list[tuple[object, ...]]]:
    """Return what is found step by step, and by passing over what is harmless."""
    found = []
    with pytest.MonkeyPatch.context() as patch:
        for large in (2**60, 0):
            patch.setattr(_jsonscan, "LARGE", large)
            parsed = jsontext.parse(text)
            value = (repr(parsed.value), parsed.document, repr(parsed.loose))
            broken_ = {p.code for p in parsed.problems} & {"json-syntax", "too-deep"}
            # Behind a break there are no places.
            places = {} if broken_ else jsontext.locate_all(text, paths)
            found.append([*_told(parsed.problems), value, *sorted(places.items())])
    return found[0], found[1]


def _places(value: object, path: str = "") -> Iterator[str]:
    yield path
    yield f"{path}/none"
    pairs: Any = ()
    if isinstance(value, dict):
        pairs = value.items()
    elif isinstance(value, list):
        pairs = enumerate(value)
    for key, entry in pairs:
        part = str(key).replace("~", "~0").replace("/", "~1")
        yield from _places(entry, f"{path}/{part}")


#: Small pieces that text is made of: healthy ones and odd ones.
_PIECES = st.sampled_from(
    [
        *(
            "1",
            "-0.5",
            "1.5e3",
            "true",
            "null",
            '"a"',
            '"\\u00e9"',
            "[]",
            "{}",
            "[1, 2]",
        ),
        *('{"a":1}', '{"a":{"b":[]}}', '{"a":1,"b":"x:"}', "[[[[[[[[[1]]]]]]]]]"),
        *('{"a":1,"a":2}', "NaN", "1e999", "12345678901234567890", '"\\ud800"'),
        *('"\\ud83d\\ude00"', '{"a":[{"b":1,"b":NaN}]}', '[[[[[[[[["\\udfff"]]]]]]]]]'),
        *("[[[[[[[[[NaN]]]]]]]]]", '{"a" : [ ] , "b":\n{}}', '"\ud800"', '"\\"}]"'),
    ]
)
_BREAKS = st.sampled_from([*[""] * 12, ",", "]", "}", '"', "[", ":", "\x00", "tru"])


@given(st.lists(st.tuples(_PIECES, st.integers(1, 90)), max_size=8), _BREAKS, _PIECES)
def test_what_is_passed_over_holds_nothing(
    pieces: list[tuple[str, int]], break_: str, last: str
) -> None:
    entries = ", ".join(piece for piece, count in pieces for _ in range(count))
    text = f'{{"k": [{entries}{break_}],\n "m": {last}, "n": [{{"o": {last}}}]}}'
    paths = ["", "/k", "/k/0", "/k/7/a", "/k/70", "/k/71/none", "/m/b", "/n/0/o", "/x"]

    plain, quick = _twice(text, paths)

    assert quick == plain


@given(broken() | json_values)
def test_passing_over_changes_no_place(document: Any) -> None:
    text = json.dumps(document, indent=1)

    plain, quick = _twice(text, sorted(set(_places(document))))

    assert quick == plain


@pytest.mark.parametrize(
    "inner",
    [
        "[" * 190 + "NaN" + "]" * 190,
        "[" * 197 + "[]" + "]" * 197,
        "[" * 198 + "[]" + "]" * 198,
        ",".join(["[" * 9 + "NaN" + "]" * 9] * 40),
        "[" * 250,
        "[" * 150,
        ",".join(["[" * 9 + "1]" + "," + "[]]" * 8] * 40),
    ],
)
def test_deep_values_are_looked_at_like_flat_ones(inner: str) -> None:
    text = f'{{"a":[{inner}],"b":NaN}}'

    plain, quick = _twice(text, ["/a/0/0", "/b", "/a/39"])

    assert quick == plain


@pytest.mark.parametrize("text", ['{"a":[1', '{"a":[1,{"b":{', "[[[1]"])
def test_places_in_a_broken_text_are_not_looked_for_for_ever(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_jsonscan, "LARGE", 0)

    assert jsontext.locate(text, "/x/y") == Location(1, 1)


def test_a_large_text_is_not_taken_step_by_step(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    steps = 0
    step = _jsonscan._Scanner._step

    def counted(self: Any, level: Any, at: int) -> int:
        nonlocal steps
        steps += 1
        return step(self, level, at)

    monkeypatch.setattr(_jsonscan._Scanner, "_step", counted)
    healthy = json.dumps({"steps": [{"a": 1, "b": [{}]}] * 20_000})

    for text in (
        json.dumps({"steps": [{}] * 100_000}),
        healthy[:-1] + ',"zz":NaN}',
        healthy[:-1] + ',"steps":[]}',
        json.dumps(feature(gates=[GATE] * 5000, title=5)),
        json.dumps(feature(config={f"k{n}": {} for n in range(50_000)})),
    ):
        assert decode(text).problems
    assert steps < 20_000


# Whatever is given.


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ([1], "array"),
        (5, "number"),
        (None, "null"),
        (True, "boolean"),
        ((1,), "tuple"),
        ({1}, "set"),
        (object(), "object"),
        (object, "type"),
    ],
)
def test_what_is_neither_text_nor_a_mapping_is_no_object(
    value: object, kind: str
) -> None:
    decoded = decode(value, "x", "a.json")

    (problem,) = decoded.problems
    assert decoded.is_object is False
    assert (problem.code, problem.file, problem.line) == (
        "not-an-object",
        "a.json",
        None,
    )
    assert problem.message == f"the manifest must be an object, got {kind}"
    assert decoded.manifest is None
    assert decoded.gates == ()


@pytest.mark.parametrize("form", [bytearray, memoryview])
def test_bytes_may_come_in_any_form(form: Any) -> None:
    data = json.dumps(feature()).encode()

    assert decode(form(data)) == decode(data)
    assert decode(form(b"{}")) == decode(b"{}")


def test_bytes_that_were_given_back_are_no_object() -> None:
    view = memoryview(b"{}")
    view.release()

    assert decode(view).is_object is False
