"""W-12 to W-20: what an update, a store, a setting and an archive must not lose."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import attrs
import pytest

from msdcomp.edge.ledger import LEDGER_NAME
from msdcomp.edge.sources.archives import sri
from msdcomp.sourcefault import SourceFault
from msdcomp.sourcespec import SourceSpec, parse_source
from tests.edge.sources.packing import tar, zipped
from tests.edge.sources.servers import Server, plain
from tests.hostile.ground import HOOK, RUN, Ground, bundle, entry, ledger, picture
from tests.layouts import feature, write

SCOPES = ("global", "project")


@attrs.frozen
class Origin:
    """A git repository on this machine, away from anybody's configuration."""

    folder: Path

    def git(self, *argv: str) -> str:
        identity = {
            f"GIT_{who}_{what}": "a@h"
            for who in ("AUTHOR", "COMMITTER")
            for what in ("NAME", "EMAIL")
        }
        ran = subprocess.run(
            ["git", *argv],
            cwd=self.folder,
            check=True,
            capture_output=True,
            text=True,
            env={
                "PATH": os.environ["PATH"],
                "GIT_CONFIG_NOSYSTEM": "1",
                "GIT_CONFIG_GLOBAL": os.devnull,
                **identity,
            },
        )
        return ran.stdout.strip()

    def release(self, version: str, **fields: Any) -> str:
        """Commit a version of `tide` and return the commit."""
        bundle(self.folder, version=version, **fields)
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", version)
        return self.git("rev-parse", "HEAD")

    @property
    def source(self) -> str:
        return f"git+file://{self.folder}"


@pytest.fixture
def origin(tmp_path: Path) -> Origin:
    folder = tmp_path / "origin"
    folder.mkdir()
    made = Origin(folder)
    made.git("init", "-q", "-b", "main")
    return made


def _version(ground: Ground, scope: str = "global") -> str:
    found = json.loads((ground.folder("tide", scope) / "capability.json").read_bytes())
    return str(found["version"])


def _entry(ground: Ground, scope: str = "global") -> dict[str, Any]:
    held = json.loads((ground.root(scope) / LEDGER_NAME).read_bytes())
    found: dict[str, Any] = held["entries"]["tide"]
    return found


# W-12


def test_w12_an_older_commit_or_tag_is_installed_and_git_left_out(
    ground: Ground, origin: Origin
) -> None:
    first = origin.release("1.0.0")
    origin.release("1.1.0")
    origin.git("tag", "v1.1.0")
    origin.git("tag", "-a", "-m", "x", "annotated")
    last = origin.release("2.0.0")

    for fragment, version in (
        (f"#sha:{first}", "1.0.0"),
        (f"#sha:{first[:9]}", "1.0.0"),
        ("#tag:v1.1.0", "1.1.0"),
        ("#tag:annotated", "1.1.0"),
        ("#v1.1.0", "1.1.0"),
        ("#main", "2.0.0"),
        ("", "2.0.0"),
    ):
        done = ground.capability("install", origin.source + fragment, "--yes")
        assert done.code == 0, (fragment, done)
        assert _version(ground) == version
        assert [p.name for p in ground.folder("tide", "global").iterdir()] == [
            "capability.json"
        ]
        assert _entry(ground)["source"] == origin.source + fragment
    assert _entry(ground)["commit"] == last


def test_w12_a_pinned_commit_stays_what_it_is(ground: Ground, origin: Origin) -> None:
    first = origin.release("1.0.0")
    origin.release("2.0.0")
    line = ("install", f"{origin.source}#sha:{first}", "--yes", "--json")
    assert ground.capability(*line).json["plan"]["disclosure"]["pin"] == {
        "kind": "commit",
        "value": first,
    }

    done = ground.capability("update", "tide", "--json")

    assert done.json["status"] == "unchanged"
    assert _version(ground) == "1.0.0"


@pytest.mark.parametrize(
    "fragment", ["#sha:0123456789", "#tag:main", "#tag:none", "#none"]
)
def test_w12_what_the_repository_does_not_have_is_not_replaced_by_something(
    ground: Ground, origin: Origin, fragment: str
) -> None:
    origin.release("1.0.0")
    before = picture(ground.top)

    done = ground.capability("install", origin.source + fragment, "--yes")

    assert done.code == 1
    assert "[unknown-ref]" in done.out
    assert picture(ground.top) == before


def test_w12_a_branch_named_like_a_commit_is_no_commit(
    ground: Ground, origin: Origin
) -> None:
    first = origin.release("1.0.0")
    origin.release("6.6.6")
    origin.git("branch", first[:8])

    assert ground.capability(
        "install", f"{origin.source}#sha:{first[:8]}", "--yes"
    ).code in {0, 1}
    folder = ground.folder("tide", "global")
    assert not folder.exists() or _version(ground) == "1.0.0"


@pytest.mark.parametrize("scope", SCOPES)
def test_w12_git_is_left_out_of_a_folder_too(
    ground: Ground, origin: Origin, scope: str
) -> None:
    origin.release("1.0.0")

    done = ground.capability("install", origin.folder, "--scope", scope, "--yes")

    assert done.code == 0, done
    assert [path.name for path in ground.folder("tide", scope).iterdir()] == [
        "capability.json"
    ]
    assert ground.active() == {"tide"}


# W-13

NEW = {"engines": {"msd": ">=9.0.0"}}


@pytest.mark.parametrize("least", ["1.11.0", "1.11", "1", ">=1.0.0 <9.0.0", ">= 1.0.0"])
def test_w13_git_steps_down_to_the_newest_version_that_fits(
    ground: Ground, origin: Origin, least: str
) -> None:
    for version in ("1.0.0", "1.2.0"):
        origin.release(version)
        origin.git("tag", f"v{version}")
    table = {"1.0.0": "1.0.0", "1.2.0": least, "1.9.0": "1.0.0", "2.0.0": "9.0.0"}
    origin.release("2.0.0", compatVersions=table, **NEW)
    origin.git("tag", "v2.0.0")

    done = ground.capability("install", origin.source, "--yes")

    assert done.code == 0, done
    assert _version(ground) == "1.2.0"
    assert "1.2.0 is the newest version that fits" in done.text
    assert _entry(ground)["source"] == origin.source
    assert ground.active() == {"tide"}


def test_w13_a_newer_minimum_is_not_stepped_down_to(
    ground: Ground, origin: Origin
) -> None:
    for version in ("1.0.0", "1.2.0"):
        origin.release(version)
        origin.git("tag", f"v{version}")
    table = {"1.0.0": "1.0", "1.2.0": "1.99"}
    origin.release("2.0.0", compatVersions=table, **NEW)
    origin.git("tag", "v2.0.0")

    assert ground.capability("install", origin.source, "--yes").code == 0
    assert _version(ground) == "1.0.0"


def _publish(server: Server, documents: dict[str, dict[str, Any]]) -> str:
    """Offer versions of the package `tide`; return the registry's address."""
    versions = {}
    for version, fields in documents.items():
        text = json.dumps(feature("tide", version=version, **fields)).encode()
        data = tar({"capability.json": text}, top="package/")
        path = f"/files/{version}.tgz"
        server.routes[path] = plain(data)
        dist = {"tarball": server.url(path), "integrity": sri(data)}
        versions[version] = {"dist": dist}
    latest = list(documents)[-1]
    document = {
        "name": "tide",
        "dist-tags": {"latest": latest},
        "versions": versions,
    }
    server.routes["/npm/tide"] = plain(json.dumps(document).encode())
    return server.url("/npm/")


@pytest.fixture
def fetching(ca_file: Path) -> tuple[str, ...]:
    return ("--allow-host", "localhost", "--ca-file", str(ca_file), "--yes")


def test_w13_a_registry_steps_down_and_up_again(
    ground: Ground, server: Server, fetching: tuple[str, ...]
) -> None:
    table = {"1.0.0": "1.0.0", "1.1.0": "1.6.0", "1.2.0": "8.0.0"}
    registry = _publish(
        server,
        {
            "1.0.0": {},
            "1.1.0": {},
            "1.2.0": {},
            "2.0.0": {"compatVersions": table, **NEW},
        },
    )
    line = ("--registry", registry, *fetching)

    assert ground.capability("install", "npm:tide", *line).code == 0
    assert _version(ground) == "1.1.0"
    _publish(server, {"1.1.0": {}, "2.0.1": {}})
    assert ground.capability("update", "tide", *line).code == 0

    assert _version(ground) == "2.0.1"
    assert _entry(ground)["source"] == "npm:tide"


@pytest.mark.parametrize("kind", ["folder", "archive"])
def test_w13_a_source_of_one_version_says_which_would_fit(
    ground: Ground, tmp_path: Path, kind: str
) -> None:
    fields: dict[str, Any] = {
        "compatVersions": {"1.0.0": "1.0.0", "1.5.0": "8.0.0"},
        **NEW,
    }
    source = bundle(tmp_path / "source", version="2.0.0", **fields)
    if kind == "archive":
        data = {"capability.json": (source / "capability.json").read_bytes()}
        source = tmp_path / "tide.tgz"
        source.write_bytes(tar(data, top="package/"))
    before = picture(ground.top)

    done = ground.capability("install", source, "--yes")

    assert done.code == 1
    assert "[incompatible-engine]" in done.out
    assert "needs MSD >=9.0.0" in done.text
    assert "version 1.0.0 would fit" in done.text
    assert "1.5.0" not in done.text
    assert picture(ground.top) == before


def test_w13_a_tag_that_holds_something_else_is_not_stepped_down_to(
    ground: Ground, origin: Origin
) -> None:
    origin.release("6.6.6")
    origin.git("tag", "v1.0.0")
    bundle(origin.folder, "other", version="1.1.0")
    origin.git("commit", "-qam", "x")
    origin.git("tag", "v1.1.0")
    table = {"1.0.0": "1.0.0", "1.1.0": "1.0.0"}
    origin.release("2.0.0", compatVersions=table, **NEW)
    origin.git("tag", "v2.0.0")
    before = picture(ground.top)

    done = ground.capability("install", origin.source, "--yes")

    assert done.code == 1
    assert "holds version 6.6.6" in done.text
    assert "holds another capability" in done.text
    assert picture(ground.top) == before


# W-14


@pytest.mark.parametrize("scope", SCOPES)
def test_w14_a_dependent_is_installed_after_what_it_needs_in_any_order_of_names(
    ground: Ground, tmp_path: Path, scope: str
) -> None:
    needed = bundle(tmp_path / "zzz", "zzz")
    source = bundle(tmp_path / "aaa", "aaa", requires=["zzz"])
    where = ("--scope", scope, "--yes")
    before = picture(ground.top)

    early = ground.capability("install", source, *where)

    assert early.code == 1
    assert picture(ground.top) == before
    assert ground.capability("install", needed, *where).code == 0
    assert ground.capability("install", source, *where).code == 0
    assert ground.active() == {"aaa", "zzz"}
    refused = ground.capability("remove", "zzz")
    assert refused.code == 1
    assert "aaa" in refused.out
    assert ground.active() == {"aaa", "zzz"}
    assert ground.capability("remove", "zzz", "--cascade").code == 0
    assert not ground.folder("aaa", scope).exists()
    assert not ground.folder("zzz", scope).exists()


def test_w14_a_project_may_need_what_is_installed_globally_and_no_more(
    ground: Ground, tmp_path: Path
) -> None:
    needed = bundle(tmp_path / "zzz", "zzz")
    source = bundle(tmp_path / "aaa", "aaa", requires=["zzz"])
    # A copy that lies in the project, and nobody agreed to, is no dependency.
    bundle(ground.folder("zzz"), "zzz")
    assert ground.capability("install", source, "--scope", "project", "--yes").code == 1

    assert ground.capability("install", needed, "--yes").code == 0
    assert ground.capability("install", source, "--scope", "project", "--yes").code == 0

    assert {"aaa", "zzz"} <= ground.active()
    assert ground.capability("remove", "zzz", "--scope", "global").code == 1
    assert "aaa (project) depends on it" in ground.capability("remove", "zzz").text


# W-15, W-16

SETTINGS = ".claude/settings.json"


@pytest.fixture
def hooked(tmp_path: Path) -> Path:
    return bundle(tmp_path / "hooked", files={"run.sh": RUN}, hooks=[HOOK])


@pytest.mark.parametrize("scope", SCOPES)
def test_w15_an_update_keeps_the_hooks_where_they_are(
    ground: Ground, hooked: Path, scope: str
) -> None:
    where = ("--scope", scope, "--settings", SETTINGS, "--yes")
    assert ground.capability("install", hooked, *where).code == 0
    settings = ground.root(scope) / SETTINGS
    before = settings.read_bytes()
    bundle(hooked, version="1.0.1", hooks=[HOOK])

    assert ground.capability("update", "tide").code == 0

    assert settings.read_bytes() == before
    assert _entry(ground, scope)["sharedEdits"] == [
        {"file": SETTINGS, "marker": "tide"}
    ]
    bundle(hooked, version="1.0.2", hooks=[HOOK, {**HOOK, "event": "Stop"}])
    assert ground.capability("update", "--all", "--yes").code == 0
    assert set(json.loads(settings.read_bytes())["hooks"]) == {"PostToolUse", "Stop"}
    assert ground.capability("remove", "tide").code == 0
    assert "tide" not in settings.read_text("utf-8")


BROKEN = (
    b'{"model": "x", // mine\n}',
    b'{"model": "x",}',
    b"",
    b"\xff",
    b"[]",
    b'{"hooks": []}',
    b'{"hooks": {"PostToolUse": {}}}',
    b'{"a": 1, "a": 2}',
)


@pytest.mark.parametrize("scope", SCOPES)
@pytest.mark.parametrize("text", BROKEN)
def test_w16_settings_that_cannot_be_understood_are_refused_and_kept(
    ground: Ground, hooked: Path, scope: str, text: bytes
) -> None:
    settings = ground.root(scope) / SETTINGS
    write(settings, text)
    before = picture(ground.top)

    done = ground.capability(
        "install", hooked, "--scope", scope, "--settings", SETTINGS, "--yes"
    )

    assert done.code == 1
    assert "[settings]" in done.out
    assert picture(ground.top) == before


@pytest.mark.parametrize("text", BROKEN)
def test_w16_a_removal_leaves_settings_that_it_cannot_understand(
    ground: Ground, hooked: Path, text: bytes
) -> None:
    line = ("install", hooked, "--settings", SETTINGS, "--yes")
    assert ground.capability(*line).code == 0
    settings = ground.home / SETTINGS
    settings.write_bytes(text)

    done = ground.capability("remove", "tide")

    assert done.code == 0, done
    assert settings.read_bytes() == text
    assert not ground.folder("tide", "global").exists()


@pytest.mark.parametrize(
    "file", ["../settings.json", "/settings.json", "a/../../b.json", "out/s.json", ""]
)
def test_w16_settings_outside_of_the_scope_are_not_written(
    ground: Ground, hooked: Path, file: str
) -> None:
    (ground.home / "out").symlink_to(ground.outside)
    before = picture(ground.top)

    done = ground.capability("install", hooked, "--settings", file, "--yes")

    assert done.code == 1
    assert picture(ground.top) == before


def test_w16_servers_of_the_user_are_neither_replaced_nor_removed(
    ground: Ground, tmp_path: Path
) -> None:
    servers = {"mine": {"command": "evil", "_msdCapability": "tide"}}
    source = bundle(
        tmp_path / "source", files={"run.sh": RUN}, hooks=[HOOK], mcpServers=servers
    )
    settings = ground.home / SETTINGS
    mine = '{"mcpServers": {"mine": {"command": "good", "_msdCapability": "tide"}}}'
    write(settings, mine)
    line = ("install", source, "--settings", SETTINGS)

    asked = ground.capability(*line)

    assert asked.code == 1
    assert "evil" in asked.out
    ground.capability(*line, "--yes")
    held = json.loads(settings.read_bytes())
    assert held["mcpServers"] == json.loads(mine)["mcpServers"]
    ground.capability("remove", "tide")
    assert json.loads(settings.read_bytes()) == json.loads(mine)


OWN = (
    LEDGER_NAME,
    f"./{LEDGER_NAME}",
    ".msd/capabilities/tide/settings.json",
    ".msd/capabilities/tide/capability.json",
    ".msd/capabilities/other/capability.json",
    ".msd/capabilities/.staging/x.json",
    "link.json",
)


@pytest.mark.parametrize("scope", SCOPES)
@pytest.mark.parametrize("file", OWN)
def test_w16_what_the_lifecycle_keeps_is_no_settings_file(
    ground: Ground, hooked: Path, tmp_path: Path, scope: str, file: str
) -> None:
    """An entry there would change what was agreed to, or what is recorded."""
    other = bundle(tmp_path / "other", "other")
    where = ("--scope", scope, "--yes")
    assert ground.capability("install", other, *where).code == 0
    inside = ground.folder("other", scope) / "capability.json"
    (ground.root(scope) / "link.json").symlink_to(inside)
    before = picture(ground.top)

    done = ground.capability("install", hooked, "--settings", file, *where)

    assert done.code == 1
    assert "[settings]" in done.out
    assert picture(ground.top) == before


@pytest.mark.parametrize("file", OWN)
def test_w16_a_planted_ledger_names_no_file_of_the_lifecycle_as_settings(
    ground: Ground, hooked: Path, file: str
) -> None:
    mark = {"_msdCapability": "tide", "hooks": []}
    other = bundle(ground.folder("other"), "other", hooks={"Stop": [mark]})
    (ground.project / "link.json").symlink_to(other / "capability.json")
    bundle(ground.folder("tide"))
    edits = [{"file": file, "marker": "tide"}]
    ledger(ground.project, entry("tide", source=str(hooked), sharedEdits=edits))
    before = picture(ground.top)

    done = ground.capability("update", "tide", "--yes")

    assert done.code == 1
    assert "[settings]" in done.out
    assert picture(ground.top) == before
    seen = picture(other)
    assert ground.capability("remove", "tide").code == 0
    assert picture(other) == seen
    assert not ground.folder("tide").exists()


def test_w16_what_the_user_wrote_beside_our_entries_stays(
    ground: Ground, hooked: Path
) -> None:
    settings = ground.home / SETTINGS
    text = '{\n\t"model": "x",\n\t"hooks": {"Stop": [ {"hooks": []} ]}\n}\n'
    write(settings, text)
    settings.chmod(0o600)
    line = ("install", hooked, "--settings", SETTINGS, "--yes")

    assert ground.capability(*line).code == 0
    added = json.loads(settings.read_bytes())
    assert added["hooks"].pop("PostToolUse")[0]["_msdCapability"] == "tide"
    assert added == json.loads(text)
    assert ground.capability("remove", "tide").code == 0

    assert json.loads(settings.read_bytes()) == json.loads(text)
    assert settings.stat().st_mode & 0o777 == 0o600


# W-17, W-18


@pytest.mark.parametrize("scope", SCOPES)
@pytest.mark.parametrize("kind", ["folder", "archive"])
def test_w17_what_could_not_be_agreed_to_is_refused_before_anything_is_written(
    ground: Ground, tmp_path: Path, scope: str, kind: str
) -> None:
    source = bundle(tmp_path / "source")
    size = 16 * 1024 * 1024 - len((source / "capability.json").read_bytes())
    data = source / "data.bin"
    with data.open("wb") as stream:
        stream.truncate(size + 1)
    if kind == "archive":
        files = {path.name: path.read_bytes() for path in source.iterdir()}
        (tmp_path / "tide.tgz").write_bytes(tar(files))
    given = source if kind == "folder" else tmp_path / "tide.tgz"
    line = ("--scope", scope, "--yes")
    before = picture(ground.top)

    done = ground.capability("install", given, *line)

    assert done.code == 1
    assert "[too-large]" in done.out
    assert picture(ground.top) == before
    with data.open("wb") as stream:
        stream.truncate(size)
    assert ground.capability("install", source, *line).code == 0
    assert ground.active() == {"tide"}


@pytest.mark.parametrize(
    "store",
    [
        b"{",
        b"[]",
        b'{"version": 2, "records": {}}',
        b'{"version": 1, "records": []}',
        b"\xff",
        b"",
    ],
)
@pytest.mark.parametrize("scope", SCOPES)
def test_w18_a_damaged_consent_store_is_kept_and_nothing_is_installed(
    ground: Ground, hooked: Path, scope: str, store: bytes
) -> None:
    path = ground.home / ".msd" / "consent.json"
    write(path, store)
    before = picture(ground.top)

    for line in (
        ("install", hooked, "--scope", scope, "--yes"),
        ("install", hooked, "--scope", scope, "--yes", "--dry-run"),
        ("install", hooked, "--scope", scope),
    ):
        done = ground.capability(*line)
        assert done.code == 1
        assert "[consent-unreadable]" in done.out
        assert "consent.json" in done.text
    assert picture(ground.top) == before


def test_w18_other_records_stay_when_one_is_written(
    ground: Ground, hooked: Path, tmp_path: Path
) -> None:
    other = bundle(tmp_path / "other", "other")
    where = ("--scope", "project", "--yes")
    assert ground.capability("install", other, *where).code == 0
    path = ground.home / ".msd" / "consent.json"
    held = json.loads(path.read_bytes())
    held["records"]["odd"] = {"of": "another program"}
    held["extra"] = 1
    path.write_text(json.dumps(held), "utf-8")

    assert ground.capability("install", hooked, *where).code == 0
    assert ground.capability("remove", "tide", "--scope", "project").code == 0

    assert json.loads(path.read_bytes()) == held


# W-19, W-20


@pytest.mark.parametrize("kind", ["folder", "archive"])
def test_w19_an_update_from_another_folder_finds_a_relative_source(
    ground: Ground, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    source = bundle(ground.project / "vendor" / "tide")
    given = "./vendor/tide"
    if kind == "archive":
        given = "vendor/tide.tgz"
        files = {"capability.json": (source / "capability.json").read_bytes()}
        (ground.project / given).write_bytes(tar(files))
    assert ground.capability("install", given, "--yes").code == 0
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)

    done = ground.capability("update", "tide", "--json")

    assert done.json["status"] == "unchanged"
    assert Path(_entry(ground)["source"]).is_absolute()


@pytest.mark.parametrize("top", ["", "package/", "tide-1.0.0/", "some name/"])
@pytest.mark.parametrize("kind", [".tgz", ".tar.gz", ".zip"])
def test_w20_an_archive_is_installed_whatever_its_top_is_called(
    ground: Ground, tmp_path: Path, top: str, kind: str
) -> None:
    files = {"capability.json": json.dumps(feature("tide")).encode(), "a/b.md": b"x"}
    archive = tmp_path / f"tide{kind}"
    archive.write_bytes((zipped if kind == ".zip" else tar)(files, top))

    done = ground.capability("install", archive, "--yes")

    assert done.code == 0, done
    folder = ground.folder("tide", "global")
    held = {
        str(p.relative_to(folder)): p.read_bytes()
        for p in folder.rglob("*")
        if p.is_file()
    }
    assert held == files
    assert _entry(ground)["integrity"] == sri(archive.read_bytes())


def test_w20_an_archive_over_https_leaves_nothing_of_itself(
    ground: Ground, server: Server, fetching: tuple[str, ...]
) -> None:
    files = {"capability.json": json.dumps(feature("tide")).encode()}
    server.routes["/tide.tgz"] = plain(tar(files))

    assert ground.capability("install", server.url("/tide.tgz"), *fetching).code == 0

    folder = ground.folder("tide", "global")
    assert [path.name for path in folder.iterdir()] == ["capability.json"]


@pytest.mark.parametrize("pinned", [True, False])
def test_w20_an_archive_that_changed_under_its_pin_is_refused(
    ground: Ground, server: Server, fetching: tuple[str, ...], *, pinned: bool
) -> None:
    files = {"capability.json": json.dumps(feature("tide")).encode()}
    good, evil = tar(files), tar({**files, "evil.md": b"evil"})
    server.routes["/tide.tgz"] = plain(good)
    pin = ("--integrity", sri(good)) if pinned else ()
    line = ("install", server.url("/tide.tgz"), *pin, *fetching)
    assert ground.capability(*line).code == 0
    server.routes["/tide.tgz"] = plain(evil)
    before = picture(ground.top)

    done = ground.capability("update", "tide", *fetching)

    assert done.code == 1
    assert "[integrity-mismatch]" in done.out
    assert picture(ground.top) == before


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("ssh://git@forge.example/o/r.git", "git"),
        ("git@forge.example:o/r.git", "git"),
        ("forge.example:o/r.git", "local"),
        ("file:///x/y", "local"),
        ("./a.tgz", "local"),
        ("a.tgz", "local"),
        ("https://h.example/a.tgz#frag", None),
        ("C:\\x", None),
        ("~/x", None),
        ("-x", None),
        ("git+ext::sh -c evil", None),
        ("ext::sh -c evil", None),
        ("ui", None),
    ],
)
def test_w20_what_a_text_means_is_said_or_refused_and_never_guessed(
    text: str, kind: str | None
) -> None:
    found = parse_source(text, "/cwd")

    if kind is None:
        assert isinstance(found, SourceFault)
    else:
        assert isinstance(found, SourceSpec)
        assert found.kind == kind
        assert parse_source(found.text, "/elsewhere") == found


@pytest.mark.parametrize("spec", ["~/x", "ui", "", "npm:", "npm:a;b", "-x", "ext::x"])
def test_w20_a_bad_source_is_one_line_and_a_code(ground: Ground, spec: str) -> None:
    before = picture(ground.top)

    done = ground.capability("install", "--yes", spec)

    assert done.code == 2
    assert "Traceback" not in done.err
    assert picture(ground.top) == before
