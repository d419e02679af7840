"""W-21 to W-34: what is told about an overlay, and what a command leaves behind."""

from __future__ import annotations

import contextlib
import json
import os
import re
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from msdcomp.edge.content_hash import Bundle, read_bundle
from msdcomp.edge.ledger import LEDGER_NAME
from msdcomp.edge.locks import lifecycle_lock
from tests.edge.sources.packing import tar
from tests.hostile.ground import (
    GATE,
    HOOK,
    RUN,
    Finished,
    Ground,
    bundle,
    entry,
    ledger,
    new,
    picture,
)
from tests.layouts import write

SCOPES = ("global", "project")


UNHEARD = {"point": "execute:pre", "check": {"query": "a.b"}}


def test_w21_a_hook_that_its_point_does_not_dispatch_is_told(
    ground: Ground, tmp_path: Path
) -> None:
    source = bundle(tmp_path / "tide", gates=[{**GATE, **UNHEARD}])

    told = ground.msd("validate", source, "--json")

    assert "kind-not-dispatched" in told.out
    assert ground.capability("install", source, "--yes").code == 0
    rendered = ground.msd("loop", "render-hooks", "execute:pre")
    assert "the gate of tide at execute:pre is never checked" in rendered.err


# W-22


@pytest.mark.parametrize("scope", SCOPES)
@pytest.mark.parametrize("ledgered", [True, False])
def test_w22_a_removal_leaves_neither_agreement_nor_row_nor_hook(
    ground: Ground, tmp_path: Path, scope: str, *, ledgered: bool
) -> None:
    source = bundle(tmp_path / "source", files={"run.sh": RUN}, hooks=[HOOK])
    where = ("--scope", scope, "--settings", "settings.json", "--yes")
    assert ground.capability("install", source, *where).code == 0
    if not ledgered:
        (ground.root(scope) / LEDGER_NAME).unlink()

    assert ground.capability("remove", "tide").code == 0

    rows = ground.capability("list", "--json").json
    assert "tide" not in {row["id"] for row in rows}
    assert ground.agreed("tide", scope) is None
    assert not ground.folder("tide", scope).exists()
    if ledgered:
        settings = ground.root(scope) / "settings.json"
        assert "tide" not in settings.read_text("utf-8")
    # What is put there afterwards has to ask again.
    assert ground.capability("install", source, "--scope", scope).code == 1


@pytest.mark.parametrize("scope", SCOPES)
@pytest.mark.parametrize("stop", range(1, 8))
def test_w22_a_removal_that_is_cut_short_anywhere_is_finished_later(
    ground: Ground,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    scope: str,
    stop: int,
) -> None:
    source = bundle(tmp_path / "source", files={"run.sh": RUN}, hooks=[HOOK])
    where = ("--scope", scope, "--settings", "settings.json", "--yes")
    assert ground.capability("install", source, *where).code == 0
    left = [stop]

    with monkeypatch.context() as patch:
        _stop_at(patch, left)
        with contextlib.suppress(_CutShortError):
            ground.capability("remove", "tide", "--scope", scope)

    ground.capability("reconcile")
    assert ground.capability("reconcile", "--dry-run").code == 0
    entries = json.loads((ground.root(scope) / LEDGER_NAME).read_bytes())["entries"]
    there = ground.folder("tide", scope).exists()
    assert there == ("tide" in entries)
    assert there == (ground.agreed("tide", scope) is not None)
    settings = (ground.root(scope) / "settings.json").read_text("utf-8")
    assert there == ("tide" in settings)
    assert there == (ground.active() == {"tide"})


class _CutShortError(BaseException):
    """Stands for a kill."""


def _stop_at(patch: pytest.MonkeyPatch, left: list[int]) -> None:
    """Let nothing be renamed any more after some renames, as if killed."""
    for name in ("rename", "replace"):
        real: Callable[..., None] = getattr(os, name)

        def renamed(*arguments: Any, __real: Any = real, **more: Any) -> None:
            left[0] -= 1
            if left[0] == 0:
                raise _CutShortError
            __real(*arguments, **more)

        patch.setattr(os, name, renamed)


# W-23: the remedy that a warning prints, run just as it is printed.

#: What can be wrong with an overlay: what is done to its folder.
Spoil = Callable[[Ground, Path, str], None]


def _manifest(folder: Path) -> Path:
    return folder / "capability.json"


def _invalid(_: Ground, folder: Path, __: str) -> None:
    bundle(folder, tier="none such")


def _not_json(_: Ground, folder: Path, __: str) -> None:
    _manifest(folder).write_bytes(b"{")


def _no_manifest(_: Ground, folder: Path, __: str) -> None:
    _manifest(folder).unlink()


def _pipe(_: Ground, folder: Path, __: str) -> None:
    _manifest(folder).unlink()
    os.mkfifo(_manifest(folder))


def _endless(_: Ground, folder: Path, __: str) -> None:
    _manifest(folder).unlink()
    _manifest(folder).symlink_to("/dev/zero")


def _folder_for_manifest(_: Ground, folder: Path, __: str) -> None:
    _manifest(folder).unlink()
    _manifest(folder).mkdir()


def _too_large(_: Ground, folder: Path, __: str) -> None:
    with _manifest(folder).open("r+b") as stream:
        stream.truncate(9 * 1024 * 1024)


STEP = {
    "point": "plan:pre",
    "ref": {"skill": "a"},
    "produces": [],
    "consumes": [],
    "onError": "skip",
    "fragment": {"path": "a.md"},
}


def _bad_fragment(_: Ground, folder: Path, __: str) -> None:
    bundle(folder, steps=[STEP], skills=["a"])


def _pipe_fragment(_: Ground, folder: Path, __: str) -> None:
    bundle(folder, steps=[STEP], skills=["a"])
    os.mkfifo(folder / "a.md")


def _collision(_: Ground, folder: Path, __: str) -> None:
    """It takes a name that the host's own capability has."""
    bundle(folder, skills=["ui-phase"], agents=["msd-ui-researcher"])


def _engine(_: Ground, folder: Path, __: str) -> None:
    bundle(folder, engines={"msd": ">=9.0.0"})


def _needy(_: Ground, folder: Path, __: str) -> None:
    bundle(folder, requires=["nobody-has-this"])


def _dangling(_: Ground, folder: Path, __: str) -> None:
    _manifest(folder).unlink()
    folder.rmdir()
    folder.symlink_to("nowhere")


def _circle(_: Ground, folder: Path, __: str) -> None:
    _manifest(folder).unlink()
    folder.rmdir()
    folder.symlink_to(folder.name)


def _linked(ground: Ground, folder: Path, scope: str) -> None:
    """A folder elsewhere; followed in a home, so it is also made invalid."""
    target = folder.rename(ground.outside / "linked")
    if scope == "global":
        _invalid(ground, target, scope)
    folder.symlink_to(target)


def _pending(kind: str) -> Spoil:
    def spoil(ground: Ground, folder: Path, scope: str) -> None:
        marker: dict[str, Any] = {"kind": kind, "backupName": None, "sharedFiles": []}
        ledger(ground.root(scope), entry(folder.name, _pending=marker))

    return spoil


def _begun(ground: Ground, folder: Path, scope: str) -> None:
    """An install that was killed after the folder was in its place."""
    held = read_bundle(str(folder))
    assert isinstance(held, Bundle)
    marker: dict[str, Any] = {"kind": "install", "backupName": None, "sharedFiles": []}
    begun = entry(folder.name, contentHash=held.digest, _pending=marker)
    ledger(ground.root(scope), begun)


def _foreign_pending(ground: Ground, folder: Path, scope: str) -> None:
    marker = {"kind": "upgrade", "backupName": "../../x", "sharedFiles": []}
    ledger(ground.root(scope), entry(folder.name, _pending=marker))


def _unreadable_entry(ground: Ground, folder: Path, scope: str) -> None:
    _invalid(ground, folder, scope)
    planted = {"entries": {folder.name: {"_pending": True, "files": "?"}}}
    write(ground.root(scope) / LEDGER_NAME, json.dumps(planted))


def _junk_entry(ground: Ground, folder: Path, scope: str) -> None:
    _invalid(ground, folder, scope)
    planted = {"entries": {folder.name: 5}}
    write(ground.root(scope) / LEDGER_NAME, json.dumps(planted))


def _ledgered(ground: Ground, folder: Path, scope: str) -> None:
    _invalid(ground, folder, scope)
    ledger(ground.root(scope), entry(folder.name))


def _full_of_links(ground: Ground, folder: Path, scope: str) -> None:
    _invalid(ground, folder, scope)
    (folder / "out").symlink_to(ground.outside)
    (folder / "up").symlink_to("..")
    os.mkfifo(folder / "pipe")


def _deep(ground: Ground, folder: Path, scope: str) -> None:
    _invalid(ground, folder, scope)
    at = folder
    for _ in range(200):
        at /= "d"
    at.mkdir(parents=True)


def _no_permission(ground: Ground, folder: Path, scope: str) -> None:
    _invalid(ground, folder, scope)
    (folder / "in").mkdir()
    (folder / "in" / "file").write_bytes(b"")
    (folder / "in").chmod(0)
    folder.chmod(0)


def _beside_a_file(ground: Ground, folder: Path, scope: str) -> None:
    """In the other scope, something of the same name is no overlay."""
    _invalid(ground, folder, scope)
    other = "project" if scope == "global" else "global"
    write(ground.folder(folder.name, other), b"a file")


def _beside_a_damaged_ledger(ground: Ground, folder: Path, scope: str) -> None:
    _invalid(ground, folder, scope)
    other = "project" if scope == "global" else "global"
    write(ground.root(other) / LEDGER_NAME, b"{")


def _beside_a_healthy_copy(ground: Ground, folder: Path, scope: str) -> None:
    """The copy in the other scope takes part, and has to stay."""
    _invalid(ground, folder, scope)
    other = "project" if scope == "global" else "global"
    bundle(ground.folder(folder.name, other), folder.name)
    if other == "project":
        # The invalid one has the first name, so the project's is agreed to by hand.
        ground.capability("trust", folder.name, "--yes")


SPOILS: dict[str, Spoil] = {
    "invalid manifest": _invalid,
    "not JSON": _not_json,
    "no manifest": _no_manifest,
    "FIFO as manifest": _pipe,
    "device as manifest": _endless,
    "folder as manifest": _folder_for_manifest,
    "too large": _too_large,
    "no fragment": _bad_fragment,
    "FIFO as fragment": _pipe_fragment,
    "collision": _collision,
    "engine": _engine,
    "needs another": _needy,
    "dangling link": _dangling,
    "link in a circle": _circle,
    "linked folder": _linked,
    "pending install": _pending("install"),
    "pending upgrade": _pending("upgrade"),
    "pending removal": _pending("remove"),
    "killed install": _begun,
    "pending of somebody else": _foreign_pending,
    "unreadable entry": _unreadable_entry,
    "junk entry": _junk_entry,
    "ledgered": _ledgered,
    "full of links": _full_of_links,
    "deep": _deep,
    "no permission": _no_permission,
    "beside a file": _beside_a_file,
    "beside a damaged ledger": _beside_a_damaged_ledger,
    "beside a healthy copy": _beside_a_healthy_copy,
}


def _spoiled(ground: Ground, what: str, scope: str, *, agreed: bool) -> None:
    """Leave an overlay behind that is left out, agreed to as it is or not at all."""
    folder = bundle(ground.folder("tide", scope), gates=[GATE])
    SPOILS[what](ground, folder, scope)
    if scope == "project" and agreed:
        ground.capability("trust", "tide", "--yes")


def _remedies(ground: Ground) -> list[str]:
    """Return every command that takes an overlay away, as a warning prints it."""
    text = json.dumps(ground.composed())
    found = re.findall(r"`(msd capability remove [^`]*)`", text)
    return list(dict.fromkeys(found))


@pytest.mark.parametrize("scope", SCOPES)
@pytest.mark.parametrize("what", SPOILS)
@pytest.mark.parametrize("agreed", [True, False])
def test_w23_the_printed_remedy_takes_away_what_was_left_out(
    ground: Ground, what: str, scope: str, *, agreed: bool
) -> None:
    _spoiled(ground, what, scope, agreed=agreed)
    row = ground.row("tide", scope)
    assert row["status"] == "skipped", row
    outside = picture(ground.outside)
    healthy = ground.active()

    (line,) = _remedies(ground)
    shown = ground.msd("compose").text
    assert line in shown
    done = ground.as_printed(line)

    assert done.code == 0, (line, done)
    assert not os.path.lexists(ground.folder("tide", scope))
    assert _remedies(ground) == []
    rows = ground.capability("list", "--json").json
    assert not any(r["id"] == "tide" and r["scope"] == scope for r in rows)
    assert ground.active() == healthy
    assert {**picture(ground.outside), **outside} == picture(ground.outside)


@pytest.mark.parametrize("scope", SCOPES)
@pytest.mark.parametrize("what", SPOILS)
def test_w23_the_command_of_a_missing_gate_takes_its_overlay_away(
    ground: Ground, what: str, scope: str
) -> None:
    _spoiled(ground, what, scope, agreed=False)
    warned = ground.msd("loop", "render-hooks", "ship:pre", "--json").json

    for warning in warned.get("warnings", ()):
        assert ground.as_printed(warning["remediation"]).code == 0

    assert not ground.msd("loop", "render-hooks", "ship:pre").err or not warned


def test_w23_two_that_are_left_out_go_by_what_is_printed_of_each(
    ground: Ground,
) -> None:
    for scope in SCOPES:
        _invalid(ground, ground.folder("tide", scope), scope)
    bundle(ground.folder("moon", "global"), "moon", requires=["tide"])

    for _ in range(3):
        assert ground.as_printed(_remedies(ground)[-1]).code == 0

    assert _remedies(ground) == []
    assert ground.scanned() == set()


def test_w23_an_overlay_that_changed_after_consent_is_taken_away_as_printed(
    ground: Ground, tmp_path: Path
) -> None:
    source = bundle(tmp_path / "source", files={"run.sh": RUN}, hooks=[HOOK])
    where = ("--scope", "project", "--settings", "settings.json", "--yes")
    assert ground.capability("install", source, *where).code == 0
    (ground.folder("tide") / "run.sh").write_bytes(b"evil")
    assert ground.row("tide")["code"] == "consent-changed"

    (line,) = _remedies(ground)

    assert ground.as_printed(line).code == 0
    assert "tide" not in (ground.project / "settings.json").read_text("utf-8")
    assert ground.agreed("tide") is None


@pytest.mark.parametrize("scope", SCOPES)
def test_w23_an_overlay_without_an_entry_is_listed_and_can_be_removed(
    ground: Ground, scope: str
) -> None:
    bundle(ground.folder("tide", scope))
    if scope == "project":
        assert ground.capability("trust", "tide", "--yes").code == 0
    assert ground.row("tide", scope)["status"] == "active"

    assert ground.capability("remove", "tide", "--scope", scope).code == 0
    assert ground.scanned() == set()


@pytest.mark.parametrize(
    "name", ["Tide", "a b", "a'b", "$(touch x)", "-x", "\u202e", "é", "a\nb"]
)
@pytest.mark.parametrize("scope", SCOPES)
def test_w23_no_command_is_printed_for_a_name_that_is_no_id(
    ground: Ground, name: str, scope: str
) -> None:
    bundle(ground.folder("tide", scope).with_name(name), gates=[GATE])

    shown = ground.msd("compose")

    assert "capability remove" not in shown.out + shown.err
    assert _remedies(ground) == []
    assert shown.code == 1


# W-24


@pytest.mark.parametrize("text", ["false", "False", "off", "no", "0", ""])
def test_w24_a_text_that_means_no_does_not_leave_a_gate_on(
    ground: Ground, tmp_path: Path, text: str
) -> None:
    key = {"type": "boolean", "default": True, "description": "On."}
    gate = {**GATE, "when": "tide.on"}
    source = bundle(tmp_path / "source", config={"tide.on": key}, gates=[gate])
    assert ground.capability("install", source, "--yes").code == 0
    config = ground.project / ".planning" / "config.json"
    line = ("loop", "render-hooks", "ship:pre", "--active-cap", "tide")
    assert ground.msd(*line).out == "true\n"
    config.write_text(json.dumps({"tide": {"on": text}}), "utf-8")

    done = ground.msd(*line)

    assert done.out == "false\n"
    assert "tide.on" in done.err


# W-29


@pytest.mark.parametrize("scope", SCOPES)
def test_w29_a_command_waits_for_one_that_holds_the_lock(
    ground: Ground, tmp_path: Path, scope: str
) -> None:
    source = bundle(tmp_path / "source")
    line = ("install", source, "--scope", scope, "--yes")
    held, may_end = threading.Event(), threading.Event()

    def hold() -> None:
        with lifecycle_lock(str(ground.root(scope)), own=scope == "global") as busy:
            assert busy is None
            held.set()
            may_end.wait(20)

    other = threading.Thread(target=hold)
    other.start()
    assert held.wait(20)
    timer = threading.Timer(0.2, may_end.set)
    timer.start()
    try:
        done = ground.capability(*line)
    finally:
        may_end.set()
        other.join()
        timer.join()

    assert done.code == 0, done
    assert ground.active() == {"tide"}


@pytest.mark.parametrize("scope", SCOPES)
def test_w29_a_lock_file_that_nobody_holds_is_in_nobodys_way(
    ground: Ground, tmp_path: Path, scope: str
) -> None:
    source = bundle(tmp_path / "source")
    write(ground.folder(".lock", scope), b"4194304 of a dead command")

    assert ground.capability("install", source, "--scope", scope, "--yes").code == 0
    assert ground.active() == {"tide"}


# W-31, W-32


@pytest.mark.parametrize("range_", [">= 1.6.0", ">=1.6.0 <2.0.0", "^1.0.0", "1.x"])
def test_w31_a_range_with_a_space_in_it_is_a_range(
    ground: Ground, tmp_path: Path, range_: str
) -> None:
    source = bundle(tmp_path / "source", engines={"msd": range_})

    assert ground.capability("install", source, "--yes").code == 0
    assert ground.active() == {"tide"}


@pytest.mark.parametrize("range_", [">=9.0.0", ">= 9.0.0", "<1.0.0", "oops"])
def test_w31_a_range_that_does_not_fit_is_refused_as_a_load_would(
    ground: Ground, tmp_path: Path, range_: str
) -> None:
    source = bundle(tmp_path / "source", engines={"msd": range_})
    before = picture(ground.top)

    assert ground.capability("install", source, "--yes").code == 1
    assert picture(ground.top) == before


@pytest.mark.parametrize("scope", SCOPES)
def test_w32_the_hash_of_a_folder_is_recorded_as_it_is_shown(
    ground: Ground, tmp_path: Path, scope: str
) -> None:
    source = bundle(tmp_path / "source")
    line = ("install", source, "--scope", scope, "--yes", "--json")

    plan = ground.capability(*line).json["plan"]

    held = json.loads((ground.root(scope) / LEDGER_NAME).read_bytes())
    found = held["entries"]["tide"]
    assert plan["contentHash"]
    assert found["contentHash"] == plan["contentHash"]
    assert found["disclosureSignature"]
    assert ground.agreed("tide", scope).content_hash == plan["contentHash"]


def test_w32_what_the_manifest_says_of_itself_is_shown(
    ground: Ground, tmp_path: Path
) -> None:
    source = bundle(
        tmp_path / "source",
        title="High water",
        author={"name": "Ada"},
        engines={"msd": ">=1.0.0"},
        gates=[GATE],
    )

    done = ground.capability("install", source, "--dry-run")

    for part in ("High water", "Ada", "1.0.0", "ship:pre", ">=1.0.0"):
        assert part in done.text


# W-34


def _nothing(_: Ground, source: Path) -> Path:
    return source


def _broken(_: Ground, source: Path) -> Path:
    bundle(source, tier="none such")
    return source


def _reserved(_: Ground, source: Path) -> Path:
    return bundle(source, "ui")


def _needing(_: Ground, source: Path) -> Path:
    return bundle(source, requires=["nobody"])


def _too_new(_: Ground, source: Path) -> Path:
    return bundle(source, engines={"msd": ">=9.0.0"})


def _hostile(_: Ground, source: Path) -> Path:
    path = source.with_suffix(".tgz")
    path.write_bytes(tar({"capability.json": b"{}", "../x": b""}))
    return path


def _absent(_: Ground, source: Path) -> Path:
    return source / "none"


REFUSED: dict[str, tuple[Callable[[Ground, Path], Path], tuple[str, ...]]] = {
    "declined": (_nothing, ()),
    "dry run": (_nothing, ("--yes", "--dry-run")),
    "dry run, not agreed to": (_nothing, ("--dry-run",)),
    "invalid": (_broken, ("--yes",)),
    "first party's": (_reserved, ("--yes",)),
    "dependency": (_needing, ("--yes",)),
    "engine": (_too_new, ("--yes",)),
    "archive": (_hostile, ("--yes",)),
    "absent": (_absent, ("--yes",)),
    "integrity of a folder": (_nothing, ("--yes", "--integrity", "sha512-AAAA")),
    "bad settings": (_nothing, ("--yes", "--settings", "../x.json")),
    "bad host version": (_nothing, ("--yes", "--host-version", "x")),
}


@pytest.mark.parametrize("scope", SCOPES)
@pytest.mark.parametrize("why", REFUSED)
def test_w34_what_is_not_done_leaves_not_one_file_folder_or_lock(
    ground: Ground, tmp_path: Path, scope: str, why: str
) -> None:
    make, more = REFUSED[why]
    source = bundle(tmp_path / "source", files={"run.sh": RUN}, hooks=[HOOK])
    given = make(ground, source)
    before = picture(ground.top)

    done = ground.capability("install", given, "--scope", scope, *more)

    assert (done.code == 0) == (why.startswith("dry run")), done
    assert picture(ground.top) == before


@pytest.mark.parametrize("scope", SCOPES)
@pytest.mark.parametrize(
    "line",
    [
        ("remove", "tide"),
        ("remove", "tide", "--cascade"),
        ("update", "tide"),
        ("update", "--all"),
        ("trust", "tide"),
        ("trust", "revoke", "tide"),
        ("trust", "list"),
        ("reconcile",),
        ("reconcile", "--dry-run"),
        ("list",),
    ],
)
def test_w34_asking_about_what_is_not_there_leaves_nothing(
    ground: Ground, scope: str, line: tuple[str, ...]
) -> None:
    before = picture(ground.top)
    takes = line[0] in {"remove", "update", "reconcile"}

    done = ground.capability(*line, *(("--scope", scope) if takes else ()))

    assert done.code in {0, 1}
    assert picture(ground.top) == before


@pytest.mark.parametrize("scope", SCOPES)
@pytest.mark.parametrize("killed", [True, False])
def test_w34_a_verb_that_only_looks_changes_nothing(
    ground: Ground, tmp_path: Path, scope: str, *, killed: bool
) -> None:
    source = bundle(tmp_path / "source", files={"run.sh": RUN}, hooks=[HOOK])
    where = ("--scope", scope, "--settings", "settings.json", "--yes")
    assert ground.capability("install", source, *where).code == 0
    needy = bundle(tmp_path / "needy", "needy", requires=["tide"])
    assert ground.capability("install", needy, "--scope", scope, "--yes").code == 0
    (source / "run.sh").write_bytes(b"other")
    if killed:
        (ground.folder(".staging", scope) / "new-0").mkdir(parents=True)
        path = ground.root(scope) / LEDGER_NAME
        held = json.loads(path.read_bytes())
        marker: dict[str, Any] = {
            "kind": "remove",
            "backupName": None,
            "sharedFiles": [],
        }
        held["entries"]["tide"]["_pending"] = marker
        path.write_text(json.dumps(held), "utf-8")
        path.with_name(f"{LEDGER_NAME}.tmp.1-0123abcd").write_bytes(b"")
    before = picture(ground.top, without={"cache"})

    for line in (
        ("install", source, "--scope", scope, "--dry-run", "--yes"),
        ("update", "tide", "--dry-run", "--yes"),
        ("update", "--all", "--dry-run"),
        ("remove", "tide", "--dry-run"),
        ("remove", "tide", "--cascade", "--dry-run"),
        ("reconcile", "--dry-run"),
        ("outdated",),
        ("doctor",),
        ("list",),
        ("trust", "list"),
    ):
        assert ground.capability(*line).code in {0, 1}, line
        assert picture(ground.top, without={"cache"}) == before, line


@pytest.mark.parametrize("scope", SCOPES)
def test_w34_a_command_that_worked_leaves_what_it_was_for_and_nothing_else(
    ground: Ground, tmp_path: Path, scope: str
) -> None:
    source = bundle(tmp_path / "source")
    before = picture(ground.top)

    done: Finished = ground.capability("install", source, "--scope", scope, "--yes")

    assert done.code == 0
    after = picture(ground.top)
    assert new(before, after) <= {
        ".msd",
        "capabilities",
        "tide",
        "capability.json",
        "consent.json",
        LEDGER_NAME,
        ".consent.lock",
        ".lock",
    }
    assert ground.capability("remove", "tide", "--dry-run").code == 0
    assert picture(ground.top) == after
