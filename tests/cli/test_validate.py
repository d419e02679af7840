"""`msd validate`: every fault with its place, whatever the file is."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from .conftest import EXAMPLES, GATE, Msd, feature, install


def test_a_healthy_tree_is_fine(msd: Msd, home: Path) -> None:
    install(home, feature("anchor"))
    install(home, feature("bollard"))

    done = msd("validate", home)

    assert (done.code, done.err) == (0, "")
    assert done.out == "2 manifests checked: 0 errors, 0 warnings\n"


def test_the_shipped_manifests_are_healthy(msd: Msd) -> None:
    done = msd(
        "validate", "--first-party", "--strict", EXAMPLES.parents[1] / "capabilities"
    )

    assert done.out == "44 manifests checked: 0 errors, 0 warnings\n"
    assert done.code == 0


def test_a_fault_is_shown_with_file_line_column_pointer_and_help(
    msd: Msd, home: Path
) -> None:
    text = json.dumps(feature("anchor", tier="large"), indent=1)
    bundle = install(home, text, "anchor")

    done = msd("validate", bundle)

    assert done.code == 1
    place = f"{bundle}/capability.json:7:10"
    assert done.out.splitlines()[0] == (
        f'{place}: error[not-in-vocabulary] tier must be "core", "standard" or "full",'
        ' got "large"  (/tier)'
    )
    assert done.out.splitlines()[1].startswith("  help: ")
    assert done.out.splitlines()[-1] == "1 manifest checked: 1 error, 0 warnings"


def test_json_carries_the_same(msd: Msd, home: Path) -> None:
    bundle = install(home, feature("anchor", tier="large"))

    done = msd("validate", "--json", bundle / "capability.json")

    assert done.code == 1
    assert (done.json["checked"], done.json["valid"]) == (1, False)
    (problem,) = done.json["problems"]
    assert problem["code"] == "not-in-vocabulary"
    assert problem["path"] == "/tier"
    assert problem["file"] == f"{bundle}/capability.json"
    assert problem["line"] == 1


def test_a_warning_fails_only_when_asked_to(msd: Msd, home: Path) -> None:
    bundle = install(home, feature("anchor", contribution=[]))

    assert msd("validate", bundle).code == 0
    done = msd("validate", "--strict", bundle)

    assert done.code == 1
    assert 'help: Did you mean "contributions"?' in done.out
    assert done.out.endswith("0 errors, 1 warning (warnings count as errors)\n")


@pytest.mark.parametrize(
    ("fields", "code", "path"),
    [
        (
            {"gates": [{**GATE, "point": "verify:post"}]},
            "kind-not-dispatched",
            "/gates/0/point",
        ),
        ({"engines": {"msd": "1.x.2"}}, "bad-range", "/engines/msd"),
        ({"gates": [{**GATE, "when": "a.b"}]}, "when-undeclared", "/gates/0/when"),
    ],
)
def test_what_a_host_would_refuse_or_drop_is_an_error(
    msd: Msd, home: Path, fields: Any, code: str, path: str
) -> None:
    done = msd("validate", "--json", install(home, feature("anchor", **fields)))

    assert [(p["code"], p["path"], p["severity"]) for p in done.json["problems"]] == [
        (code, path, "error")
    ]
    assert done.json["problems"][0]["line"] == 1


def test_a_reserved_id_is_an_error_for_everybody_else(msd: Msd, home: Path) -> None:
    bundle = install(home, feature("msd-anchor"))

    assert msd("validate", bundle).code == 1
    assert msd("validate", "--first-party", bundle).code == 0


def test_a_fragment_that_is_missing_is_an_error(msd: Msd, home: Path) -> None:
    contribution = {
        "point": "plan:pre",
        "into": "planner",
        "produces": [],
        "consumes": [],
        "fragment": {"path": "loop/text.md"},
    }
    bundle = install(home, feature("anchor", contributions=[contribution]))

    done = msd("validate", "--json", bundle)

    (problem,) = done.json["problems"]
    assert problem["code"] == "fragment-unreadable"
    assert problem["path"] == "/contributions/0/fragment/path"

    (bundle / "loop").mkdir()
    (bundle / "loop" / "text.md").write_text("Mind the ebb.\n", "utf-8")
    assert msd("validate", bundle).code == 0


def test_a_manifest_of_another_name_is_not_held_to_its_folder(
    msd: Msd, tmp_path: Path
) -> None:
    draft = tmp_path / "draft.json"
    draft.write_text(json.dumps(feature("anchor")), "utf-8")

    assert msd("validate", draft).code == 0


def test_a_path_that_is_not_there_is_a_wrong_use(msd: Msd, tmp_path: Path) -> None:
    done = msd("validate", tmp_path / "absent")

    assert done.code == 2
    assert done.err.startswith("msd: error: there is no ")


def test_a_folder_without_manifests_is_a_wrong_use(msd: Msd, tmp_path: Path) -> None:
    done = msd("validate", tmp_path)

    assert done.code == 2
    assert done.err == "msd: error: no capability.json below the folders given\n"


def test_hidden_folders_are_left_out_and_links_are_not_followed(
    msd: Msd, tmp_path: Path
) -> None:
    install(tmp_path, feature("anchor"))
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "capability.json").write_text("{", "utf-8")
    (tmp_path / "round").symlink_to(tmp_path)

    assert msd("validate", "--json", tmp_path).json["checked"] == 1


def _text(**fields: Any) -> str:
    return json.dumps(feature("anchor", **fields))


HOSTILE: dict[str, tuple[bytes, str, str]] = {
    "not UTF-8": (_text(title="?").encode().replace(b"?", b"\xff"), "invalid-utf8", ""),
    "byte order mark": (b"\xef\xbb\xbf" + _text().encode(), "", ""),
    "NaN": (_text(homepage=0).replace(": 0", ": NaN").encode(), "", "/homepage"),
    "repeated key": (_text().replace("{", '{"id": "x", ', 1).encode(), "", "/id"),
    "lone surrogate": (_text(title="\ud800").encode(), "", "/title"),
    "depth 100,000": (b'{"a": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", "", ""),
    "9 MiB": (b'"' + b"x" * 9 * 1024 * 1024 + b'"', "unreadable", ""),
    "null in an array": (_text(skills=[None]).encode(), "", "/skills/0"),
    "a number for an object": (_text(config=5).encode(), "", "/config"),
    "__proto__": (_text(skills=["__proto__"]).encode(), "reserved-name", "/skills/0"),
    "an id with a newline": (_text(id="anchor\n").encode(), "", "/id"),
    "full-width digits": (_text(version="\uff11.0.0").encode(), "", "/version"),
    "nothing": (b"", "", ""),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_hostile_text_gives_a_clear_problem_and_loses_nothing_else(
    msd: Msd, home: Path, case: str
) -> None:
    content, code, path = HOSTILE[case]
    install(home, content, "anchor")
    install(home, feature("bollard", tier="large"))

    done = msd("validate", "--json", home)

    assert done.code == 1
    own = [p for p in done.json["problems"] if "/anchor/" in p["file"]]
    assert own, case
    assert all(p["message"] and p["hint"] for p in own)
    assert code in {"", *(p["code"] for p in own)}
    assert any(p["path"] == path for p in own), own
    other = [p for p in done.json["problems"] if "/bollard/" in p["file"]]
    assert [p["path"] for p in other] == ["/tier"]


@pytest.mark.parametrize("kind", ["fifo", "device", "folder", "dangling link"])
def test_what_is_no_regular_file_is_a_problem_and_never_blocks(
    msd: Msd, home: Path, kind: str
) -> None:
    bundle = install(home, feature("anchor"))
    manifest = bundle / "capability.json"
    manifest.unlink()
    match kind:
        case "fifo":
            os.mkfifo(manifest)
        case "device":
            manifest.symlink_to("/dev/zero")
        case "folder":
            manifest.mkdir()
        case _:
            manifest.symlink_to(bundle / "absent")

    for target in (home, bundle, manifest):
        done = msd("validate", "--json", target)

        assert done.code == 1
        (problem,) = done.json["problems"]
        assert problem["code"] == "unreadable"
        assert problem["file"] == str(manifest)
        assert problem["hint"]


@pytest.mark.parametrize(
    ("target", "reason"),
    [
        ("/dev/zero", "not a regular file"),
        ("fifo", "not a regular file"),
        ("dangling", "no such file"),
        ("circle", "a symbolic link that cannot be followed"),
        ("device", "not a regular file"),
    ],
)
def test_a_path_that_is_no_manifest_is_named_as_it_was_given(
    msd: Msd, tmp_path: Path, target: str, reason: str
) -> None:
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "dangling").symlink_to("absent")
    (tmp_path / "circle").symlink_to("circle")
    (tmp_path / "device").symlink_to("/dev/zero")
    path = tmp_path / target

    done = msd("validate", "--json", path)

    assert done.code == 1
    (problem,) = done.json["problems"]
    assert problem["file"] == str(path)
    assert problem["message"] == f"cannot be read: {reason}"
    assert f"\n{path}: error[unreadable] " in "\n" + msd("validate", path).out


def test_a_folder_that_cannot_be_listed_is_told_in_its_place(
    msd: Msd, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a", "b", "c"):
        (tmp_path / name / "x").mkdir(parents=True)
    (tmp_path / "c" / "x" / "capability.json").write_text("{", "utf-8")
    real = os.scandir

    def failing(path: Any) -> Any:
        if str(path).endswith("/b"):
            raise PermissionError(13, "denied", str(path))
        return real(path)

    monkeypatch.setattr(os, "scandir", failing)

    done = msd("validate", "--json", tmp_path)

    assert done.code == 1
    assert [problem["file"] for problem in done.json["problems"]][:2] == [
        f"{tmp_path}/b/capability.json",
        f"{tmp_path}/c/x/capability.json",
    ]


def test_every_problem_of_a_draft_names_the_draft(msd: Msd, tmp_path: Path) -> None:
    draft = tmp_path / "draft.json"
    manifest = feature(
        "msd-anchor", gates=[{**GATE, "point": "verify:post"}], engines={"msd": "1.x.2"}
    )
    draft.write_text(json.dumps(manifest), "utf-8")

    found = msd("validate", "--json", draft).json["problems"]

    assert {problem["file"] for problem in found} == {str(draft)}
    assert {problem["code"] for problem in found} == {
        "bad-range",
        "kind-not-dispatched",
    }
    assert all(problem["line"] for problem in found)


def test_nothing_a_manifest_says_moves_the_cursor(msd: Msd, home: Path) -> None:
    evil = "\x1b[2J\u202e\r\x07"
    install(home, feature("anchor", tier=evil, **{f"zz{evil}": 1, "skills": [5, evil]}))

    done = msd("validate", home)

    assert done.code == 1
    assert all(line.isprintable() for line in done.out.splitlines())
