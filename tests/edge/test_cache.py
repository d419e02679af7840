"""The cache: used when nothing has changed, never when something has."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from msdcomp.edge.cachefolder import SCAN, find_folder
from msdcomp.edge.cachevalues import load
from msdcomp.edge.firstparty import first_party
from msdcomp.edge.load import OFF, load_registry
from msdcomp.edge.roots import find_places
from msdcomp.registry import Registry
from tests.edge.caches import (
    LATER_NS,
    agrees,
    cached,
    files,
    later,
    missed,
    plain,
    tick,
)
from tests.edge.scans import GATE, agree, text
from tests.layouts import feature, overlay, put, write


@pytest.fixture(autouse=True)
def _settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything that was written before a load counts as old."""
    later(monkeypatch)


@pytest.fixture
def hits(
    home: Path, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Any:
    """A function that loads, and tells whether the cache had it."""

    def load(**more: Any) -> bool:
        tick(tmp_path)
        with missed(monkeypatch) as counted:
            agrees(home, project, **more)
        return not counted

    return load


def manifest(root: Path, name: str = "anchor") -> Path:
    return root / ".msd" / "capabilities" / name / "capability.json"


# Hits


def test_a_second_load_composes_nothing(home: Path, hits: Any) -> None:
    overlay(home, "anchor", skills=["anchor"], gates=[GATE])
    overlay(home, "broken", tier="none", gates=[GATE])
    assert not hits()
    assert hits()


def test_fragments_and_what_is_ignored_are_kept(home: Path, hits: Any) -> None:
    bundle = overlay(home, "anchor", contributions=[text("prompts/a.md")])
    write(bundle / "prompts" / "a.md", "Look.")
    put(home / ".msd" / "capabilities" / "README.md", "x")
    put(home / ".msd" / "capabilities" / ".hidden", "x")
    assert not hits()
    assert hits()
    tick(home)
    write(bundle / "prompts" / "a.md", "Book.")
    assert not hits()
    assert hits()


@pytest.mark.parametrize("where", ["home", "project"])
def test_what_the_lifecycle_keeps_in_a_root_changes_nothing(
    home: Path, project: Path, hits: Any, where: str
) -> None:
    root = (home if where == "home" else project) / ".msd" / "capabilities"
    for top in (home, project):
        overlay(top, "anchor")
    assert not hits()
    put(root / ".lock", "")
    put(root / ".staging" / "new-1" / "capability.json", "{}")
    assert hits()
    put(root / ".stage", {"dir": True})
    assert not hits()
    (root / ".lock").unlink()
    assert hits()


def test_a_file_that_was_only_touched_is_the_same(home: Path, hits: Any) -> None:
    overlay(home, "anchor")
    assert not hits()
    os.utime(manifest(home), (1, 1))
    assert hits()


def test_what_cannot_be_told_by_stamps_is_looked_at_again(
    tmp_path: Path, home: Path, hits: Any
) -> None:
    elsewhere = overlay(tmp_path / "src", "linked")
    put(home / ".msd/capabilities/linked", {"symlink": str(elsewhere)})
    put(home / ".msd/capabilities/gone", {"symlink": "nowhere"})
    (home / ".msd/capabilities/empty").mkdir()
    put(manifest(home, "fifo"), {"fifo": True})
    put(manifest(home, "inner"), {"symlink": str(elsewhere / "capability.json")})
    assert not hits()
    assert hits()
    overlay(tmp_path / "src", "linked", title="Another")
    assert not hits()
    assert hits()


def test_with_nothing_accepted_the_registry_is_the_shipped_one(
    home: Path, project: Path
) -> None:
    overlay(home, "broken", tier="none")
    first, second = cached(home, project), cached(home, project)
    assert first.registry is second.registry is first_party()


def test_each_project_host_and_policy_has_its_own(home: Path, hits: Any) -> None:
    overlay(home, "anchor", engines={"msd": ">=2.0.0"})
    kinds: tuple[dict[str, Any], ...] = (
        {},
        {"host_version": "2.0.0"},
        {"on_set_failure": "isolate"},
    )
    for more in kinds:
        assert not hits(**more)
    for more in kinds:
        assert hits(**more)
    assert len(files(home, "composition")) == 3


def test_projects_without_overlays_share_one(
    home: Path, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    overlay(home, "anchor")
    (tmp_path / "other" / ".git").mkdir(parents=True)
    cached(home, project)
    with missed(monkeypatch) as counted:
        agrees(home, tmp_path / "other")
    assert not counted
    overlay(project, "bollard")
    agrees(home, project)
    agrees(home, tmp_path / "other")
    assert len(files(home, "composition")) == 2


def test_what_is_kept_of_a_composition_is_bounded(
    home: Path, project: Path, tmp_path: Path
) -> None:
    overlay(home, "anchor")
    for number in range(20):
        cached(home, project, host_version=f"1.{number}.0")
        tick(tmp_path)
    assert len(files(home, "composition")) == 16


def test_what_an_interrupted_writer_left_is_removed_in_the_end(
    home: Path, project: Path
) -> None:
    overlay(home, "anchor")
    cached(home, project)
    young, old = (files(home, "scan")[0].with_suffix(f".bin.{n}.tmp") for n in "12")
    for left in (young, old):
        left.write_bytes(b"x")
    os.utime(old, (1, 1))
    foreign = home / ".msd" / "cache" / "notes.txt"
    foreign.write_bytes(b"x")
    cached(home, project, host_version="1.0.0")
    assert young.exists()
    assert not old.exists()
    assert foreign.exists()


# What is seen


def test_a_forged_time_does_not_help(home: Path, hits: Any) -> None:
    """The same size, the same name, the same times: only the inode's own differs."""
    overlay(home, "anchor", title="One")
    assert not hits()
    held = manifest(home).stat()
    overlay(home, "anchor", title="Two")
    os.utime(manifest(home), ns=(held.st_atime_ns, held.st_mtime_ns))
    assert manifest(home).stat().st_size == held.st_size
    assert not hits()


def test_a_young_file_is_read_again_whatever_its_stamp(
    home: Path, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Within a tick of the clock a change leaves the same stamp."""
    overlay(home, "anchor", title="One")
    later(monkeypatch, 0)
    cached(home, project)
    # However the stamps come out, nothing was trusted by them.
    overlay(home, "anchor", title="Two")
    assert cached(home, project) == plain(home, project)


def test_a_file_from_the_future_is_read_again(
    home: Path, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    overlay(home, "anchor")
    later(monkeypatch, -10_000_000_000)
    agrees(home, project)
    overlay(home, "anchor", title="Two")
    agrees(home, project)


def test_once_settled_it_is_told_by_its_stamp(
    home: Path, project: Path, monkeypatch: pytest.MonkeyPatch, opened: list[str]
) -> None:
    def read() -> bool:
        opened.clear()
        cached(home, project)
        return any(path.endswith("capability.json") for path in opened)

    overlay(home, "anchor")
    for ahead in (-LATER_NS, 0):
        later(monkeypatch, ahead)
        assert read()
        assert read()
    later(monkeypatch)
    assert read()
    assert not read()


@pytest.mark.parametrize(
    "ledger",
    [
        {"entries": {"anchor": {"_pending": {}}}},
        {"entries": {"anchor": {"gatePoints": ["ship:pre"]}}},
        {},
    ],
)
def test_a_ledger_is_a_part_of_it(home: Path, hits: Any, ledger: Any) -> None:
    bundle = overlay(home, "anchor", contributions=[text("a.md")])
    write(bundle / "a.md", "Look.")
    overlay(home, "bollard", commands=[])
    assert not hits()
    write(home / ".msd-capabilities.json", json.dumps(ledger))
    assert not hits()
    assert hits()
    (home / ".msd-capabilities.json").unlink()
    assert not (hits() and ledger == {})


def test_fragments_that_were_not_read_are_read_later(home: Path, hits: Any) -> None:
    """Not while an installation is in flight, but as soon as it no longer is."""
    bundle = overlay(home, "anchor", contributions=[text("a.md")])
    write(bundle / "a.md", "Look.")
    write(home / ".msd-capabilities.json", '{"entries": {"anchor": {"_pending": {}}}}')
    assert not hits()
    (home / ".msd-capabilities.json").unlink()
    assert not hits()
    assert hits()


def test_what_is_gone_or_new_is_seen(home: Path, hits: Any) -> None:
    overlay(home, "anchor")
    overlay(home, "bollard")
    assert not hits()
    shutil.rmtree(manifest(home, "bollard").parent)
    assert not hits()
    put(home / ".msd" / "capabilities" / "README.md", "x")
    assert not hits()
    (home / ".msd" / "capabilities" / "README.md").unlink()
    assert not hits()
    overlay(home, "bollard")
    assert not hits()


def test_a_folder_that_becomes_a_link_to_itself_is_seen(
    home: Path, project: Path, tmp_path: Path
) -> None:
    """Every file is the very same, but the folder is another entry."""
    overlay(home, "anchor")
    cached(home, project)
    bundle = manifest(home).parent
    bundle.rename(tmp_path / "away")
    bundle.symlink_to(tmp_path / "away")
    found = cached(home, project)
    folder = find_folder(find_places(project, home))
    assert folder is not None
    with folder, folder.reading(SCAN, "") as file:
        assert file is not None
        values = load(file.section(1) or b"")
    assert values["anchor"].linked
    assert found == plain(home, project)


def test_a_fragment_that_becomes_a_link_is_seen(
    home: Path, hits: Any, tmp_path: Path
) -> None:
    bundle = overlay(home, "anchor", contributions=[text("prompts/a.md")])
    write(bundle / "prompts" / "a.md", "Look.")
    write(tmp_path / "other" / "a.md", "Look.")
    assert not hits()
    (bundle / "prompts").rename(tmp_path / "away")
    (bundle / "prompts").symlink_to(tmp_path / "away")
    assert not hits()


def test_two_folders_that_change_places_are_seen(home: Path, hits: Any) -> None:
    one, two = overlay(home, "one", title="x"), overlay(home, "two", title="x")
    assert not hits()
    one.rename(home / "aside")
    two.rename(one)
    (home / "aside").rename(two)
    assert not hits()


def test_only_what_has_changed_is_read_again(
    home: Path, project: Path, tmp_path: Path, opened: list[str]
) -> None:
    for name in ("anchor", "bollard", "capstan"):
        overlay(home, name)
    cached(home, project)
    tick(tmp_path)
    overlay(home, "bollard", title="Another")
    shutil.rmtree(manifest(home, "capstan").parent)
    overlay(home, "davit")
    tick(tmp_path)
    opened.clear()
    found = cached(home, project)
    read = {path.split("/")[-2] for path in opened if path.endswith("capability.json")}
    assert read == {"bollard", "davit"}
    assert found == plain(home, project)


# Projects


def test_what_was_agreed_to_is_hashed_every_time(
    home: Path, project: Path, hits: Any
) -> None:
    bundle = overlay(project, "anchor", gates=[GATE])
    write(bundle / "run.sh", "one")
    (home / ".msd").mkdir()
    assert not hits()
    agree(home, project, bundle)
    assert not hits()
    assert hits()
    held = (bundle / "run.sh").stat()
    write(bundle / "run.sh", "two")
    os.utime(bundle / "run.sh", ns=(held.st_atime_ns, held.st_mtime_ns))
    assert not hits()
    write(bundle / "run.sh", "one")
    assert not hits()
    write(home / ".msd" / "consent.json", "{")
    assert not hits()


def test_what_a_record_remembers_is_a_part_of_it(
    home: Path, project: Path, hits: Any
) -> None:
    bundle = overlay(project, "anchor")
    agree(home, project, bundle)
    write(bundle / "capability.json", "[")
    assert not hits()
    store = home / ".msd" / "consent.json"
    write(store, store.read_text("utf-8").replace("plan:post", "ship:pre"))
    assert not hits()
    assert list(plain(home, project).blocked_gates) == ["ship:pre"]


def test_a_ledger_of_a_project_is_a_part_of_it(
    home: Path, project: Path, hits: Any
) -> None:
    (home / ".msd").mkdir()
    overlay(project, "anchor")
    ledger = {"entries": {"anchor": {"_pending": {}, "gatePoints": ["ship:pre"]}}}
    assert not hits()
    assert hits()
    write(project / ".msd-capabilities.json", json.dumps(ledger))
    assert not hits()


def test_nothing_is_written_into_a_project(
    home: Path, project: Path, tmp_path: Path
) -> None:
    inside = project / "home"
    overlay(inside, "anchor")
    overlay(home, "anchor")
    overlay(project, "bollard")
    for given in (inside, project):
        for cwd in (inside, project, tmp_path):
            load_registry(cwd=cwd, home=given)
    cached(home, project)
    assert files(home)
    assert not list(project.rglob("cache"))


def test_a_home_in_some_other_project_has_no_cache(tmp_path: Path) -> None:
    (tmp_path / "repository" / ".git").mkdir(parents=True)
    inside = tmp_path / "repository" / "home"
    overlay(inside, "anchor")
    assert load_registry(cwd="/", home=inside).accepted == ("anchor",)
    assert not files(inside)


@pytest.mark.parametrize("marker", [".git", ".planning"])
def test_a_folder_of_overlays_that_is_a_project_has_no_cache(
    home: Path, project: Path, marker: str
) -> None:
    overlay(home, "anchor")
    (home / ".msd" / marker).mkdir()
    assert cached(home, project).accepted == ("anchor",)
    assert not files(home)


def test_a_linked_folder_may_lead_into_a_project(
    home: Path, project: Path, tmp_path: Path
) -> None:
    overlay(tmp_path / "dotfiles", "anchor")
    (home / ".msd").symlink_to(tmp_path / "dotfiles" / ".msd")
    assert cached(home, project).accepted == ("anchor",)
    assert not files(home)


# Off


def test_the_environment_switches_it_off(
    home: Path, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    overlay(home, "anchor")
    monkeypatch.setenv(OFF, "0")
    cached(home, project)
    assert not files(home)
    for value, asked in (("", None), ("1", True)):
        monkeypatch.setenv(OFF, value)
        cached(home, project, cache=asked)
        assert files(home)
        shutil.rmtree(home / ".msd" / "cache")


def test_an_argument_switches_it_off(home: Path, project: Path) -> None:
    overlay(home, "anchor")
    load_registry(cwd=project, home=home, cache=False)
    load_registry(cwd=project, home=home, base=Registry())
    load_registry(include_installed=False, home=home)
    assert not files(home)


def test_a_home_that_has_nothing_stays_so(home: Path, project: Path) -> None:
    cached(home, project)
    assert list(home.iterdir()) == []


def test_a_root_that_cannot_be_listed_is_no_case_for_it(
    home: Path, project: Path
) -> None:
    write(home / ".msd" / "capabilities", "x")
    agrees(home, project)
    assert not files(home, "composition")


def test_the_project_root_alone(home: Path, project: Path, hits: Any) -> None:
    (home / ".msd").mkdir()
    overlay(project, "anchor")
    assert not hits()
    assert hits()
    write(home / ".msd" / "consent.json", "{")
    assert not hits()
    write(project / ".msd" / "capabilities" / "README.md", "x")
    assert not hits()
    shutil.rmtree(project / ".msd" / "capabilities")
    write(project / ".msd" / "capabilities", "x")
    agrees(home, project)


def test_files_are_for_the_user_alone(home: Path, project: Path) -> None:
    overlay(home, "anchor")
    before = os.umask(0)
    try:
        cached(home, project)
    finally:
        os.umask(before)
    folder = home / ".msd" / "cache"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in files(home)} == {0o600}


# What a hit imports

SHORT = """
import sys
from msdcomp.cli import main
code = main(["loop", "render-hooks", "plan:pre", "--home", sys.argv[1]])
print(*sorted(sys.modules), file=sys.stderr)
raise SystemExit(code)
"""

#: What decodes, judges and composes.
HEAVY = {
    "cattrs",
    "nodesemver",
    "msdcomp._jsonread",
    "msdcomp.admission",
    "msdcomp.candidate",
    "msdcomp.fold",
    "msdcomp.jsontext",
    "msdcomp.rules",
    "msdcomp.structuring",
    "msdcomp.wire",
    "msdcomp.edge.scan",
    "msdcomp.edge.snapshot",
}


def short(home: Path, cwd: Path) -> tuple[str, set[str]]:
    done = subprocess.run(
        [sys.executable, "-c", SHORT, str(home)],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
        capture_output=True,
        check=True,
        text=True,
    )
    return done.stdout, set(done.stderr.splitlines()[-1].split())


def test_a_hit_imports_nothing_that_decodes(home: Path, tmp_path: Path) -> None:
    for number in range(10):
        overlay(home, f"anchor-{number}", contributions=[text("a.md")])
        write(manifest(home, f"anchor-{number}").parent / "a.md", "Look.")
    first, made = short(home, tmp_path)
    second, taken = short(home, tmp_path)
    assert first == second
    assert "Look." in first
    assert made >= HEAVY - {"cattrs", "nodesemver"}
    assert taken.isdisjoint(HEAVY)
    # Settled or not, the content is what counts.
    put(manifest(home, "anchor-1"), json.dumps(feature("anchor-1")))
    assert short(home, tmp_path)[0] != first


def test_without_overlays_the_shipped_registry_is_kept(
    home: Path, tmp_path: Path
) -> None:
    (home / ".msd").mkdir()
    first, made = short(home, tmp_path)
    second, taken = short(home, tmp_path)
    assert first == second
    assert len(files(home)) == 1
    assert "msdcomp.edge.snapshot" in made
    assert taken.isdisjoint(HEAVY)
