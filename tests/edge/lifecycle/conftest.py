"""A site of each scope, over an empty home and an empty project."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from msdcomp.edge.lifecycle import Site
from tests.edge.lifecycle.shops import site_of


@pytest.fixture(params=["global", "project"])
def site(request: pytest.FixtureRequest, home: Path, project: Path) -> Site:
    """A site of either scope: a test that takes it runs for both."""
    return site_of(home, project, request.param)


@pytest.fixture
def at_home(home: Path, project: Path) -> Site:
    return site_of(home, project, "global")


@pytest.fixture
def in_project(home: Path, project: Path) -> Site:
    return site_of(home, project, "project")


@pytest.fixture
def temporary(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Path]:
    """Temporary folders are made here, and all are gone after a test."""
    folder = tmp_path_factory.mktemp("temporary")
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    yield folder
    assert list(folder.iterdir()) == []
