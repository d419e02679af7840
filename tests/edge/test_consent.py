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
    revoke_consent,
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


# Waiting


def test_nothing_is_written_while_another_command_does(tmp_path: Path) -> None:
    raw(tmp_path, '{"records": {}}')
    with consent_lock(str(tmp_path)) as held_by_us:
        assert held_by_us is None
        made = write_consent(str(tmp_path), agreement(), wait_s=0.02)
        assert refused(made).code == "busy"
        gone = revoke_consent(str(tmp_path), ROOT, "anchor", wait_s=0)
        assert refused(gone) == FileFault("busy", "in use by another command")
    assert store_file(tmp_path).read_text() == '{"records": {}}'


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
