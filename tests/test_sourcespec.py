"""The text of a source and what it means."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from msdcomp.safetext import safe
from msdcomp.sourcefault import SourceFault
from msdcomp.sourcespec import Ref, SourceSpec, parse_source
from msdcomp.sourceurl import MAX_SPEC, Url, parse_url

CWD = "/srv/here"


def _parsed(text: str, cwd: str = CWD) -> SourceSpec:
    found = parse_source(text, cwd)
    assert isinstance(found, SourceSpec), found
    return found


def _code(text: str) -> str:
    found = parse_source(text, CWD)
    assert isinstance(found, SourceFault), found
    return found.code


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("/srv/ui", "/srv/ui"),
        ("/srv//ui/./x/", "/srv/ui/x"),
        ("/srv/a/../ui", "/srv/ui"),
        ("/../x", "/x"),
        (".", CWD),
        ("./", CWD),
        ("..", "/srv"),
        ("./ui", f"{CWD}/ui"),
        ("../ui", "/srv/ui"),
        ("../../../../ui", "/ui"),
        ("vendor/ui", f"{CWD}/vendor/ui"),
        ("ui.tgz", f"{CWD}/ui.tgz"),
        ("UI.ZIP", f"{CWD}/UI.ZIP"),
        ("./-x", f"{CWD}/-x"),
        ("./a b#c", f"{CWD}/a b#c"),
        ("  ./ui \n", f"{CWD}/ui"),
        ("./x:y", f"{CWD}/x:y"),
        ("file:///srv/a%20b", "/srv/a b"),
        ("FILE://localhost/srv/ui.zip", "/srv/ui.zip"),
        ("file:///srv/%C3%BC", "/srv/ü"),
    ],
)
def test_a_path_is_absolute_at_once(text: str, path: str) -> None:
    assert _parsed(text) == SourceSpec("local", path)


def test_w19_a_recorded_text_means_the_same_in_another_folder() -> None:
    recorded = _parsed("./ui").text

    assert _parsed(recorded, "/elsewhere") == _parsed("./ui")


@pytest.mark.parametrize(
    ("text", "location", "ref"),
    [
        ("git+https://h.example/r", "https://h.example/r", None),
        ("https://h.example/r.git", "https://h.example/r.git", None),
        ("HTTPS://H.Example:443/R.git", "https://h.example/R.git", None),
        ("https://h/o/r#main", "https://h/o/r", Ref("branch", "main")),
        ("https://h/r.git#feat/x", "https://h/r.git", Ref("branch", "feat/x")),
        ("https://h/r.git#tag:v1.0.0", "https://h/r.git", Ref("tag", "v1.0.0")),
        ("https://h/r.git#sha:ABCDEF0", "https://h/r.git", Ref("sha", "abcdef0")),
        ("https://h/r.git#branch:x", "https://h/r.git", Ref("branch", "x")),
        ("ssh://git@h:2222/o/r.git", "ssh://git@h:2222/o/r.git", None),
        ("git+ssh://git@h/r#main", "ssh://git@h/r", Ref("branch", "main")),
        ("git@h.example:o/r.git", "git@h.example:o/r.git", None),
        ("git@h:o/r#tag:1.0.0", "git@h:o/r", Ref("tag", "1.0.0")),
        ("git+git@h:o/r", "git@h:o/r", None),
        ("git+file:///srv/r", "file:///srv/r", None),
        ("git+https://[2001:DB8::1]:8443/r", "https://[2001:db8::1]:8443/r", None),
    ],
)
def test_w20_a_repository_is_known_in_every_usual_form(
    text: str, location: str, ref: Ref | None
) -> None:
    found = _parsed(text)

    assert found == SourceSpec("git", location, ref)
    assert _parsed(found.text, "/elsewhere") == found


@pytest.mark.parametrize(
    ("text", "name", "ref"),
    [
        ("npm:ui", "ui", None),
        ("npm:@s/ui", "@s/ui", None),
        ("npm:ui@1.2.3", "ui", Ref("version", "1.2.3")),
        ("npm:@s/ui@1.2.3-rc.1", "@s/ui", Ref("version", "1.2.3-rc.1")),
        ("npm:ui@^1.2", "ui", Ref("range", "^1.2")),
        ("npm:ui@>=1  <2 || 3.x", "ui", Ref("range", ">=1 <2 || 3.x")),
        ("npm:ui@next", "ui", Ref("dist-tag", "next")),
    ],
)
def test_a_package_has_a_version_a_range_or_a_tag(
    text: str, name: str, ref: Ref | None
) -> None:
    found = _parsed(text)

    assert found == SourceSpec("npm", name, ref)
    assert _parsed(found.text, "/elsewhere") == found


@pytest.mark.parametrize(
    "text",
    [
        "https://h/x.tgz",
        "https://h/a/x.tar.gz",
        "https://h/X.ZIP",
        "https://h/x.zip?k=v",
    ],
)
def test_an_archive_is_known_by_the_end_of_its_path(text: str) -> None:
    assert _parsed(text) == SourceSpec("archive", text)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "empty"),
        (" \n", "empty"),
        ("x" * (MAX_SPEC + 1), "too-long"),
        ("./a\0b", "bad-character"),
        ("./a\x1b[31m", "bad-character"),
        ("./a\nb", "bad-character"),
        ("./a\u202eb", "bad-character"),
        ("./a\ud800", "bad-character"),
        ("/a /.", "bad-character"),
        ("-rf", "leading-dash"),
        ("--upload-pack=x", "leading-dash"),
        ("~/ui", "tilde"),
        ("~me/ui", "tilde"),
        ("C:\\ui", "unknown-source"),
        ("C:/ui", "unknown-source"),
        ("..\\ui", "unknown-source"),
        ("//server/share", "unknown-source"),
        ("//server/share/x.tgz", "unknown-source"),
        ("\\\\server\\share", "unknown-source"),
        ("file:////server/share", "unknown-source"),
        ("file:///%2Fserver/share", "unknown-source"),
        ("git+file:////server/share", "unknown-source"),
        ("git+file:///%2fserver/share", "unknown-source"),
        ("ui", "unknown-source"),
        ("@s/ui", "unknown-source"),
        ("ext::sh -c x", "unknown-source"),
        ("ftp://h/x.tgz", "unknown-source"),
        ("https://h/page", "unknown-source"),
        ("git+ftp://h/r", "unknown-source"),
        ("git+ext::sh", "bad-url"),
        ("git+-x", "bad-url"),
        ("git+./r", "bad-url"),
        ("http://h/x.tgz", "insecure-transport"),
        ("http://h/r.git", "insecure-transport"),
        ("git://h/r", "insecure-transport"),
        ("git+http://h/r", "insecure-transport"),
        ("https://me:secret@h/x.tgz", "credentials"),
        ("https://me@h/x.tgz", "credentials"),
        ("https://token@h/r.git", "credentials"),
        ("https://@h/r.git", "credentials"),
        ("ssh://git:secret@h/r", "credentials"),
        ("ssh://-oProxyCommand=x/r", "bad-url"),
        ("ssh://-oX@h/r", "credentials"),
        ("git@-oProxyCommand=x:r", "unknown-source"),
        ("git+git@h:-x", "bad-url"),
        ("ssh://h/$(x)", "bad-url"),
        ("ssh://h/a;b", "bad-url"),
        ("https://h/r.git?x=y#main", "bad-url"),
        ("ssh://h/", "bad-url"),
        ("ssh://h", "bad-url"),
        ("https://h:0/x.tgz", "bad-url"),
        ("https://h:65536/x.tgz", "bad-url"),
        ("https://münchen.example/x.tgz", "bad-url"),
        ("https:///x.tgz", "bad-url"),
        ("https://h/a b.tgz", "bad-url"),
        ("https://h/%zz.tgz", "bad-url"),
        ("https://" + "a." * 140 + "b/x.tgz", "bad-url"),
        ("file://server/x", "bad-url"),
        ("file://x", "bad-url"),
        ("file:///%FF", "bad-url"),
        ("file:///a%00b", "bad-character"),
        ("https://h/x.tgz#main", "bad-ref"),
        ("https://h/r.git#", "bad-ref"),
        ("https://h/r.git#-x", "bad-ref"),
        ("https://h/r.git#a..b", "bad-ref"),
        ("https://h/r.git#a.lock", "bad-ref"),
        ("https://h/r.git#a@{1}", "bad-ref"),
        ("https://h/r.git#a;b", "bad-ref"),
        ("https://h/r.git#$(x)", "bad-ref"),
        ("https://h/r.git#a:b", "bad-ref"),
        ("https://h/r.git#tag:", "bad-ref"),
        ("https://h/r.git#tag:-d", "bad-ref"),
        ("https://h/r.git#sha:abc", "bad-ref"),
        ("https://h/r.git#sha:" + "a" * 41, "bad-ref"),
        ("https://h/r.git#" + "a" * 201, "bad-ref"),
        ("npm:", "bad-package"),
        ("npm:-x", "bad-package"),
        ("npm:a b", "bad-package"),
        ("npm:a;b", "bad-package"),
        ("npm:$(x)", "bad-package"),
        ("npm:../x", "bad-package"),
        ("npm:UPPER", "bad-package"),
        ("npm:@s", "bad-package"),
        ("npm:a/b", "bad-package"),
        ("npm:" + "a" * 215, "bad-package"),
        ("npm:a@", "bad-ref"),
        ("npm:a@-x", "bad-ref"),
        ("npm:a@npm:b", "bad-ref"),
        ("npm:a@https://h/x", "bad-ref"),
    ],
)
def test_a_text_that_is_no_source_has_a_fault(text: str, code: str) -> None:
    assert _code(text) == code


def test_no_fault_repeats_a_password() -> None:
    for text in (
        "https://me:hunter2@h/x.tgz",
        "https://me:hunter2@h/page",
        "https://me:hunter2@bad host/x.tgz",
        "https://h/page?token=hunter2",
        "git+https://me:hunter2@h/r",
        "git+https://me:hun/@hunter2@h/r",
        "git+https://h/r?token=hunter2",
        "ssh://me:hunter2@h/r",
        "file://me:hunter2@h/r",
    ):
        assert isinstance(parse_source(text, CWD), SourceFault)
        assert "hunter2" not in repr(parse_source(text, CWD))


def test_insecure_transports_are_for_git_and_when_allowed() -> None:
    for text in ("git://h/r", "http://h/r.git"):
        found = parse_source(text, CWD, allow_insecure=True)
        assert isinstance(found, SourceSpec)
    archive = parse_source("http://h/x.tgz", CWD, allow_insecure=True)
    assert isinstance(archive, SourceFault)


@pytest.mark.parametrize(
    ("text", "host"),
    [
        ("https://H.example:8443/x.tgz", "h.example"),
        ("git@H.example:r", "h.example"),
        ("ssh://git@h.example/r", "h.example"),
        ("git+file:///srv/r", None),
        ("npm:ui", None),
        ("./ui", None),
    ],
)
def test_a_policy_can_ask_for_the_host(text: str, host: str | None) -> None:
    assert _parsed(text).host == host


@pytest.mark.parametrize(
    ("spec", "here"),
    [
        (SourceSpec("local", "/srv/ui"), True),
        (SourceSpec("local", "/%2Fsrv"), True),
        (SourceSpec("git", "file:///srv/ui"), True),
        (SourceSpec("git", "https://h.example/r"), False),
        (SourceSpec("git", "git@h.example:r"), False),
        (SourceSpec("archive", "https://h.example/x.tgz"), False),
        (SourceSpec("npm", "ui"), False),
        # None of these is ever parsed; whoever makes them by hand gains nothing.
        (SourceSpec("local", "//server/share"), False),
        (SourceSpec("git", "file:////server/share"), False),
        (SourceSpec("git", "file:///%2fserver/share"), False),
        (SourceSpec("git", "nonsense"), False),
        (SourceSpec("archive", "file:///srv/x.tgz"), False),
        (SourceSpec("other", "/srv"), False),
    ],
)
def test_what_lies_on_this_machine_is_known(spec: SourceSpec, here: bool) -> None:
    assert spec.is_here == here


def test_only_a_commit_pins_a_source() -> None:
    assert _parsed("https://h/r.git#sha:abcdef0").pinned
    assert not _parsed("https://h/r.git#tag:v1").pinned
    assert not _parsed("https://h/r.git").pinned


# Laws.

_pieces = st.sampled_from(
    [
        "./",
        "../",
        "/",
        "~",
        "-",
        ":",
        "@",
        "#",
        "?",
        "%",
        "+",
        "git+",
        "npm:",
        "https://",
        "ssh://",
        "file://",
        "git@h:",
        "h.example",
        "x",
        ".git",
        ".tgz",
        ".zip",
        "tag:",
        "sha:",
        "abcdef0",
        "^1.2",
        "%20",
        "%2F",
        "..",
        "$",
        ";",
        "'",
        "ü",
        "\\",
        "\u202e",
        "\x00",
        "localhost",
        "[::1]",
        ":80",
        ".lock",
        "branch:",
        "C:",
    ]
)
texts = st.one_of(st.text(max_size=30), st.lists(_pieces, max_size=7).map("".join))


@given(texts)
def test_parsing_is_total_and_what_it_accepts_is_safe_to_hand_on(text: str) -> None:
    found = parse_source(text, CWD)
    if isinstance(found, SourceFault):
        assert found.code
        assert safe(found.reason) == found.reason
        return
    for argument in (found.location, found.ref.name if found.ref else "x", found.text):
        assert argument
        assert not argument.startswith("-")
        assert not any(ord(char) < 32 or ord(char) == 127 for char in argument)


@given(texts, st.sampled_from(["/", "/a", "/a/b c"]))
def test_the_canonical_text_means_the_same_everywhere(text: str, cwd: str) -> None:
    found = parse_source(text, cwd)
    if isinstance(found, SourceSpec):
        again = parse_source(found.text, "/quite/elsewhere")
        assert again == found
        assert isinstance(again, SourceSpec)
        assert again.text == found.text


@given(texts)
def test_a_url_is_read_back_from_its_text(text: str) -> None:
    found = parse_url(text)
    if isinstance(found, Url):
        assert parse_url(found.text) == found
