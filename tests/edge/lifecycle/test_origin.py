"""A recorded source means the same wherever an update is started."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from msdcomp.edge.ledgerfile import InstalledEntry
from msdcomp.edge.lifecycle.origin import origin
from msdcomp.sourcefault import SourceFault
from msdcomp.sourcespec import SourceSpec, parse_source


def _origin(text: str, *, allow_insecure: bool = False) -> SourceSpec | SourceFault:
    entry = InstalledEntry(id="tides", version="1.0.0", source=text)
    return origin(entry, allow_insecure=allow_insecure)


@pytest.mark.parametrize(
    "text",
    [
        "/srv/tides",
        "file:///srv/tides",
        "npm:tides@^1.0",
        "git+https://forge.example/tides.git#tag:v1",
        # As another program records it; ours would put git+ in front.
        "https://forge.example/tides.git#tag:v1",
        " /srv/./tides ",
    ],
)
def test_an_absolute_source_is_what_it_says_in_any_spelling(text: str) -> None:
    assert _origin(text) == parse_source(text, "/")


@pytest.mark.parametrize(
    "text", ["./tides", "../tides", "../../../tides", "a/tides", "tides.tgz", "."]
)
def test_a_relative_source_is_none(text: str) -> None:
    found = _origin(text)

    assert isinstance(found, SourceFault)
    assert found.code == "relative"


_TEXTS = st.text() | st.lists(
    st.sampled_from(["/", "..", ".", "a", "file:", "npm:", "git+https:", " ", "#", "b"])
).map("".join)


@given(_TEXTS, st.booleans())
def test_a_source_is_found_only_where_every_folder_gives_the_same(
    text: str, allow_insecure: bool
) -> None:
    found = _origin(text, allow_insecure=allow_insecure)

    if isinstance(found, SourceSpec):
        for folder in ("/", "/srv", "/a/b/c/d/e/f"):
            parsed = parse_source(text, folder, allow_insecure=allow_insecure)
            assert parsed == found


def test_insecure_transports_are_asked_for() -> None:
    text = "git+http://forge.example/tides.git"

    assert isinstance(_origin(text), SourceFault)
    assert isinstance(_origin(text, allow_insecure=True), SourceSpec)
