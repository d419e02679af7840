"""`msd surface` and `msd capability enable|disable`: the choices, and their effect."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from msdcomp.vocabulary import POINTS

from .conftest import GATE, Finished, Msd, feature, install

VERBS = [
    ("surface", "list"),
    ("surface", "profile", "core"),
    ("surface", "enable", "own"),
    ("surface", "disable", "own"),
    ("surface", "reset"),
    ("capability", "enable", "own"),
    ("capability", "disable", "own"),
    ("capability", "set", "own", "--on"),
    ("capability", "state"),
    ("capability", "state", "own"),
    ("capability", "list"),
    ("explain", "own"),
    ("loop", "render-hooks", "plan:pre"),
]
WRITING = [words for words in VERBS if words[1] in ("profile", "enable", "disable")]


@pytest.fixture
def places(home: Path, project: Path) -> list[str]:
    """The options that say where to look, with one overlay that has a gate alone."""
    install(home, feature("own", gates=[GATE]))
    return ["--home", str(home), "--project", str(project)]


@pytest.fixture
def file(home: Path) -> Path:
    """The file of the choices."""
    (home / ".claude").mkdir()
    return home / ".claude" / ".msd-surface.json"


def states(done: Finished) -> dict[str, Any]:
    return {state["id"]: state for state in done.json}


# What is printed.


@pytest.mark.parametrize("words", VERBS, ids=" ".join)
def test_every_verb_prints_json_and_no_complaint(
    msd: Msd, places: list[str], words: tuple[str, ...]
) -> None:
    done = msd(*words, *places, "--json")

    assert done.code == 0
    assert done.json is not None
    assert "error" not in done.err


@pytest.mark.parametrize("words", VERBS, ids=" ".join)
def test_an_unknown_runtime_is_a_wrong_use_that_names_the_known_ones(
    msd: Msd, places: list[str], words: tuple[str, ...]
) -> None:
    for given in ("clawd", "", "\x1b[2J", "x" * 9_999):
        done = msd(*words, *places, "--json", "--runtime", given)

        assert (done.code, done.out) == (2, "")
        assert done.err.startswith("msd: error: --runtime: ")
        assert "known: antigravity, augment, claude, " in done.err
        assert "\x1b" not in done.err
        assert len(done.err) < 2_000


@pytest.mark.parametrize("words", VERBS, ids=" ".join)
def test_a_folder_that_is_none_is_a_wrong_use(
    msd: Msd, places: list[str], tmp_path: Path, words: tuple[str, ...]
) -> None:
    done = msd(*words, *places, "--config-dir", tmp_path / "gone")

    assert (done.code, done.out) == (2, "")
    assert "--config-dir: " in done.err
    assert not (tmp_path / "gone").exists()


@pytest.mark.parametrize("words", VERBS, ids=" ".join)
def test_a_home_that_is_no_folder_is_a_wrong_use(
    msd: Msd, tmp_path: Path, words: tuple[str, ...]
) -> None:
    done = msd(*words, "--home", tmp_path / "gone")

    assert (done.code, done.out) == (2, "")
    assert "--home: " in done.err


@pytest.mark.parametrize(
    "words",
    [*WRITING, ("surface", "reset"), ("capability", "set", "own", "--on")],
    ids=" ".join,
)
def test_a_runtime_without_a_folder_has_nowhere_to_keep_choices(
    msd: Msd, places: list[str], words: tuple[str, ...]
) -> None:
    done = msd(*words, *places, "--runtime", "vscode")

    assert done.code == 2
    assert "--config-dir" in done.err
    assert msd("surface", "list", *places, "--runtime", "vscode").code == 0


@pytest.mark.parametrize(
    "words", [["listen"], ["profile"], ["enable"], ["list", "own"], ["reset", "own"]]
)
def test_what_is_no_action_is_refused(
    msd: Msd, places: list[str], words: list[str]
) -> None:
    done = msd("surface", *words, *places)

    assert done.code == 2
    assert "expected `list`" in done.err


def test_a_list_tells_profiles_clusters_and_what_decided(
    msd: Msd, home: Path, places: list[str]
) -> None:
    install(home, feature("two", tier="standard", skills=["two-go", "two-do"]))
    msd("surface", "profile", "standard", *places)

    done = msd("surface", "list", *places, "--json")

    told = done.json
    assert set(told) == {
        "profile",
        "runtime",
        "file",
        "unreadable",
        "unknownProfiles",
        "notComposed",
        "capabilities",
    }
    assert (told["profile"], told["runtime"]) == ("standard", None)
    assert told["file"] == f"{home}/.claude/.msd-surface.json"
    rows = {row["id"]: row for row in told["capabilities"]}
    assert rows["two"] == {
        "id": "two",
        "on": True,
        "profiles": ["standard", "full"],
        "cluster": ["two-do", "two-go"],
        "switch": "profile",
        "because": "",
    }
    assert (rows["own"]["on"], rows["own"]["profiles"]) == (False, ["full"])
    text = msd("surface", "list", *places).out
    assert "profile standard of core, standard, full" in text
    assert "it is not in the profile standard" in text


def test_what_was_chosen_and_is_not_here_is_said(
    msd: Msd, places: list[str], file: Path
) -> None:
    file.write_text(
        '{"baseProfile": "cor", "disabledClusters": ["gone", "\\u001b[2J"]}', "utf-8"
    )

    done = msd("surface", "list", *places)

    assert "chosen about, and not composed here: " in done.out
    assert "gone" in done.out
    assert "no profile: cor" in done.out
    assert "\x1b" not in done.out
    told = msd("surface", "list", *places, "--json").json
    assert told["unknownProfiles"] == ["cor"]
    assert told["notComposed"] == ["\x1b[2J", "gone"]
    assert told["profile"] == "full"


# Enabling and disabling.


@pytest.mark.parametrize("verb", ["surface", "capability"])
def test_what_has_only_a_gate_can_be_disabled_and_enabled_again(
    msd: Msd, home: Path, places: list[str], verb: str
) -> None:
    off = msd(verb, "disable", "own", *places, "--json")

    assert off.code == 0
    assert off.json["state"]["active"] is False
    assert off.json["state"]["code"] == "disabled"
    assert off.json["lostGates"] == [
        {"id": "own", "point": "ship:pre", "blocking": True}
    ]
    assert [state["id"] for state in off.json["changed"]] == ["own"]
    hooks = msd("loop", "render-hooks", "ship:pre", *places, "--json").json
    assert "own" not in {hook["capId"] for hook in hooks["activeHooks"]}
    assert (home / ".msd" / "capabilities" / "own").is_dir()

    on = msd(verb, "enable", "own", *places, "--json")

    assert on.code == 0
    assert on.json["state"]["active"] is True
    assert on.json["lostGates"] == []
    hooks = msd("loop", "render-hooks", "ship:pre", *places, "--json").json
    assert "own" in {hook["capId"] for hook in hooks["activeHooks"]}


@pytest.mark.parametrize("more", [[], ["--json"]])
def test_gates_that_no_longer_run_are_named_in_every_output_mode(
    msd: Msd, places: list[str], more: list[str]
) -> None:
    done = msd("surface", "disable", "own", *places, *more)

    line = "msd: warning: the blocking gate of own at ship:pre no longer runs\n"
    assert done.err == line


def test_a_smaller_profile_names_every_gate_that_goes(
    msd: Msd, places: list[str]
) -> None:
    def gates() -> set[tuple[str, str]]:
        found = set()
        for point in POINTS:
            told = msd("loop", "render-hooks", point, *places, "--json").json
            found |= {
                (hook["capId"], point)
                for hook in told["activeHooks"]
                if hook["kind"] == "gate"
            }
        return found

    before = gates()
    done = msd("surface", "profile", "core", *places)
    lost = before - gates()

    assert ("own", "ship:pre") in lost
    for owner, point in lost:
        assert f"gate of {owner} at {point} no longer runs\n" in done.err
    assert len(done.err.splitlines()) >= len(lost)


def test_a_project_overlay_can_be_disabled_once_it_is_trusted(
    msd: Msd, project: Path, places: list[str]
) -> None:
    install(project, feature("theirs", gates=[GATE]))
    before = msd("capability", "disable", "theirs", *places)
    assert before.code == 2
    assert "theirs is not composed here; `msd explain theirs` tells why" in before.err

    msd("capability", "trust", "theirs", "--yes", *places)
    done = msd("capability", "disable", "theirs", *places, "--json")

    assert done.code == 0
    assert done.json["state"]["scope"] == "project"
    assert done.json["state"]["stopped"] == "surfaced"


def test_a_skipped_overlay_that_is_disabled_still_has_its_gates_missed(
    msd: Msd, home: Path, places: list[str]
) -> None:
    msd("surface", "disable", "own", *places)
    manifest = home / ".msd" / "capabilities" / "own" / "capability.json"
    document = {**feature("own", gates=[GATE]), "engines": {"msd": "<0.1.0"}}
    manifest.write_text(json.dumps(document), "utf-8")

    done = msd("loop", "render-hooks", "ship:pre", *places)

    assert "msd: warning: " in done.err
    assert "own" in done.err


@pytest.mark.parametrize("words", [("surface",), ("capability",)])
def test_an_unknown_id_is_refused_with_a_suggestion(
    msd: Msd, places: list[str], file: Path, words: tuple[str, ...]
) -> None:
    done = msd(*words, "disable", "onw", *places)

    assert (done.code, done.out) == (2, "")
    assert "onw is not composed here; did you mean own?" in done.err
    assert not file.exists()


def test_the_state_of_what_there_is_not_is_refused_with_a_suggestion(
    msd: Msd, places: list[str]
) -> None:
    done = msd("capability", "state", "onw", *places)

    assert (done.code, done.out) == (1, "")
    assert "named onw; did you mean own?" in done.err
    assert "mean" not in msd("capability", "state", "\x1b[2J", *places).err


def test_what_is_gone_can_be_chosen_about_no_more(
    msd: Msd, places: list[str], file: Path
) -> None:
    file.write_text('{"disabledClusters": ["gone"]}', "utf-8")

    assert msd("surface", "enable", "gone", *places).code == 0
    assert json.loads(file.read_text("utf-8"))["disabledClusters"] == []
    assert msd("surface", "enable", "gone", *places).code == 2


def test_enabling_goes_beyond_the_profile_and_tells_other_hosts(
    msd: Msd, home: Path, places: list[str], file: Path
) -> None:
    install(home, feature("two", skills=["two-go"], requires=["own"]))
    msd("surface", "profile", "core", *places)

    done = msd("surface", "enable", "two", *places, "--json")

    assert done.json["state"]["standing"]["switch"] == "enabled"
    assert {state["id"] for state in done.json["changed"]} == {"own", "two"}
    kept = json.loads(file.read_text("utf-8"))
    assert kept["explicitAdds"] == ["two-go"]
    assert kept["enabledCapabilities"] == ["two"]
    msd("surface", "disable", "two", *places)
    kept = json.loads(file.read_text("utf-8"))
    assert kept["explicitAdds"] == kept["enabledCapabilities"] == []
    assert kept["disabledClusters"] == ["two"]


def test_enabling_inside_the_profile_only_takes_back_what_held_it_back(
    msd: Msd, home: Path, places: list[str], file: Path
) -> None:
    install(home, feature("two", skills=["two-go"]))
    text = {"disabledClusters": ["two"], "explicitRemoves": ["two-go", "other"]}
    file.write_text(json.dumps(text), "utf-8")

    msd("surface", "enable", "two", *places)

    kept = json.loads(file.read_text("utf-8"))
    assert (kept["disabledClusters"], kept["explicitRemoves"]) == ([], ["other"])
    assert (kept["explicitAdds"], kept.get("enabledCapabilities")) == ([], None)


def test_who_still_requires_what_is_disabled_is_named(
    msd: Msd, home: Path, places: list[str]
) -> None:
    install(home, feature("two", requires=["own"]))

    done = msd("surface", "disable", "own", *places, "--json")

    note = "two is on the surface and requires own, which is not"
    assert done.json["notes"] == [note]
    assert f"msd: note: {note}\n" in done.err
    assert states(msd("capability", "state", *places, "--json"))["two"]["active"]


def test_enabling_against_the_runtime_comes_to_nothing_and_says_so(
    msd: Msd, home: Path, places: list[str]
) -> None:
    only = {"supported": ["claude"], "unsupported": []}
    install(home, feature("two", runtimeCompat=only))

    done = msd("surface", "enable", "two", *places, "--runtime", "codex", "--json")

    assert done.code == 1
    assert done.json["notes"] == ["two: it is not made for codex"]
    assert done.json["state"]["standing"]["switch"] == "runtime"


def test_enabling_what_waits_for_a_key_says_so(
    msd: Msd, home: Path, places: list[str]
) -> None:
    switch = {"type": "boolean", "default": False, "description": "-"}
    waiting = [{**GATE, "when": "two.go"}]
    install(home, feature("two", config={"two.go": switch}, gates=waiting))

    done = msd("surface", "enable", "two", *places)

    assert done.code == 0
    assert "two: every hook of it waits for a key that is off" in done.err


def test_enabling_what_its_own_switch_holds_back_says_so(
    msd: Msd, home: Path, places: list[str]
) -> None:
    switch = {"type": "boolean", "default": False, "description": "-"}
    waiting = feature("two", config={"two.on": switch}, activationKey="two.on")
    install(home, waiting)

    done = msd("surface", "enable", "two", *places)

    assert done.code == 0
    assert done.err == "msd: note: two: its switch two.on is off, by its default\n"


def test_a_change_that_changes_nothing_says_so(msd: Msd, places: list[str]) -> None:
    msd("surface", "profile", "full", *places)

    done = msd("surface", "profile", "FULL, core", *places)

    assert (done.code, done.err) == (0, "")
    assert done.out == "nothing that is composed here has changed\n"


def test_what_is_no_profile_is_refused(msd: Msd, places: list[str], file: Path) -> None:
    done = msd("surface", "profile", "core,large", *places)

    assert done.code == 2
    assert "large is no profile (profiles: core, standard, full)" in done.err
    assert not file.exists()


def test_a_reset_goes_back_to_the_marker(
    msd: Msd, places: list[str], file: Path
) -> None:
    (file.parent / ".msd-profile").write_text("standard\n", "utf-8")
    file.write_text(
        '{"baseProfile": "core", "disabledClusters": ["own"], "theirs": 1}', "utf-8"
    )

    done = msd("surface", "reset", *places, "--json")

    assert (done.code, done.json["profile"]) == (0, "standard")
    kept = json.loads(file.read_text("utf-8"))
    assert (kept["disabledClusters"], kept["theirs"]) == ([], 1)


def test_a_reset_to_a_marker_that_cannot_be_read_is_refused(
    msd: Msd, places: list[str], file: Path
) -> None:
    (file.parent / ".msd-profile").write_text("no profile!", "utf-8")
    file.write_text('{"baseProfile": "core", "disabledClusters": ["own"]}', "utf-8")

    done = msd("surface", "reset", *places)

    assert (done.code, done.out) == (2, "")
    assert ".msd-profile: names no profile; repair it" in done.err
    assert json.loads(file.read_text("utf-8"))["disabledClusters"] == ["own"]


@pytest.mark.parametrize("words", WRITING, ids=" ".join)
def test_the_file_that_keeps_from_writing_is_named(
    msd: Msd, places: list[str], file: Path, words: tuple[str, ...]
) -> None:
    (file.parent / ".msd-profile").write_text("no profile!", "utf-8")

    done = msd(*words, *places)

    assert done.code == 2
    assert ".msd-profile" in done.err
    assert not file.exists()


# What cannot be read.


@pytest.mark.parametrize("words", WRITING, ids=" ".join)
def test_choices_that_cannot_be_read_are_not_written(
    msd: Msd, places: list[str], file: Path, words: tuple[str, ...]
) -> None:
    file.write_text("{", "utf-8")

    done = msd(*words, *places)

    assert (done.code, done.out) == (2, "")
    assert "left as it is" in done.err
    assert file.read_text("utf-8") == "{"


def test_choices_that_cannot_be_read_are_told_by_every_verb(
    msd: Msd, places: list[str], file: Path
) -> None:
    file.write_text("{", "utf-8")

    listed = msd("surface", "list", *places)
    assert listed.code == 1
    assert "cannot be read" in listed.out
    told = msd("capability", "state", "own", *places)
    assert told.code == 1
    assert "own: could not be checked" in told.out
    assert "surfaced: could not be checked" in told.out
    assert "what cannot be checked keeps its gates" in told.out
    assert "surface-unreadable" in msd("capability", "list", *places).out
    hooks = msd("loop", "render-hooks", "ship:pre", *places, "--json")
    assert hooks.code == 0
    assert "msd: warning: nobody knows what is on the surface" in hooks.err
    kinds = {hook["kind"] for hook in hooks.json["activeHooks"]}
    assert kinds == {"gate"}


# Which folder.


def test_the_environment_names_the_folder_as_it_does_for_the_host(
    msd: Msd,
    home: Path,
    project: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    install(home, feature("own", gates=[GATE]))
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(elsewhere))
    monkeypatch.setenv("MSD_HOME", str(home))

    done = msd("surface", "disable", "own", "--project", project)

    assert done.code == 0
    assert (elsewhere / ".msd-surface.json").is_file()
    assert not (home / ".claude").exists()


def test_the_environment_says_nothing_about_a_home_that_was_named(
    msd: Msd, places: list[str], file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(file.parent.parent / "elsewhere"))

    assert msd("surface", "disable", "own", *places).code == 0

    assert file.is_file()
    assert not (file.parent.parent / "elsewhere").exists()


def test_each_runtime_has_choices_of_its_own(
    msd: Msd, home: Path, places: list[str]
) -> None:
    msd("surface", "disable", "own", *places, "--runtime", "codex")

    assert (home / ".codex" / ".msd-surface.json").is_file()
    assert msd("capability", "state", "own", *places).code == 0
    assert msd("capability", "state", "own", *places, "--runtime", "codex").code == 1
    folder = ("--config-dir", home / ".codex")
    assert msd("capability", "state", "own", *places, *folder).code == 1


def test_a_repository_has_no_say_in_whose_choices_count(
    msd: Msd, project: Path, places: list[str]
) -> None:
    msd("surface", "disable", "own", *places)
    config = project / ".planning" / "config.json"
    config.write_text('{"runtime": "codex"}', "utf-8")

    assert msd("capability", "state", "own", *places).code == 1
