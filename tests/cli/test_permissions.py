"""What may not be read costs itself and nothing else, and is told with the reason.

Root may read everything. Where the tests run as root, the command gives up the
capabilities of root first (Linux), so that permissions bite its own files as well;
anybody else's bite anyway.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from msdcomp.edge.consent import ConsentRecord, record_consent
from msdcomp.edge.load import OFF
from tests.edge.caches import LATER_NS, agrees, later

from .conftest import GATE, Finished, feature, install

_BOUND = """
import ctypes, os, sys
if os.geteuid() == 0:
    libc = ctypes.CDLL(None, use_errno=True)
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)
    if libc.capset(header, (ctypes.c_uint32 * 6)()):
        sys.exit("cannot give up the capabilities of root")
"""
#: Everything that was written before counts as old, for the cache.
_SETTLED = f"""
import time
from msdcomp.edge import cacheindex
cacheindex.now_ns = lambda: time.time_ns() + {LATER_NS}
"""
_COMMAND = f"{_BOUND}\nfrom msdcomp.cli import main\nsys.exit(main())"

Bound: TypeAlias = Callable[..., Finished]
Lock: TypeAlias = Callable[..., None]


@pytest.fixture
def bound(home: Path, project: Path) -> Bound:
    """Run `msd` over the home and project as somebody whom permissions bind."""

    def run(
        *arguments: str | Path,
        places: bool = True,
        cache: bool = True,
        settled: bool = False,
    ) -> Finished:
        where = ("--home", home, "--project", project) if places else ()
        done = subprocess.run(
            [sys.executable, "-c", _SETTLED * settled + _COMMAND, *arguments, *where],
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, OFF: "" if cache else "1"},
        )
        assert "Traceback" not in done.stderr, done.stderr
        return Finished(done.returncode, done.stdout, done.stderr)

    return run


@pytest.fixture
def lock() -> Iterator[Lock]:
    """Take permissions away, and give them back in the end."""
    held: list[tuple[Path, int]] = []

    def locking(path: Path, mode: int = 0) -> None:
        held.append((path, path.stat().st_mode))
        path.chmod(mode)

    yield locking
    for path, mode in reversed(held):
        path.chmod(mode)


def _remember(root: Path, *folders: str) -> Path:
    """Write a ledger that knows of a gate of each folder."""
    ledger = root / ".msd-capabilities.json"
    entries = {folder: {"gatePoints": ["ship:pre"]} for folder in folders}
    ledger.write_text(json.dumps({"entries": entries}), "utf-8")
    return ledger


def _agree(home: Path, project: Path, bundle: Path) -> None:
    made = record_consent(
        str(home), str(project), str(bundle), bundle.name, ("ship:pre",)
    )
    assert isinstance(made, ConsentRecord)


def _warnings(wire: Any) -> dict[str, tuple[str, str]]:
    return {
        w["capId"]: (w["code"], w["reason"])
        for w in wire.get("_overlay", {}).get("warnings", ())
    }


def _blocked(wire: Any) -> list[tuple[str, str]]:
    gates = wire.get("_overlay", {}).get("blockedGates", ())
    return [(gate["capId"], gate["point"]) for gate in gates]


DENIED = "its `capability.json` cannot be read: permission denied"


@pytest.mark.parametrize(
    ("locked", "mode"),
    [("anchor/capability.json", 0), ("anchor", 0), ("anchor", 0o444)],
)
def test_a_global_overlay_that_may_not_be_read(
    home: Path, bound: Bound, lock: Lock, locked: str, mode: int
) -> None:
    install(home, feature("anchor", gates=[GATE]))
    install(home, feature("bollard"))
    _remember(home, "anchor")
    lock(home / ".msd" / "capabilities" / locked, mode)

    done = bound("compose", "--json")

    assert done.code == 1
    assert _warnings(done.json) == {"anchor": ("unreadable", DENIED)}
    assert done.json["_overlay"]["accepted"] == ["bollard"]
    assert _blocked(done.json) == [("anchor", "ship:pre")]
    assert "anchor" in bound("loop", "render-hooks", "ship:pre").err


@pytest.mark.parametrize(
    ("locked", "mode"),
    [("anchor/capability.json", 0), ("anchor", 0), ("anchor", 0o444)],
)
@pytest.mark.parametrize("agreed", [True, False])
def test_a_project_overlay_that_may_not_be_read(
    home: Path,
    project: Path,
    bound: Bound,
    lock: Lock,
    locked: str,
    mode: int,
    agreed: bool,
) -> None:
    bundle = install(project, feature("anchor", gates=[GATE]))
    install(home, feature("bollard"))
    if agreed:
        _agree(home, project, bundle)
    else:
        _remember(project, "anchor")
    lock(project / ".msd" / "capabilities" / locked, mode)

    done = bound("compose", "--json")

    (code, _) = _warnings(done.json)["anchor"]
    assert code == ("consent-changed" if agreed else "unconsented")
    assert done.json["_overlay"]["accepted"] == ["bollard"]
    assert _blocked(done.json) == [("anchor", "ship:pre")]


def test_a_fragment_that_may_not_be_read(home: Path, bound: Bound, lock: Lock) -> None:
    said = {
        "point": "plan:pre",
        "into": "planner",
        "produces": [],
        "consumes": [],
        "fragment": {"path": "a.md"},
    }
    bundle = install(home, feature("anchor", contributions=[said], gates=[GATE]))
    install(home, feature("bollard"))
    (bundle / "a.md").write_text("x", "utf-8")
    lock(bundle / "a.md")

    done = bound("compose", "--json")

    code, reason = _warnings(done.json)["anchor"]
    assert code == "bad-fragment"
    assert reason.endswith("permission denied")
    assert done.json["_overlay"]["accepted"] == ["bollard"]
    assert _blocked(done.json) == [("anchor", "ship:pre")]


@pytest.mark.parametrize("locked", [".", "prompts"])
def test_a_folder_of_fragments_that_may_no_longer_be_read(
    home: Path,
    project: Path,
    bound: Bound,
    lock: Lock,
    monkeypatch: pytest.MonkeyPatch,
    locked: str,
) -> None:
    said = {
        "point": "plan:pre",
        "into": "planner",
        "produces": [],
        "consumes": [],
        "fragment": {"path": "prompts/a.md"},
    }
    bundle = install(home, feature("anchor", contributions=[said]))
    (bundle / "prompts").mkdir()
    (bundle / "prompts" / "a.md").write_text("x", "utf-8")
    later(monkeypatch)
    assert agrees(home, project).accepted == ("anchor",)
    # What lies in it can be reached by name, so no stamp of a file changes.
    lock(bundle / locked, 0o311)

    cached, plain = bound("compose", "--json"), bound("compose", "--json", cache=False)

    assert cached == plain
    code, reason = _warnings(plain.json)["anchor"]
    assert code == "bad-fragment"
    assert reason.endswith("permission denied")


@pytest.mark.parametrize("locked", [".", "prompts"])
def test_a_folder_of_fragments_that_may_be_read_again(
    home: Path, bound: Bound, locked: str
) -> None:
    said = {
        "point": "plan:pre",
        "into": "planner",
        "produces": [],
        "consumes": [],
        "fragment": {"path": "prompts/a.md"},
    }
    bundle = install(home, feature("anchor", contributions=[said]))
    (bundle / "prompts").mkdir()
    (bundle / "prompts" / "a.md").write_text("x", "utf-8")
    (bundle / locked).chmod(0o311)
    try:
        refused = bound("compose", "--json", settled=True)
    finally:
        (bundle / locked).chmod(0o755)

    again = bound("compose", "--json", settled=True)

    assert [code for code, _ in _warnings(refused.json).values()] == ["bad-fragment"]
    assert again.json["_overlay"]["accepted"] == ["anchor"]


@pytest.mark.parametrize(
    ("locked", "other"), [("home", "project"), ("project", "home")]
)
@pytest.mark.parametrize("folder", [".msd/capabilities", ".msd"])
def test_an_overlay_root_that_may_not_be_read(
    tmp_path: Path, bound: Bound, lock: Lock, locked: str, other: str, folder: str
) -> None:
    install(tmp_path / locked, feature("anchor"))
    install(tmp_path / other, feature("bollard", gates=[GATE]))
    lock(tmp_path / locked / folder)

    done = bound("compose")

    assert ".msd/capabilities (" in done.out
    assert "): permission denied\n" in done.out
    assert "bollard" in done.out


@pytest.mark.parametrize("remembered", ["ledger", "consent"])
def test_the_gates_of_an_overlay_root_that_may_not_be_read_are_remembered(
    home: Path, project: Path, bound: Bound, lock: Lock, remembered: str
) -> None:
    root = home if remembered == "ledger" else project
    bundle = install(root, feature("anchor", gates=[GATE]))
    if remembered == "ledger":
        _remember(home, "anchor", "no id", ".dot")
    else:
        _agree(home, project, bundle)
    lock(bundle.parent)

    done = bound("loop", "render-hooks", "ship:pre", "--json")

    assert done.code == 0
    assert [w["capId"] for w in done.json["warnings"]] == ["anchor"]
    assert "anchor" in done.err
    assert _blocked(bound("compose", "--json").json) == [("anchor", "ship:pre")]


def test_a_consent_store_that_may_not_be_read(
    home: Path, project: Path, bound: Bound, lock: Lock
) -> None:
    _agree(home, project, install(project, feature("anchor", gates=[GATE])))
    install(home, feature("bollard"))
    lock(home / ".msd" / "consent.json")

    done = bound("compose", "--json")

    code, _ = _warnings(done.json)["anchor"]
    assert code == "consent-unreadable"
    assert done.json["_overlay"]["accepted"] == ["bollard"]
    assert _blocked(done.json) == [("anchor", "ship:pre")]


def test_a_ledger_that_may_not_be_read(home: Path, bound: Bound, lock: Lock) -> None:
    install(home, feature("anchor"))
    install(home, feature("bollard", tier="large", gates=[GATE]))
    lock(_remember(home, "bollard"))

    done = bound("compose")

    assert (
        "  .msd-capabilities.json (global): the ledger says nothing: permission denied"
        in done.out
    )
    assert "  anchor 1.0.0" in done.out
    assert "bollard (blocking): " in done.out


@pytest.mark.parametrize("mode", ["file", "folder"])
def test_a_configuration_that_may_not_be_read_keeps_the_gates(
    project: Path, bound: Bound, lock: Lock, mode: str
) -> None:
    config = project / ".planning" / "config.json"
    config.write_text('{"workflow": {"security_enforcement": false}}', "utf-8")
    lock(config if mode == "file" else config.parent)

    done = bound("loop", "render-hooks", "ship:pre", "--json")

    assert done.code == 0
    assert "security" in [hook["capId"] for hook in done.json["activeHooks"]]
    assert ".planning/config.json cannot be read (permission denied)" in done.err


@pytest.mark.parametrize(
    ("locked", "mode"),
    [("anchor/capability.json", 0), ("anchor", 0), ("anchor", 0o444)],
)
def test_validate_tells_what_it_may_not_read(
    home: Path, bound: Bound, lock: Lock, locked: str, mode: int
) -> None:
    bundle = install(home, feature("anchor"))
    other = install(home, feature("bollard", tier="large"))
    lock(home / ".msd" / "capabilities" / locked, mode)

    for paths in ((home,), (bundle, other), (bundle / "capability.json", other)):
        done = bound("validate", "--json", *paths, places=False)

        assert done.code == 1
        assert done.json["checked"] == 2
        assert [(p["file"], p["message"]) for p in done.json["problems"]] == [
            (f"{bundle}/capability.json", "cannot be read: permission denied"),
            (
                f"{other}/capability.json",
                'tier must be "core", "standard" or "full", got "large"',
            ),
        ]


@pytest.mark.parametrize("option", ["--home", "--project"])
def test_a_folder_that_may_not_be_looked_at_is_not_called_absent(
    tmp_path: Path, bound: Bound, lock: Lock, option: str
) -> None:
    (tmp_path / "outer" / "inner").mkdir(parents=True)
    lock(tmp_path / "outer")

    done = bound("compose", option, tmp_path / "outer" / "inner", places=False)

    assert (done.code, done.out) == (2, "")
    assert done.err == (
        f"msd: error: {option}: {tmp_path}/outer/inner: permission denied\n"
    )


def test_a_saved_composition_that_may_not_be_read(
    tmp_path: Path, bound: Bound, lock: Lock
) -> None:
    path = tmp_path / "saved.json"
    path.write_text("{}", "utf-8")
    lock(path)

    done = bound("diff", path, path, places=False)

    assert (done.code, done.out) == (2, "")
    assert done.err == f"msd: error: {path}: permission denied\n"


def test_a_configuration_that_is_asked_for_and_may_not_be_read(
    tmp_path: Path, bound: Bound, lock: Lock
) -> None:
    path = tmp_path / "given.json"
    path.write_text("{}", "utf-8")
    lock(path)

    done = bound("explain", "claude-orchestration", "--config", path)

    assert done.code == 1
    assert "permission denied" in done.out
