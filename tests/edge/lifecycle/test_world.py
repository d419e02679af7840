"""What a plan is made from, as the disk has it."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from msdcomp.edge.consent import ConsentRecord, write_consent
from msdcomp.edge.content_hash import Bundle
from msdcomp.edge.files import FileFault
from msdcomp.edge.lifecycle import Site
from msdcomp.edge.lifecycle.world import Kind, look_at, moved, see
from msdcomp.edge.storetext import StoreState
from msdcomp.scope import Consent
from tests.edge.lifecycle.shops import folder_of, listing, put, source


def test_nothing_is_seen_where_nothing_is_and_nothing_is_made(
    site: Site, home: Path, project: Path
) -> None:
    before = listing(home, project)

    world = see(site, "tides")

    assert world.candidates == ()
    assert world.ledger.state is StoreState.ABSENT
    assert world.installed.kind is Kind.NOTHING
    assert world.installed.digest == ""
    assert world.record is Consent.NONE
    assert listing(home, project) == before


def _folder(place: Path) -> None:
    source(place)


def _link(place: Path) -> None:
    place.symlink_to("nowhere")


def _file(place: Path) -> None:
    place.write_text("", "utf-8")


def _pipe(place: Path) -> None:
    os.mkfifo(place)


@pytest.mark.parametrize(
    ("make", "kind"),
    [
        (_folder, Kind.FOLDER),
        (_link, Kind.LINK),
        (_file, Kind.OTHER),
        (_pipe, Kind.OTHER),
    ],
)
def test_what_stands_in_the_place(
    site: Site, make: Callable[[Path], None], kind: Kind
) -> None:
    folder_of(site).parent.mkdir(parents=True)
    make(folder_of(site))

    installed = look_at(site, "tides")

    assert installed.kind is kind
    assert bool(installed.digest) == (kind is Kind.FOLDER)
    assert look_at(site, "other").kind is Kind.NOTHING


def test_a_folder_that_cannot_be_hashed_is_one_all_the_same(site: Site) -> None:
    put(site, "tides")
    (folder_of(site) / "link").symlink_to("x")

    installed = look_at(site, "tides")

    assert installed.kind is Kind.FOLDER
    assert isinstance(installed.bundle, FileFault)
    assert installed.digest == ""


def test_a_name_that_no_file_can_have_is_unknown(site: Site) -> None:
    put(site, "tides")

    installed = look_at(site, "x" * 300)

    assert installed.kind is Kind.UNKNOWN
    assert installed.fault is not None


def test_behind_a_link_in_a_project_nobody_looks(
    in_project: Site, tmp_path: Path
) -> None:
    source(tmp_path / "capabilities" / "tides")
    Path(in_project.root.ledger_root, ".msd").symlink_to(tmp_path)

    installed = look_at(in_project, "tides")

    assert installed.kind is Kind.UNKNOWN
    assert installed.fault is not None
    assert installed.fault.code == "link"


def test_a_project_that_is_gone_holds_nothing(in_project: Site) -> None:
    (Path(in_project.root.ledger_root) / ".git").rmdir()
    Path(in_project.root.ledger_root).rmdir()

    assert look_at(in_project, "tides").kind is Kind.NOTHING


def test_a_file_in_place_of_the_root_makes_it_unknown(site: Site) -> None:
    Path(site.root.ledger_root, ".msd").write_text("", "utf-8")

    assert look_at(site, "tides").kind is Kind.UNKNOWN


def test_two_looks_at_the_same_world_are_equal(site: Site) -> None:
    put(site, "tides")

    assert see(site, "tides") == see(site, "tides")
    assert moved(see(site, "tides"), see(site, "tides")) == ()


def test_what_has_moved_is_said_in_words(site: Site, home: Path) -> None:
    put(site, "tides")
    before = see(site, "tides")
    (folder_of(site) / "more.md").write_text("", "utf-8")
    put(site, "other")
    Path(site.root.ledger_root, ".msd-capabilities.json").write_text("{", "utf-8")
    installed = look_at(site, "tides")
    assert isinstance(installed.bundle, Bundle)
    record = ConsentRecord(
        project_root=site.consent_root,
        id="tides",
        scope=site.scope,
        content_hash=installed.digest,
    )
    assert isinstance(write_consent(str(home), record), ConsentRecord)

    assert moved(before, see(site, "tides")) == (
        "an overlay here",
        "the ledger",
        "what is installed",
        "an agreement",
    )
