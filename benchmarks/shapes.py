"""Sets of overlays that are as hard as possible in one respect each."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

from overlays import Overlay, overlays

__all__ = [
    "SHAPES",
    "all_gates_at_one_point",
    "all_invalid",
    "all_steps_in_one_chain",
    "one_name_for_all",
    "one_ordering_cycle",
    "one_requires_chain",
]


def one_requires_chain(count: int) -> Iterator[Overlay]:
    """Each requires the next, so that all are decided against the order of names."""
    for number in range(count):
        requires = [_name(number + 1)] if number + 1 < count else []
        yield _overlay(number, requires=requires)


def all_steps_in_one_chain(count: int) -> Iterator[Overlay]:
    """One step each, all at one point, each waiting for the artefact of the next."""
    for number in range(count):
        last = number + 1 == count
        step = {
            "point": "plan:pre",
            "ref": {"command": f"/work-{number}"},
            "produces": [f"WORK-{number}.md"],
            "consumes": ["CONTEXT.md" if last else f"WORK-{number + 1}.md"],
            "onError": "skip",
        }
        yield _overlay(number, steps=[step])


def all_gates_at_one_point(count: int) -> Iterator[Overlay]:
    """One gate each, all of them before shipping."""
    for number in range(count):
        gate = {
            "point": "ship:pre",
            "check": {"query": f"c{number}.passed"},
            "blocking": True,
            "onError": "halt",
        }
        yield _overlay(number, gates=[gate])


def one_name_for_all(count: int) -> Iterator[Overlay]:
    """All claim the same skill: the first one has it, and the others are left out."""
    for number in range(count):
        yield _overlay(number, skills=["the-only-name"])


def all_invalid(count: int) -> Iterator[Overlay]:
    """None is valid, and each has a gate that is therefore lost."""
    for one in all_gates_at_one_point(count):
        text = one.manifest.replace(b'"tier": "full"', b'"tier": "large"')
        yield Overlay(folder=one.folder, manifest=text)


def one_ordering_cycle(count: int) -> Iterator[Overlay]:
    """A clean set, but for two that are sound alone and wait for each other."""
    yield from overlays(max(count - 2, 0))
    for number in range(max(count - 2, 0), count):
        other = number + 1 if number + 1 < count else count - 2
        said = {
            "point": "plan:pre",
            "into": "planner",
            "produces": [f"RING-{number}.md"],
            "consumes": [f"RING-{other}.md"],
            "fragment": {"inline": "Wait for the other."},
        }
        yield _overlay(number, contributions=[said])


#: What a shape is called -> its generator.
SHAPES: dict[str, Callable[[int], Iterator[Overlay]]] = {
    "one-requires-chain": one_requires_chain,
    "all-steps-in-one-chain": all_steps_in_one_chain,
    "all-gates-at-one-point": all_gates_at_one_point,
    "one-name-for-all": one_name_for_all,
    "all-invalid": all_invalid,
    "one-ordering-cycle": one_ordering_cycle,
}


def _name(number: int) -> str:
    return f"cap-{number:05d}"


def _overlay(number: int, **fields: Any) -> Overlay:
    manifest = {
        "id": _name(number),
        "role": "feature",
        "version": "1.0.0",
        "title": f"Capability {number}",
        "description": "A made-up capability, as hard as possible in one respect.",
        "tier": "full",
        "requires": [],
        "engines": {"msd": ">=1.6.0 <3.0.0"},
        "runtimeCompat": {"supported": ["*"], "unsupported": []},
        "skills": [],
        "agents": [],
        "config": {},
        "steps": [],
        "contributions": [],
        "gates": [],
        **fields,
    }
    return Overlay(
        folder=_name(number), manifest=json.dumps(manifest, indent=2).encode()
    )
