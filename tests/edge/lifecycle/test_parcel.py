"""From a source to a parcel: what is refused, and which version is taken."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyrsistent import pmap

from msdcomp.edge.files import FileFault
from msdcomp.edge.ledgerfile import InstalledEntry
from msdcomp.edge.lifecycle import (
    Parcel,
    procure,
    procure_again,
    procuring,
    unpacking,
)
from msdcomp.edge.lifecycle.parcel import gate_points_of
from msdcomp.edge.lifecycle.stepping import step_down
from msdcomp.edge.sources import Fetched, Latest, fetch
from msdcomp.manifest import Manifest
from msdcomp.plan import Block, Pin
from msdcomp.semver import satisfies
from msdcomp.signature import signature
from msdcomp.sourcefault import SourceFault
from msdcomp.testing import feature, gate
from msdcomp.wire import decode
from tests.edge.lifecycle.shops import HOST, parcel_of, refused, source, spec_of
from tests.edge.sources.packing import tar

pytestmark = pytest.mark.usefixtures("temporary")

DIGEST = "sha512-" + "A" * 86 + "=="


def _manifest(**fields: Any) -> Manifest:
    found = decode(feature("tides", **fields)).manifest
    assert found is not None
    return found


def _archive(path: Path, **fields: Any) -> Path:
    text = json.dumps(feature("tides", **fields)).encode()
    path.write_bytes(tar({"capability.json": text, "a.md": b"a"}))
    return path


def _git(folder: Path, *argv: str) -> str:
    ran = subprocess.run(
        ["git", *argv],
        cwd=folder,
        check=True,
        capture_output=True,
        text=True,
        env={
            "PATH": os.environ["PATH"],
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": "/dev/null",
            "GIT_AUTHOR_NAME": "a",
            "GIT_AUTHOR_EMAIL": "a@h",
            "GIT_COMMITTER_NAME": "a",
            "GIT_COMMITTER_EMAIL": "a@h",
        },
    )
    return ran.stdout.strip()


def _released(folder: Path, *releases: tuple[str, dict[str, Any]]) -> str:
    """Make a repository with a tag for each release, and return its address."""
    folder.mkdir()
    _git(folder, "init", "-q", "-b", "main")
    for tag, fields in releases:
        source(folder, **{"version": tag.removeprefix("v"), **fields})
        _git(folder, "add", "-A")
        _git(folder, "commit", "-q", "--allow-empty", "-m", "x")
        _git(folder, "tag", tag)
    return f"git+file://{folder}"


# A parcel


def test_a_folder_becomes_a_parcel(tmp_path: Path) -> None:
    where = source(
        tmp_path / "new",
        files={"run.sh": "#!/bin/sh\n", "x.sh": "#!/bin/sh\n", "a.md": "a"},
        hooks=[{"event": "Stop", "script": ".//run.sh"}],
        gates=[gate("ship:pre"), gate("plan:pre"), gate("ship:pre", onError="skip")],
    )
    (where / "x.sh").chmod(0o755)
    (where / "a.md").chmod(0o600)

    found = parcel_of(where)

    assert found.spec == spec_of(where)
    assert (found.integrity, found.commit, found.pin) == ("", "", Pin())
    assert found.manifest.id == "tides"
    assert found.tree.files == found.bundle.files
    assert found.tree.executables == {b"run.sh", b"x.sh"}
    assert found.gate_points == ("plan:pre", "ship:pre")
    assert found.notes == ()
    assert found.signature == signature(found.disclosure)


def test_an_archive_is_held_by_its_integrity(tmp_path: Path) -> None:
    where = _archive(tmp_path / "tides.tgz")
    found = parcel_of(where)

    assert found.pin == Pin(kind="integrity", value=found.integrity)
    assert parcel_of(where, integrity=found.integrity) == found
    assert refused(where, integrity=DIGEST).code == "integrity-mismatch"


def test_a_commit_holds_only_where_it_is_named(tmp_path: Path) -> None:
    address = _released(tmp_path / "origin", ("v1.0.0", {}))

    newest = parcel_of(address)
    pinned = parcel_of(f"{address}#sha:{newest.commit}")

    assert re.fullmatch("[0-9a-f]{40}", newest.commit)
    assert newest.pin == Pin()
    assert pinned.pin == Pin(kind="commit", value=newest.commit)
    assert b".git" not in {path.split(b"/")[0] for path in newest.bundle.files}


def test_points_are_those_that_gates_declare(tmp_path: Path) -> None:
    bundle = parcel_of(source(tmp_path / "new", gates=[gate("ship:pre")])).bundle

    assert gate_points_of(bundle) == ("ship:pre",)
    assert gate_points_of(attrs.evolve(bundle, files={})) == ()


# No parcel


def test_what_cannot_be_fetched_says_why(tmp_path: Path) -> None:
    block = refused(tmp_path / "nowhere")

    assert block.code
    assert block.reason


def test_a_folder_without_a_manifest_is_no_capability(tmp_path: Path) -> None:
    (tmp_path / "new").mkdir()

    assert isinstance(procure(spec_of(tmp_path / "new"), HOST), Block)


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"tier": "high"}, "invalid-manifest"),
        ({"hooks": [{"event": "Stop", "script": "run.sh"}]}, "not-agreeable"),
    ],
)
def test_what_nobody_could_install_is_refused(
    tmp_path: Path, fields: dict[str, Any], code: str
) -> None:
    block = refused(source(tmp_path / "new", **fields))

    assert block.code == code
    assert bool(block.problems) == (code == "invalid-manifest")


def test_a_bundle_that_cannot_be_hashed_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    where = source(tmp_path / "new")
    fault = FileFault("too-large", "files of more than 16 bytes together")
    monkeypatch.setattr(unpacking, "read_bundle", lambda _: fault)

    assert refused(where) == Block(
        "bundle-too-large", "the bundle: files of more than 16 bytes together"
    )


def test_what_was_fetched_is_gone_whatever_happens(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, temporary: Path
) -> None:
    def interrupted(_: object) -> None:
        assert list(temporary.iterdir())
        raise KeyboardInterrupt

    where = source(tmp_path / "new")
    monkeypatch.setattr(unpacking, "read_bundle", interrupted)

    with pytest.raises(KeyboardInterrupt):
        procure(spec_of(where), HOST)
    assert list(temporary.iterdir()) == []


@pytest.mark.parametrize("declared", [DIGEST, ""])
def test_an_archive_that_its_manifest_does_not_speak_of_is_refused(
    tmp_path: Path, declared: str
) -> None:
    where = _archive(
        tmp_path / "tides.tgz", **({"integrity": declared} if declared else {})
    )

    found = procure(spec_of(where), HOST)

    if declared:
        assert isinstance(found, Block)
        assert found.code == "integrity-mismatch"
        assert "leave `integrity` out" in found.remedy
    else:
        assert isinstance(found, Parcel)


def test_a_folder_is_no_archive_and_what_it_declares_cannot_be_checked(
    tmp_path: Path,
) -> None:
    where = source(tmp_path / "new", integrity=DIGEST)

    assert parcel_of(where).integrity == ""
    assert refused(where, integrity=DIGEST).code == "integrity-unsupported"


# Again, as an update does


def _entry(found: Parcel) -> InstalledEntry:
    return InstalledEntry(
        id=found.manifest.id,
        version=found.manifest.version,
        source=found.spec.text,
        integrity=found.integrity,
        commit=found.commit,
    )


def test_an_archive_must_be_what_it_was(tmp_path: Path) -> None:
    where = _archive(tmp_path / "tides.tgz")
    entry = _entry(parcel_of(where))
    assert procure_again(spec_of(where), HOST, entry) == parcel_of(where)

    _archive(where, version="2.0.0")
    block = procure_again(spec_of(where), HOST, entry)

    assert isinstance(block, Block)
    assert block.code == "integrity-mismatch"
    assert "`--integrity`" in block.remedy
    meant = parcel_of(where).integrity
    again = procure_again(spec_of(where), HOST, entry, integrity=meant)
    assert isinstance(again, Parcel)
    assert again.manifest.version == "2.0.0"


def test_a_folder_may_hold_a_new_version(tmp_path: Path) -> None:
    where = source(tmp_path / "new")
    entry = _entry(parcel_of(where))
    source(where, version="2.0.0")

    found = procure_again(spec_of(where), HOST, entry)

    assert isinstance(found, Parcel)
    assert found.manifest.version == "2.0.0"


def test_a_repository_may_hold_a_new_version(tmp_path: Path) -> None:
    address = _released(tmp_path / "origin", ("v1.0.0", {}))
    entry = attrs.evolve(_entry(parcel_of(address)), integrity=DIGEST)

    assert isinstance(procure_again(spec_of(address), HOST, entry), Parcel)


def test_a_source_that_holds_another_capability_is_refused(tmp_path: Path) -> None:
    where = source(tmp_path / "new", "buoy")
    entry = attrs.evolve(_entry(parcel_of(where)), id="tides")

    block = procure_again(spec_of(where), HOST, entry)

    assert isinstance(block, Block)
    assert block.code == "another-id"
    assert "buoy" in block.reason
    assert "tides" in block.reason


@pytest.mark.parametrize(
    ("spec", "offered", "pinned"),
    [
        ("npm:tides@1.0.0", "1.0.0", True),
        ("npm:tides@1.0.0", "9.9.9", True),
        ("npm:tides", "1.0.0", True),
        ("npm:tides", "1.1.0", False),
        ("npm:tides@^1.0.0", "1.0.0", True),
        ("npm:tides@next", "1.1.0", False),
        ("npm:tides@next", "1.0.0", True),
    ],
)
def test_a_package_must_be_what_it_was_for_the_same_version(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    spec: str,
    offered: str,
    pinned: bool,
) -> None:
    entry = attrs.evolve(_entry(parcel_of(source(tmp_path / "new"))), integrity=DIGEST)
    asked: list[str | None] = []

    def fetching(*_: object, integrity: str | None, **__: object) -> SourceFault:
        asked.append(integrity)
        return SourceFault("not-found", "no such package")

    monkeypatch.setattr(unpacking, "fetch", fetching)
    monkeypatch.setattr(
        procuring, "latest", lambda *_: Latest(status="version", version=offered)
    )

    assert isinstance(procure_again(spec_of(spec), HOST, entry), Block)

    assert asked == [DIGEST if pinned else None]


@pytest.mark.parametrize("version", ["1.0.0", "1.1.0"])
@pytest.mark.parametrize("said", [None, DIGEST])
def test_a_version_that_was_stepped_down_to_must_be_what_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str, said: str | None
) -> None:
    """The newest version is another one, so nothing was pinned when it was fetched."""
    found = attrs.evolve(
        parcel_of(source(tmp_path / "new", version=version)),
        spec=spec_of("npm:tides"),
        integrity="sha512-now",
    )
    entry = attrs.evolve(_entry(found), version="1.0.0", integrity="sha512-then")
    newest = Latest(status="version", version="3.0.0")
    monkeypatch.setattr(procuring, "latest", lambda *_: newest)
    monkeypatch.setattr(procuring, "procure", lambda *_, **__: found)

    again = procure_again(found.spec, HOST, entry, integrity=said)

    if said is None and version == "1.0.0":
        assert isinstance(again, Block)
        assert again.code == "integrity-mismatch"
        assert "sha512-now" in again.reason
        assert "`--integrity`" in again.remedy
    else:
        assert again == found


def test_what_had_no_integrity_has_nothing_to_keep(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = attrs.evolve(
        parcel_of(source(tmp_path / "new")),
        spec=spec_of("npm:tides"),
        integrity="sha512-now",
    )
    entry = attrs.evolve(_entry(found), integrity="")
    monkeypatch.setattr(procuring, "procure", lambda *_, **__: found)

    assert procure_again(found.spec, HOST, entry) == found


# Stepping down

_versions = st.sampled_from(["0.9.0", "1.0.0", "1.1.0", "1.5.0", "2.0.0", "3.0.0"])
_least = st.sampled_from(["1.0.0", "2.0", "2", ">=1.5.0", "^2.0.0", "9.0.0", "x y"])


@given(
    st.dictionaries(_versions, _least),
    st.lists(_versions, unique=True),
    st.sampled_from(["1.0.0", "2.0.0", "2.5.0"]),
)
def test_stepping_down_takes_what_is_offered_named_and_fits(
    table: dict[str, str], offered: list[str], host: str
) -> None:
    manifest = attrs.evolve(_manifest(version="3.0.0"), compat_versions=pmap(table))

    found = step_down(manifest, tuple(offered), host)

    assert list(found) == [version for version in offered if version in found]
    for version in offered:
        least = table.get(version)
        fits = least is not None and (
            satisfies(host, f">={least}")
            if least[0].isdigit()
            else satisfies(host, least)
        )
        assert (version in found) == (fits and version != "3.0.0")


@given(st.lists(_versions, unique=True))
def test_who_names_no_versions_is_not_stepped_down(offered: list[str]) -> None:
    assert step_down(_manifest(), tuple(offered), HOST) == ()


NEEDS: dict[str, Any] = {"engines": {"msd": ">=3.0.0"}}


def test_the_newest_version_that_fits_is_taken(tmp_path: Path) -> None:
    table = {"1.0.0": "1.0.0", "1.1.0": "1.0", "2.0.0": ">=2.5.0"}
    address = _released(
        tmp_path / "origin",
        ("v1.0.0", {}),
        ("v1.1.0", {}),
        ("v2.0.0", {}),
        ("v3.0.0", {**NEEDS, "compatVersions": table}),
    )

    found = parcel_of(address)

    assert found.manifest.version == "1.1.0"
    assert found.commit == _git(tmp_path / "origin", "rev-parse", "v1.1.0^{commit}")
    (note,) = found.notes
    assert note.startswith("tides 3.0.0 needs MSD >=3.0.0, and this is 2.0.0; ")
    assert note.endswith("; 1.1.0 is the newest version that fits")
    assert found.pin == Pin()


def test_a_version_that_is_not_what_it_was_said_to_be_is_passed_over(
    tmp_path: Path,
) -> None:
    table = dict.fromkeys(("0.1.0", "1.0.0", "1.1.0", "1.2.0", "1.3.0"), "1.0.0")
    address = _released(
        tmp_path / "origin",
        ("v1.0.0", {"id": "buoy"}),
        ("v1.1.0", {"version": "7.7.7"}),
        ("v1.2.0", NEEDS),
        ("v1.3.0", {"tier": "high"}),
        ("v3.0.0", {**NEEDS, "compatVersions": table}),
    )

    block = refused(address)

    assert block.code == "incompatible-engine"
    assert block.remedy == (
        "none of the versions it names can be used: "
        "1.3.0 (its manifest is not valid); "
        "1.2.0 (needs MSD >=3.0.0); "
        "1.1.0 (holds version 7.7.7); "
        "1.0.0 (holds another capability)"
    )


def test_no_more_than_a_few_versions_are_tried(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(procuring, "MAX_STEPS", 1)
    table = {"1.0.0": "1.0.0", "1.1.0": "1.0.0"}
    address = _released(
        tmp_path / "origin",
        ("v1.0.0", {}),
        ("v1.1.0", NEEDS),
        ("v3.0.0", {**NEEDS, "compatVersions": table}),
    )

    assert "1.0.0" not in refused(address).remedy


@pytest.mark.parametrize(
    ("table", "remedy"),
    [
        ({}, "it names no version for this host; another version of MSD is needed"),
        (
            {"1.0.0": "9.0.0"},
            "it names no version for this host; another version of MSD is needed",
        ),
        (
            {"1.0.0": "1.0.0"},
            "version 1.0.0 would fit, and the source does not offer it",
        ),
    ],
)
def test_why_a_repository_cannot_step_down(
    tmp_path: Path, table: dict[str, str], remedy: str
) -> None:
    address = _released(
        tmp_path / "origin", ("v3.0.0", {**NEEDS, "compatVersions": table})
    )

    block = refused(address)

    assert (block.code, block.remedy) == ("incompatible-engine", remedy)
    assert block.reason == "tides 3.0.0 needs MSD >=3.0.0, and this is 2.0.0"


def test_a_source_of_one_version_says_which_would_fit(tmp_path: Path) -> None:
    table = {"1.0.0": "1.0.0", "1.1.0": "2"}
    where = source(tmp_path / "new", **NEEDS, compatVersions=table)

    assert refused(where).remedy == (
        "version 1.0.0, 1.1.0 would fit: name its own address, since this source "
        "holds one version only"
    )


def test_a_pinned_state_is_not_stepped_down(tmp_path: Path) -> None:
    table = {"1.0.0": "1.0.0"}
    address = _released(
        tmp_path / "origin",
        ("v1.0.0", {}),
        ("v3.0.0", {**NEEDS, "compatVersions": table}),
    )

    assert "name its own address" in refused(f"{address}#tag:v3.0.0").remedy


def test_an_older_version_is_fetched_with_the_integrity_that_was_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A pin of the newest version must not let another one through."""
    table = {"1.0.0": "1.0.0"}
    where = source(tmp_path / "new", version="3.0.0", **NEEDS, compatVersions=table)
    asked: list[tuple[str | None, str | None]] = []
    real = fetch

    def fetching(
        spec: Any, folder: str, options: Any, *, integrity: Any, version: Any
    ) -> Fetched | SourceFault:
        asked.append((integrity, version))
        if version is not None:
            return SourceFault("integrity-mismatch", "it is another")
        found = real(spec, folder, options)
        assert isinstance(found, Fetched)
        return attrs.evolve(found, versions=("3.0.0", "1.0.0"))

    monkeypatch.setattr(unpacking, "fetch", fetching)

    block = refused(where, integrity=DIGEST)

    assert asked == [(DIGEST, None), (DIGEST, "1.0.0")]
    assert block.code == "incompatible-engine"
    assert "1.0.0 (it is another)" in block.remedy
