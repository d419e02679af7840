"""What a program is told of a change that is blocked, and a person of a cascade."""

from __future__ import annotations

from pathlib import Path

import pytest

from .conftest import Msd, feature, install


@pytest.fixture
def here(home: Path, project: Path) -> tuple[str, ...]:
    """Return the options that say where to look."""
    return ("--home", str(home), "--project", str(project))


def test_what_blocks_stands_at_one_place_whenever_it_was_found_out(
    msd: Msd, here: tuple[str, ...], home: Path, tmp_path: Path
) -> None:
    """A source that is not there has no plan, a folder by hand has one."""
    install(home, feature("tide", description="Another one."))
    install(tmp_path / "sent", feature("tide"))
    sent = tmp_path / "sent" / ".msd" / "capabilities" / "tide"

    gone = msd("capability", "install", tmp_path / "no" / "where", "--json", *here)
    by_hand = msd("capability", "install", sent, "--json", *here)

    assert [block["code"] for block in gone.json["blocks"]] == ["missing"]
    assert [block["code"] for block in by_hand.json["blocks"]] == ["occupied"]
    assert by_hand.json["blocks"] == by_hand.json["plan"]["blocks"]


@pytest.mark.parametrize("verb", ["update", "remove"])
def test_a_program_is_told_too_that_nothing_of_that_id_is_installed(
    msd: Msd, here: tuple[str, ...], verb: str
) -> None:
    done = msd("capability", verb, "tide", "--json", *here)

    assert done.code == 1
    assert done.err == "msd: error: tide is not installed here\n"
    assert done.json["status"] == "blocked"
    assert [block["code"] for block in done.json["blocks"]] == ["not-installed"]


@pytest.fixture
def landing(home: Path) -> None:
    """`landing` needs `tide`, and `party` needs `landing`."""
    install(home, feature("tide"))
    install(home, feature("landing", requires=["tide"]))
    install(home, feature("party", requires=["landing"]))


@pytest.mark.usefixtures("landing")
def test_everything_that_a_cascade_deletes_is_shown_before_it_does(
    msd: Msd, here: tuple[str, ...], home: Path
) -> None:
    dry = msd("capability", "remove", "tide", "--cascade", "--dry-run", *here)
    told = msd(
        *("capability", "remove", "tide", "--cascade", "--dry-run", "--json"), *here
    )

    assert dry.code == told.code == 0
    heads = [line for line in dry.out.splitlines() if line.startswith("Remove ")]
    assert heads == [
        f"Remove {name} from the global scope" for name in ("party", "landing", "tide")
    ]
    removed = told.json["removed"]
    assert [one["plan"]["id"] for one in removed] == ["party", "landing", "tide"]
    assert {one["status"] for one in removed} == {"planned"}
    assert (home / ".msd" / "capabilities" / "party").is_dir()


@pytest.mark.usefixtures("landing")
def test_a_cascade_takes_nothing_away_when_one_of_it_cannot_go(
    msd: Msd, here: tuple[str, ...], home: Path, project: Path
) -> None:
    """The ledger of the project is damaged, and what needs `tide` is there too."""
    install(project, feature("port", requires=["tide"]))
    assert msd("capability", "trust", "port", "--yes", *here).code == 0
    (project / ".msd-capabilities.json").write_text("{", encoding="utf-8")

    done = msd("capability", "remove", "tide", "--cascade", "--json", *here)

    assert done.code == 1
    assert [block["code"] for block in done.json["blocks"]] == ["ledger-unreadable"]
    assert done.json["removed"] == []
    assert sorted(p.name for p in (home / ".msd" / "capabilities").iterdir()) == [
        "landing",
        "party",
        "tide",
    ]
