"""Small healthy manifests for tests, and a way to change one place of them."""

from __future__ import annotations

import copy
from typing import Any

__all__ = ["MISSING", "changed", "feature", "http_reviewer", "reviewer", "runtime"]

#: Given as the new value of a place: the place is deleted.
MISSING = object()


def changed(document: dict[str, Any], path: str, value: Any) -> dict[str, Any]:
    """Return a copy of a document with another value at a JSON pointer."""
    new = copy.deepcopy(document)
    *parents, last = [
        part.replace("~1", "/").replace("~0", "~") for part in path.split("/")[1:]
    ]
    place: Any = new
    for part in parents:
        place = place[int(part)] if isinstance(place, list) else place[part]
    if isinstance(place, list):
        place[int(last) : int(last) + 1] = [] if value is MISSING else [value]
    elif value is MISSING:
        del place[last]
    else:
        place[last] = value
    return new


def _envelope(id_: str, role: str) -> dict[str, Any]:
    return {
        "id": id_,
        "role": role,
        "version": "1.0.0",
        "title": "Tides",
        "description": "Keeps a tide table beside the plan.",
        "tier": "standard",
        "requires": [],
    }


def feature(id_: str = "tides", **fields: Any) -> dict[str, Any]:
    """Return a feature with one of each kind of loop hook."""
    return {
        **_envelope(id_, "feature"),
        "runtimeCompat": {"supported": ["*"], "unsupported": []},
        "skills": ["read-tide"],
        "agents": ["tide-eye"],
        "config": {
            "tides.on": {
                "type": "boolean",
                "default": True,
                "description": "Read the table.",
            },
            "tides.at": {
                "type": "enum",
                "values": ["plan:pre", "plan:post"],
                "default": "plan:pre",
                "description": "When to read it.",
            },
        },
        "steps": [
            {
                "point": "plan:pre",
                "ref": {"skill": "read-tide"},
                "produces": ["TIDE.md"],
                "consumes": ["CONTEXT.md"],
                "onError": "skip",
                "when": "tides.on",
            }
        ],
        "contributions": [
            {
                "point": "plan:pre",
                "into": "planner",
                "produces": [],
                "consumes": [],
                "fragment": {"inline": "Mind the tide."},
            }
        ],
        "gates": [
            {
                "point": "plan:post",
                "check": {"query": "tide.safe"},
                "blocking": True,
                "onError": "halt",
                "when": "tides.on",
            }
        ],
        **fields,
    }


def runtime(id_: str = "brig", **fields: Any) -> dict[str, Any]:
    """Return a runtime without a lane."""
    artifact = {
        "kind": "skills",
        "destSubpath": "berths",
        "nesting": "flat",
        "prefix": "pier-",
        "converter": None,
    }
    return {
        **_envelope(id_, "runtime"),
        "runtime": {
            "configHome": {"kind": "dot-home", "name": ".brig", "env": ["BRIG_HOME"]},
            "localConfigDir": ".brig",
            "configFormat": "settings-json",
            "artifactLayout": {"global": [artifact], "local": [dict(artifact)]},
            "commandStyle": "slash-hyphen",
            "hooksSurface": "settings-json",
            "sandboxTier": "none",
            "supportTier": 2,
            "installSurface": "settings-json",
            "writesSharedSettings": True,
            "permissionWriter": None,
            "extendedHookEvents": [],
            "hostIntegration": {
                "embeddingMode": "declarative",
                "commandSurface": "slash-file",
                "dispatch": {
                    "namedDispatch": True,
                    "nested": False,
                    "background": "undocumented",
                    "backgroundDispatch": False,
                    "subagentToolkit": "full",
                    "maxDepth": 3,
                },
                "modelMode": "passive",
                "hookBus": "host",
                "stateIO": "filesystem",
                "transport": "mcp",
                "runtime": "node",
            },
        },
        **fields,
    }


def reviewer(id_: str = "gull", **fields: Any) -> dict[str, Any]:
    """Return a reviewer that runs a command."""
    return {
        **_envelope(id_, "reviewer"),
        "reviewer": {
            "slug": "gull",
            "flags": ["--gull"],
            "transport": "spawn",
            "probe": {"kind": "command-exists", "binary": "gull"},
            "invoke": {
                "binary": "gull",
                "args": ["look"],
                "promptChannel": "stdin",
                "outputChannel": "stdout",
                "modelArg": None,
                "effortChannel": "none",
            },
            "timeoutFloorMs": 90000,
            "emptyOutput": "stub-with-stderr",
            "reviewsSection": "Gull",
            "evidenceClass": "diff-only",
            "requiresBinaries": [],
            "promptBudgetKey": None,
            "handler": None,
        },
        **fields,
    }


def http_reviewer() -> dict[str, Any]:
    """Return a reviewer that asks an endpoint."""
    document = reviewer()
    document["reviewer"] |= {
        "transport": "openai-http",
        "probe": {
            "kind": "http-reachable",
            "hostConfigKey": "review.host",
            "path": "/v1/models",
            "timeoutMs": 2000,
        },
        "invoke": {
            "hostConfigKey": "review.host",
            "path": "/v1/chat/completions",
            "modelDiscovery": "none",
            "effortChannel": "none",
        },
    }
    return document
