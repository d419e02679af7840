"""Strict JSON: what is refused, where, and that nothing else is."""

from __future__ import annotations

import json
import time

import pytest

from msdcomp import jsontext
from msdcomp.diagnostics import Location
from msdcomp.jsontext import MAX_BYTES, canonical, locate, locate_all, parse

#: Text, code, pointer, message, line, column.
REFUSED = [
    ("", "json-syntax", "", "expected a value, got the end of the text", 1, 1),
    (" \n ", "json-syntax", "", "expected a value, got the end of the text", 2, 2),
    ("{", "json-syntax", "", "expected a key in double quotes, got the end of the text"
     , 1, 2),
    ('{"a" 1}', "json-syntax", "", 'expected ":", got "1"', 1, 6),
    ('{"a":1,}', "json-syntax", "", 'expected a key in double quotes, got "}"', 1, 8),
    ('{"a":1 "b":2}', "json-syntax", "", 'expected "," or "}", got """', 1, 8),
    ("[1 2]", "json-syntax", "", 'expected "," or "]", got "2"', 1, 4),
    ("[1,]", "json-syntax", "", 'expected a value, got "]"', 1, 4),
    ("[1]]", "json-syntax", "", 'expected nothing after the value, got "]"', 1, 4),
    ("{} {}", "json-syntax", "", 'expected nothing after the value, got "{"', 1, 4),
    ("{'a':1}", "json-syntax", "", 'expected a key in double quotes, got "\'"', 1, 2),
    ("[01]", "json-syntax", "", 'expected "," or "]", got "1"', 1, 3),
    ("[+1]", "json-syntax", "", 'expected a value, got "+"', 1, 2),
    ("[1.]", "json-syntax", "", 'expected "," or "]", got "."', 1, 3),
    ("[0x1]", "json-syntax", "", 'expected "," or "]", got "x"', 1, 3),
    ("[\uff11]", "json-syntax", "", 'expected a value, got "\uff11"', 1, 2),
    ("[\u00a01]", "json-syntax", "", "expected a value, got the character U+00A0",
     1, 2),
    ("[truE]", "json-syntax", "", 'expected a value, got "t"', 1, 2),
    ('["a', "json-syntax", "", "expected the end of a string, got none", 1, 2),
    ('["\\x"]', "json-syntax", "", 'expected a known escape in a string, got "\\"',
     1, 3),
    ('["\\u12"]', "json-syntax", "", 'expected a known escape in a string, got "\\"'
     , 1, 3),
    ('["a\tb"]', "json-syntax", "",
     "expected no control character in a string, got the character U+0009", 1, 4),
    ("[NaN]", "not-finite", "/0", "a number must be finite, got NaN", 1, 2),
    ('{"a":\n -Infinity}', "not-finite", "/a", "a number must be finite, got -Infinity"
     , 2, 2),
    ("[1e400]", "not-finite", "/0", "a number must be finite, got 1e400", 1, 2),
    ("[9007199254740993]", "integer-too-large", "/0",
     "an integer must lie within 2^53, got 9007199254740993", 1, 2),
    ("[-9007199254740993]", "integer-too-large", "/0",
     "an integer must lie within 2^53, got -9007199254740993", 1, 2),
    ('{"x":{"a":1,"a":2}}', "duplicate-key", "/x/a",
     'the key "a" must be given once, got it again', 1, 13),
    ('{"ab":1,"a\\u0062":2}', "duplicate-key", "/ab",
     'the key "ab" must be given once, got it again', 1, 9),
    ('["\\ud800"]', "lone-surrogate", "/0",
     "a string must hold whole characters, got half a surrogate pair", 1, 2),
    ('["\ud800"]', "lone-surrogate", "/0",
     "a string must hold whole characters, got half a surrogate pair", 1, 2),
    ('{"\\udc00":1}', "lone-surrogate", "",
     "a string must hold whole characters, got half a surrogate pair", 1, 2),
    ("\ufeff{}", "byte-order-mark", "",
     "the text must start with its first character, got a byte order mark", 1, 1),
    ("[" * 201 + "]" * 201, "too-deep", "",
     "the document must have at most 200 levels, got more", 1, 201),
]  # fmt: skip

ACCEPTED = [
    ("{}", {}),
    ("[]", []),
    (" [1, 2 ]\r\n", [1, 2]),
    ('"\\ud83d\\ude00"', "\U0001f600"),
    ('["\\u0000\\/\\n"]', ["\0/\n"]),
    ("9007199254740992", 2**53),
    ("-9007199254740992", -(2**53)),
    ("1e21", 1e21),
    ("1E-7", 1e-7),
    ("null", None),
    ('{"__proto__":{"a":[]},"":1}', {"__proto__": {"a": []}, "": 1}),
    ('["{[[[[", "\\"]}"]', ["{[[[[", '"]}']),
]


@pytest.mark.parametrize(
    ("text", "code", "path", "message", "line", "column"),
    REFUSED,
    ids=[f"{number}-{case[1]}" for number, case in enumerate(REFUSED)],
)
def test_a_text_that_is_not_strict_json_has_one_problem_with_its_place(
    text: str, code: str, path: str, message: str, line: int, column: int
) -> None:
    parsed = parse(text)

    (problem,) = parsed.problems
    found = (problem.code, problem.path, problem.message, problem.line, problem.column)
    assert found == (code, path, message, line, column)
    assert problem.hint
    assert parsed.value is None


@pytest.mark.parametrize(("text", "value"), ACCEPTED)
def test_strict_json_is_read(text: str, value: object) -> None:
    assert parse(text) == jsontext.Parsed(value=value)
    assert parse(text.encode()) == jsontext.Parsed(value=value)


@pytest.mark.parametrize(("text", "value"), ACCEPTED)
def test_the_slow_road_reads_healthy_text_alike(text: str, value: object) -> None:
    # A repeated key sends the whole text through the scanner.
    parsed = parse(f'{{"a":1,"a":{text}}}')

    assert [problem.code for problem in parsed.problems] == ["duplicate-key"]
    assert isinstance(parsed.loose, dict)
    assert parsed.loose["a"] == value


@pytest.mark.parametrize(
    ("text", "value"),
    [("5000.0", 5000), ("-0.0", 0), ("-0", 0), ("1e3", 1000), ("2.50", 2.5)],
)
def test_an_integral_number_is_an_integer_as_in_javascript(
    text: str, value: float
) -> None:
    parsed = parse(text).value

    assert parsed == value
    assert type(parsed) is type(value)
    assert canonical(parsed) == json.dumps(value).encode()


@pytest.mark.parametrize("extra", [0, 1])
def test_200_levels_are_the_deepest(extra: int) -> None:
    depth = 199 + extra
    text = '{"zz":' + "[" * depth + "]" * depth + "}"

    assert bool(parse(text).problems) is bool(extra)


def test_brackets_in_strings_and_side_by_side_are_no_depth() -> None:
    many = "[" + ",".join(['{"a":"]}\\"[["}'] * 500) + "]"

    assert parse(many).problems == ()


@pytest.mark.parametrize(
    ("data", "code", "column"),
    [
        (b'{"a":"\xff"}', "invalid-utf8", 7),
        ('{"\u00e9":"'.encode() + b"\xc3\x28" + b'"}', "invalid-utf8", 7),
        ('{"a":1}'.encode("utf-16"), "invalid-utf8", 1),
        ('{"a":1}'.encode("utf-16-le"), "invalid-utf8", 1),
        ('{"a":1}'.encode("utf-32"), "invalid-utf8", 1),
        (b"\xef\xbb\xbf{}", "byte-order-mark", 1),
        (b"{}" + b" " * MAX_BYTES, "too-large", 1),
    ],
)
def test_bytes_that_are_no_text_have_one_problem_with_its_place(
    data: bytes, code: str, column: int
) -> None:
    (problem,) = parse(data).problems

    assert (problem.code, problem.line, problem.column) == (code, 1, column)
    assert problem.hint


def test_8_mib_are_still_read_and_counted_in_bytes() -> None:
    assert parse(b"{}" + b" " * (MAX_BYTES - 2)).value == {}
    assert parse("{}" + " " * (MAX_BYTES - 2)).value == {}
    assert parse(f'"{"é" * (MAX_BYTES // 2)}"').problems[0].code == "too-large"


def test_every_fault_of_a_text_is_reported_not_the_first() -> None:
    text = '\ufeff{"a": NaN,\n "b": 99999999999999999999, "b": "\\udfff"}'

    found = [(p.code, p.path, p.line, p.column) for p in parse(text).problems]

    assert found == [
        ("byte-order-mark", "", 1, 1),
        ("not-finite", "/a", 1, 8),
        ("integer-too-large", "/b", 2, 7),
        ("duplicate-key", "/b", 2, 29),
        ("lone-surrogate", "/b", 2, 34),
    ]


def test_a_hostile_number_of_faults_ends_in_one_that_says_so() -> None:
    problems = parse("{" + '"a":1,' * 3000 + '"a":1}').problems

    assert len(problems) == 1001
    assert problems[-1].code == "too-many-problems"
    assert problems[-1].message == "the document has more than 1000 faults"


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000,
        '{"a":' * 100_000,
        "[" * 100_000 + "]" * 100_000,
        '"' + '\\"' * 500_000,
        '"' * 500_001,
        "1" * 1_000_000,
        "[" + "-" * 100_000,
        '["' + "\\" * 100_001,
        "[" + "1e400," * 100_000 + "1]",
    ],
    ids=str.__len__,
)
def test_hostile_text_is_refused_in_linear_time(text: str) -> None:
    start = time.perf_counter()

    problems = parse(text).problems

    assert problems
    # Quadratic work would take minutes.
    assert time.perf_counter() - start < 10


def test_a_text_refused_for_strictness_is_still_read_loosely() -> None:
    loose = parse(b'\xef\xbb\xbf{"a":1,"b":NaN,"a":"\xff"}').loose

    assert loose == {"a": "\ufffd", "b": None}
    assert loose.pairs == [("a", 1), ("b", None), ("a", "\ufffd")]  # type: ignore[attr-defined]


@pytest.mark.parametrize("text", ["{", "[1 2]", "[" * 300 + "]" * 300])
def test_a_text_that_is_no_json_is_not_read_loosely(text: str) -> None:
    assert parse(text).loose is None


TEXT = '{\n  "steps": [{"a~b/c": 1},\n\t2],\r\n "\u00e9\U0001f600": "x", "last": {}}'


@pytest.mark.parametrize(
    ("path", "line", "column"),
    [
        ("", 1, 1),
        ("/steps", 2, 12),
        ("/steps/0", 2, 13),
        ("/steps/0/a~0b~1c", 2, 23),
        ("/steps/1", 3, 2),
        ("/\u00e9\U0001f600", 4, 8),
        ("/last", 4, 21),
        # A missing key is at its object, a missing place at what is there of it.
        ("/steps/0/none", 2, 13),
        ("/last/none/deeper", 4, 21),
        ("/none", 1, 1),
        ("/steps/7", 2, 12),
    ],
)
def test_a_pointer_is_located_by_line_and_character(
    path: str, line: int, column: int
) -> None:
    assert locate(TEXT, path) == Location(line, column)
    assert locate(TEXT.encode(), path) == Location(line, column)


def test_many_pointers_are_located_at_once() -> None:
    paths = ["/steps/1", "", "/steps"]

    assert locate_all("\ufeff" + TEXT, paths) == {
        "/steps/1": Location(3, 2),
        # The byte order mark is a character of its line.
        "": Location(1, 2),
        "/steps": Location(2, 12),
    }


def test_canonical_text_sorts_keys_by_code_point_and_keeps_characters() -> None:
    value = {"b": 1, "a": ["\u00e9", 1.5], "\U0001f600": None, "\uffff": True}

    assert canonical(value) == (
        '{"a":["\u00e9",1.5],"b":1,"\uffff":true,"\U0001f600":null}'.encode()
    )
