"""Composition against reference verdicts, through the API that embeds it.

The disk has a runner of its own; here a vector becomes candidates in memory.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from msdcomp.composition import Composition
from msdcomp.diagnostics import Problem
from msdcomp.fold import compose
from msdcomp.host import CentralConfig, Host
from msdcomp.manifest import Gate
from msdcomp.registry import Entry, Registry, build
from msdcomp.wire import decode
from tests.conformance.memory import Tree, candidates_of, project_of


@functools.cache
def _base(text: str) -> Registry:
    manifests = [decode(manifest).manifest for manifest in json.loads(text)]
    assert None not in manifests
    built = build(Entry(manifest=m) for m in manifests if m is not None)
    assert isinstance(built, Registry)
    return built


@pytest.fixture
def base(first_party_sets: dict[str, Any], record: dict[str, Any]) -> Registry:
    named = first_party_sets[record["first_party"]]
    return _base(json.dumps(named["manifests"]))


@pytest.fixture
def host(first_party_sets: dict[str, Any], record: dict[str, Any]) -> Host:
    named = first_party_sets[record["first_party"]]
    central = CentralConfig.of(named["central_keys"])
    return Host(version=record["host_version"], central=central)


@pytest.fixture
def record(request: pytest.FixtureRequest) -> dict[str, Any]:
    """The vector at hand, from whichever file."""
    found: dict[str, Any] = request.node.callspec.params[_argument(request)]
    return found


def _argument(request: pytest.FixtureRequest) -> str:
    (name,) = (n for n in request.node.callspec.params if n.endswith("_record"))
    return str(name)


def _points(registry: Registry) -> dict[str, Any]:
    return {
        point: [[hook.capability_id, hook.kind, hook.index] for hook in hooks.all()]
        for point, hooks in registry.by_loop_point.items()
    }


def _blocked(composition: Composition) -> list[list[str]]:
    return sorted(
        [point, gate.capability_id]
        for point, gates in composition.blocked_gates.items()
        for gate in gates
    )


def _fragments(composition: Composition) -> Iterator[tuple[str, str | None]]:
    for hooks in composition.registry.by_loop_point.values():
        for hook in hooks.all():
            body = hook.body
            fragment = None if isinstance(body, Gate) else body.fragment
            mine = hook.capability_id in composition.accepted
            if mine and fragment is not None and fragment.path is not None:
                name = f"{hook.capability_id}/{hook.kind}s/{hook.index}"
                yield name, fragment.inline


def _views(registry: Registry) -> dict[str, Any]:
    return {
        "points": _points(registry),
        "by_skill": dict(registry.by_skill),
        "by_agent": dict(registry.by_agent),
        "config_keys": dict(registry.config_keys),
        "command_families": {
            name: {
                "capId": family.capability_id,
                "module": family.module,
                "router": family.router,
            }
            for name, family in registry.command_families.items()
        },
        "capability_clusters": {
            owner: list(skills)
            for owner, skills in registry.capability_clusters.items()
        },
        "profile_membership": {
            owner: {"tier": member.tier, "profiles": list(member.profiles)}
            for owner, member in registry.profile_membership.items()
        },
        "runtimes": sorted(registry.runtimes),
    }


def _command_roots(
    composition: Composition, tree: Tree, record: Mapping[str, Any]
) -> dict[str, str | None]:
    project, _ = project_of(tree, record)
    scopes = {"global": record["home"], "project": project}
    return {
        owner: tree.physical(f"{scopes[root.scope]}/{root.path}")
        for owner, root in composition.command_roots.items()
    }


def _is_counted(problem: Problem) -> bool:
    """Tell whether the vectors count a notice of this kind."""
    if problem.code == "removed-field":
        return True
    parent, _, _ = problem.path.rpartition("/")
    if problem.code == "unknown-fields":
        parent = problem.path
    return problem.code in {"unknown-field", "unknown-fields"} and parent in {
        "/reviewer",
        "/reviewer/probe",
        "/runtime/hostBehaviors",
    }


def _check_fallback(
    composition: Composition, tree: Tree, record: Mapping[str, Any]
) -> None:
    wanted = record["expect"]
    found: dict[str, Any] = {
        "overlay_meta": "_overlay" in composition.to_wire(),
        "fallback": composition.fell_back,
        "accepted": list(composition.accepted),
        "warnings": [
            {"id": w.capability_id, "scope": w.scope, "category": w.code}
            for key in sorted(composition.warnings)
            for w in composition.warnings[key]
        ],
        "blocked_gates": _blocked(composition),
        "incompatible_gate_cap_ids": list(composition.incompatible_gate_cap_ids),
        "command_roots": _command_roots(composition, tree, record),
        "fragments": dict(_fragments(composition)),
        **_views(composition.registry),
    }
    told = [{k: v for k, v in w.items() if k != "detail"} for w in wanted["warnings"]]
    expected = {**{name: wanted[name] for name in found}, "warnings": told}

    assert found == expected


def _check_notices(composition: Composition, record: Mapping[str, Any]) -> None:
    counted = [
        notice
        for notices in composition.diagnostics.values()
        for notice in notices
        if _is_counted(notice)
    ]
    # Other notices come on top, but every one of these has to be there.
    assert len(counted) >= record["expect"]["diagnostics"]


def _check(record: dict[str, Any], base: Registry, host: Host) -> None:
    tree, candidates = candidates_of(record)
    composition = compose(base, candidates, host)
    _check_fallback(composition, tree, record)
    _check_notices(composition, record)
    isolated = compose(base, candidates, host, on_set_failure="isolate")
    if "isolate" not in record["expect"]:
        assert isolated == composition
        return
    assert {
        "accepted": list(isolated.accepted),
        "blocked_gates": _blocked(isolated),
        "points": _points(isolated.registry),
    } == record["expect"]["isolate"]
    assert isolated.fell_back is False


def test_a_layout_composes_as_the_reference_says(
    compose_record: dict[str, Any], base: Registry, host: Host
) -> None:
    _check(compose_record, base, host)


def test_a_random_layout_composes_as_the_reference_says(
    compose_random_record: dict[str, Any], base: Registry, host: Host
) -> None:
    _check(compose_random_record, base, host)
