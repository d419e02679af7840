"""A host contract read from disk: a contract, or faults with file, line and column."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from msdcomp.diagnostics import Problem
from msdcomp.edge.cachefolder import CacheFolder
from msdcomp.edge.contractfile import read_contract
from msdcomp.edge.load import load_registry
from msdcomp.host import HostContract
from tests.documents import changed
from tests.layouts import overlay
from tests.overlays import said

STANDARD = HostContract()
TEXT = json.dumps(STANDARD.to_wire(), indent=2)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Where a contract may lie."""
    return tmp_path / "contract.json"


def faults(file: Path) -> tuple[Problem, ...]:
    found = read_contract(str(file))
    assert isinstance(found, tuple)
    return found


def test_the_contract_of_msd_is_read_back(file: Path) -> None:
    file.write_text(TEXT, "utf-8")

    assert read_contract(str(file)) == STANDARD


def test_faults_have_their_place_and_come_in_the_order_of_the_text(file: Path) -> None:
    wire = changed(STANDARD.to_wire(), "/kinds/plan:pre/0", "stap")
    wire = changed(wire, "/phases/1/roles/1", "executor")
    file.write_text(json.dumps({"kinds": wire["kinds"], **wire}, indent=2), "utf-8")

    lines = file.read_text("utf-8").splitlines()
    found = faults(file)

    assert [p.code for p in found] == ["not-in-vocabulary", "role-of-other-family"]
    for problem, word in zip(found, ["stap", "executor"], strict=True):
        assert problem.file == str(file)
        assert problem.line is not None
        assert problem.column is not None
        assert lines[problem.line - 1][problem.column - 1 :].startswith(f'"{word}"')


def test_a_missing_field_is_at_its_object(file: Path) -> None:
    file.write_text('{\n  "phases": []\n}', "utf-8")

    assert ("missing-field", 1, 1) in [(p.code, p.line, p.column) for p in faults(file)]


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"", "json-syntax"),
        (b"\xff", "invalid-utf8"),
        (b"[]", "wrong-type"),
        (b"{" + b'"a":{' * 300, "too-deep"),
        (TEXT.replace('"kinds"', '"phases"').encode(), "duplicate-key"),
        (TEXT.encode() + b" " * (8 * 1024 * 1024), "unreadable"),
    ],
)
def test_what_is_no_strict_json_object_is_no_contract(
    file: Path, content: bytes, code: str
) -> None:
    file.write_bytes(content)

    assert code in [problem.code for problem in faults(file)]


@given(st.binary(max_size=200))
def test_no_bytes_make_it_raise(
    tmp_path_factory: pytest.TempPathFactory, content: bytes
) -> None:
    file = tmp_path_factory.mktemp("any") / "contract.json"
    file.write_bytes(content)

    assert faults(file)


def test_what_is_no_file_is_said_so_without_waiting(file: Path) -> None:
    assert "no such file" in faults(file)[0].message
    os.mkfifo(file)
    assert [problem.code for problem in faults(file)] == ["unreadable"]
    assert [problem.code for problem in faults(file.parent)] == ["unreadable"]


def test_an_overlay_is_judged_by_the_contract_that_is_given(tmp_path: Path) -> None:
    overlay(tmp_path, "tides", contributions=[said("plan:pre")])
    wire = changed(STANDARD.to_wire(), "/phases/1/roles", ["researcher"])
    contract = HostContract.from_wire(wire)
    assert isinstance(contract, HostContract)

    usual = load_registry(home=tmp_path, project=tmp_path / "none")
    own = load_registry(home=tmp_path, project=tmp_path / "none", contract=contract)

    assert usual.accepted == ("tides",)
    (warning,) = own.warnings["global", "tides"]
    assert [p.code for p in warning.problems] == ["role-not-published"]


def test_the_cache_is_left_alone_under_a_contract_of_ones_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    overlay(tmp_path, "tides", contributions=[said("plan:pre")])
    load_registry(home=tmp_path, project=tmp_path / "none", cache=True)
    cache = tmp_path / ".msd" / "cache"
    before = {path.name: path.read_bytes() for path in cache.iterdir()}
    assert before

    def refuse(*_: object) -> None:
        raise AssertionError("the cache is used")

    monkeypatch.setattr(CacheFolder, "__enter__", refuse)
    load_registry(
        home=tmp_path, project=tmp_path / "none", cache=True, contract=STANDARD
    )

    assert {path.name: path.read_bytes() for path in cache.iterdir()} == before
