"""Write the reference page of problem codes from `msdcomp.codes`.

python docs/generate.py            write docs/reference/problem-codes.md
python docs/generate.py --check    change nothing; exit 1 when the page is stale
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from msdcomp.codes import Code
from msdcomp.codes.composition import COMPOSITION
from msdcomp.codes.contract import CONTRACT
from msdcomp.codes.document import DOCUMENT
from msdcomp.codes.manifest import MANIFEST

__all__ = ["main", "page", "slug"]

PAGE = Path(__file__).parent / "reference" / "problem-codes.md"

_INTRODUCTION = """\
# Problem codes

<!-- Written by docs/generate.py from msdcomp.codes: change the code, not this page. -->

Every fault and every notice carries one of these codes.
A code says what is wrong, and keeps its name and its meaning for good.
Messages may be worded better one day: programs should look at codes and pointers.
"""

_GROUPS: tuple[tuple[str, str, tuple[Code, ...]], ...] = (
    (
        "The text",
        "The document is no strict JSON, or a value in memory is none.",
        DOCUMENT,
    ),
    (
        "The manifest",
        "The document is JSON and breaks a rule of the format.",
        MANIFEST,
    ),
    (
        "The composition",
        "A capability does not fit into a registry, or something here is in doubt.",
        COMPOSITION,
    ),
    (
        "The host contract",
        "The file that describes a host's loop is not one that a loop could follow.",
        CONTRACT,
    ),
)

_SENTENCE_END = re.compile(r"(?<=[.;?]) (?=[A-Z`])")


def slug(heading: str) -> str:
    """Return the anchor that MkDocs gives a heading."""
    plain = re.sub(r"[^\w\s-]", "", heading).strip().lower()
    return re.sub(r"[-\s]+", "-", plain)


def page() -> str:
    """Return the whole page."""
    return "\n".join((_INTRODUCTION, *_sections()))


def _sections() -> Iterator[str]:
    for title, about, codes in _GROUPS:
        yield f"## {title}\n\n{about}\n"
        yield from map(_entry, codes)


def _entry(code: Code) -> str:
    lines: Iterable[str] = (
        f"### {code.code}\n",
        *_SENTENCE_END.split(code.meaning),
        "",
        *_SENTENCE_END.split(code.remedy),
        "",
        f"Rule: {_link(code.source)}.\n",
    )
    return "\n".join(lines)


def _link(source: str) -> str:
    """Return a source, `docs/PAGE` or `docs/PAGE, "SECTION"`, as a link."""
    path, _, section = source.partition(", ")
    section = section.strip('"')
    target = path.removeprefix("docs/")
    folder, _, name = target.rpartition("/")
    relative = name if folder == "reference" else f"../{target}"
    if not section:
        return f"[{name.removesuffix('.md')}]({relative})"
    return f"[{section}]({relative}#{slug(section)})"


def main(arguments: Sequence[str] | None = None, target: Path = PAGE) -> int:
    """Write the page, or check it; return the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="change nothing")
    options = parser.parse_args(arguments)
    made = page()
    if not options.check:
        target.write_text(made, encoding="utf-8")
        return 0
    held = target.read_text(encoding="utf-8") if target.exists() else ""
    if held == made:
        return 0
    sys.stderr.write(f"{target.name} is stale: run `python docs/generate.py`\n")
    return 1


if __name__ == "__main__":
    sys.exit(main())
