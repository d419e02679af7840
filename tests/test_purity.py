"""The core is pure: nothing outside the edge and the command line touches the world.

The linter forbids imports by a list of names, so a module that nobody thought of would
slip through, and `open` needs no import. Here the rule is turned round: what a core
module may import is listed, and the builtins that reach out are not named at all.
"""

from __future__ import annotations

import ast
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "msdcomp"

#: What may touch the world, or is for tests alone.
OUTSIDE = ("edge", "cli", "testing", "__main__")

#: The one module that may speak to the garbage collector, which decides no result.
COLLECTOR = "collector"

#: The face of the package gives names of the core and of the edge, each when asked for.
FACE = "__init__"

#: Every module of the standard library.
SHIPPED = sys.stdlib_module_names

#: Those that compute and do nothing else.
STANDARD = frozenset(
    {
        "__future__",
        "bisect",
        "collections",
        "collections.abc",
        "contextlib",
        "copy",
        "difflib",
        "enum",
        "functools",
        "hashlib",
        "heapq",
        "itertools",
        "json",
        "math",
        "operator",
        "re",
        "types",
        "typing",
    }
)

#: Packages of others, each for what `docs/explanation/dependencies.md` says.
THIRD_PARTY = frozenset(
    {
        "attrs",
        "cattrs",
        "cattrs.gen",
        "nodesemver",
        "pyrsistent",
        "rfc8785",
        "rich.console",
        "rich.table",
        "rich.text",
        "toolz",
    }
)

#: Builtins that read, write, stop, or run text as code.
REACHING = frozenset(
    {
        "__builtins__",
        "__import__",
        "__loader__",
        "__spec__",
        "breakpoint",
        "compile",
        "eval",
        "exec",
        "exit",
        "globals",
        "help",
        "input",
        "locals",
        "open",
        "print",
        "quit",
    }
)


def _core() -> Iterator[Path]:
    for path in sorted(PACKAGE.rglob("*.py")):
        top = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
        if top not in OUTSIDE:
            yield path


CORE = list(_core())


def _imports(tree: ast.AST) -> Iterator[str]:
    """Yield the modules that are imported anywhere in a module."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "a relative import"
            assert node.module is not None
            yield node.module
            # A submodule is imported by its name alone: `from msdcomp import edge`.
            yield from (
                f"msdcomp.{alias.name}"
                for alias in node.names
                if node.module == "msdcomp"
            )


def _is_core(module: str) -> bool:
    top, _, rest = module.partition(".")
    return top == "msdcomp" and rest.partition(".")[0] not in OUTSIDE


def _impurities(text: str) -> list[str]:
    tree = ast.parse(text)
    allowed = STANDARD | THIRD_PARTY
    found = [
        f"imports {module}"
        for module in _imports(tree)
        if module not in allowed and not _is_core(module)
    ]
    names = (node for node in ast.walk(tree) if isinstance(node, ast.Name))
    found += [f"names {node.id}" for node in names if node.id in REACHING]
    return found


@pytest.mark.parametrize("path", CORE, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_a_core_module_only_computes(path: Path) -> None:
    found = _impurities(path.read_text("utf-8"))
    if path == PACKAGE / f"{FACE}.py":
        found = [odd for odd in found if not odd.startswith("imports msdcomp.edge.")]
        # It imports a module of this package when a name of it is asked for.
        assert set(found) == {"imports importlib", "names globals"}
    elif path == PACKAGE / f"{COLLECTOR}.py":
        assert found == ["imports gc"]
    else:
        assert found == []


@pytest.mark.parametrize(
    "text",
    [
        "import os",
        "import glob",
        "import asyncio",
        "import uuid",
        "import ctypes",
        "import os.path as p",
        "from pathlib import Path",
        "from msdcomp import edge",
        "from msdcomp.edge import files",
        "import msdcomp.cli",
        "import msdcomp.testing",
        "import rich",
        "def f():\n    import time",
        "open('x')",
        "def f(path, read=open):\n    return read(path)",
        "print('x')",
        "exec('x')",
        "eval('x')",
        "compile('x', '', 'exec')",
        "__import__('os')",
        "breakpoint()",
        "input()",
    ],
)
def test_the_test_would_notice(text: str) -> None:
    assert _impurities(text)


def test_every_package_that_is_allowed_is_needed() -> None:
    used = {
        module
        for path in CORE
        for module in _imports(ast.parse(path.read_text("utf-8")))
    }
    assert THIRD_PARTY - used == set()


def test_the_lists_are_what_they_say() -> None:
    assert {name.partition(".")[0] for name in STANDARD} <= SHIPPED
    assert THIRD_PARTY.isdisjoint(SHIPPED)


# The linter's contracts

CONTRACTS = {
    contract["type"]: contract
    for contract in tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"][
        "importlinter"
    ]["contracts"]
}


def _modules() -> set[str]:
    """Return the modules and packages right below `msdcomp`."""
    return {
        f"msdcomp.{path.stem}"
        for path in PACKAGE.iterdir()
        if path.suffix == ".py" or (path / "__init__.py").is_file()
    }


def test_the_linter_watches_every_core_module() -> None:
    watched = CONTRACTS["forbidden"]["source_modules"]
    outside = {f"msdcomp.{name}" for name in (*OUTSIDE, FACE)}

    assert sorted(watched) == sorted(_modules() - outside)


def test_the_linter_gives_every_module_a_layer() -> None:
    layers = CONTRACTS["layers"]["layers"]
    placed = [name.strip() for layer in layers for name in layer.split("|")]
    nowhere = {"msdcomp.__main__", "msdcomp._version", f"msdcomp.{FACE}"}

    assert sorted(placed) == sorted(_modules() - nowhere)


def test_the_linter_forbids_nothing_that_is_allowed_here() -> None:
    forbidden = set(CONTRACTS["forbidden"]["forbidden_modules"])
    tops = {name.partition(".")[0] for name in STANDARD | THIRD_PARTY}

    assert forbidden.isdisjoint(tops)
    assert forbidden <= SHIPPED
