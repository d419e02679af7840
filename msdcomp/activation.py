"""What a configuration key switches, and what to report when that is in doubt.

Activation is typed by the slice of the key: a boolean key that holds a text, a number,
a list or an object is reported, whatever it then counts as. A key that cannot be
looked up is reported together with what depends on it.
Source: docs/reference/activation.md.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from pyrsistent import PMap, pmap

from msdcomp.configlayers import (
    CONFIGURED,
    INHERITED,
    ConfigLayers,
    Effective,
    Layer,
    Origin,
    Schema,
    Slice,
    Unreadable,
    digits,
    freeze_json,
    lookup,
    truthy,
)
from msdcomp.diagnostics import Problem, Severity, pointer
from msdcomp.safetext import safe

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Mapping

    from msdcomp.manifest import Manifest
    from msdcomp.manifest.names import Json

__all__ = [
    "INHERITED",
    "ConfigLayers",
    "Effective",
    "Layer",
    "Origin",
    "Schema",
    "Slice",
    "Unreadable",
    "all_of",
    "capability_states",
    "freeze_json",
    "lookup",
    "mismatch",
    "state_problems",
    "truthy",
    "unreadable",
]


def _layer_name(effective: Effective) -> str:
    if effective.layer is Origin.EXPLICIT:
        return "the configuration given"
    if effective.file:
        return safe(effective.file)
    return f"the {effective.layer} configuration"


def _shown(value: Json) -> str:
    if isinstance(value, str):
        return f'the text "{safe(value, 40)}"'
    if isinstance(value, int | float):
        return f"a number, {digits(value)}"
    return "a list" if isinstance(value, tuple) else "an object"


def mismatch(effective: Effective) -> Problem | None:
    """Return a diagnostic when a boolean key is configured as something else.

    Null is no mismatch: it is how a value is unset, and it is off.
    """
    value = effective.value
    if (
        effective.type != "boolean"
        or effective.origin not in CONFIGURED
        or value is None
        or isinstance(value, bool)
    ):
        return None
    return Problem(
        code="config-type-mismatch",
        severity=Severity.WARNING,
        path=pointer(*effective.key.split(".")),
        message=(
            f"{safe(effective.key)} takes true or false, but"
            f" {_layer_name(effective)} sets it to {_shown(value)}; it counts as"
            f" {'on' if effective.on else 'off'}"
        ),
        hint="Set it to true or to false.",
        file=effective.file,
    )


def unreadable(effective: Effective, what: str, consequence: str) -> Problem:
    """Return the diagnostic of something whose key could not be looked up.

    Args:
        effective: A value whose origin is `unreadable`.
        what: The thing that depends on it, safe to print.
        consequence: What is done about it, safe to print.
    """
    return Problem(
        code="config-unreadable",
        severity=Severity.WARNING,
        path=pointer(*effective.key.split(".")),
        message=(
            f"could not check {what}: the value of {safe(effective.key)} is unknown,"
            f" because {_layer_name(effective)} cannot be read"
            f" ({safe(effective.reason)}); {consequence}"
        ),
        hint="Correct the configuration file; defaults are not used instead.",
        file=effective.file,
    )


class _Composed(Protocol):
    @property
    def capabilities(self) -> Mapping[Any, Manifest]: ...

    @property
    def config_schema(self) -> Schema: ...


def _activations(
    registry: _Composed, layers: ConfigLayers
) -> Iterator[tuple[str, Effective | None]]:
    for capability_id, manifest in registry.capabilities.items():
        key = manifest.feature.activation_key if manifest.feature else None
        yield (
            capability_id,
            lookup(key, layers, registry.config_schema) if key is not None else None,
        )


class _Surface(Protocol):
    def on(self, capability_id: str) -> bool | None: ...


def all_of(answers: Iterable[bool | None]) -> bool | None:
    """Return whether all of some conditions hold; a no outweighs an unknown."""
    found = frozenset(answers)
    if False in found:
        return False
    return None if None in found else True


def capability_states(
    registry: _Composed, layers: ConfigLayers, surface: _Surface | None = None
) -> PMap[str, bool | None]:
    """Tell of every capability whether it is active.

    It is when it is on the surface and its `activationKey`, if it has one, is on. None
    says that it could not be checked; `msdcomp.loop.resolve` then leaves out its steps
    and contributions and keeps its gates.

    Args:
        registry: The composed registry.
        layers: The configuration.
        surface: The surface, `msdcomp.surface.Surface`; by default all are on it.

    Cost: one lookup for each capability that declares the key.
    """
    return pmap(
        {
            capability_id: all_of(
                (
                    surface is None or surface.on(capability_id),
                    effective is None or effective.on,
                )
            )
            for capability_id, effective in _activations(registry, layers)
        }
    )


def state_problems(
    registry: _Composed, layers: ConfigLayers, among: Container[str] | None = None
) -> tuple[Problem, ...]:
    """Return what is to be reported of the keys behind `capability_states`, by id.

    Args:
        registry: The composed registry.
        layers: The configuration.
        among: Ids to report about; by default every capability.
    """
    found: list[Problem] = []
    for capability_id, effective in sorted(
        _activations(registry, layers), key=lambda pair: pair[0]
    ):
        if effective is None or (among is not None and capability_id not in among):
            continue
        if effective.origin is Origin.UNREADABLE:
            found.append(
                unreadable(
                    effective,
                    f"whether capability {safe(capability_id)} is active",
                    "its steps and contributions are left out, its gates are kept",
                )
            )
        elif (problem := mismatch(effective)) is not None:
            found.append(problem)
    return tuple(found)
