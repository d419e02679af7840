"""Configuration files are changed whole or not at all, and keep what is not ours."""

from __future__ import annotations

import contextlib
import json
import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from msdcomp.configlayers import Origin
from msdcomp.configwriting import ConfigChange, ConfigEdit
from msdcomp.edge import configfile
from msdcomp.edge.configfile import (
    LOCK,
    edit_file,
    schema_of,
    set_gates,
    set_key,
    unset_key,
)
from msdcomp.edge.files import FileFault
from msdcomp.edge.locks import locked
from msdcomp.edge.roots import Places
from msdcomp.edge.snapshot import read_snapshot
from tests.layouts import put, write

FILE = ".planning/config.json"
REGISTRY = read_snapshot()
SCHEMA = schema_of(REGISTRY)
ON = ConfigEdit(key="workflow.ui_review", value=True)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


def _edit(project: Path, *edits: ConfigEdit, **options: Any) -> bool | FileFault:
    return edit_file(str(project), FILE, edits, **options)


def _codes(change: ConfigChange) -> list[str]:
    return [problem.code for problem in change.problems]


# The file.


def test_a_file_is_made_only_when_something_is_to_be_set(project: Path) -> None:
    assert _edit(project, ConfigEdit(key="a.b", unset=True)) is False
    assert list(project.iterdir()) == []
    assert _edit(project, ON) is True
    assert (project / FILE).read_text() == (
        '{\n  "workflow": {\n    "ui_review": true\n  }\n}\n'
    )


def test_the_lock_is_gone_afterwards(project: Path) -> None:
    _edit(project, ON)
    assert [path.name for path in (project / ".planning").iterdir()] == ["config.json"]


def test_what_is_there_already_is_not_written_again(project: Path) -> None:
    write(project / FILE, '{"workflow":{"ui_review":true}}')
    before = (project / FILE).stat()
    assert _edit(project, ON) is False
    assert (project / FILE).stat() == before


def test_all_edits_are_made_at_once_or_none(project: Path) -> None:
    write(project / FILE, '{"a": 1}')
    blocked = ConfigEdit(key="a.b", value=2)
    found = _edit(project, ON, blocked)
    assert isinstance(found, FileFault)
    assert (found.code, found.reason) == (
        "wrong-shape",
        "a is no object there, so nothing can be put below it",
    )
    assert (project / FILE).read_text() == '{"a": 1}'
    assert _edit(project, ON, ConfigEdit(key="a", unset=True)) is True
    assert json.loads((project / FILE).read_text()) == {"workflow": {"ui_review": True}}


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o666])
def test_the_permissions_stay(project: Path, mode: int) -> None:
    write(project / FILE, "{}")
    (project / FILE).chmod(mode)
    assert _edit(project, ON) is True
    assert stat.S_IMODE((project / FILE).stat().st_mode) == mode


@pytest.mark.parametrize(
    ("spec", "code", "reason"),
    [
        ('{"a": 1, "a": 2}', "damaged", "line 1, column 10: "),
        ('{"a": NaN}', "damaged", "line 1, column 7: "),
        ("\ufeff{}", "damaged", "line 1, column 1: "),
        ('{"a": 1} // mine', "damaged", "line 1, column 10: "),
        ("", "damaged", "line 1, column 1: "),
        ("[]", "damaged", "it holds JSON, but not one object"),
        ({"dir": True}, "not-regular", ""),
        ({"fifo": True}, "not-regular", ""),
        ({"symlink": "/dev/null"}, "escapes", "leads out of the project"),
        ({"symlink": "../../outside.json"}, "escapes", "leads out of the project"),
        ({"pad": {"json": {}, "bytes": 9_000_000}}, "too-large", ""),
        ({"pad": {"json": {}, "bytes": 8 * 1024 * 1024}}, "wrong-shape", "it could"),
    ],
)
def test_what_cannot_be_understood_is_not_touched(
    project: Path, spec: Any, code: str, reason: str
) -> None:
    put(project / FILE, spec)
    (project.parent / "outside.json").write_text("{}")
    before = os.lstat(project / FILE)

    found = _edit(project, ON)

    assert isinstance(found, FileFault)
    assert found.code == code
    assert found.reason.startswith(reason)
    after = os.lstat(project / FILE)
    assert (before.st_ino, before.st_size) == (after.st_ino, after.st_size)
    assert (project.parent / "outside.json").read_text() == "{}"


def test_a_link_inside_of_the_project_stays_one(project: Path) -> None:
    write(project / "shared.json", "{}")
    put(project / FILE, {"symlink": "../shared.json"})
    assert _edit(project, ON) is True
    assert (project / FILE).is_symlink()
    assert "ui_review" in (project / "shared.json").read_text()


@pytest.mark.parametrize("target", ["elsewhere", "../outside"])
def test_nothing_is_written_through_a_link_of_the_folder(
    project: Path, target: str
) -> None:
    (project / target).mkdir()
    (project / ".planning").symlink_to(target)
    found = _edit(project, ON)
    assert isinstance(found, FileFault)
    assert found.code in {"link", "escapes"}
    assert list((project / target).iterdir()) == []


def test_a_project_that_is_gone_is_told(tmp_path: Path) -> None:
    found = edit_file(str(tmp_path / "gone"), FILE, (ON,))
    assert isinstance(found, FileFault)
    assert found.code == "missing"


def test_half_a_character_is_not_written(project: Path) -> None:
    found = _edit(project, ConfigEdit(key="a", value="\udcff"))
    assert isinstance(found, FileFault)
    assert found.reason.startswith("it could not be read: a string must hold whole")
    assert not (project / FILE).exists()


@pytest.mark.parametrize("value", [float("inf"), float("nan")])
def test_what_is_no_json_is_not_written(project: Path, value: float) -> None:
    unwritable = FileFault("wrong-shape", "the value cannot be written as JSON")
    assert _edit(project, ConfigEdit(key="a.b", value=value)) == unwritable
    assert not (project / FILE).exists()
    write(project / FILE, '{"a": {"b": 1}}')
    assert _edit(project, ConfigEdit(key="a.b", value=value)) == unwritable


def test_an_edit_can_stand_in_the_way_of_the_next(project: Path) -> None:
    found = _edit(
        project, ConfigEdit(key="a", value=1), ConfigEdit(key="a.b.c", value=1)
    )
    assert isinstance(found, FileFault)
    assert found.reason.startswith("a is no object there")


@pytest.mark.parametrize(
    ("meanwhile", "found"),
    [
        ("{", "damaged"),
        ('{"workflow": {"ui_review": true}}', False),
        ('{"z": 1}', True),
    ],
)
def test_what_was_written_while_waiting_counts(
    project: Path, monkeypatch: pytest.MonkeyPatch, meanwhile: str, found: object
) -> None:
    write(project / FILE, '{"a": 1}')

    @contextlib.contextmanager
    def busy(*args: Any, **options: Any) -> Iterator[FileFault | None]:
        with locked(*args, **options) as fault:
            write(project / FILE, meanwhile)
            yield fault

    monkeypatch.setattr(configfile, "locked", busy)
    done = _edit(project, ON)

    assert (done.code if isinstance(done, FileFault) else done) == found
    if found is True:
        assert json.loads((project / FILE).read_text()) == {
            "z": 1,
            "workflow": {"ui_review": True},
        }
    else:
        assert (project / FILE).read_text() == meanwhile


def test_a_disk_that_takes_nothing_is_told(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(project / FILE, "{}")
    full = FileFault("unwritable", "cannot be written (ENOSPC)")
    monkeypatch.setattr(configfile, "rewrite_atomic", lambda *_args: full)
    assert _edit(project, ON) == full
    change = set_key(str(project), SCHEMA, "mode", 1)
    assert not change.done
    assert change.problems[0].message == (
        ".planning/config.json is left as it is: cannot be written (ENOSPC)"
    )


def test_who_waits_for_the_lock_is_told_when_the_time_is_up(project: Path) -> None:
    with locked(f"{project}/{LOCK}") as fault:
        assert fault is None
        found = _edit(project, ON, wait_s=0)
    assert isinstance(found, FileFault)
    assert found.code == "busy"
    assert not (project / FILE).exists()


#: Sets a key of its own, many times over.
WRITER = """
import sys
from msdcomp.edge.configfile import ConfigEdit, edit_file
print("ready", flush=True)
sys.stdin.readline()
for number in range(10):
    edit = ConfigEdit(key=f"{sys.argv[2]}.k{number}", value=number)
    assert edit_file(sys.argv[1], ".planning/config.json", (edit,), 60) is True
"""


def test_many_at_once_lose_nothing(project: Path) -> None:
    names = ["a", "b", "c", "d"]
    crowd = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, str(project), name],
            cwd=Path(__file__).parents[2],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for name in names
    ]
    for one in crowd:
        assert one.stdout is not None
        assert one.stdout.readline() == "ready\n"
    for one in crowd:
        one.communicate("\n", timeout=300)
    assert [one.returncode for one in crowd] == [0] * len(names)
    found = json.loads((project / FILE).read_text())
    assert found == {name: {f"k{n}": n for n in range(10)} for name in names}
    assert [path.name for path in (project / ".planning").iterdir()] == ["config.json"]


@given(
    st.lists(
        st.builds(
            ConfigEdit,
            key=st.sampled_from(["a", "a.b", "a.c", "d.e.f", "d.e", "g"]),
            value=st.sampled_from([1, True, None, "x", (1, "y")]),
            unset=st.booleans(),
        ),
        max_size=4,
    ).map(tuple)
)
def test_edits_at_once_are_edits_one_after_the_other(
    tmp_path_factory: pytest.TempPathFactory, edits: tuple[ConfigEdit, ...]
) -> None:
    top = tmp_path_factory.mktemp("pair")
    results = []
    for name, groups in (("one", [edits]), ("many", [(edit,) for edit in edits])):
        write(top / name / FILE, '{\n  "z": 1.50\n}\n')
        found = [edit_file(str(top / name), FILE, group) for group in groups]
        failed = any(isinstance(one, FileFault) for one in found)
        results.append((failed, (top / name / FILE).read_text()))
    assert results[0][0] == results[1][0]
    if not results[0][0]:
        assert results[0] == results[1]


# Keys.


def test_a_set_key_is_what_everybody_reads_then(project: Path) -> None:
    change = set_key(str(project), SCHEMA, "workflow.ui_review", value=False)
    assert change.done
    assert change.written
    assert change.file == FILE
    (one,) = change.effects
    assert one.took
    assert one.reading.effective.origin is Origin.PROJECT
    assert one.reading.effective.on is False
    again = set_key(str(project), SCHEMA, "workflow.ui_review", value=False)
    assert (again.done, again.written) == (True, False)
    gone = unset_key(str(project), SCHEMA, "workflow.ui_review")
    assert gone.effects[0].took
    assert gone.effects[0].reading.effective.origin is Origin.DEFAULT
    assert (project / FILE).read_text() == "{}\n"


def test_what_the_schema_refuses_reaches_no_disk(project: Path) -> None:
    change = set_key(str(project), SCHEMA, "workflow.ui_review", "no")
    assert _codes(change) == ["config-type-mismatch"]
    assert _codes(set_key(str(project), SCHEMA, "zz", 1)) == ["unknown-config-key"]
    assert _codes(unset_key(str(project), SCHEMA, "a..b")) == ["bad-config-key"]
    assert list(project.iterdir()) == []
    assert set_key(str(project), SCHEMA, "zz", 1, force=True).done


def test_without_a_project_nothing_can_be_set() -> None:
    change = set_key(None, SCHEMA, "mode", 1)
    assert _codes(change) == ["config-unwritable"]
    assert "no project" in change.problems[0].message


def test_a_damaged_file_is_named_and_left(project: Path) -> None:
    write(project / FILE, "{'a': 1}")
    change = set_key(str(project), SCHEMA, "mode", 1)
    assert _codes(change) == ["config-unwritable"]
    assert change.problems[0].message.startswith(
        ".planning/config.json is left as it is: line 1, column 2: "
    )
    assert change.problems[0].file == FILE


# Workstreams.


def test_a_workstream_has_a_file_of_its_own(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MSD_PROJECT", "harbour")
    folder = project / ".planning/harbour/workstreams/tides"
    folder.mkdir(parents=True)
    change = set_key(str(project), SCHEMA, "mode", "x", workstream="tides")
    assert change.done
    assert change.effects[0].reading.effective.origin is Origin.WORKSTREAM
    assert json.loads((folder / "config.json").read_text()) == {"mode": "x"}
    assert not (project / FILE).exists()


def test_a_workstream_that_is_not_there_is_not_made(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MSD_PROJECT", raising=False)
    (project / ".planning").mkdir()
    change = set_key(str(project), SCHEMA, "mode", "x", workstream="tides")
    assert _codes(change) == ["config-unwritable"]
    assert "no such workstream" in change.problems[0].message
    assert list((project / ".planning").iterdir()) == []


@pytest.mark.parametrize("name", ["", "..", "a/b", "/etc", ".x", "a\0", "a" * 101])
def test_a_workstream_has_a_plain_name(project: Path, name: str) -> None:
    change = set_key(str(project), SCHEMA, "mode", "x", workstream=name)
    assert _codes(change) == ["config-unwritable"]
    assert change.file is None
    assert list(project.iterdir()) == []


# Switches.


def _places(project: Path | None) -> Places:
    path = None if project is None else str(project)
    return Places(home=None, project=path, roots=())


def test_switches_are_set_together(project: Path) -> None:
    wanted = {"workflow.ui_review": False, "workflow.ui_phase": True}
    change = set_gates(_places(project), REGISTRY, "ui", wanted)
    assert change.done
    found = {one.edit.key: one.reading.effective.on for one in change.effects}
    assert found == wanted
    assert list(found) == list(wanted)
    assert all(one.took for one in change.effects)
    assert json.loads((project / FILE).read_text()) == {
        "workflow": {"ui_review": False, "ui_phase": True}
    }


def test_one_bad_switch_leaves_all_as_they_are(project: Path) -> None:
    wanted = {
        "workflow.ui_review": False,
        "workflow.tdd_mode": True,
        "workflow.ui_reviews": True,
    }
    change = set_gates(_places(project), REGISTRY, "ui", wanted)
    assert _codes(change) == ["foreign-config-key", "unknown-config-key"]
    assert list(project.iterdir()) == []
    none = set_gates(_places(None), REGISTRY, "ui", {"workflow.ui_review": False})
    assert _codes(none) == ["config-unwritable"]


def test_a_switch_of_a_workstream_outweighs_the_projects(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MSD_PROJECT", raising=False)
    write(project / FILE, '{"workflow": {"ui_review": true}}')
    (project / ".planning/workstreams/tides").mkdir(parents=True)
    change = set_gates(
        _places(project),
        REGISTRY,
        "ui",
        {"workflow.ui_review": False},
        workstream="tides",
    )
    (one,) = change.effects
    assert one.took
    assert one.reading.effective.on is False
    assert [below.origin for below in one.reading.overrides] == [
        Origin.PROJECT,
        Origin.DEFAULT,
    ]
