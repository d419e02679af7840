"""A bundle as it is to be written."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from msdcomp.edge.content_hash import Bundle, read_bundle
from msdcomp.edge.lifecycle.tree import Tree, executables, parents

_names = st.binary(min_size=1, max_size=3).filter(lambda name: b"/" not in name)
_paths = st.lists(_names, min_size=1, max_size=4).map(b"/".join)


@given(_paths)
def test_parents_are_all_that_a_path_lies_in_outermost_first(path: bytes) -> None:
    above = list(parents(path))

    assert above == sorted(above, key=len)
    assert len(above) == path.count(b"/")
    assert all(path.startswith(one + b"/") for one in above)


@given(st.lists(_paths, unique=True, max_size=6), st.lists(_paths, max_size=3))
def test_a_folder_comes_after_those_it_lies_in(
    files: list[bytes], folders: list[bytes]
) -> None:
    known = {above for path in folders for above in (*parents(path), path)}
    bundle = Bundle(
        digest="", files=dict.fromkeys(files, b""), folders=tuple(sorted(known))
    )

    tree = Tree.of(bundle, files[:1])

    made: set[bytes] = set()
    for folder in tree.folders:
        assert set(parents(folder)) <= made
        made.add(folder)
    assert {above for path in files for above in parents(path)} <= made
    assert tree.executables == frozenset(files[:1])


def test_only_files_of_the_bundle_may_be_run() -> None:
    bundle = Bundle(digest="", files={b"a": b""}, folders=())

    assert Tree.of(bundle, [b"a", b"b"]).executables == {b"a"}


def test_a_folder_of_a_cache_comes_with_the_file_that_counts(tmp_path: Path) -> None:
    cache = tmp_path / "__pycache__"
    cache.mkdir()
    (cache / "note.md").write_text("x", "utf-8")
    (cache / "m.pyc").write_text("x", "utf-8")
    bundle = read_bundle(str(tmp_path))
    assert isinstance(bundle, Bundle)

    tree = Tree.of(bundle)

    assert (bundle.folders, tree.folders) == ((), (b"__pycache__",))
    assert set(tree.files) == {b"__pycache__/note.md"}


def test_what_its_owner_may_run_is_executable(tmp_path: Path) -> None:
    for name, mode in (("a", 0o755), ("b", 0o644), ("c", 0o700), ("d", 0o611)):
        (tmp_path / name).write_text("", "utf-8")
        (tmp_path / name).chmod(mode)

    assert executables(str(tmp_path), [b"a", b"b", b"c", b"d"]) == {b"a", b"c"}
