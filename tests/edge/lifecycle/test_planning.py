"""Plans are judged as a load judges, say what they do, and do nothing."""

from __future__ import annotations

import itertools
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
import pytest
from hypothesis import HealthCheck, assume, event, given, settings
from hypothesis import strategies as st

from msdcomp.diffing import compare
from msdcomp.edge.consent import ConsentRecord, revoke_consent, write_consent
from msdcomp.edge.lifecycle import Site, plan_install, plan_removal
from msdcomp.edge.lifecycle.composing import candidate_of
from msdcomp.edge.lifecycle.composing import record_of as record_to
from msdcomp.edge.lifecycle.obstacles import composition_blocks
from msdcomp.edge.lifecycle.planning import dependents
from msdcomp.edge.scan import scan
from msdcomp.plan import FileEdit, Pin, effects
from msdcomp.safetext import safe
from msdcomp.scope import Scope
from msdcomp.testing import feature, gate, step
from tests.documents import reviewer
from tests.edge.lifecycle.grounds import by_hand, ground, made, packed, said
from tests.edge.lifecycle.shops import (
    agree_by_hand,
    blocks,
    change_entry,
    codes,
    composed,
    done,
    entry_of,
    fitting,
    folder_of,
    installed,
    listing,
    parcel_of,
    place,
    put,
    site_of,
    source,
)
from tests.edge.sources.packing import tar
from tests.overlays import IDS, Plan, plan_lists, plans

_numbers = itertools.count()
_disk = settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)

#: Blocks that have nothing to do with the composition.
_BEFORE = {"occupied", "place", "pending", "ledger-unreadable", "consent-unreadable"}

_new = plans.map(lambda plan: attrs.evolve(plan, writer="sound"))


def _chain(folders: list[str], scopes: list[Scope], needed: list[int]) -> list[Plan]:
    """Return overlays of which each may depend on one before it."""
    return [
        Plan(
            folder=folder,
            scope=scope,
            document=feature(
                folder, requires=[folders[place - back]] if 0 < back <= place else []
            ),
        )
        for place, (folder, scope, back) in enumerate(
            zip(folders, scopes, needed, strict=False)
        )
    ]


chains = st.builds(
    _chain,
    st.permutations(IDS),
    st.lists(st.sampled_from(Scope), min_size=2, max_size=5),
    st.lists(st.integers(0, 2), min_size=5, max_size=5),
)


@_disk
@given(chains | plan_lists, _new)
def test_install_and_load_never_disagree(
    tmp_path: Path, there: list[Plan], new: Plan
) -> None:
    with ground(tmp_path / str(next(_numbers)), there) as laid:
        site = laid.sites[new.scope]
        parcel = packed(laid, new)
        assume(parcel is not None)
        assert parcel is not None
        own = (new.scope.value, new.document["id"])
        before = made(site)

        prepared = plan_install(site, parcel)

        found = set(codes(prepared.plan.blocks))
        assume(not found & _BEFORE)
        event(", ".join(sorted(found)) or "planned")
        if not found:
            done(prepared)
        else:
            by_hand(site, parcel)
        after = made(site)
        was = {(before.paths[name].scope, name) for name in before.accepted} - {own}
        now = {(after.paths[name].scope, name) for name in after.accepted}
        if not found:
            (mine,) = [
                one
                for one in scan(site.places).candidates
                if (one.scope, one.path) == (site.scope, site.path(own[1]))
            ]
            assert mine == candidate_of(site, parcel)
            assert now >= {own, *was}
            assert prepared.plan.effects == effects(before, after, [own])
        elif "displaces" in found:
            assert not was <= now
            left = {(one.scope, one.id) for one in prepared.plan.effects.leaves}
            assert left == was - now
        else:
            assert own not in now
            assert found == {said(after, new.scope, own[1])}


def taken_away(folder: Path) -> None:
    if folder.is_symlink():
        folder.unlink()
    else:
        shutil.rmtree(folder)


@_disk
@given(chains | plan_lists.filter(bool), st.data())
def test_a_removal_leaves_what_its_plan_says(
    tmp_path: Path, there: list[Plan], data: st.DataObject
) -> None:
    target = data.draw(st.sampled_from(there))
    with ground(tmp_path / str(next(_numbers)), there) as laid:
        site = laid.sites[target.scope]
        before = made(site)

        prepared = plan_removal(site, target.folder)

        found = set(codes(prepared.plan.blocks))
        assert found <= {"dependents"}
        event(", ".join(sorted(found)) or "planned")
        if found:
            taken_away(folder_of(site, target.folder))
        else:
            done(prepared)
        after = made(site)
        own = [(target.scope.value, target.folder)]
        assert prepared.plan.effects == effects(before, after, own)
        changes = compare(before.to_wire(), after.to_wire())
        assert prepared.plan.effects.changes == changes
        assert bool(found) == bool(prepared.plan.effects.leaves)


# A plan says what it does


SWITCH = {"type": "boolean", "default": True, "description": "A switch."}


def _whole(folder: Path, **fields: Any) -> Path:
    """Write a bundle with one of everything that a plan tells of."""
    return hooked_source(
        folder,
        config={"tides.on": SWITCH},
        gates=[gate("ship:pre", when="tides.on")],
        steps=[step("plan:post", produces=["TIDE.md"])],
        **fields,
    )


def hooked_source(folder: Path, **fields: Any) -> Path:
    files = {"run.sh": "#!/bin/sh\n", "a/b.md": "b"}
    hooks = [{"event": "Stop", "script": "run.sh"}]
    return source(folder, files=files, **{"hooks": hooks, **fields})


def test_a_plan_tells_everything_and_does_nothing(
    site: Site, tmp_path: Path, home: Path, project: Path
) -> None:
    where = _whole(tmp_path / "new")
    before = listing(home, project)
    parcel = parcel_of(where)

    plan = plan_install(site, parcel, ["host.json", "host.json"]).plan

    assert listing(home, project) == before
    assert plan == plan_install(site, parcel_of(where), ["host.json"]).plan
    assert hash(plan) == hash(plan_install(site, parcel, ["host.json"]).plan)
    assert (plan.action, plan.scope) == ("install", site.scope.value)
    assert (plan.capability_id, plan.path) == ("tides", ".msd/capabilities/tides")
    assert (plan.source, plan.pin) == (str(where), Pin())
    assert (plan.version_before, plan.version) == ("", "1.0.0")
    assert plan.content_hash == parcel.bundle.digest
    assert plan.differs is None
    assert plan.files == (
        FileEdit("a/b.md", "added"),
        FileEdit("capability.json", "added"),
        FileEdit("run.sh", "added"),
    )
    (hook,) = plan.hooks
    assert (hook.file, hook.how, hook.event) == ("host.json", "added", "Stop")
    assert f"{site.root.folder}/tides/run.sh" in hook.entry
    told = [(c.subject, c.name, c.difference.value) for c in plan.effects.changes]
    assert told == [
        ("capability", "tides", "appeared"),
        ("configuration key", "tides.on", "appeared"),
        ("step", "tides (ref command check) at plan:post", "appeared"),
        ("gate", "tides (check query check.passed) at ship:pre", "appeared"),
    ]
    assert (plan.effects.joins, plan.effects.leaves) == ((), ())
    assert plan.asks == "nobody has agreed to it here yet"
    assert (plan.notes, plan.blocks) == ((), ())


def test_a_plan_tells_that_hooks_change_their_order(site: Site, tmp_path: Path) -> None:
    makes = step("plan:post", produces=["TIDE.md"])
    installed(site, source(tmp_path / "a", "anchor", steps=[step("plan:post")]))
    installed(site, source(tmp_path / "z", "zeal", steps=[makes]))
    takes = step("plan:post", consumes=["TIDE.md"])
    later = source(tmp_path / "a", "anchor", steps=[takes], version="1.1.0")

    plan = plan_install(site, parcel_of(later)).plan

    assert plan.blocks == ()
    (order,) = [c for c in plan.effects.changes if c.difference.value == "reordered"]
    assert (order.subject, order.name) == ("step", "plan:post")
    assert order.before.index("anchor") < order.before.index("zeal")
    assert order.after.index("anchor") > order.after.index("zeal")


def test_a_plan_tells_who_joins(site: Site, tmp_path: Path) -> None:
    put(site, "zeal", requires=["tides"])
    if site.scope is Scope.PROJECT:
        agree_by_hand(site, "zeal")

    plan = plan_install(site, parcel_of(source(tmp_path / "new"))).plan

    assert plan.effects.joins == ("zeal",)
    assert plan.blocks == ()


def test_an_upgrade_tells_what_becomes_of_each_file(site: Site, tmp_path: Path) -> None:
    files = {"same.md": "s", "other.md": "o", "gone.md": "g"}
    installed(site, source(tmp_path / "new", files=files))
    (tmp_path / "new" / "gone.md").unlink()
    source(tmp_path / "new", files={"other.md": "p", "more.md": "m"}, version="2.0.0")

    plan = plan_install(site, parcel_of(tmp_path / "new")).plan

    assert plan.action == "upgrade"
    assert (plan.version_before, plan.version) == ("1.0.0", "2.0.0")
    assert plan.files == (
        FileEdit("capability.json", "changed"),
        FileEdit("gone.md", "removed"),
        FileEdit("more.md", "added"),
        FileEdit("other.md", "changed"),
    )
    assert plan.differs is not None


def test_hooks_that_no_host_runs_are_a_note(site: Site, tmp_path: Path) -> None:
    plan = plan_install(site, parcel_of(hooked_source(tmp_path / "new"))).plan

    assert plan.hooks == ()
    (note,) = plan.notes
    assert "--settings" in note


def test_a_plan_for_a_pinned_source_says_the_pin(site: Site, tmp_path: Path) -> None:
    archive = tmp_path / "tides.tgz"
    archive.write_bytes(tar({"capability.json": json.dumps(feature("tides")).encode()}))
    parcel = parcel_of(archive)

    assert plan_install(site, parcel).plan.pin == Pin(
        kind="integrity", value=parcel.integrity
    )


# Who is asked


def _asks(site: Site, where: Path) -> str:
    return plan_install(site, parcel_of(where)).plan.asks


def test_what_was_agreed_to_is_not_asked_again(site: Site, tmp_path: Path) -> None:
    where = hooked_source(tmp_path / "new")
    installed(site, where)

    hooked_source(where, description="Said better.", version="1.0.1")

    plan = plan_install(site, parcel_of(where)).plan
    assert (plan.asks, plan.action) == ("", "upgrade")


@pytest.mark.parametrize(
    ("files", "fields", "said_"),
    [
        (
            {},
            {"hooks": [{"event": "Stop", "script": "run.sh", "matcher": "Write"}]},
            "what it runs or sends",
        ),
        (
            {"run.sh": "#!/bin/sh\nharm\n"},
            {},
            "files that may run",
        ),
        (
            {"run.sh": "#!/bin/sh\nharm\n"},
            {"hooks": [{"event": "Start", "script": "run.sh"}]},
            "what it runs or sends and files that may run",
        ),
        (
            {"skills/tide.md": "x"},
            {"hooks": [], "skills": ["tide"]},
            "what it runs or sends, files that may run and what it tells agents",
        ),
    ],
)
def test_what_differs_from_what_was_agreed_to_is_asked_and_named(
    site: Site,
    tmp_path: Path,
    files: dict[str, str],
    fields: dict[str, Any],
    said_: str,
) -> None:
    where = hooked_source(tmp_path / "new")
    installed(site, where)

    hooked_source(where, **fields)
    for name, text in files.items():
        path = where / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, "utf-8")

    assert _asks(site, where) == f"{said_} changed since it was agreed to"


def test_what_lies_on_the_disk_is_no_agreement(site: Site, tmp_path: Path) -> None:
    where = hooked_source(tmp_path / "new")
    installed(site, where)
    revoke_consent(site.home, site.consent_root, "tides", scope=site.scope)

    plan = plan_install(site, parcel_of(where)).plan

    assert plan.asks == "nobody has agreed to it here yet"
    assert plan.action == "upgrade"


def test_an_agreement_in_the_other_scope_is_none(
    at_home: Site, in_project: Site, tmp_path: Path
) -> None:
    where = hooked_source(tmp_path / "new")
    installed(at_home, where)
    shutil.rmtree(folder_of(at_home))

    assert _asks(in_project, where) == "nobody has agreed to it here yet"


def test_an_agreement_that_does_not_say_to_what_is_asked_again(
    site: Site, tmp_path: Path
) -> None:
    where = source(tmp_path / "new")
    parcel = parcel_of(where)
    record = attrs.evolve(record_to(site, parcel), disclosure_signature="")
    assert isinstance(write_consent(site.home, record), ConsentRecord)

    assert _asks(site, where) == "what was agreed to before was not recorded"


def test_edits_of_the_user_are_not_thrown_away_without_asking(
    site: Site, tmp_path: Path
) -> None:
    where = source(tmp_path / "new")
    installed(site, where)
    (folder_of(site) / "mine.md").write_text("mine", "utf-8")

    plan = plan_install(site, parcel_of(where)).plan

    assert plan.asks.startswith("its folder was edited since it was installed")
    assert FileEdit("mine.md", "removed") in plan.files
    assert any("was edited" in note for note in plan.notes)


# What stands in the way


def _blocked(site: Site, where: Path, **options: Any) -> list[str]:
    prepared = plan_install(site, parcel_of(where), **options)
    for block in prepared.plan.blocks:
        assert block.reason
        assert safe(block.reason, 2000) == block.reason.replace("`", "")
    return codes(prepared.plan.blocks)


@pytest.fixture
def new(tmp_path: Path) -> Path:
    return source(tmp_path / "new")


def _file(place: Path) -> None:
    place.write_text("", "utf-8")


def _link(place: Path) -> None:
    place.symlink_to("nowhere")


def _folder(place: Path) -> None:
    place.mkdir()


@pytest.mark.parametrize("make", [_link, _folder])
def test_what_was_not_installed_is_in_the_way(
    site: Site, new: Path, make: Callable[[Path], None]
) -> None:
    folder_of(site).parent.mkdir(parents=True)
    make(folder_of(site))

    (block,) = plan_install(site, parcel_of(new)).plan.blocks

    assert block.code == "occupied"
    # The other scope may have one of that id, which is not in the way.
    assert _removal_of(site) in block.remedy
    assert plan_removal(site, "tides").plan.blocks == ()


def _removal_of(site: Site) -> str:
    return f"`msd capability remove tides --scope {site.scope.value}`"


def test_a_file_in_the_way_is_for_the_user_to_move(site: Site, new: Path) -> None:
    """No command takes it away, so none is named."""
    folder_of(site).parent.mkdir(parents=True)
    _file(folder_of(site))

    (block,) = plan_install(site, parcel_of(new)).plan.blocks

    assert (block.code, block.remedy) == ("occupied", "move it away")
    assert codes(plan_removal(site, "tides").plan.blocks) == ["occupied"]


def test_an_installed_folder_that_cannot_be_read_is_in_the_way(
    site: Site, new: Path
) -> None:
    installed(site, new)
    (folder_of(site) / "link").symlink_to("x")

    (block,) = plan_install(site, parcel_of(new)).plan.blocks

    assert block.code == "occupied"
    assert _removal_of(site) in block.remedy


def test_an_entry_that_makes_no_sense_still_says_whose_the_folder_is(
    site: Site, new: Path
) -> None:
    installed(site, new)
    change_entry(site, version=7)

    assert _blocked(site, new) == []
    installed(site, new)
    entry = entry_of(site)
    assert entry is not None
    assert entry.version == "1.0.0"


def test_a_damaged_ledger_is_in_the_way(site: Site, new: Path) -> None:
    ledger = Path(site.root.ledger_root, ".msd-capabilities.json")
    ledger.write_text("{", "utf-8")

    assert _blocked(site, new) == ["ledger-unreadable"]
    assert ledger.read_text("utf-8") == "{"


def test_a_damaged_consent_store_is_in_the_way(site: Site, new: Path) -> None:
    store = Path(site.home, ".msd", "consent.json")
    store.parent.mkdir(exist_ok=True)
    store.write_text("{", "utf-8")

    assert _blocked(site, new) == ["consent-unreadable"]
    assert store.read_text("utf-8") == "{"


@pytest.mark.parametrize("kind", ["install", "upgrade", "remove"])
def test_what_is_in_flight_is_in_the_way(site: Site, new: Path, kind: str) -> None:
    installed(site, new)
    pending: dict[str, Any] = {"kind": kind, "backupName": None, "sharedFiles": []}
    change_entry(site, _pending=pending)

    (block,) = plan_install(site, parcel_of(new)).plan.blocks

    assert block.code == "pending"
    assert "`msd capability reconcile`" in block.remedy


def test_a_root_that_cannot_be_looked_into_is_in_the_way(site: Site, new: Path) -> None:
    top = Path(site.root.ledger_root, ".msd")
    top.write_text("", "utf-8")

    assert "place" in _blocked(site, new)


@pytest.mark.parametrize(
    "file", ["../out.json", "/etc/out.json", "bad.json", "shape.json"]
)
def test_settings_that_cannot_be_edited_are_in_the_way(
    site: Site, tmp_path: Path, file: str
) -> None:
    top = Path(site.root.ledger_root)
    (top / "bad.json").write_text("// mine\n{}", "utf-8")
    (top / "shape.json").write_text('{"hooks": []}', "utf-8")
    where = hooked_source(tmp_path / "new")

    assert _blocked(site, where, settings=[file]) == ["settings"]
    assert (top / "bad.json").read_text("utf-8") == "// mine\n{}"


@pytest.mark.parametrize(
    ("code", "fields"),
    [
        ("collision", {"skills": ["ui-review"]}),
        ("incompatible-engine", {"engines": {"msd": ">=9.0.0"}}),
        ("invariant", {"requires": ["nowhere"]}),
    ],
)
def test_what_a_load_would_leave_out_is_not_installed(
    site: Site, tmp_path: Path, code: str, fields: dict[str, Any]
) -> None:
    parcel = fitting(source(tmp_path / "new", **fields))

    (block,) = plan_install(site, parcel).plan.blocks

    assert block.code == code
    assert block.reason.startswith("it would be left out: ")


def test_what_is_left_out_without_a_word_is_not_installed(at_home: Site) -> None:
    """No load does that; if one did, an install must not succeed all the same."""
    (block,) = composition_blocks(at_home, "tides", composed(at_home))

    assert block.code == "left-out"


def test_a_name_of_the_first_party_is_not_installed(site: Site, tmp_path: Path) -> None:
    where = source(tmp_path / "new", "ui")

    assert _blocked(site, where) == ["collision"]


def test_one_scope_does_not_hide_the_other(
    at_home: Site, in_project: Site, new: Path
) -> None:
    installed(at_home, new)

    assert _blocked(in_project, new) == ["shadowed"]


def test_who_was_accepted_is_not_pushed_out(
    at_home: Site, in_project: Site, tmp_path: Path
) -> None:
    installed(in_project, source(tmp_path / "a", "anchor", skills=["lift"]))

    (block,) = plan_install(
        at_home, parcel_of(source(tmp_path / "b", skills=["lift"]))
    ).plan.blocks

    assert block.code == "displaces"
    assert "anchor (project)" in block.reason
    assert "`msd capability remove anchor --scope project`" in block.remedy


def test_a_lane_is_installed_like_any_other(site: Site, tmp_path: Path) -> None:
    where = place(tmp_path / "new", reviewer(), {})

    done(plan_install(site, parcel_of(where)))

    assert composed(site).accepted == ("gull",)


# Removal


def test_a_removal_tells_everything_and_does_nothing(
    site: Site, tmp_path: Path, home: Path, project: Path
) -> None:
    done(plan_install(site, parcel_of(_whole(tmp_path / "new")), ["host.json"]))
    before = listing(home, project)

    plan = plan_removal(site, "tides").plan

    assert listing(home, project) == before
    assert plan == plan_removal(site, "tides").plan
    assert (plan.action, plan.version_before, plan.version) == ("remove", "1.0.0", "")
    assert [edit.path for edit in plan.files] == ["a/b.md", "capability.json", "run.sh"]
    assert {edit.how for edit in plan.files} == {"removed"}
    assert [(h.file, h.how) for h in plan.hooks] == [("host.json", "removed")]
    vanished = [c.subject for c in plan.effects.changes]
    assert vanished == ["capability", "configuration key", "step", "gate"]
    assert (plan.asks, plan.blocks, plan.disclosure) == ("", (), None)


def test_a_name_that_is_no_text_is_spelled_as_a_scan_spells_it(
    site: Site,
) -> None:
    put(site, "caf\udce9")
    (left_out,) = composed(site).warnings

    plan = plan_removal(site, "caf\udce9").plan

    assert left_out == (plan.scope, plan.capability_id)
    assert plan.path == ".msd/capabilities/caf\\xe9"
    (change,) = plan.effects.changes
    assert (change.subject, change.difference.value) == ("left out", "vanished")
    assert change.name == f"caf\\xe9 ({site.scope.value})"


def test_a_removal_is_refused_where_somebody_depends_on_it(
    site: Site, tmp_path: Path
) -> None:
    installed(site, source(tmp_path / "a"))
    installed(site, source(tmp_path / "b", "buoy", requires=["tides"]))
    installed(site, source(tmp_path / "c", "crane", requires=["buoy"]))

    prepared = plan_removal(site, "tides")

    assert [left.id for left in prepared.plan.effects.leaves] == ["crane", "buoy"]
    assert codes(prepared.plan.blocks) == ["dependents", "dependents"]
    assert "--cascade" in prepared.plan.blocks[0].remedy
    first = dependents(prepared)
    assert [one.folder for _, one in first] == ["crane", "buoy"]
    assert {where for where, _ in first} == {site}
    whole = plan_removal(site, "tides", [one for _, one in first])
    assert whole.plan.blocks == ()
    assert blocks(prepared) == prepared.plan.blocks


def test_who_depends_on_it_from_the_other_scope_is_found_there(
    at_home: Site, in_project: Site, tmp_path: Path
) -> None:
    installed(at_home, source(tmp_path / "a"))
    installed(in_project, source(tmp_path / "b", "buoy", requires=["tides"]))

    ((where, one),) = dependents(plan_removal(at_home, "tides"))

    assert (where, one.folder) == (in_project, "buoy")


def test_who_only_has_the_name_of_one_that_depends_on_it_does_not_go_along(
    project: Path, tmp_path: Path
) -> None:
    """A home in the project brings a second root of the project's scope."""
    home = project / "vendor" / "home"
    home.mkdir(parents=True)
    own = site_of(home, project, "project")
    vendored = site_of(home, project, "global")
    installed(own, source(tmp_path / "a"))
    installed(own, source(tmp_path / "b", "buoy", requires=["tides"]))
    put(vendored, "buoy")
    assert sorted(composed(own).accepted) == ["buoy", "tides"]

    ((where, one),) = dependents(plan_removal(own, "tides"))

    assert (where, one.path) == (own, ".msd/capabilities/buoy")


def test_what_is_not_there_is_not_removed(site: Site) -> None:
    assert codes(plan_removal(site, "tides").plan.blocks) == ["not-installed"]


def test_a_removal_is_refused_where_nobody_knows(site: Site, new: Path) -> None:
    installed(site, new)
    ledger = Path(site.root.ledger_root, ".msd-capabilities.json")
    ledger.write_text("{", "utf-8")

    assert codes(plan_removal(site, "tides").plan.blocks) == ["ledger-unreadable"]


def test_a_file_in_place_of_a_folder_is_somebodys(site: Site) -> None:
    folder_of(site).parent.mkdir(parents=True)
    folder_of(site).write_text("", "utf-8")

    assert codes(plan_removal(site, "tides").plan.blocks) == ["occupied"]


def test_a_root_that_is_a_file_is_refused(site: Site) -> None:
    Path(site.root.ledger_root, ".msd").write_text("", "utf-8")

    assert codes(plan_removal(site, "tides").plan.blocks) == ["place"]


def test_settings_that_cannot_be_edited_do_not_keep_a_removal(
    site: Site, tmp_path: Path
) -> None:
    installed(site, hooked_source(tmp_path / "new"), ["host.json"])
    Path(site.root.ledger_root, "host.json").write_text("// mine", "utf-8")

    plan = plan_removal(site, "tides").plan

    assert plan.blocks == ()
    (note,) = plan.notes
    assert note.startswith("host.json is left as it is, with entries of it")
