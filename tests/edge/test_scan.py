"""From folders to candidates: what becomes of each entry of a root."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from msdcomp.candidate import Consent, FragmentText, Scope
from msdcomp.edge import scan as scanning
from msdcomp.edge import sight
from msdcomp.edge.files import list_folder, read_file
from msdcomp.edge.load import load_registry
from msdcomp.edge.roots import LOCK_NAME, STAGING_NAME, find_places
from msdcomp.edge.scan import Scan
from tests.edge.scans import GATE, Scanner, agree, code, only, reasons, text
from tests.layouts import feature, overlay, put, write


def test_nothing_anywhere(run: Scanner) -> None:
    assert run() == Scan()


def test_roots_in_order_and_names_by_code_point(
    home: Path, project: Path, run: Scanner
) -> None:
    for name in ("b", "a", "a-b", "ab"):
        overlay(home, name)
    overlay(project, "a")
    found = [(c.scope.value, c.folder) for c in run().candidates]
    assert found == [
        ("global", "a"),
        ("global", "a-b"),
        ("global", "ab"),
        ("global", "b"),
        ("project", "a"),
    ]


def test_a_sound_global_overlay(home: Path, run: Scanner) -> None:
    overlay(home, "anchor", gates=[GATE])
    candidate = only(run())
    assert candidate.scope is Scope.GLOBAL
    assert candidate.path == ".msd/capabilities/anchor"
    assert candidate.decoded is not None
    assert candidate.decoded.manifest is not None
    assert not candidate.linked
    assert not candidate.pending
    assert not candidate.committed
    assert candidate.unreadable is None


def test_problems_name_the_file(home: Path, run: Scanner) -> None:
    overlay(home, "anchor", tier="huge")
    candidate = only(run())
    assert candidate.decoded is not None
    (problem,) = candidate.decoded.problems
    assert problem.file == ".msd/capabilities/anchor/capability.json"


def test_what_is_no_overlay_is_ignored_with_a_reason(home: Path, run: Scanner) -> None:
    root = home / ".msd" / "capabilities"
    put(root / ".staged" / "x", "")
    put(root / ".lock.old", "")
    put(root / "README.md", "x")
    put(root / "pipe", {"fifo": True})
    put(root / "to-file", {"symlink": "README.md"})
    put(root / "to-pipe", {"symlink": "pipe"})
    found = run()
    assert found.candidates == ()
    assert reasons(found) == {
        ".lock.old": "its name starts with a dot",
        ".staged": "its name starts with a dot",
        "README.md": "not a folder",
        "pipe": "not a folder",
        "to-file": "a symbolic link to something that is not a folder",
        "to-pipe": "a symbolic link to something that is not a folder",
    }
    assert {entry.scope for entry in found.ignored} == {"global"}


@pytest.mark.parametrize("scope", ["home", "project"])
@pytest.mark.parametrize("spec", ["", {"dir": True}, {"symlink": "anchor"}])
def test_what_the_lifecycle_keeps_in_a_root_is_not_listed(
    tmp_path: Path, run: Scanner, scope: str, spec: Any
) -> None:
    """Whatever it is; every other name with a dot still is."""
    overlay(tmp_path / scope, "anchor")
    root = tmp_path / scope / ".msd" / "capabilities"
    before = run()
    for name in (LOCK_NAME, STAGING_NAME):
        put(root / name, spec)
    assert run() == before
    for name in (".locks", ".staging2", ".LOCK", ".other"):
        put(root / name, spec)
    assert set(reasons(run())) == {".locks", ".staging2", ".LOCK", ".other"}


@pytest.mark.parametrize(
    ("spec", "reason"),
    [
        (None, "no such file"),
        ({"dir": True}, "not a regular file"),
        ({"fifo": True}, "not a regular file"),
        ({"symlink": "/dev/zero"}, "not a regular file"),
        ({"symlink": "gone"}, "no such file"),
        ({"pad": {"json": {}, "bytes": 9_000_000}}, "larger than 8,388,608 bytes"),
    ],
)
@pytest.mark.parametrize("scope", ["home", "project"])
def test_a_manifest_that_cannot_be_read(
    tmp_path: Path, run: Scanner, scope: str, spec: Any, reason: str
) -> None:
    folder = tmp_path / scope / ".msd" / "capabilities" / "anchor"
    folder.mkdir(parents=True)
    if spec:
        put(folder / "capability.json", spec)
    candidate = only(run())
    assert candidate.decoded is None
    outside = scope == "project" and spec == {"symlink": "/dev/zero"}
    assert candidate.unreadable == ("leads out of the folder" if outside else reason)


def test_a_name_that_is_not_utf8(home: Path, run: Scanner) -> None:
    """It can never equal an id, so it is refused loudly instead of being lost."""
    raw = os.fsdecode(b"caf\xe9")
    folder = home / ".msd" / "capabilities" / raw
    write(folder / "capability.json", json.dumps(feature("cafe", gates=[GATE])))
    put(home / ".msd" / "capabilities" / os.fsdecode(b".\xff"), "")
    found = run()
    candidate = only(found)
    assert candidate.folder == r"caf\xe9"
    assert candidate.path == r".msd/capabilities/caf\xe9"
    assert candidate.decoded is not None
    assert [p.code for p in candidate.decoded.problems] == ["id-folder-mismatch"]
    assert [gate.point for gate in candidate.decoded.gates] == ["ship:pre"]
    assert list(reasons(found)) == [r".\xff"]


def test_a_root_that_is_a_file(home: Path, run: Scanner) -> None:
    write(home / ".msd" / "capabilities", "x")
    assert reasons(run()) == {".msd/capabilities": "not a folder"}


@pytest.mark.parametrize("broken", ["file", "listing"])
def test_the_gates_of_a_root_that_cannot_be_listed_are_remembered(
    home: Path,
    project: Path,
    run: Scanner,
    monkeypatch: pytest.MonkeyPatch,
    broken: str,
) -> None:
    agree(home, project, overlay(project, "bollard"))
    agree(home, project.parent, overlay(project.parent, "elsewhere"))
    entries = {
        "anchor": {"gatePoints": ["ship:pre"], "_pending": {}},
        "capstan": {"gatePoints": []},
        "../outside": {"gatePoints": ["ship:pre"]},
    }
    write(home / ".msd-capabilities.json", json.dumps({"entries": entries}))
    if broken == "file":
        write(home / ".msd" / "capabilities", "x")
        (project / ".msd").rename(project / "away")
        write(project / ".msd" / "capabilities", "x")
        reason = "not a folder"
    else:

        def failing(_fd: int) -> Iterator[os.DirEntry[str]]:
            raise OSError(5, "I/O error")

        (home / ".msd" / "capabilities").mkdir()
        monkeypatch.setattr(os, "scandir", failing)
        reason = "cannot be read (EIO)"
    found = run()
    anchor, bollard = found.candidates
    assert {c.unreadable for c in found.candidates} == {reason}
    assert (anchor.folder, anchor.scope) == ("anchor", Scope.GLOBAL)
    assert (anchor.pending, anchor.stored_gates) == (True, ("ship:pre",))
    assert (bollard.folder, bollard.scope) == ("bollard", Scope.PROJECT)
    assert bollard.consent is Consent.CHANGED
    assert bollard.consented_gates == ("plan:post",)
    assert reasons(found) == {".msd/capabilities": reason}


def test_a_root_that_cannot_be_listed(
    home: Path, run: Scanner, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(_fd: int) -> Iterator[os.DirEntry[str]]:
        raise OSError(5, "I/O error")

    overlay(home, "anchor")
    monkeypatch.setattr(os, "scandir", failing)
    assert reasons(run()) == {".msd/capabilities": "cannot be read (EIO)"}


def test_a_crowded_root_is_cut_and_says_so(
    home: Path, run: Scanner, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a", "b", "c"):
        overlay(home, name)
    real = list_folder
    monkeypatch.setattr(sight, "list_folder", lambda fd: real(fd, 2))
    found = run()
    assert [candidate.folder for candidate in found.candidates] == ["a", "b"]
    assert reasons(found) == {
        ".msd/capabilities": "only the first 100,000 entries are looked at"
    }


def test_an_overlay_that_vanishes_while_it_is_read(
    home: Path, run: Scanner, monkeypatch: pytest.MonkeyPatch
) -> None:
    bundle = overlay(home, "anchor", contributions=[text("a.md")])
    real = read_file

    def read_and_remove(path: str, **more: Any) -> Any:
        found = real(path, **more)
        (bundle / "capability.json").unlink()
        bundle.rmdir()
        return found

    monkeypatch.setattr(sight, "read_file", read_and_remove)
    assert code(run()) == "fragment-unreadable"


# Links


def test_a_linked_folder_of_the_global_root_is_followed(
    tmp_path: Path, home: Path, run: Scanner
) -> None:
    elsewhere = overlay(tmp_path / "src", "anchor", contributions=[text("a.md")])
    write(elsewhere / "a.md", "inside")
    put(home / ".msd/capabilities/anchor", {"symlink": str(elsewhere)})
    candidate = only(run())
    assert (candidate.linked, candidate.dangling) == (True, False)
    assert candidate.decoded is not None
    assert candidate.decoded.manifest is not None
    assert candidate.fragments["a.md"] == FragmentText("inside")


def test_nothing_is_read_through_a_link_of_a_project(
    tmp_path: Path, home: Path, project: Path, run: Scanner, opened: list[str]
) -> None:
    elsewhere = overlay(tmp_path / "src", "anchor", gates=[GATE])
    agree(home, project, elsewhere)
    put(project / ".msd/capabilities/anchor", {"symlink": str(elsewhere)})
    opened.clear()
    candidate = only(run())
    assert candidate.linked
    assert candidate.decoded is None
    assert candidate.consent is Consent.CHANGED
    assert candidate.consented_gates == ("plan:post",)
    assert not [path for path in opened if path.endswith("capability.json")]


def test_a_link_of_a_project_nobody_agreed_to(
    tmp_path: Path, project: Path, run: Scanner
) -> None:
    elsewhere = overlay(tmp_path / "src", "anchor")
    put(project / ".msd/capabilities/anchor", {"symlink": str(elsewhere)})
    candidate = only(run())
    assert (candidate.linked, candidate.consent) == (True, Consent.NONE)
    assert not candidate.dangling


@pytest.mark.parametrize("scope", ["home", "project"])
@pytest.mark.parametrize("target", ["gone", "anchor", "../there", "file/below"])
def test_a_link_that_leads_nowhere(
    tmp_path: Path, run: Scanner, scope: str, target: str
) -> None:
    root = tmp_path / scope / ".msd/capabilities"
    put(root / "file", "x")
    put(root.parent / "there", {"symlink": "capabilities/anchor"})
    put(root / "anchor", {"symlink": target})
    found = run()
    candidate = only(found)
    assert (candidate.linked, candidate.dangling) == (True, True)
    assert candidate.unreadable == "the folder is a symbolic link that leads nowhere"
    assert list(reasons(found)) == ["file"]


@pytest.mark.parametrize("scope", ["home", "project"])
def test_a_link_that_leads_nowhere_is_told_as_that(
    tmp_path: Path, home: Path, project: Path, scope: str
) -> None:
    put(tmp_path / scope / ".msd/capabilities/anchor", {"symlink": "gone"})
    ledger = {"entries": {"anchor": {"gatePoints": ["ship:pre"]}}}
    write(tmp_path / scope / ".msd-capabilities.json", json.dumps(ledger))
    composed = load_registry(cwd=project, home=home)
    (warning,) = (w for group in composed.warnings.values() for w in group)
    assert warning.code == "unreadable"
    assert warning.reason == "the folder is a symbolic link that leads nowhere"
    assert list(composed.blocked_gates) == ["ship:pre"]


@pytest.mark.parametrize("scope", ["home", "project"])
def test_a_link_that_cannot_be_followed_to_its_end(
    tmp_path: Path, run: Scanner, scope: str
) -> None:
    """Whether there is anything cannot be known, so it is not said to lead nowhere."""
    put(tmp_path / scope / ".msd/capabilities/anchor", {"symlink": "x" * 300})
    candidate = only(run())
    assert (candidate.linked, candidate.dangling) == (True, False)
    assert candidate.unreadable == "the path is too long"


def test_a_linked_manifest(tmp_path: Path, run: Scanner) -> None:
    """The user may link what is theirs; a repository may not reach out of itself."""
    write(tmp_path / "secret.json", json.dumps(feature("anchor", gates=[GATE])))
    for root in ("home", "project"):
        place = tmp_path / root / ".msd/capabilities/anchor/capability.json"
        put(place, {"symlink": str(tmp_path / "secret.json")})
    own, foreign = run().candidates
    assert own.decoded is not None
    assert own.decoded.manifest is not None
    assert foreign.decoded is None
    assert foreign.unreadable == "leads out of the folder"


# Ledger


@pytest.mark.parametrize("scope", ["home", "project"])
def test_the_ledger_of_the_same_scope_speaks(
    tmp_path: Path, run: Scanner, scope: str
) -> None:
    overlay(tmp_path / scope, "anchor")
    overlay(tmp_path / scope, "bollard")
    entries = {
        "anchor": {"_pending": {"kind": "install"}, "gatePoints": ["ship:pre"]},
        "bollard": {
            "id": "bollard",
            "version": "1.0.0",
            "source": "x",
            "integrity": "",
            "files": [],
            "sharedEdits": [],
        },
    }
    ledger = json.dumps({"version": "1", "entries": entries})
    write(tmp_path / scope / ".msd-capabilities.json", ledger)
    anchor, bollard = run().candidates
    assert (anchor.pending, anchor.committed) == (True, False)
    assert anchor.stored_gates == ("ship:pre",)
    assert (bollard.pending, bollard.committed) == (False, True)


def test_no_fragment_of_a_pending_overlay_is_read(home: Path, run: Scanner) -> None:
    overlay(home, "anchor", contributions=[text("a.md")])
    write(home / ".msd-capabilities.json", '{"entries": {"anchor": {"_pending": 1}}}')
    assert not only(run()).fragments


def test_a_damaged_ledger_is_reported(home: Path, run: Scanner) -> None:
    overlay(home, "anchor")
    write(home / ".msd-capabilities.json", "{")
    found = run()
    assert not only(found).pending
    assert reasons(found) == {
        ".msd-capabilities.json": "the ledger says nothing: not a JSON object"
    }


def test_no_descriptor_is_left_open(home: Path, project: Path, run: Scanner) -> None:
    for root in (home, project):
        bundle = overlay(root, "anchor", contributions=[text("a.md"), text("b/c")])
        write(bundle / "a.md", "x")
        put(root / ".msd/capabilities/link", {"symlink": "anchor"})
        put(root / ".msd/capabilities/empty", {"dir": True})
    before = sum(1 for _ in Path("/dev/fd").iterdir())
    run()
    assert sum(1 for _ in Path("/dev/fd").iterdir()) == before


def test_a_scan_counts_what_it_has_looked_at(home: Path, project: Path) -> None:
    root = home / ".msd" / "capabilities"
    for name in ("anchor", "bollard", ".hidden"):
        (root / name).mkdir(parents=True)
    seen: list[tuple[int, int | None]] = []

    places = find_places(project, home)
    scanning.scan(places, on_progress=lambda *told: seen.append(told))

    assert seen == [(1, None), (2, None), (3, None)]
