"""What a manifest may say about the loop of its host."""

from __future__ import annotations

from typing import Any

import pytest
from pyrsistent import pmap

from msdcomp.host import HostContract
from msdcomp.manifest import Manifest
from msdcomp.rules import check_contract, undispatched
from msdcomp.wire import decode
from tests.documents import changed, feature, reviewer, runtime

CONTRACT = HostContract()


def _manifest(document: dict[str, Any]) -> Manifest:
    manifest = decode(document).manifest
    assert manifest is not None
    return manifest


@pytest.mark.parametrize("document", [feature(), runtime(), reviewer()])
def test_a_healthy_manifest_asks_for_nothing_the_host_lacks(
    document: dict[str, Any],
) -> None:
    assert check_contract(_manifest(document), CONTRACT) == ()
    assert undispatched(_manifest(document), CONTRACT) == ()


@pytest.mark.parametrize(
    ("path", "value", "code", "message", "hint"),
    [
        (
            "/contributions/0/into",
            "planer",
            "role-not-published",
            (
                'into must be a role published at plan:pre ("checker", "planner" or '
                '"researcher"), got "planer"'
            ),
            'Did you mean "planner"?',
        ),
        (
            "/contributions/0/when",
            "other",
            "when-undeclared",
            'when must be a key of this capability\'s config, got "other"',
            "Declare the key in config, or drop when.",
        ),
        (
            "/gates/0/when",
            "tide.on",
            "when-undeclared",
            'when must be a key of this capability\'s config, got "tide.on"',
            'Did you mean "tides.on"?',
        ),
        (
            "/steps/0/pointFrom",
            "moon",
            "point-from-undeclared",
            'pointFrom must be a key of this capability\'s config, got "moon"',
            "Declare the key in config as an enum of points, or drop pointFrom.",
        ),
        (
            "/steps/0/pointFrom",
            "tides.on",
            "point-from-not-enum",
            'pointFrom must name an enum key, got "tides.on" of type boolean',
            "Make the key an enum of points.",
        ),
    ],
)
def test_what_the_host_does_not_publish_is_named(
    path: str, value: str, code: str, message: str, hint: str
) -> None:
    manifest = _manifest(changed(feature(), path, value))

    (problem,) = check_contract(manifest, CONTRACT)

    found = (problem.code, problem.path, problem.message, problem.hint)
    assert found == (code, path, message, hint)


def test_the_enum_behind_point_from_must_offer_the_steps_own_point() -> None:
    document = changed(feature(), "/steps/0/pointFrom", "tides.at")
    assert check_contract(_manifest(document), CONTRACT) == ()

    elsewhere = _manifest(changed(document, "/steps/0/point", "ship:pre"))
    (problem,) = check_contract(elsewhere, CONTRACT)

    assert problem.code == "point-from-missing-point"
    assert problem.message == (
        "pointFrom must name a key whose values hold the step's own point ship:pre, "
        'got "tides.at" without it'
    )


def test_a_point_without_roles_publishes_no_role_at_all() -> None:
    (problem,) = check_contract(_manifest(feature()), HostContract(phases=()))

    assert "(no role at all)" in problem.message


@pytest.mark.parametrize(
    ("path", "point", "message"),
    [
        ("/steps/0/point", "ship:pre", "point ship:pre dispatches gates, got a step"),
        (
            "/contributions/0/point",
            "execute:post",
            "point execute:post dispatches gates and steps, got a contribution",
        ),
        (
            "/gates/0/point",
            "execute:pre",
            "point execute:pre dispatches no hooks at all, got a gate",
        ),
    ],
)
def test_a_hook_whose_point_does_not_dispatch_its_kind_is_named(
    path: str, point: str, message: str
) -> None:
    (problem,) = undispatched(_manifest(changed(feature(), path, point)), CONTRACT)

    assert (problem.code, problem.path) == ("kind-not-dispatched", path)
    assert problem.message == message


def test_all_hooks_are_asked_in_the_order_declared() -> None:
    contract = HostContract(kinds=pmap())

    paths = [problem.path for problem in undispatched(_manifest(feature()), contract)]

    assert paths == ["/steps/0/point", "/contributions/0/point", "/gates/0/point"]
