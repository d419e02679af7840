"""A home, a project and what lies outside; nobody at the terminal."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from msdcomp.cli import main
from tests.edge.sources.conftest import authority, ca_file, server, server_context
from tests.hostile.ground import Finished, Ground

__all__ = ["authority", "ca_file", "ground", "server", "server_context"]


@pytest.fixture
def ground(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Ground]:
    """Return a place to be attacked; what is fetched leaves nothing behind."""
    top = tmp_path / "ground"
    home, project, outside = top / "home", top / "project", top / "outside"
    for folder in (home, project / ".planning", outside):
        folder.mkdir(parents=True)
    (outside / "important.txt").write_bytes(b"the user's own")
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    for name in ("NO_COLOR", "COLUMNS", "npm_config_registry"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("MSD_HOME", str(home))
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    monkeypatch.chdir(project)

    def run(*arguments: str | Path) -> Finished:
        with Path(os.devnull).open(encoding="ascii") as nobody:
            monkeypatch.setattr("sys.stdin", nobody)
            code = main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return Finished(code, captured.out, captured.err)

    yield Ground(top=top, home=home, project=project, outside=outside, command=run)
    assert list(temporary.iterdir()) == []
