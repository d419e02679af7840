"""Where a host keeps its configuration: what its descriptor says, on this machine."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from msdcomp.edge.confighome import config_folder
from msdcomp.edge.firstparty import first_party
from msdcomp.manifest.runtime import ConfigHome
from msdcomp.vocabulary.runtime import CONFIG_HOME_KINDS

HOME = "/home/ada"
NESTED = ConfigHome(
    kind="dot-home-nested",
    name="sea",
    parent=".gulf",
    env=("SEA_DIR",),
    probe=("sea", "sea-ide"),
    probe_exists="core/VERSION",
)
AGENTS = ConfigHome(
    kind="generic-agents-root",
    name="agents",
    probe=("~/.config/agents", "~/.agents"),
    probe_exists="skills",
)


@pytest.mark.parametrize(
    ("found", "folder"),
    [
        (ConfigHome(kind="dot-home", name=".sea"), f"{HOME}/.sea"),
        (ConfigHome(kind="xdg", name="sea"), f"{HOME}/.config/sea"),
        (NESTED, f"{HOME}/.gulf/sea"),
        (AGENTS, f"{HOME}/.config/agents"),
        (ConfigHome(kind="generic-agents-root", name="sea"), f"{HOME}/.config/sea"),
        (ConfigHome(kind="none", name="sea"), None),
        (ConfigHome(kind="none"), None),
    ],
)
def test_every_kind_has_its_folder(found: ConfigHome, folder: str | None) -> None:
    assert config_folder(found, HOME, {}) == folder


def test_every_runtime_that_ships_has_a_folder_in_the_home_or_none(
    tmp_path: Path,
) -> None:
    runtimes = first_party().runtimes

    assert {body.config_home.kind for body in runtimes.values()} <= set(
        CONFIG_HOME_KINDS
    )
    for body in runtimes.values():
        folder = config_folder(body.config_home, str(tmp_path), {})
        if body.config_home.kind == "none":
            assert folder is None
        else:
            assert folder is not None
            assert folder.startswith(f"{tmp_path}/")


@pytest.mark.parametrize(
    ("environment", "folder"),
    [
        ({"SEA_DIR": "/srv/sea"}, "/srv/sea"),
        ({"SEA_DIR": "/srv/sea", "SEA_TOO": "/srv/too"}, "/srv/sea"),
        ({"SEA_TOO": "/srv/too"}, "/srv/too"),
        ({"SEA_DIR": "", "SEA_TOO": "/srv/too"}, "/srv/too"),
        ({"SEA_DIR": "here/sea", "SEA_TOO": "/srv/too"}, "/srv/too"),
        ({"SEA_DIR": "~/at/sea"}, f"{HOME}/at/sea"),
        ({"SEA_CONFIG": "/srv/sea/settings.json"}, "/srv/sea"),
        ({"XDG_CONFIG_HOME": "/srv/own/"}, "/srv/own/sea"),
        ({"OTHER_DIR": "/srv/other"}, f"{HOME}/.config/sea"),
    ],
)
def test_the_first_variable_that_names_a_folder_comes_first(
    environment: dict[str, str], folder: str
) -> None:
    found = ConfigHome(
        kind="xdg",
        name="sea",
        env=("SEA_DIR", "SEA_TOO", "SEA_CONFIG", "XDG_CONFIG_HOME"),
    )

    assert config_folder(found, HOME, environment) == folder


def test_the_variables_are_those_of_the_process_where_none_are_given(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SEA_DIR", "/srv/sea")

    assert config_folder(NESTED, HOME) == "/srv/sea"


def test_the_first_folder_that_is_marked_is_taken(tmp_path: Path) -> None:
    home = str(tmp_path)
    (tmp_path / ".gulf" / "sea").mkdir(parents=True)
    (tmp_path / ".gulf" / "sea-ide" / "core").mkdir(parents=True)
    assert config_folder(NESTED, home, {}) == f"{home}/.gulf/sea"

    (tmp_path / ".gulf" / "sea-ide" / "core" / "VERSION").touch()
    assert config_folder(NESTED, home, {}) == f"{home}/.gulf/sea-ide"


def test_without_a_mark_the_first_folder_there_is_is_taken(tmp_path: Path) -> None:
    (tmp_path / ".gulf" / "sea-ide").mkdir(parents=True)

    assert config_folder(NESTED, str(tmp_path), {}) == f"{tmp_path}/.gulf/sea-ide"


def test_a_shared_folder_without_a_mark_is_somebody_elses(tmp_path: Path) -> None:
    (tmp_path / ".agents").mkdir()
    assert config_folder(AGENTS, str(tmp_path), {}) == f"{tmp_path}/.config/agents"

    (tmp_path / ".agents" / "skills").mkdir()
    assert config_folder(AGENTS, str(tmp_path), {}) == f"{tmp_path}/.agents"


@pytest.mark.parametrize(
    "found",
    [
        ConfigHome(kind="dot-home", name="../bob/.sea"),
        ConfigHome(kind="dot-home", name=".sea/.."),
        ConfigHome(kind="dot-home", name=".sea\0"),
        ConfigHome(kind="dot-home-nested", name="sea", parent=".."),
        ConfigHome(kind="generic-agents-root", name="sea", probe=("~/../bob",)),
        ConfigHome(kind="dot-home-nested", name="s", parent="p", probe_exists="a/../b"),
    ],
)
def test_a_descriptor_leads_nowhere_but_below_the_home(found: ConfigHome) -> None:
    assert config_folder(found, HOME, {}) is None


parts = st.one_of(
    st.sampled_from(
        ["..", "a/../..", "~/x", "/", "/etc", ".sea", "a/b", "\0", "\ud800"]
    ),
    st.text(max_size=8),
)
homes = st.builds(
    ConfigHome,
    kind=st.sampled_from(sorted(CONFIG_HOME_KINDS)),
    name=st.none() | parts,
    parent=st.none() | parts,
    env=st.lists(st.sampled_from(["A", "B_CONFIG", "XDG_CONFIG_HOME"])).map(tuple),
    probe=st.lists(parts, max_size=3).map(tuple),
    probe_exists=st.none() | parts,
)
environments = st.dictionaries(
    st.sampled_from(["A", "B_CONFIG", "XDG_CONFIG_HOME"]),
    st.one_of(
        st.text(max_size=9), st.sampled_from(["/", "/srv", "~/", "~", "\udcff/"])
    ),
)


@given(homes, environments)
def test_nothing_makes_it_raise_and_only_a_variable_leads_out_of_the_home(
    found: ConfigHome, environment: dict[str, str]
) -> None:
    folder = config_folder(found, "/no/such/home", environment)

    assert folder is None or folder.startswith("/")
    inside = config_folder(found, "/no/such/home", {})
    if inside is not None:
        assert os.path.normpath(inside).startswith("/no/such/home")
