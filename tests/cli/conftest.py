"""The command line, run in this process over folders of the test's own."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
import pytest

from msdcomp.cli import main

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"


@attrs.frozen
class Finished:
    """What a command left: exit code and both outputs."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The output, read as JSON."""
        return json.loads(self.out)


Msd = Callable[..., Finished]


@pytest.fixture
def msd(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Msd:
    """Run `msd` with arguments, away from the environment's own settings."""
    for name in ("MSD_HOME", "NO_COLOR", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)

    def run(*arguments: str | Path) -> Finished:
        code = main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return Finished(code, captured.out, captured.err)

    return run


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """An empty home."""
    folder = tmp_path / "home"
    folder.mkdir()
    return folder


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """An empty project."""
    folder = tmp_path / "project"
    (folder / ".planning").mkdir(parents=True)
    return folder


def feature(capability_id: str, **fields: Any) -> dict[str, Any]:
    """Return a small valid feature."""
    return {
        "id": capability_id,
        "role": "feature",
        "version": "1.0.0",
        "title": "A title",
        "description": "A description.",
        "tier": "full",
        "requires": [],
        "runtimeCompat": {"supported": ["*"], "unsupported": []},
        "skills": [],
        "agents": [],
        "config": {},
        "steps": [],
        "contributions": [],
        "gates": [],
        **fields,
    }


GATE = {
    "point": "ship:pre",
    "check": {"query": "a.b"},
    "blocking": True,
    "onError": "halt",
}


def install(root: Path, manifest: Any, folder: str | None = None) -> Path:
    """Write a manifest below a home or project; text and bytes as they are."""
    name = folder or manifest["id"]
    bundle = root / ".msd" / "capabilities" / name
    bundle.mkdir(parents=True)
    target = bundle / "capability.json"
    if isinstance(manifest, bytes):
        target.write_bytes(manifest)
    else:
        text = manifest if isinstance(manifest, str) else json.dumps(manifest)
        target.write_text(text, "utf-8")
    return bundle
