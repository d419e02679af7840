"""Builders and a fixture for the tests of projects that compose registries.

    # conftest.py
    pytest_plugins = ["msdcomp.testing"]

    # test_composition.py
    def test_our_overlays_compose(compose_folder, snapshot):
        assert pinned(compose_folder("overlays")) == snapshot

The builders need nothing; the fixture needs pytest, which imports this module.
Source: docs/how-to/pin-a-composition.md.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from os import PathLike
from pathlib import Path
from typing import Any

import pytest

from msdcomp.candidate import Candidate
from msdcomp.canonical import pretty
from msdcomp.composition import Composition
from msdcomp.edge.load import load_registry
from msdcomp.scope import Consent, Scope

__all__ = ["candidate", "compose_folder", "feature", "gate", "pinned", "step"]


def feature(capability_id: str, **fields: Any) -> dict[str, Any]:
    """Return the smallest valid feature, with fields of one's own.

    Args:
        capability_id: Its id.
        fields: Wire name -> value; replaces what stands there.

    >>> feature("anchor", tier="core")["tier"]
    'core'
    """
    return {
        "id": capability_id,
        "role": "feature",
        "version": "1.0.0",
        "title": capability_id,
        "description": f"The capability {capability_id}, made for a test.",
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


def step(point: str, **fields: Any) -> dict[str, Any]:
    """Return the smallest valid step at a point, with fields of one's own.

    It dispatches to a command, so no skill has to be declared for it.
    """
    return {
        "point": point,
        "ref": {"command": "check"},
        "produces": [],
        "consumes": [],
        "onError": "skip",
        **fields,
    }


def gate(point: str, **fields: Any) -> dict[str, Any]:
    """Return a blocking gate at a point, with fields of one's own."""
    return {
        "point": point,
        "check": {"query": "check.passed"},
        "blocking": True,
        "onError": "halt",
        **fields,
    }


def candidate(
    manifest: str | Mapping[str, Any],
    *,
    scope: Scope = Scope.GLOBAL,
    consent: Consent = Consent.MATCHES,
    fragments: Mapping[str, str] | None = None,
    **fields: Any,
) -> Candidate:
    """Return a candidate for `msdcomp.compose`.

    Args:
        manifest: A manifest, or an id to make the smallest feature of.
        scope: Root it counts as found under.
        consent: For project scope; given unless said otherwise.
        fragments: Path -> text of the fragment files it names.
        fields: Wire name -> value, as for `feature`.

    >>> candidate("anchor", scope=Scope.PROJECT).key
    ('project', 'anchor')
    """
    made = feature(manifest, **fields) if isinstance(manifest, str) else manifest
    return Candidate.read(made, scope=scope, consent=consent, fragments=fragments)


def pinned(composition: Composition) -> str:
    """Return a composition as the text that `msd compose --json` prints.

    Canonical order, two spaces, ASCII, one newline at the end; paths are relative to
    their scope. The same text on every machine, so it can be committed.
    """
    return pretty(composition.to_wire())


@pytest.fixture
def compose_folder(tmp_path: Path) -> Callable[..., Composition]:
    """Return a function that composes folders of overlays as if they were installed.

    Called with a folder that holds one folder per overlay, and any argument of
    `msdcomp.load_registry` but the places. The folder is copied into an empty home of
    the test's own, so neither the machine's overlays nor its projects have a say.
    """
    home, project = tmp_path / "msd-home", tmp_path / "msd-project"

    def compose(folder: str | PathLike[str], **options: Any) -> Composition:
        project.mkdir(exist_ok=True)
        shutil.copytree(folder, home / ".msd" / "capabilities", dirs_exist_ok=True)
        return load_registry(home=home, project=project, **options)

    return compose
