"""W-1, W-2, W-3: nothing runs that nobody agreed to, whatever lies on the disk."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from msdcomp.edge.lifecycle import Done, apply, find_site, plan_install, procure
from msdcomp.edge.lifecycle.parcel import Parcel
from msdcomp.edge.lifecycle.site import Site
from msdcomp.sourcespec import SourceSpec, parse_source
from tests.hostile.ground import (
    GATE,
    HOOK,
    RUN,
    Ground,
    bundle,
    entry,
    ledger,
    picture,
)

SCOPES = ("global", "project")

SHELL = {"predicate": {"kind": "command-exit-zero", "command": "sh ${PHASE}"}}

#: What starts a program, and a part of the line that has to be shown.
STARTS: dict[str, tuple[dict[str, Any], str]] = {
    "shell gate": ({"gates": [{**GATE, "check": SHELL}]}, "sh ${PHASE}"),
    "command step": (
        {
            "steps": [
                {
                    "point": "ship:pre",
                    "ref": {"command": "curl evil"},
                    "produces": [],
                    "consumes": [],
                    "onError": "skip",
                }
            ]
        },
        "curl evil",
    ),
    "resolver": (
        {
            "taskContentResolver": {
                "trackerPrefix": "buoy",
                "invoke": {
                    "binary": "sh",
                    "args": ["-c", "evil", "{{id}}"],
                    "timeoutMs": 9,
                },
            }
        },
        "evil",
    ),
    "hook": ({"hooks": [HOOK]}, "run.sh"),
}


@pytest.mark.parametrize("scope", SCOPES)
@pytest.mark.parametrize("what", STARTS)
def test_w1_whatever_starts_a_program_is_shown_and_asked_about(
    ground: Ground, tmp_path: Path, what: str, scope: str
) -> None:
    fields, shown = STARTS[what]
    source = bundle(tmp_path / "source", files={"run.sh": RUN}, **fields)
    line = ("install", str(source), "--scope", scope)
    before = picture(ground.top)

    done = ground.capability(*line)

    assert done.code == 1
    assert "declarative only" not in done.text.lower()
    assert shown in done.text
    assert "say --yes" in done.err
    assert picture(ground.top) == before
    planned = ground.capability(*line, "--dry-run", "--json").json
    assert planned["plan"]["disclosure"]["runsCode"] is True
    assert ground.capability(*line, "--yes").code == 0
    record = ground.agreed("tide", scope)
    assert record.disclosure_signature
    assert ground.active() == {"tide"}


@pytest.mark.parametrize("scope", SCOPES)
@pytest.mark.parametrize("what", STARTS)
def test_w1_an_update_that_starts_a_program_is_asked_about(
    ground: Ground, tmp_path: Path, what: str, scope: str
) -> None:
    fields, shown = STARTS[what]
    source = bundle(tmp_path / "source", files={"run.sh": RUN})
    assert ground.capability("install", source, "--scope", scope, "--yes").code == 0
    bundle(source, version="1.0.1", **fields)
    before = picture(ground.top)

    done = ground.capability("update", "tide")

    assert done.code == 1
    assert shown in done.text
    assert "changed since it was agreed to" in done.text
    assert picture(ground.top) == before
    assert ground.capability("update", "tide", "--yes").code == 0


@pytest.fixture
def hooked(tmp_path: Path) -> Path:
    files = {"run.sh": RUN, "lib/help.sh": b"help"}
    return bundle(tmp_path / "hooked", files=files, hooks=[HOOK])


@pytest.mark.parametrize("scope", SCOPES)
@pytest.mark.parametrize("file", ["run.sh", "lib/help.sh", "lib/more.sh"])
def test_w2_another_script_under_the_same_name_is_asked_about(
    ground: Ground, hooked: Path, scope: str, file: str
) -> None:
    where = ("--scope", scope, "--settings", "settings.json")
    assert ground.capability("install", hooked, *where, "--yes").code == 0
    agreed = ground.agreed("tide", scope)
    (hooked / file).write_bytes(b"#!/bin/sh\nevil\n")
    before = picture(ground.top)

    for line in (("update", "tide"), ("update", "--all"), ("install", hooked, *where)):
        done = ground.capability(*line)

        assert done.code == 1, line
        assert "files that may run changed since it was agreed to" in done.text
        assert picture(ground.top) == before
    assert ground.capability("update", "tide", "--yes").code == 0
    assert (ground.folder("tide", scope) / file).read_bytes().endswith(b"evil\n")
    now = ground.agreed("tide", scope)
    assert now.disclosure_signature != agreed.disclosure_signature
    assert now.content_hash != agreed.content_hash


@pytest.mark.parametrize("scope", SCOPES)
def test_w2_what_runs_nothing_new_needs_no_second_agreement(
    ground: Ground, hooked: Path, scope: str
) -> None:
    assert ground.capability("install", hooked, "--scope", scope, "--yes").code == 0
    bundle(hooked, version="1.0.1", title="Another", hooks=[HOOK])

    done = ground.capability("update", "tide")

    assert done.code == 0, done
    assert ground.active() == {"tide"}
    assert ground.row("tide", scope)["version"] == "1.0.1"


def test_w2_a_script_swapped_after_consent_does_not_take_part(
    ground: Ground, hooked: Path
) -> None:
    line = ("install", hooked, "--scope", "project", "--settings", "settings.json")
    assert ground.capability(*line, "--yes").code == 0
    assert ground.active() == {"tide"}

    (ground.folder("tide") / "run.sh").write_bytes(b"#!/bin/sh\nevil\n")

    assert ground.active() == set()
    assert ground.row("tide")["code"] == "consent-changed"
    before = picture(ground.top)
    done = ground.capability("update", "tide")
    assert done.code == 1
    assert "edited since it was installed" in done.text
    assert picture(ground.top) == before
    assert ground.capability("update", "tide", "--yes").code == 0
    assert (ground.folder("tide") / "run.sh").read_bytes() == RUN
    assert ground.active() == {"tide"}


def test_w2_a_source_swapped_while_somebody_reads_is_not_installed(
    ground: Ground, hooked: Path
) -> None:
    """What is shown is in memory: what lies at the source then no longer counts."""
    site = _site(ground, "project")
    parcel = _parcel(hooked)
    prepared = plan_install(site, parcel)
    (hooked / "run.sh").write_bytes(b"#!/bin/sh\nevil\n")

    assert isinstance(apply(prepared), Done)
    assert (ground.folder("tide") / "run.sh").read_bytes() == RUN
    assert ground.agreed("tide").content_hash == prepared.plan.content_hash


def _site(ground: Ground, scope: str) -> Site:
    site = find_site(ground.places(), scope)
    assert isinstance(site, Site)
    return site


def _parcel(folder: Path) -> Parcel:
    spec = parse_source(str(folder), "/")
    assert isinstance(spec, SourceSpec)
    parcel = procure(spec, "1.11.0")
    assert isinstance(parcel, Parcel)
    return parcel


@pytest.fixture
def cloned(ground: Ground, hooked: Path) -> Path:
    """A repository that brings a bundle, a ledger that praises it, and its source."""
    shutil.copytree(hooked, ground.folder("tide"))
    vendor = ground.project / "vendor" / "tide"
    shutil.copytree(hooked, vendor)
    parcel = _parcel(vendor)
    ledger(
        ground.project,
        entry(
            source=str(vendor),
            contentHash=parcel.bundle.digest,
            disclosureSignature=parcel.signature,
            sharedEdits=[{"file": "settings.json", "marker": "tide"}],
        ),
    )
    return vendor


UPDATES = (
    ("update", "--all", "--scope", "project"),
    ("update", "--all"),
    ("update", "tide"),
    ("update", "tide", "--settings", "settings.json"),
)


@pytest.mark.parametrize("line", UPDATES)
def test_w3_an_update_of_a_cloned_repository_agrees_to_nothing(
    ground: Ground, cloned: Path, line: tuple[str, ...]
) -> None:
    before = picture(ground.top)

    done = ground.capability(*line)

    assert done.code == 1
    assert "nobody has agreed to it here yet" in done.text
    assert str(cloned) in done.text
    assert picture(ground.top) == before
    assert ground.active() == set()


@pytest.mark.parametrize("source", ["./vendor/tide", "vendor/tide", "../vendor"])
@pytest.mark.usefixtures("cloned")
def test_w3_a_source_relative_to_nobody_knows_what_is_not_fetched(
    ground: Ground, source: str
) -> None:
    ledger(ground.project, entry(source=source))
    before = picture(ground.top)

    done = ground.capability("update", "--all", "--scope", "project", "--yes")

    assert done.code == 1
    assert "does not say where it starts from" in done.text
    assert picture(ground.top) == before


@pytest.mark.usefixtures("cloned")
def test_w3_an_agreement_with_another_project_is_none_with_this_one(
    ground: Ground, hooked: Path, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    there = ("--scope", "project", "--project", elsewhere, "--yes")
    assert ground.capability("install", hooked, *there).code == 0
    assert ground.capability("install", hooked, "--yes").code == 0

    done = ground.capability("update", "--all", "--scope", "project")

    assert done.code == 1
    assert ground.agreed("tide") is None


@pytest.mark.parametrize("line", UPDATES)
def test_w3_what_was_taken_back_is_not_agreed_to_by_an_update(
    ground: Ground, hooked: Path, line: tuple[str, ...]
) -> None:
    install = ("install", hooked, "--scope", "project", "--settings", "settings.json")
    assert ground.capability(*install, "--yes").code == 0
    assert ground.capability("trust", "revoke", "tide").code == 0
    before = picture(ground.top)

    done = ground.capability(*line)

    assert done.code == 1
    assert "nobody has agreed to it here yet" in done.text
    assert picture(ground.top) == before
    assert ground.agreed("tide") is None
    assert ground.capability(*install).code == 1
    assert ground.active() == set()


@pytest.mark.parametrize(
    "store",
    [
        '{"version":1,"records":{}}',
        '{"version":1,"records":{"x":{"projectRoot":"PROJECT","id":"tide"}}}',
        '{"version":1,"records":{"x":null}}',
    ],
)
@pytest.mark.usefixtures("cloned")
def test_w3_a_consent_file_in_the_repository_counts_for_nothing(
    ground: Ground, store: str
) -> None:
    text = store.replace("PROJECT", str(ground.project))
    (ground.project / ".msd" / "consent.json").write_text(text, "utf-8")
    before = picture(ground.top)

    assert ground.capability("update", "--all").code == 1
    assert picture(ground.top) == before
    assert ground.active() == set()


@pytest.mark.usefixtures("cloned")
def test_w3_an_agreement_without_a_signature_is_asked_about_again(
    ground: Ground, hooked: Path
) -> None:
    """What an older program recorded does not say what was shown."""
    store = ground.home / ".msd" / "consent.json"
    line = ("install", hooked, "--scope", "project", "--yes")
    assert ground.capability(*line).code == 0
    signature = ground.agreed("tide").disclosure_signature
    text = store.read_text("utf-8")
    quoted = signature.replace('"', '\\"')
    assert quoted in text
    store.write_text(text.replace(quoted, ""), "utf-8")
    (hooked / "run.sh").write_bytes(b"#!/bin/sh\nevil\n")

    done = ground.capability("update", "tide")

    assert done.code == 1
    assert ground.agreed("tide").disclosure_signature == ""
