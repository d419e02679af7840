"""Links lead somewhere, citations in the code exist, references are complete."""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import inspect
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import attrs
import pytest

import msdcomp
from msdcomp import manifest, vocabulary
from msdcomp.cli import VERBS, capability
from msdcomp.codes import CODES
from msdcomp.edge.load import load_registry
from msdcomp.vocabulary import reviewer, runtime
from tests.docs.pages import DOCS, PAGES, ROOT, blocks, headings, prose, slug

_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
_CITATION = re.compile(r'(docs/[\w/-]+\.md)(?:, "([^"]+)")?')
_ABBREVIATION = re.compile(r"\b(?:e\.g|i\.e|etc)\. ")
_TWO_SENTENCES = re.compile(r"[a-z`)*][.?!] +[A-Z`]")


def _name(page: Path) -> str:
    return str(page.relative_to(ROOT))


def _text(name: str) -> str:
    return (DOCS / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("page", PAGES, ids=_name)
def test_every_link_leads_to_a_page_and_a_heading(page: Path) -> None:
    broken = []
    for target in _LINK.findall("\n".join(prose(page))):
        if target.startswith(("https://", "http://")):
            continue
        path, _, anchor = target.partition("#")
        there = (page.parent / path).resolve() if path else page
        if not there.exists() or (anchor and anchor not in map(slug, headings(there))):
            broken.append(target)
    assert not broken


@pytest.mark.parametrize("page", PAGES, ids=_name)
def test_a_line_of_prose_holds_one_sentence(page: Path) -> None:
    crowded = [
        line
        for line in prose(page)
        if not line.startswith("|")
        and _TWO_SENTENCES.search(_ABBREVIATION.sub("", line))
    ]
    assert not crowded


def test_every_page_is_in_the_navigation_once() -> None:
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    listed = re.findall(r"([\w/-]+\.md)$", text, re.MULTILINE)
    pages = [str(p.relative_to(DOCS)) for p in PAGES if p.is_relative_to(DOCS)]
    assert sorted(listed) == sorted(pages)


def _citations() -> Iterator[tuple[str, str, str]]:
    """Yield where, page and section of everything the code cites."""
    for path in sorted((ROOT / "msdcomp").rglob("*.py")):
        where = _name(path)
        if path.parent.name == "codes":
            continue
        text = re.sub(r"\s*\n\s*(?:#:?\s*)?", " ", path.read_text(encoding="utf-8"))
        yield from ((where, *found) for found in _CITATION.findall(text))
        if path.parent.name == "vocabulary":
            for section in re.findall(r'Source: "([^"]+)"', text):
                yield where, "docs/reference/manifest.md", section
    for code in CODES.values():
        (cited,) = _CITATION.findall(code.source)
        yield code.code, *cited
    for name in ("pyproject.toml", "Makefile"):
        text = (ROOT / name).read_text(encoding="utf-8")
        yield from ((name, *found) for found in _CITATION.findall(text))


def test_every_citation_in_the_code_exists() -> None:
    missing = [
        (where, page, section)
        for where, page, section in _citations()
        if not (ROOT / page).exists()
        or (section and section not in headings(ROOT / page))
    ]
    assert not missing


def test_the_page_of_codes_is_what_the_code_says(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    generate = _generate()
    assert generate.main(["--check"]) == 0
    other = tmp_path / "codes.md"
    assert generate.main(["--check"], other) == 1
    assert "codes.md is stale" in capsys.readouterr().err
    assert generate.main([], other) == 0
    assert generate.main(["--check"], other) == 0
    listed = set(headings(other))
    assert {code for code in CODES if code not in listed} == set()


def _generate() -> ModuleType:
    spec = importlib.util.spec_from_file_location("generate", DOCS / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _commands() -> Iterator[str]:
    """Yield every command that has a help text."""
    yield "msd"
    for verb in VERBS:
        yield f"msd {verb}"
        parser = argparse.ArgumentParser()
        importlib.import_module(f"msdcomp.cli.{verb}").configure(parser)
        for action in parser._actions:
            if isinstance(action, argparse._SubParsersAction):
                for inner, own in action.choices.items():
                    # A verb of a later release only answers that it is one.
                    if own.add_help:
                        yield f"msd {verb} {inner}"
    for verb in capability.VERBS:
        yield f"msd capability {verb}"


def test_the_help_of_every_command_is_shown() -> None:
    page = DOCS / "reference" / "command-line.md"
    shown = "".join(b.text for b in blocks(page) if b.language == "console")
    absent = [c for c in _commands() if f"$ {c} --help\n" not in shown]
    assert not absent


def _camel(name: str) -> str:
    head, *rest = name.rstrip("_").split("_")
    return head + "".join(part.title() for part in rest)


def _fields() -> Iterator[str]:
    for name in manifest.__all__:
        record = getattr(manifest, name)
        if attrs.has(record):
            for field in attrs.fields(record):
                yield field.metadata.get("wire", _camel(str(field.alias)))


def _words(module: ModuleType) -> Iterator[str]:
    """Yield every word of every closed set of a module."""
    for name, value in vars(module).items():
        if not name.isupper() or name.startswith("_") or name == "HOST_PHASES":
            continue
        if isinstance(value, str | int):
            yield str(value)
        elif isinstance(value, Mapping):
            for key, entry in value.items():
                yield str(key)
                yield from [entry] if isinstance(entry, str) else entry
        elif isinstance(value, tuple | frozenset):
            yield from map(str, value)


def test_the_manifest_page_knows_every_field_and_every_value() -> None:
    page = _text("reference/manifest.md")
    ours = {"document", "feature"}
    fields = {field for field in _fields() if field not in ours}
    words = {word for m in (vocabulary, runtime, reviewer) for word in _words(m)}
    words.discard(str(vocabulary.MAX_RESOLVER_MS))
    absent = [w for w in sorted(fields | words) if f"`{w}`" not in page]
    assert not absent


def test_the_host_contract_page_knows_the_loop() -> None:
    rows = [
        line for line in _text("reference/host-contract.md").splitlines() if "|" in line
    ]
    for phase, points, roles, produces, _ in vocabulary.HOST_PHASES:
        row = next(row for row in rows if row.startswith(f"| {phase} "))
        for word in (*points, *roles, *produces):
            assert f"`{word}`" in row
    for point, kinds in vocabulary.POINT_KINDS.items():
        row = next(row for row in rows if row.startswith(f"| `{point}` "))
        cells = [cell.strip() for cell in row.split("|")[2:-1]]
        said = dict(zip(vocabulary.HOOK_KINDS, cells, strict=True))
        assert said == {k: "yes" if k in kinds else "no" for k in said}


def _keys(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, entry in value.items():
            yield key
            yield from _keys(entry)
    elif isinstance(value, list):
        for entry in value:
            yield from _keys(entry)


def test_the_wire_page_knows_every_key() -> None:
    home = DOCS / "examples" / "home"
    composition = load_registry(home=home, project=DOCS / "examples" / "project")
    wire = composition.to_wire()
    # The keys of `paths` are ids.
    keys = {*wire, *_keys({**wire["_overlay"], "paths": {}})}
    for view in ("configSchema", "commandFamilies", "profileMembership"):
        keys.update(key for entry in wire[view].values() for key in entry)
    for point in wire["byLoopPoint"].values():
        keys.update(point)
    page = _text("reference/wire-format.md")
    assert [key for key in sorted(keys) if f"`{key}`" not in page] == []


@pytest.mark.parametrize("view", [f.name for f in attrs.fields(msdcomp.Registry)])
def test_the_registry_page_knows_every_view(view: str) -> None:
    assert f"`{view}`" in _text("reference/registry.md")


@pytest.mark.parametrize("name", [n for n in msdcomp.__all__ if n != "__version__"])
def test_the_api_page_knows_every_public_name(name: str) -> None:
    assert re.search(rf"`{name}\b", _text("reference/python-api.md"))


@pytest.mark.parametrize(
    "name", [n for n in msdcomp.__all__ if inspect.isfunction(getattr(msdcomp, n))]
)
def test_the_api_page_shows_every_argument(name: str) -> None:
    shown = re.search(rf"`{name}\(([^`]*)\)`", _text("reference/python-api.md"))
    assert shown is not None
    arguments = re.findall(r"(\w+)(?:=[^,]*)?(?:,|$)", shown[1])
    assert arguments == list(inspect.signature(getattr(msdcomp, name)).parameters)


@pytest.mark.parametrize(
    "name", [n for n in msdcomp.__all__ if attrs.has(getattr(msdcomp, n))]
)
def test_the_api_page_names_no_attribute_that_is_not_there(name: str) -> None:
    page = _text("reference/python-api.md")
    row = next(line for line in page.splitlines() if line.startswith(f"| `{name}` |"))
    record = getattr(msdcomp, name)
    told = re.findall(r"`([a-z_]+)(?:\(\))?`", row.split("|")[2])
    own = {"build", *dir(record), *(f.name for f in attrs.fields(record))}
    assert [word for word in told if word not in own] == []


def test_the_readme_names_commands_that_exist() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    targets = re.findall(r"`make (\w+)`", readme)
    assert {"run", "test"} <= set(targets)
    assert [t for t in targets if f"\n{t}:" not in makefile] == []
    assert len(readme.splitlines()) < 120
    assert [v for v in VERBS if f"`msd {v}" not in readme] == []
