"""What consent is bound to: a text that changes whenever what may run does.

Consent is given to a disclosure. Its signature is kept with the consent, and a later
disclosure of the same signature needs no new question. It is short whatever the bundle
is, since it is stored: each part is a digest, of a text that `signed` returns whole.
Source: docs/reference/disclosure.md, "Signature".
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

import attrs
import rfc8785

from msdcomp.records import Record

if TYPE_CHECKING:
    from msdcomp.disclosure import ConfigKeyUse, Disclosure

__all__ = ["VERSION", "Drift", "drift", "signature", "signed"]

#: Form of the signature. What it covers may only change together with this.
VERSION = "msd-disclosure-1"

_PARTS = ("surfaces", "files", "text")


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Drift(Record):
    """What differs between two signatures.

    Attributes:
        surfaces: Something that is declared to run or to be sent.
        files: The content of a file that may run.
        text: Something that speaks to an agent.
    """

    surfaces: bool
    files: bool
    text: bool

    @property
    def told(self) -> tuple[str, ...]:
        """What differs, in words."""
        words = {
            "what it runs or sends": self.surfaces,
            "files that may run": self.files,
            "what it tells agents": self.text,
        }
        return tuple(what for what, differs in words.items() if differs)

    @property
    def code(self) -> bool:
        """Whether consent must be asked for again."""
        return self.surfaces or self.files


def signature(disclosure: Disclosure) -> str:
    """Return the signature of a disclosure: RFC 8785 JSON, a few hundred characters.

    It does not depend on the order of keys, of declarations or of files, nor on what a
    manifest says about itself.
    """
    parts = signed(disclosure)
    made = {name: hashlib.sha256(parts[name]).hexdigest() for name in _PARTS}
    return _text({**made, "version": VERSION}).decode()


def signed(disclosure: Disclosure) -> dict[str, bytes]:
    """Return the text behind each digest of a signature, as RFC 8785 JSON.

    Every field of every declaration is in it, known or not, and the hash of every file.
    """
    surfaces = sorted(
        [surface.kind, surface.declared, [_use(use) for use in surface.uses]]
        for surface in disclosure.surfaces
    )
    # The switch of a capability decides about what runs only where something does.
    switch = _use(disclosure.activation) if surfaces else None
    words = sorted([word.kind, word.declared] for word in disclosure.instructions)
    return {
        "surfaces": _text({"activation": switch, "declared": surfaces}),
        "files": _text([list(pair) for pair in disclosure.code_files]),
        "text": _text(
            {
                "declared": words,
                "files": [list(pair) for pair in disclosure.text_files],
            }
        ),
    }


def drift(old: str, new: str) -> Drift:
    """Return what differs between two signatures.

    One that cannot be read, or is of another version, differs in everything: nobody can
    say what it stood for.
    """
    before, after = _read(old), _read(new)
    if before is None or after is None:
        return Drift(surfaces=True, files=True, text=True)
    return Drift(**{name: before[name] != after[name] for name in _PARTS})


def _read(text: str) -> dict[str, Any] | None:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict) or value.get("version") != VERSION:
        return None
    sound = all(isinstance(value.get(name), str) for name in _PARTS)
    return value if sound else None


def _use(use: ConfigKeyUse | None) -> list[str | None] | None:
    return None if use is None else [use.key, use.type, use.default]


def _text(value: Any) -> bytes:  # noqa: ANN401 - plain JSON
    return rfc8785.dumps(value)
