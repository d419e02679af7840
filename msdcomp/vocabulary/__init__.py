"""Every closed set of the manifest format, one named constant each, with its source.

Here are the sets of the loop, the envelope and features; those of the other two bodies
are in `runtime` and `reviewer`.

Sources are the sections of docs/reference/manifest.md unless said otherwise.
"""

from __future__ import annotations

import re

from pyrsistent import PMap, pmap

#: The file of a bundle that holds its manifest. Source: docs/reference/manifest.md.
MANIFEST_NAME = "capability.json"

#: The twelve loop extension points, in loop order. Source: "Valid point values".
POINTS: tuple[str, ...] = (
    "discuss:pre",
    "discuss:post",
    "plan:pre",
    "plan:post",
    "execute:pre",
    "execute:wave:pre",
    "execute:wave:post",
    "execute:post",
    "verify:pre",
    "verify:post",
    "ship:pre",
    "ship:post",
)

#: Kinds of hook a capability declares at a point.
HOOK_KINDS: tuple[str, ...] = ("step", "contribution", "gate")

#: Phase, points, agent roles, artefacts left, artefacts read.
#: Source: docs/reference/host-contract.md.
HOST_PHASES: tuple[
    tuple[str, tuple[str, ...], tuple[str, ...], tuple[str, ...], tuple[str, ...]], ...
] = (
    ("discuss", POINTS[0:2], ("orchestrator",), ("CONTEXT.md",), ()),
    (
        "plan",
        POINTS[2:4],
        ("researcher", "planner", "checker"),
        ("PLAN.md",),
        ("CONTEXT.md",),
    ),
    ("execute", POINTS[4:8], ("executor", "verifier"), ("SUMMARY.md",), ("PLAN.md",)),
    ("verify", POINTS[8:10], ("orchestrator",), ("UAT.md",), ("SUMMARY.md",)),
    ("ship", POINTS[10:12], ("orchestrator",), (), ("UAT.md",)),
)

_ALL_KINDS = frozenset(HOOK_KINDS)

#: Point -> kinds its workflow dispatches. Source: docs/reference/host-contract.md.
POINT_KINDS: PMap[str, frozenset[str]] = pmap(
    {
        "discuss:pre": _ALL_KINDS,
        "discuss:post": _ALL_KINDS,
        "plan:pre": _ALL_KINDS,
        "plan:post": _ALL_KINDS,
        "execute:pre": frozenset(),
        "execute:wave:pre": frozenset({"step", "contribution"}),
        "execute:wave:post": _ALL_KINDS,
        "execute:post": frozenset({"step", "gate"}),
        "verify:pre": _ALL_KINDS,
        "verify:post": frozenset({"step"}),
        "ship:pre": frozenset({"gate"}),
        "ship:post": frozenset({"step"}),
    }
)

#: Id prefixes kept for the host's own releases. Source: "Conformance invariants".
RESERVED_PREFIXES: tuple[str, ...] = ("msd-", "msd-core-", "anthropic-")

#: Install profiles and tiers, smallest first. Source: "Envelope fields".
TIERS: tuple[str, ...] = ("core", "standard", "full")

#: Roles, each with its own body. Source: "Envelope fields".
ROLES: tuple[str, ...] = ("feature", "runtime", "reviewer")

#: Names a JavaScript host would lose or misread as object keys.
#: Source: "Envelope fields".
RESERVED_NAMES: frozenset[str] = frozenset({"__proto__", "constructor", "prototype"})

#: What a hook does when it fails. Source: "Feature body".
ON_ERROR: tuple[str, ...] = ("skip", "halt")

#: Types of a configuration slice. Source: "Federated config-key schema slice".
SLICE_TYPES: tuple[str, ...] = ("boolean", "string", "number", "enum")

#: What a step may dispatch to. Source: "Steps".
REF_KINDS: tuple[str, ...] = ("skill", "agent", "command")

#: Forms of a gate check. Source: "Gates".
CHECK_FORMS: tuple[str, ...] = ("query", "predicate", "agentVerdict")

#: Predicate kinds that only look something up and compare it; they run nothing.
#: Source: "Gates".
DECLARATIVE_KINDS: frozenset[str] = frozenset(
    {"artifact-exists", "artifact-frontmatter-equals", "config-equals"}
)

#: Predicate kinds with a known evaluator; others are reported, not refused.
#: Source: "Gates".
PREDICATE_KINDS: frozenset[str] = DECLARATIVE_KINDS | {"command-exit-zero"}

#: What a task-content resolver must pass on. Source: "taskContentResolver".
ID_PLACEHOLDER = "{{id}}"

#: Longest run of a task-content resolver, in milliseconds.
#: Source: "taskContentResolver".
MAX_RESOLVER_MS = 120_000

#: Fields of features that the other roles refuse. Source: "Runtime body".
FEATURE_ONLY_FIELDS: tuple[str, ...] = (
    "skills",
    "agents",
    "steps",
    "contributions",
    "gates",
    "hooks",
    "activationKey",
    "taskContentResolver",
)

#: Folders a hook script may not lie in. Source: "Hooks".
CACHE_FOLDERS: frozenset[str] = frozenset({"__pycache__", ".pytest_cache"})

# Grammars. Each is matched against the whole text, never with `$`.

#: Capability ids and tracker prefixes. Source: "Envelope fields".
ID_GRAMMAR = re.compile(r"[a-z][a-z0-9-]*")

#: Characters a version range may hold. Source: "Envelope fields".
RANGE_SHAPE_GRAMMAR = re.compile(r"[0-9A-Za-z.\-+ |<>=~^*()]+")

#: `integrity`. Source: "Envelope fields".
INTEGRITY_GRAMMAR = re.compile(r"sha512-[A-Za-z0-9+/]{86}==")

#: Characters of a hook script path. Source: "Hooks".
HOOK_SCRIPT_GRAMMAR = re.compile(r"[A-Za-z0-9._/-]+")

#: Module of a command family. Source: "Commands".
COMMAND_MODULE_GRAMMAR = re.compile(r"[A-Za-z0-9._-]+\.cjs")
