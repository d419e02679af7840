"""Where a scope installs, and whose its overlays count as."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from msdcomp.edge.files import FileFault
from msdcomp.edge.lifecycle import Site, find_site, plan_install, sites
from msdcomp.edge.roots import Places, find_places
from msdcomp.manifest import CapabilityId
from msdcomp.scope import Scope
from tests.edge.lifecycle.shops import (
    blocks,
    codes,
    composed,
    entry_of,
    folder_of,
    installed,
    parcel_of,
    record_of,
    removed,
    site_of,
    source,
)


def test_each_scope_has_its_own_root(home: Path, project: Path) -> None:
    own, theirs = (site_of(home, project, scope.value) for scope in Scope)

    assert (own.root.folder, theirs.root.folder) == (
        f"{home}/.msd/capabilities",
        f"{project}/.msd/capabilities",
    )
    assert (own.consent_root, theirs.consent_root) == (str(home), str(project))
    assert (own.is_own, theirs.is_own) == (True, False)
    assert own.path("tides") == theirs.path("tides") == ".msd/capabilities/tides"
    assert sites(own.places, own.host_version) == (own, theirs)


def test_without_a_home_nothing_is_installed() -> None:
    places = Places(home=None, project="/p", roots=())

    fault = find_site(places, "project")

    assert isinstance(fault, FileFault)
    assert fault.code == "no-home"
    assert sites(places) == ()


def test_without_a_project_nothing_is_installed_in_one(home: Path) -> None:
    places = Places(home=str(home), project=None, roots=find_places(home, home).roots)

    fault = find_site(places, "project")

    assert isinstance(fault, FileFault)
    assert fault.code == "no-project"


def test_a_home_that_is_the_project_has_one_root_and_it_is_the_projects(
    home: Path,
) -> None:
    both = [site_of(home, home, scope.value) for scope in Scope]

    assert both[0] == both[1]
    assert both[0].scope is Scope.PROJECT
    assert both[0].consent_root == str(home)


def test_a_consent_root_is_known_even_where_a_project_is_not(
    at_home: Site, in_project: Site
) -> None:
    places = Places(home=at_home.home, project=None, roots=())
    site = Site(places=places, root=in_project.root, home=at_home.home)

    assert site.consent_root == at_home.home


@pytest.mark.parametrize("scope", [scope.value for scope in Scope])
def test_a_scope_is_what_the_user_means_by_it(
    home: Path, project: Path, scope: str
) -> None:
    site = site_of(home, project, scope)

    assert sites(site.places, site.host_version, scope=scope) == (site,)
    apart = find_places(home, home)
    (own,) = sites(apart, scope="global")
    assert own.scope is Scope.GLOBAL
    assert sites(apart, scope="project") == ()


def test_a_home_in_a_project_is_meant_by_either_scope(escalated: Site) -> None:
    found = sites(escalated.places, escalated.host_version, scope="project")

    assert found[-1] == escalated
    assert [site.root.shown for site in found] == [
        ".msd/capabilities",
        "vendor/home/.msd/capabilities",
    ]
    only = sites(escalated.places, escalated.host_version, scope="global")
    assert only == (escalated,)


@pytest.fixture
def escalated(project: Path) -> Site:
    """The global site of a home that lies in a repository."""
    home = project / "vendor" / "home"
    home.mkdir(parents=True)
    return site_of(home, project, "global")


def test_a_home_inside_of_a_project_installs_as_that_project(
    escalated: Site, tmp_path: Path, project: Path
) -> None:
    where = source(tmp_path / "new")

    installed(escalated, where)

    assert escalated.scope is Scope.PROJECT
    assert escalated.path("tides") == "vendor/home/.msd/capabilities/tides"
    entry, record = entry_of(escalated), record_of(escalated)
    assert entry is not None
    assert entry.files == ("vendor/home/.msd/capabilities/tides",)
    assert record is not None
    assert (record.scope, record.project_root) == (Scope.PROJECT, str(project))
    made = composed(escalated)
    assert made.accepted == ("tides",)
    assert made.paths[CapabilityId("tides")].scope == "project"


def test_what_was_installed_there_is_removed_again(
    escalated: Site, tmp_path: Path
) -> None:
    installed(escalated, source(tmp_path / "new"))

    removed(escalated, "tides")

    assert not os.path.lexists(folder_of(escalated))
    assert entry_of(escalated) is None
    assert record_of(escalated) is None
    assert composed(escalated).accepted == ()


def test_a_global_root_that_is_a_link_into_the_project_is_not_written_through(
    home: Path, project: Path, tmp_path: Path
) -> None:
    planted = project / "planted"
    planted.mkdir()
    (home / ".msd").mkdir()
    (home / ".msd" / "capabilities").symlink_to(planted)
    site = site_of(home, project, "global")

    assert site.scope is Scope.PROJECT
    prepared = plan_install(site, parcel_of(source(tmp_path / "new")))
    assert codes(prepared.plan.blocks) == ["place"]
    assert blocks(prepared) == prepared.plan.blocks
    assert list(planted.iterdir()) == []


def test_links_on_the_way_to_the_users_own_root_are_followed(
    home: Path, project: Path, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "dotfiles"
    elsewhere.mkdir()
    (home / ".msd").symlink_to(elsewhere)
    site = site_of(home, project, "global")

    installed(site, source(tmp_path / "new"))

    assert (elsewhere / "capabilities" / "tides" / "capability.json").exists()
    assert composed(site).accepted == ("tides",)
