"""Temporary folders of what is fetched, and machines that have no room for one."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest

from msdcomp.edge.lifecycle import Site, procure
from msdcomp.edge.lifecycle.outdated import outdated
from msdcomp.edge.sources import Options, latest
from msdcomp.edge.sources.scratch import scratch
from msdcomp.plan import Block
from msdcomp.sourcefault import SourceFault
from tests.edge.lifecycle.shops import HOST, installed, source, spec_of

pytestmark = pytest.mark.usefixtures("temporary")

REASON = "no temporary folder can be made"
HINT = "free some room, or name a folder that can be written with TMPDIR"


@pytest.fixture
def no_room(temporary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Take away every place that temporary files could lie in."""
    monkeypatch.setattr(tempfile, "tempdir", str(temporary / "nowhere"))


def test_it_is_closed_to_others_and_goes_with_its_content() -> None:
    """A bundle of a stranger lies there before anybody has looked at it."""
    held = scratch("msd-")
    assert not isinstance(held, SourceFault)
    with held as folder:
        Path(folder, "a").write_text("a", "utf-8")
        assert Path(folder).stat().st_mode & 0o077 == 0
    assert not os.path.lexists(folder)


@pytest.mark.usefixtures("no_room")
def test_a_machine_without_room_is_a_fault(tmp_path: Path) -> None:
    """The disk is full when somebody most wants to know why nothing works."""
    assert scratch("msd-") == SourceFault("system", REASON, HINT)
    found = procure(spec_of(source(tmp_path / "shop")), HOST)
    assert found == Block("system", REASON, HINT)
    asked = latest(spec_of("git+https://tides.example/it"), Options())
    assert asked.fault == SourceFault("system", REASON, HINT)


def test_what_is_installed_is_then_neither_current_nor_outdated(
    site: Site, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    installed(site, source(tmp_path / "shop"))
    request.getfixturevalue("no_room")
    (row,) = outdated([site])
    assert row.status == "unknown"
    assert REASON in row.reason
