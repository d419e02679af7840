"""Kill a scene at every step, or a chain of commands at random ones, and look.

It runs as a program, since it forks, which a process with threads must not do:

    python -m tests.edge.lifecycle.kill_sweep TOP points SCENE
    python -m tests.edge.lifecycle.kill_sweep TOP chains SEED NUMBER

It prints what it did and everything that was wrong, as JSON.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import random
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import attrs

from msdcomp.edge.lifecycle import composing
from msdcomp.registry import Registry
from tests.edge.lifecycle.kill_scenes import (
    SCENES,
    Ground,
    Scene,
    foreign,
    loaded,
    look,
    remove,
    without_hooks,
)
from tests.edge.lifecycle.killing import count, killed_after, unsynced

View = dict[str, Any]

#: Why a capability does not take part that is in flight, or depends on one that is.
_HELD = frozenset({"pending", "requires-unmet"})


@attrs.frozen(kw_only=True)
class Stage:
    """A scene that is laid out, and what may become of it.

    Attributes:
        scene: The scene.
        ground: Where it is.
        states: What is on the disk before each step, and after the last.
        loads: What a load finds then.
        aim: What is to be there in the end.
    """

    scene: Scene
    ground: Ground
    states: tuple[View, ...]
    loads: tuple[View, ...]
    aim: View

    def perform(self) -> None:
        """Do all that the scene does."""
        for step in self.scene.steps:
            step(self.ground)

    def begin(self) -> None:
        """Do as the command line does: reconcile first."""
        self.ground.reconciled()
        self.perform()

    def settle(self) -> None:
        """Reconcile, and do no more."""
        self.ground.reconciled()

    def insist(self) -> None:
        """Do it without reconciling first, which may be refused."""
        for step in self.scene.steps:
            with contextlib.suppress(AssertionError):
                step(self.ground)

    def away(self) -> None:
        """Remove it, whatever it is in the middle of."""
        for name in self.scene.ids:
            for scope in ("project", "global"):
                remove(name, scope)(self.ground)

    def view(self) -> View:
        return look(self.ground, self.scene.ids)


def lay_out(scene: Scene, top: Path) -> Stage:
    """Lay a scene out, and see it through once without any kill."""
    ground = Ground(os.path.realpath(top))
    scene.lay(ground)
    ground.backdate()
    ground.keep()
    states, loads = [look(ground, scene.ids)], [loaded(ground)]
    for step in scene.steps:
        step(ground)
        states.append(look(ground, scene.ids))
        loads.append(loaded(ground))
    assert all(one != other for one, other in itertools.pairwise(states))
    assert not ground.left()
    ground.restore()
    if scene.loses:
        states.insert(0, without_hooks(states[0], scene.ids))
        loads.insert(0, loads[0])
    return Stage(
        scene=scene,
        ground=ground,
        states=tuple(states),
        loads=tuple(loads),
        aim=states[-1],
    )


# What is looked at


def right_after(stage: Stage) -> Iterator[str]:
    """Tell what is wrong with what a kill has left, before anybody reconciles."""
    ids = stage.scene.ids
    view = stage.view()
    yield from _unlike("of others", foreign(view, ids), [foreign(stage.states[0], ids)])
    now = loaded(stage.ground)
    if now in stage.loads:
        return
    accepted = {**stage.loads[0]["accepted"], **stage.loads[-1]["accepted"]}
    for name in sorted({*accepted} - {*now["accepted"]}):
        codes = [
            code
            for key, found in now["warnings"].items()
            for code in found
            if key.split(" ")[1] == name
        ]
        if not _HELD.issuperset(codes) or not (codes or _may_lack(stage, name)):
            yield f"load: {name} does not take part: {codes}"
    for name, place in now["accepted"].items():
        if place not in [load["accepted"].get(name) for load in stage.loads]:
            yield f"load: {name} takes part as {place}"
    yield from _lost_gates(stage, now)


def _may_lack(stage: Stage, name: str) -> bool:
    return any(name not in load["accepted"] for load in stage.loads)


def _lost_gates(stage: Stage, now: View) -> Iterator[str]:
    """Tell which gates are silent that were there before."""
    for name in stage.scene.ids:
        held = [key for key in now["warnings"] if key.split(" ")[1] == name]
        missed = {key for keys in now["gates"].values() for key in keys}
        if held and not missed.intersection(held) and _had_gates(stage, name):
            yield f"load: nobody says that the gates of {name} are missed"


def _had_gates(stage: Stage, name: str) -> bool:
    return any(
        path.endswith(f"/{name}/capability.json") and '"blocking"' in value[1]
        for path, value in stage.states[0].items()
    )


def reconciled(stage: Stage, seen: Counter[int]) -> Iterator[str]:
    """Reconcile, and tell what is wrong with what has become of it."""
    stage.ground.reconciled()
    view = stage.view()
    yield from _unlike("after reconcile", view, stage.states)
    if view in stage.states:
        which = stage.states.index(view)
        seen[which] += 1
        yield from _unlike("load", loaded(stage.ground), [stage.loads[which]])
    left = stage.ground.left()
    if left:
        yield f"traces are left: {left}"
    stage.ground.reconciled()
    if stage.view() != view:
        yield "another reconcile changes more"


def again(stage: Stage) -> Iterator[str]:
    """Do it again, undisturbed, and tell what is wrong then."""
    stage.perform()
    yield from _unlike("when done again", stage.view(), [stage.aim])


def _unlike(what: str, view: View, allowed: Any) -> Iterator[str]:
    if view in allowed:
        return
    told = [
        {
            key: [state.get(key), view.get(key)]
            for key in sorted({*state, *view})
            if state.get(key) != view.get(key)
        }
        for state in allowed
    ]
    yield f"{what}: {json.dumps(told, indent=1)}"


# What is done


def points(stage: Stage) -> dict[str, Any]:
    """Kill at every step; then in the middle, and the reconciling at every step."""
    found = count(stage.perform)
    assert not found.missed, found.missed
    stage.ground.restore()
    faults: list[str] = []
    seen: Counter[int] = Counter()
    for last, name in enumerate(found.points, 1):
        assert killed_after(stage.perform, last)
        told = [*right_after(stage), *reconciled(stage, seen)]
        if last % 3 == 0:  # what is there by now is the same as after a few others
            told += again(stage)
        faults += [f"after {last} ({name}): {fault}" for fault in told]
        stage.ground.restore()
    doubled = 0
    for part in (1, 2):
        middle = _killed_amid(stage, len(found.points) * part // 3)
        stage.ground.keep(f"{middle}")
        last = 1
        while killed_after(stage.ground.reconciled, last):
            told = [*right_after(stage), *reconciled(stage, seen)]
            faults += [f"after {middle}, then {last}: {fault}" for fault in told]
            stage.ground.restore(f"{middle}")
            last += 1
        doubled += last - 1
        stage.ground.restore()
    return {
        "points": found.points,
        "doubled": doubled,
        "seen": [seen[which] for which in range(len(stage.states))],
        "faults": faults,
    }


def _killed_amid(stage: Stage, middle: int) -> int:
    """Kill at a step, or the next one after which there is anything to reconcile."""
    assert killed_after(stage.perform, middle)
    if stage.ground.left():
        return middle
    stage.ground.restore()
    return _killed_amid(stage, middle + 1)


def chains(stages: list[Stage], seed: str, number: int) -> dict[str, Any]:
    """Kill several commands one after the other, each wherever it happens to be."""
    dice = random.Random(seed)  # noqa: S311 - not a secret
    lengths = [_length(stage) for stage in stages]
    faults: list[str] = []
    kills = 0
    for _ in range(number):
        stage, most = dice.choice(list(zip(stages, lengths, strict=True)))
        more = dice.choice(
            [[stage.begin, stage.settle, stage.insist], [stage.settle, stage.away]]
        )
        works = [stage.perform, *dice.choices(more, k=dice.randint(1, 3))]
        told: list[str] = []
        done = []
        for work in works:
            last = dice.randint(1, most if work == stage.perform else most // 2)
            kills += killed_after(work, last)
            done.append(f"{work.__name__}@{last}")
            told += right_after(stage)
        told += reconciled(stage, Counter())
        if stage.away in works:
            stage.perform()
            stage.away()
            told += _unlike("once it is away", stage.view(), stage.states)
        else:
            told += again(stage)
        faults += [f"{stage.scene.name} {' '.join(done)}: {fault}" for fault in told]
        stage.ground.restore()
    return {"kills": kills, "faults": faults}


def _removable(stage: Stage) -> Stage:
    """Return a stage on which it may also be removed, from any of its states."""
    states, loads = [*stage.states], [*stage.loads]
    for before in ((), stage.scene.steps):
        for step in before:
            step(stage.ground)
        stage.away()
        states.append(stage.view())
        loads.append(loaded(stage.ground))
        stage.ground.restore()
    return attrs.evolve(stage, states=tuple(states), loads=tuple(loads))


def _length(stage: Stage) -> int:
    found = len(count(stage.perform).points)
    stage.ground.restore()
    return found


def main(top: str, what: str, *rest: str) -> None:
    """Do what the arguments say.

    Over no first party, since to compose one takes time; and without waiting for the
    disk: who is killed loses nothing that the system has taken over.
    """
    with (
        mock.patch.object(composing, "first_party", Registry),
        mock.patch.object(os, "fsync", unsynced),
    ):
        print(json.dumps(_result(top, what, *rest)))  # noqa: T201


def _result(top: str, what: str, *rest: str) -> dict[str, Any]:
    if what == "points":
        return points(lay_out(SCENES[rest[0]], Path(top)))
    stages = []
    for name, scene in SCENES.items():
        Path(top, name).mkdir()
        stages.append(_removable(lay_out(scene, Path(top, name))))
    return chains(stages, rest[0], int(rest[1]))


if __name__ == "__main__":
    main(*sys.argv[1:])
