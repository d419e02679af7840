"""`outdated`: one row for each entry of a ledger, whatever its source answers."""

from __future__ import annotations

import json
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from msdcomp.edge.consent import ConsentRecord, revoke_consent, write_consent
from msdcomp.edge.files import FileFault
from msdcomp.edge.ledger import LEDGER_NAME
from msdcomp.edge.ledgerfile import InstalledEntry, with_entry
from msdcomp.edge.lifecycle import Site, unpacking
from msdcomp.edge.lifecycle.outdated import MAX_ASKED, outdated
from msdcomp.edge.sources import Latest, Options
from msdcomp.outdated import Standing
from msdcomp.safetext import safe
from msdcomp.sourcefault import SourceFault
from msdcomp.sourcepolicy import SourcePolicy
from msdcomp.sourcespec import SourceSpec
from tests.edge.lifecycle.shops import folder_of, installed, listing, site_of, source

GIT = "git+https://forge.example/tides.git"
BARE = "ui: a bare name is no source"
OLD, NEW = "1" * 40, "2" * 40


def _ledger(site: Site, *entries: InstalledEntry) -> Path:
    data: bytes | None = None
    for entry in entries:
        made = with_entry(data, entry, "2026-01-02T03:04:05Z")
        assert isinstance(made, bytes)
        data = made
    path = Path(site.root.ledger_root, LEDGER_NAME)
    path.write_bytes(data or b"{}")
    for entry in entries:
        _agree(site, entry.id)
    return path


def _agree(site: Site, capability_id: str) -> None:
    """Agree to some version of it, as whoever installs something does."""
    record = ConsentRecord(
        project_root=site.consent_root,
        id=capability_id,
        scope=site.scope,
        content_hash="sha512-x",
    )
    assert isinstance(write_consent(site.home, record), ConsentRecord)


def _entry(name: str = "tides", text: str = GIT, **fields: Any) -> InstalledEntry:
    made = InstalledEntry(id=name, version="1.2.0", source=text, commit=OLD)
    return attrs.evolve(made, **fields)


def _answering(found: Latest) -> Callable[[SourceSpec, Options], Latest]:
    return lambda _spec, _options: found


def _never(spec: SourceSpec, options: Options) -> Latest:
    raise AssertionError((spec, options))


def _one(site: Site, found: Latest, **fields: Any) -> Standing:
    """Return how an entry stands whose source answers in this way."""
    _ledger(site, _entry(**fields))
    (row,) = outdated([site], ask=_answering(found))
    assert (row.capability_id, row.scope) == ("tides", site.scope.value)
    return row


@pytest.mark.parametrize(
    ("installed_version", "offered", "status"),
    [
        ("1.2.0", "1.2.0", "current"),
        ("1.2.0", "1.10.0", "outdated"),
        ("1.10.0", "1.2.0", "current"),
        ("2.0.0-rc.1", "2.0.0", "outdated"),
        ("2.0.0", "2.0.0-rc.1", "current"),
        ("about two", "2.0.0", "outdated"),
    ],
)
def test_versions_are_compared_by_their_order(
    site: Site, installed_version: str, offered: str, status: str
) -> None:
    row = _one(
        site, Latest(status="version", version=offered), version=installed_version
    )

    assert (row.status, row.version, row.latest) == (status, installed_version, offered)
    assert ("newer than" in row.reason) == (
        status == "current" and installed_version != offered
    )


def test_the_commit_of_the_newest_version_is_current_whatever_it_is_called(
    site: Site,
) -> None:
    row = _one(site, Latest(status="version", version="9.0.0", commit=OLD))

    assert row.status == "current"


@pytest.mark.parametrize(
    ("commit", "status"), [(OLD, "current"), (OLD, "outdated"), ("", "unknown")]
)
def test_a_branch_is_compared_by_its_commit(
    site: Site, commit: str, status: str
) -> None:
    offered = commit if status == "current" else NEW

    row = _one(site, Latest(status="commit", commit=offered), commit=commit)

    assert row.status == status
    assert row.kind == "git"
    assert bool(row.reason) == (status == "unknown")


@pytest.mark.parametrize(
    "text",
    [f"{GIT}#tag:v1", f"{GIT}#sha:{OLD}", "npm:tides@1.2.0"],
)
def test_a_source_that_names_one_state_is_not_asked(site: Site, text: str) -> None:
    _ledger(site, _entry(text=text))
    closed = Options(policy=SourcePolicy.from_value([]))

    (row,) = outdated([site], closed)

    assert (row.status, row.reason) == ("pinned", "")


def test_no_server_is_asked_that_only_a_repository_names(
    in_project: Site, at_home: Site, tmp_path: Path
) -> None:
    def asking(spec: SourceSpec, _options: Options) -> Latest:
        raise AssertionError(spec)

    folder = source(tmp_path / "here", "here")
    _ledger(in_project, _entry(), _entry("here", str(folder)))
    for name in ("tides", "here"):
        revoke_consent(in_project.home, in_project.consent_root, name)

    here, tides = outdated([in_project], ask=asking)

    assert (tides.status, tides.kind) == ("unknown", "git")
    assert "nobody has agreed" in tides.reason
    assert here.reason != tides.reason

    _ledger(at_home, _entry())
    revoke_consent(at_home.home, at_home.home, "tides", scope=at_home.scope)
    (row,) = outdated([at_home], ask=_answering(Latest(status="commit", commit=OLD)))
    assert row.status == "current"


def test_the_policy_of_the_project_counts(site: Site) -> None:
    _ledger(site, _entry("git"), _entry("npm", "npm:tides"))
    closed = Options(policy=SourcePolicy.from_value([]))

    rows = outdated([site], closed)

    assert [row.status for row in rows] == ["unknown", "unknown"]
    assert all("strict_known_registries" in row.reason for row in rows)


def test_what_cannot_be_asked_costs_only_its_own_row(site: Site) -> None:
    path = _ledger(
        site,
        _entry("a", "./relative"),
        _entry("b", "git+http://forge.example/b.git"),
        _entry("c", ""),
        _entry("d"),
        _entry("e", "/nowhere/at/all"),
        _entry("f", "https://forge.example/f.tgz"),
        _entry("g", "ui"),
    )
    document = json.loads(path.read_text("utf-8"))
    document["entries"]["Z\x1b[31m"] = 5
    path.write_text(json.dumps(document), "utf-8")

    def ask(spec: SourceSpec, _options: Options) -> Latest:
        if spec.kind == "git":
            return Latest(status="unknown", fault=SourceFault("x", "no answer", "ask"))
        return Latest(status="manual")

    rows = outdated([site], ask=ask)

    assert [(row.capability_id, row.status, row.reason) for row in rows] == [
        ("Z [31m", "unknown", "its entry in the ledger makes no sense"),
        (
            "a",
            "unknown",
            "./relative does not say where it starts from; install it again",
        ),
        (
            "b",
            "unknown",
            "http:// can be read and changed by anybody on the way; use https or ssh",
        ),
        ("c", "unknown", "no source was given"),
        ("d", "unknown", "no answer; ask"),
        ("e", "unknown", "there is nothing at its source any more"),
        ("f", "manual", ""),
        (
            "g",
            "unknown",
            f"{BARE}; write ./ before a folder, npm: before a package",
        ),
    ]


def test_the_user_may_allow_git_without_encryption(site: Site) -> None:
    _ledger(site, _entry(text="git+http://forge.example/b.git"))
    found = Latest(status="commit", commit=OLD)

    (row,) = outdated([site], Options(allow_insecure=True), ask=_answering(found))

    assert row.status == "current"


@pytest.mark.parametrize("data", [b"{", b"[]", b'{"version": "2", "entries": {}}'])
def test_a_ledger_that_cannot_be_read_is_a_row(
    home: Path, project: Path, data: bytes
) -> None:
    sites = [site_of(home, project, scope) for scope in ("global", "project")]
    _ledger(sites[1], _entry())
    Path(home, LEDGER_NAME).write_bytes(data)

    rows = outdated(sites, ask=_answering(Latest(status="pinned")))

    assert [(row.scope, row.status) for row in rows] == [
        ("global", "unreadable"),
        ("project", "pinned"),
    ]
    assert rows[0].reason.startswith("the ledger cannot be read: ")


def test_where_nothing_is_installed_nobody_is_asked(site: Site) -> None:
    assert outdated([site], ask=_never) == ()


# Folders of this machine


def test_a_folder_that_is_as_it_was_is_current(site: Site, tmp_path: Path) -> None:
    installed(site, source(tmp_path / "shop"))

    (row,) = outdated([site], ask=_never)

    assert row == Standing(
        scope=site.scope.value,
        capability_id="tides",
        kind="local",
        status="current",
        version="1.0.0",
        latest="1.0.0",
    )


def test_a_folder_of_a_repository_is_compared_without_its_objects(
    site: Site, tmp_path: Path
) -> None:
    shop = source(tmp_path / "shop")
    installed(site, shop)
    (shop / ".git").mkdir()
    (shop / ".git" / "pack").write_bytes(b"x" * 17 * 1024 * 1024)

    (row,) = outdated([site], ask=_never)

    assert row.status == "current"


@pytest.mark.parametrize(
    ("fields", "files", "latest", "reason"),
    [
        ({"version": "1.1.0"}, {}, "1.1.0", ""),
        ({}, {"a.md": "new"}, "1.0.0", "the same version with other content"),
    ],
)
def test_a_folder_with_other_content_is_newer(
    site: Site,
    tmp_path: Path,
    fields: dict[str, Any],
    files: dict[str, str],
    latest: str,
    reason: str,
) -> None:
    shop = source(tmp_path / "shop")
    installed(site, shop)
    source(shop, files=files, **fields)

    (row,) = outdated([site], ask=_never)

    assert (row.status, row.latest, row.reason) == ("outdated", latest, reason)


def test_a_folder_that_holds_no_more_of_it_is_unknown(
    site: Site, tmp_path: Path
) -> None:
    shop = source(tmp_path / "shop")
    installed(site, shop)

    def reason() -> str:
        (row,) = outdated([site])
        assert row.status == "unknown"
        return row.reason

    source(shop, "reef")
    assert reason() == "the source holds reef now"
    (shop / "capability.json").write_text("{", "utf-8")
    assert reason() == "the manifest there is not valid"
    (shop / "link").symlink_to("capability.json")
    assert "a symbolic link" in reason()
    shop.rename(tmp_path / "elsewhere")
    assert reason() == "there is nothing at its source any more"


def test_without_a_recorded_hash_what_lies_there_is_compared(
    site: Site, tmp_path: Path
) -> None:
    shop = source(tmp_path / "shop")
    _ledger(site, _entry(text=str(shop), version="1.0.0", commit=""))

    (row,) = outdated([site])
    assert (row.status, row.reason) == (
        "unknown",
        "there is no content to compare with",
    )
    source(folder_of(site))
    (row,) = outdated([site])
    assert row.status == "current"


def test_a_folder_that_cannot_be_read_back_is_unknown(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed(site, source(tmp_path / "shop"))
    fault = FileFault("unreadable", "the disk is broken")
    monkeypatch.setattr(unpacking, "read_bundle", lambda _folder: fault)

    (row,) = outdated([site])

    assert (row.status, row.reason) == ("unknown", "the bundle: the disk is broken")


def test_an_archive_of_this_machine_is_left_to_the_user(
    site: Site, tmp_path: Path
) -> None:
    archive = tmp_path / "tides.tgz"
    archive.write_bytes(b"")
    _ledger(site, _entry(text=str(archive)))

    (row,) = outdated([site])

    assert row.status == "manual"


def test_nothing_is_written(
    site: Site, tmp_path: Path, home: Path, project: Path
) -> None:
    installed(site, source(tmp_path / "shop"))
    _one(site, Latest(status="pinned"))
    before = listing(home, project)

    outdated([site], ask=_answering(Latest(status="pinned")))

    assert listing(home, project) == before


@pytest.mark.usefixtures("temporary")
def test_no_temporary_folder_stays(site: Site, tmp_path: Path) -> None:
    installed(site, source(tmp_path / "shop"))

    assert outdated([site])[0].status == "current"


# Many


def test_several_are_asked_at_a_time_and_the_order_is_that_of_the_ids(
    site: Site,
) -> None:
    names = [f"tides-{number:02}" for number in range(3 * MAX_ASKED)]
    _ledger(site, *(_entry(name, f"npm:{name}") for name in reversed(names)))
    together = threading.Barrier(MAX_ASKED, timeout=30)

    def ask(_spec: SourceSpec, _options: Options) -> Latest:
        together.wait()
        return Latest(status="version", version="1.2.0")

    rows = outdated([site], ask=ask)

    assert [row.capability_id for row in rows] == names
    assert {row.status for row in rows} == {"current"}


def test_when_the_time_is_up_the_others_are_not_asked(site: Site) -> None:
    names = [f"tides-{number:02}" for number in range(4)]
    _ledger(site, *(_entry(name, f"npm:{name}") for name in names))
    late = threading.Event()
    given_s: list[float] = []

    def ask(_spec: SourceSpec, options: Options) -> Latest:
        given_s.append(options.timeout_s)
        late.set()
        return Latest(status="pinned")

    def clock() -> float:
        return 11.0 if late.is_set() else 3.0

    assert outdated([site], ask=_never, total_s=0.0, clock=clock) == tuple(
        Standing(
            scope=site.scope.value,
            capability_id=name,
            kind="npm",
            status="unknown",
            version="1.2.0",
            commit=OLD,
            reason="not asked: the others took longer than 0 seconds",
        )
        for name in names
    )
    rows = outdated([site], ask=ask, total_s=8.0, clock=clock)
    assert {row.status for row in rows} <= {"pinned", "unknown"}
    assert set(given_s) == {8.0}


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)
_FIELDS = {
    "id": "tides",
    "version": "1.0.0",
    "source": GIT,
    "integrity": "",
    "files": [],
    "sharedEdits": [],
}
_TEXTS = st.one_of(
    # A whole disk is no folder to compare with in a test.
    st.text().filter(lambda text: not text.strip().startswith("/")),
    st.sampled_from([GIT, "npm:ui", "/nowhere/at/all", "\ud800", "\0", "-x"]),
)


@st.composite
def _damaged(draw: st.DrawFn) -> bytes:
    """Return the bytes of a ledger, sound but for some of its fields."""
    entries: dict[str, Any] = {}
    for name in draw(st.lists(st.sampled_from(["tides", "reef", "A", ""]), max_size=3)):
        entry: Any = {**_FIELDS, "id": name, "source": draw(_TEXTS)}
        entry |= draw(st.dictionaries(st.sampled_from([*_FIELDS, "commit"]), _JSON))
        entries[name] = draw(st.sampled_from([entry, None, 5]))
    ledger = {"version": "1", "entries": draw(st.sampled_from([entries, [], 5]))}
    data = json.dumps(ledger).encode()
    return data if draw(st.booleans()) else data[: draw(st.integers(0, len(data)))]


@given(_damaged(), st.sampled_from(["version", "commit", "pinned", "manual", "odd"]))
def test_no_ledger_and_no_answer_makes_it_raise(data: bytes, status: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        (home / LEDGER_NAME).write_bytes(data)
        site = site_of(home, None, "global")

        rows = outdated([site], ask=_answering(Latest(status=status)))

        assert [row.capability_id for row in rows] == sorted(
            row.capability_id for row in rows
        )
        assert all(row.reason == safe(row.reason, 2000) for row in rows)
