"""The hash that consent is bound to."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from msdcomp.edge import content_hash
from msdcomp.edge.content_hash import Bundle, read_bundle
from msdcomp.edge.files import FileFault, Listing
from tests.layouts import put, write

EMPTY = (
    "sha512-G3QJzPDVo006d+qr+p/idCdlW+kpcSfulSKqG/QEbU+UWYNngWnLGnNI7crEfvDZ4skkEw5bzF8"
    "NlJN4UsQvGw=="
)
MANIFEST_ONLY = (
    "sha512-FtM+PmQ7FNrKbTd0jq6OapIIhRqFE4iBU2udYVuC4809IBQnrSXS2fdn/lZQM+TnRPtR+PweVQ4"
    "FI53X+lWjPw=="
)
WITH_FOLDERS = (
    "sha512-dfZ4QAwBrtEvyQlFw77BTGpjAhc/OKDbVcTLYIQkJK218wLn1kB3lH/3e6YDfM9B1XL/NpbjvRd"
    "tCn0U7eignw=="
)
WITH_TEST_CACHE = (
    "sha512-XrzkZpGh1QkYxnz8OkTK6FXF3Kv+fnpKQkLrjTrj7ie2fZSykgbi6cRP+fqGoaGFQ5QbwATxJiR"
    "bkK3dImS6jA=="
)


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    folder = tmp_path / "bundle"
    write(folder / "capability.json", "{}")
    return folder


def digest(folder: Path) -> str:
    found = read_bundle(str(folder))
    assert isinstance(found, Bundle), found
    return found.digest


def fault(folder: Path) -> FileFault:
    found = read_bundle(str(folder))
    assert isinstance(found, FileFault)
    return found


def test_known_digests_step_by_step(bundle: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert digest(tmp_path / "empty") == EMPTY
    assert digest(bundle) == MANIFEST_ONLY
    (bundle / "a" / "b").mkdir(parents=True)
    write(bundle / "a" / "x.txt", "hi")
    assert digest(bundle) == WITH_FOLDERS
    write(bundle / "__pycache__" / "m.cpython-312.pyc", "zz")
    assert digest(bundle) == WITH_FOLDERS
    write(bundle / ".pytest_cache" / "README.md", "r")
    assert digest(bundle) == WITH_TEST_CACHE


def test_paths_sort_by_raw_bytes_not_by_folder(bundle: Path) -> None:
    """`a-b` sorts between `a` and `a/x`: the order is that of whole paths."""
    write(bundle / "a" / "x", "1")
    write(bundle / "a-b", "2")
    found = read_bundle(str(bundle))
    assert isinstance(found, Bundle)
    assert set(found.files) == {b"a-b", b"a/x", b"capability.json"}
    before = found.digest
    (bundle / "a-b").unlink()
    write(bundle / "a-b", "2")  # the folder lists in another order now
    assert digest(bundle) == before


def test_what_is_handed_on_is_exactly_what_was_hashed(bundle: Path) -> None:
    """Bytecode is in no hash, so it is in no file that could be composed."""
    write(bundle / "__pycache__" / "m.pyc", "evil")
    write(bundle / "__pycache__" / "note.txt", "counts")
    write(bundle / "loose.pyc", "counts")
    found = read_bundle(str(bundle))
    assert isinstance(found, Bundle)
    assert dict(found.files) == {
        b"__pycache__/note.txt": b"counts",
        b"capability.json": b"{}",
        b"loose.pyc": b"counts",
    }


def test_the_folders_that_count_are_handed_on(bundle: Path) -> None:
    """An empty folder is content, too; a folder of a cache has no entry of its own."""
    for path in ("b/c", "a-b", "a/x", "__pycache__/kept", ".pytest_cache"):
        (bundle / path).mkdir(parents=True)
    found = read_bundle(str(bundle))
    assert isinstance(found, Bundle)
    assert found.folders == (b"__pycache__/kept", b"a", b"a-b", b"a/x", b"b", b"b/c")


NAMES = st.sampled_from(
    [b"a", b"a-b", b"\xff", b"__pycache__", b".pytest_cache", b"m.pyc", b"m.pyo"]
)
PATHS = st.lists(NAMES, min_size=1, max_size=4).map(b"/".join)


@given(entries=st.dictionaries(PATHS, st.none() | st.binary(max_size=3), max_size=8))
def test_a_bundle_can_be_written_again_with_the_same_hash(
    tmp_path_factory: pytest.TempPathFactory, entries: dict[bytes, bytes | None]
) -> None:
    """From its files and folders alone, also where a cache held what counts."""
    first, second = (os.fsencode(tmp_path_factory.mktemp("x")) for _ in range(2))
    for path, content in sorted(entries.items()):
        parents = [path[:at] for at in range(len(path)) if path[at : at + 1] == b"/"]
        if not any(entries.get(above) is not None for above in parents):
            put_again(first, path, content)
    found = read_bundle(first)
    assert isinstance(found, Bundle)
    for folder in found.folders:
        put_again(second, folder, None)
    for path, content in found.files.items():
        put_again(second, path, content)
    assert read_bundle(second) == found


def put_again(top: bytes, path: bytes, content: bytes | None) -> None:
    target = Path(os.fsdecode(top), os.fsdecode(path))
    if content is None:
        target.mkdir(parents=True, exist_ok=True)
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(content)


def test_bytecode_of_a_folder_that_is_itself_a_cache(tmp_path: Path) -> None:
    folder = tmp_path / "__pycache__"
    write(folder / "capability.json", "{}")
    write(folder / "m.pyo", "x")
    assert digest(folder) == MANIFEST_ONLY


def test_names_are_bytes(bundle: Path) -> None:
    write(bundle / os.fsdecode(b"\xff\xfe"), "x")
    found = read_bundle(os.fsencode(bundle) + b"/")
    assert isinstance(found, Bundle)
    assert b"\xff\xfe" in found.files


@pytest.mark.parametrize("change", ["content", "name", "empty folder", "file gone"])
def test_any_change_changes_the_hash(bundle: Path, change: str) -> None:
    write(bundle / "a.md", "x")
    before = digest(bundle)
    if change == "content":
        write(bundle / "a.md", "y")
    elif change == "name":
        (bundle / "a.md").rename(bundle / "b.md")
    elif change == "empty folder":
        (bundle / "d").mkdir()
    else:
        (bundle / "a.md").unlink()
    assert digest(bundle) != before


@pytest.mark.parametrize(
    ("spec", "code"),
    [
        ({"symlink": "capability.json"}, "link"),
        ({"symlink": "nowhere"}, "link"),
        ({"symlink": "."}, "link"),
        ({"fifo": True}, "not-regular"),
    ],
)
def test_links_and_special_files_refuse(bundle: Path, spec: object, code: str) -> None:
    put(bundle / "deep" / "odd", spec)
    assert fault(bundle).code == code


def test_a_link_named_like_a_cache_refuses(bundle: Path) -> None:
    put(bundle / "__pycache__", {"symlink": "."})
    assert fault(bundle).code == "link"


def test_a_linked_folder_is_followed_only_when_asked(bundle: Path) -> None:
    link = bundle.parent / "link"
    link.symlink_to(bundle)
    assert digest(link) == MANIFEST_ONLY
    refused = read_bundle(str(link), follow=False)
    assert isinstance(refused, FileFault)


def test_missing_folder(tmp_path: Path) -> None:
    assert fault(tmp_path / "gone").code == "missing"


def test_a_file_is_no_folder(bundle: Path) -> None:
    assert fault(bundle / "capability.json").code == "not-a-folder"


def test_bytes_of_all_files_are_bounded(bundle: Path) -> None:
    write(bundle / "a", b"\0" * (content_hash.MAX_BUNDLE_BYTES - 2))
    digest(bundle)
    write(bundle / "b", b"\0")
    assert fault(bundle).code == "too-large"


def test_excluded_files_count_against_the_bounds(bundle: Path) -> None:
    write(bundle / "a", b"\0" * (content_hash.MAX_BUNDLE_BYTES - 2))
    write(bundle / "__pycache__" / "m.pyc", b"\0")
    assert fault(bundle).code == "too-large"


def test_entries_are_bounded(bundle: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(content_hash, "MAX_ENTRIES", 3)
    write(bundle / "d" / "x", "")
    digest(bundle)
    write(bundle / "d" / "y", "")
    assert fault(bundle).code == "too-many"


def test_depth_is_bounded(bundle: Path) -> None:
    deepest = bundle.joinpath(*["d"] * (content_hash.MAX_DEPTH - 1))
    deepest.mkdir(parents=True)
    digest(bundle)
    (deepest / "d").mkdir()
    assert fault(bundle).code == "too-many"


def test_an_unreadable_part_refuses(
    bundle: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also for the super-user, who may read everything: the system call is replaced."""
    write(bundle / "d" / "x", "")
    real = os.open

    def refusing(path: str | bytes, flags: int, *rest: int, **more: int) -> int:
        if os.fsencode(path) == b"d":
            raise PermissionError(13, "no")
        return real(path, flags, *rest, **more)

    monkeypatch.setattr(os, "open", refusing)
    assert fault(bundle).code == "permission"


def test_a_folder_that_cannot_be_listed_refuses(
    bundle: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refusing(_fd: int) -> None:
        raise PermissionError(13, "no")

    monkeypatch.setattr(os, "scandir", refusing)
    assert fault(bundle).code == "permission"


def test_an_entry_that_cannot_be_told_refuses(
    bundle: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Odd:
        name = "odd"

        def is_symlink(self) -> bool:
            raise OSError(5, "I/O error")

    listing = Listing((Odd(),))  # type: ignore[arg-type]
    monkeypatch.setattr(content_hash, "list_folder", lambda *_: listing)
    assert fault(bundle).code == "unreadable"


def test_no_descriptor_is_left_open(bundle: Path) -> None:
    """A refusal deep inside closes every folder on the way."""
    put(bundle / "a" / "b" / "c", {"symlink": "."})
    before = sum(1 for _ in Path("/dev/fd").iterdir())
    fault(bundle)
    assert sum(1 for _ in Path("/dev/fd").iterdir()) == before


def test_the_hash_does_not_depend_on_the_locale(bundle: Path) -> None:
    write(bundle / "café.md", "x")
    code = (
        "import sys; from msdcomp.edge.content_hash import read_bundle; "
        "print(read_bundle(sys.argv[1]).digest)"
    )
    runs = {
        subprocess.run(
            [sys.executable, "-X", f"utf8={mode}", "-c", code, str(bundle)],
            env={**os.environ, "LC_ALL": "C", "PYTHONCOERCECLOCALE": "0"},
            capture_output=True,
            check=True,
            text=True,
        ).stdout.strip()
        for mode in (0, 1)
    }
    assert runs == {digest(bundle)}
