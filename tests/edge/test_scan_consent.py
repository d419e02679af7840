"""How little of a project overlay is read before the user agreed to it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from msdcomp.candidate import Consent, FragmentText, Scope
from msdcomp.edge import projectsight
from msdcomp.edge.content_hash import read_bundle
from msdcomp.edge.files import open_folder
from msdcomp.edge.roots import find_places
from msdcomp.edge.scan import scan
from tests.edge.scans import GATE, Scanner, agree, only, text
from tests.layouts import overlay, put, write


def test_without_consent_only_the_manifest_is_read(
    project: Path, run: Scanner, opened: list[str]
) -> None:
    bundle = overlay(project, "anchor", contributions=[text("a.md")], gates=[GATE])
    write(bundle / "a.md", "read me")
    write(bundle / "d" / "x", "")
    opened.clear()
    candidate = only(run())
    assert candidate.consent is Consent.NONE
    assert candidate.decoded is not None
    assert [gate.point for gate in candidate.decoded.gates] == ["ship:pre"]
    assert candidate.decoded.manifest is None, "nothing else it says is kept"
    assert not candidate.fragments
    names = {path.rpartition("/")[2] for path in opened}
    assert names.isdisjoint({"a.md", "d", "x"})


def test_with_consent_everything_counts(
    home: Path, project: Path, run: Scanner
) -> None:
    bundle = overlay(project, "anchor", contributions=[text("./d//a.md")])
    write(bundle / "d" / "a.md", "agreed")
    agree(home, project, bundle)
    candidate = only(run())
    assert candidate.consent is Consent.MATCHES
    assert candidate.fragments["./d//a.md"] == FragmentText("agreed")
    assert candidate.consented_gates == ("plan:post",)


@pytest.mark.parametrize("change", ["edited", "added", "link", "fifo"])
def test_other_content_than_agreed(
    home: Path, project: Path, run: Scanner, change: str
) -> None:
    bundle = overlay(project, "anchor", contributions=[text("a.md")], gates=[GATE])
    write(bundle / "a.md", "agreed")
    agree(home, project, bundle)
    spec: Any = {"edited": "x", "added": "x", "link": {"symlink": "a.md"}}
    put(
        bundle / ("a.md" if change == "edited" else "b.md"),
        spec.get(change, {"fifo": True}),
    )
    candidate = only(run())
    assert candidate.consent is Consent.CHANGED
    assert candidate.consented_gates == ("plan:post",)
    assert not candidate.fragments
    assert candidate.decoded is not None
    assert [gate.point for gate in candidate.decoded.gates] == ["ship:pre"]


def test_what_is_composed_is_what_was_hashed(
    home: Path, project: Path, run: Scanner, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Files swapped right after the comparison change nothing."""
    bundle = overlay(project, "anchor", contributions=[text("a.md")])
    write(bundle / "a.md", "agreed")
    agree(home, project, bundle)
    real = read_bundle

    def read_and_swap(*arguments: Any, **more: Any) -> Any:
        found = real(*arguments, **more)
        write(bundle / "a.md", "swapped")
        write(bundle / "capability.json", "{}")
        return found

    monkeypatch.setattr(projectsight, "read_bundle", read_and_swap)
    candidate = only(run())
    assert candidate.decoded is not None
    assert candidate.decoded.manifest is not None
    assert candidate.fragments["a.md"] == FragmentText("agreed")


def test_a_damaged_store_is_told_from_no_record(
    home: Path, project: Path, run: Scanner
) -> None:
    overlay(project, "anchor")
    write(home / ".msd" / "consent.json", "{")
    assert only(run()).consent is Consent.UNREADABLE


def test_a_folder_replaced_by_a_link_before_it_is_opened(
    tmp_path: Path, project: Path, run: Scanner, monkeypatch: pytest.MonkeyPatch
) -> None:
    bundle = overlay(project, "anchor")
    elsewhere = overlay(tmp_path / "src", "anchor", gates=[GATE])
    real = open_folder

    def swapping(path: str, **more: Any) -> Any:
        if path == "anchor":
            bundle.rename(tmp_path / "old")
            bundle.symlink_to(elsewhere)
        return real(path, **more)

    monkeypatch.setattr(projectsight, "open_folder", swapping)
    candidate = only(run())
    assert candidate.decoded is None
    assert candidate.unreadable == "not a folder"


@pytest.mark.parametrize(
    ("size", "reason"),
    [(None, "no such file"), (9_000_000, "larger than 8,388,608 bytes")],
)
def test_a_consented_folder_without_a_usable_manifest(
    home: Path, project: Path, run: Scanner, size: int | None, reason: str
) -> None:
    bundle = overlay(project, "anchor")
    (bundle / "capability.json").unlink()
    if size:
        write(bundle / "capability.json", b" " * size)
    agree(home, project, bundle)
    candidate = only(run())
    assert candidate.consent is Consent.MATCHES
    assert candidate.unreadable == reason


def test_the_escalated_scope_is_the_one_that_counts(project: Path) -> None:
    """A home that is the project gives nothing away for free."""
    overlay(project, "anchor")
    candidate = only(scan(find_places(project, project)))
    assert candidate.scope is Scope.PROJECT
    assert candidate.consent is Consent.NONE


def test_a_home_inside_the_project_is_shown_by_its_place(project: Path) -> None:
    overlay(project / "tools", "anchor")
    candidate = only(scan(find_places(project, project / "tools")))
    assert candidate.scope is Scope.PROJECT
    assert candidate.path == "tools/.msd/capabilities/anchor"


def test_manifests_nobody_agreed_to_are_bounded_together(
    project: Path, run: Scanner, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A repository cannot keep a host busy with thousands of huge manifests."""
    monkeypatch.setattr(projectsight, "MAX_UNAGREED_BYTES", 10)
    overlay(project, "anchor", gates=[GATE])
    overlay(project, "bollard", gates=[GATE])
    first, second = run().candidates
    assert first.decoded is not None
    assert second.decoded is None
    assert second.unreadable is not None


def test_a_record_is_found_under_any_locale(tmp_path: Path) -> None:
    """The name of the project is not ASCII, and the locale knows nothing else."""
    project = tmp_path / "projét"
    (project / ".git").mkdir(parents=True)
    agree(tmp_path, project, overlay(project, "anchor"))
    program = (
        "import sys; from msdcomp.edge.load import load_registry; "
        "print(load_registry(home=sys.argv[1], cwd=sys.argv[2]).accepted)"
    )
    for mode in ("0", "1"):
        done = subprocess.run(
            [sys.executable, "-X", f"utf8={mode}", "-c", program, tmp_path, project],
            env={**os.environ, "LC_ALL": "C", "PYTHONCOERCECLOCALE": "0"},
            capture_output=True,
            check=True,
            text=True,
        )
        assert done.stdout == "('anchor',)\n"
