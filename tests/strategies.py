"""Hypothesis strategies: manifests of every role, broken ones, and arbitrary JSON."""

from __future__ import annotations

import copy
import string
from collections.abc import Iterator
from typing import Any

from hypothesis import strategies as st

from msdcomp.vocabulary import (
    ON_ERROR,
    POINTS,
    PREDICATE_KINDS,
    RESERVED_NAMES,
    TIERS,
)
from msdcomp.vocabulary import reviewer as lane_sets
from msdcomp.vocabulary import runtime as runtime_sets

# Values.

#: Text without lone surrogates, which no JSON text can hold.
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
filled = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12)
ids = st.from_regex(r"\A[a-z][a-z0-9-]{0,11}\Z").filter(
    lambda text: text not in RESERVED_NAMES
)
stems = st.text(string.ascii_lowercase + "-", min_size=1, max_size=8).filter(
    lambda stem: not stem.startswith("msd-")
)
keys = st.from_regex(r"\A[a-z]{1,6}\.[a-z_]{1,8}\Z")
artefacts = st.lists(st.sampled_from(["A.md", "B.md", "CONTEXT.md"]), max_size=2)
versions = st.sampled_from(["0.0.0", "1.2.3", "10.20.30-rc.1+build", "1.0.0-0a"])
ranges = st.sampled_from(["*", ">=1.6.0", "^1.2", "1.x || 3", " ~1.2.3 ", "1 - 2"])
milliseconds = st.integers(1, 120_000)

#: Numbers as a JSON text can have them.
numbers = st.one_of(
    st.integers(-(2**53), 2**53),
    st.floats(allow_nan=False, allow_infinity=False),
)
scalars = st.one_of(st.none(), st.booleans(), numbers, texts)

#: Words that mean something at some place, so that arbitrary JSON gets past the door.
words = st.sampled_from(
    [
        *("id", "role", "feature", "runtime", "reviewer", "gates", "steps", "config"),
        *("contributions", "point", "plan:pre", "check", "when", "skills", "invoke"),
        *("fragment", "path", "kind", "probe", "transport", "spawn", "__proto__"),
        *("requires", "type", "enum", "values", "default", "hooks", "ref", "skill"),
    ]
)
json_values = st.recursive(
    scalars | words,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(words | texts, inner, max_size=5),
    ),
    max_leaves=20,
)


@st.composite
def _some(draw: st.DrawFn, optional: dict[str, st.SearchStrategy[Any]]) -> Any:
    """Return an object with any subset of these fields."""
    if not optional:
        return {}
    chosen = draw(st.sets(st.sampled_from(sorted(optional))))
    return {name: draw(optional[name]) for name in sorted(chosen)}


# The envelope.


@st.composite
def slices(draw: st.DrawFn) -> dict[str, Any]:
    """Return one configuration slice."""
    type_ = draw(st.sampled_from(["boolean", "string", "number", "enum"]))
    slice_: dict[str, Any] = {"type": type_, "description": draw(filled)}
    if type_ == "enum":
        slice_["values"] = draw(st.lists(texts, min_size=1, max_size=4, unique=True))
        slice_["default"] = draw(st.sampled_from(slice_["values"]))
    else:
        defaults = {"boolean": st.booleans(), "string": texts, "number": numbers}
        slice_["default"] = draw(defaults[type_])
    return slice_


configs = st.dictionaries(keys, slices(), max_size=4)


@st.composite
def _envelope(draw: st.DrawFn, role: str) -> dict[str, Any]:
    digest = "A" * 86 + "=="
    return {
        "id": draw(ids),
        "role": role,
        "version": draw(versions),
        "title": draw(filled),
        "description": draw(filled),
        "tier": draw(st.sampled_from(TIERS)),
        "requires": draw(st.lists(ids, max_size=2)),
        **draw(
            _some(
                {
                    "engines": st.fixed_dictionaries({"msd": ranges}),
                    "compatVersions": st.dictionaries(versions, ranges, max_size=2),
                    "integrity": st.just(f"sha512-{digest}"),
                    "provenance": st.fixed_dictionaries(
                        {"sourceRepo": filled, "commit": filled}
                    ),
                    "author": st.fixed_dictionaries({"name": texts}),
                    "homepage": texts,
                    "keywords": st.lists(texts, max_size=2),
                }
            )
        ),
    }


# Features.

fragments = st.one_of(
    st.fixed_dictionaries({"inline": filled}),
    st.fixed_dictionaries({"path": st.sampled_from(["a.md", "loop/b.md"])}),
)


def _when(config: dict[str, Any]) -> dict[str, st.SearchStrategy[Any]]:
    return {"when": st.sampled_from(sorted(config))} if config else {}


@st.composite
def _step(draw: st.DrawFn, body: dict[str, Any]) -> dict[str, Any]:
    refs = [{"command": "c"}]
    refs += [{"skill": stem} for stem in body["skills"]]
    refs += [{"agent": stem} for stem in body["agents"]]
    return {
        "point": draw(st.sampled_from(POINTS)),
        "ref": draw(st.sampled_from(refs)),
        "produces": draw(artefacts),
        "consumes": draw(artefacts),
        "onError": draw(st.sampled_from(ON_ERROR)),
        **draw(
            _some(
                {
                    "fragment": fragments,
                    "supportsReviewerLanes": st.booleans(),
                    **_when(body["config"]),
                }
            )
        ),
    }


@st.composite
def _contribution(draw: st.DrawFn, body: dict[str, Any]) -> dict[str, Any]:
    return {
        "point": draw(st.sampled_from(POINTS)),
        "into": draw(st.sampled_from(["planner", "executor", "orchestrator"])),
        "produces": draw(artefacts),
        "consumes": draw(artefacts),
        "fragment": draw(fragments),
        **draw(
            _some(
                {
                    "onError": st.sampled_from(ON_ERROR),
                    "configValues": st.dictionaries(texts, texts, max_size=2),
                    **_when(body["config"]),
                }
            )
        ),
    }


_file_names = st.sampled_from(["PLAN.md", "SECURITY.md", "-n", "a b'c.md"])

#: Predicates of every known kind that can be evaluated.
predicates = st.sampled_from(sorted(PREDICATE_KINDS)).flatmap(
    lambda kind: st.fixed_dictionaries(
        {"kind": st.just(kind), **_PREDICATE_FIELDS[kind]},
        optional={"note": scalars},
    )
)

_PREDICATE_FIELDS: dict[str, dict[str, st.SearchStrategy[Any]]] = {
    "artifact-exists": {"artifact": _file_names},
    "config-equals": {"key": filled, "equals": scalars},
    "artifact-frontmatter-equals": {
        "artifact": _file_names,
        "field": filled,
        "equals": scalars,
    },
    "command-exit-zero": {
        "command": st.sampled_from(["true", 'test -e "${PHASE_DIR}/PLAN.md"', "-x"]),
        "timeout": st.integers(1, 600) | st.floats(0.1, 600),
    },
}


@st.composite
def _gate(draw: st.DrawFn, body: dict[str, Any]) -> dict[str, Any]:
    form = draw(st.sampled_from(["query", "predicate", "agentVerdict"]))
    checks = {
        "query": filled,
        "predicate": predicates,
        "agentVerdict": st.fixed_dictionaries({"prompt": texts}),
    }
    return {
        "point": draw(st.sampled_from(POINTS)),
        "check": {form: draw(checks[form])},
        "blocking": draw(st.booleans()) and form != "agentVerdict",
        "onError": draw(st.sampled_from(ON_ERROR)),
        **draw(_some(_when(body["config"]))),
    }


@st.composite
def features(draw: st.DrawFn) -> dict[str, Any]:
    """Return a valid feature."""
    body: dict[str, Any] = {
        "runtimeCompat": {
            "supported": draw(st.just(["*"]) | st.lists(ids, min_size=1, max_size=2)),
            "unsupported": draw(st.lists(ids, max_size=2)),
        },
        "skills": draw(st.lists(stems, max_size=3)),
        "agents": draw(st.lists(stems, max_size=3)),
        "config": draw(configs),
    }
    body["steps"] = draw(st.lists(_step(body), max_size=2))
    body["contributions"] = draw(st.lists(_contribution(body), max_size=2))
    body["gates"] = draw(st.lists(_gate(body), max_size=2))
    optional: dict[str, st.SearchStrategy[Any]] = {
        "hooks": st.lists(
            st.fixed_dictionaries({"event": filled, "script": st.just("bin/x.sh")}),
            max_size=2,
        ),
        "commands": st.lists(
            st.fixed_dictionaries(
                {"family": ids, "module": st.just("m.cjs"), "router": filled}
            ),
            max_size=2,
        ),
        "taskContentResolver": st.fixed_dictionaries(
            {
                "trackerPrefix": ids,
                "invoke": st.fixed_dictionaries(
                    {
                        "binary": filled,
                        "args": st.just(["--id={{id}}"]),
                        "timeoutMs": milliseconds,
                    }
                ),
            }
        ),
    }
    if body["config"]:
        optional["activationKey"] = st.sampled_from(sorted(body["config"]))
    return {**draw(_envelope("feature")), **body, **draw(_some(optional))}


# Lanes and runtimes.

_LANE_KEYS = st.none() | filled


@st.composite
def lanes(draw: st.DrawFn) -> dict[str, Any]:
    """Return a valid reviewer body."""
    spawn = draw(st.booleans())
    invoke: dict[str, Any] = {
        "binary": draw(filled),
        "args": draw(st.lists(texts, max_size=2)),
        "promptChannel": draw(st.sampled_from(lane_sets.PROMPT_CHANNELS)),
        "outputChannel": "stdout",
        "modelArg": draw(_LANE_KEYS),
        "effortChannel": draw(st.sampled_from(lane_sets.EFFORT_CHANNELS)),
    }
    if draw(st.booleans()):
        invoke |= {"outputChannel": "file-arg", "outputArg": "-o", "env": {"A": "b"}}
    http = {
        "hostConfigKey": draw(filled),
        "path": draw(filled),
        "modelDiscovery": draw(st.sampled_from(lane_sets.MODEL_DISCOVERIES)),
        "effortChannel": "none",
    }
    probes = [
        {"kind": "command-exists", "binary": "b"},
        {"kind": "command-capability", "binary": "b", "needle": "n", "timeoutMs": 5},
        {
            "kind": "http-reachable",
            "hostConfigKey": "h",
            "path": "/p",
            "timeoutMs": 5,
        },
    ]
    return {
        "slug": draw(ids),
        "flags": [f"--{draw(ids)}"],
        "transport": "spawn" if spawn else "openai-http",
        "probe": draw(st.sampled_from(probes)),
        "invoke": invoke if spawn else http,
        "timeoutFloorMs": draw(milliseconds),
        "emptyOutput": draw(st.sampled_from(lane_sets.EMPTY_OUTPUTS)),
        "reviewsSection": draw(filled),
        "evidenceClass": draw(st.sampled_from(lane_sets.EVIDENCE_CLASSES)),
        "requiresBinaries": draw(st.lists(filled, max_size=2)),
        "promptBudgetKey": draw(_LANE_KEYS),
        "handler": draw(st.none() | st.sampled_from(lane_sets.HANDLERS)),
        **draw(_some({"modelConfigKey": _LANE_KEYS, "timeoutConfigKey": _LANE_KEYS})),
    }


def _axis(values: tuple[str, ...]) -> st.SearchStrategy[str]:
    return st.sampled_from((*values, runtime_sets.UNDOCUMENTED))


@st.composite
def runtimes(draw: st.DrawFn) -> dict[str, Any]:
    """Return a valid runtime, sometimes with a lane."""
    surface = draw(st.sampled_from(runtime_sets.INSTALL_SURFACES))
    hooks = draw(st.sampled_from(runtime_sets.HOOKS_SURFACES_FOR[surface]))
    switch = st.booleans() | st.just("undocumented")
    artifact = {"kind": "skills", "destSubpath": "s", "nesting": "flat", "prefix": ""}
    body = {
        "configHome": {"kind": "dot-home", "name": draw(filled), "env": []},
        "localConfigDir": ".x",
        "configFormat": runtime_sets.CONFIG_FORMAT_FOR[surface],
        "artifactLayout": {"global": [artifact | {"converter": None}], "local": []},
        "commandStyle": draw(st.sampled_from(runtime_sets.COMMAND_STYLES)),
        "hooksSurface": hooks,
        "sandboxTier": draw(st.sampled_from(runtime_sets.SANDBOX_TIERS)),
        "supportTier": draw(st.sampled_from(runtime_sets.SUPPORT_TIERS)),
        "installSurface": surface,
        "writesSharedSettings": draw(st.booleans()),
        "permissionWriter": draw(
            st.none() | st.sampled_from(runtime_sets.PERMISSION_WRITERS)
        ),
        "extendedHookEvents": [],
        "hostIntegration": {
            "embeddingMode": draw(_axis(runtime_sets.EMBEDDING_MODES)),
            "commandSurface": draw(_axis(runtime_sets.COMMAND_SURFACES)),
            "dispatch": {
                "namedDispatch": draw(switch),
                "nested": draw(switch),
                "background": draw(switch),
                "backgroundDispatch": draw(switch),
                "subagentToolkit": draw(_axis(runtime_sets.SUBAGENT_TOOLKITS)),
                "maxDepth": draw(st.integers(-1, 9) | st.just("undocumented")),
            },
            "modelMode": draw(_axis(runtime_sets.MODEL_MODES)),
            "hookBus": draw(_axis(runtime_sets.HOOK_BUSES)),
            "stateIO": draw(_axis(runtime_sets.STATE_STORES)),
            "transport": draw(_axis(runtime_sets.HOST_TRANSPORTS)),
            "runtime": draw(_axis(runtime_sets.HOST_RUNTIMES)),
        },
        **draw(
            _some(
                {
                    "hookEvents": st.sampled_from(runtime_sets.HOOK_EVENT_DIALECTS),
                    "triggerPrecedence": st.just(["commands"]),
                    "hostBehaviors": st.fixed_dictionaries(
                        {"reapplyCommand": json_values}
                    ),
                }
            )
        ),
    }
    return {
        **draw(_envelope("runtime")),
        "runtime": body,
        **draw(_some({"reviewer": lanes(), "config": configs})),
    }


@st.composite
def reviewers(draw: st.DrawFn) -> dict[str, Any]:
    """Return a valid reviewer."""
    return {
        **draw(_envelope("reviewer")),
        "reviewer": draw(lanes()),
        **draw(_some({"config": configs})),
    }


manifests = st.one_of(features(), runtimes(), reviewers())


# Broken manifests.


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Return the path of every value inside a document."""
    entries = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    for key, entry in entries:
        yield (*path, key)
        yield from places(entry, (*path, key))


@st.composite
def broken(
    draw: st.DrawFn, documents: st.SearchStrategy[dict[str, Any]] = manifests
) -> Any:
    """Return a valid manifest changed in one place; most of them are then invalid."""
    document = copy.deepcopy(draw(documents))
    *parents, last = draw(st.sampled_from(list(places(document))))
    place = document
    for key in parents:
        place = place[key]
    if draw(st.booleans()):
        del place[last]
    else:
        place[last] = draw(json_values)
    return document
