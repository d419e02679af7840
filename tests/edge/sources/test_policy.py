"""From the configuration file of a project to the policy of its sources."""

from __future__ import annotations

from pathlib import Path

import pytest

from msdcomp.edge.config import PROJECT_FILE, read_layers
from msdcomp.sourcepolicy import SourcePolicy

OPEN = SourcePolicy()


def _policy(project: Path, text: str | None) -> SourcePolicy:
    path = project / PROJECT_FILE
    path.parent.mkdir(parents=True)
    if text is not None:
        path.write_text(text, "utf-8")
    return SourcePolicy.of(read_layers(str(project)))


@pytest.mark.parametrize(
    "text",
    [
        None,
        "{}",
        '{"capabilities": {}}',
        '{"capabilities": {"strict_known_registries": null}}',
    ],
)
def test_t13_without_the_key_every_host_is_allowed(
    text: str | None, tmp_path: Path
) -> None:
    assert _policy(tmp_path, text) == OPEN


def test_t13_the_key_lists_hosts(tmp_path: Path) -> None:
    text = '{"capabilities": {"strict_known_registries": ["h.example", "npm"]}}'

    policy = _policy(tmp_path, text)

    assert policy == SourcePolicy(hosts=frozenset({"h.example"}), npm=True)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        '"x"',
        '{"capabilities": {"strict_known_registries": "h.example"}}',
        '{"capabilities": {"strict_known_registries": ["h.example"]},}',
        '{"capabilities": {"strict_known_registries": null}, "capabilities": {}}',
    ],
)
def test_t13_a_file_that_cannot_be_understood_allows_no_host(
    text: str, tmp_path: Path
) -> None:
    policy = _policy(tmp_path, text)

    assert policy.hosts == frozenset()
    assert not policy.npm
    assert policy.closed


def test_t13_a_file_that_is_no_file_allows_no_host(tmp_path: Path) -> None:
    (tmp_path / PROJECT_FILE).mkdir(parents=True)

    assert SourcePolicy.of(read_layers(str(tmp_path))).closed
