"""Active hooks as the markdown that a workflow reads.

Everything but the text of fragments is put on one line and cannot leave it, and no
text at all can open or close a `contribution` block: only this module writes those.
Source: docs/reference/loop.md, "Rendering".
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from msdcomp.safetext import safe, unsafe_characters

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from msdcomp.activehook import ActiveHook, JsonText

__all__ = ["render"]

# Letter case is folded as Unicode does, so the Turkish dotless i counts as an i too.
#: Whoever reads the page is no parser of XML, so a slash or a space in between, of
#: whatever kind, hides nothing.
_TAG = re.compile(r"<(?=[\s/\u200b-\u200f\u2060\ufeff]*contribution)", re.IGNORECASE)

#: Stands for a field that a malformed registry does not have.
_UNSET = "(unset)"


def render(point: str, active_hooks: Iterable[ActiveHook]) -> str:
    """Return the markdown of the active hooks at a point, without a final newline.

    Steps are numbered; a contribution is a `<contribution from="ID" into="ROLE">`
    block; a gate is one bold line. The `<` of every `<contribution` or
    `</contribution` in a fragment, in any letter case and with any space in between,
    becomes `&lt;`.
    """
    blocks: list[str] = []
    steps = 0
    for hook in active_hooks:
        if hook.kind == "step":
            steps += 1
            blocks.append("\n".join(_step(hook, steps)))
        elif hook.kind == "contribution":
            blocks.append("\n".join(_contribution(hook)))
        else:
            blocks.append("\n".join(_gate(hook)))
    return "\n\n".join(blocks) if blocks else f"_No active hooks at {_line(point)}._"


def _step(hook: ActiveHook, number: int) -> Iterator[str]:
    yield f"### Step {number}: {_ref(hook.ref)} ({_line(hook.capability_id)})"
    yield from _facts(hook)
    for text in _fragment(hook):
        yield ""
        yield text


def _contribution(hook: ActiveHook) -> Iterator[str]:
    role = hook.into if hook.into is not None else _UNSET
    yield (
        f'<contribution from="{_attribute(hook.capability_id)}"'
        f' into="{_attribute(role)}">'
    )
    yield from _fragment(hook)
    yield from _facts(hook)
    yield "</contribution>"


def _gate(hook: ActiveHook) -> Iterator[str]:
    check = _json(hook.check) if hook.check else "{}"
    blocking = {True: "true", False: "false", None: _UNSET}[hook.blocking]
    on_error = _line(hook.on_error) if hook.on_error is not None else _UNSET
    yield (
        f"**Gate** ({_line(hook.capability_id)}): check={check},"
        f" blocking={blocking}, onError={on_error}"
    )
    if hook.when is not None:
        yield f"- when: `{_line(hook.when)}`"


def _facts(hook: ActiveHook) -> Iterator[str]:
    if hook.produces:
        yield "- produces: " + ", ".join(map(_line, hook.produces))
    if hook.consumes:
        yield "- consumes: " + ", ".join(map(_line, hook.consumes))
    if hook.when is not None:
        yield f"- when: `{_line(hook.when)}`"
    if hook.on_error is not None:
        yield f"- onError: {_line(hook.on_error)}"


def _fragment(hook: ActiveHook) -> Iterator[str]:
    """Yield the text of a fragment, or one line that says it was not read, if any."""
    fragment = hook.fragment
    if fragment is None:
        return
    if fragment.inline:
        yield _TAG.sub("&lt;", fragment.inline)
    elif fragment.path:
        yield f"_Fragment left out, its file was not read: `{_line(fragment.path)}`_"


def _ref(ref: JsonText | None) -> str:
    target = ref.value() if ref else {}
    for kind in ("skill", "agent"):
        name = target.get(kind)
        if isinstance(name, str) and name:
            return f"{kind}:{_line(name)}"
    return _json(ref) if ref else "{}"


def _json(value: JsonText) -> str:
    """Return JSON that stays on its line and forges no tag, and is still the same."""
    text = unsafe_characters(value.text, _escape)
    return _TAG.sub(r"\\u003c", text)


def _escape(character: str) -> str:
    if character == " ":
        return character
    code = ord(character)
    if code < 0x10000:
        return f"\\u{code:04x}"
    code -= 0x10000
    return f"\\u{0xD800 + (code >> 10):04x}\\u{0xDC00 + (code & 0x3FF):04x}"


def _line(text: str) -> str:
    # Made safe first: a removed character must not bring the parts of a tag together.
    return _TAG.sub("&lt;", safe(text))


def _attribute(text: str) -> str:
    plain = safe(text).replace("&", "&amp;").replace('"', "&quot;")
    return plain.replace("<", "&lt;").replace(">", "&gt;")
