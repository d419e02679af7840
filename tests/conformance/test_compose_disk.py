"""Composition against reference verdicts, through real folders.

Every vector is laid out on a disk and loaded the way a host loads it, so that roots,
consent, ledger, links, odd files and fragments are read and not simulated.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import attrs
import pytest

from msdcomp.composition import Composition
from msdcomp.edge import installed
from msdcomp.edge.load import load_registry
from msdcomp.edge.roots import find_places
from msdcomp.host import CentralConfig
from msdcomp.registry import Entry, Registry, build
from msdcomp.views import Hook
from msdcomp.wire import decode
from tests.layouts import Layout, lay_out

RANK = {"global": 0, "project": 1, "set": 2}


@functools.cache
def first_party(manifests: str) -> Registry:
    """Build the first party of a scenario from the JSON text of its manifests."""
    entries = []
    for document in json.loads(manifests):
        manifest = decode(document).manifest
        assert manifest is not None
        entries.append(Entry(manifest=manifest))
    built = build(entries)
    assert isinstance(built, Registry)
    return built


@attrs.frozen(kw_only=True)
class Scenario:
    """A vector on a disk, ready to be loaded under either policy."""

    layout: Layout
    load: Callable[..., Composition]


Stage: TypeAlias = Callable[[dict[str, Any]], Scenario]


@pytest.fixture
def stage(
    first_party_sets: dict[str, Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Stage:
    def staged(vector: dict[str, Any]) -> Scenario:
        chosen = first_party_sets[vector["first_party"]]
        central = CentralConfig.of(chosen["central_keys"])
        monkeypatch.setattr(installed, "read_central_config", lambda: central)
        layout = lay_out(vector, tmp_path)
        return Scenario(
            layout=layout,
            load=functools.partial(
                load_registry,
                vector.get("include_installed", True),
                cwd=layout.cwd,
                home=layout.home,
                host_version=vector["host_version"],
                base=first_party(json.dumps(chosen["manifests"])),
            ),
        )

    return staged


def lost(composition: Composition) -> list[list[str]]:
    return sorted(
        [point, gate.capability_id]
        for point, gates in composition.blocked_gates.items()
        for gate in gates
    )


def places(hooks: tuple[Hook, ...]) -> list[list[Any]]:
    return [[hook.capability_id, hook.kind, hook.index] for hook in hooks]


def points(composition: Composition) -> dict[str, Any]:
    by_point = composition.registry.by_loop_point
    return {point: places(hooks.all()) for point, hooks in by_point.items()}


def fragments(composition: Composition) -> dict[str, str | None]:
    """The texts that came from files, of overlays only."""
    found = {}
    for at_point in composition.registry.by_loop_point.values():
        for hook in (*at_point.steps, *at_point.contributions):
            given = getattr(hook.body, "fragment", None)
            if hook.capability_id in composition.accepted and given and given.path:
                name = f"{hook.capability_id}/{hook.kind}s/{hook.index}"
                found[name] = given.inline
    return found


def roots(composition: Composition, layout: Layout) -> dict[str, str]:
    project = find_places(layout.cwd, layout.home).project
    scopes = {"global": layout.home, "project": Path(project or layout.root)}
    return {
        owner: layout.relative(scopes[bundle.scope] / bundle.path)
        for owner, bundle in composition.command_roots.items()
    }


def check(scenario: Scenario, expect: dict[str, Any]) -> None:
    composition = scenario.load()
    assert list(composition.accepted) == expect["accepted"]
    found = sorted(
        (RANK[warning.scope], warning.capability_id, warning.code)
        for group in composition.warnings.values()
        for warning in group
    )
    assert found == [
        (RANK[warning["scope"]], warning["id"], warning["category"])
        for warning in expect["warnings"]
    ]
    assert lost(composition) == expect["blocked_gates"]
    ids = list(composition.incompatible_gate_cap_ids)
    assert ids == expect["incompatible_gate_cap_ids"]
    assert (("set", "*") in composition.warnings) is expect["fallback"]
    assert points(composition) == expect["points"]
    assert fragments(composition) == expect["fragments"]
    assert roots(composition, scenario.layout) == expect["command_roots"]
    if "isolate" in expect:
        isolated = scenario.load(on_set_failure="isolate")
        assert list(isolated.accepted) == expect["isolate"]["accepted"]
        assert lost(isolated) == expect["isolate"]["blocked_gates"]
        assert points(isolated) == expect["isolate"]["points"]


def test_compose_through_folders(compose_record: dict[str, Any], stage: Stage) -> None:
    check(stage(compose_record), compose_record["expect"])


def test_random_sets_through_folders(
    compose_random_record: dict[str, Any], stage: Stage
) -> None:
    check(stage(compose_random_record), compose_random_record["expect"])
