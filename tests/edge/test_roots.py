"""Which folders overlays are looked for in, and whose they count as."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from msdcomp.candidate import Scope
from msdcomp.edge.roots import Places, find_home, find_places, find_project
from tests.layouts import put, write

CAPABILITIES = ".msd/capabilities"


def physical(path: Path) -> str:
    return os.path.realpath(path)


def scopes(places: Places) -> list[tuple[str, str]]:
    """Scope and physical folder of each root."""
    return [(root.scope.value, physical(Path(root.folder))) for root in places.roots]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "home" / CAPABILITIES).mkdir(parents=True)
    return tmp_path / "home"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "project" / CAPABILITIES).mkdir(parents=True)
    (tmp_path / "project" / ".planning").mkdir()
    return tmp_path / "project"


# The home


def test_a_given_home_comes_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MSD_HOME", "/somewhere")
    assert find_home(tmp_path) == str(tmp_path)
    assert find_home() == "/somewhere"


@pytest.mark.parametrize("value", [None, ""])
def test_without_msd_home_it_is_the_users(
    monkeypatch: pytest.MonkeyPatch, value: str | None
) -> None:
    monkeypatch.setenv("HOME", "/home/somebody")
    monkeypatch.delenv("MSD_HOME", raising=False)
    if value is not None:
        monkeypatch.setenv("MSD_HOME", value)
    assert find_home() == "/home/somebody"


def test_a_relative_home_is_made_absolute(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MSD_HOME", "own")
    assert find_home() == str(Path.cwd() / "own")


def test_nobody_knows_a_home(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown() -> Path:
        raise RuntimeError("no home")

    monkeypatch.delenv("MSD_HOME", raising=False)
    monkeypatch.setattr(Path, "home", unknown)
    assert find_home() is None
    assert find_places("/").home is None
    assert [root.scope for root in find_places("/").roots] == [Scope.PROJECT]


def test_a_working_directory_that_is_gone(
    tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    monkeypatch.setenv("MSD_HOME", "relative")
    assert find_home() is None
    assert find_project(None, str(home)) == (None, False)
    assert [scope for scope, _ in scopes(find_places(None, home))] == ["global"]


# The project


@pytest.mark.parametrize(
    ("marker", "spec"),
    [
        (".planning", {"dir": True}),
        (".git", {"dir": True}),
        (".git", "gitdir: ../elsewhere"),
        (".git", {"symlink": "nowhere"}),
    ],
)
def test_the_nearest_marker_at_or_above(
    tmp_path: Path, marker: str, spec: object
) -> None:
    put(tmp_path / "outer" / ".git", {"dir": True})
    put(tmp_path / "outer" / "p" / marker, spec)
    (tmp_path / "outer" / "p" / "a" / "b").mkdir(parents=True)
    expected = (physical(tmp_path / "outer" / "p"), True)
    assert find_project(tmp_path / "outer" / "p", None) == expected
    assert find_project(tmp_path / "outer" / "p" / "a" / "b", None) == expected
    outer = (physical(tmp_path / "outer"), True)
    assert find_project(tmp_path / "outer", None) == outer


def test_a_planning_file_marks_nothing(tmp_path: Path) -> None:
    write(tmp_path / "p" / ".planning", "a file")
    assert find_project(tmp_path / "p", None) == (physical(tmp_path / "p"), False)


def test_without_a_marker_it_is_the_working_directory(
    tmp_path: Path, home: Path
) -> None:
    (tmp_path / "p").mkdir()
    assert find_project(tmp_path / "p", str(home)) == (physical(tmp_path / "p"), False)


def test_without_a_marker_the_home_is_no_project(tmp_path: Path, home: Path) -> None:
    (tmp_path / "alias").symlink_to("home")
    assert find_project(home, str(home)) == (None, False)
    assert find_project(tmp_path / "alias", str(home)) == (None, False)
    assert find_project(home, str(tmp_path / "alias")) == (None, False)


def test_a_home_that_does_not_exist_is_no_project(tmp_path: Path) -> None:
    missing = tmp_path / "missing"
    assert find_project(missing, str(missing)) == (None, False)


def test_a_marked_home_is_a_project(home: Path) -> None:
    (home / ".git").mkdir()
    assert find_project(home, str(home)) == (physical(home), True)


def test_the_way_up_is_the_physical_one(tmp_path: Path, project: Path) -> None:
    (project / "deep").mkdir()
    (tmp_path / "shortcut").symlink_to("project/deep")
    found = find_project(tmp_path / "shortcut", None)
    assert found == (physical(project), True)


def test_a_given_project_is_not_looked_for(tmp_path: Path, project: Path) -> None:
    (project / "inner").mkdir()
    found = find_project(tmp_path, None, project / "inner")
    assert found == (physical(project / "inner"), True)


def test_the_working_directory_of_the_process(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project)
    assert find_project(None, None) == (physical(project), True)


# The roots


def test_global_before_project(home: Path, project: Path) -> None:
    places = find_places(project, home)
    assert scopes(places) == [
        ("global", physical(home / CAPABILITIES)),
        ("project", physical(project / CAPABILITIES)),
    ]
    assert [root.shown for root in places.roots] == [CAPABILITIES, CAPABILITIES]
    assert [root.ledger_root for root in places.roots] == [
        str(home),
        physical(project),
    ]
    assert (places.home, places.project) == (str(home), physical(project))


def only_project(project: Path) -> list[tuple[str, str]]:
    return [("project", physical(project / CAPABILITIES))]


def test_a_home_that_is_the_project(project: Path) -> None:
    assert scopes(find_places(project, project)) == only_project(project)


def test_a_home_that_links_to_the_project(tmp_path: Path, project: Path) -> None:
    (tmp_path / "alias").symlink_to("project")
    assert scopes(find_places(project, tmp_path / "alias")) == only_project(project)


@pytest.mark.parametrize("part", [".msd", CAPABILITIES])
def test_a_global_root_that_links_to_the_projects(
    tmp_path: Path, project: Path, part: str
) -> None:
    (tmp_path / "h" / part).parent.mkdir(parents=True)
    (tmp_path / "h" / part).symlink_to(project / part)
    assert scopes(find_places(project, tmp_path / "h")) == only_project(project)


def test_a_project_root_linked_to_the_global_one(home: Path, tmp_path: Path) -> None:
    """A repository cannot be trusted for pointing at what is trusted."""
    put(tmp_path / "p" / ".git", {"dir": True})
    put(tmp_path / "p" / ".msd", {"symlink": str(home / ".msd")})
    assert scopes(find_places(tmp_path / "p", home)) == [
        ("project", physical(home / CAPABILITIES))
    ]


def test_the_same_folder_before_it_exists(tmp_path: Path) -> None:
    (tmp_path / "p" / ".git").mkdir(parents=True)
    (tmp_path / "alias").symlink_to("p")
    places = find_places(tmp_path / "p", tmp_path / "alias")
    assert [root.scope for root in places.roots] == [Scope.PROJECT]


def test_a_project_inside_the_home(home: Path) -> None:
    (home / "labs" / ".git").mkdir(parents=True)
    assert [scope for scope, _ in scopes(find_places(home / "labs", home))] == [
        "global",
        "project",
    ]


@pytest.mark.parametrize("way", ["plainly", "by a link"])
def test_a_global_root_inside_a_repository_is_the_repositorys(
    tmp_path: Path, project: Path, way: str
) -> None:
    """What a repository can plant is not trusted, whatever name it goes by."""
    inner = project / "tools" / "home"
    (inner / CAPABILITIES).mkdir(parents=True)
    home = inner
    if way == "by a link":
        home = tmp_path / "alias"
        home.symlink_to(inner)
    places = find_places(project, home)
    assert scopes(places) == [
        ("project", physical(inner / CAPABILITIES)),
        ("project", physical(project / CAPABILITIES)),
    ]
    assert places.roots[0].shown == f"tools/home/{CAPABILITIES}"


def test_a_folder_that_merely_holds_the_home_is_no_repository(
    tmp_path: Path, home: Path
) -> None:
    assert [scope for scope, _ in scopes(find_places(tmp_path, home))] == [
        "global",
        "project",
    ]


def test_what_cannot_be_told_apart_counts_as_the_projects(
    tmp_path: Path, project: Path
) -> None:
    """Links in a circle have no physical place to compare."""
    (tmp_path / "h" / ".msd").mkdir(parents=True)
    (tmp_path / "h" / CAPABILITIES).symlink_to("capabilities")
    places = find_places(project, tmp_path / "h")
    assert [root.scope for root in places.roots] == [Scope.PROJECT, Scope.PROJECT]


def test_a_root_that_is_no_folder_is_still_told_apart(
    tmp_path: Path, project: Path
) -> None:
    write(tmp_path / "h" / ".msd", "a file")
    places = find_places(project, tmp_path / "h")
    assert [root.scope for root in places.roots] == [Scope.GLOBAL, Scope.PROJECT]
