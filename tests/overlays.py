"""Sets of overlays over a small first party, made to get into each other's way.

Names come from small pools, so collisions, dependencies, circles and shadowing are
common. A `Plan` says what is wrong with an overlay before it is written down, which
lets a test write the same set twice: in another order, or with other ids.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import attrs
from hypothesis import strategies as st

from msdcomp.candidate import Candidate, Consent, FragmentFault, FragmentText, Scope
from msdcomp.contender import contenders
from msdcomp.ground import Ground
from msdcomp.host import CentralConfig, Host
from msdcomp.ordering import standings
from msdcomp.registry import Entry, Registry, build
from msdcomp.wire import decode
from tests import documents
from tests.layouts import feature

__all__ = [
    "FIRST_PARTY",
    "HOST",
    "HOST_DOCUMENTS",
    "Plan",
    "candidates",
    "circles",
    "feature",
    "gate",
    "in_order",
    "plan_lists",
    "registry_of",
    "renamed",
    "resolver",
    "reviewer",
    "runtime",
    "said",
    "step",
    "switch",
]


def step(point: str, produces: Sequence[str], consumes: Sequence[str]) -> Any:
    """Return a step that dispatches to a command."""
    return {
        "point": point,
        "ref": {"command": "run"},
        "produces": list(produces),
        "consumes": list(consumes),
        "onError": "skip",
    }


def said(
    point: str,
    produces: Sequence[str] = (),
    consumes: Sequence[str] = (),
    into: str = "planner",
    **fragment: str,
) -> Any:
    """Return a contribution, by default with inline text."""
    return {
        "point": point,
        "into": into,
        "produces": list(produces),
        "consumes": list(consumes),
        "fragment": fragment or {"inline": "Mind the tide."},
    }


def gate(point: str, query: str = "q.gate", **fields: Any) -> Any:
    """Return a gate that asks a query."""
    return {
        "point": point,
        "check": {"query": query},
        "blocking": True,
        "onError": "halt",
        **fields,
    }


def runtime(capability_id: str, **fields: Any) -> dict[str, Any]:
    """Return a small valid manifest of a runtime."""
    return documents.runtime(capability_id, tier="core", **fields)


def reviewer(capability_id: str, slug: str = "", **fields: Any) -> dict[str, Any]:
    """Return a small valid manifest of a reviewer lane, called like the capability."""
    slug = slug or capability_id
    named = {"slug": slug, "flags": [f"--{slug}"], "reviewsSection": slug.title()}
    document = documents.reviewer(capability_id, **fields)
    return {**document, "reviewer": {**document["reviewer"], **named}}


def switch(default: bool = True) -> dict[str, Any]:  # noqa: FBT002 - a JSON value
    """Return a boolean slice."""
    return {"type": "boolean", "default": default, "description": "A switch."}


def resolver(prefix: str) -> dict[str, Any]:
    """Return a task-content resolver."""
    return {
        "trackerPrefix": prefix,
        "invoke": {"binary": "look", "args": ["{{id}}"], "timeoutMs": 10},
    }


def registry_of(*documents: Mapping[str, Any]) -> Registry:
    """Return the registry of manifests that belong together."""
    manifests = [decode(document).manifest for document in documents]
    assert None not in manifests
    built = build(Entry(manifest=m) for m in manifests if m is not None)
    assert isinstance(built, Registry)
    return built


# The first party. Its hooks leave room for circles: `base` consumes CONTEXT.md at
# plan:pre and P.md in a contribution, which overlays may produce there themselves.

HOST_DOCUMENTS: tuple[dict[str, Any], ...] = (
    feature(
        "base",
        tier="core",
        skills=["base-go"],
        agents=["base-eye"],
        config={"base.on": switch()},
        commands=[{"family": "base", "module": "base.cjs", "router": "routeBase"}],
        steps=[
            step("plan:pre", ["BASE.md"], ["CONTEXT.md"]),
            {
                **step("plan:post", [], ["BASE.md"]),
                "ref": {"skill": "base-go"},
                "when": "base.on",
            },
        ],
        contributions=[said("plan:pre", ["X.md"], ["P.md"])],
        gates=[gate("ship:pre")],
        taskContentResolver=resolver("base"),
    ),
    feature(
        "cap-ga",
        tier="full",
        requires=["base"],
        skills=["middle"],
        gates=[gate("plan:pre"), gate("plan:pre", "q.other")],
        steps=[step("verify:pre", ["GA.md"], ["BASE.md"])],
    ),
    runtime("host-a"),
    reviewer("lane"),
)
FIRST_PARTY = registry_of(*HOST_DOCUMENTS)
HOST = Host(
    version="2.0.0",
    central=CentralConfig.of(["core.mode"], [r"core\.[a-z]+\.size"]),
)

# Overlays.

#: None is the beginning of another, so a letter appended to each keeps their order.
IDS = ("cap-ba", "cap-da", "cap-fa", "cap-ha", "cap-ja", "cap-la")
ODD_IDS = ("base", "cap-ga", "msd-own", "Odd_Id", "-rf x")
_POOLED = re.compile(r"cap-([bdfhjl])a\b")
GATE_POINTS = ("plan:pre", "plan:post", "verify:pre", "ship:pre")


def renamed(text: str) -> str:
    """Return text with other ids for the pooled ones, of the same length and order."""
    return _POOLED.sub(r"cap-\1z", text)


def _unchanged(text: str) -> str:
    return text


def _without(field: str) -> Callable[[dict[str, Any]], str]:
    def write(document: dict[str, Any]) -> str:
        return json.dumps({k: v for k, v in document.items() if k != field})

    return write


def _repeated(document: dict[str, Any]) -> str:
    return json.dumps(document)[:-1] + f', "gates": [{json.dumps(gate("plan:post"))}]}}'


def _odd_gate(document: dict[str, Any]) -> str:
    gates = [*document.get("gates", ()), gate("plan:later"), gate("plan:pre"), 7]
    return json.dumps({**document, "gates": gates})


#: What may be wrong with a text -> how to write it so.
WRITERS: Mapping[str, Callable[[dict[str, Any]], str]] = {
    "sound": json.dumps,
    "cut": lambda document: json.dumps(document)[:-1],
    "marked": lambda document: "\ufeff" + json.dumps(document),
    "list": lambda document: json.dumps([document]),
    "untitled": _without("title"),
    "unversioned": _without("version"),
    "repeated": _repeated,
    "odd-gate": _odd_gate,
    "misplaced": lambda document: json.dumps({**document, "id": "elsewhere"}),
    "unknown-field": lambda document: json.dumps({**document, "gatez": []}),
}
FRAGMENTS: Mapping[str, FragmentText | FragmentFault | None] = {
    "text": FragmentText("Mind the ebb."),
    "blank": FragmentText(""),
    "missing": None,
    "escapes": FragmentFault("fragment-escapes", "it leads out of the folder"),
}


@attrs.frozen(kw_only=True)
class Plan:
    """An overlay before it is written down.

    Attributes:
        folder: Name of the folder.
        scope: Root it lies under.
        state: `there`, `pending`, `linked`, `unreadable`, or a state of consent.
        document: The manifest.
        writer: What is wrong with its text.
        fragment: What the file `note.md` is, if the manifest names it.
        stored: Gate points in the ledger and in the consent record.
    """

    folder: str
    scope: Scope = Scope.GLOBAL
    state: str = "there"
    document: dict[str, Any]
    writer: str = "sound"
    fragment: str = "text"
    stored: tuple[str, ...] = ()

    def candidate(self, rename: Callable[[str], str] = _unchanged) -> Candidate:
        """Return it as the edge would hand it over."""
        folder = rename(self.folder)
        in_project = self.scope is Scope.PROJECT
        consent = Consent.NONE
        if in_project:
            states = {state.value for state in Consent}
            consent = Consent(self.state if self.state in states else "matches")
        text = rename(WRITERS[self.writer](self.document))
        gone = self.state == "unreadable"
        found = FRAGMENTS[self.fragment]
        return Candidate(
            folder=folder,
            scope=self.scope,
            decoded=None if gone else decode(text, folder),
            source=None if gone else text,
            unreadable="no such file" if gone else None,
            linked=self.state == "linked",
            pending=self.state == "pending",
            committed=self.state == "there" and self.fragment == "text",
            consent=consent,
            fragments={} if found is None else {"note.md": found},
            stored_gates=self.stored,
            consented_gates=self.stored if in_project else (),
        )


def candidates(
    plans: Iterable[Plan], rename: Callable[[str], str] = _unchanged
) -> tuple[Candidate, ...]:
    """Return a whole set as the edge would hand it over."""
    return tuple(plan.candidate(rename) for plan in plans)


def in_order(found: Iterable[Candidate]) -> tuple[Candidate, ...]:
    """Return candidates in the order in which they are decided over the first party."""
    ground = Ground.of(FIRST_PARTY, HOST)
    ordered = standings(contenders(found, ground), ground.index)
    return tuple(contender.candidate for contender, _ in ordered)


def _often(usual: Any, share: int, *others: Any) -> st.SearchStrategy[Any]:
    """Draw the usual value `share` times as often as all the others together."""
    return st.sampled_from([usual] * (share * len(others)) + list(others))


_MADE = ((), (), ("P.md",), ("Q.md",), ("R.md",), ("CONTEXT.md",))
_USED = (
    *([()] * 10),
    ("P.md",),
    ("P.md",),
    ("Q.md",),
    ("BASE.md",),
    ("CONTEXT.md",),
    ("GA.md",),
    ("p.md",),
)
_STEPS = [
    step(point, made, used)
    for point in ("plan:pre", "plan:post", "verify:pre")
    for made in _MADE
    for used in _USED
]
_SAYINGS = [
    *([said("plan:pre")] * 60),
    *(
        said("plan:pre", [made], [used])
        for made in ("P.md", "Q.md", "X.md", "Y.md")
        for used in ("P.md", "Q.md", "X.md", "Y.md")
    ),
    said("plan:post", ["P.md"], ["X.md"]),
    said("plan:post", ["X.md"], ["P.md"]),
    said("plan:pre", into="orchestrator"),
]
_GATES = [
    gate(point, query, **more)
    for point in GATE_POINTS
    for query in ("q.gate", "q.other")
    for more in (
        {},
        {"when": "own.on"},
        {"blocking": False},
    )
]
_COMPAT = [
    {"supported": ["host-a"], "unsupported": []},
    {"supported": ["*"], "unsupported": ["cap-da"]},
    {"supported": ["*"], "unsupported": [], "notes": {"host-z": "Not tried."}},
    {"supported": ["cap-ja", "host-a"], "unsupported": ["base"]},
]
_EVERYWHERE = {"supported": ["*"], "unsupported": []}


#: Stands for the folder, which is drawn beside it.
_OWN = "own"
_REQUIRED = (*IDS, "base", "cap-ga", "host-a", "nowhere")

# One strategy for each part, made once: making them anew for each overlay would cost
# several times the drawing.
_bodies = st.fixed_dictionaries(
    {
        "tier": _often("full", 2, "standard", "core"),
        "requires": _often([], 2, *([name] for name in _REQUIRED), ["base", "cap-ba"]),
        "skills": _often([_OWN], 4, [], ["shared"], ["base-go"], ["two", "two"]),
        "agents": _often([], 3, ["eye"], ["base-eye"]),
        "steps": st.lists(st.sampled_from(_STEPS), max_size=2),
        "contributions": st.lists(st.sampled_from(_SAYINGS), max_size=2),
        "gates": st.lists(st.sampled_from(_GATES), max_size=2),
        "runtimeCompat": _often(_EVERYWHERE, 4, *_COMPAT),
        "config": _often(
            *("", 3, "shared.on", "base.on", "core.mode", "core.a.size"),
            # A key within a key, above it, beside it; an object of the host's.
            *("shared", "shared.on.more", "shared.off", "base", "base.on.more", "core"),
        ),
        "commands": _often("", 3, "base", "shared", _OWN),
        "taskContentResolver": _often("", 4, "base", "shared"),
    }
)


def _feature(folder: str, body: Mapping[str, Any]) -> dict[str, Any]:
    """Return a valid feature that may still not fit in."""
    switched = any("when" in one for one in body["gates"])
    keys = [key for key in (body["config"], f"{folder}.on" if switched else "") if key]
    document = feature(
        folder,
        **{
            **body,
            "skills": [folder if stem == _OWN else stem for stem in body["skills"]],
            "config": {key: switch() for key in keys},
            "gates": [
                {**one, "when": f"{folder}.on"} if "when" in one else one
                for one in body["gates"]
            ],
        },
    )
    family = document.pop("commands")
    if family:
        name = folder if family == _OWN else family
        document["commands"] = [{"family": name, "module": "m.cjs", "router": "r"}]
    prefix = document.pop("taskContentResolver")
    if prefix:
        document["taskContentResolver"] = resolver(prefix)
    return document


def _plan(
    *,
    folder: str,
    role: str,
    body: Mapping[str, Any],
    engine: str,
    fragment: str,
    scope: Scope,
    state: str,
    writer: str,
    stored: tuple[str, ...],
) -> Plan:
    if role == "feature":
        document = _feature(folder, body)
        if fragment:
            said_there = said("plan:post", path="note.md")
            document["contributions"] = [*document["contributions"], said_there]
    elif role == "runtime":
        document = runtime(folder)
    else:
        # Of `lane`, of `shared`, or a lane of its own; never of an odd spelling.
        slug = re.sub("[^a-z-]+", "", folder.lower()).strip("-")
        document = reviewer(folder, slug if role == _OWN else role)
    if engine:
        document["engines"] = {"msd": engine}
    if scope is Scope.GLOBAL and state in set(Consent):
        state = "there"
    return Plan(
        folder=folder,
        scope=scope,
        state=state,
        document=document,
        writer=writer,
        fragment=fragment or "text",
        stored=stored,
    )


#: One overlay.
plans: st.SearchStrategy[Plan] = st.builds(
    _plan,
    folder=st.sampled_from(IDS * 7 + ODD_IDS),
    role=_often("feature", 4, "runtime", "lane", "shared", _OWN),
    body=_bodies,
    engine=_often("", 4, ">=1.0.0 <3.0.0", ">=3.0.0"),
    fragment=_often("", 4, *FRAGMENTS),
    scope=st.sampled_from(Scope),
    state=_often(
        "there", 4, "pending", "linked", "unreadable", *(c.value for c in Consent)
    ),
    writer=_often("sound", 6, *WRITERS),
    stored=st.sampled_from([(), ("plan:pre",), ("ship:pre", "plan:post"), ("x",)]),
)


def _key(plan: Plan) -> tuple[Scope, str]:
    return plan.scope, plan.folder


#: One circle of contributions or steps that only a whole set has.
_RING = ("A.md", "B.md", "C.md", "D.md")


def _circle(kind: str, folders: Sequence[str], scopes: Sequence[Scope]) -> list[Plan]:
    """Return two to four overlays, each sound, whose hooks wait for each other."""
    supplier, *ring = folders[: len(scopes) + 1]
    found = []
    if kind == "steps":
        # What is consumed is there already; it is made once more at the same point.
        steps = [step("discuss:post", _RING[: len(ring)], [])]
        found.append(Plan(folder=supplier, document=feature(supplier, steps=steps)))
    for place, (folder, scope) in enumerate(zip(ring, scopes, strict=True)):
        flow = ([_RING[place]], [_RING[place - 1 if place else len(ring) - 1]])
        hook = step("plan:pre", *flow) if kind == "steps" else said("plan:pre", *flow)
        gates = [gate("plan:pre")] if place % 2 else []
        document = feature(folder, **{kind: [hook], "gates": gates})
        found.append(Plan(folder=folder, scope=scope, document=document))
    return found


circles: st.SearchStrategy[list[Plan]] = st.builds(
    _circle,
    st.sampled_from(["contributions", "steps"]),
    st.permutations(IDS),
    st.lists(st.sampled_from(Scope), min_size=2, max_size=4),
)

_some_plans = st.lists(plans, max_size=8)
_few_plans = st.lists(plans, max_size=3)
_kinds = _often("anything", 7, "a circle")


@st.composite
def _sets(draw: st.DrawFn) -> list[Plan]:
    if draw(_kinds) == "anything":
        found = draw(_some_plans)
    else:
        found = [*draw(_few_plans), *draw(circles)]
    return list({_key(plan): plan for plan in found}.values())


#: Sets with at most one folder of a name in each scope, as a file system has them.
plan_lists: st.SearchStrategy[list[Plan]] = _sets()
