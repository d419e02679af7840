"""A home and a project, both empty, and a scan of them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from msdcomp.edge.roots import find_places
from msdcomp.edge.scan import scan
from tests.edge.scans import Scanner


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "home").mkdir()
    return tmp_path / "home"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "project" / ".git").mkdir(parents=True)
    return tmp_path / "project"


@pytest.fixture
def run(home: Path, project: Path) -> Scanner:
    return lambda: scan(find_places(project, home))


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Every path that is opened, as it is named in the call."""
    seen: list[str] = []
    real = os.open

    def opening(path: Any, *rest: Any, **more: Any) -> int:
        seen.append(os.fsdecode(path))
        return real(path, *rest, **more)

    monkeypatch.setattr(os, "open", opening)
    return seen
