"""Folders on this machine."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from msdcomp.edge.sources import Fetched, Options, fetch, latest, versions
from msdcomp.edge.sources.options import MAX_ENTRIES, MAX_TOTAL_BYTES, Latest
from msdcomp.edge.sources.staging import Staging
from msdcomp.sourcefault import SourceFault
from msdcomp.sourcepolicy import SourcePolicy
from msdcomp.sourcespec import SourceSpec
from tests.edge.sources.packing import FILES, MANIFEST, modes, tree


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    folder = tmp_path / "bundle"
    for name, data in FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    (folder / "bin/run.sh").chmod(0o700)
    return folder


def _code(source: Path, into: Path) -> str:
    found = fetch(SourceSpec("local", str(source)), str(into))
    assert isinstance(found, SourceFault), found
    return found.code


def test_a_folder_is_copied_without_git(bundle: Path, into: Path) -> None:
    (bundle / ".git").mkdir()
    (bundle / ".git/config").write_text("[core]")
    (bundle / "loop/.git").write_text("gitdir: elsewhere")

    found = fetch(SourceSpec("local", str(bundle)), str(into))

    assert found == Fetched(root=str(into))
    assert tree(into) == FILES
    assert modes(into)["bin/run.sh"] == 0o755
    assert modes(into)["capability.json"] == 0o644


def test_an_empty_folder_is_kept(bundle: Path, into: Path) -> None:
    (bundle / "empty").mkdir()

    fetch(SourceSpec("local", str(bundle)), str(into))

    assert (into / "empty").is_dir()


def test_a_folder_has_no_integrity_and_no_versions(bundle: Path, into: Path) -> None:
    spec = SourceSpec("local", str(bundle))

    found = fetch(spec, str(into), integrity="sha512-" + "A" * 86 + "==")

    assert isinstance(found, SourceFault)
    assert found.code == "integrity-unsupported"
    assert list(into.iterdir()) == []
    assert versions(spec) == ()
    assert latest(spec) == Latest(status="manual")


def test_a_link_is_refused_wherever_it_is(bundle: Path, into: Path) -> None:
    (bundle / "loop/link").symlink_to("step.md")

    assert _code(bundle, into) == "link"
    assert list(into.iterdir()) == []


def test_a_folder_that_is_a_link_is_refused(bundle: Path, into: Path) -> None:
    link = bundle.parent / "link"
    link.symlink_to(bundle)

    assert _code(link, into) in {"link", "not-a-folder"}


def test_what_is_no_file_is_refused_without_waiting(bundle: Path, into: Path) -> None:
    os.mkfifo(bundle / "fifo")

    assert _code(bundle, into) == "not-regular"


def test_a_socket_is_refused(
    bundle: Path, into: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Bound by a short name: the path of a socket has few bytes.
    monkeypatch.chdir(bundle)
    with socket.socket(socket.AF_UNIX) as made:
        made.bind("s")
        assert _code(bundle, into) == "not-regular"


def test_a_source_that_is_not_there_is_a_fault(tmp_path: Path, into: Path) -> None:
    assert _code(tmp_path / "missing", into) == "missing"
    os.mkfifo(tmp_path / "fifo")
    assert _code(tmp_path / "fifo", into) == "not-regular"


def test_names_are_held_to_the_rules_of_archives(bundle: Path, into: Path) -> None:
    (bundle / "a\nb").write_bytes(b"")

    assert _code(bundle, into) == "bad-name"


def test_a_name_that_is_no_utf8_is_refused(bundle: Path, into: Path) -> None:
    Path(os.fsdecode(os.fsencode(bundle) + b"/\xff")).write_bytes(b"")

    assert _code(bundle, into) == "bad-name"


def test_w17_what_could_not_be_consented_to_is_not_fetched(
    bundle: Path, into: Path
) -> None:
    with (bundle / "big").open("wb") as stream:
        stream.truncate(MAX_TOTAL_BYTES)

    assert _code(bundle, into) == "too-large"


def test_more_files_than_the_limit_are_refused(bundle: Path, into: Path) -> None:
    many = bundle / "many"
    many.mkdir()
    for number in range(MAX_ENTRIES):
        os.mknod(many / str(number))

    assert _code(bundle, into) == "too-many"
    assert list(into.iterdir()) == []


def test_a_folder_nested_too_deep_is_refused(bundle: Path, into: Path) -> None:
    deep = bundle.joinpath(*["d"] * 65)
    deep.mkdir(parents=True)

    assert _code(bundle, into) == "too-many"


def test_a_folder_that_holds_the_staging_folder_is_refused(bundle: Path) -> None:
    """As when a project is installed into itself."""
    into = bundle / ".staging"
    into.mkdir()

    assert _code(bundle, into) == "holds-target"
    assert list(into.iterdir()) == []


def test_a_folder_without_a_manifest_is_no_bundle(bundle: Path, into: Path) -> None:
    (bundle / "capability.json").unlink()

    assert _code(bundle, into) == "no-manifest"
    assert list(into.iterdir()) == []


def test_the_deadline_counts_for_folders_too(bundle: Path, into: Path) -> None:
    found = fetch(SourceSpec("local", str(bundle)), str(into), Options(timeout_s=0))

    assert isinstance(found, SourceFault)
    assert found.code == "timeout"


# The staging folder.


def test_the_staging_folder_must_be_an_empty_one(bundle: Path, into: Path) -> None:
    assert _code(bundle, into / "missing") == "missing"
    (into / "mine").write_text("x")
    assert _code(bundle, into) == "not-empty"
    assert tree(into) == {"mine": b"x"}
    assert _code(bundle, into / "mine") == "not-a-folder"


def test_nothing_is_written_through_a_link_that_appears_meanwhile(
    tmp_path: Path, into: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "x").write_text("mine")
    staging = Staging(str(into))
    try:
        (into / "loop").symlink_to(outside)
        with pytest.raises(OSError, match=r"."):
            staging.add_file(["loop", "x"], [b"theirs"], executable=False)
        (into / "x").symlink_to(outside / "x")
        with pytest.raises(FileExistsError):
            staging.add_file(["x"], [b"theirs"], executable=False)
        staging.clear()
    finally:
        staging.close()
    assert tree(outside) == {"x": b"mine"}
    assert list(into.iterdir()) == []


def test_a_disk_that_would_not_is_a_fault(
    bundle: Path, into: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fchmod", full)

    assert _code(bundle, into) == "system"
    assert list(into.iterdir()) == []


def test_an_interrupted_copy_leaves_nothing(
    bundle: Path, into: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(self: Staging) -> None:
        assert (Path(self.path) / "capability.json").read_bytes() == MANIFEST
        raise KeyboardInterrupt

    monkeypatch.setattr(Staging, "settle", stop)

    with pytest.raises(KeyboardInterrupt):
        fetch(SourceSpec("local", str(bundle)), str(into))
    assert list(into.iterdir()) == []


def test_t13_no_policy_keeps_a_source_of_this_machine_away(
    tmp_path: Path, into: Path
) -> None:
    folder = tmp_path / "ui"
    folder.mkdir()
    (folder / "capability.json").write_bytes(MANIFEST)
    closed = Options(policy=SourcePolicy.from_value([]))

    found = fetch(SourceSpec("local", str(folder)), str(into), closed)

    assert isinstance(found, Fetched)
