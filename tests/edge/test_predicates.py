"""Where an artefact is looked for, and what keeps anybody from telling."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from msdcomp.configlayers import ConfigLayers, Effective, lookup
from msdcomp.edge import predicates as edge
from msdcomp.edge.files import FileFault, Listing, list_folder
from msdcomp.edge.predicates import Phase, evaluate, find_artifact
from msdcomp.predicate import Answer, Artifact, Result, read_predicate
from tests.strategies import json_values, predicates

EXISTS = {"kind": "artifact-exists", "artifact": "PLAN.md"}
CLEAR = {
    "kind": "artifact-frontmatter-equals",
    "artifact": "PLAN.md",
    "field": "open",
    "equals": 0,
}


def _absent(key: str) -> Effective:
    return lookup(key, ConfigLayers(), {})


def ask(value: Any, phase: Phase) -> Answer:
    predicate = read_predicate(value).predicate
    assert predicate is not None
    return evaluate(predicate, phase, _absent)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / ".planning" / "phases" / "03-sea").mkdir(parents=True)
    return tmp_path


PHASE = ".planning/phases/03-sea"


@pytest.fixture
def phase(project: Path) -> Phase:
    return Phase(project=str(project), folder=PHASE, number="3")


@pytest.fixture
def folder(project: Path) -> Path:
    return project / PHASE


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which names of every kind stand for something odd."""
    root = tmp_path_factory.mktemp("shared")
    (root / "PLAN.md").write_text("---\nopen: 0\n---\n", "utf-8")
    (root / "1-SECURITY.md").write_text("---\nf: &a [*a]\n---\n", "utf-8")
    (root / "2-SECURITY.md").mkdir()
    os.mkfifo(root / "-n")
    (root / "a b'c.md").symlink_to("/etc/passwd")
    return root


@given(
    predicates,
    st.sampled_from(["", "gone", "PLAN.md", "/", "../..", "a\0b", "\udcff"]),
    st.booleans(),
)
@settings(max_examples=60)
def test_whatever_is_asked_of_whatever_there_is_has_an_answer(
    shared: Path, value: Any, folder: str, is_project: bool
) -> None:
    where = Phase(project=str(shared) if is_project else None, folder=folder)

    answer = ask(value, where)

    json.dumps(answer.to_wire())
    assert answer.details["kind"] == value["kind"]


@given(json_values, json_values)
def test_a_configuration_value_is_compared_by_the_lookup(held: Any, asked: Any) -> None:
    layers = ConfigLayers(explicit={"a": {"b": held}})
    predicate = read_predicate(
        {"kind": "config-equals", "key": "a.b", "equals": asked}
    ).predicate
    assert predicate is not None

    answer = evaluate(
        predicate, Phase(project=None), lambda key: lookup(key, layers, {})
    )

    if json.dumps(held, sort_keys=True) == json.dumps(asked, sort_keys=True):
        assert answer.result is Result.PASS
    elif type(held) is not type(asked) and not isinstance(held, int | float):
        assert answer.result is Result.FAIL


def test_the_places_are_tried_in_their_order(phase: Phase, folder: Path) -> None:
    assert find_artifact("PLAN.md", phase) == Artifact()
    (folder / "03-PLAN.md").touch()
    assert find_artifact("PLAN.md", phase).files == ("03-PLAN.md",)
    (folder / "03-01-PLAN.md").touch()
    assert find_artifact("PLAN.md", phase).files == ("03-01-PLAN.md", "03-PLAN.md")
    (folder / ".planning").mkdir()
    (folder / ".planning" / "PLAN.md").touch()
    assert find_artifact("PLAN.md", phase).files == (".planning/PLAN.md",)
    (folder / "PLAN.md").touch()
    assert find_artifact("PLAN.md", phase).files == ("PLAN.md",)


@pytest.mark.parametrize("name", ["MYPLAN.md", "03-PLAN.md.bak", "03-plan.md", "PLAN"])
def test_other_names_are_other_files(phase: Phase, folder: Path, name: str) -> None:
    (folder / name).touch()

    assert ask(EXISTS, phase).result is Result.FAIL


@pytest.mark.parametrize("given_", ["", PHASE, "absolute"])
def test_the_folder_is_seen_from_the_project(project: Path, given_: str) -> None:
    target = project if given_ == "" else project / PHASE
    (target / "PLAN.md").touch()
    named = str(project / PHASE) if given_ == "absolute" else given_

    answer = ask(EXISTS, Phase(project=str(project), folder=named))

    assert answer.result is Result.PASS


def test_an_absolute_folder_needs_no_project(folder: Path) -> None:
    (folder / "PLAN.md").touch()

    assert ask(EXISTS, Phase(project=None, folder=str(folder))).result is Result.PASS


@pytest.mark.parametrize("value", [EXISTS, CLEAR])
@pytest.mark.parametrize(
    ("folder", "reason"),
    [
        ("gone", "the folder of the phase: no such file"),
        ("file", "the folder of the phase: not a folder"),
        ("a\0b", "the folder of the phase: not a possible file name"),
        ("loop", "the folder of the phase: a symbolic link that cannot be followed"),
    ],
)
def test_a_folder_that_cannot_be_looked_into_is_no_answer(
    project: Path, value: Any, folder: str, reason: str
) -> None:
    (project / "file").touch()
    (project / "loop").symlink_to("loop")

    answer = ask(value, Phase(project=str(project), folder=folder))

    assert answer.result is Result.COULD_NOT_CHECK
    assert answer.message == f"could not look for PLAN.md: {reason}"


def test_without_a_project_nobody_can_tell() -> None:
    nowhere = Phase(project=None, folder=PHASE)
    command = {"kind": "command-exit-zero", "command": "true"}

    for value in (EXISTS, CLEAR, command):
        answer = ask(value, nowhere)
        assert answer.result is Result.COULD_NOT_CHECK
        assert "there is no project here" in answer.message


def _make(kind: str, path: Path) -> None:
    match kind:
        case "folder":
            path.mkdir()
        case "fifo":
            os.mkfifo(path)
        case "device":
            path.symlink_to("/dev/zero")
        case "outside":
            path.symlink_to("/etc/passwd")
        case "above":
            phases = next(above for above in path.parents if above.name == "phases")
            other = phases / "other"
            other.write_text("---\nopen: 0\n---\n", "utf-8")
            path.symlink_to(os.path.relpath(other, path.parent))
        case "circle":
            path.symlink_to(path.name)


@pytest.mark.parametrize("value", [EXISTS, CLEAR])
@pytest.mark.parametrize("name", ["PLAN.md", ".planning/PLAN.md", "03-PLAN.md"])
@pytest.mark.parametrize(
    "kind", ["folder", "fifo", "device", "outside", "above", "circle"]
)
def test_what_is_no_file_of_the_folder_is_no_answer(
    phase: Phase, folder: Path, value: Any, name: str, kind: str
) -> None:
    (folder / name).parent.mkdir(exist_ok=True)
    _make(kind, folder / name)

    answer = ask(value, phase)

    assert answer.result is Result.COULD_NOT_CHECK
    assert answer.message.startswith(f"could not look for PLAN.md: {name}: ")


def test_a_linked_folder_does_not_lead_out_either(
    phase: Phase, folder: Path, project: Path
) -> None:
    (project / "PLAN.md").write_text("---\nopen: 0\n---\n", "utf-8")
    (folder / ".planning").symlink_to("../../..")

    assert ask(EXISTS, phase).result is Result.COULD_NOT_CHECK


@pytest.mark.parametrize("target", ["real.md", "below/real.md"])
def test_a_link_inside_the_folder_is_followed(
    phase: Phase, folder: Path, target: str
) -> None:
    (folder / "below").mkdir()
    (folder / target).write_text("---\nopen: 0\n---\n", "utf-8")
    (folder / "PLAN.md").symlink_to(target)

    assert ask(EXISTS, phase).result is Result.PASS
    assert ask(CLEAR, phase).result is Result.PASS


@pytest.mark.parametrize("name", ["PLAN.md", "03-PLAN.md"])
def test_a_link_to_nothing_is_nothing(phase: Phase, folder: Path, name: str) -> None:
    (folder / name).symlink_to("nothing.md")

    assert ask(EXISTS, phase).result is Result.FAIL


def test_an_empty_file_and_a_huge_one_exist(phase: Phase, folder: Path) -> None:
    (folder / "PLAN.md").touch()
    assert ask(EXISTS, phase).result is Result.PASS
    os.truncate(folder / "PLAN.md", 1 << 40)
    assert ask(EXISTS, phase).result is Result.PASS
    answer = ask(CLEAR, phase)
    assert answer.result is Result.COULD_NOT_CHECK
    assert "larger than" in answer.message


@pytest.mark.parametrize("name", ["PLAN.md", "03-PLAN.md"])
def test_a_name_that_is_no_text_is_passed_over_or_told_of(
    phase: Phase, folder: Path, name: str
) -> None:
    (folder / os.fsdecode(b"\xff-" + name.encode())).touch()

    answer = ask(EXISTS, phase)

    assert answer.result is Result.COULD_NOT_CHECK
    assert "not a possible file name" in answer.message
    answer.message.encode()


def test_a_folder_with_too_many_entries_may_hold_it(
    phase: Phase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(edge, "list_folder", lambda _: Listing((), complete=False))

    answer = ask(EXISTS, phase)

    assert answer.result is Result.COULD_NOT_CHECK
    assert "too many entries" in answer.message


def test_one_of_too_many_entries_exists_and_need_not_be_the_only_one(
    phase: Phase, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def cut_off(fd: int) -> Listing:
        listing = list_folder(fd)
        assert isinstance(listing, Listing)
        return attrs.evolve(listing, complete=False)

    (folder / "03-PLAN.md").write_text("---\nopen: 0\n---\n", "utf-8")
    monkeypatch.setattr(edge, "list_folder", cut_off)

    assert ask(EXISTS, phase).result is Result.PASS
    answer = ask(CLEAR, phase)
    assert answer.result is Result.COULD_NOT_CHECK
    assert "too many entries" in answer.message


def test_a_folder_that_may_not_be_listed_may_hold_it(
    phase: Phase, monkeypatch: pytest.MonkeyPatch
) -> None:
    fault = FileFault("permission", "permission denied")
    monkeypatch.setattr(edge, "list_folder", lambda _: fault)

    answer = ask(EXISTS, phase)

    assert answer.result is Result.COULD_NOT_CHECK
    assert "permission denied" in answer.message


def test_one_of_several_is_enough_to_exist_and_none_is_read(
    phase: Phase, folder: Path
) -> None:
    for number in (1, 2):
        (folder / f"03-0{number}-PLAN.md").write_text("---\nopen: 0\n---\n", "utf-8")

    assert ask(EXISTS, phase).details["file"] == "03-01-PLAN.md"
    answer = ask(CLEAR, phase)
    assert answer.result is Result.COULD_NOT_CHECK
    assert answer.message == (
        "could not tell which file is PLAN.md: there are 03-01-PLAN.md and "
        "03-02-PLAN.md"
    )


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("---\nopen: 0\n---\n", Result.PASS),
        ("---\nopen: 2\n---\n", Result.FAIL),
        ("---\nclosed: 0\n---\n", Result.FAIL),
        ("open: 0\n", Result.FAIL),
        ("---\nopen: 0\n", Result.COULD_NOT_CHECK),
        ("---\nopen: 0\nopen: 0\n---\n", Result.COULD_NOT_CHECK),
    ],
)
def test_the_front_matter_decides(
    phase: Phase, folder: Path, text: str, result: Result
) -> None:
    (folder / "03-PLAN.md").write_text(text, "utf-8")

    assert ask(CLEAR, phase).result is result


def test_a_missing_artefact_fails(phase: Phase) -> None:
    answer = ask(CLEAR, phase)

    assert (answer.result, answer.message) == (Result.FAIL, "PLAN.md is not there")


# Commands.


def _command(text: str) -> dict[str, Any]:
    return {"kind": "command-exit-zero", "command": text, "timeout": 120}


@pytest.mark.parametrize(
    ("name", "variable"),
    [
        ("folder", "PHASE_DIR"),
        ("number", "PHASE_NUMBER"),
        ("requirements", "PHASE_REQ_IDS"),
    ],
)
@pytest.mark.parametrize("value", ["a[$(touch planted)]", "$(touch planted)", "'"])
def test_no_value_is_read_as_code_by_what_reads_code(
    project: Path, name: str, variable: str, value: str
) -> None:
    where = attrs.evolve(Phase(project=str(project)), **{name: value})

    for text in (f"test $((${{{variable}}})) = 1", f'eval "echo ${{{variable}}}"'):
        answer = ask(_command(text), where)
        assert answer.result is Result.COULD_NOT_CHECK
        assert f"it may read {variable} as code" in answer.message
    assert not (project / "planted").exists()


def test_a_plain_value_may_be_calculated_with(project: Path) -> None:
    where = Phase(project=str(project), number="7", folder="$(odd)")

    answer = ask(_command("test $((${PHASE_NUMBER} + 1)) = 8"), where)

    assert answer.result is Result.PASS


def test_what_the_host_did_not_say_is_empty(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also when the environment of `msd` has a variable of that name."""
    monkeypatch.setenv("PHASE_NUMBER", "5")

    answer = ask(
        _command('echo "<${PHASE_NUMBER}${PHASE_DIR}${PHASE_REQ_IDS}>"'),
        Phase(project=str(project)),
    )

    assert answer.details["output"] == "<>\n"


def test_the_folder_of_the_phase_is_named_as_it_was_given(
    project: Path, folder: Path
) -> None:
    (folder / "PLAN.md").touch()
    where = Phase(project=str(project), folder=PHASE)

    assert ask(_command('test -f "${PHASE_DIR}/PLAN.md"'), where).result is Result.PASS
