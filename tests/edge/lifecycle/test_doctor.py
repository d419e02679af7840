"""`doctor`: each thing that can be wrong, and nothing where nothing is."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
import pytest

from msdcomp.edge.consent import ConsentRecord, revoke_consent, write_consent
from msdcomp.edge.consentstore import store_path
from msdcomp.edge.ledger import LEDGER_NAME
from msdcomp.edge.ledgerfile import (
    InstalledEntry,
    Pending,
    SharedEdit,
    change_ledger,
    with_entry,
    with_pending,
)
from msdcomp.edge.lifecycle import Site
from msdcomp.edge.lifecycle.checks.hooks import MAX_SETTINGS
from msdcomp.edge.lifecycle.doctor import examine
from msdcomp.edge.roots import Places, find_places
from msdcomp.edge.settings import MARKER
from msdcomp.health import Finding
from msdcomp.scope import Scope
from tests.edge.lifecycle.shops import (
    HOST,
    composed,
    entry_of,
    folder_of,
    hooked,
    installed,
    listing,
    put,
    record_of,
    site_of,
    source,
)

SETTINGS = ".claude/settings.json"
GATE = {
    "point": "ship:pre",
    "check": {"query": "a.b"},
    "blocking": True,
    "onError": "halt",
}


def _examined(places: Places, **options: Any) -> tuple[Finding, ...]:
    """Examine a place, which stays as it is."""
    tops = [Path(top) for top in (places.home, places.project) if top is not None]
    before = listing(*tops)
    found = examine(places, HOST, **options)
    assert listing(*tops) == before
    return found


def _found(site: Site) -> dict[str, Finding]:
    """Return what is found at a site, by its code; each code once."""
    found = _examined(site.places, scope=site.scope.value)
    codes = {one.code: one for one in found}
    assert len(codes) == len(found), found
    return codes


def _only(site: Site, code: str, subject: str | None = "tides") -> Finding:
    """Return the one thing that is found at a site."""
    found = _found(site)
    assert [*found] == [code], found
    one = found[code]
    if subject is not None:
        assert (one.scope, one.subject) == (site.scope.value, subject)
    return one


def _edit(site: Site, **fields: Any) -> None:
    """Change what the ledger says of a capability."""
    entry = entry_of(site)
    assert entry is not None
    made = attrs.evolve(entry, **fields)
    _change(site, lambda old, now: with_entry(old, made, now))


def _change(site: Site, change: Callable[[bytes | None, str], Any]) -> None:
    Path(site.root.ledger_root, ".msd", "capabilities").mkdir(
        parents=True, exist_ok=True
    )
    found = change_ledger(site.root.ledger_root, change)
    assert found is not None
    assert not hasattr(found, "reason"), found


def _agree(site: Site, name: str, **fields: Any) -> None:
    record = ConsentRecord(
        project_root=site.consent_root,
        id=name,
        scope=site.scope,
        content_hash="sha512-old",
    )
    provisional = fields.pop("provisional", False)
    made = write_consent(
        site.home, attrs.evolve(record, **fields), provisional=provisional
    )
    assert isinstance(made, ConsentRecord)


# Nothing


def test_nothing_is_found_where_nothing_is(home: Path, project: Path) -> None:
    assert _examined(find_places(project, home, project)) == ()


def test_nothing_is_found_after_an_install(site: Site, tmp_path: Path) -> None:
    installed(site, hooked(tmp_path / "shop"), [SETTINGS])

    assert _examined(site.places) == ()


def test_the_scope_narrows_it(home: Path, project: Path) -> None:
    for scope in ("global", "project"):
        site = site_of(home, project, scope)
        Path(site.root.ledger_root, LEDGER_NAME).write_text("{", "utf-8")
        (one,) = _examined(site.places, scope=scope)
        assert (one.code, one.scope) == ("ledger-unreadable", scope)
    both = _examined(site.places)
    assert [one.scope for one in both] == ["global", "project"]


# Where to look


def test_a_home_that_is_not_there(tmp_path: Path, project: Path) -> None:
    (one,) = examine(find_places(project, tmp_path / "none", project), HOST)

    assert one.code == "home-missing"


def test_no_project(home: Path) -> None:
    (one,) = _examined(find_places(home, home))

    assert one.code == "no-project"


def test_a_home_inside_of_the_project(project: Path) -> None:
    inner = project / "inner"
    inner.mkdir()
    for home in (project, inner):
        (one,) = _examined(find_places(project, home, project))
        assert one.code == "no-global-scope"


def test_what_is_installed_in_a_home_inside_of_the_project_is_sound(
    project: Path, tmp_path: Path
) -> None:
    home = project / "inner"
    home.mkdir()
    site = site_of(home, project, "global")
    assert site.scope is Scope.PROJECT
    installed(site, source(tmp_path / "shop"))

    (one,) = _examined(site.places)

    assert one.code == "no-global-scope"


def test_a_root_that_is_no_folder(site: Site) -> None:
    root = Path(site.root.folder)
    root.parent.mkdir()
    root.write_text("", "utf-8")

    _only(site, "root-unreadable", ".msd/capabilities")


def test_what_a_store_speaks_of_is_not_missed_in_a_root_that_cannot_be_seen(
    site: Site, tmp_path: Path
) -> None:
    installed(site, source(tmp_path / "shop", gates=[GATE]))
    root = Path(site.root.folder)
    shutil.rmtree(root)
    root.write_text("", "utf-8")

    found = _found(site)

    assert {"root-unreadable", "left-out", "gate-not-enforced"} <= {*found}
    assert not {"hand-made", "agreement-unused"} & {*found}


def test_what_is_no_overlay(site: Site) -> None:
    root = Path(site.root.folder)
    root.mkdir(parents=True)
    (root / "notes.txt").write_text("", "utf-8")

    _only(site, "not-an-overlay", "notes.txt")


def test_choices_that_cannot_be_read(home: Path, project: Path) -> None:
    (home / ".claude").mkdir()
    (home / ".claude" / ".msd-surface.json").write_text("{", "utf-8")

    (one,) = _examined(find_places(project, home, project))

    assert one.code == "surface-unreadable"
    assert ".msd-surface.json" in one.reason


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("{", "policy-unreadable"),
        ('{"capabilities": {"strict_known_registries": 5}}', "policy-unreadable"),
        ('{"capabilities": {"strict_known_registries": [5]}}', "policy-unreadable"),
        (
            '{"capabilities": {"strict_known_registries": ["https://a.example"]}}',
            "policy-entry-useless",
        ),
    ],
)
def test_a_policy_that_does_not_say_what_was_meant(
    home: Path, project: Path, text: str, code: str
) -> None:
    (project / ".planning").mkdir()
    (project / ".planning" / "config.json").write_text(text, "utf-8")

    (one,) = _examined(find_places(project, home, project))

    assert (one.code, one.subject) == (code, ".planning/config.json")


@pytest.mark.parametrize("hosts", ["[]", '["a.example", "npm"]', "null"])
def test_a_policy_that_says_something_is_sound(
    home: Path, project: Path, hosts: str
) -> None:
    text = f'{{"capabilities": {{"strict_known_registries": {hosts}}}}}'
    (project / ".planning").mkdir()
    (project / ".planning" / "config.json").write_text(text, "utf-8")

    assert _examined(find_places(project, home, project)) == ()


def test_git_is_missed_by_those_who_need_it(
    at_home: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed(at_home, source(tmp_path / "shop"))
    monkeypatch.setenv("PATH", str(tmp_path))

    _only(at_home, "git-absent", None)
    _edit(at_home, source="git+https://forge.example/tides.git")
    _only(at_home, "git-missing", None)


# The stores


@pytest.mark.parametrize("data", [b"{", b"[]", b'{"version": "2", "entries": {}}'])
def test_a_ledger_that_cannot_be_read(site: Site, data: bytes) -> None:
    Path(site.root.ledger_root, LEDGER_NAME).write_bytes(data)

    _only(site, "ledger-unreadable", LEDGER_NAME)
    # Composing has it among what it ignores, too, and once is enough.
    Path(site.root.folder).mkdir(parents=True)
    _only(site, "ledger-unreadable", LEDGER_NAME)


def test_an_entry_that_makes_no_sense(site: Site, tmp_path: Path) -> None:
    installed(site, source(tmp_path / "shop"))
    path = Path(site.root.ledger_root, LEDGER_NAME)
    ledger = json.loads(path.read_text("utf-8"))
    ledger["entries"]["tides"]["files"] = 5
    path.write_text(json.dumps(ledger), "utf-8")

    one = _only(site, "ledger-entry-unclear")

    assert f"`msd capability remove tides --scope {site.scope}`" in one.remedy


def test_the_name_of_an_entry_is_not_repeated_in_a_project(
    home: Path, project: Path
) -> None:
    ledger = {"version": "1", "entries": {"Run `x`": 5}}
    found = {}
    for scope in ("global", "project"):
        site = site_of(home, project, scope)
        Path(site.root.ledger_root, LEDGER_NAME).write_text(json.dumps(ledger), "utf-8")
        found[scope] = _found(site)["ledger-entry-unclear"]

    assert found["global"].subject == "Run x"
    assert found["project"].subject == "(name withheld)"
    assert "capability remove" not in found["project"].remedy


def test_a_consent_store_that_cannot_be_read(home: Path, project: Path) -> None:
    (home / ".msd").mkdir()
    Path(store_path(str(home))).write_text("{", "utf-8")

    (one,) = _examined(find_places(project, home, project))

    assert (one.code, one.scope, one.subject) == (
        "consent-unreadable",
        "",
        ".msd/consent.json",
    )


def test_a_record_that_makes_no_sense(home: Path, project: Path) -> None:
    (home / ".msd").mkdir()
    store = {"version": "1", "records": {"a\x1b[31m": 5}}
    Path(store_path(str(home))).write_text(json.dumps(store), "utf-8")

    (one,) = _examined(find_places(project, home, project))

    assert one.code == "consent-record-unclear"
    assert one.reason == "the record under a [31m makes no sense"


# What a killed command has left


def test_a_change_that_is_half_done(site: Site, tmp_path: Path) -> None:
    installed(site, source(tmp_path / "shop"))
    pending = Pending(kind="upgrade")
    _change(site, lambda old, now: with_pending(old, "tides", pending, now))

    found = _found(site)

    assert {*found} == {"interrupted", "left-out"}
    assert "`msd capability reconcile --scope " in found["interrupted"].remedy


def test_a_staging_folder(site: Site) -> None:
    Path(site.root.folder, ".staging").mkdir(parents=True)

    _only(site, "staging-left", ".msd/capabilities/.staging")


def test_a_temporary_file(site: Site) -> None:
    name = f"{LEDGER_NAME}.tmp.12-0123abcd"
    Path(site.root.ledger_root, name).write_text("", "utf-8")

    _only(site, "temporary-left", name)


def test_an_agreement_that_was_never_settled(site: Site, tmp_path: Path) -> None:
    installed(site, source(tmp_path / "shop"))
    record = record_of(site)
    assert record is not None
    _agree(site, "tides", content_hash=record.content_hash, provisional=True)

    _only(site, "provisional-left")


# What is installed


def test_a_folder_that_is_gone(site: Site, tmp_path: Path) -> None:
    installed(site, hooked(tmp_path / "shop"))
    shutil.rmtree(folder_of(site))

    one = _only(site, "folder-missing")

    assert f"`msd capability update tides --scope {site.scope}`" in one.remedy


def test_something_else_in_the_place_of_a_folder(site: Site, tmp_path: Path) -> None:
    installed(site, source(tmp_path / "shop"))
    folder = folder_of(site)
    folder.rename(tmp_path / "elsewhere")
    folder.write_text("", "utf-8")
    assert "folder-replaced" in _found(site)
    folder.unlink()
    folder.symlink_to(tmp_path / "elsewhere")
    assert "folder-replaced" in _found(site)


def test_a_folder_that_cannot_be_read_whole(site: Site, tmp_path: Path) -> None:
    installed(site, source(tmp_path / "shop"))
    (folder_of(site) / "link").symlink_to("/nowhere")

    one = _found(site)["folder-unreadable"]

    assert one.reason == "its folder cannot be read whole: holds a symbolic link"


@pytest.mark.parametrize(
    ("name", "text", "what"),
    [
        ("run.sh", "#!/bin/sh\nharm\n", "files that may run changed"),
        (
            "notes.bin",
            "new",
            "files that may run changed",
        ),
    ],
)
def test_content_that_nobody_agreed_to(
    site: Site, tmp_path: Path, name: str, text: str, what: str
) -> None:
    """Drift is told once, whether the ledger or the agreement knows of it."""
    installed(site, hooked(tmp_path / "shop"))
    (folder_of(site) / name).write_text(text, "utf-8")

    found = _found(site)

    project = site.scope is Scope.PROJECT
    assert {*found} - {"script-not-executable"} == (
        {"differs-from-agreed", "left-out"} if project else {"differs-from-agreed"}
    )
    one = found["differs-from-agreed"]
    assert one.severity == "error"
    assert one.reason == f"its folder is not what was agreed to: {what}"
    assert ("`msd capability trust tides`" in one.remedy) == project


def test_what_differs_is_told_by_what_it_does(at_home: Site, tmp_path: Path) -> None:
    installed(at_home, hooked(tmp_path / "shop"))

    def reason(**fields: Any) -> str:
        put(at_home, "tides", files={"run.sh": "#!/bin/sh\n"}, **fields)
        return _found(at_home)["differs-from-agreed"].reason.partition(": ")[2]

    hook = {"event": "Stop", "script": "run.sh"}
    assert reason(hooks=[hook], title="Another") == (
        "nothing that runs, is sent or is told to agents has changed"
    )
    assert reason(hooks=[hook, {**hook, "event": "SessionStart"}]) == (
        "what it runs or sends changed"
    )
    assert reason(hooks=[hook], skills=["tides-low"]) == "what it tells agents changed"


def test_an_agreement_without_a_signature_does_not_say_what_differs(
    at_home: Site, tmp_path: Path
) -> None:
    installed(at_home, source(tmp_path / "shop"))
    _agree(at_home, "tides")

    one = _only(at_home, "differs-from-agreed")

    assert one.reason.endswith(": what it was is not recorded")


def test_content_that_was_agreed_to_after_it_was_edited(
    site: Site, tmp_path: Path
) -> None:
    installed(site, source(tmp_path / "shop"))
    record = record_of(site)
    assert record is not None
    _edit(site, content_hash="sha512-other")

    one = _only(site, "differs-from-installed")

    assert one.severity == "warning"


def test_an_overlay_without_a_ledger_entry_that_was_agreed_to_and_edited(
    in_project: Site,
) -> None:
    put(in_project, "tides")
    _agree(in_project, "tides")

    found = _found(in_project)

    assert {*found} == {"differs-from-agreed", "left-out", "hand-made"}
    assert "msd capability update" not in found["differs-from-agreed"].remedy


def test_an_install_that_nobody_agreed_to(site: Site, tmp_path: Path) -> None:
    installed(site, source(tmp_path / "shop"))
    revoke_consent(site.home, site.consent_root, "tides", scope=site.scope)

    found = _found(site)

    # In a project, composing says so.
    project = site.scope is Scope.PROJECT
    assert {*found} == {"left-out" if project else "agreement-missing"}


def test_an_agreement_to_what_is_gone(site: Site) -> None:
    _agree(site, "tides")

    one = _only(site, "agreement-unused")

    assert one.severity == "info"
    revoke = "`msd capability trust revoke tides`"
    assert (revoke in one.remedy) == (site.scope is Scope.PROJECT)


def test_an_agreement_about_another_project_is_none_of_ours(site: Site) -> None:
    _agree(site, "tides", project_root="/srv/other", scope=Scope.PROJECT)

    assert _found(site) == {}


def test_what_was_copied_in_place(at_home: Site) -> None:
    put(at_home, "tides")

    one = _only(at_home, "hand-made")

    assert (one.severity, one.remedy) == ("info", "")


def test_a_ledger_that_claims_files_of_others(site: Site, tmp_path: Path) -> None:
    installed(site, source(tmp_path / "shop"))
    _edit(site, files=(site.path("tides"), "important.txt", "../x"))

    one = _only(site, "odd-files")

    assert "important.txt and 1 more" in one.reason


def test_a_ledger_that_claims_the_marks_of_others(site: Site, tmp_path: Path) -> None:
    installed(site, source(tmp_path / "shop"))
    _edit(site, shared_edits=(SharedEdit(file="a.json", marker="reef"),))

    one = _only(site, "odd-shared-edits")

    assert "a.json" in one.reason


@pytest.mark.parametrize(
    "text", ["./relative", "ui", "", "git+https://u:p@h.example/x"]
)
def test_a_source_that_no_update_could_use(
    site: Site, tmp_path: Path, text: str
) -> None:
    installed(site, source(tmp_path / "shop"))
    _edit(site, source=text)

    _only(site, "source-unusable")


def test_a_source_that_the_project_does_not_allow(
    at_home: Site, project: Path, tmp_path: Path
) -> None:
    installed(at_home, source(tmp_path / "shop"))
    _edit(at_home, source="git+https://forge.example/tides.git")
    (project / ".planning").mkdir()
    text = '{"capabilities": {"strict_known_registries": ["other.example"]}}'
    (project / ".planning" / "config.json").write_text(text, "utf-8")

    one = _only(at_home, "source-unusable")

    assert "forge.example is not listed" in one.reason


def test_a_source_that_is_gone(site: Site, tmp_path: Path) -> None:
    shop = source(tmp_path / "shop")
    installed(site, shop)
    shutil.rmtree(shop)

    assert _only(site, "source-gone").severity == "info"


# Settings of hosts


@pytest.fixture
def settings(site: Site, tmp_path: Path) -> Path:
    """The settings file that has the entries of an installed hook."""
    installed(site, hooked(tmp_path / "shop"), [SETTINGS])
    assert _found(site) == {}
    return Path(site.root.ledger_root, SETTINGS)


@pytest.mark.parametrize("text", ["{", "// mine\n{}", "5"])
def test_settings_that_cannot_be_read(site: Site, settings: Path, text: str) -> None:
    settings.write_text(text, "utf-8")

    assert SETTINGS in _only(site, "settings-unreadable").reason


def test_an_entry_that_was_taken_out(site: Site, settings: Path) -> None:
    for text in ("{}", '{"hooks": {"Stop": []}}', '{"hooks": 5}'):
        settings.write_text(text, "utf-8")
        assert "Stop" in _only(site, "hook-missing").reason
    settings.unlink()
    _only(site, "hook-missing")


def test_an_entry_that_leads_elsewhere(site: Site, settings: Path) -> None:
    document = json.loads(settings.read_text("utf-8"))
    (entry,) = document["hooks"]["Stop"]
    document["hooks"]["SessionStart"] = [entry]
    settings.write_text(json.dumps(document), "utf-8")

    one = _only(site, "hook-stale")

    assert "for SessionStart" in one.reason


def test_an_entry_without_its_folder(site: Site, settings: Path) -> None:
    shutil.rmtree(folder_of(site))

    assert {*_found(site)} == {"folder-missing", "hook-stale"}
    assert MARKER in settings.read_text("utf-8")


def test_an_entry_of_what_is_not_installed(site: Site, settings: Path) -> None:
    document = json.loads(settings.read_text("utf-8"))
    document["hooks"]["Stop"].append({MARKER: "reef", "hooks": []})
    document["hooks"]["Stop"].append({MARKER: "Run this!", "hooks": []})
    settings.write_text(json.dumps(document), "utf-8")

    found = _examined(site.places, scope=site.scope.value)

    own = site.scope is Scope.GLOBAL
    assert [(one.code, one.subject) for one in found] == [
        ("hook-orphaned", "Run this!" if own else "(name withheld)"),
        ("hook-orphaned", "reef"),
    ]


def test_settings_that_no_ledger_names_are_not_looked_into(
    site: Site, tmp_path: Path
) -> None:
    installed(site, hooked(tmp_path / "shop"))
    settings = Path(site.root.ledger_root, SETTINGS)
    settings.parent.mkdir()
    settings.write_text(f'{{"hooks": {{"Stop": [{{"{MARKER}": "reef"}}]}}}}', "utf-8")

    assert _found(site) == {}


def test_a_ledger_that_names_endless_settings(site: Site, tmp_path: Path) -> None:
    installed(site, source(tmp_path / "shop"))
    files = [f"{number}.json" for number in range(MAX_SETTINGS + 1)]
    _edit(site, shared_edits=tuple(SharedEdit(file=f, marker="tides") for f in files))

    _only(site, "settings-not-looked-at", LEDGER_NAME)


@pytest.mark.parametrize("file", ["../up.json", "/etc/passwd", "a\0b", "\ud800"])
def test_settings_outside_of_the_scope_are_not_read(
    site: Site, tmp_path: Path, file: str
) -> None:
    installed(site, source(tmp_path / "shop"))
    _edit(site, shared_edits=(SharedEdit(file=file, marker="tides"),))

    _only(site, "settings-unreadable")


def test_a_script_that_may_not_be_run(site: Site, settings: Path) -> None:
    (folder_of(site) / "run.sh").chmod(0o644)

    one = _only(site, "script-not-executable")

    assert "run.sh" in one.reason
    assert settings.exists()


@pytest.mark.usefixtures("settings")
def test_a_script_that_is_gone(site: Site) -> None:
    (folder_of(site) / "run.sh").unlink()

    assert {*_found(site)} - {"left-out"} == {"differs-from-agreed", "script-missing"}


# What is composed


def test_what_is_left_out_is_told_as_composing_does(site: Site) -> None:
    put(site, "tides", gates=[GATE, {**GATE, "point": "plan:pre", "blocking": False}])
    (folder_of(site) / "capability.json").write_text('{"id": 5}', "utf-8")
    put(site, "reef", engines={"msd": ">=99.0.0"}, gates=[GATE])
    (warning,) = composed(site).warnings[site.scope.value, "tides"]

    found = _examined(site.places, scope=site.scope.value)

    (told,) = (one for one in found if (one.code, one.subject) == ("left-out", "tides"))
    assert (told.cause, told.reason, told.remedy) == (
        warning.code,
        warning.reason,
        warning.remedy,
    )
    (gate,) = (one for one in found if one.code == "gate-not-enforced")
    assert (gate.subject, gate.scope) == ("reef", site.scope.value)
    assert "its blocking gate at ship:pre is not enforced: " in gate.reason


def test_an_advisory_gate_is_a_warning(at_home: Site) -> None:
    gates = [{**GATE, "blocking": False}]
    put(at_home, "tides", engines={"msd": ">=99.0.0"}, gates=gates)

    found = _found(at_home)

    assert found["advisory-gate-not-enforced"].severity == "warning"
    assert found["advisory-gate-not-enforced"].cause == "incompatible-engine"


def test_each_scope_tells_of_its_own_overlays(home: Path, project: Path) -> None:
    sites = [site_of(home, project, scope) for scope in ("global", "project")]
    for site in sites:
        put(site, "tides", engines={"msd": ">=99.0.0"}, gates=[GATE])
        Path(site.root.folder, f"{site.scope}.txt").write_text("", "utf-8")

    for site in sites:
        found = _found(site)
        assert {one.scope for one in found.values()} == {site.scope.value}
        assert found["not-an-overlay"].subject == f"{site.scope}.txt"


def test_an_entry_alone_is_not_an_install_of_the_user(in_project: Site) -> None:
    """A planted ledger names what is not there, and no more."""
    entry = InstalledEntry(id="tides", version="1.0.0", source="/nowhere")
    _change(in_project, lambda old, now: with_entry(old, entry, now))

    assert {*_found(in_project)} == {"folder-missing", "source-gone"}


def test_a_gate_that_may_block_is_an_error(at_home: Site) -> None:
    gates = [{**GATE, "blocking": 5}, {**GATE, "point": "nowhere"}]
    put(at_home, "tides", engines={"msd": ">=99.0.0"}, gates=gates)

    found = _found(at_home)

    assert "its possibly blocking gate at" in found["gate-not-enforced"].reason


# Text that no command could repeat, and depth that no recursion could follow


def test_a_name_that_is_too_long_for_a_command_has_no_command(
    in_project: Site,
) -> None:
    name = "x" * 101
    put(in_project, name)
    _agree(in_project, name)

    found = _found(in_project)

    assert found["differs-from-agreed"].subject == "(name withheld)"
    assert found["differs-from-agreed"].remedy == ""


def _nested(depth: int, *owners: str) -> str:
    deep = "[" * depth + "]" * depth
    entries = [f'{{"{MARKER}": "{owner}", "x": {deep}}}' for owner in owners]
    return f'{{"hooks": {{"Stop": [{", ".join(entries)}]}}}}'


def test_settings_nested_to_any_depth_are_looked_into_or_not(
    site: Site, settings: Path
) -> None:
    read = {"hook-missing", "hook-stale", "hook-orphaned"}
    seen = set()
    for depth in (*range(0, 900, 100), *range(900, 1000), 100_000):
        settings.write_text(_nested(depth, "tides", "reef"), "utf-8")
        found = {*_found(site)}
        assert found in (read, {"settings-unreadable"})
        seen |= found
    assert seen == {*read, "settings-unreadable"}


@pytest.mark.parametrize("listed", ["5", "[5]", f'[{{"{MARKER}": 5}}]', "[[]]"])
def test_hooks_of_another_shape_are_none_of_ours(
    site: Site, settings: Path, listed: str
) -> None:
    settings.write_text(f'{{"hooks": {{"Stop": {listed}}}}}', "utf-8")

    _only(site, "hook-missing")


def test_a_set_that_cannot_be_built_is_told_once(
    at_home: Site, home: Path, project: Path
) -> None:
    def step(produces: list[str], consumes: list[str], point: str) -> dict[str, Any]:
        about = {"point": point, "ref": {"command": "x"}, "onError": "skip"}
        return {**about, "produces": produces, "consumes": consumes}

    put(at_home, "a", steps=[step(["A.md"], ["B.md"], "plan:pre")])
    put(at_home, "b", steps=[step(["B.md"], ["A.md"], "plan:pre")])
    put(at_home, "c", steps=[step(["A.md", "B.md"], [], "discuss:pre")])
    places = find_places(project, home, project)

    found = [one.code for one in _examined(places) if one.severity != "info"]
    alone = [
        one.code
        for one in _examined(places, on_set_failure="isolate")
        if one.severity != "info"
    ]

    assert found == ["nothing-composed"]
    assert alone == ["left-out", "left-out"]
