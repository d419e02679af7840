"""The JSON shape of a composition: what a JavaScript host reads and CI pins.

Everything is fresh plain data in canonical order, and `digest` hashes its RFC 8785
form, so any host can compute the same digest. Paths are relative to their scope; a
snapshot made on one machine holds on another.
Source: docs/reference/wire-format.md.
"""

from __future__ import annotations

import copy
import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

import attrs
import rfc8785

from msdcomp.diagnostics import Problem
from msdcomp.gates import BlockedGate
from msdcomp.manifest import CapabilityId, Gate
from msdcomp.registry import Hook, PointHooks, Registry
from msdcomp.verdict import BundlePath, IgnoredEntry, SkipWarning

__all__ = [
    "WIRE_VERSION",
    "blocked_gate_wire",
    "canonical",
    "digest",
    "overlay_wire",
    "problem_wire",
    "registry_wire",
    "warning_wire",
]

#: Version of the shape; raised when a reader of the old one would misread the new one.
WIRE_VERSION = "1"

#: Fresh, mutable JSON data: whoever asks gets a copy of their own.
Wire: TypeAlias = dict[str, Any]


def canonical(wire: Wire) -> bytes:
    """Return the RFC 8785 form of JSON data: UTF-8, sorted, the same everywhere."""
    try:
        return rfc8785.dumps(wire)
    except rfc8785.IntegerDomainError:
        return rfc8785.dumps(_doubles(wire))


#: The largest integer that manifests may hold; the largest that is exact in a double.
_LARGEST = 2**53


def _doubles(value: Any) -> Any:  # noqa: ANN401 - plain JSON
    """Return JSON data with its largest integers as the doubles that they equal.

    A manifest may hold 2^53 itself, which the library refuses as an integer; its form
    is the same.
    """
    if isinstance(value, dict):
        return {key: _doubles(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [_doubles(entry) for entry in value]
    return float(value) if type(value) is int and abs(value) == _LARGEST else value


def digest(wire: Wire) -> str:
    """Return the SHA-256 of the canonical form, in hexadecimal."""
    return hashlib.sha256(canonical(wire)).hexdigest()


def registry_wire(registry: Registry) -> Wire:
    """Return every view of a registry as JSON data."""
    documents = {
        owner: json.loads(manifest.document)
        for owner, manifest in sorted(registry.capabilities.items())
    }
    return {
        "version": WIRE_VERSION,
        "capabilities": documents,
        "bySkill": _sorted(registry.by_skill),
        "byAgent": _sorted(registry.by_agent),
        "byLoopPoint": {
            point: _point_wire(hooks, documents)
            for point, hooks in sorted(registry.by_loop_point.items())
        },
        "configKeys": _sorted(registry.config_keys),
        "configSchema": {
            key: {
                "owner": owned.owner,
                "type": owned.type,
                "default": owned.default,
                "description": owned.description,
                **({"values": list(owned.values)} if owned.values else {}),
            }
            for key, owned in sorted(registry.config_schema.items())
        },
        "runtimes": {
            owner: copy.deepcopy(documents[owner]["runtime"])
            for owner in sorted(registry.runtimes)
        },
        "commandFamilies": {
            name: {
                "capId": family.capability_id,
                **_present(module=family.module, router=family.router),
            }
            for name, family in sorted(registry.command_families.items())
        },
        "capabilityClusters": {
            owner: list(skills)
            for owner, skills in sorted(registry.capability_clusters.items())
        },
        "profileMembership": {
            owner: {"tier": member.tier, "profiles": list(member.profiles)}
            for owner, member in sorted(registry.profile_membership.items())
        },
    }


def overlay_wire(
    *,
    warnings: Iterable[SkipWarning],
    diagnostics: Mapping[tuple[str, str], tuple[Problem, ...]],
    blocked_gates: Mapping[str, tuple[BlockedGate, ...]],
    gate_ids: Iterable[str],
    command_roots: Mapping[CapabilityId, BundlePath],
    accepted: Iterable[str],
    paths: Mapping[CapabilityId, BundlePath],
    ignored: Iterable[IgnoredEntry],
) -> Wire | None:
    """Return the `_overlay` object, or None when there is nothing to report."""
    wire: Wire = {
        "accepted": list(accepted),
        "paths": {owner: attrs.asdict(path) for owner, path in sorted(paths.items())},
        "warnings": [warning_wire(warning) for warning in warnings],
        "diagnostics": [
            {"scope": scope, "capId": owner, **problem_wire(problem)}
            for (scope, owner), problems in sorted(diagnostics.items())
            for problem in problems
        ],
        "incompatibleGateCapIds": list(gate_ids),
        "blockedGates": [
            blocked_gate_wire(gate)
            for _, gates in sorted(blocked_gates.items())
            for gate in gates
        ],
        "commandRoots": {
            owner: attrs.asdict(root) for owner, root in sorted(command_roots.items())
        },
    }
    if not any(wire.values()):
        return None
    wire["ignored"] = [attrs.asdict(entry) for entry in ignored]
    return wire


def warning_wire(warning: SkipWarning) -> Wire:
    """Return one warning as JSON data."""
    return {
        "code": warning.code,
        "scope": warning.scope,
        "capId": warning.capability_id,
        "path": warning.path,
        "reason": warning.reason,
        "remedy": warning.remedy,
        "problems": [problem_wire(problem) for problem in warning.problems],
        "because": [
            {"scope": scope, "capId": owner} for scope, owner in warning.because
        ],
    }


def problem_wire(problem: Problem) -> Wire:
    """Return one problem as JSON data, without what it does not have."""
    return {
        "code": problem.code,
        "severity": problem.severity.value,
        "path": problem.path,
        "message": problem.message,
        **_present(
            hint=problem.hint,
            file=problem.file,
            line=problem.line,
            column=problem.column,
            about=list(problem.about) or None,
        ),
    }


def blocked_gate_wire(gate: BlockedGate) -> Wire:
    """Return one gate that is not enforced as JSON data."""
    return {
        "point": gate.point,
        "capId": gate.capability_id,
        "scope": gate.scope,
        "path": gate.path,
        "code": gate.code,
        "reason": gate.reason,
        "remedy": gate.remedy,
        "blocking": gate.blocking,
        "conditions": [
            {
                "key": condition.key,
                "type": condition.type,
                "default": condition.default,
            }
            for condition in (gate.conditions if gate.quotable else ())
        ],
    }


def _point_wire(hooks: PointHooks, documents: Mapping[CapabilityId, Wire]) -> Wire:
    return {
        group: [_hook_wire(hook, documents[hook.capability_id]) for hook in found]
        for group, found in (
            ("steps", hooks.steps),
            ("contributions", hooks.contributions),
            ("gates", hooks.gates),
        )
    }


def _hook_wire(hook: Hook, document: Wire) -> Wire:
    """Return the manifest's own object, with its owner and the fragment's text."""
    own = copy.deepcopy(document[f"{hook.kind}s"][hook.index])
    wire = {**own, "capId": hook.capability_id}
    fragment = None if isinstance(hook.body, Gate) else hook.body.fragment
    if fragment is not None and fragment.inline is not None:
        wire["fragment"]["inline"] = fragment.inline
    return wire


def _sorted(view: Mapping[Any, str]) -> dict[str, str]:
    return dict(sorted(view.items()))


def _present(**values: object) -> Wire:
    return {name: value for name, value in values.items() if value is not None}
