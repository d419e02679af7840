"""A ledger that was moved away: installing again says anew what is there already."""

from __future__ import annotations

from pathlib import Path

from msdcomp.edge.ledger import LEDGER_NAME
from msdcomp.edge.lifecycle import Site, plan_install, plan_removal
from tests.edge.lifecycle.shops import (
    codes,
    done,
    entry_of,
    folder_of,
    installed,
    parcel_of,
    source,
)


def test_the_same_content_is_taken_for_installed(site: Site, tmp_path: Path) -> None:
    bundle = source(tmp_path / "tides")
    installed(site, bundle)
    Path(site.root.ledger_root, LEDGER_NAME).unlink()
    prepared = plan_install(site, parcel_of(bundle))
    assert prepared.plan.blocks == ()
    assert prepared.plan.action == "install"
    assert prepared.plan.asks == ""
    done(prepared)
    entry = entry_of(site, "tides")
    assert entry is not None
    assert entry.content_hash == prepared.plan.content_hash
    assert plan_install(site, parcel_of(bundle)).plan.action == "none"
    done(plan_removal(site, "tides"))
    assert not folder_of(site, "tides").exists()


def test_other_content_stays_somebodys_own(site: Site, tmp_path: Path) -> None:
    bundle = source(tmp_path / "tides")
    installed(site, bundle)
    Path(site.root.ledger_root, LEDGER_NAME).unlink()
    (folder_of(site, "tides") / "note.txt").write_text("mine")
    prepared = plan_install(site, parcel_of(bundle))
    assert codes(prepared.plan.blocks) == ["occupied"]
