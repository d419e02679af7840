"""Sources, configuration and stores that are not what they should be, once more."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from msdcomp.edge.ledger import LEDGER_NAME
from tests.edge.sources.packing import tar
from tests.edge.sources.servers import Server, plain
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
from tests.layouts import feature, write

Plant = Callable[[Path], object]


def _pipe(path: Path) -> None:
    os.mkfifo(path)


def _socket(path: Path) -> None:
    """A socket's own path has to be short, so it is made elsewhere and moved."""
    with socket.socket(socket.AF_UNIX) as made:
        at = Path.cwd()
        os.chdir(path.parent)
        try:
            made.bind(path.name)
        finally:
            os.chdir(at)


def _device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def _loop(path: Path) -> None:
    path.symlink_to(path.name)


def _up(path: Path) -> None:
    path.symlink_to("..")


PLANTS: dict[str, tuple[Plant, str]] = {
    "FIFO": (_pipe, "not-regular"),
    "socket": (_socket, "not-regular"),
    "device": (_device, "link"),
    "circle": (_loop, "link"),
    "folder above": (_up, "link"),
}


@pytest.mark.parametrize("what", PLANTS)
@pytest.mark.parametrize("name", ["data", "lib/data", "capability.json", "run.sh"])
def test_a_folder_that_holds_what_is_no_file_is_refused(
    ground: Ground, tmp_path: Path, what: str, name: str
) -> None:
    plant, code = PLANTS[what]
    files = {"run.sh": RUN, "lib/a.sh": b""}
    source = bundle(tmp_path / "source", files=files, hooks=[HOOK])
    (source / name).unlink(missing_ok=True)
    plant(source / name)
    before = picture(ground.top)

    done = ground.capability("install", source, "--yes")

    assert done.code == 1
    assert f"[{code}]" in done.out or name == "capability.json"
    assert picture(ground.top) == before


@pytest.mark.parametrize("what", PLANTS)
@pytest.mark.parametrize("name", ["source", "source.tgz"])
def test_a_source_that_is_no_folder_and_no_file_is_refused_at_once(
    ground: Ground, tmp_path: Path, what: str, name: str
) -> None:
    PLANTS[what][0](tmp_path / name)
    before = picture(ground.top)

    done = ground.capability("install", tmp_path / name, "--yes")

    assert done.code == 1
    assert "Traceback" not in done.err
    assert picture(ground.top) == before


def test_what_the_hash_does_not_cover_is_not_installed(
    ground: Ground, tmp_path: Path
) -> None:
    """Bytecode that nobody was shown would be run in place of its source."""
    source = bundle(
        tmp_path / "source",
        files={
            "run.sh": RUN,
            "lib/help.py": b"",
            "lib/__pycache__/help.cpython-311.pyc": b"evil",
            "lib/__pycache__/help.cpython-311.pyo": b"evil",
        },
        hooks=[HOOK],
    )

    assert ground.capability("install", source, "--scope", "project", "--yes").code == 0

    folder = ground.folder("tide")
    held = {str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file()}
    assert held == {"capability.json", "run.sh", "lib/help.py"}
    assert ground.active() == {"tide"}


CONFIGS: dict[str, Plant] = {
    "FIFO": _pipe,
    "device": _device,
    "circle": _loop,
    "not JSON": lambda path: path.write_bytes(b"{"),
    "deep": lambda path: path.write_bytes(b'{"a":' * 100_000),
    "no list": lambda path: path.write_text(
        '{"capabilities": {"strict_known_registries": "*"}}', "utf-8"
    ),
    "empty": lambda path: path.write_text(
        '{"capabilities": {"strict_known_registries": []}}', "utf-8"
    ),
    "wildcard": lambda path: path.write_text(
        '{"capabilities": {"strict_known_registries": ["*", "https://localhost"]}}',
        "utf-8",
    ),
}


@pytest.mark.parametrize("what", CONFIGS)
@pytest.mark.parametrize("scope", ["global", "project"])
def test_a_policy_that_cannot_be_read_allows_this_machine_alone(
    ground: Ground,
    server: Server,
    ca_file: Path,
    tmp_path: Path,
    what: str,
    scope: str,
) -> None:
    text = json.dumps(feature("tide")).encode()
    server.routes["/tide.tgz"] = plain(tar({"capability.json": text}))
    CONFIGS[what](ground.project / ".planning" / "config.json")
    before = picture(ground.top)
    allowed = ("--allow-host", "localhost", "--ca-file", str(ca_file))
    line = ("--scope", scope, "--yes", *allowed)

    done = ground.capability("install", server.url("/tide.tgz"), *line)

    assert done.code == 1
    assert "[policy]" in done.out
    assert server.seen == []
    assert picture(ground.top) == before
    source = bundle(tmp_path / "source")
    assert ground.capability("install", source, *line).code == 0


# A ledger of which every entry is sound, and which is full.


def _full(ground: Ground) -> None:
    ledger(ground.project, *(entry(f"a{n}") for n in range(4096)))


def test_an_overlay_beside_a_full_ledger_is_removed_as_printed(
    ground: Ground,
) -> None:
    bundle(ground.folder("tide"), gates=[GATE])
    _full(ground)
    before = (ground.project / LEDGER_NAME).read_bytes()

    done = ground.capability("remove", "tide")

    assert done.code == 0, done
    assert not ground.folder("tide").exists()
    entries = json.loads((ground.project / LEDGER_NAME).read_bytes())["entries"]
    assert entries == json.loads(before)["entries"]


def test_an_install_beside_a_full_ledger_is_refused_and_leaves_nothing(
    ground: Ground, tmp_path: Path
) -> None:
    source = bundle(tmp_path / "source")
    _full(ground)
    before = picture(ground.top)

    done = ground.capability("install", source, "--scope", "project", "--yes")

    assert done.code == 1
    assert "[ledger-unwritable]" in done.out
    assert "4,096" in done.text
    assert picture(ground.top) == before


@pytest.mark.parametrize("name", ["Tide", "a b", "é", "a" * 255])
@pytest.mark.parametrize("value", [{}, 5, "entry"])
def test_a_folder_of_an_odd_name_with_an_entry_is_removed_once_and_for_all(
    ground: Ground, name: str, value: object
) -> None:
    bundle(ground.folder("tide").with_name(name), "x")
    made = {**entry("x"), "id": name} if value == "entry" else value
    held = {"version": "1", "entries": {name: made}}
    write(ground.project / LEDGER_NAME, json.dumps(held))

    assert ground.capability("remove", name).code == 0

    assert not ground.folder("tide").with_name(name).exists()
    assert (
        name not in json.loads((ground.project / LEDGER_NAME).read_bytes())["entries"]
    )
    assert ground.capability("remove", name).code == 1
    assert ground.capability("reconcile", "--dry-run").code == 0


@pytest.mark.parametrize("source", ["/", "/etc", "/proc/self", "/dev", "/dev/stdin"])
def test_a_planted_source_on_this_machine_is_read_no_further_than_a_bundle(
    ground: Ground, source: str
) -> None:
    bundle(ground.folder("tide"))
    ledger(ground.project, entry(source=source))
    before = picture(ground.top)

    done = ground.capability("update", "--all", "--yes")

    assert done.code == 1
    assert picture(ground.top) == before
