"""Laws of disclosure: total, nothing hidden, and bound to what it shows."""

from __future__ import annotations

import json
import re
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from msdcomp.disclosure import compare, disclose
from msdcomp.plan import Pin
from msdcomp.present.changes import changes_wire, render_changes
from msdcomp.present.disclosure import disclosure_wire, render_disclosure
from msdcomp.present.page import Screen
from msdcomp.signature import drift, signature
from tests.strategies import broken, json_values, manifests, texts

files = st.dictionaries(
    st.sampled_from(["bin/x.sh", "m.cjs", "a.md", "loop/b.md", "capability.json"])
    | texts,
    st.sampled_from(["h1", "h2"]),
    max_size=6,
)
documents = st.one_of(
    manifests,
    broken(),
    json_values,
    st.dictionaries(
        st.sampled_from(
            [
                *("hooks", "commands", "gates", "steps", "contributions", "skills"),
                *("reviewer", "runtime", "taskContentResolver", "config", "author"),
                *("mcpServers", "activationKey", "requires", "engines", "id"),
            ]
        ),
        json_values | st.lists(json_values),
    ),
)


@given(documents | st.binary() | st.text(), files)
def test_every_document_can_be_disclosed_signed_and_shown(
    document: Any, there: dict[str, str]
) -> None:
    found = disclose(document, there)
    page = render_disclosure(found, Screen(), Pin())

    json.dumps(disclosure_wire(found))
    assert drift(signature(found), signature(found)).code is False
    assert re.fullmatch(
        r"[^\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e]*", page
    )


@given(documents)
def test_text_and_value_are_one_document(document: Any) -> None:
    assert disclose(json.dumps(document), {}).surfaces == (
        disclose(document, {}).surfaces if isinstance(document, dict) else ()
    )


@given(documents, documents, files, files)
def test_changes_and_signatures_agree(
    old: Any, new: Any, before: dict[str, str], after: dict[str, str]
) -> None:
    one, other = disclose(old, before), disclose(new, after)
    changes = compare(one, other)
    found = drift(signature(one), signature(other))

    assert changes.code == found.code
    render_changes(changes, Screen())
    json.dumps(changes_wire(changes))


@given(manifests, files)
def test_a_program_and_all_its_files_are_signed(
    document: dict[str, Any], there: dict[str, str]
) -> None:
    found = disclose(document, there)
    if not any(surface.starts_program for surface in found.surfaces):
        assert found.code_files == ()
        return
    for path in set(there) - {"capability.json"}:
        other = disclose(document, {**there, path: "h3"})
        assert drift(signature(found), signature(other)).files
