"""The signature changes with what may run, and with nothing else."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
import rfc8785

from msdcomp.disclosure import disclose
from msdcomp.signature import VERSION, Drift, drift, signature, signed
from tests.bundles import FILES, everything, lane
from tests.documents import MISSING, changed, feature, http_reviewer
from tests.strategies import places

CODE = Drift(surfaces=True, files=False, text=False)
SCRIPT = Drift(surfaces=False, files=True, text=False)
TEXT = Drift(surfaces=False, files=False, text=True)
SAME = Drift(surfaces=False, files=False, text=False)


def _drift(old: Any, new: Any, files: dict[str, str] | None = None) -> Drift:
    return drift(
        signature(disclose(old, FILES)),
        signature(disclose(new, FILES if files is None else files)),
    )


def test_the_form_is_canonical_short_and_versioned() -> None:
    made = signature(disclose(everything(), FILES))
    value = json.loads(made)

    assert sorted(value) == ["files", "surfaces", "text", "version"]
    assert value["version"] == VERSION
    assert rfc8785.dumps(value) == made.encode()
    assert len(made) < 300


def test_the_form_is_pinned() -> None:
    assert signature(disclose({}, {})) == (
        '{"files":"4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945",'
        '"surfaces":"6eaef2fe8c9c9939bbf6637bd7181d398a09bcc24ae3e2174215ef3ef71d0c48",'
        '"text":"b2913ff1ba876457dce0b821aa603af79224a386b56243d68f14a10e2f40038f",'
        '"version":"msd-disclosure-1"}'
    )


def test_the_largest_integer_is_signed_as_other_readers_see_it() -> None:
    document = lane(x=[2**53, -(2**53), 1, True])

    assert '"x":[9007199254740992,-9007199254740992,1,true]' in (
        disclose(document, {}).surfaces[0].declared
    )
    assert _drift(document, lane(x=[2**53, -(2**53), 2, True])) == CODE


def test_what_is_signed_can_be_read() -> None:
    parts = signed(disclose(everything(), FILES))
    surfaces = json.loads(parts["surfaces"])

    assert surfaces["activation"] == ["tides.on", "boolean", "true"]
    assert [kind for kind, *_ in surfaces["declared"]] == [
        "command-module",
        "command-step",
        "hook",
        "hook",
        "shell-gate",
        "task-content-resolver",
    ]
    assert ["scripts/run.sh", "sha512-run"] in json.loads(parts["files"])


def _executable() -> list[str]:
    """Return the pointer of every value that is declared to run."""
    document = everything()
    roots = [
        ("hooks", document["hooks"]),
        ("commands", document["commands"]),
        ("taskContentResolver", document["taskContentResolver"]),
    ]
    found = [
        "/" + "/".join(map(str, (name, *place)))
        for name, root in roots
        for place in places(root)
    ]
    found += [
        "/gates/1/" + "/".join(map(str, place))
        for place in places(document["gates"][1])
    ]
    return [*found, "/steps/1/ref/command", "/steps/1/point", "/steps/1/pointFrom"]


@pytest.mark.parametrize("path", _executable())
def test_w6_every_declared_field_counts(path: str) -> None:
    other = changed(everything(), path, "changed")
    gone = changed(everything(), path, MISSING)

    assert _drift(everything(), other).code
    assert _drift(everything(), gone).code


@pytest.mark.parametrize(
    "place",
    list(places(lane(env={"A": "b"}, brandNew=[{"x": 1}])["reviewer"])),
    ids=str,
)
def test_every_field_of_a_lane_counts(place: tuple[Any, ...]) -> None:
    document = lane(env={"A": "b"}, brandNew=[{"x": 1}])
    path = "/".join(map(str, ("", "reviewer", *place)))

    assert _drift(document, changed(document, path, "changed")) == CODE
    assert _drift(document, changed(document, path, MISSING)) == CODE


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("title", "Other"),
        ("description", "Other"),
        ("version", "2.0.0"),
        ("keywords", ["x"]),
        ("tier", "core"),
        ("agents", ["other"]),
        ("requires", []),
        ("unknown", {"a": 1}),
    ],
)
def test_what_a_manifest_says_about_itself_does_not_count(
    field: str, value: object
) -> None:
    document = {**everything(), field: value}
    files = {**FILES, "capability.json": "other"}

    assert _drift(everything(), document, files) == SAME


def test_order_and_white_space_do_not_count() -> None:
    document = everything()
    turned = {key: document[key] for key in reversed(document)}
    turned["hooks"] = [dict(reversed(hook.items())) for hook in turned["hooks"][::-1]]
    text = json.dumps(turned, indent=4)

    assert _drift(document, text) == SAME
    backwards = dict(reversed(FILES.items()))
    assert _drift(document, document, backwards) == SAME


@pytest.mark.parametrize("path", [p for p in FILES if p != "capability.json"])
def test_w2_one_byte_of_any_file_that_may_run_counts(path: str) -> None:
    files = {**FILES, path: "other"}
    found = _drift(everything(), everything(), files)

    assert found.code
    assert found.files
    assert not found.surfaces
    assert found.text == (path in {"loop/a.md", "skills/read-tide/SKILL.md"})


def test_files_that_come_go_or_move_count() -> None:
    fewer = {path: hash_ for path, hash_ in FILES.items() if path != "README.md"}
    moved = {**fewer, "README.txt": FILES["README.md"]}

    assert _drift(everything(), everything(), fewer) == SCRIPT
    assert _drift(everything(), everything(), moved) == SCRIPT


def test_text_alone_is_told_from_code() -> None:
    inline = changed(
        everything(), "/contributions/0/fragment/inline", "Mind something else."
    )
    files = {**FILES, "skills/read-tide/SKILL.md": "other"}

    assert _drift(everything(), inline) == TEXT
    assert _drift(everything(), changed(everything(), "/skills", [])) == TEXT
    assert _drift(feature(), feature(), files) == TEXT


def test_a_key_of_its_own_that_decides_what_runs_counts() -> None:
    document = http_reviewer()
    slice_ = {"type": "string", "default": "http://localhost", "description": "x"}
    document["config"] = {"review.host": slice_}
    default = changed(document, "/config/review.host/default", "http://a.example")
    words = changed(document, "/config/review.host/description", "y")

    assert _drift(document, default) == CODE
    assert _drift(document, words) == SAME
    off = changed(everything(), "/config/tides.on/default", value=False)
    assert _drift(everything(), off) == CODE


def test_what_is_configured_here_does_not_count() -> None:
    document = http_reviewer()
    hosts = {"review.host": "http://a.example"}

    assert signature(disclose(document, {}, hosts)) == signature(disclose(document, {}))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        "[]",
        "null",
        "[" * 100_000,
        '{"version":"msd-disclosure-0"}',
        "[[],[]]",
    ],
)
def test_a_signature_that_cannot_be_read_differs_in_everything(text: str) -> None:
    made = signature(disclose(everything(), FILES))

    assert drift(text, made) == drift(made, text)
    assert drift(text, text) == Drift(surfaces=True, files=True, text=True)


def test_a_part_that_is_missing_makes_it_unreadable() -> None:
    value = json.loads(signature(disclose({}, {})))
    broken = copy.copy(value)
    del broken["files"]

    assert drift(json.dumps(value), json.dumps(broken)).text
