"""What is installed, upgraded and removed while it is killed, and among what of others.

A scene is laid out once, and put back in the same place before each kill: agreements
and hook commands name physical paths.
"""

from __future__ import annotations

import functools
import json
import os
import shutil
import stat
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import attrs

from msdcomp.edge.consent import revoke_consent
from msdcomp.edge.lifecycle.applying import Done, apply
from msdcomp.edge.lifecycle.parcel import Parcel
from msdcomp.edge.lifecycle.planning import (
    Prepared,
    dependents,
    plan_install,
    plan_removal,
)
from msdcomp.edge.lifecycle.procuring import procure
from msdcomp.edge.lifecycle.reconciling import Settled, reconcile, traces
from msdcomp.edge.lifecycle.site import Site, find_site, sites
from msdcomp.edge.load import load_registry
from msdcomp.edge.roots import find_places
from msdcomp.registry import Registry
from msdcomp.sourcespec import SourceSpec, parse_source
from tests.layouts import feature, write

__all__ = ["SCENES", "Ground", "Scene", "foreign", "loaded", "look", "without_hooks"]

CLAUDE = ".claude/settings.json"
LOCAL = ".claude/settings.local.json"
LEDGER = ".msd-capabilities.json"
CONSENT = "home/.msd/consent.json"
MARKER = "_msdCapability"

#: Names that settings files have.
_SETTINGS = (CLAUDE, LOCAL, "/dot/files.json")

#: When everything was installed and agreed to that was there before.
BEFORE = "2001-02-03T04:05:06Z"

#: Folders that hold nothing by themselves, so it does not matter who made them.
_FRAMES = frozenset(
    f"{top}/{folder}"
    for top in ("home", "project")
    for folder in (".claude", ".msd", ".msd/capabilities")
)


@attrs.frozen
class Ground:
    """A home and a project that are put back again and again.

    Attributes:
        top: The folder that all of it is in, by its physical path.
    """

    top: str

    @property
    def live(self) -> str:
        return f"{self.top}/live"

    @property
    def home(self) -> str:
        return f"{self.live}/home"

    @property
    def project(self) -> str:
        return f"{self.live}/project"

    def site(self, scope: str) -> Site:
        found = find_site(find_places(None, self.home, self.project), scope)
        assert isinstance(found, Site), found
        return found

    def sites(self) -> tuple[Site, ...]:
        return sites(find_places(None, self.home, self.project))

    def parcel(self, name: str, files: dict[str, str], **fields: Any) -> Parcel:
        """Return a capability, as it is after it was fetched."""
        folder = Path(self.top, "sources", f"{name}-{fields.get('version', '1.0.0')}")
        if not folder.exists():
            write(folder / "capability.json", json.dumps(feature(name, **fields)))
            for path, content in files.items():
                write(folder / path, content)
        return _fetched(str(folder), self.site("global").host_version)

    def keep(self, name: str = "kept") -> None:
        """Remember what is there, as what it is to be put back to."""
        shutil.copytree(self.live, f"{self.top}/{name}", symlinks=True)

    def restore(self, name: str = "kept") -> None:
        """Put everything back as it was when it was kept under a name."""
        shutil.rmtree(self.live)
        shutil.copytree(f"{self.top}/{name}", self.live, symlinks=True)

    def reconciled(self) -> None:
        """Reconcile every scope; nothing may be left that could not be."""
        for site in self.sites():
            found = reconcile(site)
            assert isinstance(found, Settled), found
            assert not found.left, found

    def left(self) -> list[object]:
        return [trace for site in self.sites() for trace in _traces(site)]

    def backdate(self) -> None:
        """Let everything be installed and agreed to long ago."""
        for path in (f"home/{LEDGER}", f"project/{LEDGER}", CONSENT):
            file = Path(self.live, path)
            if file.exists():
                document = json.loads(file.read_text())
                for one in document.get("entries", document.get("records")).values():
                    for when in ("installedAt", "consentedAt"):
                        if isinstance(one, dict) and when in one:
                            one[when] = BEFORE
                write(file, json.dumps(document, indent=2))


@functools.cache
def _fetched(folder: str, host_version: str) -> Parcel:
    """Fetch what is in a folder; once only, since nothing of that is under test."""
    spec = parse_source(folder, "/")
    assert isinstance(spec, SourceSpec), spec
    found = procure(spec, host_version)
    assert isinstance(found, Parcel), found
    return found


def _traces(site: Site) -> Iterable[object]:
    found = traces(site)
    return found if isinstance(found, tuple) else (found,)


def done(prepared: Prepared) -> Done:
    """Carry a plan out, which must not fail."""
    found = apply(prepared)
    assert isinstance(found, Done), found
    return found


# What is there, as a value


def look(ground: Ground, ids: Iterable[str]) -> dict[str, Any]:
    """Return all that is on the disk, by path.

    Left out are the lock files, the time of a ledger, and the difference between a
    store or a settings file that is empty and none; of what was installed or agreed to
    during the test, when.

    Args:
        ground: Where.
        ids: Capabilities whose times do not count.
    """
    return dict(_seen(ground.live, frozenset(ids)))


def _seen(top: str, ids: frozenset[str]) -> Iterator[tuple[str, Any]]:
    for folder, folders, files in os.walk(top):
        for name in (*folders, *files):
            path = os.path.relpath(f"{folder}/{name}", top)
            found = os.lstat(f"{folder}/{name}")
            mode = oct(found.st_mode)
            if stat.S_ISLNK(found.st_mode):
                yield path, [mode, str(Path(folder, name).readlink())]
            elif stat.S_ISDIR(found.st_mode):
                if path not in _FRAMES:
                    yield path, [mode]
            elif name not in {".lock", ".consent.lock"} or found.st_size:
                text = Path(folder, name).read_bytes().decode("latin-1")
                value = _read(path, text, ids)
                if value != {}:
                    yield path, [mode, value]


def _read(path: str, text: str, ids: frozenset[str]) -> Any:
    if path not in _STORES and not path.endswith(_SETTINGS):
        return text
    try:
        document = json.loads(text)
    except ValueError:
        return {"torn": text}
    if path in _STORES:
        named = _STORES[path]
        document.pop("updatedAt", None)
        document[named] = {
            name: _timeless(one, ids) for name, one in document[named].items()
        }
        if not document[named] and document.keys() == {"version", named}:
            return {}
    return document


_STORES = {
    f"home/{LEDGER}": "entries",
    f"project/{LEDGER}": "entries",
    CONSENT: "records",
}


def _timeless(one: Any, ids: frozenset[str]) -> Any:
    if not isinstance(one, dict) or one.get("id") not in ids:
        return one
    times = {when: one[when] for when in ("installedAt", "consentedAt") if when in one}
    return one | {when: t if t == BEFORE else "later" for when, t in times.items()}


def foreign(view: dict[str, Any], ids: Iterable[str]) -> dict[str, Any]:
    """Return the part of a view that is none of these capabilities', and not ours."""
    return dict(_foreign(view, frozenset(ids)))


def _foreign(view: dict[str, Any], ids: frozenset[str]) -> Iterator[tuple[str, Any]]:
    own = tuple(
        f"{top}/.msd/capabilities/{name}"
        for top in ("home", "project")
        for name in (*ids, ".staging")
    )
    for path, value in view.items():
        if path in own or path.startswith(tuple(f"{one}/" for one in own)):
            continue
        if ".tmp." in path:
            continue
        if isinstance(value[-1], dict) and "torn" in value[-1]:
            yield path, value
        elif path in _STORES:
            mode, document = value
            named = _STORES[path]
            kept = {
                name: one
                for name, one in document[named].items()
                if not (isinstance(one, dict) and one.get("id") in ids)
            }
            more = {k: v for k, v in document.items() if k != "version"}
            if kept or len(more) > 1:
                yield path, [mode, more | {named: kept}]
        elif path.endswith(_SETTINGS) and isinstance(value[-1], dict):
            mode, document = value
            kept = _others(document, ids)
            if kept:
                yield path, [mode, kept]
        else:
            yield path, value


def _others(settings: dict[str, Any], ids: frozenset[str]) -> dict[str, Any]:
    hooks = {
        event: [one for one in entries if one.get(MARKER) not in ids]
        for event, entries in settings.get("hooks", {}).items()
    }
    more = {name: value for name, value in settings.items() if name != "hooks"}
    filled = {event: entries for event, entries in hooks.items() if entries}
    return more | ({"hooks": filled} if filled else {})


def without_hooks(view: dict[str, Any], ids: Iterable[str]) -> dict[str, Any]:
    """Return a view without the hooks of some capabilities."""
    gone = frozenset(ids)
    return {
        path: [value[0], _others(value[1], gone)]
        if path.endswith(_SETTINGS) and isinstance(value[-1], dict)
        else value
        for path, value in view.items()
    }


def loaded(ground: Ground) -> dict[str, Any]:
    """Return what a load finds: who takes part, who not, and whose gates are missed."""
    found = load_registry(
        home=ground.home, project=ground.project, base=Registry(), cache=False
    )
    return {
        "accepted": {
            name: [place.scope, place.path, found.registry.capabilities[name].version]
            for name, place in found.paths.items()
        },
        "warnings": {
            f"{scope} {name}": [warning.code for warning in warnings]
            for (scope, name), warnings in found.warnings.items()
        },
        "gates": {
            point: sorted(f"{gate.scope} {gate.capability_id}" for gate in gates)
            for point, gates in found.blocked_gates.items()
        },
        "roots": sorted(found.command_roots),
    }


# Scenes


@attrs.frozen(kw_only=True)
class Scene:
    """Something that is done, and to what.

    Attributes:
        name: What to call it.
        ids: The capabilities that it is done to.
        lay: Makes what is there before.
        steps: What is done; each by itself is done whole or not at all.
        loses: Whether hooks that led nowhere before may be gone when it is undone.
    """

    name: str
    ids: tuple[str, ...] = ("tide",)
    lay: Callable[[Ground], None]
    steps: tuple[Callable[[Ground], object], ...]
    loses: bool = False


def _gate(point: str) -> dict[str, Any]:
    check = {"query": "q.gate"}
    return {"point": point, "check": check, "blocking": True, "onError": "halt"}


def _plain(ground: Ground) -> Parcel:
    return ground.parcel("tide", {"notes/a.md": "one"}, gates=[_gate("ship:pre")])


def _first(ground: Ground) -> Parcel:
    return ground.parcel(
        "tide",
        {"scripts/run.sh": "#!/bin/sh\n", "notes/a.md": "one", "notes/gone.md": ""},
        gates=[_gate("ship:pre")],
        hooks=[
            {"event": "PostToolUse", "script": "scripts/run.sh"},
            {"event": "Stop", "script": "scripts/run.sh"},
        ],
    )


def _second(ground: Ground) -> Parcel:
    return ground.parcel(
        "tide",
        {"scripts/go.sh": "#!/bin/sh\n", "notes/a.md": "two", "more/b.md": "new"},
        version="2.0.0",
        gates=[_gate("plan:pre")],
        hooks=[
            {"event": "PostToolUse", "script": "scripts/go.sh", "matcher": "Write"},
            {"event": "Notification", "script": "scripts/go.sh"},
        ],
    )


def _install(
    parcel: Callable[[Ground], Parcel], scope: str, *settings: str
) -> Callable[[Ground], object]:
    return lambda ground: done(
        plan_install(ground.site(scope), parcel(ground), settings or None)
    )


def remove(name: str, scope: str) -> Callable[[Ground], object]:
    """Return a removal, which has nothing to do where nothing is left."""

    def removed(ground: Ground) -> object:
        prepared = plan_removal(ground.site(scope), name)
        if [block.code for block in prepared.plan.blocks] == ["not-installed"]:
            return None
        return done(prepared)

    return removed


def _empty(ground: Ground) -> None:
    Path(ground.home).mkdir(parents=True)
    Path(ground.project, ".git").mkdir(parents=True)


def _settled(ground: Ground) -> None:
    """Make a home and a project in which others have much already."""
    _empty(ground)
    for top in (ground.home, ground.project):
        mine = {"type": "command", "command": "mine"}
        settings = {
            "model": "own",
            "hooks": {"PostToolUse": [{"matcher": "Edit", "hooks": [mine]}]},
            "more": [1, {"a": None}],
        }
        write(Path(top, CLAUDE), json.dumps(settings, indent=4) + "\n")
        Path(top, CLAUDE).chmod(0o600)
        write(Path(top, "README.md"), "the user's own")
        write(Path(top, ".msd/capabilities/notes.txt"), "the user's own")
        by_hand = Path(top, ".msd/capabilities/by-hand/capability.json")
        write(by_hand, json.dumps(feature("by-hand")))
    neighbour = ground.parcel(
        "neighbour",
        {"hook.sh": "#!/bin/sh\n"},
        hooks=[{"event": "Stop", "script": "hook.sh"}],
        gates=[_gate("ship:pre")],
    )
    done(plan_install(ground.site("project"), neighbour, [CLAUDE]))
    other = ground.parcel("other", {"a.txt": "a"})
    done(plan_install(ground.site("global"), other, []))
    for top in (ground.home, ground.project):
        _changed(Path(top, LEDGER), "entries", {"odd": 7, "theirs": {"x": 1}})
    elsewhere = {"projectRoot": "/elsewhere", "id": "tide", "scope": "project"}
    _changed(Path(ground.live, CONSENT), "records", {"odd": 7, "far": elsewhere})


def _changed(file: Path, named: str, more: dict[str, Any]) -> None:
    """Add to a store what only others understand."""
    document = json.loads(file.read_text())
    document["theirs"] = [named]
    document[named] |= more
    file.write_text(json.dumps(document, indent=2))


def _with_first(scope: str, *settings: str) -> Callable[[Ground], None]:
    def lay(ground: Ground) -> None:
        _settled(ground)
        _install(_first, scope, *settings)(ground)
        ledger = Path(ground.site(scope).root.ledger_root, LEDGER)
        document = json.loads(ledger.read_text())
        document["entries"]["tide"]["theirs"] = "kept"
        ledger.write_text(json.dumps(document))

    return lay


def _edited(ground: Ground) -> None:
    """Install, and let the user add to the folder and forget the agreement."""
    _with_first("global", CLAUDE)(ground)
    ledger = Path(ground.home, LEDGER)
    document = json.loads(ledger.read_text())
    del document["entries"]["tide"]["gatePoints"]  # as older programs write it
    ledger.write_text(json.dumps(document))
    folder = Path(ground.home, ".msd/capabilities/tide")
    write(folder / "mine/own.md", "the user's own")
    write(folder / "__pycache__/x.pyc", "cached")
    (folder / "notes/a.md").chmod(0o600)
    (folder / "notes").chmod(0o555)
    site = ground.site("global")
    revoked = revoke_consent(site.home, site.home, "tide", scope=site.scope)
    assert revoked is True


def _unhooked(ground: Ground) -> None:
    """Install, and let the user take one of its hooks out of the settings."""
    _with_first("global", CLAUDE)(ground)
    settings = Path(ground.home, CLAUDE)
    document = json.loads(settings.read_text())
    del document["hooks"]["Stop"]
    settings.write_text(json.dumps(document))


def _elsewhere(ground: Ground) -> None:
    """Install, with settings that the user keeps in a folder of their own."""
    _settled(ground)
    settings = Path(ground.home, CLAUDE)
    aim = Path(ground.home, "dot/files.json")
    aim.parent.mkdir()
    settings.rename(aim)
    settings.symlink_to("../dot/files.json")
    _install(_first, "global", CLAUDE)(ground)


def _copied(ground: Ground) -> None:
    """Copy a capability in place by hand, with what cannot be hashed in it."""
    _settled(ground)
    folder = Path(ground.home, ".msd/capabilities/tide")
    write(folder / "capability.json", json.dumps(feature("tide")))
    write(folder / "deep/er/x", "x")
    (folder / "deep/link").symlink_to(ground.project)


def _linked(ground: Ground) -> None:
    _settled(ground)
    aim = Path(ground.live, "aim")
    write(aim / "capability.json", json.dumps(feature("tide")))
    Path(ground.home, ".msd/capabilities/tide").symlink_to(aim)


def _odd(ground: Ground) -> None:
    _settled(ground)
    write(Path(ground.project, ".msd/capabilities/Odd_Name/capability.json"), "{}")


def _gone(ground: Ground) -> None:
    """Install, and let the user delete the folder."""
    _with_first("project", CLAUDE)(ground)
    shutil.rmtree(f"{ground.project}/.msd/capabilities/tide")


def _unclear(ground: Ground) -> None:
    """Have an entry that makes no sense, and no folder of it."""
    _settled(ground)
    unclear = {"id": "tide", "source": 7, "theirs": [None]}
    _changed(Path(ground.project, LEDGER), "entries", {"tide": unclear})


def _unclear_there(ground: Ground) -> None:
    """Have an entry that makes no sense, and a folder of it."""
    _settled(ground)
    folder = Path(ground.home, ".msd/capabilities/tide")
    manifest = feature("tide", gates=[_gate("verify:pre")])
    write(folder / "capability.json", json.dumps(manifest))
    _changed(Path(ground.home, LEDGER), "entries", {"tide": {"id": "tide", "x": 1}})


def _stacked(ground: Ground) -> None:
    """Install three that depend on each other, in both scopes."""
    _settled(ground)
    for name, scope, requires in (
        ("tide", "global", []),
        ("pier", "global", ["tide"]),
        ("quay", "project", ["pier"]),
    ):
        parcel = ground.parcel(
            name,
            {"hook.sh": "#!/bin/sh\n"},
            requires=requires,
            hooks=[{"event": "Stop", "script": "hook.sh"}],
        )
        done(plan_install(ground.site(scope), parcel, [CLAUDE]))
    found = dependents(plan_removal(ground.site("global"), "tide"))
    assert [one.folder for _, one in found] == ["quay", "pier"]


SCENES = {
    scene.name: scene
    for scene in (
        Scene(
            name="install-first-of-all",
            lay=_empty,
            steps=(_install(_plain, "global"),),
        ),
        Scene(
            name="install-global-new-settings",
            lay=_empty,
            steps=(_install(_first, "global", CLAUDE),),
        ),
        Scene(
            name="install-project",
            lay=_settled,
            steps=(_install(_plain, "project"),),
        ),
        Scene(
            name="install-project-hooks",
            lay=_settled,
            steps=(_install(_first, "project", CLAUDE, LOCAL),),
        ),
        Scene(
            name="upgrade-project-other-settings",
            lay=_with_first("project", CLAUDE),
            steps=(_install(_second, "project", LOCAL),),
        ),
        Scene(
            name="upgrade-global",
            lay=_with_first("global", CLAUDE),
            steps=(_install(_second, "global"),),
        ),
        Scene(
            name="upgrade-edited",
            lay=_edited,
            steps=(_install(_second, "global"),),
        ),
        Scene(
            name="upgrade-unhooked",
            lay=_unhooked,
            steps=(_install(_second, "global"),),
        ),
        Scene(
            name="upgrade-linked-settings",
            lay=_elsewhere,
            steps=(_install(_second, "global"),),
        ),
        Scene(
            name="remove-linked-settings",
            lay=_elsewhere,
            steps=(remove("tide", "global"),),
        ),
        Scene(
            name="remove-project",
            lay=_with_first("project", CLAUDE, LOCAL),
            steps=(remove("tide", "project"),),
        ),
        Scene(
            name="remove-edited",
            lay=_edited,
            steps=(remove("tide", "global"),),
        ),
        Scene(
            name="remove-ledgerless",
            lay=_copied,
            steps=(remove("tide", "global"),),
        ),
        Scene(
            name="remove-linked",
            lay=_linked,
            steps=(remove("tide", "global"),),
        ),
        Scene(
            name="remove-unnameable",
            ids=("Odd_Name",),
            lay=_odd,
            steps=(remove("Odd_Name", "project"),),
        ),
        Scene(
            name="remove-without-folder",
            lay=_gone,
            steps=(remove("tide", "project"),),
        ),
        Scene(
            name="install-without-folder",
            lay=_gone,
            steps=(_install(_second, "project"),),
            loses=True,
        ),
        Scene(
            name="install-over-unclear",
            lay=_unclear,
            steps=(_install(_first, "project", CLAUDE),),
        ),
        Scene(
            name="upgrade-unclear",
            lay=_unclear_there,
            steps=(_install(_second, "global", LOCAL),),
        ),
        Scene(
            name="remove-cascade",
            ids=("quay", "pier", "tide"),
            lay=_stacked,
            steps=(
                remove("quay", "project"),
                remove("pier", "global"),
                remove("tide", "global"),
            ),
        ),
    )
}
