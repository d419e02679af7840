"""Reference vectors as test arguments.

A test that asks for `compose_record` runs once for each record of `compose.jsonl`; one
that asks for `manifest_chunk` gets some hundred records at a time, since there are
thousands. The packed data beside this file is used unless `--vectors DIR` names another
directory in the same format, plain or packed with xz; what such a directory lacks is
deselected.
"""

from __future__ import annotations

import json
import lzma
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

DATA = Path(__file__).parent / "data"

#: Argument -> file it takes its records from.
FILES = {
    "compose_record": "compose.jsonl",
    "compose_random_record": "compose-random.jsonl",
    "gate_warning_record": "gate-warnings.jsonl",
    "loop_record": "loop.jsonl",
    "manifest_chunk": "manifest.jsonl",
    "manifest_record": "manifest.jsonl",
    "semver_chunk": "semver.jsonl",
    "semver_record": "semver.jsonl",
}
CHUNK = 500
_ABSENT = "no such vectors"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--vectors",
        metavar="DIR",
        help="directory of reference vectors to run instead of the packed ones",
    )


def _directory(config: pytest.Config) -> Path:
    # The option only exists when this folder is named on the command line.
    named = config.getoption("--vectors", default=None)
    return Path(named) if named else DATA


def _text(directory: Path, name: str) -> str | None:
    plain, packed = directory / name, directory / f"{name}.xz"
    if plain.is_file():
        return plain.read_text("utf-8")
    if packed.is_file():
        return lzma.decompress(packed.read_bytes()).decode()
    return None


def records(directory: Path, name: str) -> list[dict[str, Any]] | None:
    """Return the records of a file of vectors, or None when there is no such file."""
    text = _text(directory, name)
    if text is None:
        return None
    return [json.loads(line) for line in text.split("\n") if line]


def _chunks(found: list[Any]) -> Iterator[list[Any]]:
    for start in range(0, len(found), CHUNK):
        yield found[start : start + CHUNK]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    directory = _directory(metafunc.config)
    if not directory.is_dir():
        raise pytest.UsageError(f"--vectors: {directory} is no directory")
    for argument in FILES.keys() & metafunc.fixturenames:
        found = records(directory, FILES[argument])
        if found is None:
            metafunc.parametrize(argument, [pytest.param(_ABSENT, id="absent")])
        elif argument.endswith("_chunk"):
            metafunc.parametrize(argument, list(_chunks(found)))
        else:
            names = [record["name"] for record in found]
            metafunc.parametrize(argument, found, ids=names)


def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> None:
    absent = [
        item
        for item in items
        if isinstance(item, pytest.Function)
        and _ABSENT in getattr(item, "callspec", _NoArguments).params.values()
    ]
    if absent:
        config.hook.pytest_deselected(items=absent)
        items[:] = [item for item in items if item not in absent]


class _NoArguments:
    params: dict[str, object] = {}  # noqa: RUF012 - stands for a call without arguments


@pytest.fixture(scope="session")
def first_party_sets(pytestconfig: pytest.Config) -> dict[str, Any]:
    """The named sets of first-party manifests that composition vectors refer to."""
    text = _text(_directory(pytestconfig), "first-party-sets.json")
    if text is None:
        text = _text(DATA, "first-party-sets.json")
    assert text is not None
    sets: dict[str, Any] = json.loads(text)
    return sets
