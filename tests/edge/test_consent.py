"""The consent store: honest about what it does not know."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from msdcomp.candidate import Consent
from msdcomp.edge import consent
from msdcomp.edge.consent import (
    ConsentRecord,
    ConsentStore,
    list_consents,
    read_consent,
    record_consent,
    restore_consent,
    revoke_consent,
    settle_consent,
    write_consent,
)
from msdcomp.edge.content_hash import Bundle, read_bundle
from msdcomp.edge.files import FileFault
from msdcomp.edge.locks import consent_lock
from msdcomp.edge.storetext import StoreState
from msdcomp.scope import Scope
from tests.layouts import overlay, put, write

ROOT = "/somewhere/project"


def record(**changes: Any) -> dict[str, Any]:
    return {
        "projectRoot": ROOT,
        "id": "anchor",
        "scope": "project",
        "integrity": "",
        "disclosureSignature": "",
        "contentHash": "sha512-abc",
        "consentedAt": "2026-01-02T03:04:05Z",
        **changes,
    }


def agreement(**changes: Any) -> ConsentRecord:
    made = ConsentRecord(project_root=ROOT, id="anchor", content_hash="sha512-abc")
    return attrs.evolve(made, **changes)


def store_file(home: Path) -> Path:
    return home / ".msd" / "consent.json"


def held(home: Path) -> Any:
    return json.loads(store_file(home).read_text())


def refused(result: object) -> FileFault:
    assert isinstance(result, FileFault), result
    return result


def store_of(home: Path, *records: Any, **more: Any) -> ConsentStore:
    filed = {str(number): value for number, value in enumerate(records)}
    text = json.dumps({"version": "1", "records": filed, **more})
    write(home / ".msd" / "consent.json", text)
    return read_consent(str(home))


def raw(home: Path, text: bytes | str) -> ConsentStore:
    write(home / ".msd" / "consent.json", text)
    return read_consent(str(home))


def test_a_record_is_found_by_project_and_id(tmp_path: Path) -> None:
    store = store_of(tmp_path, record(gatePoints=["ship:pre", "plan:pre"]))
    assert store.find(ROOT, "anchor") == ConsentRecord(
        project_root=ROOT,
        id="anchor",
        content_hash="sha512-abc",
        gate_points=("plan:pre", "ship:pre"),
        consented_at="2026-01-02T03:04:05Z",
    )
    assert store.find(ROOT, "other") is Consent.NONE
    assert store.find("/elsewhere", "anchor") is Consent.NONE


def test_the_key_of_a_record_does_not_matter(tmp_path: Path) -> None:
    store = raw(tmp_path, json.dumps({"records": {"whatever": record()}}))
    assert isinstance(store.find(ROOT, "anchor"), ConsentRecord)


@pytest.mark.parametrize("home", ["missing", None])
def test_no_store_means_no_records(tmp_path: Path, home: str | None) -> None:
    store = read_consent(str(tmp_path / home) if home else None)
    assert store == ConsentStore()
    assert store.state is StoreState.ABSENT
    assert store.find(ROOT, "anchor") is Consent.NONE


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b"{}",
        b'{"records": []}',
        b'{"records": null}',
        b'{"version": "2", "records": {}}',
        b'{"version": 1, "records": {}}',
        b'{"records": {}, "records": {}}',
        b'{"records": {"a": {}, "a": {}}}',
        b'{"records": {}, "x": NaN}',
        b'{"records": {}, "x": -Infinity}',
        b'\xef\xbb\xbf{"records": {}}',
        b'{"records": {"\xff": {}}}',
        b'{"records": ' + b"[" * 100_000,
        b'{"records": ' + b"9" * 5000 + b"}",
    ],
)
def test_a_damaged_store_is_not_an_empty_one(tmp_path: Path, text: bytes) -> None:
    store = raw(tmp_path, text)
    assert store.fault is not None
    assert store.fault.code == "damaged"
    assert store.state is StoreState.CORRUPT
    assert list_consents(str(tmp_path)) == store.fault
    assert store.find(ROOT, "anchor") is Consent.UNREADABLE


@pytest.mark.parametrize(
    ("spec", "code"),
    [
        ({"dir": True}, "not-regular"),
        ({"fifo": True}, "not-regular"),
        ({"symlink": "/dev/zero"}, "not-regular"),
        ({"symlink": "consent.json"}, "link"),
        (" " * (9 * 1024 * 1024), "too-large"),
    ],
)
def test_a_store_that_cannot_be_read(tmp_path: Path, spec: Any, code: str) -> None:
    put(tmp_path / ".msd" / "consent.json", spec)
    store = read_consent(str(tmp_path))
    assert store.fault is not None
    assert store.fault.code == code


@pytest.mark.parametrize(
    "changes",
    [
        {"scope": "team"},
        {"scope": None},
        {"scope": ["global"]},
        {"reviewerHost": None},
        {"reviewerHost": 5},
        {"integrity": None},
        {"disclosureSignature": 5},
        {"consentedAt": 1700000000},
        {"contentHash": ""},
        {"contentHash": None},
        {"contentHash": ["sha512-abc"]},
    ],
)
def test_a_bad_record_is_unreadable_and_hides_no_other(
    tmp_path: Path, changes: dict[str, Any]
) -> None:
    store = store_of(tmp_path, record(**changes), record(id="other"))
    assert store.find(ROOT, "anchor") is Consent.UNREADABLE
    assert isinstance(store.find(ROOT, "other"), ConsentRecord)


@pytest.mark.parametrize(
    "value",
    [None, "x", [], {}, record(projectRoot=None), record(id=["anchor"])],
)
def test_what_names_no_overlay_is_passed_over(tmp_path: Path, value: Any) -> None:
    store = store_of(tmp_path, value, record(id="other"))
    assert store.find(ROOT, "anchor") is Consent.NONE
    assert isinstance(store.find(ROOT, "other"), ConsentRecord)


@pytest.mark.parametrize("capability_id", ["Anchor", "9a", "a_b", "a\n", "", "é"])
def test_only_ids_have_records(tmp_path: Path, capability_id: str) -> None:
    store = store_of(tmp_path, record(id=capability_id))
    assert store.find(ROOT, capability_id) is Consent.UNREADABLE


@pytest.mark.parametrize("points", [None, "ship:pre", 5, {"ship:pre": 1}])
def test_gate_points_of_another_kind_are_none(tmp_path: Path, points: Any) -> None:
    found = store_of(tmp_path, record(gatePoints=points)).find(ROOT, "anchor")
    assert isinstance(found, ConsentRecord)
    assert found.gate_points == ()


# Recording


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    return overlay(tmp_path / "project", "anchor")


def agree(tmp_path: Path, bundle: Path, **more: Any) -> ConsentRecord | FileFault:
    home, project = str(tmp_path / "home"), str(tmp_path / "project")
    return record_consent(home, project, str(bundle), "anchor", **more)


def test_recording_and_reading_agree(tmp_path: Path, bundle: Path) -> None:
    made = agree(tmp_path, bundle, gates=("ship:pre", "plan:post", "nowhere"))
    assert isinstance(made, ConsentRecord)
    content = read_bundle(str(bundle))
    assert isinstance(content, Bundle)
    assert made.content_hash == content.digest
    assert made.gate_points == ("plan:post", "ship:pre")
    store = read_consent(str(tmp_path / "home"))
    assert store.find(os.path.realpath(tmp_path / "project"), "anchor") == made


def test_the_project_is_recorded_by_its_physical_path(
    tmp_path: Path, bundle: Path
) -> None:
    (tmp_path / "alias").symlink_to("project")
    home = str(tmp_path / "home")
    made = record_consent(home, str(tmp_path / "alias"), str(bundle), "anchor")
    assert isinstance(made, ConsentRecord)
    assert made.project_root == os.path.realpath(tmp_path / "project")


def test_the_file_is_what_a_javascript_host_reads(tmp_path: Path) -> None:
    made = write_consent(
        str(tmp_path),
        agreement(
            gate_points=("ship:pre", "nowhere", "plan:pre"),
            integrity="sha512-x",
            disclosure_signature="[]",
            reviewer_host="api.example.com",
        ),
        clock=lambda: 1767225600.75,
    )
    assert isinstance(made, ConsentRecord)
    text = store_file(tmp_path).read_text()
    assert text.endswith("}\n")
    assert text.startswith('{\n  "version": "1",\n  "records": {\n    ')
    assert json.loads(text) == {
        "version": "1",
        "records": {
            f'{{"r":"{ROOT}","i":"anchor"}}': {
                "projectRoot": ROOT,
                "id": "anchor",
                "scope": "project",
                "integrity": "sha512-x",
                "disclosureSignature": "[]",
                "contentHash": "sha512-abc",
                "gatePoints": ["plan:pre", "ship:pre"],
                "consentedAt": "2026-01-01T00:00:00Z",
                "reviewerHost": "api.example.com",
            }
        },
    }
    assert read_consent(str(tmp_path)).find(ROOT, "anchor") == made


def test_recording_again_replaces_and_keeps_the_others(
    tmp_path: Path, bundle: Path
) -> None:
    agree(tmp_path, bundle)
    path = tmp_path / "home" / ".msd" / "consent.json"
    (old,) = held(tmp_path / "home")["records"].values()
    records = {"odd key": old, "other": record(), "junk": 5}
    write(path, json.dumps({"records": records}))
    write(bundle / "more.md", "x")
    made = agree(tmp_path, bundle)
    assert isinstance(made, ConsentRecord)
    store = read_consent(str(tmp_path / "home"))
    assert store.find(made.project_root, "anchor") == made
    assert isinstance(store.find(ROOT, "anchor"), ConsentRecord)
    assert set(json.loads(path.read_text())["records"]) >= {"other", "junk"}
    assert "odd key" not in json.loads(path.read_text())["records"]


@pytest.mark.parametrize("text", ["", "{", '{"version": "2", "records": {"a": 1}}'])
def test_a_damaged_store_is_never_overwritten(
    tmp_path: Path, bundle: Path, text: str
) -> None:
    write(tmp_path / "home" / ".msd" / "consent.json", text)
    fault = refused(agree(tmp_path, bundle))
    assert "; it is left as it is: repair it by hand, or move it away" in fault.reason
    fault = refused(revoke_consent(str(tmp_path / "home"), ROOT, "anchor"))
    assert fault.code == "damaged"
    assert store_file(tmp_path / "home").read_text() == text


def test_content_that_cannot_be_hashed_cannot_be_agreed_to(
    tmp_path: Path, bundle: Path
) -> None:
    (bundle / "link").symlink_to("capability.json")
    assert refused(agree(tmp_path, bundle)).code == "link"
    assert not (tmp_path / "home").exists()


def test_only_an_id_can_be_agreed_to(tmp_path: Path, bundle: Path) -> None:
    fault = refused(record_consent(str(tmp_path), ROOT, str(bundle), "An Chor"))
    assert fault.code == "bad-id"
    assert refused(write_consent(str(tmp_path), agreement(id="A"))).code == "bad-id"


def test_a_store_that_cannot_be_written(tmp_path: Path, bundle: Path) -> None:
    write(tmp_path / "home" / ".msd", "in the way")
    assert refused(agree(tmp_path, bundle)).code == "unwritable"


def test_a_project_path_that_is_not_utf8(tmp_path: Path, bundle: Path) -> None:
    project = tmp_path / os.fsdecode(b"\xe9")
    project.mkdir()
    made = record_consent(str(tmp_path), str(project), str(bundle), "anchor")
    assert isinstance(made, ConsentRecord)
    store = read_consent(str(tmp_path))
    assert store.find(os.path.realpath(project), "anchor") == made


@pytest.mark.parametrize(
    "changes",
    [
        {"content_hash": ""},
        {"disclosure_signature": 5},
        {"integrity": None},
        {"reviewer_host": 1},
    ],
)
def test_what_could_not_be_read_again_is_not_written(
    tmp_path: Path, changes: dict[str, Any]
) -> None:
    fault = refused(write_consent(str(tmp_path), agreement(**changes)))
    assert fault.code == "bad-record"
    assert not (tmp_path / ".msd").exists()


@pytest.mark.parametrize("root", ["/a\0b", "/\ud800"])
def test_a_project_path_no_file_can_have(tmp_path: Path, root: str) -> None:
    made = write_consent(str(tmp_path), agreement(project_root=root))
    assert refused(made).code == "unreadable"
    assert refused(revoke_consent(str(tmp_path), root, "anchor")).code == "unreadable"


def test_only_the_user_may_read_the_store(tmp_path: Path) -> None:
    write_consent(str(tmp_path), agreement())
    store_file(tmp_path).chmod(0o644)
    write_consent(str(tmp_path), agreement())
    assert stat.S_IMODE(store_file(tmp_path).stat().st_mode) == 0o600


def test_what_is_not_understood_is_kept(tmp_path: Path) -> None:
    key = f'{{"r":"{ROOT}","i":"anchor"}}'
    odd = {
        "a": 5,
        "b": record(id="other", scope="team", more=[1.5, None]),
        "c": {"projectRoot": ROOT},
        key: record(id="elsewhere"),
    }
    document = {"x": {"y": [1]}, "records": odd, "z": None}
    write(store_file(tmp_path), json.dumps(document))
    made = write_consent(str(tmp_path), agreement())
    after = held(tmp_path)
    (new,) = after["records"].keys() - odd.keys()
    assert after == {
        **document,
        "version": "1",
        "records": {**odd, new: after["records"][new]},
    }
    assert list(after["records"]) == [*odd, new]
    store = read_consent(str(tmp_path))
    assert store.find(ROOT, "anchor") == made
    assert isinstance(store.find(ROOT, "elsewhere"), ConsentRecord)
    assert store.unclear == ("a", "b", "c")


def test_a_record_that_makes_no_sense_can_be_agreed_to_anew(tmp_path: Path) -> None:
    store_of(tmp_path, record(contentHash=5), record(scope="team"))
    made = write_consent(str(tmp_path), agreement())
    assert read_consent(str(tmp_path)).find(ROOT, "anchor") == made
    assert len(held(tmp_path)["records"]) == 1


@pytest.mark.parametrize(
    "text",
    [
        '{"records": {}, "x": 1e400}',
        '{"records": {}, "x": -1e400}',
    ],
)
def test_a_number_that_could_not_be_kept_is_damage(tmp_path: Path, text: str) -> None:
    write(store_file(tmp_path), text)
    assert refused(write_consent(str(tmp_path), agreement())).code == "damaged"
    assert store_file(tmp_path).read_text() == text


def test_a_store_takes_only_so_many_records(tmp_path: Path) -> None:
    full = [record(id=f"c{number}") for number in range(consent.MAX_RECORDS)]
    store_of(tmp_path, *full)
    before = store_file(tmp_path).read_bytes()
    fault = refused(write_consent(str(tmp_path), agreement()))
    assert fault == FileFault(
        "too-many", "holds 4,096 records already: revoke one first"
    )
    assert store_file(tmp_path).read_bytes() == before
    assert isinstance(write_consent(str(tmp_path), agreement(id="c7")), ConsentRecord)
    assert revoke_consent(str(tmp_path), ROOT, "c8") is True
    assert isinstance(write_consent(str(tmp_path), agreement()), ConsentRecord)


def test_a_store_does_not_outgrow_what_can_be_read(tmp_path: Path) -> None:
    long = "x" * (5 * 1024 * 1024)
    home = str(tmp_path)
    made = write_consent(home, agreement(disclosure_signature=long))
    assert isinstance(made, ConsentRecord)
    more = agreement(id="other", disclosure_signature=long)
    fault = refused(write_consent(home, more))
    assert fault.code == "too-large"
    assert read_consent(home).find(ROOT, "anchor") == made


# The global scope


def test_a_record_of_the_home_activates_nothing_in_a_project(tmp_path: Path) -> None:
    """Also where the home is a project: each scope has a record of its own."""
    home, root = str(tmp_path), os.path.realpath(tmp_path)
    made = write_consent(
        home,
        agreement(project_root=home, scope=Scope.GLOBAL, gate_points=("ship:pre",)),
    )
    store = read_consent(home)
    assert store.find(root, "anchor", Scope.GLOBAL) == made
    assert store.find(root, "anchor") is Consent.NONE
    assert store.gated(root) == set()
    assert list(held(tmp_path)["records"]) == [
        f'{{"r":"{root}","i":"anchor","s":"global"}}'
    ]
    other = write_consent(home, agreement(project_root=home, content_hash="sha512-d"))
    store = read_consent(home)
    assert store.find(root, "anchor", Scope.GLOBAL) == made
    assert store.find(root, "anchor") == other
    assert revoke_consent(home, home, "anchor") is True
    assert list_consents(home) == (made,)
    assert revoke_consent(home, home, "anchor", scope=Scope.GLOBAL) is True
    assert list_consents(home) == ()


# Revoking and listing


def test_revoking_forgets_one_and_keeps_the_others(tmp_path: Path) -> None:
    store_of(tmp_path, record(), record(contentHash=5), record(id="other"), 5, more=1)
    assert revoke_consent(str(tmp_path), ROOT, "anchor") is True
    assert read_consent(str(tmp_path)).find(ROOT, "anchor") is Consent.NONE
    assert held(tmp_path) == {
        "version": "1",
        "records": {"2": record(id="other"), "3": 5},
        "more": 1,
    }


@pytest.mark.parametrize("there", [True, False])
def test_revoking_what_was_never_agreed_to_writes_nothing(
    tmp_path: Path, *, there: bool
) -> None:
    if there:
        raw(tmp_path, '{"records": {}}')
    assert revoke_consent(str(tmp_path), ROOT, "anchor") is False
    if there:
        assert store_file(tmp_path).read_text() == '{"records": {}}'
    else:
        assert list(tmp_path.iterdir()) == []


def test_a_project_is_forgotten_by_any_of_its_paths(tmp_path: Path) -> None:
    home = str(tmp_path / "home")
    (tmp_path / "project").mkdir()
    (tmp_path / "alias").symlink_to("project")
    write_consent(home, agreement(project_root=str(tmp_path / "project")))
    assert revoke_consent(home, str(tmp_path / "alias"), "anchor") is True


def test_a_project_that_moved_is_forgotten_by_the_recorded_path(tmp_path: Path) -> None:
    home = str(tmp_path / "home")
    made = write_consent(home, agreement(project_root=str(tmp_path / "project")))
    assert isinstance(made, ConsentRecord)
    (tmp_path / "project").symlink_to("elsewhere")
    assert revoke_consent(home, made.project_root, "anchor") is True


def test_agreements_are_listed_by_project_and_id(tmp_path: Path) -> None:
    assert list_consents(str(tmp_path)) == ()
    assert list_consents(None) == ()
    store_of(
        tmp_path,
        record(projectRoot="/z"),
        record(id="b"),
        record(id="a"),
        record(id="c", integrity=5),
        "x",
    )
    found = list_consents(str(tmp_path))
    assert isinstance(found, tuple)
    assert [(one.project_root, one.id) for one in found] == [
        (ROOT, "a"),
        (ROOT, "b"),
        ("/z", "anchor"),
    ]
    store = read_consent(str(tmp_path))
    assert store.unclear == ("3", "4")
    assert store.state is StoreState.READABLE


# Agreeing for the time being


NEWER = agreement(content_hash="sha512-new", reviewer_host="api.example.com")


def test_a_provisional_record_carries_the_one_before_it(tmp_path: Path) -> None:
    """Whole, with what is not understood of it; and it counts like any other."""
    before = record(more=[1.5, None], gatePoints=["nowhere"])
    store_of(tmp_path, before, record(id="other"), x=1)
    made = write_consent(str(tmp_path), NEWER, provisional=True, clock=lambda: 0)
    assert isinstance(made, ConsentRecord)
    assert made.provisional
    assert read_consent(str(tmp_path)).find(ROOT, "anchor") == made
    assert held(tmp_path) == {
        "version": "1",
        "records": {
            "1": record(id="other"),
            f'{{"r":"{ROOT}","i":"anchor"}}': record(
                contentHash="sha512-new",
                gatePoints=[],
                consentedAt="1970-01-01T00:00:00Z",
                reviewerHost="api.example.com",
                replaces=before,
            ),
        },
        "x": 1,
    }


def test_a_provisional_record_of_nothing(tmp_path: Path) -> None:
    home = str(tmp_path)
    write_consent(home, NEWER, provisional=True)
    (only,) = held(tmp_path)["records"].values()
    assert only["replaces"] is None
    assert restore_consent(home, ROOT, "anchor") is True
    assert held(tmp_path) == {"version": "1", "records": {}}
    assert restore_consent(home, ROOT, "anchor") is False


def test_what_makes_no_sense_is_put_back_too(tmp_path: Path) -> None:
    odd = record(contentHash=5, scope="team")
    store_of(tmp_path, odd)
    write_consent(str(tmp_path), NEWER, provisional=True)
    assert restore_consent(str(tmp_path), ROOT, "anchor") is True
    assert list(held(tmp_path)["records"].values()) == [odd]


def test_killed_commands_are_undone_in_one_step(tmp_path: Path) -> None:
    """What a provisional record replaced is handed on, so nothing is nested."""
    home = str(tmp_path)
    store_of(tmp_path, record())
    for number in range(3):
        newer = agreement(content_hash=f"sha512-{number}")
        write_consent(home, newer, provisional=True)
    (only,) = held(tmp_path)["records"].values()
    assert only["contentHash"] == "sha512-2"
    assert only["replaces"] == record()
    assert restore_consent(home, ROOT, "anchor") is True
    assert list(held(tmp_path)["records"].values()) == [record()]


def test_of_several_records_the_one_that_counts_is_put_back(tmp_path: Path) -> None:
    home = str(tmp_path)
    counts = store_of(tmp_path, record(contentHash="x"), record()).find(ROOT, "anchor")
    write_consent(home, NEWER, provisional=True)
    restore_consent(home, ROOT, "anchor")
    assert read_consent(home).find(ROOT, "anchor") == counts
    assert len(held(tmp_path)["records"]) == 1


def test_agreeing_again_lets_go_of_what_was_replaced(tmp_path: Path) -> None:
    """Also of a record that was read while it was provisional."""
    home = str(tmp_path)
    made = write_consent(home, NEWER, provisional=True)
    assert isinstance(made, ConsentRecord)
    settled = write_consent(home, made)
    assert settled == attrs.evolve(made, provisional=False)
    assert read_consent(home).find(ROOT, "anchor") == settled
    assert restore_consent(home, ROOT, "anchor") is False


def test_provisional_records_can_be_listed(tmp_path: Path) -> None:
    home = str(tmp_path)
    write_consent(home, NEWER, provisional=True)
    write_consent(home, agreement(id="other"))
    found = list_consents(home)
    assert isinstance(found, tuple)
    assert [(one.id, one.provisional) for one in found] == [
        ("anchor", True),
        ("other", False),
    ]


@pytest.mark.parametrize("finish", [settle_consent, restore_consent])
@pytest.mark.parametrize("text", [None, '{"records": {"a": 5}}', "settled"])
def test_where_nothing_is_provisional_nothing_is_written(
    tmp_path: Path, finish: Any, text: str | None
) -> None:
    if text == "settled":
        store_of(tmp_path, record(), record(id="other", replaces=None))
    elif text is not None:
        raw(tmp_path, text)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*.json")}
    with consent_lock(str(tmp_path / "busy")):
        assert finish(str(tmp_path), ROOT, "anchor", wait_s=0) is False
    assert finish(str(tmp_path), ROOT, "anchor", scope=Scope.GLOBAL) is False
    assert finish(str(tmp_path / "none"), ROOT, "anchor") is False
    assert not (tmp_path / "none").exists()
    assert not (tmp_path / ".msd" / ".consent.lock").exists()
    assert {path: path.read_bytes() for path in tmp_path.rglob("*.json")} == before


@pytest.mark.parametrize("finish", [settle_consent, restore_consent])
def test_each_scope_is_finished_by_itself(tmp_path: Path, finish: Any) -> None:
    home = str(tmp_path)
    for scope in Scope:
        made = attrs.evolve(NEWER, project_root=home, scope=scope)
        write_consent(home, made, provisional=True)
    assert finish(home, home, "anchor", scope=Scope.GLOBAL) is True
    listed = list_consents(home)
    assert isinstance(listed, tuple)
    assert [one.scope for one in listed if one.provisional] == [Scope.PROJECT]
    assert finish(home, home, "anchor") is True


@pytest.mark.parametrize("finish", [settle_consent, restore_consent])
def test_a_project_is_finished_by_any_of_its_paths(tmp_path: Path, finish: Any) -> None:
    """Its physical path and the recorded one, as for revoking."""
    home, project = str(tmp_path / "home"), tmp_path / "project"
    newer = attrs.evolve(NEWER, project_root=str(project))
    project.mkdir()
    (tmp_path / "alias").symlink_to("project")
    made = write_consent(home, newer, provisional=True)
    assert isinstance(made, ConsentRecord)
    assert finish(home, str(tmp_path / "alias"), "anchor") is True
    write_consent(home, newer, provisional=True)
    project.rmdir()
    project.symlink_to("elsewhere")
    assert finish(home, made.project_root, "anchor") is True


@pytest.mark.parametrize(
    "replaces", [5, [], {}, record(id="other"), record(projectRoot="/x")]
)
def test_nothing_is_put_back_that_is_about_something_else(
    tmp_path: Path, replaces: Any
) -> None:
    """Else a store could be made to agree to what nobody was asked about."""
    store = store_of(tmp_path, record(replaces=replaces))
    assert isinstance(store.find(ROOT, "anchor"), ConsentRecord)
    before = store_file(tmp_path).read_bytes()
    fault = refused(restore_consent(str(tmp_path), ROOT, "anchor"))
    assert fault.code == "damaged"
    assert "it is left as it is" in fault.reason
    assert store_file(tmp_path).read_bytes() == before
    assert settle_consent(str(tmp_path), ROOT, "anchor") is True
    assert list(held(tmp_path)["records"].values()) == [record()]


@pytest.mark.parametrize("finish", [settle_consent, restore_consent])
def test_a_damaged_store_and_a_bad_path_are_refused(
    tmp_path: Path, finish: Any
) -> None:
    assert refused(finish(str(tmp_path), "/a\0b", "anchor")).code == "unreadable"
    raw(tmp_path, "{")
    fault = refused(finish(str(tmp_path), ROOT, "anchor"))
    assert fault.reason.startswith("not a JSON object; it is left as it is: ")
    assert store_file(tmp_path).read_text() == "{"


# Waiting


def test_nothing_is_written_while_another_command_does(tmp_path: Path) -> None:
    raw(tmp_path, '{"records": {}}')
    with consent_lock(str(tmp_path)) as held_by_us:
        assert held_by_us is None
        made = write_consent(str(tmp_path), agreement(), wait_s=0.02)
        assert refused(made).code == "busy"
        made = write_consent(str(tmp_path), NEWER, provisional=True, wait_s=0)
        assert refused(made).code == "busy"
        gone = revoke_consent(str(tmp_path), ROOT, "anchor", wait_s=0)
        assert refused(gone) == FileFault("busy", "in use by another command")
    assert store_file(tmp_path).read_text() == '{"records": {}}'


@pytest.mark.parametrize("finish", [settle_consent, restore_consent])
def test_nothing_is_finished_while_another_command_writes(
    tmp_path: Path, finish: Any
) -> None:
    write_consent(str(tmp_path), NEWER, provisional=True)
    with consent_lock(str(tmp_path)):
        fault = refused(finish(str(tmp_path), ROOT, "anchor", wait_s=0))
    assert fault.code == "busy"


# Whatever it holds


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3)
    ),
    max_leaves=8,
)
RECORDS = st.dictionaries(
    st.text(max_size=4),
    JSON
    | st.fixed_dictionaries(
        {},
        optional={
            name: st.just(value) | JSON
            for name, value in record(gatePoints=["ship:pre"], reviewerHost="").items()
        },
    ),
    max_size=4,
)
STORES = JSON | st.fixed_dictionaries(
    {}, optional={"version": st.just("1") | JSON, "records": RECORDS | JSON, "x": JSON}
)
#: Records of few things, so that several are about the same, provisional or not.
ALIKE = st.builds(
    record,
    id=st.sampled_from(["anchor", "other"]),
    scope=st.sampled_from(["project", "global", "team"]),
    contentHash=st.sampled_from(["sha512-a", "sha512-b", None]),
    more=JSON,
)
CROWDED = st.fixed_dictionaries(
    {
        "records": st.dictionaries(
            st.text(max_size=2) | st.just(f'{{"r":"{ROOT}","i":"anchor"}}'),
            ALIKE
            | JSON
            | st.builds(
                lambda one, replaces: {**one, "replaces": replaces},
                ALIKE,
                st.none() | ALIKE | JSON,
            ),
            max_size=5,
        )
    },
    optional={"version": st.just("1"), "x": JSON},
)


@given(document=STORES)
def test_whatever_a_store_holds_it_is_kept_or_left_alone(
    tmp_path_factory: pytest.TempPathFactory, document: Any
) -> None:
    home = tmp_path_factory.mktemp("home")
    text = json.dumps(document)
    raw(home, text)
    made = write_consent(str(home), agreement())
    if isinstance(made, FileFault):
        assert store_file(home).read_text() == text
        return
    assert read_consent(str(home)).find(ROOT, "anchor") == made
    before = {k: v for k, v in document.items() if k not in {"version", "records"}}
    after = held(home)
    assert after == {**before, "version": "1", "records": after["records"]}
    others = {
        name: value
        for name, value in document["records"].items()
        if not is_about_the_same(value)
    }
    assert {n: v for n, v in after["records"].items() if n in others} == others
    assert len(after["records"]) == len(others) + 1
    assert revoke_consent(str(home), ROOT, "anchor") is True
    assert held(home)["records"] == others


@given(document=CROWDED | STORES)
def test_writing_and_restoring_leaves_what_was_there(
    tmp_path_factory: pytest.TempPathFactory, document: Any
) -> None:
    home = tmp_path_factory.mktemp("home")
    raw(home, json.dumps(document))
    made = write_consent(str(home), NEWER, provisional=True)
    if isinstance(made, FileFault):
        assert store_file(home).read_text() == json.dumps(document)
        return
    assert read_consent(str(home)).find(ROOT, "anchor") == made
    records = document["records"]
    same = [one for one in records.values() if is_about_the_same(one)]
    others = {n: one for n, one in records.items() if not is_about_the_same(one)}
    # One that was provisional already stands for what it had replaced.
    expected = same[-1].get("replaces", same[-1]) if same else None
    restored = restore_consent(str(home), ROOT, "anchor")
    after = held(home)
    if expected is not None and not is_about_the_same(expected):
        assert refused(restored).code == "damaged"
        return
    assert restored is True
    found = {n: one for n, one in after["records"].items() if n not in others}
    assert list(found.values()) == ([] if expected is None else [expected])
    assert after == {"version": "1", **document, "records": {**others, **found}}


@given(document=CROWDED | STORES, times=st.integers(1, 3))
def test_writing_and_settling_is_writing(
    tmp_path_factory: pytest.TempPathFactory, document: Any, times: int
) -> None:
    """To the byte, however often a command was killed before."""
    one, other = (tmp_path_factory.mktemp("home") for _ in range(2))
    for home in (one, other):
        raw(home, json.dumps(document))
    plain = write_consent(str(one), NEWER, clock=lambda: 0)
    for _ in range(times):
        made = write_consent(str(other), NEWER, provisional=True, clock=lambda: 0)
    settled = settle_consent(str(other), ROOT, "anchor")
    if isinstance(plain, ConsentRecord):
        assert made == attrs.evolve(plain, provisional=True)
        assert settled is True
    assert store_file(one).read_bytes() == store_file(other).read_bytes()


def is_about_the_same(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and (value.get("projectRoot"), value.get("id")) == (ROOT, "anchor")
        and value.get("scope") != "global"
    )


@given(data=st.binary() | JSON.map(lambda value: json.dumps(value).encode()))
def test_whatever_the_file_is_nothing_raises(
    tmp_path_factory: pytest.TempPathFactory, data: bytes
) -> None:
    home = tmp_path_factory.mktemp("home")
    if raw(home, data).fault is not None:
        refused(write_consent(str(home), agreement()))
        refused(revoke_consent(str(home), ROOT, "anchor"))
        assert store_file(home).read_bytes() == data
