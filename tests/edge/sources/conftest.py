"""Servers on this machine, certificates of the test's own, and repositories."""

from __future__ import annotations

import ssl
from collections.abc import Iterator
from pathlib import Path

import pytest
import trustme

from msdcomp.edge.sources import Options
from tests.edge.sources.servers import Server


@pytest.fixture(scope="session")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture(scope="session")
def server_context(authority: trustme.CA) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    names = ("localhost", "127.0.0.1", "bundles.example")
    authority.issue_cert(*names).configure_cert(context)
    return context


@pytest.fixture(scope="session")
def ca_file(authority: trustme.CA, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("ca") / "ca.pem"
    authority.cert_pem.write_to_path(path)
    return path


@pytest.fixture
def server(server_context: ssl.SSLContext) -> Iterator[Server]:
    with Server(server_context) as running:
        yield running


@pytest.fixture
def options(ca_file: Path) -> Options:
    """Return what lets a test speak to its own server, and to nobody else."""
    hosts = frozenset({"localhost"})
    return Options(allow_hosts=hosts, ca_file=str(ca_file), timeout_s=20)


@pytest.fixture
def into(tmp_path: Path) -> Path:
    folder = tmp_path / "staging"
    folder.mkdir(mode=0o700)
    return folder
