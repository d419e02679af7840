"""A bundle with one of everything that runs, sends or speaks."""

from __future__ import annotations

from typing import Any

from tests.documents import feature, reviewer

__all__ = ["FILES", "everything", "lane"]

#: Path -> content hash of the files of `everything`.
FILES: dict[str, str] = {
    "capability.json": "sha512-manifest",
    "scripts/run.sh": "sha512-run",
    "scripts/lib/help.sh": "sha512-help",
    "tide-router.cjs": "sha512-router",
    "loop/a.md": "sha512-a",
    "skills/read-tide/SKILL.md": "sha512-skill",
    "README.md": "sha512-readme",
}


def everything() -> dict[str, Any]:
    """Return a feature that validates and has every surface a feature can have."""
    document = feature(
        author={"name": "Ada"},
        engines={"msd": ">=1.6.0"},
        requires=["harbour"],
        hooks=[
            {"event": "PostToolUse", "script": "scripts/run.sh", "matcher": "Write"},
            {"event": "Stop", "script": "./scripts//run.sh"},
        ],
        commands=[
            {
                "family": "tide",
                "module": "tide-router.cjs",
                "router": "route",
                "subcommands": ["high", "low"],
            }
        ],
        taskContentResolver={
            "trackerPrefix": "buoy",
            "invoke": {
                "binary": "sh",
                "args": ["-c", ".msd/capabilities/tides/scripts/run.sh", "{{id}}"],
                "timeoutMs": 5000,
            },
        },
        activationKey="tides.on",
    )
    document["gates"] += [
        {
            "point": "ship:pre",
            "check": {
                "predicate": {"kind": "command-exit-zero", "command": "make ${PHASE}"}
            },
            "blocking": True,
            "onError": "halt",
            "when": "tides.on",
        },
        {
            "point": "plan:pre",
            "check": {"agentVerdict": {"prompt": "Is it high?"}},
            "blocking": False,
            "onError": "skip",
        },
    ]
    document["steps"].append(
        {
            "point": "plan:post",
            "ref": {"command": "tide high"},
            "produces": [],
            "consumes": [],
            "onError": "skip",
            "pointFrom": "tides.at",
            "fragment": {"path": "loop/a.md"},
        }
    )
    return document


def lane(**invoke: Any) -> dict[str, Any]:
    """Return a reviewer with more in its invocation."""
    document = reviewer()
    document["reviewer"]["invoke"] |= invoke
    return document
