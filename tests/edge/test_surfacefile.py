"""The file of a user's choices: read, changed, and never lost."""

from __future__ import annotations

import json
import os
import stat
import threading
from pathlib import Path
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from msdcomp.edge.files import FileFault
from msdcomp.edge.surfaceedit import change_choice
from msdcomp.edge.surfacefile import Kept, read_choice, read_marker
from msdcomp.surface import PROFILES, Choice

FILE, MARKER = ".msd-surface.json", ".msd-profile"

word = st.text("abc-", min_size=1, max_size=4)
few = st.frozensets(word, max_size=4)
choices = st.builds(
    Choice,
    profiles=st.lists(st.sampled_from(PROFILES), min_size=1, max_size=3).map(tuple),
    enabled=few,
    disabled=few,
    added=few,
    removed=few,
)
scalars = st.none() | st.booleans() | st.integers() | st.text(max_size=6)
foreign = st.dictionaries(
    st.text(max_size=6).map("x{}".format),
    scalars
    | st.lists(scalars, max_size=3)
    | st.dictionaries(word, scalars, max_size=2),
    max_size=3,
)
LISTS = ("disabledClusters", "explicitAdds", "explicitRemoves", "enabledCapabilities")


def disable(name: str) -> Any:
    return lambda old: attrs.evolve(old, disabled=old.disabled | {name})


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for the examples of a property; each may find what the last left."""
    return tmp_path_factory.mktemp("surface")


@given(choices)
def test_what_is_written_is_what_is_read(ground: Path, choice: Choice) -> None:
    (ground / FILE).unlink(missing_ok=True)

    kept = change_choice(str(ground), lambda _: choice)

    if choice == Choice():
        assert kept == Kept()
        assert not (ground / FILE).exists()
    else:
        assert kept == Kept(choice=choice, file=f"{ground}/{FILE}")
    assert read_choice(str(ground)) == kept


@given(foreign, choices, choices)
def test_a_change_keeps_the_fields_of_others_and_their_order(
    ground: Path, others: dict[str, Any], before: Choice, after: Choice
) -> None:
    text = {"first": 1, "baseProfile": ",".join(before.profiles), **others}
    text["disabledClusters"] = sorted(before.disabled, reverse=True)
    (ground / FILE).write_text(json.dumps(text), "utf-8")

    old = read_choice(str(ground)).choice

    change_choice(str(ground), lambda _: after)

    document = json.loads((ground / FILE).read_text("utf-8"))
    assert [key for key in document if key in text] == list(text)
    assert {key: document[key] for key in others} == others
    stayed = [n for n in text["disabledClusters"] if n in after.disabled]
    assert document["disabledClusters"][: len(stayed)] == stayed
    assert read_choice(str(ground)).choice == after
    # Other hosts take a file for theirs only when it has all of these.
    assert old == after or set(document) >= {"baseProfile", *LISTS[:3]}


@given(choices)
def test_a_change_made_twice_writes_once(ground: Path, choice: Choice) -> None:
    (ground / FILE).write_text('{"baseProfile": "odd"}', "utf-8")
    change_choice(str(ground), lambda _: choice)
    first = (ground / FILE).stat().st_ino, (ground / FILE).read_bytes()

    change_choice(str(ground), lambda _: choice)

    assert ((ground / FILE).stat().st_ino, (ground / FILE).read_bytes()) == first


def test_what_is_not_changed_stays_as_it_was_written(tmp_path: Path) -> None:
    text = '{\n    "size" : 1.50,\n\t"disabledClusters":["b" , "a"], "z":"\\u00e9"\n}\n'
    (tmp_path / FILE).write_text(text, "utf-8")

    change_choice(
        str(tmp_path), lambda old: attrs.evolve(old, removed=frozenset({"c"}))
    )

    written = (tmp_path / FILE).read_text("utf-8")
    for kept in ('"size" : 1.50,', '["b" , "a"]', '"z":"\\u00e9"'):
        assert kept in written


def test_a_list_keeps_its_order_and_what_is_new_comes_last(tmp_path: Path) -> None:
    text = '{"disabledClusters": ["z", "b", "gone", "b"]}'
    (tmp_path / FILE).write_text(text, "utf-8")

    change_choice(
        str(tmp_path),
        lambda old: attrs.evolve(old, disabled=(old.disabled | {"d", "a"}) - {"gone"}),
    )

    document = json.loads((tmp_path / FILE).read_text("utf-8"))
    assert document["disabledClusters"] == ["z", "b", "a", "d"]


def test_where_nobody_chose_there_is_no_choice(tmp_path: Path) -> None:
    assert read_choice(str(tmp_path)) == Kept()
    assert read_choice(str(tmp_path / "gone")) == Kept()
    assert read_marker(str(tmp_path)) == Kept()


@pytest.mark.parametrize("text", ["core\n", "core", "  Core \n"])
def test_a_marker_names_the_profile(tmp_path: Path, text: str) -> None:
    (tmp_path / MARKER).write_text(text, "utf-8")

    kept = Kept(choice=Choice(profiles=("core",)), file=f"{tmp_path}/{MARKER}")
    assert read_choice(str(tmp_path)) == kept
    assert read_marker(str(tmp_path)) == kept


def test_a_change_starts_from_the_marker_and_leaves_it(tmp_path: Path) -> None:
    (tmp_path / MARKER).write_text("core,standard", "utf-8")

    kept = change_choice(str(tmp_path), disable("ui"))

    assert isinstance(kept, Kept)
    assert kept.choice == Choice(
        profiles=("core", "standard"), disabled=frozenset({"ui"})
    )
    assert (tmp_path / MARKER).read_text("utf-8") == "core,standard"
    assert read_marker(str(tmp_path)).choice == Choice(profiles=("core", "standard"))


def test_missing_folders_are_made(tmp_path: Path) -> None:
    kept = change_choice(str(tmp_path / "a" / "b"), disable("ui"))

    assert isinstance(kept, Kept)
    assert kept.choice == Choice(disabled=frozenset({"ui"}))


DAMAGED: dict[str, bytes] = {
    "nothing": b"",
    "cut": b'{"baseProfile": "core"',
    "a list": b"[]",
    "no text": b"\xff\xfe{}",
    "a mark": b"\xef\xbb\xbf{}",
    "twice": b'{"baseProfile": "core", "baseProfile": "full"}',
    "not a number": b'{"baseProfile": NaN}',
    "deep": b'{"x": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    "a profile that is none": b'{"baseProfile": 1}',
    "a list that is none": b'{"disabledClusters": "ui"}',
    "a name that is none": b'{"enabledCapabilities": ["ui", 1]}',
    "null": b'{"explicitAdds": null}',
    "too many": json.dumps({"explicitRemoves": ["a"] * 10_001}).encode(),
    "too large": b" " * (1024 * 1024) + b"{}",
}


@pytest.mark.parametrize("case", DAMAGED)
def test_what_cannot_be_read_is_said_and_kept(tmp_path: Path, case: str) -> None:
    (tmp_path / FILE).write_bytes(DAMAGED[case])
    (tmp_path / MARKER).write_text("core", "utf-8")

    kept = read_choice(str(tmp_path))
    changed = change_choice(str(tmp_path), disable("ui"))

    assert kept.choice is None
    assert kept.file == f"{tmp_path}/{FILE}"
    assert kept.fault is not None
    assert kept.fault.reason
    assert isinstance(changed, FileFault)
    assert "left as it is" in changed.reason
    assert (tmp_path / FILE).read_bytes() == DAMAGED[case]


@pytest.mark.parametrize("text", [b"", b"core\nfull", b"../x", b"\xff", b"c" * 2**21])
def test_a_marker_that_names_nothing_is_no_profile(tmp_path: Path, text: bytes) -> None:
    (tmp_path / MARKER).write_bytes(text)

    kept = read_choice(str(tmp_path))

    assert (kept.choice, kept.file) == (None, f"{tmp_path}/{MARKER}")
    assert kept.fault is not None
    assert isinstance(change_choice(str(tmp_path), disable("ui")), FileFault)
    assert not (tmp_path / FILE).exists()


@pytest.mark.parametrize("name", [FILE, MARKER])
def test_what_is_no_file_is_not_waited_for(tmp_path: Path, name: str) -> None:
    os.mkfifo(tmp_path / name)

    assert read_choice(str(tmp_path)).fault is not None
    assert isinstance(change_choice(str(tmp_path), disable("ui")), FileFault)


def test_a_folder_in_its_place_is_kept(tmp_path: Path) -> None:
    (tmp_path / FILE).mkdir()

    assert read_choice(str(tmp_path)).fault is not None
    assert isinstance(change_choice(str(tmp_path), disable("ui")), FileFault)
    assert (tmp_path / FILE).is_dir()


def test_a_link_stays_and_what_it_leads_to_is_changed(tmp_path: Path) -> None:
    elsewhere = tmp_path / "kept.json"
    elsewhere.write_text('{"own": 1}', "utf-8")
    (tmp_path / "host").mkdir()
    (tmp_path / "host" / FILE).symlink_to(elsewhere)

    kept = change_choice(str(tmp_path / "host"), disable("ui"))

    assert isinstance(kept, Kept)
    assert kept.choice == Choice(disabled=frozenset({"ui"}))
    assert (tmp_path / "host" / FILE).is_symlink()
    assert json.loads(elsewhere.read_text("utf-8"))["own"] == 1


@pytest.mark.parametrize("mode", [0o600, 0o644])
def test_a_file_keeps_its_permissions(tmp_path: Path, mode: int) -> None:
    (tmp_path / FILE).write_text("{}", "utf-8")
    (tmp_path / FILE).chmod(mode)

    change_choice(str(tmp_path), disable("ui"))

    assert stat.S_IMODE((tmp_path / FILE).stat().st_mode) == mode


def test_a_folder_that_is_a_link_is_used(tmp_path: Path) -> None:
    (tmp_path / "kept").mkdir()
    (tmp_path / "host").symlink_to(tmp_path / "kept")

    assert isinstance(change_choice(str(tmp_path / "host"), disable("ui")), Kept)
    assert (tmp_path / "kept" / FILE).is_file()


def test_links_in_a_circle_are_said(tmp_path: Path) -> None:
    (tmp_path / FILE).symlink_to(FILE)

    assert read_choice(str(tmp_path)).fault is not None
    assert isinstance(change_choice(str(tmp_path), disable("ui")), FileFault)


@pytest.mark.parametrize("folder", ["a\0b", "x" * 300, "\ud800"])
def test_a_folder_whose_name_is_no_name_is_said(tmp_path: Path, folder: str) -> None:
    assert read_choice(f"{tmp_path}/{folder}").fault is not None
    changed = change_choice(f"{tmp_path}/{folder}", disable("ui"), wait_s=0)
    assert isinstance(changed, FileFault)


def test_names_of_any_origin_are_read_and_kept(tmp_path: Path) -> None:
    text = '{"disabledClusters": ["\\ud800", "\\u001b[2J", "__proto__"]}'
    (tmp_path / FILE).write_text(text, "utf-8")

    changed = change_choice(str(tmp_path), disable("ui"))

    assert isinstance(changed, Kept)
    assert changed.choice is not None
    assert changed.choice.disabled == {"\ud800", "\x1b[2J", "__proto__", "ui"}


@pytest.mark.parametrize(
    "names",
    [
        frozenset({"x" * 9_000_000}),
        frozenset({"x" * 1_100_000}),
        frozenset(f"x{number}" for number in range(10_001)),
    ],
    ids=["a store", "a file", "a list"],
)
def test_what_could_not_be_read_again_is_not_written(
    tmp_path: Path, names: frozenset[str]
) -> None:
    changed = change_choice(str(tmp_path), lambda _: Choice(disabled=names))

    assert isinstance(changed, FileFault)
    assert changed.code == "too-large"
    assert not (tmp_path / FILE).exists()


def test_of_many_writers_none_loses_anothers_choice(tmp_path: Path) -> None:
    names = [f"cap-{number}" for number in range(12)]
    faults: list[object] = []

    def write(name: str) -> None:
        kept = change_choice(str(tmp_path), disable(name))
        faults.extend([kept] if isinstance(kept, FileFault) else [])

    threads = [threading.Thread(target=write, args=(name,)) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert faults == []
    choice = read_choice(str(tmp_path)).choice
    assert choice is not None
    assert choice.disabled == set(names)


def test_while_another_command_is_at_it_nothing_is_written(tmp_path: Path) -> None:
    def inside(old: Choice) -> Choice:
        busy = change_choice(str(tmp_path), disable("other"), wait_s=0)
        assert isinstance(busy, FileFault)
        assert busy.code == "busy"
        return attrs.evolve(old, disabled=frozenset({"ui"}))

    change_choice(str(tmp_path), inside)

    assert read_choice(str(tmp_path)).choice == Choice(disabled=frozenset({"ui"}))
