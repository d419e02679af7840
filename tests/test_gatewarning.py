"""Warnings about gates that are not enforced."""

from __future__ import annotations

from typing import Any

import attrs
import pytest
from pyrsistent import pmap

from msdcomp.activation import ConfigLayers, Unreadable
from msdcomp.gates import BlockedGate, GateCondition
from msdcomp.gatewarning import GateWarning, gate_warnings


@attrs.frozen
class OneSlice:
    type: str | None
    default: Any


def blocked(**fields: Any) -> BlockedGate:
    given: dict[str, Any] = {
        "point": "ship:pre",
        "capability_id": "anchor",
        "scope": "global",
        "path": ".msd/capabilities/anchor",
        "code": "incompatible-engine",
        "reason": "it needs msd >=2",
        "remedy": "get a newer one; or take it away: `msd capability remove anchor`",
        "blocking": True,
    } | fields
    return BlockedGate(**given)


def warn(
    gate: BlockedGate, config: object = None, schema: Any = None
) -> list[GateWarning]:
    return list(gate_warnings((gate,), ConfigLayers.of(config), schema or pmap()))


def the_warning(**fields: Any) -> GateWarning:
    (warning,) = warn(blocked(**fields))
    return warning


def test_the_line_names_the_capability_the_reason_and_the_command() -> None:
    assert the_warning().line() == (
        "msd: warning: capability anchor was left out, so its blocking gate at ship:pre"
        " is not enforced: it needs msd >=2. get a newer one; or take it away:"
        " 'msd capability remove anchor'"
    )


def test_the_wire_form_carries_the_same() -> None:
    warning = the_warning()

    assert warning.to_wire() == {
        "capId": "anchor",
        "point": "ship:pre",
        "reason": "it needs msd >=2",
        "blocking": True,
        "code": "incompatible-engine",
        "scope": "global",
        "path": ".msd/capabilities/anchor",
        "remediation": "msd capability remove anchor",
        "remedy": warning.remedy,
        "message": warning.line().removeprefix("msd: warning: "),
    }


@pytest.mark.parametrize(
    ("blocking", "word"),
    [(True, "blocking"), (False, "advisory"), (None, "possibly blocking")],
)
def test_the_line_says_how_much_is_at_stake(blocking: bool | None, word: str) -> None:
    assert f"so its {word} gate at" in the_warning(blocking=blocking).line()


@pytest.mark.parametrize(
    ("remedy", "shown"),
    [
        ("", "Run 'msd capability remove anchor'."),
        ("Correct it.", "Correct it. Or run 'msd capability remove anchor'."),
        ("x" * 400, "x" * 300 + " Or run 'msd capability remove anchor'."),
        (
            "`msd capability trust anchor`, or `msd capability remove anchor`",
            "'msd capability trust anchor', or 'msd capability remove anchor'",
        ),
    ],
)
def test_the_command_is_always_offered(remedy: str, shown: str) -> None:
    warning = the_warning(remedy=remedy)

    assert warning.remedy == shown
    assert warning.remediation == "msd capability remove anchor"


@pytest.mark.parametrize(
    "command",
    [
        "msd capability remove anchor --scope project",
        "msd capability remove --scope project anchor",
    ],
)
def test_a_scope_in_the_remedy_is_kept_in_the_command(command: str) -> None:
    """Without it, the command could meet a healthy capability in the other scope."""
    warning = the_warning(remedy=f"take it away: `{command}`")

    assert warning.remediation == command
    assert command in warning.line()


@pytest.mark.parametrize(
    "remedy",
    [
        "`msd capability remove anchor --scope x`",
        "`msd capability remove anchor; rm -rf /`",
        "`msd capability remove other`",
    ],
)
def test_no_other_command_is_taken_over(remedy: str) -> None:
    assert the_warning(remedy=remedy).remediation == "msd capability remove anchor"


@pytest.mark.parametrize(
    ("scope", "place"),
    [
        ("global", "the global root"),
        ("project", "the project root"),
        ("x", "each root"),
    ],
)
def test_a_name_that_is_no_id_appears_nowhere(scope: str, place: str) -> None:
    name = "Bad; rm -rf $HOME"
    warning = the_warning(
        capability_id=name,
        path=f".msd/capabilities/{name}",
        remedy=f"`msd capability remove {name}`",
        scope=scope,
    )

    assert warning.capability_id is None
    assert warning.path is None
    assert warning.remediation is None
    assert "rm -rf" not in str(warning.to_wire())
    assert "capability remove" not in warning.line()
    assert place in warning.line()


def test_a_reason_is_made_safe_and_an_empty_one_is_said_to_be() -> None:
    assert the_warning(reason="a\n`b`\x1b[2J\u202ec").reason == "a b [2J c"
    assert the_warning(reason=" \n").reason == "no reason was recorded"


BOOLEAN_ON = GateCondition(key="g.on", type="boolean", default=True)
BOOLEAN_OFF = GateCondition(key="g.on", type="boolean", default=False)
UNDECLARED = GateCondition(key="g.on")


@pytest.mark.parametrize(
    ("conditions", "config", "warned"),
    [
        ((), {}, True),
        ((BOOLEAN_ON,), {}, True),
        ((BOOLEAN_OFF,), {}, False),
        ((BOOLEAN_ON,), {"g": {"on": False}}, False),
        ((BOOLEAN_OFF,), {"g": {"on": True}}, True),
        ((BOOLEAN_ON,), {"g": {"on": "Off"}}, False),
        ((BOOLEAN_ON,), {"g": {"on": None}}, False),
        ((BOOLEAN_OFF, GateCondition(key="h", type="string", default="x")), {}, True),
        ((GateCondition(key="h", type="string", default=""),), {}, False),
        # What cannot be known is warned about.
        ((UNDECLARED,), {}, True),
        ((UNDECLARED,), {"g": {"on": "off"}}, True),
        ((UNDECLARED,), {"g": {"on": False}}, False),
        ((GateCondition(key="g.on", type="boolean", default=None),), {}, True),
        ((GateCondition(key="g.on", type="boolean", default="no"),), {}, True),
        ((BOOLEAN_OFF,), ConfigLayers(project=Unreadable("x")), True),
    ],
)
def test_a_gate_is_passed_over_only_when_it_is_certainly_off(
    conditions: Any, config: Any, warned: bool
) -> None:
    assert bool(warn(blocked(conditions=conditions), config)) is warned


@pytest.mark.parametrize("default", [True, False])
def test_a_key_of_the_registry_has_the_default_of_the_registry(default: bool) -> None:
    schema = {"g.on": OneSlice("boolean", default)}

    assert bool(warn(blocked(conditions=(UNDECLARED,)), {}, schema)) is default


def test_the_skipped_manifest_speaks_for_its_own_key() -> None:
    schema = {"g.on": OneSlice("boolean", default=False)}

    assert warn(blocked(conditions=(BOOLEAN_ON,)), {}, schema)
