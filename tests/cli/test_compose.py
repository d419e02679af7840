"""`msd compose`, `msd explain` and `msd capability list` tell the same story."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from .conftest import EXAMPLES, GATE, Msd, feature, install

EXAMPLE = ("--home", EXAMPLES / "home", "--project", EXAMPLES / "project")


def test_the_example_shows_what_is_in_what_is_not_and_which_gate_is_missing(
    msd: Msd,
) -> None:
    done = msd("compose", *EXAMPLE)

    assert (done.code, done.err) == (1, "")
    assert done.out.startswith(
        "MSD 1.11.0: 45 capabilities in the registry, 44 shipped and 1 installed; "
        "3 overlays left out\n"
    )
    for part in (
        "  release-notes 1.2.0  Release notes",
        "  design-review (collision): ",
        "design-review/capability.json:11:14: error[skill-taken] ",
        "  spell-check (invalid-manifest): ",
        "  deploy-freeze (incompatible-engine): ",
        "Gates that are NOT enforced\n  ship:pre  deploy-freeze (blocking): ",
        "    only where deploy_freeze.enforce is on\n",
        "'msd capability remove deploy-freeze'",
    ):
        assert part in done.out


def test_json_is_the_wire_form(msd: Msd) -> None:
    wire = msd("compose", "--json", *EXAMPLE).json

    assert wire["version"] == "1"
    assert wire["_overlay"]["accepted"] == ["release-notes"]
    assert wire["_overlay"]["incompatibleGateCapIds"] == ["deploy-freeze"]
    (freeze,) = wire["_overlay"]["blockedGates"]
    assert (freeze["point"], freeze["blocking"]) == ("ship:pre", True)
    assert wire["bySkill"]["ui-review"] == "ui"
    (step,) = [
        step
        for step in wire["byLoopPoint"]["ship:post"]["steps"]
        if step["capId"] == "release-notes"
    ]
    assert step["ref"] == {"skill": "release-notes-draft"}
    (given,) = [
        hook
        for hook in wire["byLoopPoint"]["plan:pre"]["contributions"]
        if hook["capId"] == "release-notes"
    ]
    assert given["fragment"]["inline"].startswith("For every change a user can notice")


def test_with_a_newer_host_the_gate_is_enforced(msd: Msd) -> None:
    wire = msd("compose", "--json", "--host-version", "2.0.0", *EXAMPLE).json

    assert wire["_overlay"]["accepted"] == ["deploy-freeze", "release-notes"]
    assert wire["_overlay"]["blockedGates"] == []


def test_nothing_installed_is_fine(msd: Msd, home: Path, project: Path) -> None:
    done = msd("compose", "--home", home, "--project", project)

    assert (done.code, done.err) == (0, "")
    assert done.out == (
        "MSD 1.11.0: 44 capabilities in the registry, 44 shipped and 0 installed; "
        "0 overlays left out\n"
    )
    assert (
        "_overlay"
        not in msd("compose", "--json", "--home", home, "--project", project).json
    )


def _circle(capability_id: str, gives: str, needs: str) -> dict[str, Any]:
    step = {
        "point": "plan:pre",
        "ref": {"command": "x"},
        "produces": [gives],
        "consumes": [needs],
        "onError": "skip",
    }
    return feature(capability_id, steps=[step], gates=[GATE])


@pytest.fixture
def circle(home: Path) -> Path:
    """Overlays that only the whole set cannot hold, and one that has no part in it."""
    early = {
        "point": "discuss:post",
        "ref": {"command": "x"},
        "produces": ["A.md"],
        "consumes": [],
        "onError": "skip",
    }
    install(home, feature("aa-seed", steps=[early]))
    install(home, _circle("anchor", "B.md", "A.md"))
    install(home, _circle("bollard", "A.md", "B.md"))
    return home


def test_a_set_that_cannot_be_built_falls_back_or_loses_the_culprits(
    msd: Msd, circle: Path, project: Path
) -> None:
    places = ("--home", circle, "--project", project)

    fallen = msd("compose", "--json", *places)
    isolated = msd("compose", "--json", "--isolate", *places)

    assert "accepted" in fallen.json["_overlay"]
    assert fallen.json["_overlay"]["accepted"] == []
    assert isolated.json["_overlay"]["accepted"] == ["aa-seed"]
    assert (fallen.code, isolated.code) == (1, 1)
    text = msd("compose", *places).out
    assert "the whole set (set-build-failed): " in text
    assert '"anchor" step 0 gives "B.md" to "bollard" step 0 gives "A.md" to ' in text


def test_an_overlay_that_went_with_the_set_is_still_explained(
    msd: Msd, circle: Path, project: Path
) -> None:
    done = msd("explain", "aa-seed", "--json", "--home", circle, "--project", project)

    assert done.code == 1
    assert done.json["verdict"] == "skipped"
    (copy,) = done.json["copies"]
    assert copy["gates"][-1] == {"gate": "a set that can be built", "passed": False}


def test_an_unconsented_overlay_is_quoted_nowhere(
    msd: Msd, home: Path, project: Path
) -> None:
    install(
        project,
        feature("anchor", title="SPEAKS", description="SPEAKS", gates=[GATE]),
    )

    for verb in (("compose",), ("explain", "anchor"), ("capability", "list")):
        for form in ((), ("--json",)):
            done = msd(*verb, *form, "--home", home, "--project", project)

            assert "SPEAKS" not in done.out
            assert "unconsented" in done.out


def test_ignored_entries_are_told_with_the_reason(
    msd: Msd, home: Path, project: Path
) -> None:
    (home / ".msd" / "capabilities").mkdir(parents=True)
    (home / ".msd" / "capabilities" / "notes.txt").write_text("x", "utf-8")

    done = msd("compose", "--home", home, "--project", project)

    assert done.code == 0
    assert "Ignored\n  notes.txt (global): not a folder\n" in done.out
    explained = msd("explain", "notes.txt", "--home", home, "--project", project)
    assert explained.out.startswith("notes.txt: ignored\n")


def test_what_the_lifecycle_keeps_is_not_told(
    msd: Msd, home: Path, project: Path
) -> None:
    for root in (home, project):
        (root / ".msd" / "capabilities" / ".staging").mkdir(parents=True)
        (root / ".msd" / "capabilities" / ".lock").write_text("", "utf-8")

    for verb in (("compose",), ("capability", "list")):
        for form in ((), ("--json",)):
            done = msd(*verb, *form, "--home", home, "--project", project)

            assert done.code == 0
            assert ".staging" not in done.out
            assert ".lock" not in done.out


def test_notices_about_an_accepted_overlay_are_shown_with_it(
    msd: Msd, home: Path, project: Path
) -> None:
    install(home, feature("anchor", gates=[{**GATE, "point": "verify:post"}]))

    done = msd("compose", "--home", home, "--project", project)

    assert done.code == 0
    assert "warning[kind-not-dispatched] " in done.out


def test_explain_follows_a_dependency_to_the_root_cause(
    msd: Msd, home: Path, project: Path
) -> None:
    install(home, feature("anchor", tier="large"))
    install(home, feature("bollard", requires=["anchor"]))
    install(home, feature("capstan", requires=["bollard"]))

    done = msd("explain", "capstan", "--home", home, "--project", project)

    assert done.code == 1
    assert done.out.startswith("capstan: skipped\n")
    lines = [line.strip() for line in done.out.splitlines()]
    assert "a fit with the others: stopped here" in lines
    assert "a set that can be built: not asked" in lines
    causes = [line for line in lines if line.startswith("because ")]
    assert causes[0].startswith("because bollard (global) is not in (invariant): ")
    assert causes[1].startswith(
        "because the root cause: anchor (global) is not in (invalid-manifest): "
    )


@pytest.mark.parametrize(
    ("capability_id", "verdict", "code"),
    [
        ("ui", "active", 0),
        ("claude-orchestration", "inactive", 1),
        ("release-notes", "active", 0),
        ("design-review", "skipped", 1),
        ("uii", "not found", 1),
    ],
)
def test_explain_gives_one_verdict(
    msd: Msd, capability_id: str, verdict: str, code: int
) -> None:
    done = msd("explain", capability_id, *EXAMPLE)
    wire = msd("explain", capability_id, "--json", *EXAMPLE).json

    assert done.out.startswith(f"{capability_id}: {verdict}\n")
    assert (done.code, wire["verdict"]) == (code, verdict)


def test_explain_names_the_switch_and_the_file_that_set_it(
    msd: Msd, home: Path, project: Path
) -> None:
    config = {"claude_orchestration": {"enabled": True}}
    (project / ".planning" / "config.json").write_text(json.dumps(config), "utf-8")

    done = msd("explain", "claude-orchestration", "--home", home, "--project", project)

    assert done.code == 0
    assert (
        "its switch claude_orchestration.enabled is on, by .planning/config.json"
        in done.out
    )


def test_explain_suggests_the_id_that_was_probably_meant(msd: Msd) -> None:
    assert "did you mean release-notes?" in msd("explain", "relase-notes", *EXAMPLE).out


def test_explain_shows_both_copies_of_an_id(
    msd: Msd, home: Path, project: Path
) -> None:
    install(home, feature("anchor"))
    install(project, feature("anchor", gates=[GATE]))

    wire = msd("explain", "anchor", "--json", "--home", home, "--project", project).json

    assert wire["verdict"] == "active"
    assert [(c["scope"], c["verdict"]) for c in wire["copies"]] == [
        ("global", "active"),
        ("project", "skipped"),
    ]
    assert [g["point"] for g in wire["copies"][1]["blockedGates"]] == ["ship:pre"]


def test_list_has_a_row_for_everything(msd: Msd) -> None:
    done = msd("capability", "list", *EXAMPLE)
    rows = {
        row["id"]: row for row in msd("capability", "list", "--json", *EXAMPLE).json
    }

    assert done.code == 1
    assert len(rows) == 48
    assert rows["ui"]["scope"] == "first-party"
    assert rows["ui"]["status"] == "active"
    assert rows["release-notes"]["version"] == "1.2.0"
    assert rows["deploy-freeze"]["code"] == "incompatible-engine"
    lines = done.out.splitlines()
    assert len(lines) == 1 + 48 + 2
    assert lines[-1] == (
        "45 capabilities composed, 3 left out or ignored; `msd explain ID` tells why"
    )


@pytest.mark.parametrize("verb", [("compose",), ("capability", "list")])
def test_every_verb_agrees_with_explain(msd: Msd, verb: tuple[str, ...]) -> None:
    if verb == ("compose",):
        overlay = msd("compose", "--json", *EXAMPLE).json["_overlay"]
        told = {warning["capId"]: "skipped" for warning in overlay["warnings"]}
        told.update(dict.fromkeys(overlay["accepted"], "active"))
    else:
        rows = msd("capability", "list", "--json", *EXAMPLE).json
        told = {row["id"]: row["status"] for row in rows}

    for capability_id, status in told.items():
        wire = msd("explain", capability_id, "--json", *EXAMPLE).json
        assert wire["verdict"] == status


def test_the_command_that_a_warning_names_ends_the_warning(
    msd: Msd, tmp_path: Path
) -> None:
    shutil.copytree(EXAMPLES, tmp_path, dirs_exist_ok=True)
    here = ("--home", tmp_path / "home", "--project", tmp_path / "project")
    told = msd("compose", "--json", *here).json["_overlay"]["warnings"]
    commands = [
        command.removeprefix("msd ").split()
        for warning in told
        for command in re.findall("`(msd capability remove [^`]+)`", warning["remedy"])
    ]
    assert commands

    codes = [msd(*command, *here).code for command in commands]

    assert codes == [0] * len(commands)
    assert msd("compose", "--json", *here).json["_overlay"]["warnings"] == []


def test_two_saved_compositions_are_compared(msd: Msd, tmp_path: Path) -> None:
    before, after = tmp_path / "before.json", tmp_path / "after.json"
    before.write_text(msd("compose", "--json", *EXAMPLE).out, "utf-8")
    newer = ("--host-version", "2.0.0")
    after.write_text(msd("compose", "--json", *newer, *EXAMPLE).out, "utf-8")

    same, differs = msd("diff", before, before), msd("diff", before, after)

    assert (same.code, same.out) == (0, "0 differences\n")
    assert differs.code == 1
    assert differs.out.startswith(
        "+ capability deploy-freeze appeared: version 2.0.1\n"
    )
    assert differs.out.endswith("5 differences\n")
    wire = msd("diff", "--json", before, after).json
    assert len(wire) == 5
    assert wire[0] == {
        "subject": "capability",
        "name": "deploy-freeze",
        "difference": "appeared",
        "before": "",
        "after": "version 2.0.1",
    }


@pytest.mark.parametrize(
    "content", ["", "[]", "{}", '{"version": "2"}', '{"version": "1", "version": "1"}']
)
def test_what_is_no_saved_composition_is_a_wrong_use(
    msd: Msd, tmp_path: Path, content: str
) -> None:
    path = tmp_path / "a.json"
    path.write_text(content, "utf-8")

    for arguments in ((path, path), (tmp_path / "absent", path)):
        done = msd("diff", *arguments)

        assert (done.code, done.out) == (2, "")
        assert done.err.startswith(f"msd: error: {tmp_path}/")


def test_a_saved_composition_cannot_speak_to_the_terminal(
    msd: Msd, tmp_path: Path
) -> None:
    evil = {"\x1b[2J\u202e": {"version": "\x1b[2J\n"}}
    before, after = tmp_path / "a.json", tmp_path / "b.json"
    before.write_text('{"version": "1"}', "utf-8")
    after.write_text(json.dumps({"version": "1", "capabilities": evil}), "utf-8")

    done = msd("diff", before, after)

    assert done.code == 1
    assert all(line.isprintable() for line in done.out.splitlines())
