"""Is it on? Every verb gives the same answer, and it is the one that the rules give.

One world holds many overlays, each another row of the table: tier, choice about it,
host runtime, what its `activationKey` and the `when` of its hooks are set to, and
where.
The rules are written down once more here, as plainly as possible.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs
import pytest

from msdcomp.surface import PROFILES

from .conftest import GATE, Msd, feature, install

Answer = bool | None

LAYERS = ("explicit", "workstream", "project")
CHOICES = ("", "enabled", "disabled", "added", "removed")
#: What a switch is set to -> whether it is then on; the last two fit no boolean.
VALUES: tuple[tuple[Any, bool], ...] = (
    (True, True),
    (False, False),
    (None, False),
    (" Off ", False),
    ("as it was", True),
)
#: Where a switch is set, and to what; an empty layer is the default of the slice.
SWITCHES: tuple[tuple[str, Any, bool] | None, ...] = (
    None,
    *((layer, value, on) for layer in LAYERS for value, on in VALUES),
    ("", True, True),
    ("", False, False),
)
#: Rows of one world. No count of options divides another, so they mix.
ROWS = 68


@attrs.frozen
class Row:
    """One overlay."""

    id: str
    tier: str
    choice: str
    everywhere: bool
    activation: tuple[str, Any, bool] | None
    when: tuple[str, Any, bool] | None


@attrs.frozen
class World:
    """What holds for all rows."""

    profile: str
    runtime: str | None
    broken: str
    shift: int

    def rows(self) -> Iterator[Row]:
        for number in range(ROWS):
            mixed = number + self.shift * ROWS
            yield Row(
                f"row-{number}",
                PROFILES[mixed % 3],
                CHOICES[mixed // 3 % 5],
                everywhere=mixed % 4 != 3,
                activation=SWITCHES[mixed % 18],
                when=SWITCHES[(mixed * 7 + mixed // 18) % 18],
            )


WORLDS = [
    *(
        World(profile, runtime, "", shift)
        for shift, (profile, runtime) in enumerate(
            itertools.product(PROFILES, (None, "claude", "codex"))
        )
    ),
    *(
        World("standard", runtime, broken, shift)
        for shift, (runtime, broken) in enumerate(
            itertools.product((None, "codex"), (*LAYERS, "surface"))
        )
    ),
]


# The rules.


def both(one: Answer, other: Answer) -> Answer:
    if one is False or other is False:
        return False
    return None if one is None or other is None else True


def switch_on(switch: tuple[str, Any, bool] | None, world: World) -> Answer:
    if switch is None:
        return True
    for layer in LAYERS:
        if layer == world.broken:
            return None
        if layer == switch[0]:
            break
    return switch[2]


def shown(row: Row, world: World) -> Answer:
    if world.runtime == "codex" and not row.everywhere:
        return False
    if world.broken == "surface":
        return None
    if row.choice in ("disabled", "removed"):
        return False
    inside = PROFILES.index(row.tier) <= PROFILES.index(world.profile)
    return inside or row.choice in ("enabled", "added")


def active(row: Row, world: World) -> Answer:
    return both(shown(row, world), switch_on(row.activation, world))


def fires(row: Row, world: World) -> dict[str, bool]:
    found = both(active(row, world), switch_on(row.when, world))
    return {
        "step": found is True,
        "contribution": found is True,
        "gate": found is not False,
    }


def stage(row: Row, world: World) -> str | None:
    on, switched = shown(row, world), switch_on(row.activation, world)
    if on is False or (on is None and switched is not False):
        return "surfaced"
    return None if switched is True else "activated"


# The world on a disk.


def manifest(row: Row) -> dict[str, Any]:
    config: dict[str, Any] = {}
    fields: dict[str, Any] = {}
    for name, switch in (("on", row.activation), ("go", row.when)):
        if switch is not None:
            default = switch[2] if switch[0] == "" else not switch[2]
            config[f"{row.id}.{name}"] = {
                "type": "boolean",
                "default": default,
                "description": "A switch.",
            }
    when = {"when": f"{row.id}.go"} if row.when else {}
    if row.activation:
        fields["activationKey"] = f"{row.id}.on"
    hook = {"point": "plan:pre", "produces": [], "consumes": [], **when}
    only = {"supported": ["claude"], "unsupported": []}
    return feature(
        row.id,
        tier=row.tier,
        skills=[f"{row.id}-go"],
        config=config,
        steps=[{**hook, "ref": {"skill": f"{row.id}-go"}, "onError": "skip"}],
        contributions=[{**hook, "into": "planner", "fragment": {"inline": "Mind."}}],
        gates=[{**GATE, "point": "plan:pre", **when}],
        **fields,
        **({} if row.everywhere else {"runtimeCompat": only}),
    )


def configuration(rows: list[Row], layer: str) -> str:
    """Return what a layer sets; those below it say the opposite of those above."""
    found: dict[str, Any] = {}
    for row in rows:
        for name, switch in (("on", row.activation), ("go", row.when)):
            if switch is None or switch[0] == "":
                continue
            if switch[0] == layer:
                found.setdefault(row.id, {})[name] = switch[1]
            elif LAYERS.index(layer) > LAYERS.index(switch[0]):
                found.setdefault(row.id, {})[name] = not switch[2]
    return json.dumps(found)


def chosen(rows: list[Row], world: World) -> str:
    def named(choice: str, end: str = "") -> list[str]:
        return [f"{row.id}{end}" for row in rows if row.choice == choice]

    return json.dumps(
        {
            "baseProfile": world.profile,
            "disabledClusters": named("disabled"),
            "explicitAdds": named("added", "-go"),
            "explicitRemoves": named("removed", "-go"),
            "enabledCapabilities": named("enabled"),
        }
    )


@pytest.mark.parametrize("world", WORLDS, ids=str)
def test_every_verb_gives_the_answer_of_the_rules(
    msd: Msd, home: Path, project: Path, world: World
) -> None:
    rows = list(world.rows())
    for row in rows:
        install(home, manifest(row))
    explicit = project / "given.json"
    workstream = project / ".planning" / "workstreams" / "own" / "config.json"
    workstream.parent.mkdir(parents=True)
    files = {
        "explicit": explicit,
        "workstream": workstream,
        "project": project / ".planning" / "config.json",
    }
    for layer, file in files.items():
        broken = world.broken == layer
        file.write_text("{" if broken else configuration(rows, layer), "utf-8")
    folder = home / (".codex" if world.runtime == "codex" else ".claude")
    folder.mkdir()
    broken = world.broken == "surface"
    text = "{" if broken else chosen(rows, world)
    (folder / ".msd-surface.json").write_text(text, "utf-8")
    places = ["--home", home, "--project", project, "--json"]
    here = [*places, *(["--runtime", world.runtime] if world.runtime else [])]
    here_too = [*here, "--config", explicit, "--workstream", "own"]

    listed = {row["id"]: row for row in msd("capability", "list", *here_too).json}
    told = {row["id"]: row for row in msd("capability", "state", *here_too).json}
    surfaced = {
        row["id"]: row["on"]
        for row in msd("surface", "list", *here).json["capabilities"]
    }
    rendered = {
        (hook["capId"], hook["kind"])
        for hook in msd("loop", "render-hooks", "plan:pre", *here_too).json[
            "activeHooks"
        ]
    }

    for row in rows:
        expected = active(row, world)
        state = told[row.id]
        assert surfaced[row.id] is shown(row, world), row
        assert state["surfaced"] is shown(row, world), row
        assert state["active"] is expected, row
        assert state["stopped"] == stage(row, world), row
        assert listed[row.id]["stage"] == (stage(row, world) or ""), row
        wanted = "active" if expected else "inactive"
        assert listed[row.id]["status"] == wanted, row
        hooks = {hook["kind"]: hook["active"] for hook in state["hooks"]}
        assert hooks == fires(row, world), row
        for kind, fired in fires(row, world).items():
            assert ((row.id, kind) in rendered) is fired, row

    for row in rows[world.shift % 13 :: 13]:
        explained = msd("explain", row.id, *here_too)
        assert explained.json["state"] == told[row.id]
        assert explained.json["verdict"] == listed[row.id]["status"]
        assert explained.code == (0 if active(row, world) else 1)
        one = msd("capability", "state", row.id, *here_too)
        assert one.json == [told[row.id]]
        assert one.code == explained.code
        asked = msd(
            "loop", "render-hooks", "plan:pre", "--active-cap", row.id, *here_too
        )
        assert asked.out == f"{str(any(fires(row, world).values())).lower()}\n"


def test_the_table_has_every_pair_of_options() -> None:
    rows = [(world, row) for world in WORLDS for row in world.rows()]

    assert len({(r.tier, r.choice, w.profile) for w, r in rows}) == 3 * 5 * 3
    assert len({(r.activation, w.broken) for w, r in rows}) == 18 * 5
    assert len({(r.activation, r.when) for _, r in rows}) == 18 * 18
    assert len({(r.choice, r.everywhere, w.runtime) for w, r in rows}) == 5 * 2 * 3
