"""Hook entries in a settings file: ours come and go, the user's stay."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from msdcomp.edge import settings
from msdcomp.edge.files import FileFault
from msdcomp.edge.settings import (
    MARKER,
    HookEntry,
    HookScript,
    SettingsEdit,
    apply_edit,
    plan_edit,
    resolve_script,
    splice,
)
from msdcomp.hookcommand import HookCommand
from tests.strategies import json_values, texts

RUN = HookCommand("'/srv/.msd/capabilities/tides/run.sh'")
STOP = HookEntry(event="Stop", command=RUN)
TOOL = HookEntry(event="PostToolUse", command=RUN, matcher="Write")


def _edit(before: str | bytes | None, *wanted: HookEntry) -> SettingsEdit:
    data = before.encode() if isinstance(before, str) else before
    edit = splice(data, "tides", wanted)
    assert isinstance(edit, SettingsEdit)
    return edit


def _after(edit: SettingsEdit) -> Any:
    assert edit.after is not None
    return json.loads(edit.after)


# Adding.


def test_a_file_that_is_not_there_is_made() -> None:
    edit = _edit(None, STOP, TOOL)

    assert edit.changes
    assert _after(edit) == {
        "hooks": {
            "Stop": [{MARKER: "tides", "hooks": [{"type": "command", "command": RUN}]}],
            "PostToolUse": [
                {
                    MARKER: "tides",
                    "matcher": "Write",
                    "hooks": [{"type": "command", "command": RUN}],
                }
            ],
        }
    }
    assert [event for event, _ in edit.added] == ["Stop", "PostToolUse"]
    assert edit.removed == ()


def test_no_file_is_made_for_nothing() -> None:
    edit = _edit(None)

    assert not edit.changes
    assert edit.after is None


def test_everything_outside_of_hooks_keeps_its_bytes() -> None:
    before = (
        '{\n\t"b" : [1.50,\n 2e0], "\\u0061": "\\u00e9é",\n'
        '\t"hooks": {"Stop": [{"x": 1}]},\n\t"last":{ }\n}  '
    )
    edit = _edit(before, STOP)

    assert edit.after is not None
    after = edit.after.decode()
    start, end = before.index('{"Stop"'), before.index(',\n\t"last"')
    assert after.startswith(before[:start])
    assert after.endswith(before[end:])
    assert _after(edit)["hooks"]["Stop"] == [{"x": 1}, STOP.wire("tides")]
    assert '\n\t\t"Stop": [' in after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("{}\n", '{\n  "hooks": {\n'),
        ('{"a": 1}', '{"a": 1, "hooks": {"Stop": [{"'),
        ('{\r\n    "a": 1\r\n}\r\n', '{\r\n    "a": 1,\r\n    "hooks": {\r\n        '),
    ],
)
def test_a_new_key_is_written_as_the_file_is(before: str, after: str) -> None:
    edit = _edit(before, STOP)

    assert edit.after is not None
    assert edit.after.decode().startswith(after)
    assert edit.after.decode().endswith(before[-1])


def test_a_key_spelled_with_escapes_is_the_same_key() -> None:
    edit = _edit('{"\\u0068ooks": {}}', STOP)

    assert list(_after(edit)) == ["hooks"]


def test_the_same_entries_again_change_nothing() -> None:
    first = _edit('{"a": 1}', STOP, TOOL)
    again = _edit(first.after, STOP, TOOL)

    assert not again.changes
    assert again.after == first.after
    assert again.added == again.removed == ()


def test_other_entries_replace_ours_and_no_others() -> None:
    theirs = {MARKER: "other", "hooks": []}
    document = {"hooks": {"Stop": [theirs, STOP.wire("tides"), {"mine": True}, 5]}}
    edit = _edit(json.dumps(document), TOOL)

    assert _after(edit) == {
        "hooks": {
            "Stop": [theirs, {"mine": True}, 5],
            "PostToolUse": [TOOL.wire("tides")],
        }
    }
    assert [event for event, _ in edit.removed] == ["Stop"]


# Removing.


@pytest.mark.parametrize(
    "before",
    [
        "{}\n",
        "{ }",
        '{"a": 1}',
        '{\n  "a": 1,\n  "z": [2]\n}\n',
        '{"hooks": {"Stop": [{"x": 1}]}}',
        '{"hooks": {"Start": []}}',
        '{\n\t"hooks": {\n\t\t"Start": []\n\t},\n\t"a": 1\n}',
    ],
)
def test_what_was_added_can_be_removed_without_a_trace(before: str) -> None:
    added = _edit(before, STOP, TOOL)
    removed = _edit(added.after)

    assert removed.after is not None
    assert removed.after.decode().replace(" ", "") == before.replace(" ", "")
    assert len(removed.removed) == 2


def test_lists_and_keys_that_were_empty_before_stay() -> None:
    before = '{"hooks": {"Start": [], "odd": {}}, "a": 1}'

    assert not _edit(before).changes
    assert not _edit('{"hooks": {}}').changes


@pytest.mark.parametrize("place", [0, 1, 2])
def test_the_hooks_are_cut_out_wherever_they_stand(place: int) -> None:
    members = ['"a": 1', '"b": 2']
    members.insert(place, '"hooks": {"Stop": [{"_msdCapability": "tides"}]}')
    edit = _edit("{" + ", ".join(members) + "}")

    assert edit.after == b'{"a": 1, "b": 2}'


def test_a_command_that_the_user_put_beside_ours_stays() -> None:
    ours = STOP.wire("tides")
    mine = {"type": "command", "command": "make"}
    entry = {**ours, "matcher": "x", "hooks": [mine, *ours["hooks"]]}  # type: ignore[misc]
    edit = _edit(json.dumps({"hooks": {"Stop": [entry]}}))

    assert _after(edit) == {"hooks": {"Stop": [{"matcher": "x", "hooks": [mine]}]}}


# Refusing.


@pytest.mark.parametrize(
    "before",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b'{"a": 1} // mine',
        b'{"a": 1, "a": 2}',
        b'{"a": NaN}',
        b"\xef\xbb\xbf{}",
        b'{"a": "\xff"}',
        b'{"hooks": {"Start": [1e999]}}',
        b'{"a":' * 100_000,
    ],
)
def test_what_cannot_be_read_is_refused(before: bytes) -> None:
    fault = splice(before, "tides", [STOP])

    assert isinstance(fault, FileFault)
    assert fault.code == "damaged"


@pytest.mark.parametrize("hooks", ["[]", "null", "5", '{"Stop": {}}', '{"Stop": null}'])
def test_hooks_of_another_shape_are_refused(hooks: str) -> None:
    before = f'{{"hooks": {hooks}}}'.encode()
    fault = splice(before, "tides", [STOP])

    assert isinstance(fault, FileFault)
    assert fault.code == "wrong-shape"
    assert not _edit(before).changes


def test_hooks_too_deep_to_write_are_refused() -> None:
    deep = "[" * 900 + "]" * 900
    result = splice(f'{{"hooks": {{"Stop": {deep}}}}}'.encode(), "tides", [STOP])

    assert isinstance(result, SettingsEdit | FileFault)


def test_half_a_character_stays_an_escape() -> None:
    edit = _edit('{"hooks": {"Stop": [{"x": "\\ud800"}]}}', STOP)

    assert edit.after is not None
    assert b'"\\ud800"' in edit.after


entries = st.builds(
    lambda event, matcher: HookEntry(event=event, command=RUN, matcher=matcher),
    st.sampled_from(["Stop", "Start", ""]),
    st.none() | texts,
)
documents = st.dictionaries(
    st.sampled_from(["hooks", "a", "b"]) | texts,
    st.dictionaries(
        st.sampled_from(["Stop", "Start"]), st.lists(json_values, max_size=3)
    )
    | json_values,
    max_size=4,
)


@given(documents, st.lists(entries, max_size=3), st.sampled_from([None, 2, "\t"]))
def test_the_user_s_values_survive_both_ways(
    document: dict[str, Any], wanted: list[HookEntry], indent: int | str | None
) -> None:
    before = json.dumps(document, indent=indent, ensure_ascii=False).encode()
    added = splice(before, "tides", wanted)
    if isinstance(added, FileFault):
        assert added.code == "wrong-shape"
        return
    removed = _edit(added.after)

    assert [(k, v) for k, v in _after(added).items() if k != "hooks"] == [
        (k, v) for k, v in document.items() if k != "hooks"
    ]
    assert not _edit(added.after, *wanted).changes
    was, is_ = document.get("hooks"), _after(removed).get("hooks")
    if isinstance(was, dict):
        assert {k: v for k, v in was.items() if v != []} == {
            k: v for k, v in (is_ or {}).items() if v != []
        }
    else:
        assert was == is_


# Scripts.


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    folder = tmp_path / "re c's" / ".msd" / "capabilities" / "a"
    folder.mkdir(parents=True)
    (folder / "x.sh").write_text("#!/bin/sh\n")
    return folder


def test_a_script_becomes_its_quoted_physical_path(
    bundle: Path, tmp_path: Path
) -> None:
    (tmp_path / "link").symlink_to(bundle)
    found = resolve_script(str(tmp_path / "link"), "./x.sh")

    assert isinstance(found, HookScript)
    assert found.path == str(bundle.resolve() / "x.sh")
    root = str(tmp_path.resolve())
    assert found.command == f"'{root}/re c'\\''s/.msd/capabilities/a/x.sh'"
    assert not found.executable
    (bundle / "x.sh").chmod(0o755)
    assert getattr(resolve_script(str(bundle), "x.sh"), "executable", None)


def test_w10_the_leaf_of_a_script_is_resolved(bundle: Path, tmp_path: Path) -> None:
    (tmp_path / "evil.sh").write_text("")
    (bundle / "out.sh").symlink_to(tmp_path / "evil.sh")
    (bundle / "in.sh").symlink_to("x.sh")
    inside = resolve_script(str(bundle), "in.sh")

    assert resolve_script(str(bundle), "out.sh") == settings._ESCAPES
    assert isinstance(inside, HookScript)
    assert inside.path.endswith("/x.sh")


@pytest.mark.parametrize(
    ("script", "code"),
    [
        ("../x.sh", "unsafe-path"),
        ("/x.sh", "unsafe-path"),
        ("a;b", "unsafe-path"),
        ("absent.sh", "missing"),
        ("folder", "not-regular"),
    ],
)
def test_what_is_no_script_of_the_bundle(bundle: Path, script: str, code: str) -> None:
    (bundle / "folder").mkdir()
    fault = resolve_script(str(bundle), script)

    assert isinstance(fault, FileFault)
    assert fault.code == code


def test_a_path_that_no_json_can_hold_has_no_command(tmp_path: Path) -> None:
    folder = os.fsencode(tmp_path) + b"/\xff"
    os.mkdir(folder)  # noqa: PTH102 - bytes
    Path(os.fsdecode(folder), "x.sh").write_text("")
    fault = resolve_script(os.fsdecode(folder), "x.sh")

    assert isinstance(fault, FileFault)
    assert fault.code == "unreadable"


# The file.


def _planned(root: Path, path: str, *wanted: HookEntry) -> SettingsEdit:
    edit = plan_edit(str(root), path, "tides", wanted)
    assert isinstance(edit, SettingsEdit)
    return edit


def test_a_plan_writes_nothing_and_applying_it_does(tmp_path: Path) -> None:
    edit = _planned(tmp_path, ".host/settings.json", STOP)
    assert list(tmp_path.iterdir()) == []

    assert apply_edit(edit) is None
    assert (tmp_path / ".host/settings.json").read_bytes() == edit.after
    assert apply_edit(_planned(tmp_path, ".host/settings.json", STOP)) is None


def test_a_file_that_moved_since_is_not_written(tmp_path: Path) -> None:
    file = tmp_path / "s.json"
    edit = _planned(tmp_path, "s.json", STOP)
    file.write_text("{}")
    moved = apply_edit(edit)

    assert moved == settings._MOVED
    assert file.read_text() == "{}"


def test_w16_settings_that_do_not_parse_are_kept(tmp_path: Path) -> None:
    file = tmp_path / "s.json"
    file.write_text('{"a": 1} // mine\n')
    fault = plan_edit(str(tmp_path), "s.json", "tides", [STOP])

    assert isinstance(fault, FileFault)
    assert file.read_text() == '{"a": 1} // mine\n'


def test_permissions_are_not_widened(tmp_path: Path) -> None:
    file = tmp_path / "s.json"
    file.write_text('{"token": "x"}')
    file.chmod(0o600)

    assert apply_edit(_planned(tmp_path, "s.json", STOP)) is None
    assert file.stat().st_mode & 0o777 == 0o600


def test_a_link_inside_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real.json").write_text("{}")
    (tmp_path / "s.json").symlink_to("real.json")

    assert apply_edit(_planned(tmp_path, "s.json", STOP)) is None
    assert (tmp_path / "s.json").is_symlink()
    assert "Stop" in (tmp_path / "real.json").read_text()


@pytest.mark.parametrize("path", ["../s.json", "/etc/s.json", "out/s.json", "."])
def test_nothing_outside_is_edited(tmp_path: Path, path: str) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (root / "out").symlink_to(tmp_path)
    fault = plan_edit(str(root), path, "tides", [STOP])

    assert isinstance(fault, FileFault)
    assert fault.code == "escapes"


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    edit = _planned(tmp_path, "s.json", STOP)
    (tmp_path / "s.json").mkdir()

    for fault in (
        plan_edit(str(tmp_path), "pipe", "tides", [STOP]),
        apply_edit(edit),
    ):
        assert isinstance(fault, FileFault)
        assert fault.code == "not-regular"


def test_a_root_that_is_not_there_has_no_settings_and_is_made(tmp_path: Path) -> None:
    """The first install into a new home may name its settings as well."""
    root = tmp_path / "absent"
    assert not _planned(root, "s.json").changes

    assert apply_edit(_planned(root, "s.json", STOP)) is None

    made = json.loads((root / "s.json").read_text("utf-8"))
    assert made == {"hooks": {"Stop": [STOP.wire("tides")]}}
