"""Every example on a page is run, in a temporary copy, in the order of the page.

- a block with a `title` is saved as that file;
- a `console` block is a session: what follows `$` is run, the rest is what it prints,
  with `...` for anything;
- a `python` block is a doctest when it has prompts, and is executed otherwise.

The folder a page starts in is shown as `/home/ada`.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import attrs
import pytest

from msdcomp.cli import main
from tests.docs.pages import DOCS, PAGES, ROOT, Block, blocks

#: What stands on a page for the folder its reader starts in.
_SHOWN = "/home/ada"
_FLAGS = doctest.ELLIPSIS | doctest.IGNORE_EXCEPTION_DETAIL
_RUN = [page for page in PAGES if any(b.language or b.title for b in blocks(page))]


@attrs.define
class Reader:
    """Somebody who follows one page to the letter."""

    page: Path
    folder: Path
    patch: pytest.MonkeyPatch
    names: dict[str, Any] = attrs.field(factory=lambda: {"__name__": "__page__"})
    code: int = 0

    def follow(self, block: Block) -> None:
        if block.title is not None:
            Path(block.title).parent.mkdir(parents=True, exist_ok=True)
            Path(block.title).write_text(block.text, encoding="utf-8")
        elif block.language == "console":
            self.session(block)
        elif block.language == "python":
            self.python(block)
        if block.language == "json":
            json.loads(block.text)

    def where(self, block: Block) -> str:
        return f"{self.page.relative_to(ROOT)}:{block.line}"

    def python(self, block: Block) -> None:
        if ">>>" not in block.text:
            exec(compile(block.text, self.where(block), "exec"), self.names)  # noqa: S102 - our own pages
            return
        said: list[str] = []
        test = doctest.DocTestParser().get_doctest(
            block.text, self.names, self.page.name, str(self.page), block.line
        )
        runner = doctest.DocTestRunner(optionflags=_FLAGS)
        runner.run(test, out=said.append, clear_globs=False)
        self.names.update(test.globs)
        assert not said, "".join(said)

    def session(self, block: Block) -> None:
        command, wanted = "", ""
        for line in [*block.text.splitlines(), "$ "]:
            if command.endswith("\\"):
                command = command[:-1] + line.strip()
            elif line.startswith("$ ") or line == "$":
                if command:
                    self.expect(block, command, wanted)
                command, wanted = line[2:], ""
            else:
                wanted += f"{line}\n"

    def expect(self, block: Block, command: str, wanted: str) -> None:
        got = self.run(command).replace(str(self.folder), _SHOWN)
        flags = _FLAGS
        if command.endswith("--help"):
            # Versions of Python wrap the usage differently.
            flags |= doctest.NORMALIZE_WHITESPACE
        checker = doctest.OutputChecker()
        if not checker.check_output(wanted, got, flags):
            example = doctest.Example(command, wanted)
            difference = checker.output_difference(example, got, flags)
            pytest.fail(f"{self.where(block)}: $ {command}\n{difference}")

    def run(self, command: str) -> str:
        words = shlex.split(os.path.expandvars(command))
        match words:
            case ["cd", folder]:
                self.go(Path(folder))
            case ["export", setting]:
                name, _, value = setting.partition("=")
                self.patch.setenv(name, value)
            case ["echo", "$?"]:
                return f"{self.code}\n"
            case ["msd", *arguments] if not {"|", ">", "&&"}.intersection(words):
                return self.msd(arguments)
            case _:
                return self.shell(command)
        return ""

    def go(self, folder: Path) -> None:
        self.patch.chdir(folder)
        self.patch.setenv("PWD", str(Path.cwd()))

    def msd(self, arguments: list[str]) -> str:
        out = io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            self.code = main(arguments)
        return out.getvalue()

    def shell(self, command: str) -> str:
        done = subprocess.run(
            ["sh", "-c", command],
            check=False,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.code = done.returncode
        return done.stdout


@pytest.mark.parametrize("page", _RUN, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_does_what_it_says(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path.resolve() / "ada"
    shutil.copytree(DOCS / "examples", folder / "docs" / "examples")
    for name in ("MSD_HOME", "PYTEST_ADDOPTS", "PYTEST_XDIST_WORKER"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("NO_COLOR", "1")
    bin_folder = Path(sys.executable).parent
    monkeypatch.setenv("PATH", f"{bin_folder}{os.pathsep}{os.environ['PATH']}")
    reader = Reader(page=page, folder=folder, patch=monkeypatch)
    reader.go(folder)
    for block in blocks(page):
        reader.follow(block)
