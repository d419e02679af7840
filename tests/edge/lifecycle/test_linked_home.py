"""A home that is reached over a link is one home, by whichever path."""

from __future__ import annotations

from pathlib import Path

import pytest

from msdcomp.edge.lifecycle import plan_install, traces
from tests.edge.lifecycle.shops import (
    installed,
    parcel_of,
    record_of,
    removed,
    site_of,
    source,
)


@pytest.fixture
def linked(tmp_path: Path, home: Path) -> Path:
    link = tmp_path / "link"
    link.symlink_to(home)
    return link


def test_an_agreement_of_the_global_scope_is_found_again(
    tmp_path: Path, home: Path, project: Path, linked: Path
) -> None:
    shop = source(tmp_path / "shop", files={"run.sh": "#!/bin/sh\n"})
    over_link = site_of(linked, project, "global")

    installed(over_link, shop)

    record = record_of(over_link)
    assert record is not None
    assert record.project_root == str(home)
    assert record_of(site_of(home, project, "global")) == record
    plan = plan_install(over_link, parcel_of(shop)).plan
    assert (plan.action, plan.asks) == ("none", "")
    assert traces(over_link) == ()


def test_it_is_taken_back_by_a_removal(
    tmp_path: Path, home: Path, project: Path, linked: Path
) -> None:
    installed(site_of(linked, project, "global"), source(tmp_path / "shop"))

    removed(site_of(linked, project, "global"), "tides")

    assert record_of(site_of(home, project, "global")) is None
