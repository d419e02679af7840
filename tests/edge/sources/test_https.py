"""Archives over HTTPS, and what keeps a source from reaching where it should not."""

from __future__ import annotations

import http.server
import os
import signal
import socket
import threading
import time
from pathlib import Path
from typing import Any

import attrs
import pytest

from msdcomp.edge.sources import Fetched, Options, fetch, latest, versions
from msdcomp.edge.sources.archives import sri
from msdcomp.edge.sources.network import Deadline, endpoints, is_public
from msdcomp.edge.sources.options import MAX_ARCHIVE_BYTES, Latest
from msdcomp.sourcefault import SourceFault
from msdcomp.sourcepolicy import POLICY_KEY, SourcePolicy
from msdcomp.sourcespec import SourceSpec
from tests.edge.sources.packing import FILES, tar, tree, zipped
from tests.edge.sources.servers import Server, plain, redirect

Request = http.server.BaseHTTPRequestHandler


def _spec(url: str) -> SourceSpec:
    return SourceSpec("archive", url)


def _code(url: str, into: Path, options: Options) -> str:
    found = fetch(_spec(url), str(into), options)
    assert isinstance(found, SourceFault), found
    assert list(into.iterdir()) == []
    return found.code


@pytest.mark.parametrize("data", [tar(top="package/"), zipped()])
def test_an_archive_is_fetched_and_its_integrity_told(
    data: bytes, server: Server, into: Path, options: Options
) -> None:
    server.routes["/a/ui.tgz?x=1"] = plain(data)

    found = fetch(_spec(server.url("/a/ui.tgz?x=1")), str(into), options)

    assert found == Fetched(root=str(into), integrity=sri(data))
    assert tree(into) == FILES


def test_a_pin_that_no_longer_fits_ends_the_fetch(
    server: Server, into: Path, options: Options
) -> None:
    server.routes["/ui.tgz"] = plain(tar())
    spec = _spec(server.url("/ui.tgz"))

    found = fetch(spec, str(into), options, integrity=sri(b"before"))

    assert isinstance(found, SourceFault)
    assert found.code == "integrity-mismatch"
    assert list(into.iterdir()) == []


def test_a_malformed_pin_is_found_before_anything_is_asked(
    server: Server, into: Path, options: Options
) -> None:
    spec = _spec(server.url("/ui.tgz"))

    found = fetch(spec, str(into), options, integrity="sha256-x")

    assert isinstance(found, SourceFault)
    assert found.code == "integrity-algorithm"
    assert server.seen == []


def test_an_archive_holds_one_version(into: Path, options: Options) -> None:
    spec = _spec("https://h.example/ui.tgz")

    assert versions(spec, options) == ()
    assert latest(spec, options) == Latest(status="manual")
    found = fetch(spec, str(into), options, version="1.0.0")
    assert isinstance(found, SourceFault)
    assert found.code == "no-versions"


# Addresses.


@pytest.mark.parametrize(
    "address",
    [
        "0.0.0.0",  # noqa: S104
        "0.1.2.3",
        "10.0.0.1",
        "100.64.0.1",
        "100.127.255.255",
        "127.0.0.1",
        "127.9.9.9",
        "169.254.169.254",
        "172.16.0.1",
        "172.31.255.255",
        "192.0.0.1",
        "192.0.2.1",
        "192.88.99.1",
        "192.168.1.1",
        "198.18.0.1",
        "198.19.255.255",
        "198.51.100.1",
        "203.0.113.1",
        "224.0.0.1",
        "239.1.1.1",
        "240.0.0.1",
        "255.255.255.255",
        "::",
        "::1",
        "::127.0.0.1",
        "::ffff:127.0.0.1",
        "::ffff:10.0.0.1",
        "::ffff:169.254.169.254",
        "64:ff9b::7f00:1",
        "64:ff9b::a9fe:a9fe",
        "64:ff9b:1::1",
        "100::1",
        "2001::1",
        "2001:10::1",
        "2001:db8::1",
        "2002:7f00:1::",
        "2002:a00:1::1",
        "3fff::1",
        "5f00::1",
        "fc00::1",
        "fd00::1",
        "fe80::1",
        "fe80::1%lo",
        "fec0::1",
        "ff02::1",
        "nonsense",
        "127.1",
        "2130706433",
        "0x7f.1",
    ],
)
def test_w10_an_address_that_is_not_public_is_refused(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize(
    "address",
    [
        "1.1.1.1",
        "100.63.255.255",
        "100.128.0.1",
        "172.15.0.1",
        "172.32.0.1",
        "192.0.1.1",
        "198.20.0.1",
        "223.255.255.255",
        "2606:4700::1",
        "2a00::1",
        "::ffff:8.8.8.8",
        "64:ff9b::808:808",
        "2002:808:808::1",
    ],
)
def test_an_address_that_everybody_reaches_is_accepted(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize(
    "host", ["localhost", "127.0.0.1", "127.1", "2130706433", "0x7f.1", "[::1]", "0"]
)
def test_w10_this_machine_is_refused_in_every_spelling(
    host: str, server: Server, into: Path, options: Options
) -> None:
    server.routes["/ui.tgz"] = plain(tar())
    closed = attrs.evolve(options, allow_hosts=frozenset())

    assert _code(server.url("/ui.tgz", host), into, closed) == "private-address"
    assert server.seen == []


def test_all_hosts_can_be_allowed(server: Server, into: Path, options: Options) -> None:
    server.routes["/ui.tgz"] = plain(tar())
    wide = attrs.evolve(options, allow_hosts=frozenset(), allow_private=True)

    assert isinstance(fetch(_spec(server.url("/ui.tgz")), str(into), wide), Fetched)


@pytest.mark.parametrize(
    "target",
    ["https://127.0.0.1:{}/x.tgz", "https://[::1]:{}/x.tgz", "https://10.0.0.1/x.tgz"],
)
def test_w10_a_redirect_to_an_address_that_is_not_public_is_refused(
    target: str, server: Server, into: Path, options: Options
) -> None:
    server.routes["/ui.tgz"] = redirect(target.format(server.port))
    server.routes["/x.tgz"] = plain(tar())

    assert _code(server.url("/ui.tgz"), into, options) == "private-address"
    assert server.seen == ["/ui.tgz"]


class Names:
    """A name server that gives one answer after the other."""

    def __init__(self, *answers: list[str]) -> None:
        """Take the answers; the last is repeated."""
        self.answers = list(answers)
        self.asked: list[str] = []

    def __call__(self, host: str, port: int, **_: Any) -> list[Any]:
        """Answer as the system does."""
        self.asked.append(host)
        found = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        return [
            (
                socket.AF_INET6 if ":" in text else socket.AF_INET,
                socket.SOCK_STREAM,
                6,
                "",
                (text, port),
            )
            for text in found
        ]


def test_w10_a_name_is_resolved_once_and_that_address_is_used(
    server: Server, into: Path, options: Options, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A second answer, of a name server that changed its mind, is never asked for."""
    names = Names(["127.0.0.1"], ["192.0.2.1"])
    monkeypatch.setattr(socket, "getaddrinfo", names)
    server.routes["/ui.tgz"] = plain(tar())
    opened = attrs.evolve(options, allow_hosts=frozenset({"bundles.example"}))

    found = fetch(_spec(server.url("/ui.tgz", "bundles.example")), str(into), opened)

    assert isinstance(found, Fetched)
    assert names.asked == ["bundles.example"]


def test_w10_one_address_that_is_not_public_is_enough_to_refuse_a_name(
    options: Options, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(socket, "getaddrinfo", Names(["8.8.8.8", "10.0.0.1"]))

    found = endpoints("bundles.example", 443, options, Deadline(5))

    assert isinstance(found, SourceFault)
    assert found.code == "private-address"


def test_a_name_without_an_address_is_a_fault(
    into: Path, options: Options, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(socket, "getaddrinfo", Names([]))

    assert _code("https://nowhere.example/x.tgz", into, options) == "unknown-host"


def test_a_name_server_that_does_not_answer_is_not_waited_for(
    into: Path, options: Options, monkeypatch: pytest.MonkeyPatch
) -> None:
    over = threading.Event()

    def wait(*_: Any, **__: Any) -> list[Any]:
        over.wait(20)
        return []

    monkeypatch.setattr(socket, "getaddrinfo", wait)
    short = attrs.evolve(options, timeout_s=0.2)

    assert _code("https://slow.example/x.tgz", into, short) == "timeout"
    over.set()


# Redirects.


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_w20_a_redirect_is_followed(
    status: int, server: Server, into: Path, options: Options
) -> None:
    server.routes["/ui.tgz"] = redirect("../other?x#y", status)
    server.routes["/other?x"] = plain(tar())

    assert isinstance(fetch(_spec(server.url("/ui.tgz")), str(into), options), Fetched)


@pytest.mark.parametrize(("hops", "fine"), [(5, True), (6, False)])
def test_five_redirects_are_followed_and_no_more(
    hops: int, fine: bool, server: Server, into: Path, options: Options
) -> None:
    for hop in range(hops):
        server.routes[f"/{hop}.tgz"] = redirect(f"/{hop + 1}.tgz")
    server.routes[f"/{hops}.tgz"] = plain(tar())

    found = fetch(_spec(server.url("/0.tgz")), str(into), options)

    assert isinstance(found, Fetched) == fine
    if isinstance(found, SourceFault):
        assert found.code == "too-many-redirects"


@pytest.mark.parametrize(
    ("target", "code"),
    [
        ("http://localhost/x.tgz", "insecure-transport"),
        ("file:///etc/passwd", "insecure-transport"),
        ("ftp://localhost/x", "insecure-transport"),
        ("https://me:secret@localhost/x", "credentials"),
        ("https://me@localhost/x", "credentials"),
        ("https://[x", "bad-url"),
        ("https://loc alhost/x", "bad-url"),
        ("https://localhost:99999/x", "bad-url"),
    ],
)
def test_a_redirect_is_held_to_the_rules_of_a_source(
    target: str, code: str, server: Server, into: Path, options: Options
) -> None:
    server.routes["/ui.tgz"] = redirect(target)

    assert _code(server.url("/ui.tgz"), into, options) == code


# The policy of a project.


def _only(options: Options, *entries: str) -> Options:
    return attrs.evolve(options, policy=SourcePolicy.from_value(list(entries)))


def test_t13_a_host_that_is_not_listed_is_not_even_looked_up(
    server: Server, into: Path, options: Options, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = Names(["127.0.0.1"])
    monkeypatch.setattr(socket, "getaddrinfo", names)
    server.routes["/ui.tgz"] = plain(tar())

    for policy in (["forge.example"], ["npm"], [], "localhost"):
        closed = attrs.evolve(options, policy=SourcePolicy.from_value(policy))
        found = fetch(_spec(server.url("/ui.tgz")), str(into), closed)
        assert isinstance(found, SourceFault)
        assert found.code == "policy"
        assert POLICY_KEY in found.hint

    assert names.asked == server.seen == []


def test_t13_a_host_that_is_listed_is_spoken_to(
    server: Server, into: Path, options: Options
) -> None:
    server.routes["/ui.tgz"] = plain(tar())

    found = fetch(_spec(server.url("/ui.tgz")), str(into), _only(options, "LocalHost."))

    assert isinstance(found, Fetched)


def test_t13_a_host_that_is_listed_may_still_not_be_private(
    server: Server, into: Path, options: Options
) -> None:
    closed = attrs.evolve(_only(options, "localhost"), allow_hosts=frozenset())

    assert _code(server.url("/ui.tgz"), into, closed) == "private-address"


@pytest.mark.parametrize(
    ("listed", "fine"),
    [(["bundles.example"], False), (["bundles.example", "localhost"], True)],
)
def test_t13_each_hop_of_a_redirect_must_be_listed(
    listed: list[str],
    fine: bool,
    server: Server,
    into: Path,
    options: Options,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    names = Names(["127.0.0.1"])
    monkeypatch.setattr(socket, "getaddrinfo", names)
    server.routes["/ui.tgz"] = redirect("/next.tgz")
    server.routes["/next.tgz"] = redirect(server.url("/x.tgz"))
    server.routes["/x.tgz"] = plain(tar())
    wide = attrs.evolve(_only(options, *listed), allow_private=True)

    found = fetch(_spec(server.url("/ui.tgz", "bundles.example")), str(into), wide)

    if fine:
        assert isinstance(found, Fetched)
        return
    assert isinstance(found, SourceFault)
    assert found.code == "policy"
    assert found.reason.startswith("localhost is not listed")
    assert server.seen == ["/ui.tgz", "/next.tgz"]
    assert set(names.asked) == {"bundles.example"}


# Answers.


@pytest.mark.parametrize("status", [204, 206, 304, 401, 404, 500])
def test_an_answer_that_is_not_200_is_refused(
    status: int, server: Server, into: Path, options: Options
) -> None:
    server.routes["/ui.tgz"] = plain(b"", status)

    assert _code(server.url("/ui.tgz"), into, options) == "http-status"


def test_an_answer_in_another_encoding_is_refused(
    server: Server, into: Path, options: Options
) -> None:
    server.routes["/ui.tgz"] = plain(tar(), headers={"Content-Encoding": "gzip"})

    assert _code(server.url("/ui.tgz"), into, options) == "http-status"


def test_an_announced_length_beyond_the_limit_is_refused_at_once(
    server: Server, into: Path, options: Options
) -> None:
    announced = {"Content-Length": str(MAX_ARCHIVE_BYTES + 1)}
    server.routes["/ui.tgz"] = plain(b"", headers=announced)

    assert _code(server.url("/ui.tgz"), into, options) == "too-large"


def test_more_than_the_limit_without_a_length_is_cut(
    server: Server, into: Path, options: Options
) -> None:
    body = bytes(MAX_ARCHIVE_BYTES + 2**18)
    server.routes["/ui.tgz"] = plain(body, headers={"Content-Length": ""})

    assert _code(server.url("/ui.tgz"), into, options) == "too-large"


def test_an_answer_that_ends_early_is_refused(
    server: Server, into: Path, options: Options
) -> None:
    data = tar()
    announced = {"Content-Length": str(len(data) + 1)}
    server.routes["/ui.tgz"] = plain(data, headers=announced)

    assert _code(server.url("/ui.tgz"), into, options) == "connection"


def test_an_answer_that_is_no_http_is_refused(
    server: Server, into: Path, options: Options
) -> None:
    def babble(request: Request) -> None:
        request.wfile.write(b"nonsense\r\n\r\n")

    server.routes["/ui.tgz"] = babble

    assert _code(server.url("/ui.tgz"), into, options) == "connection"


@pytest.mark.parametrize("headers_first", [True, False])
def test_a_server_that_drips_is_cut_off(
    headers_first: bool, server: Server, into: Path, options: Options
) -> None:
    """Each byte comes in time; all of them together do not."""

    def drip(request: Request) -> None:
        request.wfile.write(b"HTTP/1.1 200 OK\r\n")
        if headers_first:
            request.wfile.write(b"\r\n")
        while not server.over.wait(0.02):
            request.wfile.write(b"x")

    server.routes["/ui.tgz"] = drip
    start = time.monotonic()

    short = attrs.evolve(options, timeout_s=0.5)
    assert _code(server.url("/ui.tgz"), into, short) == "timeout"
    assert time.monotonic() - start < 5


def test_a_port_that_says_nothing_is_not_waited_for(
    into: Path, options: Options
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"https://localhost:{silent.getsockname()[1]}/ui.tgz"
        short = attrs.evolve(options, timeout_s=0.3)
        assert _code(url, into, short) == "timeout"


def test_nobody_listening_is_a_fault(into: Path, options: Options) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]

    url = f"https://localhost:{port}/ui.tgz"
    assert _code(url, into, options) == "connection"


def test_an_end_that_is_not_announced_is_no_end(
    server: Server, into: Path, options: Options
) -> None:
    """Whoever can cut a connection must not be able to shorten an answer."""
    server.routes["/ui.tgz"] = plain(tar(), headers={"Content-Length": ""})

    assert _code(server.url("/ui.tgz"), into, options) == "connection"


def test_an_unknown_authority_is_not_trusted(
    server: Server, into: Path, options: Options
) -> None:
    server.routes["/ui.tgz"] = plain(tar())
    system = attrs.evolve(options, ca_file=None)

    assert _code(server.url("/ui.tgz"), into, system) == "certificate"


def test_a_certificate_of_another_name_is_not_trusted(
    server: Server, into: Path, options: Options, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(socket, "getaddrinfo", Names(["127.0.0.1"]))
    opened = attrs.evolve(options, allow_private=True)

    url = server.url("/ui.tgz", "other.example")
    assert _code(url, into, opened) == "certificate"


def test_a_file_of_certificates_that_is_none_is_a_fault(
    into: Path, options: Options
) -> None:
    for path in (str(into), str(into / "missing"), __file__):
        broken = attrs.evolve(options, ca_file=path)
        assert _code("https://localhost/x.tgz", into, broken) == "bad-ca-file"


def test_an_interrupted_fetch_leaves_nothing(
    server: Server, into: Path, options: Options
) -> None:
    """Ctrl-C while a server keeps the command waiting."""

    def interrupt(_: Request) -> None:
        os.kill(os.getpid(), signal.SIGINT)
        server.over.wait(20)

    server.routes["/ui.tgz"] = interrupt

    with pytest.raises(KeyboardInterrupt):
        fetch(_spec(server.url("/ui.tgz")), str(into), options)
    assert list(into.iterdir()) == []
