"""Writing the ledger: nothing is lost that it held, and nothing unreadable written."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from msdcomp.edge.files import FileFault, read_file
from msdcomp.edge.ledger import LEDGER_NAME, Ledger, parse_ledger, read_ledger
from msdcomp.edge.ledgerfile import (
    MAX_LEDGER_ENTRIES,
    Change,
    InstalledEntry,
    LedgerFile,
    Pending,
    SharedEdit,
    change_ledger,
    committed,
    parse_entries,
    read_entries,
    with_entry,
    with_pending,
    without_entry,
)
from msdcomp.edge.storetext import StoreState
from msdcomp.vocabulary import POINTS
from tests.layouts import put, write

NOW = "2026-01-02T03:04:05Z"
LATER = "2026-02-03T04:05:06Z"

ENTRY = InstalledEntry(
    id="anchor",
    version="1.2.3",
    source="/home/ada/anchor",
    integrity="sha512-x",
    commit="c0ffee",
    files=(".msd/capabilities/anchor",),
    shared_edits=(SharedEdit(file=".tool/settings.json", marker="anchor"),),
    gate_points=("plan:pre", "ship:pre"),
    content_hash="sha512-y",
    disclosure_signature="[]",
    installed_at=NOW,
)
UPGRADE = Pending(
    kind="upgrade", backup_name="anchor.upgrading-1", shared_files=("a.json",)
)
WIRE = {
    "id": "anchor",
    "version": "1.2.3",
    "source": "/home/ada/anchor",
    "integrity": "sha512-x",
    "commit": "c0ffee",
    "files": [".msd/capabilities/anchor"],
    "sharedEdits": [{"file": ".tool/settings.json", "marker": "anchor"}],
    "gatePoints": ["plan:pre", "ship:pre"],
    "contentHash": "sha512-y",
    "disclosureSignature": "[]",
    "installedAt": NOW,
}
MARKER = {
    "kind": "upgrade",
    "backupName": "anchor.upgrading-1",
    "sharedFiles": ["a.json"],
}


def written(result: bytes | FileFault) -> bytes:
    assert isinstance(result, bytes), result
    return result


def code(result: object) -> str:
    assert isinstance(result, FileFault), result
    return result.code


def ledger(entries: Any, **more: Any) -> bytes:
    document = {"version": "1", "updatedAt": NOW, "entries": entries, **more}
    return json.dumps(document).encode()


def every_change(old: bytes | None) -> list[bytes | FileFault]:
    return [
        with_entry(old, ENTRY, LATER),
        without_entry(old, "anchor", LATER),
        with_pending(old, "anchor", UPGRADE, LATER),
        committed(old, "anchor", LATER),
    ]


# What is written


def test_a_new_ledger_is_the_file_other_hosts_read() -> None:
    text = written(with_entry(None, attrs.evolve(ENTRY, pending=UPGRADE), NOW))
    document = {
        "version": "1",
        "updatedAt": NOW,
        "entries": {"anchor": {**WIRE, "_pending": MARKER}},
    }
    assert text.decode() == json.dumps(document, indent=2) + "\n"


def test_the_life_of_an_entry() -> None:
    data = written(with_entry(None, attrs.evolve(ENTRY, pending=UPGRADE), NOW))
    assert parse_entries(data).entries["anchor"].pending == UPGRADE
    assert parse_ledger(data).of("anchor").pending
    data = written(committed(data, "anchor", LATER))
    assert parse_entries(data) == LedgerFile(
        state=StoreState.READABLE, entries={"anchor": ENTRY}, data=data
    )
    assert b"_pending" not in data
    assert parse_ledger(data).of("anchor").committed
    removing = Pending(kind="remove")
    data = written(with_pending(data, "anchor", removing, LATER))
    found = parse_entries(data).entries["anchor"]
    assert found == attrs.evolve(ENTRY, pending=removing)
    assert parse_ledger(data).of("anchor").pending
    assert not parse_ledger(data).of("anchor").committed
    data = written(without_entry(data, "anchor", LATER))
    assert json.loads(data) == {"version": "1", "updatedAt": LATER, "entries": {}}


def test_what_is_not_understood_is_kept_where_it_is() -> None:
    odd = {
        "first": 5,
        "anchor": {"x": {"y": 1}, "_pending": "?", **WIRE, "z": None},
        "__proto__": {"version": 1},
        "last": {"_pending": MARKER, "id": "other"},
    }
    old = ledger(odd, more=[1.5])
    new = json.loads(written(with_entry(old, ENTRY, LATER)))
    kept = {**odd, "anchor": {"x": {"y": 1}, **WIRE, "z": None}}
    assert new == {
        "version": "1",
        "updatedAt": LATER,
        "entries": kept,
        "more": [1.5],
    }
    assert list(new["entries"]) == list(odd)
    assert list(new["entries"]["anchor"]) == ["x", *WIRE, "z"]
    marked = json.loads(written(with_pending(old, "last", UPGRADE, LATER)))
    assert marked["entries"]["last"] == {"id": "other", "_pending": MARKER}
    gone = json.loads(written(without_entry(old, "first", LATER)))
    assert gone["entries"] == {n: value for n, value in odd.items() if n != "first"}


def test_points_are_written_once_and_in_loop_order() -> None:
    entry = attrs.evolve(ENTRY, gate_points=("ship:pre", "nowhere", "plan:pre"))
    data = written(with_entry(None, entry, NOW))
    assert parse_entries(data).entries["anchor"] == ENTRY


def test_a_path_that_is_not_utf8_is_kept() -> None:
    entry = attrs.evolve(ENTRY, source=os.fsdecode(b"/\xe9"))
    data = written(with_entry(None, entry, NOW))
    assert parse_entries(data).entries["anchor"] == entry


def test_an_entry_of_a_host_that_knows_less_is_read() -> None:
    old = {n: WIRE[n] for n in WIRE if n not in {"contentHash", "installedAt"}}
    found = parse_entries(ledger({"anchor": old})).entries["anchor"]
    assert found == attrs.evolve(ENTRY, content_hash="", installed_at="")


# What is refused


@pytest.mark.parametrize(
    "changes",
    [
        {"id": "An Chor"},
        {"id": "__proto__"},
        {"id": ""},
        {"version": 1},
        {"source": None},
        {"files": ("a",) * 10_001},
        {"files": (5,)},
        {"shared_edits": (SharedEdit(file="a", marker="m"),) * 257},
        {"shared_edits": (SharedEdit(file="", marker="m"),)},
        {"shared_edits": (SharedEdit(file="a", marker=""),)},
        {"content_hash": None},
        {"pending": Pending(kind="other")},  # type: ignore[arg-type]
        {"pending": Pending(kind="install", shared_files=("a",) * 257)},
    ],
)
def test_an_entry_that_could_not_be_read_again_is_refused(changes: Any) -> None:
    assert code(with_entry(None, attrs.evolve(ENTRY, **changes), NOW)) == "bad-entry"


def test_what_an_entry_may_hold_at_most() -> None:
    entry = attrs.evolve(
        ENTRY,
        files=("a",) * 10_000,
        shared_edits=(SharedEdit(file="a", marker="m"),) * 256,
        pending=Pending(kind="install", shared_files=("a",) * 256),
    )
    data = written(with_entry(None, entry, NOW))
    assert parse_entries(data).entries["anchor"] == entry


@pytest.mark.parametrize(
    "marker",
    [
        None,
        {},
        "install",
        {**MARKER, "kind": "other"},
        {**MARKER, "kind": ["install"]},
        {**MARKER, "backupName": 5},
        {**MARKER, "sharedFiles": None},
        {**MARKER, "sharedFiles": [5]},
        {**MARKER, "sharedFiles": ["a"] * 257},
        {"kind": "install", "sharedFiles": []},
    ],
)
def test_a_marker_that_makes_no_sense_is_no_entry_of_ours(marker: Any) -> None:
    found = parse_entries(ledger({"anchor": {**WIRE, "_pending": marker}}))
    assert found.state is StoreState.READABLE
    assert found.unclear == ("anchor",)


@pytest.mark.parametrize(
    "value",
    [
        5,
        None,
        [],
        {},
        {**WIRE, "id": "other"},
        {**WIRE, "contentHash": 5},
        {**WIRE, "disclosureSignature": None},
        {**WIRE, "installedAt": []},
    ],
)
def test_an_entry_that_makes_no_sense_costs_only_itself(value: Any) -> None:
    other = {**WIRE, "id": "other"}
    found = parse_entries(ledger({"anchor": value, "other": other}))
    assert found.unclear == ("anchor",)
    assert list(found.entries) == ["other"]


def test_what_is_not_there_cannot_be_changed() -> None:
    for old in (None, ledger({}), ledger({"other": WIRE})):
        assert [code(result) for result in every_change(old)[1:]] == ["missing"] * 3


def test_an_entry_that_is_no_object_can_only_be_replaced_or_removed() -> None:
    put_in, taken, marked, done = every_change(ledger({"anchor": 5}))
    assert parse_entries(written(put_in)).entries["anchor"] == ENTRY
    assert json.loads(written(taken))["entries"] == {}
    assert (code(marked), code(done)) == ("bad-entry", "bad-entry")


def test_a_marker_that_could_not_be_read_again_is_refused() -> None:
    pending = Pending(kind="install", shared_files=("a",) * 257)
    refused = with_pending(ledger({"anchor": WIRE}), "anchor", pending, NOW)
    assert code(refused) == "bad-entry"


def test_a_ledger_holds_only_so_many_entries() -> None:
    names = [f"c{number}" for number in range(MAX_LEDGER_ENTRIES)]
    full = ledger({name: {**WIRE, "id": name} for name in names})
    assert len(parse_entries(full).entries) == MAX_LEDGER_ENTRIES
    assert code(with_entry(full, ENTRY, LATER)) == "too-many"
    replaced = written(with_entry(full, attrs.evolve(ENTRY, id="c7"), LATER))
    assert len(parse_entries(replaced).entries) == MAX_LEDGER_ENTRIES
    over = ledger({name: {} for name in [*names, "more"]})
    found = parse_entries(over)
    assert found.state is StoreState.CORRUPT
    assert [code(result) for result in every_change(over)] == ["too-many"] * 4


def test_a_ledger_does_not_outgrow_what_can_be_read() -> None:
    long = "x" * (5 * 1024 * 1024)
    data = written(with_entry(None, attrs.evolve(ENTRY, source=long), NOW))
    more = attrs.evolve(ENTRY, id="other", source=long)
    assert code(with_entry(data, more, NOW)) == "too-large"


CORRUPT = [
    b"",
    b"{",
    b"null",
    b"[]",
    b"{}",
    b"\xff",
    b'{"entries": []}',
    b'{"version": "2", "entries": {}}',
    b'{"version": 1, "entries": {}}',
    b'{"version": null, "entries": {}}',
    b'{"version": "1", "entries": {"anchor": NaN}}',
    b'{"entries": ' + b"[" * 100_000,
]


@pytest.mark.parametrize("text", CORRUPT)
def test_a_corrupt_ledger_is_neither_absent_nor_written_over(
    tmp_path: Path, text: bytes
) -> None:
    write(tmp_path / LEDGER_NAME, text)
    found = read_entries(str(tmp_path))
    assert found.state is StoreState.CORRUPT
    assert [code(result) for result in every_change(text)] == ["damaged"] * 4
    refused = change_ledger(str(tmp_path), lambda old, now: with_entry(old, ENTRY, now))
    assert isinstance(refused, FileFault)
    assert refused.reason.endswith(
        "; it is left as it is: repair it by hand, or move it away and install again"
    )
    assert (tmp_path / LEDGER_NAME).read_bytes() == text


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({"dir": True}, "not-regular"),
        ({"fifo": True}, "not-regular"),
        ({"symlink": "/dev/zero"}, "link"),
        ({"symlink": "elsewhere"}, "link"),
        ({"symlink": "nowhere"}, "link"),
        (" " * (9 * 1024 * 1024), "too-large"),
    ],
)
def test_what_is_no_file_of_its_own_is_left_alone(
    tmp_path: Path, spec: Any, expected: str
) -> None:
    write(tmp_path / "elsewhere", ledger({"anchor": WIRE}))
    put(tmp_path / LEDGER_NAME, spec)
    found = read_entries(str(tmp_path))
    assert found.state is StoreState.CORRUPT
    assert code(found.fault) == expected
    before = os.lstat(tmp_path / LEDGER_NAME)
    assert code(change_ledger(str(tmp_path), removing_anchor)) == expected
    assert os.path.samestat(before, os.lstat(tmp_path / LEDGER_NAME))


def removing_anchor(old: bytes | None, now: str) -> bytes | FileFault:
    return without_entry(old, "anchor", now)


def adding_anchor(old: bytes | None, now: str) -> bytes | FileFault:
    return with_entry(old, ENTRY, now)


# On the disk


def test_a_change_is_on_the_disk_with_its_time(tmp_path: Path) -> None:
    root = str(tmp_path)
    assert read_entries(root) == LedgerFile(state=StoreState.ABSENT)
    made = change_ledger(root, adding_anchor, clock=lambda: 1767225600.75)
    assert isinstance(made, LedgerFile)
    assert made == read_entries(root)
    assert made.entries == {"anchor": ENTRY}
    document = json.loads((tmp_path / LEDGER_NAME).read_text())
    assert document["updatedAt"] == "2026-01-01T00:00:00Z"
    assert read_ledger(root).of("anchor").committed


def test_a_change_that_gives_a_fault_writes_nothing(tmp_path: Path) -> None:
    assert code(change_ledger(str(tmp_path), removing_anchor)) == "missing"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("number", ["1e400", "-1e400"])
def test_a_number_that_could_not_be_kept_is_damage(tmp_path: Path, number: str) -> None:
    text = f'{{"entries": {{"other": {number}}}}}'
    write(tmp_path / LEDGER_NAME, text)
    refused = change_ledger(str(tmp_path), adding_anchor)
    assert isinstance(refused, FileFault)
    assert refused.reason.startswith("holds a number that is too large; it is left")
    assert (tmp_path / LEDGER_NAME).read_text() == text


def test_bytes_that_are_no_ledger_are_not_written(tmp_path: Path) -> None:
    assert code(change_ledger(str(tmp_path), lambda *_: b"{}")) == "damaged"
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_takes_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As root may write anywhere, the system is made to say no."""
    change_ledger(str(tmp_path), adding_anchor)
    before = (tmp_path / LEDGER_NAME).read_bytes()
    real = os.open

    def opening(path: Any, flags: int, *rest: Any, **more: Any) -> int:
        if flags & os.O_CREAT:
            raise PermissionError(13, "no")
        return real(path, flags, *rest, **more)

    monkeypatch.setattr(os, "open", opening)
    assert code(change_ledger(str(tmp_path), removing_anchor)) == "permission"
    assert (tmp_path / LEDGER_NAME).read_bytes() == before


def test_a_crash_before_the_rename_leaves_the_old_ledger(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Crash(BaseException):
        """Nobody catches it, and nothing is cleaned up: the process is gone."""

    change_ledger(str(tmp_path), adding_anchor)
    before = read_file(str(tmp_path / LEDGER_NAME))

    def crash(*_: Any) -> None:
        raise Crash

    monkeypatch.setattr(Path, "replace", crash)
    monkeypatch.setattr(Path, "unlink", crash)
    with pytest.raises(Crash):
        change_ledger(str(tmp_path), removing_anchor)
    assert read_file(str(tmp_path / LEDGER_NAME)) == before
    monkeypatch.undo()
    assert isinstance(change_ledger(str(tmp_path), removing_anchor), LedgerFile)
    assert read_entries(str(tmp_path)).entries == {}


# Whatever it holds

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3)
    ),
    max_leaves=8,
)
IDS = st.from_regex(r"[a-z][a-z0-9-]{0,5}", fullmatch=True)
PENDINGS = st.builds(
    Pending,
    kind=st.sampled_from(["install", "upgrade", "remove"]),
    backup_name=st.none() | st.text(),
    shared_files=st.lists(st.text(), max_size=2).map(tuple),
)
SHARED_EDITS = st.builds(
    SharedEdit, file=st.text(min_size=1), marker=st.text(min_size=1)
)
ENTRIES = st.builds(
    InstalledEntry,
    id=IDS | st.just("anchor"),
    version=st.text(),
    source=st.text(),
    integrity=st.text(),
    files=st.lists(st.text(), max_size=3).map(tuple),
    shared_edits=st.lists(SHARED_EDITS, max_size=2).map(tuple),
    gate_points=st.sets(st.sampled_from(POINTS)).map(
        lambda named: tuple(point for point in POINTS if point in named)
    ),
    content_hash=st.text(),
    disclosure_signature=st.text(),
    installed_at=st.text(),
    pending=st.none() | PENDINGS,
)
WIRES = st.fixed_dictionaries(
    {},
    optional={
        **{name: st.just(value) | JSON for name, value in WIRE.items()},
        "_pending": st.just(MARKER) | JSON,
        "more": JSON,
    },
)
DOCUMENTS = JSON | st.fixed_dictionaries(
    {"entries": st.dictionaries(IDS | st.just("anchor") | st.text(), WIRES | JSON)},
    optional={"version": st.just("1") | JSON, "more": JSON, "updatedAt": JSON},
)


@given(document=DOCUMENTS, entry=ENTRIES)
def test_an_entry_that_was_put_in_is_there_and_the_others_are_as_they_were(
    document: Any, entry: InstalledEntry
) -> None:
    old = json.dumps(document).encode()
    before = parse_entries(old)
    new = with_entry(old, entry, LATER)
    if before.state is StoreState.CORRUPT:
        assert new == before.fault
        return
    if isinstance(new, FileFault):
        assert new.code == "damaged"  # an infinite number
        return
    after = parse_entries(new)
    assert after.entries[entry.id] == entry
    assert without(after.entries, entry.id) == without(before.entries, entry.id)
    raw = json.loads(new)
    assert without(raw["entries"], entry.id) == without(document["entries"], entry.id)
    ours = {"version", "updatedAt", "entries"}
    assert {k: v for k, v in raw.items() if k not in ours} == {
        k: v for k, v in document.items() if k not in ours
    }
    told = parse_ledger(new).of(entry.id)
    assert told.pending is (entry.pending is not None)
    assert told.committed is (entry.pending is None)
    assert told.gate_points == entry.gate_points
    gone = json.loads(written(without_entry(new, entry.id, LATER)))
    assert gone["entries"] == without(document["entries"], entry.id)


def without(entries: Any, capability_id: str) -> dict[str, Any]:
    return {n: value for n, value in entries.items() if n != capability_id}


@given(document=DOCUMENTS, pending=PENDINGS)
def test_marking_and_committing_change_nothing_else(
    document: Any, pending: Pending
) -> None:
    old = json.dumps(document).encode()
    marked = with_pending(old, "anchor", pending, LATER)
    if isinstance(marked, FileFault):
        assert marked.code in {"damaged", "missing", "bad-entry"}
        return
    assert parse_ledger(marked).of("anchor").pending
    done = json.loads(written(committed(marked, "anchor", LATER)))
    own = document["entries"]["anchor"]
    assert done["entries"] == {
        **document["entries"],
        "anchor": without(own, "_pending"),
    }


@given(data=st.binary() | JSON.map(lambda value: json.dumps(value).encode()))
def test_whatever_the_bytes_are_nothing_raises(data: bytes) -> None:
    found = parse_entries(data)
    results = every_change(data)
    if found.state is StoreState.CORRUPT:
        assert results == [found.fault] * 4
        assert isinstance(parse_ledger(data), Ledger)


def test_a_change_is_a_function_of_bytes_and_time() -> None:
    change: Change = adding_anchor
    assert change(None, NOW) == with_entry(None, ENTRY, NOW)
