"""Structuring is written out by hand; what the records say decides what is right."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import attrs
import pytest
from hypothesis import given

from msdcomp import manifest as records
from msdcomp.diagnostics import errors
from msdcomp.jsontext import canonical
from msdcomp.manifest import ConfigSlice
from msdcomp.rules import check
from msdcomp.structuring import structure
from tests import derived
from tests.documents import feature, http_reviewer, reviewer, runtime
from tests.strategies import broken, manifests

SHIPPED = Path(__file__).parents[2] / "capabilities"


@given(manifests)
def test_a_valid_manifest_is_read_as_its_records_say(document: dict[str, Any]) -> None:
    written = canonical(document)

    assert structure(document, written) == derived.structure(document, written)


@given(broken())
def test_what_the_rules_let_pass_has_the_types_of_the_records(document: Any) -> None:
    if errors(check(document)):
        return
    written = canonical(document)

    # The derived reading raises where a value is not of the type of its field.
    assert structure(document, written) == derived.structure(document, written)


@pytest.mark.parametrize(
    "document",
    [
        *(
            json.loads(path.read_text("utf-8"))
            for path in sorted(SHIPPED.glob("*/capability.json"))
        ),
        *(make() for make in (feature, http_reviewer, reviewer, runtime)),
    ],
    ids=lambda document: document["id"],
)
def test_shipped_manifests_are_read_as_their_records_say(
    document: dict[str, Any],
) -> None:
    assert structure(document, b"") == derived.structure(document, b"")


def test_wire_names_are_derived_from_field_names() -> None:
    names = {
        derived.wire_name(attribute)
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
def test_the_derived_reading_never_turns_one_type_into_another(
    type_: Any, value: object
) -> None:
    with pytest.raises(TypeError):
        derived.CONVERTER.structure(value, type_)
