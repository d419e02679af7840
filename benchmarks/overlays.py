"""Realistic sets of overlays, the same bytes for the same seed.

Features with skills, agents, configuration, command families, steps that feed each
other, contributions, gates, chains of requirements and fragment files; now and then a
reviewer lane. A dirty set holds a stated share of each way an overlay can be bad.
A set of a hundred is the beginning of the set of a thousand.

Sets that are there to be as hard as possible stand in `shapes.py`.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypeVar

import attrs

from msdcomp import Candidate

__all__ = ["BAD", "Host", "Overlay", "candidates", "install", "overlays", "write"]

#: Whose folders and names a set is written for. The reference has the same format
#: under another name; see `against_reference.py`.
Host = Literal["msd", "gsd"]

#: Ways to be bad: how many of a thousand overlays are bad in that way, and the code of
#: the warning that composition gives for it.
BAD: dict[str, tuple[int, str]] = {
    "collision-id": (4, "collision"),
    "collision-skill": (8, "collision"),
    "collision-agent": (4, "collision"),
    "collision-config": (10, "collision"),
    "collision-family": (4, "collision"),
    "engine": (30, "incompatible-engine"),
    "invalid": (30, "invalid-manifest"),
    "not-json": (10, "not-json"),
    "missing-dependency": (15, "invariant"),
    "unmet-artefact": (10, "invariant"),
    "bad-fragment": (10, "bad-fragment"),
    "reserved-prefix": (5, "reserved-prefix"),
    "pending": (5, "pending"),
}

#: Shipped capabilities whose ids are claimed; enough for ten thousand overlays.
_SHIPPED = (
    "ai-integration",
    "antigravity",
    "assumption-delta",
    "audit",
    "augment",
    "broken-windows",
    "claude",
    "claude-orchestration",
    "cline",
    "code-review",
    "codebuddy",
    "coderabbit",
    "codex",
    "copilot",
    "cursor",
    "drift",
    "external-job",
    "gap-analysis",
    "gemini",
    "graphify",
    "hermes",
    "intel",
    "kilo",
    "kimi",
    "kimi-code",
    "llama-cpp",
    "lm-studio",
    "mempalace",
    "nyquist",
    "ollama",
    "opencode",
    "pattern-mapper",
    "pi",
    "profile-pipeline",
    "qwen",
    "research",
    "schema-gate",
    "security",
    "tdd",
    "trae",
    "ui",
    "vscode",
    "windsurf",
    "zcode",
)

_T = TypeVar("_T")
_Fields = dict[str, Any]


@attrs.frozen(kw_only=True)
class Overlay:
    """One folder of an overlay root.

    Attributes:
        folder: Its name.
        manifest: Text of `capability.json`.
        files: Fragment path -> text.
        bad: In which way it is bad, a key of `BAD`; None when it is not.
    """

    folder: str
    manifest: bytes
    files: Mapping[str, str] = attrs.field(factory=dict)
    bad: str | None = None

    def candidate(self) -> Candidate:
        """Return what the scan of a global root makes of it."""
        read = Candidate.read(self.manifest, self.folder, fragments=self.files)
        return attrs.evolve(read, pending=True) if self.bad == "pending" else read


def overlays(
    count: int, *, seed: int = 1, dirty: bool = False, host: Host = "msd"
) -> Iterator[Overlay]:
    """Yield the overlays of a set, in the order of their numbers.

    Args:
        count: Number of overlays.
        seed: Decides everything that is drawn.
        dirty: Let the shares of `BAD` be bad; the others stay as they are.
        host: Whose names are used.
    """
    for number in range(count):
        folder = f"cap-{number:05d}"
        # One draw an overlay, so that none depends on how many there are.
        draw = _Draw(random.Random(f"{seed}/{number}"))  # noqa: S311 - the same each time
        lane = number % 40 == 39
        fields, files = (
            (_reviewer(number, host), {}) if lane else _feature(number, draw, host)
        )
        bad, place = _badness(number, seed) if dirty else (None, 0)
        if bad == "collision-id":
            folder = _SHIPPED[number // 1000 * BAD[bad][0] + place]
        elif bad == "reserved-prefix":
            folder = f"{host}-{folder}"
        fields["id"] = folder
        _spoil(fields, bad, host)
        text = json.dumps(fields, indent=2)
        if bad == "not-json":
            text = text[:-2]
        elif bad == "bad-fragment" and place % 2:
            files["prompts/absent.md"] = ""  # there, but empty
        yield Overlay(folder=folder, manifest=text.encode(), files=files, bad=bad)


def candidates(count: int, *, seed: int = 1, dirty: bool = False) -> list[Candidate]:
    """Return a set as composition is given it."""
    return [one.candidate() for one in overlays(count, seed=seed, dirty=dirty)]


def install(home: Path, count: int, *, seed: int = 1, dirty: bool = False) -> None:
    """Write a set below a home, as if it had been installed."""
    write(home, overlays(count, seed=seed, dirty=dirty))


def write(home: Path, given: Iterable[Overlay], host: Host = "msd") -> None:
    """Write overlays below a home, with a ledger when an installation is in flight."""
    root = home / f".{host}" / "capabilities"
    root.mkdir(parents=True)
    pending = {}
    for one in given:
        bundle = root / one.folder
        bundle.mkdir()
        (bundle / "capability.json").write_bytes(one.manifest)
        for path, text in one.files.items():
            (bundle / path).parent.mkdir(exist_ok=True)
            (bundle / path).write_text(text, encoding="utf-8")
        if one.bad == "pending":
            pending[one.folder] = {"id": one.folder, "_pending": True}
    if pending:
        ledger = json.dumps({"entries": pending})
        (root / f".{host}-capabilities.json").write_text(ledger, encoding="utf-8")


@attrs.frozen
class _Draw:
    """Draws that give the same in every version of Python."""

    source: random.Random

    def chance(self, share: float) -> bool:
        return self.source.random() < share

    def upto(self, most: int) -> int:
        return int(self.source.random() * (most + 1))

    def one(self, options: Sequence[_T]) -> _T:
        return options[self.upto(len(options) - 1)]


def _badness(number: int, seed: int) -> tuple[str | None, int]:
    """Return how an overlay is bad, and which one of its kind within a thousand it is.

    Any thousand overlays in a row hold each share exactly, and spread out.
    """
    place = (number * 387 + seed * 11) % 1000
    for kind, (share, _) in BAD.items():
        if place < share:
            return kind, place
        place -= share
    return None, 0


def _spoil(fields: _Fields, bad: str | None, host: Host) -> None:
    match bad:
        case "collision-skill":
            fields["skills"] = [*fields.get("skills", ()), "ui-review"]
        case "collision-agent":
            fields["agents"] = [*fields.get("agents", ()), f"{host}-ui-auditor"]
        case "collision-config":
            fields["config"] = {**fields.get("config", {}), "graphify.enabled": _ON}
        case "collision-family":
            fields["commands"] = [*fields.get("commands", ()), _command("graphify")]
        case "engine":
            fields["engines"] = {host: ">=9.0.0"}
        case "invalid":
            fields.pop("title")
            fields["tier"] = "large"
        case "missing-dependency":
            fields["requires"] = ["not-installed"]
        case "unmet-artefact":
            fields["steps"] = [
                *fields.get("steps", ()),
                {
                    "point": "plan:post",
                    "ref": {"command": "/collect"},
                    "produces": [],
                    "consumes": ["NOWHERE.md"],
                    "onError": "skip",
                },
            ]
        case "bad-fragment":
            fields["contributions"] = [
                *fields.get("contributions", ()),
                _said("plan:pre", "planner", {"path": "prompts/absent.md"}),
            ]
    if fields["role"] == "reviewer" and bad in _FEATURES_ONLY:
        # A reviewer has none of these fields: it becomes a feature without a lane.
        del fields["reviewer"]
        fields["role"] = "feature"
        fields["runtimeCompat"] = {"supported": ["*"], "unsupported": []}
        for name in ("skills", "agents", "steps", "contributions", "gates"):
            fields.setdefault(name, [])
        fields.setdefault("config", {})


_FEATURES_ONLY = frozenset(
    {"collision-skill", "collision-agent", "unmet-artefact", "bad-fragment"}
)

_ON = {
    "type": "boolean",
    "default": True,
    "description": "Let this capability take part in the loop.",
}

_LEVEL = {
    "type": "enum",
    "default": "high",
    "values": ["low", "medium", "high"],
    "description": "How closely to look; low skips what was looked at before.",
}

_LIMIT = {
    "type": "number",
    "default": 20,
    "description": "Most findings that are told in one report.",
}

_TEXT = (
    "Name what this plan leaves out, and why.",
    "List every assumption that a reader could doubt, with the file it rests on.",
    "Prefer the smallest change that keeps the interface as it is.",
    "Say which step can be undone, and how, before the first one is carried out.",
)

#: Where contributions go, and to whom.
_LISTENERS = (
    ("plan:pre", "planner"),
    ("plan:pre", "researcher"),
    ("plan:post", "checker"),
    ("execute:wave:pre", "executor"),
    ("verify:pre", "orchestrator"),
    ("discuss:pre", "orchestrator"),
)

_GATE_POINTS = ("plan:post", "execute:post", "verify:pre", "ship:pre")
_STEP_POINTS = ("discuss:post", "plan:pre", "plan:post", "execute:post", "verify:post")


def _command(family: str) -> _Fields:
    return {
        "family": family,
        "module": f"{family}.cjs",
        "router": "route",
        "subcommands": ["run", "status"],
    }


def _said(point: str, into: str, fragment: _Fields, **more: object) -> _Fields:
    return {
        "point": point,
        "into": into,
        "produces": [],
        "consumes": [],
        "fragment": fragment,
        **more,
    }


def _envelope(number: int, role: str, host: Host) -> _Fields:
    return {
        "id": "",
        "role": role,
        "version": f"{number % 4}.{number % 7}.{number % 13}",
        "title": f"Capability {number}",
        "description": "A made-up capability of usual size, for measuring only.",
        "author": {"name": "Ada", "url": "https://example.org/ada"},
        "license": "MIT",
        "tier": "full",
        "requires": [],
        "engines": {host: ">=1.6.0 <3.0.0"},
    }


def _feature(number: int, draw: _Draw, host: Host) -> tuple[_Fields, dict[str, str]]:
    name = f"cap-{number:05d}"
    # The one before may be a reviewer, which has no artefacts.
    chained = number % 40 != 0 and draw.chance(0.3)
    on, level = f"c{number}.enabled", f"c{number}.level"
    config = {on: _ON, level: _LEVEL}
    if draw.chance(0.3):
        config[f"c{number}.limit"] = _LIMIT
    skills = [f"{name}-{verb}" for verb in ("plan", "review", "report")]
    skills = skills[: 1 + draw.upto(2)]
    agents = [f"{name}-{verb}" for verb in ("reader", "writer")][: draw.upto(2)]
    fields = {
        **_envelope(number, "feature", host),
        "requires": [f"cap-{number - 1:05d}"] if chained else [],
        "runtimeCompat": {"supported": ["*"], "unsupported": []},
        "skills": skills,
        "agents": agents,
        "hooks": [],
        "config": config,
        "steps": _steps(number, skills, agents, draw, chained=chained),
        "contributions": [],
        "gates": [],
    }
    if chained and draw.chance(0.3):
        fields["requires"].append("research")
    if draw.chance(0.15):
        fields["commands"] = [_command(f"c{number}")]
    files: dict[str, str] = {}
    for _ in range(draw.upto(2)):
        point, into = draw.one(_LISTENERS)
        fragment = {"inline": draw.one(_TEXT)}
        if draw.chance(0.15):
            fragment = {"path": "prompts/hint.md"}
            files["prompts/hint.md"] = "\n".join(_TEXT) + "\n"
        more: _Fields = {"configValues": {"level": level}} if draw.chance(0.3) else {}
        fields["contributions"].append(_said(point, into, fragment, when=on, **more))
    if draw.chance(0.3):
        fields["gates"] = [_gate(number, on, draw) for _ in range(1 + draw.upto(1))]
    return fields, files


def _steps(
    number: int,
    skills: Sequence[str],
    agents: Sequence[str],
    draw: _Draw,
    *,
    chained: bool,
) -> list[_Fields]:
    """Return steps that each take up what the one before left.

    The first one of a capability that requires another takes up what that one left.
    """
    steps: list[_Fields] = []
    refs = [*({"skill": stem} for stem in skills), *({"agent": s} for s in agents)]
    before = ["CONTEXT.md"]
    if chained:
        before.append(f"NOTES-{number - 1}.md")
    for place, ref in enumerate(refs[:3]):
        point = ("plan:pre", draw.one(_STEP_POINTS[2:4]), "verify:post")[place]
        left = f"{('NOTES', 'DRAFT', 'REPORT')[place]}-{number}.md"
        steps.append(
            {
                "point": point,
                "ref": ref,
                "produces": [left],
                "consumes": before,
                "when": f"c{number}.enabled",
                "onError": "skip",
            }
        )
        before = [left]
    return steps


def _gate(number: int, on: str, draw: _Draw) -> _Fields:
    check: _Fields = {"query": f"c{number}.passed"}
    if draw.chance(0.3):
        check = {"predicate": {"kind": "artifact-exists", "path": f"NOTES-{number}.md"}}
    return {
        "point": draw.one(_GATE_POINTS),
        "check": check,
        "when": on,
        "blocking": draw.chance(0.5),
        "onError": "halt",
    }


def _reviewer(number: int, host: Host) -> _Fields:
    name = f"cap-{number:05d}"
    return {
        **_envelope(number, "reviewer", host),
        "reviewer": {
            "slug": name,
            "flags": [f"--{name}"],
            "transport": "spawn",
            "probe": {"kind": "command-exists", "binary": name},
            "invoke": {
                "binary": name,
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
