"""`msdcomp.testing`, used as a project downstream would use it."""

from __future__ import annotations

import doctest
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from msdcomp import Composition, Consent, Scope, compose, decode_manifest, testing
from msdcomp.edge.snapshot import read_snapshot
from msdcomp.testing import candidate, compose_folder, feature, gate, pinned, step

__all__ = ["compose_folder"]

pytest_plugins = ["pytester"]

EXAMPLES = Path(__file__).parents[1] / "docs" / "examples"


def test_the_builders_make_valid_manifests() -> None:
    made = feature(
        "anchor", steps=[step("plan:pre", produces=["A.md"])], gates=[gate("ship:pre")]
    )

    decoded = decode_manifest(made, "anchor")

    assert (decoded.problems, decoded.diagnostics) == ((), ())


def test_a_candidate_is_made_of_an_id_or_of_a_manifest() -> None:
    composed = compose(
        read_snapshot(),
        [
            candidate("anchor", gates=[gate("ship:pre")]),
            candidate(feature("bollard", requires=["anchor"])),
            candidate("capstan", scope=Scope.PROJECT, consent=Consent.NONE),
        ],
    )

    assert composed.accepted == ("anchor", "bollard")
    assert list(composed.warnings) == [("project", "capstan")]


def test_fragments_are_given_by_path() -> None:
    given = {
        "point": "plan:pre",
        "into": "planner",
        "produces": [],
        "consumes": [],
        "fragment": {"path": "a.md"},
    }
    composed = compose(
        read_snapshot(),
        [candidate("anchor", contributions=[given], fragments={"a.md": "Text."})],
    )

    assert composed.accepted == ("anchor",)


def test_the_fixture_composes_a_folder_of_overlays(
    compose_folder: Callable[..., Composition],
) -> None:
    overlays = EXAMPLES / "home" / ".msd" / "capabilities"

    composition = compose_folder(overlays, host_version="2.0.0")

    assert composition.accepted == ("deploy-freeze", "release-notes")


def test_a_pinned_composition_is_what_the_command_prints(
    capsys: pytest.CaptureFixture[str],
    compose_folder: Callable[..., Composition],
    tmp_path: Path,
) -> None:
    from msdcomp.cli import main  # noqa: PLC0415

    composition = compose_folder(EXAMPLES / "home" / ".msd" / "capabilities")
    places = ["--home", str(tmp_path / "msd-home")]
    main(["compose", "--json", *places, "--project", str(tmp_path / "msd-project")])

    assert pinned(composition) == capsys.readouterr().out


def test_a_project_downstream_pins_its_composition_in_ten_lines(
    pytester: pytest.Pytester,
) -> None:
    pytester.makeconftest('pytest_plugins = ["msdcomp.testing"]')
    pytester.makepyfile(
        """
        from msdcomp.testing import pinned


        def test_our_overlays_compose(compose_folder, snapshot):
            assert pinned(compose_folder("overlays")) == snapshot
        """
    )
    bundle = pytester.mkdir("overlays") / "anchor"
    bundle.mkdir()
    manifest = bundle / "capability.json"
    manifest.write_text(json.dumps(feature("anchor")), "utf-8")

    pytester.runpytest_subprocess("--snapshot-update").assert_outcomes(passed=1)
    pytester.runpytest_subprocess().assert_outcomes(passed=1)
    manifest.write_text("{}", "utf-8")
    pytester.runpytest_subprocess().assert_outcomes(failed=1)


def test_the_examples_of_the_module_hold() -> None:
    assert doctest.testmod(testing).failed == 0
