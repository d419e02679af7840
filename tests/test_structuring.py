"""Records by their types: nothing is converted, and names are derived."""

from __future__ import annotations

from typing import Any

import attrs
import pytest
from hypothesis import given

from msdcomp import manifest as records
from msdcomp import structuring
from msdcomp.diagnostics import errors
from msdcomp.jsontext import canonical
from msdcomp.manifest import ConfigSlice, Manifest
from msdcomp.rules import check
from msdcomp.structuring import structure, wire_name
from tests.strategies import broken


@given(broken())
def test_what_the_rules_let_pass_has_the_types_of_the_records(document: Any) -> None:
    if errors(check(document)):
        return

    # Raises where a value is not of the type of its field.
    assert isinstance(structure(document, canonical(document)), Manifest)


def test_wire_names_are_derived_from_field_names() -> None:
    names = {
        wire_name(attribute)
        for cls in vars(records).values()
        if isinstance(cls, type) and attrs.has(cls)
        for attribute in attrs.fields(cls)
    }

    assert {"onError", "stateIO", "global", "runtimeCompat", "timeoutMs"} <= names
    assert not [name for name in names if "_" in name]


@pytest.mark.parametrize(
    ("type_", "value"),
    [
        (str, 5),
        (str | None, 5),
        (bool, 1),
        (int, "5"),
        (int, True),
        (int, 1.5),
        (int | str, 1.5),
        (tuple[str, ...], "ab"),
        (tuple[str, ...], [1]),
        (ConfigSlice, {"type": "string", "default": [], "description": "x"}),
    ],
)
def test_the_converter_never_turns_one_type_into_another(
    type_: Any, value: object
) -> None:
    with pytest.raises(TypeError):
        structuring._CONVERTER.structure(value, type_)
