"""The shipped snapshot: what it holds, and that it is what the manifests say."""

from __future__ import annotations

import collections
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from msdcomp import wire
from msdcomp.edge import snapshot
from msdcomp.edge.files import FileFault
from msdcomp.edge.freeze import (
    Snapshot,
    check_snapshot,
    make_snapshot,
    write_snapshot,
)
from msdcomp.edge.snapshot import (
    load_snapshot,
    read_central_config,
    read_snapshot,
    snapshot_path,
)
from msdcomp.host import DEFAULT_HOST_VERSION
from msdcomp.manifest import Contribution, Manifest, Step
from msdcomp.vocabulary.runtime import HOST_BEHAVIORS
from tests.layouts import feature, put, write

CAPABILITIES = Path(__file__).parents[2] / "capabilities"


def manifests() -> list[Manifest]:
    return [m for _, m in sorted(read_snapshot().capabilities.items())]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Three capabilities of one's own, to break."""
    for name in ("alpha", "beta", "gamma"):
        document = json.dumps(feature(name))
        write(tmp_path / "capabilities" / name / "capability.json", document)
    return tmp_path / "capabilities"


def change(folder: Path, name: str, **fields: Any) -> None:
    document = json.dumps(feature(name, **fields))
    write(folder / name / "capability.json", document)


# What is shipped


def test_capabilities_by_role() -> None:
    roles = collections.Counter(manifest.role for manifest in manifests())
    assert roles == {"feature": 20, "runtime": 19, "reviewer": 5}


def test_reviewer_lanes_and_their_flags() -> None:
    lanes = [m.reviewer for m in manifests() if m.reviewer is not None]
    assert len(lanes) == 12
    assert len({flag for lane in lanes for flag in lane.flags}) == 13
    assert len(read_snapshot().reviewers) == 12


def test_host_behaviours() -> None:
    used = collections.Counter(
        key
        for manifest in manifests()
        if manifest.runtime is not None
        for key in manifest.runtime.host_behaviors
    )
    assert used.keys() == HOST_BEHAVIORS
    assert len(used) == 59
    assert sum(1 for times in used.values() if times == 1) == 39


def test_every_fragment_carries_its_text() -> None:
    hooks = [
        hook.body
        for point in read_snapshot().by_loop_point.values()
        for hook in (*point.steps, *point.contributions)
    ]
    named = 0
    for body in hooks:
        assert isinstance(body, Step | Contribution)
        if body.fragment is not None:
            named += body.fragment.path is not None
            assert body.fragment.inline
    assert named > 0


def test_it_is_what_the_manifests_say() -> None:
    checked = check_snapshot(CAPABILITIES)
    assert checked.problems == ()
    assert not checked.stale, "run `msd build` and commit the result"


def test_it_is_for_the_host_the_package_belongs_to() -> None:
    document = json.loads(Path(snapshot_path()).read_bytes())
    assert document["hostVersion"] == DEFAULT_HOST_VERSION
    ids = [item["manifest"]["id"] for item in document["capabilities"]]
    assert ids == sorted(ids)


def test_the_central_schema_and_the_first_party_share_no_key() -> None:
    central = read_central_config()
    assert len(central.keys) > 100
    assert len(central.patterns) == 14
    assert not [key for key in read_snapshot().config_keys if central.owns(key)]


# Reading


def test_it_is_read_once() -> None:
    assert read_snapshot() is read_snapshot()
    assert read_central_config() is read_central_config()


def test_reading_checks_no_manifest(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr(wire, "check", never)
    content = Path(snapshot_path()).read_bytes()
    assert load_snapshot(content) == read_snapshot()


def test_another_format_is_refused() -> None:
    with pytest.raises(RuntimeError, match="has format 2, not 1"):
        load_snapshot(b'{"format": 2, "capabilities": []}')


def test_a_snapshot_that_cannot_be_built_is_refused() -> None:
    def step(produces: str, consumes: str) -> dict[str, Any]:
        return {
            "point": "plan:pre",
            "ref": {"command": "x"},
            "produces": [produces],
            "consumes": [consumes],
            "onError": "skip",
        }

    circle = [feature("a", steps=[step("A.md", "B.md")])]
    circle += [feature("b", steps=[step("B.md", "A.md")])]
    items = [{"manifest": document, "fragments": {}} for document in circle]
    with pytest.raises(RuntimeError, match=r"cannot be built: \['a', 'b'\]"):
        load_snapshot(json.dumps({"format": 1, "capabilities": items}).encode())


def test_a_damaged_package_is_no_surprise_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(snapshot, "_DATA", tmp_path)
    with pytest.raises(RuntimeError, match=r"first-party\.json of the installed"):
        read_snapshot.__wrapped__()


# Making


def test_the_same_manifests_give_the_same_bytes(folder: Path, tmp_path: Path) -> None:
    """Whatever their order on disk, their layout, and where they lie."""
    other = tmp_path / "elsewhere"
    for name in ("gamma", "alpha", "beta"):
        document = json.loads((folder / name / "capability.json").read_text())
        turned = dict(reversed(document.items()))
        write(other / name / "capability.json", json.dumps(turned, indent=4))
    assert make_snapshot(folder) == make_snapshot(other)


def test_what_is_made_can_be_read(folder: Path, tmp_path: Path) -> None:
    given = {
        "point": "plan:pre",
        "into": "planner",
        "fragment": {"path": "a.md"},
        "produces": [],
        "consumes": [],
    }
    change(folder, "alpha", contributions=[given])
    write(folder / "alpha" / "a.md", "Tëxt\r\n")
    target = tmp_path / "out" / "snapshot.json"
    made = write_snapshot(folder, target)
    assert isinstance(made, Snapshot)
    assert made.problems == ()
    assert target.read_bytes() == made.content
    registry = load_snapshot(made.content)
    assert sorted(registry.capabilities) == ["alpha", "beta", "gamma"]
    (hook,) = registry.by_loop_point["plan:pre"].contributions
    assert isinstance(hook.body, Contribution)
    assert hook.body.fragment.inline == "Tëxt\r\n"


@pytest.mark.parametrize("what", ["manifest", "fragment", "added", "removed"])
def test_a_snapshot_becomes_stale(folder: Path, tmp_path: Path, what: str) -> None:
    given = {
        "point": "plan:pre",
        "into": "planner",
        "fragment": {"path": "a.md"},
        "produces": [],
        "consumes": [],
    }
    change(folder, "alpha", contributions=[given])
    write(folder / "alpha" / "a.md", "text")
    target = tmp_path / "snapshot.json"
    write_snapshot(folder, target)
    assert not check_snapshot(folder, target).stale
    if what == "manifest":
        change(folder, "beta", title="Another")
    elif what == "fragment":
        write(folder / "alpha" / "a.md", "other text")
    elif what == "added":
        change(folder, "delta")
    else:
        shutil.rmtree(folder / "gamma")
    checked = check_snapshot(folder, target)
    assert checked.stale
    assert checked.problems == ()


def test_a_missing_snapshot_is_stale(folder: Path, tmp_path: Path) -> None:
    assert check_snapshot(folder, tmp_path / "none.json").stale


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"tier": "huge"}, "not-in-vocabulary"),
        ({"requires": ["nobody"]}, "requires-missing"),
        ({"skills": ["s", "s"]}, "claimed-twice"),
        (
            {
                "contributions": [
                    {
                        "point": "plan:pre",
                        "into": "executor",
                        "fragment": {"inline": "x"},
                        "produces": [],
                        "consumes": [],
                    }
                ]
            },
            "role-not-published",
        ),
        (
            {
                "gates": [
                    {
                        "point": "ship:post",
                        "check": {"query": "x y"},
                        "blocking": True,
                        "onError": "halt",
                    }
                ]
            },
            "kind-not-dispatched",
        ),
    ],
)
def test_the_first_party_is_held_to_every_rule(
    folder: Path, tmp_path: Path, fields: dict[str, Any], code: str
) -> None:
    change(folder, "beta", **fields)
    made = write_snapshot(folder, tmp_path / "snapshot.json")
    assert isinstance(made, Snapshot)
    assert [problem.code for problem in made.problems] == [code]
    assert made.problems[0].file == "capabilities/beta/capability.json"
    assert not (tmp_path / "snapshot.json").exists()
    assert check_snapshot(folder, tmp_path / "snapshot.json").problems == made.problems


def test_a_manifest_that_cannot_be_read_is_a_problem(folder: Path) -> None:
    (folder / "beta" / "capability.json").unlink()
    put(folder / "beta" / "capability.json", {"fifo": True})
    assert [problem.code for problem in make_snapshot(folder).problems] == [
        "unreadable"
    ]


@pytest.mark.parametrize("name", ["empty", "missing"])
def test_a_folder_without_capabilities(tmp_path: Path, name: str) -> None:
    (tmp_path / "empty").mkdir()
    made = make_snapshot(tmp_path / name)
    assert [problem.code for problem in made.problems] == ["unreadable"]


def test_a_snapshot_that_cannot_be_written(folder: Path, tmp_path: Path) -> None:
    write(tmp_path / "file", "")
    made = write_snapshot(folder, tmp_path / "file" / "snapshot.json")
    assert isinstance(made, FileFault)
