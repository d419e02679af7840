"""The texts of fragment files: exactly as they are, and only from inside."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from msdcomp.candidate import FragmentFault, FragmentText
from msdcomp.edge import sight
from tests.edge.scans import Scanner, agree, code, fragment, only, text
from tests.layouts import overlay, put, write


def test_text_is_taken_exactly_as_it_is(home: Path, run: Scanner) -> None:
    bundle = overlay(home, "anchor", contributions=[text("a.md")])
    write(bundle / "a.md", b"\xef\xbb\xbfa\r\nb\n")
    assert fragment(run()) == FragmentText("\ufeffa\r\nb\n")


def test_only_declared_paths_without_inline_text_are_read(
    home: Path, run: Scanner
) -> None:
    step = {
        "point": "plan:pre",
        "ref": {"command": "x"},
        "produces": [],
        "consumes": [],
        "onError": "skip",
    }
    inline = {**step, "fragment": {"path": "unread.md", "inline": "wins"}}
    bundle = overlay(
        home,
        "anchor",
        steps=[{**step, "fragment": {"path": "s.md"}}, inline, step],
        contributions=[text("c.md"), text("c.md")],
    )
    for name in ("s.md", "c.md", "unread.md", "extra.md"):
        write(bundle / name, name)
    assert dict(only(run()).fragments) == {
        "s.md": FragmentText("s.md"),
        "c.md": FragmentText("c.md"),
    }


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        (None, "fragment-unreadable"),
        ("", "fragment-empty"),
        ({"base64": "/w=="}, "fragment-unreadable"),
        ({"dir": True}, "fragment-unreadable"),
        ({"fifo": True}, "fragment-unreadable"),
        ({"symlink": "/dev/zero"}, "fragment-escapes"),
        ({"symlink": "../../../../secret.md"}, "fragment-escapes"),
        ({"symlink": "gone.md"}, "fragment-unreadable"),
        ({"pad": {"json": {}, "bytes": 9_000_000}}, "fragment-too-large"),
    ],
)
def test_a_fragment_that_cannot_be_used(
    tmp_path: Path, home: Path, run: Scanner, spec: Any, expected: str
) -> None:
    write(tmp_path / "secret.md", "secret")
    bundle = overlay(home, "anchor", contributions=[text("a.md")])
    if spec is not None:
        put(bundle / "a.md", spec)
    assert code(run()) == expected


def test_a_fragment_through_a_linked_folder_escapes(
    tmp_path: Path, home: Path, run: Scanner
) -> None:
    write(tmp_path / "outside" / "a.md", "secret")
    bundle = overlay(home, "anchor", contributions=[text("d/a.md")])
    put(bundle / "d", {"symlink": str(tmp_path / "outside")})
    assert code(run(), "d/a.md") == "fragment-escapes"


@pytest.mark.parametrize(
    ("path", "size", "expected"),
    [
        ("gone.md", None, "fragment-unreadable"),
        (".", None, "fragment-unreadable"),
        ("a.md", 9_000_000, "fragment-too-large"),
    ],
)
def test_a_fragment_of_a_consented_folder_that_cannot_be_used(
    home: Path, project: Path, run: Scanner, path: str, size: int | None, expected: str
) -> None:
    bundle = overlay(project, "anchor", contributions=[text(path)])
    if size:
        write(bundle / path, b" " * size)
    agree(home, project, bundle)
    assert code(run(), path) == expected


def test_bytecode_is_no_fragment_of_a_consented_folder(
    home: Path, project: Path, run: Scanner
) -> None:
    """No hash covers it, so it could change after the user agreed."""
    bundle = overlay(project, "anchor", contributions=[text("__pycache__/m.pyc")])
    write(bundle / "__pycache__" / "m.pyc", "text")
    agree(home, project, bundle)
    assert code(run(), "__pycache__/m.pyc") == "fragment-unreadable"


def test_all_fragments_together_are_bounded(
    home: Path, run: Scanner, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One file under a thousand spellings must not be read a thousand times."""
    monkeypatch.setattr(sight, "MAX_FRAGMENTS_BYTES", 10)
    paths = ["a.md", "./a.md", "././a.md"]
    bundle = overlay(home, "anchor", contributions=[text(path) for path in paths])
    write(bundle / "a.md", "12345678")
    fragments = only(run()).fragments
    assert fragments["./a.md"] == FragmentText("12345678")
    found = fragments["././a.md"]
    assert isinstance(found, FragmentFault)
    assert found.code == "fragment-too-large"
