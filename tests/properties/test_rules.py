"""The quick test of a rule may doubt; it never lets pass what its check finds."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from msdcomp import rules
from msdcomp.rules import _shape, envelope, feature, hooks, reviewer, runtime
from msdcomp.rules._shape import Field, Rule
from tests.strategies import broken, json_values, manifests, places

SHIPPED = Path(__file__).parents[2] / "capabilities"

ROLES = [*rules._ROLES.values(), rules._NO_ROLE]


def _rules() -> Iterator[Rule]:
    """Yield the rules of every module, and those of fields that stand alone."""
    for module in (_shape, envelope, feature, hooks, reviewer, runtime):
        for held in vars(module).values():
            for entry in held if isinstance(held, tuple) else (held,):
                if isinstance(entry, Rule):
                    yield entry
                if isinstance(entry, Field):
                    yield entry.rule


PARTS = list(_rules())


def _holds(rule: Rule, value: object) -> bool:
    return not rule.passes(value) or not list(rule.check(value, "/x"))


@given(broken())
def test_a_broken_manifest_never_passes_unseen(document: Any) -> None:
    assert all(_holds(rule, document) for rule in ROLES)


@given(manifests)
def test_a_valid_manifest_that_passes_has_nothing_to_tell(document: Any) -> None:
    assert all(_holds(rule, document) for rule in ROLES)


@given(broken(), st.data())
def test_no_part_of_a_manifest_passes_unseen(
    document: Any, data: st.DataObject
) -> None:
    value: Any = document
    for key in data.draw(st.sampled_from([(), *places(document)])):
        value = value[key]

    assert all(_holds(rule, value) for rule in PARTS)


@given(json_values)
def test_no_value_passes_unseen(value: Any) -> None:
    assert all(_holds(rule, value) for rule in (*PARTS, *ROLES))


@pytest.mark.parametrize(
    "path", sorted(SHIPPED.glob("*/capability.json")), ids=lambda path: path.parent.name
)
def test_a_shipped_manifest_passes_without_being_checked(path: Path) -> None:
    document = json.loads(path.read_text("utf-8"))

    assert rules._ROLES[document["role"]].passes(document)
