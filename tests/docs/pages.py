"""The pages of the documentation, taken apart: fenced blocks, links, headings."""

from __future__ import annotations

import re
from pathlib import Path

import attrs

__all__ = ["DOCS", "PAGES", "ROOT", "Block", "blocks", "headings", "prose", "slug"]

ROOT = Path(__file__).parent.parent.parent
DOCS = ROOT / "docs"

#: Every page a reader is sent to.
PAGES = (
    ROOT / "README.md",
    ROOT / "CHANGELOG.md",
    *sorted(p for p in DOCS.rglob("*.md") if "examples" not in p.parts),
)

_FENCE = re.compile(r"^(?P<indent> *)```(?P<language>\w*)(?P<rest>[^`]*)$")
_TITLE = re.compile(r'title="([^"]+)"')


@attrs.frozen(kw_only=True)
class Block:
    """A fenced block: its language, the file it is to be saved as, its text."""

    language: str
    title: str | None
    text: str
    line: int


def _parts(path: Path) -> tuple[list[Block], list[str]]:
    """Return the fenced blocks of a page, and the lines outside of them."""
    found: list[Block] = []
    outside: list[str] = []
    held: list[str] | None = None
    language, title, indent, start = "", None, 0, 0
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        fence = _FENCE.match(line)
        if held is not None:
            if line.strip() == "```":
                text = "".join(f"{held_line}\n" for held_line in held)
                found.append(
                    Block(language=language, title=title, text=text, line=start)
                )
                held = None
            else:
                held.append(line[indent:] if line[:indent].isspace() else line)
        elif fence:
            named = _TITLE.search(fence["rest"])
            language, title = fence["language"], named[1] if named else None
            indent, start, held = len(fence["indent"]), number, []
        else:
            outside.append(line)
    assert held is None, f"{path}:{start}: a block that is never closed"
    return found, outside


def blocks(path: Path) -> list[Block]:
    return _parts(path)[0]


def prose(path: Path) -> list[str]:
    return _parts(path)[1]


def headings(path: Path) -> list[str]:
    """Return the headings of a page, without marks and backquotes."""
    return [
        line.lstrip("#").strip().replace("`", "")
        for line in prose(path)
        if line.startswith("#")
    ]


def slug(heading: str) -> str:
    """Return the anchor that MkDocs, and GitHub, give a heading."""
    plain = re.sub(r"[^\w\s-]", "", heading).strip().lower()
    return re.sub(r"[-\s]+", "-", plain)
