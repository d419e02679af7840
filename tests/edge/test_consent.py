"""The consent store: honest about what it does not know."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest

from msdcomp.candidate import Consent
from msdcomp.edge.consent import (
    ConsentRecord,
    ConsentStore,
    read_consent,
    record_consent,
)
from msdcomp.edge.content_hash import Bundle, read_bundle
from msdcomp.edge.files import FileFault
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


def store_of(home: Path, *records: Any, **more: Any) -> ConsentStore:
    held = {str(number): value for number, value in enumerate(records)}
    text = json.dumps({"version": "1", "records": held, **more})
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
        {"scope": "global"},
        {"scope": None},
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


def test_the_file_is_what_a_javascript_host_reads(
    tmp_path: Path, bundle: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(time, "gmtime", lambda: time.struct_time((2026, *[1] * 8)))
    made = agree(tmp_path, bundle, integrity="sha512-x", disclosure_signature="[]")
    assert isinstance(made, ConsentRecord)
    text = (tmp_path / "home" / ".msd" / "consent.json").read_text()
    root = made.project_root
    assert text.endswith("}\n")
    assert json.loads(text) == {
        "version": "1",
        "records": {
            f'{{"r":"{root}","i":"anchor"}}': {
                "projectRoot": root,
                "id": "anchor",
                "scope": "project",
                "integrity": "sha512-x",
                "disclosureSignature": "[]",
                "contentHash": made.content_hash,
                "gatePoints": [],
                "consentedAt": "2026-01-01T01:01:01Z",
            }
        },
    }


def test_recording_again_replaces_and_keeps_the_others(
    tmp_path: Path, bundle: Path
) -> None:
    agree(tmp_path, bundle)
    path = tmp_path / "home" / ".msd" / "consent.json"
    held = json.loads(path.read_text())
    (old,) = held["records"].values()
    held["records"] = {"odd key": old, "other": record(), "junk": 5}
    write(path, json.dumps(held))
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
    refused = agree(tmp_path, bundle)
    assert isinstance(refused, FileFault)
    assert (tmp_path / "home" / ".msd" / "consent.json").read_text() == text


def test_content_that_cannot_be_hashed_cannot_be_agreed_to(
    tmp_path: Path, bundle: Path
) -> None:
    (bundle / "link").symlink_to("capability.json")
    refused = agree(tmp_path, bundle)
    assert isinstance(refused, FileFault)
    assert refused.code == "link"
    assert not (tmp_path / "home").exists()


def test_only_an_id_can_be_agreed_to(tmp_path: Path, bundle: Path) -> None:
    refused = record_consent(str(tmp_path), str(tmp_path), str(bundle), "An Chor")
    assert isinstance(refused, FileFault)
    assert refused.code == "bad-id"


def test_a_store_that_cannot_be_written(tmp_path: Path, bundle: Path) -> None:
    write(tmp_path / "home" / ".msd", "in the way")
    refused = agree(tmp_path, bundle)
    assert isinstance(refused, FileFault)


def test_a_project_path_that_is_not_utf8(tmp_path: Path, bundle: Path) -> None:
    project = tmp_path / os.fsdecode(b"\xe9")
    project.mkdir()
    made = record_consent(str(tmp_path), str(project), str(bundle), "anchor")
    assert isinstance(made, ConsentRecord)
    store = read_consent(str(tmp_path))
    assert store.find(os.path.realpath(project), "anchor") == made
