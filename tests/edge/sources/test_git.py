"""Git repositories: local ones, and over HTTPS on loopback."""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import attrs
import pytest

from msdcomp.edge.sources import Fetched, Options, fetch, latest, process, versions
from msdcomp.edge.sources.git import Repository
from msdcomp.edge.sources.network import Deadline
from msdcomp.edge.sources.options import Latest
from msdcomp.edge.sources.process import environment, run
from msdcomp.edge.sources.staging import Refused
from msdcomp.sourcefault import SourceFault
from msdcomp.sourcepolicy import SourcePolicy
from msdcomp.sourcespec import Ref, SourceSpec, parse_source
from tests.edge.sources.packing import MANIFEST, modes, tree
from tests.edge.sources.servers import Server, redirect

LIMITS = Options(timeout_s=30)


class Origin:
    """A repository that a test fills."""

    def __init__(self, folder: Path) -> None:
        """Make it, with one commit."""
        folder.mkdir(parents=True)
        self.folder = folder
        self.git("init", "-q", "-b", "main")
        self.first = self.commit({"capability.json": MANIFEST, "a.md": b"first"})

    def git(self, *argv: str) -> str:
        """Run git there, away from the settings of whoever runs the tests."""
        ran = subprocess.run(
            ["git", *argv],
            cwd=self.folder,
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

    def commit(self, files: dict[str, bytes]) -> str:
        for name, data in files.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", "x")
        return self.git("rev-parse", "HEAD")

    def spec(self, fragment: str = "") -> SourceSpec:
        found = parse_source(f"git+file://{self.folder}{fragment}", "/")
        assert isinstance(found, SourceSpec), found
        return found


@pytest.fixture
def origin(tmp_path: Path) -> Origin:
    return Origin(tmp_path / "origin" / "ui.git")


@pytest.fixture(autouse=True)
def temporary(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Path]:
    """Temporary folders are made here, and all are gone after a test."""
    folder = tmp_path_factory.mktemp("temporary")
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    yield folder
    assert list(folder.iterdir()) == []


def _fetched(spec: SourceSpec, into: Path, options: Options = LIMITS) -> Fetched:
    found = fetch(spec, str(into), options)
    assert isinstance(found, Fetched), found
    return found


def _code(spec: SourceSpec, into: Path, options: Options = LIMITS) -> str:
    found = fetch(spec, str(into), options)
    assert isinstance(found, SourceFault), found
    assert list(into.iterdir()) == []
    return found.code


def test_without_a_fragment_the_default_branch_is_fetched(
    origin: Origin, into: Path
) -> None:
    second = origin.commit({"bin/x.sh": b"#!/bin/sh\n", "a.md": b"second"})

    found = _fetched(origin.spec(), into)

    assert found == Fetched(root=str(into), commit=second)
    assert tree(into) == {
        "a.md": b"second",
        "bin/x.sh": b"#!/bin/sh\n",
        "capability.json": MANIFEST,
    }


def test_the_executable_bit_is_kept(origin: Origin, into: Path) -> None:
    (origin.folder / "x.sh").write_bytes(b"")
    (origin.folder / "x.sh").chmod(0o755)
    origin.commit({})

    _fetched(origin.spec(), into)

    assert modes(into) == {"a.md": 0o644, "capability.json": 0o644, "x.sh": 0o755}


def test_w12_old_tags_branches_and_commits_are_reached(
    origin: Origin, into: Path
) -> None:
    origin.git("tag", "light")
    origin.git("tag", "-a", "v1.0.0", "-m", "x")
    origin.git("branch", "old/one")
    origin.commit({"a.md": b"second"})
    origin.commit({"a.md": b"third"})

    for fragment in (
        "#light",
        "#v1.0.0",
        "#tag:light",
        "#tag:v1.0.0",
        "#old/one",
        f"#sha:{origin.first}",
        f"#sha:{origin.first[:7]}",
        f"#sha:{origin.first[:39]}",
    ):
        assert _fetched(origin.spec(fragment), into).commit == origin.first, fragment
        assert (into / "a.md").read_bytes() == b"first"
        for path in into.iterdir():
            path.unlink()


def test_a_commit_of_another_branch_is_reached(origin: Origin, into: Path) -> None:
    origin.git("checkout", "-q", "-b", "side")
    origin.commit({"a.md": b"side 1"})
    wanted = origin.git("rev-parse", "HEAD")
    origin.commit({"a.md": b"side 2"})
    origin.git("checkout", "-q", "main")

    assert _fetched(origin.spec(f"#sha:{wanted[:10]}"), into).commit == wanted


def test_a_tag_is_asked_for_as_a_tag_and_a_branch_comes_first(
    origin: Origin, into: Path
) -> None:
    origin.git("tag", "same")
    second = origin.commit({"a.md": b"second"})
    origin.git("branch", "same")

    assert _fetched(origin.spec("#same"), into).commit == second
    for path in into.iterdir():
        path.unlink()
    assert _fetched(origin.spec("#tag:same"), into).commit == origin.first


def test_a_branch_cannot_pass_for_a_commit(origin: Origin, into: Path) -> None:
    """A publisher may name a branch like the commit that somebody pinned."""
    origin.commit({"a.md": b"evil"})
    origin.git("branch", origin.first[:7])
    origin.git("branch", "abcdef0")

    assert _fetched(origin.spec(f"#sha:{origin.first[:7]}"), into).commit == (
        origin.first
    )
    for path in into.iterdir():
        path.unlink()
    assert _code(origin.spec("#sha:abcdef0"), into) == "unknown-ref"


@pytest.mark.parametrize(
    "fragment", ["#nope", "#tag:main", f"#sha:{'0' * 40}", "#sha:0000000"]
)
def test_a_state_that_is_not_there_is_a_fault(
    fragment: str, origin: Origin, into: Path
) -> None:
    assert _code(origin.spec(fragment), into) == "unknown-ref"


def test_the_hash_of_a_file_is_no_commit(origin: Origin, into: Path) -> None:
    blob = origin.git("rev-parse", "HEAD:a.md")

    assert _code(origin.spec(f"#sha:{blob[:12]}"), into) == "unknown-ref"
    assert _code(origin.spec(f"#sha:{blob}"), into) == "unknown-ref"


def test_a_repository_of_sha256_is_read(tmp_path: Path, into: Path) -> None:
    folder = tmp_path / "modern"
    folder.mkdir()
    origin = Origin.__new__(Origin)
    origin.folder = folder
    origin.git("init", "-q", "-b", "main", "--object-format=sha256")
    first = origin.commit({"capability.json": MANIFEST})

    assert _fetched(origin.spec(), into).commit == first
    for path in into.iterdir():
        path.unlink()
    assert _fetched(origin.spec(f"#sha:{first[:40]}"), into).commit == first


def test_an_empty_repository_is_a_fault(tmp_path: Path, into: Path) -> None:
    origin = Origin.__new__(Origin)
    origin.folder = tmp_path / "empty"
    origin.folder.mkdir()
    origin.git("init", "-q")

    assert _code(origin.spec(), into) == "unknown-ref"
    assert _code(origin.spec("#sha:abcdef0"), into) == "unknown-ref"


def test_what_is_no_repository_is_a_fault(tmp_path: Path, into: Path) -> None:
    found = fetch(SourceSpec("git", f"file://{tmp_path}/none"), str(into), LIMITS)

    assert isinstance(found, SourceFault)
    assert found.code == "git-failed"
    assert "fatal:" in found.reason


# Versions.


def test_the_releases_among_the_tags_are_offered(origin: Origin, into: Path) -> None:
    for tag in ("1.2.0", "v1.10.0", "v1.9.0", "v2.0.0-rc.1", "latest", "v1", "vv3.0.0"):
        origin.git("tag", tag)
    origin.git("branch", "9.9.9")
    last = origin.commit({"a.md": b"later"})

    offered = ("1.10.0", "1.9.0", "1.2.0")
    assert versions(origin.spec(), LIMITS) == offered
    assert _fetched(origin.spec(), into) == Fetched(
        root=str(into), commit=last, versions=offered
    )


def test_w13_an_older_version_can_be_stepped_down_to(
    origin: Origin, into: Path
) -> None:
    origin.git("tag", "v1.0.0")
    origin.commit({"a.md": b"second"})
    origin.git("tag", "v2.0.0")

    found = fetch(origin.spec(), str(into), LIMITS, version="1.0.0")

    assert found == Fetched(
        root=str(into),
        commit=origin.first,
        version="1.0.0",
        versions=("2.0.0", "1.0.0"),
    )
    assert (into / "a.md").read_bytes() == b"first"


def test_a_version_without_a_tag_is_a_fault(origin: Origin, into: Path) -> None:
    found = fetch(origin.spec(), str(into), LIMITS, version="1.0.0")

    assert isinstance(found, SourceFault)
    assert found.code == "unknown-version"


def test_a_named_state_offers_nothing_else(origin: Origin, into: Path) -> None:
    origin.git("tag", "v1.0.0")

    for fragment in ("#main", "#tag:v1.0.0", f"#sha:{origin.first}"):
        assert versions(origin.spec(fragment), LIMITS) == ()
        found = fetch(origin.spec(fragment), str(into), LIMITS, version="1.0.0")
        assert isinstance(found, SourceFault)
        assert found.code == "no-versions"


def test_a_repository_tells_what_is_newest(origin: Origin, tmp_path: Path) -> None:
    assert latest(origin.spec(), LIMITS) == Latest(status="commit", commit=origin.first)
    origin.git("tag", "-a", "v1.0.0", "-m", "x")
    second = origin.commit({"a.md": b"second"})
    assert latest(origin.spec(), LIMITS) == Latest(
        status="version", version="1.0.0", commit=origin.first
    )
    assert latest(origin.spec("#main"), LIMITS) == Latest(
        status="commit", commit=second
    )
    for fragment in ("#tag:v1.0.0", f"#sha:{second}"):
        assert latest(origin.spec(fragment), LIMITS) == Latest(status="pinned")
    missing = latest(SourceSpec("git", f"file://{tmp_path}/none"), LIMITS)
    assert missing.status == "unknown"
    assert missing.fault is not None
    gone = versions(SourceSpec("git", f"file://{tmp_path}/none"), LIMITS)
    assert isinstance(gone, SourceFault)


def test_integrity_is_refused_with_advice(origin: Origin, into: Path) -> None:
    found = fetch(
        origin.spec(), str(into), LIMITS, integrity="sha512-" + "A" * 86 + "=="
    )

    assert isinstance(found, SourceFault)
    assert found.code == "integrity-unsupported"
    assert "#sha:" in found.hint


# Hostile repositories.


def test_nothing_that_a_repository_asks_for_is_run(
    origin: Origin, into: Path, tmp_path: Path
) -> None:
    """Hooks, filters, monitors and pack programs of the origin itself included."""
    ran = tmp_path / "ran"
    script = tmp_path / "evil.sh"
    script.write_text(f"#!/bin/sh\ntouch {ran}\ncat\n")
    script.chmod(0o755)
    hooks = origin.folder / ".git/hooks"
    hooks.mkdir(exist_ok=True)
    names = ("post-checkout", "post-merge", "pre-auto-gc", "reference-transaction")
    for name in (*names, "post-index-change", "fsmonitor-watchman"):
        (hooks / name).symlink_to(script)
    origin.commit(
        {
            ".gitattributes": b"* filter=evil diff=evil\n*.md filter=lfs export-ignore",
            ".gitconfig": f"[core]\nfsmonitor = {script}\n".encode(),
        }
    )
    for key in (
        "core.fsmonitor",
        "filter.evil.smudge",
        "filter.evil.process",
        "filter.lfs.smudge",
        "uploadpack.packObjectsHook",
        "core.sshCommand",
        "core.gitProxy",
    ):
        origin.git("config", key, str(script))
    ran.unlink(missing_ok=True)

    _fetched(origin.spec(), into)

    assert not ran.exists()
    # An attribute leaves nothing out and changes nothing either.
    assert set(tree(into)) == {
        ".gitattributes",
        ".gitconfig",
        "a.md",
        "capability.json",
    }
    assert (into / "a.md").read_bytes() == b"first"


def test_settings_of_the_user_change_nothing(
    origin: Origin, into: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = Origin(tmp_path / "other")
    other.commit({"a.md": b"other"})
    (tmp_path / ".gitconfig").write_text(
        f'[url "file://{other.folder}"]\n\tinsteadOf = file://{origin.folder}\n'
    )
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("GIT_DIR", str(other.folder / ".git"))
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", f"url.file://{other.folder}.insteadOf")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", f"file://{origin.folder}")

    assert _fetched(origin.spec(), into).commit == origin.first


def test_a_link_is_refused(origin: Origin, into: Path) -> None:
    (origin.folder / "link").symlink_to("/etc/passwd")
    origin.commit({})

    assert _code(origin.spec(), into) == "link"


def test_a_submodule_is_refused_and_never_fetched(origin: Origin, into: Path) -> None:
    origin.git("update-index", "--add", "--cacheinfo", f"160000,{origin.first},sub")
    origin.git("commit", "-q", "-m", "x")

    assert _code(origin.spec(), into) == "submodule"


def test_names_are_held_to_the_rules_of_archives(origin: Origin, into: Path) -> None:
    origin.commit({"a\nb": b""})

    assert _code(origin.spec(), into) == "bad-name"


def test_names_that_differ_in_case_only_are_refused(origin: Origin, into: Path) -> None:
    origin.commit({"A.md": b""})

    assert _code(origin.spec(), into) == "clash"


def test_a_tree_with_a_path_out_is_refused(origin: Origin, into: Path) -> None:
    """Written by hand, as git itself would not."""
    blob = origin.git("rev-parse", "HEAD:a.md")
    entry = b"100644 ..\0" + bytes.fromhex(blob)
    made = subprocess.run(
        ["git", "hash-object", "-t", "tree", "-w", "--stdin", "--literally"],
        input=entry,
        cwd=origin.folder,
        check=True,
        capture_output=True,
    )
    commit = origin.git("commit-tree", made.stdout.decode().strip(), "-m", "x")
    origin.git("update-ref", "refs/heads/main", commit)

    assert _code(origin.spec(), into) in {"escapes", "git-failed"}


def test_too_much_is_refused_before_it_is_written(origin: Origin, into: Path) -> None:
    origin.commit({"a": bytes(9 * 2**20), "b": bytes(9 * 2**20)})

    assert _code(origin.spec(), into) == "too-large"


def test_too_many_files_are_refused(origin: Origin, into: Path) -> None:
    blob = origin.git("rev-parse", "HEAD:a.md")
    rows = "".join(f"100644 {blob}\tmany/{n}\n" for n in range(10_000))
    subprocess.run(
        ["git", "update-index", "--index-info"],
        input=rows.encode(),
        cwd=origin.folder,
        check=True,
    )
    origin.git("commit", "-q", "-m", "x")

    assert _code(origin.spec(), into) == "too-many"


# Programs.


def test_a_program_and_what_it_started_are_killed_in_time(tmp_path: Path) -> None:
    mark = tmp_path / "alive"
    script = f"(sleep 1.5; touch {mark}) & wait"
    start = time.monotonic()

    with pytest.raises(Refused) as raised:
        run(
            ["sh", "-c", script],
            cwd="/",
            env=environment(),
            deadline=Deadline(0.3),
            limit=10,
        )

    assert raised.value.fault.code == "timeout"
    assert time.monotonic() - start < 1.4
    time.sleep(1.6)
    assert not mark.exists()


def test_a_program_that_closes_its_output_and_stays_is_killed() -> None:
    with pytest.raises(Refused) as raised:
        run(
            ["sh", "-c", "exec >/dev/null 2>&1; sleep 20"],
            cwd="/",
            env=environment(),
            deadline=Deadline(0.3),
            limit=10,
        )

    assert raised.value.fault.code == "timeout"


def test_a_program_that_says_too_much_is_killed() -> None:
    with pytest.raises(Refused) as raised:
        run(["yes"], cwd="/", env=environment(), deadline=Deadline(20), limit=100_000)

    assert raised.value.fault.code == "too-large"


def test_what_a_program_complains_of_is_cut() -> None:
    script = "head -c 1000000 /dev/zero >&2"
    ran = run(
        ["sh", "-c", script], cwd="/", env=environment(), deadline=Deadline(20), limit=9
    )

    assert (ran.code, ran.out) == (0, b"")
    assert 0 < len(ran.said) < 100_000


def test_without_git_there_is_a_fault(
    origin: Origin, into: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")

    assert _code(origin.spec(), into) == "no-program"


def test_a_fetch_ends_at_the_deadline(origin: Origin, into: Path) -> None:
    assert _code(origin.spec(), into, Options(timeout_s=0.001)) == "timeout"


# Transports.


@pytest.fixture
def served(server: Server, origin: Origin) -> Server:
    server.repositories = origin.folder.parent
    return server


@pytest.mark.parametrize(
    "fragment", ["", "#main", "#tag:v1.0.0", "#sha:{}", "#sha:{:.8}"]
)
def test_a_repository_is_fetched_over_https(
    fragment: str, served: Server, origin: Origin, into: Path, options: Options
) -> None:
    origin.git("tag", "v1.0.0")
    text = f"git+{served.url('/ui.git')}{fragment.format(origin.first)}"
    spec = parse_source(text, "/")
    assert isinstance(spec, SourceSpec)

    assert _fetched(spec, into, options).commit == origin.first
    assert (into / "a.md").read_bytes() == b"first"


def test_w10_a_repository_on_this_machine_is_refused(
    served: Server, into: Path, options: Options
) -> None:
    closed = attrs.evolve(options, allow_hosts=frozenset())

    spec = SourceSpec("git", served.url("/ui.git"))
    assert _code(spec, into, closed) == "private-address"
    assert served.seen == []


def test_an_authority_that_is_not_trusted_is_a_fault(
    served: Server, into: Path, options: Options
) -> None:
    system = attrs.evolve(options, ca_file=None)

    assert _code(SourceSpec("git", served.url("/ui.git")), into, system) == "git-failed"


@pytest.mark.parametrize("location", ["git://localhost/r", "http://localhost/r.git"])
def test_an_insecure_transport_needs_the_option(
    location: str, into: Path, options: Options
) -> None:
    assert _code(SourceSpec("git", location), into, options) == "insecure-transport"
    allowed = attrs.evolve(options, allow_insecure=True, allow_hosts=frozenset())
    assert _code(SourceSpec("git", location), into, allowed) == "private-address"


def _environment(location: str, options: Options) -> dict[str, str]:
    made = Repository(SourceSpec("git", location), options, Deadline(5))
    made.close()
    return made._env


@pytest.mark.parametrize(
    ("location", "alias"),
    [
        ("git@8.8.8.8:o/r", "8.8.8.8"),
        ("ssh://git@8.8.8.8/o/r", "8.8.8.8"),
        ("ssh://git@8.8.8.8:2222/o/r", "[8.8.8.8]:2222"),
    ],
)
def test_ssh_is_told_the_address_and_asks_nobody(location: str, alias: str) -> None:
    env = _environment(location, LIMITS)

    assert env["GIT_ALLOW_PROTOCOL"] == "ssh"
    command = env["GIT_SSH_COMMAND"]
    assert "-oBatchMode=yes" in command
    assert "-oHostName=8.8.8.8" in command
    assert f"'-oHostKeyAlias={alias}'" in command


def test_w10_ssh_to_this_machine_is_refused_unless_it_is_allowed() -> None:
    with pytest.raises(Refused) as raised:
        _environment("git@localhost:r", LIMITS)
    assert raised.value.fault.code == "private-address"

    options = Options(allow_hosts=frozenset({"localhost"}))
    assert "HostName" not in _environment("git@localhost:r", options)["GIT_SSH_COMMAND"]


def test_the_plain_transport_of_git_goes_to_the_checked_address() -> None:
    options = Options(allow_insecure=True)
    spec = SourceSpec("git", "git://8.8.8.8/r")
    made = Repository(spec, options, Deadline(5))
    made.close()

    assert made._location == "git://8.8.8.8:9418/r"


# The policy of a project.


def _only(options: Options, *entries: str) -> Options:
    return attrs.evolve(options, policy=SourcePolicy.from_value(list(entries)))


def test_t13_a_repository_of_a_host_that_is_not_listed_is_refused(
    served: Server, into: Path, options: Options
) -> None:
    spec = SourceSpec("git", served.url("/ui.git"))

    assert _code(spec, into, _only(options, "forge.example")) == "policy"
    asked = versions(spec, _only(options, "forge.example"))
    assert isinstance(asked, SourceFault)
    assert asked.code == "policy"
    told = latest(spec, _only(options, "forge.example"))
    assert told.fault is not None
    assert told.fault.code == "policy"
    assert served.seen == []

    _fetched(spec, into, _only(options, "localhost"))


def test_t13_git_follows_no_redirect_away_from_a_listed_host(
    server: Server, into: Path, options: Options
) -> None:
    asked = "/ui.git/info/refs?service=git-upload-pack"
    elsewhere = server.url("/other.git", "127.0.0.1")
    server.routes[asked] = redirect(elsewhere + "/info/refs?service=git-upload-pack")
    spec = SourceSpec("git", server.url("/ui.git"))

    assert _code(spec, into, _only(options, "localhost")) == "git-failed"
    assert server.seen == [asked]


@pytest.mark.parametrize(
    "location",
    ["git@localhost:r", "ssh://git@localhost/r", "git://localhost/r"],
)
@pytest.mark.parametrize(
    "wide",
    [
        Options(allow_private=True, allow_insecure=True),
        Options(allow_hosts=frozenset({"localhost"}), allow_insecure=True),
        Options(allow_insecure=True),
    ],
)
def test_t13_every_transport_is_held_to_the_list(
    location: str, wide: Options, into: Path
) -> None:
    assert _code(SourceSpec("git", location), into, _only(wide, "h.example")) == (
        "policy"
    )
    with pytest.raises(Refused) as raised:
        _environment(location, _only(wide, "h.example"))
    assert raised.value.fault.code == "policy"


def test_t13_ssh_speaks_to_the_listed_host_and_to_no_other_of_that_nickname() -> None:
    wide = Options(allow_private=True)
    env = _environment("git@localhost:r", _only(wide, "localhost"))

    assert env["GIT_SSH_COMMAND"].endswith(" -oHostName=localhost")


def test_t13_a_repository_on_this_machine_needs_no_entry(
    origin: Origin, into: Path
) -> None:
    _fetched(origin.spec(), into, _only(LIMITS))


def test_git_that_cannot_be_told_an_address_is_not_used(
    into: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def old(*_: object, **__: object) -> process.Ran:
        return process.Ran(0, b"git version 2.36.9\n", b"")

    monkeypatch.setattr("msdcomp.edge.sources.git.run", old)

    assert _code(SourceSpec("git", "https://8.8.8.8/r.git"), into) == "git-too-old"


def test_a_version_with_and_without_a_v_counts_once(origin: Origin) -> None:
    origin.git("tag", "v1.0.0")
    second = origin.commit({})
    origin.git("tag", "1.0.0")

    assert versions(origin.spec(), LIMITS) == ("1.0.0",)
    assert latest(origin.spec(), LIMITS).commit == second


def test_a_commit_is_the_one_thing_that_pins(origin: Origin) -> None:
    assert attrs.evolve(origin.spec(), ref=Ref("sha", "abcdef0")).pinned
