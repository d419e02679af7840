"""Packages of a registry on loopback."""

from __future__ import annotations

import json
import socket
from pathlib import Path
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from msdcomp.edge.sources import Fetched, Options, fetch, latest, versions
from msdcomp.edge.sources.archives import sri
from msdcomp.edge.sources.options import Latest
from msdcomp.edge.sources.versions import newest_first
from msdcomp.sourcefault import SourceFault
from msdcomp.sourcepolicy import POLICY_KEY, SourcePolicy
from msdcomp.sourcespec import SourceSpec, parse_source
from tests.edge.sources.packing import FILES, tar, tree
from tests.edge.sources.servers import Server, plain, redirect

NAMES = ("1.0.0", "1.2.0", "1.10.0", "2.0.0", "3.0.0-rc.1")


def _bundle(version: str) -> bytes:
    return tar({**FILES, "version": version.encode()}, top="package/")


class Registry:
    """A registry with one package."""

    def __init__(self, server: Server, name: str = "ui") -> None:
        """Offer all of `NAMES`."""
        self.server = server
        self.name = name
        self.document: dict[str, Any] = {
            "name": name,
            "dist-tags": {"latest": "2.0.0", "next": "3.0.0-rc.1"},
            "versions": {},
        }
        for version in NAMES:
            data = _bundle(version)
            path = f"/files/{version}.tgz"
            server.routes[path] = plain(data)
            self.document["versions"][version] = {
                "dist": {"tarball": server.url(path), "integrity": sri(data)}
            }
        self.publish()

    def publish(self) -> None:
        path = "/npm/" + self.name.replace("/", "%2F")
        self.server.routes[path] = plain(json.dumps(self.document).encode())

    def dist(self, version: str) -> dict[str, Any]:
        found: dict[str, Any] = self.document["versions"][version]["dist"]
        return found


@pytest.fixture
def registry(server: Server) -> Registry:
    return Registry(server)


@pytest.fixture
def asking(options: Options, server: Server) -> Options:
    return attrs.evolve(options, registry=server.url("/npm/"))


@pytest.fixture(autouse=True)
def no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever runs the tests may have a registry of his own."""
    monkeypatch.delenv("npm_config_registry", raising=False)


def _spec(text: str) -> SourceSpec:
    found = parse_source(text, "/")
    assert isinstance(found, SourceSpec), found
    return found


def _code(text: str, into: Path, options: Options, **more: Any) -> str:
    found = fetch(_spec(text), str(into), options, **more)
    assert isinstance(found, SourceFault), found
    assert list(into.iterdir()) == []
    return found.code


@pytest.mark.usefixtures("registry")
@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("npm:ui", "2.0.0"),
        ("npm:ui@1.2.0", "1.2.0"),
        ("npm:ui@^1.0.0", "1.10.0"),
        ("npm:ui@>=1 <3", "2.0.0"),
        ("npm:ui@*", "2.0.0"),
        ("npm:ui@1.0.0 || 1.2.0", "1.2.0"),
        ("npm:ui@next", "3.0.0-rc.1"),
        ("npm:ui@>=3.0.0-rc.0", "3.0.0-rc.1"),
        ("npm:ui@3.0.0-rc.1", "3.0.0-rc.1"),
    ],
)
def test_the_version_that_npm_would_install_is_fetched(
    text: str, version: str, into: Path, asking: Options
) -> None:
    found = fetch(_spec(text), str(into), asking)

    assert isinstance(found, Fetched), found
    assert found.version == version
    assert found.integrity == sri(_bundle(version))
    assert tree(into) == {**FILES, "version": version.encode()}


def test_a_scoped_package_is_one_name(
    server: Server, into: Path, asking: Options
) -> None:
    Registry(server, "@me/ui")

    assert isinstance(fetch(_spec("npm:@me/ui"), str(into), asking), Fetched)
    assert server.seen[0] == "/npm/@me%2Fui"


@pytest.mark.usefixtures("registry")
def test_w13_an_older_version_can_be_stepped_down_to(
    into: Path, asking: Options
) -> None:
    assert versions(_spec("npm:ui"), asking) == ("2.0.0", "1.10.0", "1.2.0", "1.0.0")
    assert versions(_spec("npm:ui@^1.1"), asking) == ("1.10.0", "1.2.0")
    assert versions(_spec("npm:ui@1.2.0"), asking) == ()

    found = fetch(_spec("npm:ui"), str(into), asking, version="1.2.0")

    assert isinstance(found, Fetched)
    assert found.version == "1.2.0"
    assert found.versions == ("2.0.0", "1.10.0", "1.2.0", "1.0.0")


@pytest.mark.usefixtures("registry")
def test_a_registry_tells_what_is_newest(asking: Options) -> None:
    def newest(text: str) -> Latest:
        return latest(_spec(text), asking)

    assert newest("npm:ui") == Latest(status="version", version="2.0.0")
    assert newest("npm:ui@^1") == Latest(status="version", version="1.10.0")
    assert newest("npm:ui@next") == Latest(status="version", version="3.0.0-rc.1")
    assert newest("npm:ui@1.2.0") == Latest(status="pinned")
    missing = newest("npm:other")
    assert missing.status == "unknown"
    assert missing.fault is not None
    assert isinstance(versions(_spec("npm:other"), asking), SourceFault)


@pytest.mark.usefixtures("registry")
@pytest.mark.parametrize("text", ["npm:ui@9.9.9", "npm:ui@^9", "npm:ui@nope"])
def test_a_version_that_is_not_offered_is_a_fault(
    text: str, into: Path, asking: Options
) -> None:
    assert _code(text, into, asking) == "unknown-version"


@pytest.mark.usefixtures("registry")
def test_a_version_to_step_down_to_must_be_offered(into: Path, asking: Options) -> None:
    assert _code("npm:ui", into, asking, version="9.9.9") == "unknown-version"
    assert _code("npm:ui@1.2.0", into, asking, version="1.0.0") == "no-versions"


# Integrity.


def test_an_archive_that_is_not_what_the_registry_says_is_refused(
    registry: Registry, into: Path, asking: Options
) -> None:
    registry.server.routes["/files/2.0.0.tgz"] = plain(_bundle("1.0.0"))

    assert _code("npm:ui", into, asking) == "integrity-mismatch"


@pytest.mark.usefixtures("registry")
def test_a_recorded_pin_is_held_against_the_registry(
    into: Path, asking: Options
) -> None:
    wrong, right = sri(b"before"), sri(_bundle("2.0.0"))

    assert _code("npm:ui", into, asking, integrity=wrong) == "integrity-mismatch"
    assert isinstance(
        fetch(_spec("npm:ui"), str(into), asking, integrity=right), Fetched
    )


@pytest.mark.parametrize(
    "integrity", [None, 5, "", "sha1-2jmj7l5rSw0yVb/vlWAYkK/YBwk=", "sha512-short"]
)
def test_a_version_without_a_sha512_is_refused(
    integrity: object, registry: Registry, into: Path, asking: Options
) -> None:
    registry.dist("2.0.0")["integrity"] = integrity
    registry.publish()

    assert _code("npm:ui", into, asking) == "no-integrity"


def test_of_several_hashes_the_sha512_counts(
    registry: Registry, into: Path, asking: Options
) -> None:
    dist = registry.dist("2.0.0")
    dist["integrity"] = f"sha1-2jmj7l5rSw0yVb/vlWAYkK/YBwk= {dist['integrity']}"
    registry.publish()

    assert isinstance(fetch(_spec("npm:ui"), str(into), asking), Fetched)


# Hostile registries.


@pytest.mark.parametrize(
    ("address", "code"),
    [
        ("http://localhost/x.tgz", "insecure-transport"),
        ("file:///etc/passwd", "insecure-transport"),
        ("https://127.0.0.1/x.tgz", "private-address"),
        ("https://me:secret@localhost/x.tgz", "credentials"),
        ("-x", "bad-url"),
    ],
)
def test_w10_an_archive_elsewhere_is_held_to_the_rules_of_a_source(
    address: str, code: str, registry: Registry, into: Path, asking: Options
) -> None:
    registry.dist("2.0.0")["tarball"] = address
    registry.publish()

    assert _code("npm:ui", into, asking) == code


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>",
        b"[]",
        b"{}",
        b'{"versions": []}',
        b"[" * 100_000,
        b'{"versions": 1e999}',
        b"\xff",
    ],
)
def test_an_answer_that_is_no_document_is_a_fault(
    body: bytes, server: Server, into: Path, asking: Options
) -> None:
    server.routes["/npm/ui"] = plain(body)

    assert _code("npm:ui", into, asking) == "bad-registry"


@pytest.mark.parametrize(
    "document",
    [
        {"versions": {"nonsense": {}, "1.0.0": {}, "1.0.1": []}},
        {"versions": {"1.0.0": {"dist": {"tarball": 5}}}, "dist-tags": []},
        {"versions": {}, "dist-tags": {"latest": ["1.0.0"]}},
    ],
)
def test_odd_entries_of_a_document_are_no_versions(
    document: dict[str, Any], server: Server, into: Path, asking: Options
) -> None:
    server.routes["/npm/ui"] = plain(json.dumps(document).encode())

    assert _code("npm:ui", into, asking) == "unknown-version"


def test_a_package_that_only_has_prereleases_is_installed_by_its_tag(
    registry: Registry, into: Path, asking: Options
) -> None:
    registry.document["dist-tags"] = {"latest": "3.0.0-rc.1"}
    registry.publish()

    found = fetch(_spec("npm:ui"), str(into), asking)

    assert isinstance(found, Fetched)
    assert found.version == "3.0.0-rc.1"


# Which registry.


@pytest.mark.usefixtures("registry")
def test_the_environment_may_name_the_registry(
    server: Server, into: Path, options: Options, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("npm_config_registry", server.url("/npm"))

    assert isinstance(fetch(_spec("npm:ui"), str(into), options), Fetched)


def _npm(folder: Path, script: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have a script answer for npm."""
    program = folder / "npm"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")


@pytest.mark.usefixtures("registry")
def test_else_npm_is_asked_away_from_any_project(
    server: Server,
    into: Path,
    options: Options,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A project's own settings must not choose a registry."""
    said = tmp_path / "said"
    script = f'echo "$PWD $*" > {said}; echo {server.url("/npm/")}'
    _npm(tmp_path, script, monkeypatch)

    assert isinstance(fetch(_spec("npm:ui"), str(into), options), Fetched)
    assert said.read_text() == "/ config get registry\n"


@pytest.mark.parametrize(
    ("script", "code"),
    [
        ("exit 1", "no-registry"),
        ("true", "no-registry"),
        ("echo undefined", "bad-registry"),
        ("echo http://localhost/", "insecure-transport"),
        ("exit 127", "no-registry"),
        ("exec yes", "too-large"),
    ],
)
def test_without_a_registry_there_is_a_fault(
    script: str,
    code: str,
    into: Path,
    options: Options,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    _npm(tmp_path, script, monkeypatch)

    assert _code("npm:ui", into, options) == code


@pytest.mark.parametrize(
    ("base", "code"),
    [
        ("http://localhost/", "insecure-transport"),
        ("localhost", "bad-registry"),
        ("https://me:secret@localhost/", "bad-registry"),
        ("https://secret@localhost/", "bad-registry"),
        ("https://localhost/?x", "bad-registry"),
        ("https://10.0.0.1/", "private-address"),
    ],
)
def test_a_registry_is_spoken_to_like_any_host(
    base: str, code: str, into: Path, options: Options
) -> None:
    assert _code("npm:ui", into, attrs.evolve(options, registry=base)) == code


# The policy of a project.

#: What npm came with; where its user has set another, that is in front.
_SCRIPT = """case "$*" in
*--userconfig=/dev/null*--globalconfig=/dev/null/none*) echo {own};;
*) echo {set};;
esac"""


def _only(options: Options, *entries: str) -> Options:
    return attrs.evolve(options, policy=SourcePolicy.from_value(list(entries)))


@pytest.fixture
def everywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have every name lead to this machine."""

    def answer(_: str, port: int, **__: Any) -> list[Any]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", port))]

    monkeypatch.setattr(socket, "getaddrinfo", answer)


def _refused(text: str, into: Path, options: Options) -> SourceFault:
    found = fetch(_spec(text), str(into), options)
    assert isinstance(found, SourceFault), found
    assert found.code == "policy"
    assert POLICY_KEY in found.hint
    return found


@pytest.mark.usefixtures("registry")
def test_t13_a_registry_may_be_listed_by_name(into: Path, asking: Options) -> None:
    found = fetch(_spec("npm:ui"), str(into), _only(asking, "localhost"))

    assert isinstance(found, Fetched)


def test_t13_a_registry_that_is_not_listed_is_not_asked(
    registry: Registry, into: Path, asking: Options
) -> None:
    for closed in (_only(asking, "forge.example"), _only(asking)):
        _refused("npm:ui", into, closed)
        asked = versions(_spec("npm:ui"), closed)
        assert isinstance(asked, SourceFault)
        assert asked.code == "policy"
        told = latest(_spec("npm:ui"), closed)
        assert told.fault is not None
        assert told.fault.code == "policy"
    assert registry.server.seen == []


def test_t13_no_program_is_started_where_nothing_is_allowed(
    into: Path, options: Options, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _npm(tmp_path, f"touch {tmp_path}/ran; echo https://localhost/", monkeypatch)

    _refused("npm:ui", into, _only(options))

    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    ("listed", "fine"),
    [(["localhost"], False), (["localhost", "bundles.example"], True)],
)
@pytest.mark.usefixtures("everywhere")
def test_t13_archives_of_a_registry_that_is_named_must_be_on_a_listed_host(
    listed: list[str], fine: bool, registry: Registry, into: Path, asking: Options
) -> None:
    address = registry.server.url("/files/2.0.0.tgz", "bundles.example")
    registry.dist("2.0.0")["tarball"] = address
    registry.publish()
    wide = attrs.evolve(_only(asking, *listed), allow_private=True)

    found = fetch(_spec("npm:ui"), str(into), wide)

    assert isinstance(found, Fetched) == fine
    if isinstance(found, SourceFault):
        assert found.code == "policy"
        assert found.reason.startswith("bundles.example is not listed")
        assert registry.server.seen == ["/npm/ui"]


@pytest.mark.parametrize("by_option", [True, False])
@pytest.mark.parametrize("listed", [["npm"], ["NPM", "localhost"]])
@pytest.mark.usefixtures("everywhere")
def test_t13_the_token_stands_for_the_registry_of_npm_and_for_its_archives(
    by_option: bool,
    listed: list[str],
    registry: Registry,
    into: Path,
    asking: Options,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    base = registry.server.url("/npm/")
    _npm(tmp_path, _SCRIPT.format(own=base, set=base), monkeypatch)
    address = registry.server.url("/files/2.0.0.tgz", "bundles.example")
    registry.dist("2.0.0")["tarball"] = address
    registry.publish()
    wide = attrs.evolve(_only(asking, *listed), allow_private=True)
    if not by_option:
        wide = attrs.evolve(wide, registry=None)

    assert isinstance(fetch(_spec("npm:ui"), str(into), wide), Fetched)
    assert versions(_spec("npm:ui"), wide) == ("2.0.0", "1.10.0", "1.2.0", "1.0.0")


@pytest.mark.parametrize("path", ["/npm/ui", "/files/2.0.0.tgz"])
@pytest.mark.usefixtures("everywhere")
def test_t13_the_token_admits_no_redirect_to_other_hosts(
    path: str,
    registry: Registry,
    into: Path,
    asking: Options,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    base = registry.server.url("/npm/")
    _npm(tmp_path, _SCRIPT.format(own=base, set=base), monkeypatch)
    registry.server.routes[path] = redirect(
        registry.server.url("/files/2.0.0.tgz", "bundles.example")
    )
    wide = attrs.evolve(_only(asking, "npm"), allow_private=True)

    found = _refused("npm:ui", into, wide)

    assert found.reason.startswith("bundles.example is not listed")


@pytest.mark.parametrize("way", ["option", "environment", "npm"])
@pytest.mark.usefixtures("registry")
def test_t13_the_token_stands_for_no_registry_that_somebody_has_set(
    way: str,
    server: Server,
    into: Path,
    options: Options,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    base = server.url("/npm/")
    _npm(tmp_path, _SCRIPT.format(own="https://own.example/", set=base), monkeypatch)
    if way == "option":
        options = attrs.evolve(options, registry=base)
    elif way == "environment":
        monkeypatch.setenv("npm_config_registry", base)

    found = _refused("npm:ui", into, _only(options, "npm"))

    assert found.reason.startswith("localhost is not listed")
    assert server.seen == []
    assert isinstance(
        fetch(_spec("npm:ui"), str(into), _only(options, "npm", "localhost")), Fetched
    )


@pytest.mark.usefixtures("registry")
def test_t13_without_npm_nobody_knows_what_the_token_stands_for(
    server: Server,
    into: Path,
    asking: Options,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    _npm(tmp_path, "exit 127", monkeypatch)

    found = _refused("npm:ui", into, _only(asking, "npm"))

    assert "npm" in found.reason
    assert server.seen == []
    assert isinstance(
        fetch(_spec("npm:ui"), str(into), _only(asking, "npm", "localhost")), Fetched
    )


@pytest.mark.usefixtures("registry")
def test_t13_npm_is_not_waited_for_to_tell_what_the_token_stands_for(
    into: Path, asking: Options, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _npm(tmp_path, "sleep 20", monkeypatch)
    short = attrs.evolve(_only(asking, "npm"), timeout_s=0.3)

    assert _code("npm:ui", into, short) == "timeout"


# Order.


def test_versions_are_ordered_as_semver_says() -> None:
    rising = [
        "0.0.1",
        "1.0.0-1",
        "1.0.0-alpha",
        "1.0.0-alpha.1",
        "1.0.0-alpha.beta",
        "1.0.0-beta",
        "1.0.0-beta.2",
        "1.0.0-beta.11",
        "1.0.0-rc.1",
        "1.0.0",
        "1.0.0+a",
        "1.0.0+b",
        "1.2.0",
        "1.10.0",
        "2.0.0",
    ]

    assert newest_first(rising) == tuple(reversed(rising))


@given(st.lists(st.sampled_from([*NAMES, "0.1.0-a.1", "0.1.0-a.b", "0.1.0+x"])))
def test_the_order_does_not_depend_on_the_order_before(found: list[str]) -> None:
    assert newest_first(found) == newest_first(sorted(found))
