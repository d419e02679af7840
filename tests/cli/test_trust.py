"""`msd capability trust`: what is shown is what is agreed to, and nothing else."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from msdcomp.edge.consent import read_consent
from msdcomp.edge.files import FileFault
from msdcomp.edge.roots import find_places
from msdcomp.edge.trusting import agree, look

from .conftest import Msd, feature, install


@pytest.fixture
def here(home: Path, project: Path) -> tuple[str, ...]:
    """Return the options that say where to look."""
    (project / ".git").mkdir(exist_ok=True)
    return ("--home", str(home), "--project", str(project))


@pytest.fixture
def tide(project: Path) -> Path:
    """An overlay of the project, with a gate."""
    gates = [
        {
            "point": "ship:pre",
            "check": {"query": "tide.low"},
            "blocking": True,
            "onError": "halt",
        }
    ]
    install(project, feature("tide", gates=gates))
    return project / ".msd" / "capabilities" / "tide"


@pytest.mark.usefixtures("tide")
def test_it_is_shown_agreed_to_and_takes_part(
    msd: Msd, here: tuple[str, ...], home: Path, project: Path
) -> None:
    assert msd("compose", *here).code == 1

    done = msd("capability", "trust", "tide", "--yes", *here)

    assert done.code == 0
    assert 'at "ship:pre", blocks' in done.out
    assert done.err == "msd: tide is agreed to, and takes part from now on\n"
    assert msd("compose", *here).code == 0
    (record,) = read_consent(str(home)).records.values()
    assert record is not None
    assert record.gate_points == ("ship:pre",)
    assert record.project_root == str(project)
    assert record.disclosure_signature


@pytest.mark.usefixtures("tide")
def test_nobody_is_asked_in_a_pipe_and_nothing_is_agreed_to(
    msd: Msd, here: tuple[str, ...], home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Path(os.devnull).open(encoding="ascii") as nothing:
        monkeypatch.setattr("sys.stdin", nothing)
        done = msd("capability", "trust", "tide", *here)

    assert done.code == 1
    assert "say --yes" in done.err
    assert not (home / ".msd" / "consent.json").exists()


@pytest.mark.usefixtures("tide")
@pytest.mark.parametrize(
    ("answer", "code"), [("y", 0), ("YES", 0), ("", 1), ("n", 1), ("yeah", 1)]
)
def test_somebody_at_a_terminal_is_asked(
    msd: Msd,
    here: tuple[str, ...],
    monkeypatch: pytest.MonkeyPatch,
    answer: str,
    code: int,
) -> None:
    other, own = os.openpty()
    with (
        os.fdopen(own, "r", encoding="ascii") as stdin,
        os.fdopen(os.dup(other), "w", encoding="ascii") as person,
        os.fdopen(other, "w", encoding="ascii") as stderr,
    ):
        person.write(f"{answer}\n")
        person.flush()
        monkeypatch.setattr("sys.stdin", stdin)
        monkeypatch.setattr("sys.stderr", stderr)
        assert msd("capability", "trust", "tide", *here).code == code


def test_what_is_swapped_after_it_was_shown_is_not_agreed_to(
    here: tuple[str, ...], home: Path, project: Path, tide: Path, msd: Msd
) -> None:
    offer = look(find_places(None, home, project), "tide")
    assert not isinstance(offer, FileFault)
    (tide / "run.sh").write_text("harm\n", encoding="ascii")

    assert not isinstance(agree(str(home), offer), FileFault)

    assert "consent-changed" in msd("compose", *here).out


@pytest.mark.usefixtures("tide")
def test_an_agreement_is_listed_and_taken_back(
    msd: Msd, here: tuple[str, ...], project: Path
) -> None:
    assert msd("capability", "trust", "list", *here).out == "nothing is agreed to\n"
    msd("capability", "trust", "tide", "--yes", *here)

    assert "tide" in msd("capability", "trust", "list", *here).out
    (row,) = msd("capability", "trust", "list", "--json", *here).json
    assert (row["id"], row["projectRoot"]) == ("tide", str(project))
    first = msd("capability", "trust", "revoke", "tide", *here)
    again = msd("capability", "trust", "revoke", "tide", "--json", *here)

    assert first.out == "tide is no longer agreed to in this project\n"
    assert again.json == {"id": "tide", "revoked": False}
    assert msd("compose", *here).code == 1


def test_it_says_why_it_does_not_take_part_all_the_same(
    msd: Msd, here: tuple[str, ...], project: Path
) -> None:
    install(project, feature("tide", engines={"msd": ">=9.0.0"}))

    done = msd("capability", "trust", "tide", "--yes", *here)

    assert done.code == 0
    assert "does not take part: version" in done.err


def test_a_folder_that_is_not_complete_is_not_agreed_to(
    msd: Msd, here: tuple[str, ...], home: Path, project: Path
) -> None:
    hooks = [{"event": "PostToolUse", "script": "run.sh"}]
    install(project, feature("tide", hooks=hooks))

    done = msd("capability", "trust", "tide", "--yes", *here)

    assert done.code == 1
    assert "run.sh" in done.out
    assert not (home / ".msd" / "consent.json").exists()


@pytest.mark.usefixtures("tide")
@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["nobody"], 1),
        (["Tide"], 2),
        (["../tide"], 2),
        (["revoke"], 1),
        (["revoke", "../tide"], 2),
        (["tide", "reef"], 2),
        (["revoke", "tide", "reef"], 2),
    ],
)
def test_what_cannot_be_meant_is_refused(
    msd: Msd, here: tuple[str, ...], words: list[str], code: int
) -> None:
    done = msd("capability", "trust", *words, "--yes", *here)

    assert done.code == code
    assert done.err.startswith("msd: error: ")


def test_a_link_in_a_project_is_not_followed(
    msd: Msd, here: tuple[str, ...], project: Path, tide: Path
) -> None:
    (project / ".msd" / "capabilities" / "reef").symlink_to(tide)

    assert msd("capability", "trust", "reef", "--yes", *here).code == 1


@pytest.mark.usefixtures("tide")
def test_a_damaged_store_is_kept(msd: Msd, here: tuple[str, ...], home: Path) -> None:
    store = home / ".msd" / "consent.json"
    store.parent.mkdir(parents=True, exist_ok=True)
    store.write_text("{", encoding="ascii")

    for words in (["tide", "--yes"], ["list"], ["revoke", "tide"]):
        assert msd("capability", "trust", *words, *here).code == 2
    assert store.read_text(encoding="ascii") == "{"


@pytest.mark.usefixtures("tide")
def test_json_says_what_was_shown(msd: Msd, here: tuple[str, ...]) -> None:
    wire = msd("capability", "trust", "tide", "--json", "--yes", *here).json

    assert (wire["id"], wire["path"]) == ("tide", ".msd/capabilities/tide")
    assert wire["contentHash"].startswith("sha512-")
    assert wire["disclosure"]["gates"]
