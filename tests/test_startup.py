"""What a command imports: counted in modules, since seconds depend on the machine.

A workflow runs `msd loop render-hooks` at every point of its loop, so every module that
it imports is paid for again and again. Whoever adds one to a list here should know what
it costs: `python -X importtime -m msdcomp loop render-hooks plan:pre`.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.documents import feature

ROOT = Path(__file__).parents[1]

#: Tells what was imported on the way to the end of a command.
PROBE = """
import sys
before = set(sys.modules)
from msdcomp.cli import main
code = main(sys.argv[1:])
print(*sorted(set(sys.modules) - before), sep="\\n", file=sys.stderr)
sys.exit(code)
"""

#: Every command.
FRAME = {
    "msdcomp",
    "msdcomp._version",
    "msdcomp.canonical",
    "msdcomp.cli",
    "msdcomp.cli.common",
    "msdcomp.edge",
    "msdcomp.edge.files",
    "msdcomp.records",
    "msdcomp.safetext",
}

#: Every command that reads the shipped capabilities, without a cache.
SHIPPED = {
    "msdcomp.cli.here",
    "msdcomp.cli.progress",
    "msdcomp.collector",
    "msdcomp.composition",
    "msdcomp.configlayers",
    "msdcomp.dataflow",
    "msdcomp.diagnostics",
    "msdcomp.dispatch",
    "msdcomp.edge.config",
    "msdcomp.edge.confighome",
    "msdcomp.edge.firstparty",
    "msdcomp.edge.load",
    "msdcomp.edge.roots",
    "msdcomp.edge.snapshot",
    "msdcomp.edge.surfacing",
    "msdcomp.entry",
    "msdcomp.manifest",
    "msdcomp.manifest.envelope",
    "msdcomp.manifest.feature",
    "msdcomp.manifest.names",
    "msdcomp.manifest.reviewer",
    "msdcomp.manifest.runtime",
    "msdcomp.registry",
    "msdcomp.scope",
    "msdcomp.semver",
    "msdcomp.structuring",
    "msdcomp.views",
    "msdcomp.vocabulary",
}

#: Skips and lost gates as records; where something is installed, or is to be shown.
VERDICTS = {"msdcomp.gates", "msdcomp.verdict"}

#: How far each capability got.
STATES = {
    "msdcomp.activation",
    "msdcomp.activehook",
    "msdcomp.explanation",
    "msdcomp.state",
    "msdcomp.surface",
}

#: What a person reads.
PAGE = {"msdcomp.present", "msdcomp.present.names", "msdcomp.present.page"}

LOOP = {
    "msdcomp.activation",
    "msdcomp.activehook",
    "msdcomp.cli.loop",
    "msdcomp.gatewarning",
    "msdcomp.loop",
    "msdcomp.markdown",
}

RECORDS = {"attr", "attrs", "pvectorc", "pyrsistent"}

#: What reading manifests into records takes; with a cache that hits, nothing does.
STRUCTURING = {*RECORDS, "cattrs", "typing_extensions"}

#: Arguments, modules of ours, packages of others: all that may be imported.
COMMANDS: dict[str, tuple[Sequence[str], set[str], set[str]]] = {
    "version": (["--version"], FRAME, {"attr", "attrs"}),
    "help": (["--help"], FRAME, {"attr", "attrs"}),
    "loop": (
        ["loop", "render-hooks", "plan:pre"],
        FRAME | SHIPPED | LOOP,
        STRUCTURING,
    ),
    "loop-json": (
        ["loop", "render-hooks", "plan:pre", "--json"],
        FRAME | SHIPPED | LOOP,
        STRUCTURING,
    ),
    "compose": (
        ["compose"],
        FRAME
        | SHIPPED
        | VERDICTS
        | PAGE
        | {
            "msdcomp.cli.compose",
            "msdcomp.present.composition",
            "msdcomp.present.problems",
        },
        {*STRUCTURING, "rich"},
    ),
    "compose-json": (
        ["compose", "--json"],
        FRAME | SHIPPED | VERDICTS | {"msdcomp.cli.compose", "msdcomp.wireform"},
        {*STRUCTURING, "rfc8785"},
    ),
    "explain": (
        ["explain", "tdd"],
        FRAME
        | SHIPPED
        | VERDICTS
        | STATES
        | PAGE
        | {
            "msdcomp.cli.explain",
            "msdcomp.present.composition",
            "msdcomp.present.explanation",
            "msdcomp.present.problems",
            "msdcomp.present.state",
            "msdcomp.wireform",
        },
        {*STRUCTURING, "rfc8785", "rich"},
    ),
    "capability": (
        ["capability", "list"],
        FRAME
        | SHIPPED
        | VERDICTS
        | STATES
        | PAGE
        | {
            "msdcomp.cli.capability",
            "msdcomp.cli.listing",
            "msdcomp.inventory",
            "msdcomp.present.inventory",
        },
        {*STRUCTURING, "rich"},
    ),
}

#: What it takes to read a configuration file, strictly and with the place of a fault.
CONFIG_FILE = {
    "msdcomp._jsonread",
    "msdcomp._jsonskip",
    "msdcomp.codes",
    "msdcomp.codes._code",
    "msdcomp.codes.composition",
    "msdcomp.codes.contract",
    "msdcomp.codes.document",
    "msdcomp.codes.manifest",
    "msdcomp.jsontext",
}

#: Modules of the standard library that cost a short command milliseconds.
COSTLY = {
    "asyncio",
    "concurrent.futures",
    "datetime",
    "decimal",
    "difflib",
    "email",
    "hashlib",
    "logging",
    "multiprocessing",
    "pickle",
    "random",
    "shutil",
    "subprocess",
    "tempfile",
}


def _imported(home: Path, *arguments: str) -> set[str]:
    """Return the modules that a command imports where nothing else is set."""
    # The cache imports less when it hits and more when it does not.
    own = {"MSD_HOME": str(home), "MSD_NO_CACHE": "1", "PYTHONPATH": str(ROOT)}
    kept = {key: os.environ[key] for key in ("PATH", "HOME") if key in os.environ}
    ran = subprocess.run(
        [sys.executable, "-c", PROBE, *arguments],
        cwd=home,
        env={**kept, **own},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    return set(ran.stderr.split())


def _is_foreign(module: str) -> bool:
    top = module.partition(".")[0]
    return top != "msdcomp" and top not in sys.stdlib_module_names


def _packages(modules: set[str]) -> set[str]:
    return {module.partition(".")[0] for module in modules if _is_foreign(module)}


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_imports_no_more_than_it_is_known_to_need(
    command: str, tmp_path: Path
) -> None:
    arguments, modules, packages = COMMANDS[command]

    imported = _imported(tmp_path, *arguments)

    ours = {name for name in imported if name.partition(".")[0] == "msdcomp"}
    more = sorted((ours - modules) | (_packages(imported) - packages))
    assert not more, f"msd {' '.join(arguments)} now imports {', '.join(more)}"


def test_the_lists_hold_nothing_that_is_no_longer_imported(tmp_path: Path) -> None:
    arguments, modules, packages = COMMANDS["loop"]

    imported = _imported(tmp_path, *arguments)

    assert modules - imported == set()
    # The vectors in C are a part of pyrsistent that not every platform has.
    assert packages - _packages(imported) <= {"pvectorc"}


@pytest.mark.parametrize("verb", ["install", "update", "remove", "reconcile"])
def test_the_help_of_a_verb_that_changes_something_imports_no_other_verb(
    tmp_path: Path, verb: str
) -> None:
    imported = _imported(tmp_path, "capability", verb, "--help")

    verbs = {"install", "update", "remove", "reconcile", "trust", "listing"}
    own = {f"msdcomp.cli.{other}" for other in verbs}
    assert imported & own == {f"msdcomp.cli.{verb}"}


def test_a_hook_is_rendered_without_what_costs_milliseconds(tmp_path: Path) -> None:
    imported = _imported(tmp_path, "loop", "render-hooks", "plan:pre")

    assert imported & COSTLY == set()


@pytest.mark.parametrize("stream", [(), ("--workstream", "tides")])
def test_a_configuration_file_costs_the_reading_of_strict_json(
    tmp_path: Path, stream: tuple[str, ...]
) -> None:
    place = tmp_path / ".planning"
    for folder in (place, place / "workstreams" / "tides"):
        folder.mkdir(parents=True)
        text = json.dumps({"workflow": {"tdd_mode": True}})
        (folder / "config.json").write_text(text, "utf-8")

    imported = _imported(tmp_path, "loop", "render-hooks", "plan:pre", *stream)

    _, modules, packages = COMMANDS["loop"]
    ours = {name for name in imported if name.partition(".")[0] == "msdcomp"}
    assert ours - modules == CONFIG_FILE
    assert _packages(imported) <= packages
    assert imported & COSTLY == set()


def test_choices_about_the_surface_cost_their_reading_alone(tmp_path: Path) -> None:
    folder = tmp_path / ".claude"
    folder.mkdir()
    (folder / ".msd-surface.json").write_text('{"baseProfile": "core"}', "utf-8")

    imported = _imported(tmp_path, "loop", "render-hooks", "plan:pre")

    _, modules, packages = COMMANDS["loop"]
    ours = {name for name in imported if name.partition(".")[0] == "msdcomp"}
    assert ours - modules == {
        "msdcomp.edge.jsonfiles",
        "msdcomp.edge.surfacefile",
        "msdcomp.surface",
    }
    assert _packages(imported) <= packages
    assert imported & COSTLY == set()


def test_an_overlay_needs_no_library_that_only_odd_ones_need(tmp_path: Path) -> None:
    folder = tmp_path / ".msd" / "capabilities" / "tides"
    folder.mkdir(parents=True)
    document = feature(engines={"msd": ">=1.6.0 <3.0.0"})
    (folder / "capability.json").write_text(json.dumps(document), "utf-8")

    imported = _imported(tmp_path, "loop", "render-hooks", "plan:pre")

    assert "msdcomp.fold" in imported
    more = sorted(_packages(imported) - {*STRUCTURING, "toolz"})
    assert not more, f"an overlay now imports {', '.join(more)}"


def test_a_manifest_is_validated_without_composing(tmp_path: Path) -> None:
    path = ROOT / "capabilities" / "tdd" / "capability.json"

    imported = _imported(tmp_path, "validate", str(path))

    apart = {"msdcomp.fold", "msdcomp.composition", "msdcomp.loop", "msdcomp.cli.here"}
    assert imported & apart == set()
    more = sorted(_packages(imported) - {*STRUCTURING, "rfc8785", "rich", "toolz"})
    assert not more, f"validate now imports {', '.join(more)}"


def test_a_predicate_imports_what_its_own_kind_needs(tmp_path: Path) -> None:
    def imported(**predicate: object) -> set[str]:
        text = json.dumps(predicate)
        return _imported(tmp_path, "check", "predicate", "--predicate", text)

    (tmp_path / ".planning").mkdir()
    exists = imported(kind="artifact-exists", artifact="PLAN.md")
    command = imported(kind="command-exit-zero", command="true")

    others = {"msdcomp.edge.frontmatter", "msdcomp.edge.snapshot", "msdcomp.fold"}
    assert exists & {*others, *COSTLY, "msdcomp.edge.gatecommand"} == set()
    assert _packages(exists) <= RECORDS
    assert command & others == set()
    assert command & COSTLY == {"subprocess"}
