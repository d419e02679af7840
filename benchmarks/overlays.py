"""Realistic sets of overlays, the same for the same seed.

Features with skills, agents, configuration, steps that feed each other, contributions,
gates and chains of requirements; now and then a reviewer lane; and, in dirty sets, a
stated share of each way an overlay can be bad.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

#: Ways to be bad, and how often each occurs in a dirty set.
BAD: dict[str, float] = {
    "collision": 0.02,
    "engine": 0.03,
    "invalid": 0.03,
    "not-json": 0.01,
    "missing": 0.02,
}


def manifests(
    count: int, *, seed: int = 1, dirty: bool = False
) -> Iterator[tuple[str, bytes]]:
    """Yield folder names and manifest texts.

    Args:
        count: Number of overlays.
        seed: Decides everything that is drawn.
        dirty: Let the shares of `BAD` be bad.
    """
    draw = random.Random(seed)  # noqa: S311 - the same every time is the point
    for number in range(count):
        folder = f"cap-{number:05d}"
        fields = _reviewer(number) if number % 40 == 39 else _feature(number, draw)
        bad = _badness(draw) if dirty else None
        text = json.dumps(_spoilt(fields, bad), indent=2)
        yield folder, (text[:-2] if bad == "not-json" else text).encode()


def _badness(draw: random.Random) -> str | None:
    mark = draw.random()
    for kind, share in BAD.items():
        mark -= share
        if mark < 0:
            return kind
    return None


def _spoilt(fields: dict[str, Any], bad: str | None) -> dict[str, Any]:
    match bad:
        case "collision":
            return {**fields, "config": {"workflow.ui_review": _switch()}}
        case "engine":
            return {**fields, "engines": {"msd": ">=9.0.0"}}
        case "invalid":
            return {**fields, "tier": "large"}
        case "missing":
            return {**fields, "requires": ["not-installed"]}
        case _:
            return fields


def _switch() -> dict[str, Any]:
    return {
        "type": "boolean",
        "default": True,
        "description": "Let this capability take part in the loop.",
    }


def _feature(number: int, draw: random.Random) -> dict[str, Any]:
    folder = f"cap-{number:05d}"
    on = f"c{number}.enabled"
    chained = number % 10 and number % 40 != 39 and (number - 1) % 40 != 39
    gates = [
        {
            "point": draw.choice(["plan:post", "verify:pre", "ship:pre"]),
            "check": {"query": f"c{number}.passed"},
            "when": on,
            "blocking": draw.random() < 0.5,
            "onError": "halt",
        }
    ]
    return {
        "id": folder,
        "role": "feature",
        "version": f"1.{number % 7}.0",
        "title": f"Capability {number}",
        "description": "A made-up capability of usual size, for measuring only.",
        "tier": "full",
        "requires": [f"cap-{number - 1:05d}"] if chained else [],
        "engines": {"msd": ">=1.6.0 <3.0.0"},
        "runtimeCompat": {"supported": ["*"], "unsupported": []},
        "skills": [f"{folder}-plan", f"{folder}-review"],
        "agents": [f"{folder}-agent"],
        "hooks": [],
        "config": {
            on: _switch(),
            f"c{number}.level": {
                "type": "enum",
                "default": "high",
                "values": ["low", "high"],
                "description": "How closely to look.",
            },
        },
        "steps": [
            {
                "point": "plan:pre",
                "ref": {"skill": f"{folder}-plan"},
                "produces": [f"NOTES-{number}.md"],
                "consumes": ["CONTEXT.md"],
                "when": on,
                "onError": "skip",
            },
            {
                "point": "verify:post",
                "ref": {"skill": f"{folder}-review"},
                "produces": [f"REVIEW-{number}.md"],
                "consumes": [f"NOTES-{number}.md", "SUMMARY.md"],
                "when": on,
                "onError": "skip",
            },
        ],
        "contributions": [
            {
                "point": "plan:pre",
                "into": "planner",
                "produces": [],
                "consumes": [],
                "fragment": {"inline": "Name what this plan leaves out, and why."},
                "when": on,
            }
        ],
        "gates": gates if draw.random() < 0.3 else [],
    }


def _reviewer(number: int) -> dict[str, Any]:
    folder = f"cap-{number:05d}"
    return {
        "id": folder,
        "role": "reviewer",
        "version": "1.0.0",
        "title": f"Reviewer {number}",
        "description": "A made-up outside reader of plans, for measuring only.",
        "tier": "full",
        "requires": [],
        "reviewer": {
            "slug": folder,
            "flags": [f"--{folder}"],
            "transport": "spawn",
            "probe": {"kind": "command-exists", "binary": folder},
            "invoke": {
                "binary": folder,
                "args": ["review", "{{model}}"],
                "promptChannel": "stdin",
                "outputChannel": "stdout",
                "modelArg": "--model",
                "effortChannel": "none",
            },
            "timeoutFloorMs": 900000,
            "timeoutConfigKey": None,
            "emptyOutput": "stub-with-stderr",
            "reviewsSection": f"Reviewer {number}",
            "evidenceClass": "source-grounded",
            "requiresBinaries": [],
            "promptBudgetKey": None,
            "modelConfigKey": None,
            "handler": None,
        },
    }


def install(home: Path, count: int, *, seed: int = 1, dirty: bool = False) -> None:
    """Write a set below a home, as if it had been installed."""
    root = home / ".msd" / "capabilities"
    for folder, text in manifests(count, seed=seed, dirty=dirty):
        bundle = root / folder
        bundle.mkdir(parents=True)
        (bundle / "capability.json").write_bytes(text)
