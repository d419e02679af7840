"""Version ranges against node-semver's answers, as the design narrows them."""

from __future__ import annotations

from typing import Any

from msdcomp.semver import satisfies


def test_a_host_version_satisfies_a_range_as_the_design_says(
    semver_chunk: list[dict[str, Any]],
) -> None:
    wrong = [
        f"{record['name']}: expected {record['design']}"
        for record in semver_chunk
        if satisfies(record["version"], record["range"]) is not record["design"]
    ]

    assert wrong == []
