"""Values of the cache: they come back as they were, and nothing else comes back."""

from __future__ import annotations

import importlib
import os
import pickle
from pathlib import Path
from typing import Any

import attrs
import pytest
from hypothesis import given
from pyrsistent import pmap

from msdcomp.candidate import Candidate
from msdcomp.diagnostics import Problem
from msdcomp.edge.cachevalues import (
    KNOWN,
    dump,
    dump_plain,
    load,
    load_plain,
)
from msdcomp.edge.firstparty import is_whole
from msdcomp.edge.load import load_registry
from msdcomp.host import Host
from msdcomp.manifest import GateCheck
from msdcomp.records import Record
from msdcomp.registry import Registry
from msdcomp.scope import Scope
from msdcomp.wire import decode
from tests import strategies


def back(value: Any) -> Any:
    data = dump(value)
    assert data is not None
    return load(bytes(data))


def test_the_shipped_registry_comes_back() -> None:
    registry = load_registry(include_installed=False).registry
    found = back(registry)
    assert found == registry
    assert found is not registry
    # A hook is the very record that its manifest holds, as it was.
    hook = found.by_loop_point["plan:pre"].gates
    assert all(h.capability_id in found.capabilities for h in hook)


@given(strategies.manifests)
def test_whatever_is_decoded_comes_back(document: dict[str, Any]) -> None:
    decoded = decode(document)
    found = back(decoded)
    assert found == decoded
    assert found.gates == decoded.gates
    if decoded.manifest is not None:
        assert found.manifest.document == decoded.manifest.document


def test_a_document_that_was_not_written_yet_comes_back_unwritten() -> None:
    text = b'{"id": "x", "role": "feature"}'
    given = Candidate.read(text)
    assert back(back(given)) == given


@pytest.mark.parametrize(
    "value",
    [None, 1, "\udcff", b"x", (), {"a": [1, (2,)]}, pmap({"a": pmap()}), Scope.GLOBAL],
)
def test_plain_values_come_back(value: Any) -> None:
    assert back(value) == value


def test_what_is_deep_comes_back_or_is_not_kept() -> None:
    value: Any = None
    for _ in range(199):
        value = pmap({"a": value})
    check = GateCheck(predicate=value)
    data = dump(check)
    found = check if data is None else load(bytes(data))
    levels = 0
    while (value := found.predicate if levels == 0 else value["a"]) is not None:
        levels += 1
    assert levels == 199


@pytest.mark.parametrize("value", [Host(), object(), os.getcwd, lambda: 1, Path()])
def test_what_is_not_known_is_not_written(value: Any) -> None:
    assert dump(value) is None
    assert dump([value]) is None


def test_every_record_that_is_known_exists_and_no_other_is_needed() -> None:
    for module, names in KNOWN.items():
        for name in names:
            known = getattr(importlib.import_module(module), name)
            assert known.__module__ == module
            assert known.__qualname__ == name
            if issubclass(known, Record):
                assert not hasattr(known, "__dict__") or attrs.has(known)
                assert all(field.init for field in attrs.fields(known)), name


# Files that were made to do harm


class _Calls:
    """Pickled as a call of anything."""

    def __init__(self, called: Any, *arguments: Any) -> None:
        self.reduced = (called, arguments)

    def __reduce__(self) -> Any:
        return self.reduced


@pytest.mark.parametrize(
    "value",
    [
        _Calls(os.system, "touch harm"),
        _Calls(eval, "1"),
        _Calls(exec, "1"),
        _Calls(getattr, Scope, "GLOBAL"),
        _Calls(importlib.import_module, "this"),
        _Calls(load_registry),
        _Calls(decode, b"{}"),
        _Calls(Path, "x"),
        os.system,
        Record,
        object(),
        (1, _Calls(print, "harm")),
    ],
)
@pytest.mark.parametrize("read", [load, load_plain])
def test_no_file_names_what_is_run(
    value: Any, read: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for protocol in (0, 2, 5):
        assert read(pickle.dumps(value, protocol)) is None
    assert not list(tmp_path.iterdir())


def test_a_dotted_name_does_not_lead_out() -> None:
    for module, name in (
        ("msdcomp.gates", "attrs.evolve"),
        ("msdcomp.gates", "BlockedGate.__init__"),
        ("msdcomp.edge.cachevalues", "load"),
        ("builtins", "eval"),
    ):
        text = b"\x80\x04\x8c" + bytes([len(module)]) + module.encode()
        text += b"\x8c" + bytes([len(name)]) + name.encode() + b"\x93."
        assert load(text) is None


@pytest.mark.parametrize(
    "columns",
    [
        [(Problem, 1, [])],
        [(Problem, [Scope.GLOBAL], [[1]] * 9)],
        [(Problem, [None], [])],
        [(Scope, [], [])],
        [(1,)],
        1,
        [(Problem, [], [[1]] * len(attrs.fields(Problem)))],
    ],
)
def test_columns_that_do_not_fit_are_refused(columns: Any) -> None:
    assert load(pickle.dumps(None) + pickle.dumps(columns) + pickle.dumps([])) is None


def test_a_record_of_another_class_takes_no_values() -> None:
    columns = [(Problem, [_Calls(GateCheck)], [[1]] * len(attrs.fields(Problem)))]
    assert load(pickle.dumps(None) + pickle.dumps(columns) + pickle.dumps([])) is None


@pytest.mark.parametrize("data", [b"", b"x", b"\x80\x05", pickle.dumps(1)[:-1]])
def test_what_is_no_pickle_is_nothing(data: bytes) -> None:
    assert load(data) is None
    assert load_plain(data) is None


def test_plain_is_without_records() -> None:
    assert load_plain(dump_plain((1, "a", [b"x"]))) == (1, "a", [b"x"])
    assert load_plain(pickle.dumps(Scope.GLOBAL)) is None


def test_a_registry_without_its_views_is_not_used() -> None:
    empty = Registry.__new__(Registry)

    assert not is_whole(empty)
    assert not is_whole(pmap())
    assert is_whole(Registry())
