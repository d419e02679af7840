"""What a capability would run, send or say: shown before anything of it is written.

Disclosure comes before validation, so it reads any JSON at all: a declaration that
cannot be understood is shown as it stands, and a bundle that cannot be agreed to says
why. It decides nothing; `msdcomp.signature` says what consent to it is bound to.
Source: docs/reference/disclosure.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msdcomp import jsontext
from msdcomp._jsonread import Repeated
from msdcomp.diagnostics import pointer
from msdcomp.disclosure._changes import Changes, FileChange, compare
from msdcomp.disclosure._collect import PAYLOAD, Bundle, config_use, surfaces
from msdcomp.disclosure._fields import entries, json_text
from msdcomp.disclosure._records import (
    Blocker,
    CommandModule,
    CommandStep,
    ConfigKeyUse,
    Disclosure,
    Egress,
    EnvPair,
    FileUse,
    Header,
    Hook,
    Instruction,
    OtherSurface,
    Program,
    Resolver,
    ReviewerLane,
    ShellGate,
    ShownGate,
    Surface,
)
from msdcomp.hookcommand import script_reason
from msdcomp.jsonvalue import adopt
from msdcomp.manifest import Manifest
from msdcomp.vocabulary import MANIFEST_NAME as MANIFEST

__all__ = [
    "MANIFEST",
    "MAX_DECLARED",
    "MAX_SURFACES",
    "PAYLOAD",
    "Blocker",
    "Changes",
    "CommandModule",
    "CommandStep",
    "ConfigKeyUse",
    "Disclosure",
    "Egress",
    "EnvPair",
    "FileChange",
    "FileUse",
    "Header",
    "Hook",
    "Instruction",
    "OtherSurface",
    "Program",
    "Resolver",
    "ReviewerLane",
    "ShellGate",
    "ShownGate",
    "Surface",
    "compare",
    "disclose",
    "path_text",
]

#: Most surfaces, and most characters of their declarations together: nobody agrees to
#: what nobody can read.
MAX_SURFACES = 200
MAX_DECLARED = 64 * 1024

#: Folders whose files are text for agents.
_TEXT_FOLDERS = frozenset({"skills", "agents"})

_NO_HOSTS: Mapping[str, str] = {}


def disclose(
    manifest: object,
    files: Mapping[str, str],
    hosts: Mapping[str, str] = _NO_HOSTS,
) -> Disclosure:
    """Say what a bundle would run, send or tell an agent.

    Args:
        manifest: The document: UTF-8 bytes, text, the mapping a JSON reader gave, or a
            `Manifest`. It need not validate.
        files: Every file of the bundle: path from its root -> content hash, in any form
            that changes with the content. See `path_text` for the paths.
        hosts: Configuration key -> the host that is configured here, for lanes.

    Returns:
        Everything there is, in one value. Never raises, whatever `manifest` is.

    Source: docs/reference/disclosure.md.
    """
    document, blockers = _read(manifest)
    config = document.get("config")
    id_ = document.get("id")
    bundle = Bundle(
        files=files,
        config=config if isinstance(config, dict) else {},
        id=id_ if isinstance(id_, str) else None,
        hosts=hosts,
    )
    found = tuple(surfaces(document, bundle))
    switch = _activation(document, bundle)
    words = tuple(_instructions(document, bundle))
    code, text = _partition(files, found, words)
    return Disclosure(
        header=_header(document),
        surfaces=found,
        instructions=words,
        gates=tuple(_gates(document, bundle)),
        config=tuple(config_use(key, bundle.config) for key in sorted(bundle.config)),
        activation=switch,
        blockers=(*blockers, *_missing(found, words), *_too_much(found, switch)),
        code_files=code,
        text_files=text,
    )


def path_text(path: bytes) -> str:
    r"""Return the path of a file as a disclosure spells it.

    No two paths become one: what is not UTF-8 is written as `\xNN`, and a backslash is
    doubled.

    >>> path_text(b"scripts/run.sh"), path_text(b"a\\\xff")
    ('scripts/run.sh', 'a\\\\\\xff')
    """
    return path.replace(b"\\", b"\\\\").decode("utf-8", "backslashreplace")


# The document.


def _read(manifest: object) -> tuple[dict[str, object], tuple[Blocker, ...]]:
    """Return the document's object, and what is wrong with it as a document."""
    if isinstance(manifest, Manifest):
        manifest = manifest.document
    if isinstance(manifest, bytes | str):
        parsed = jsontext.parse(manifest)
    elif isinstance(manifest, Mapping):
        parsed = adopt(manifest)
    else:
        return {}, (_blocker("not-a-manifest", "", "is no JSON object"),)
    value = _plain(parsed.loose) if parsed.problems else parsed.value
    blockers = tuple(
        Blocker(code=problem.code, place=problem.path, reason=problem.message)
        for problem in parsed.problems[:10]
    )
    if isinstance(value, dict):
        return value, blockers
    return {}, (*blockers, _blocker("not-a-manifest", "", "is no JSON object"))


def _plain(value: object) -> object:
    """Return loosely read JSON with every value of a repeated key in sight.

    Such a document is refused; until then, nothing in it may hide behind a second key.
    """
    if isinstance(value, Repeated):
        seen: dict[str, list[object]] = {}
        for key, entry in value.pairs:
            seen.setdefault(key, []).append(_plain(entry))
        return {key: _joined(entries_) for key, entries_ in seen.items()}
    if isinstance(value, dict):
        return {key: _plain(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [_plain(entry) for entry in value]
    return value


def _joined(values: list[object]) -> object:
    """Return the values of one key as one: lists end to end, others side by side."""
    if len(values) == 1:
        return values[0]
    if all(isinstance(value, list) for value in values):
        return [entry for value in values if isinstance(value, list) for entry in value]
    return values


def _blocker(code: str, place: str, reason: str) -> Blocker:
    return Blocker(code=code, place=place, reason=reason)


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _header(document: dict[str, object]) -> Header:
    author, engines = document.get("author"), document.get("engines")
    requires = document.get("requires")
    return Header(
        id=_text(document.get("id")),
        role=_text(document.get("role")),
        version=_text(document.get("version")),
        title=_text(document.get("title")),
        author=_text(author.get("name") if isinstance(author, dict) else author),
        tier=_text(document.get("tier")),
        engines=_text(engines.get("msd")) if isinstance(engines, dict) else None,
        requires=tuple(
            entry
            for entry in (requires if isinstance(requires, list) else ())
            if isinstance(entry, str)
        ),
    )


def _activation(document: dict[str, object], bundle: Bundle) -> ConfigKeyUse | None:
    key = document.get("activationKey")
    return config_use(key, bundle.config) if isinstance(key, str) else None


# Text for agents.


def _instructions(document: dict[str, object], bundle: Bundle) -> Iterator[Instruction]:
    skills = document.get("skills")
    for index, stem in enumerate(skills if isinstance(skills, list) else ()):
        if isinstance(stem, str):
            yield Instruction(
                kind="skill",
                place=pointer("skills", index),
                name=stem,
                declared=json_text(stem),
            )
    for index, entry in entries(document.get("contributions")):
        yield _fragment("contribution", ("contributions", index), entry, bundle)
    for index, entry in entries(document.get("steps")):
        if entry.get("fragment") is not None:
            yield _fragment("step", ("steps", index), entry, bundle)
    for index, entry in entries(document.get("gates")):
        check = entry.get("check")
        if isinstance(check, dict) and check.get("agentVerdict") is not None:
            yield Instruction(
                kind="verdict",
                place=pointer("gates", index, "check", "agentVerdict"),
                point=_text(entry.get("point")),
                declared=json_text(_part(entry, "point", "when", "check")),
            )


def _part(entry: dict[str, object], *names: str) -> dict[str, object]:
    return {name: entry[name] for name in names if name in entry}


def _fragment(
    kind: str, place: tuple[str, int], entry: dict[str, object], bundle: Bundle
) -> Instruction:
    fragment = entry.get("fragment")
    path = _text(fragment.get("path")) if isinstance(fragment, dict) else None
    # Inline text wins over a path, as it does when the fragment is rendered.
    if isinstance(fragment, dict) and isinstance(fragment.get("inline"), str):
        path = None
    use = bundle.file(path) if path is not None else None
    return Instruction(
        kind=kind,
        place=pointer(*place, "fragment"),
        name=_text(entry.get("into")),
        point=_text(entry.get("point")),
        path=path if use is None else use.path,
        content_hash=use.content_hash if use is not None else None,
        declared=json_text(
            _part(
                entry, "point", "pointFrom", "into", "when", "fragment", "configValues"
            )
        ),
    )


# Gates.


def _gates(document: dict[str, object], bundle: Bundle) -> Iterator[ShownGate]:
    for index, entry in entries(document.get("gates")):
        check, blocking = entry.get("check"), entry.get("blocking")
        form, asked = None, None
        if isinstance(check, dict) and len(check) == 1:
            ((form, value),) = check.items()
            asked = value if isinstance(value, str) else json_text(value)
        elif check is not None:
            asked = json_text(check)
        when = entry.get("when")
        yield ShownGate(
            place=pointer("gates", index),
            point=_text(entry.get("point")),
            blocking=blocking if isinstance(blocking, bool) else None,
            on_error=_text(entry.get("onError")),
            when=config_use(when, bundle.config) if isinstance(when, str) else None,
            form=form,
            check=asked,
        )


# Files.


def _partition(
    files: Mapping[str, str],
    found: tuple[Surface, ...],
    words: tuple[Instruction, ...],
) -> tuple[tuple[tuple[str, str], ...], tuple[tuple[str, str], ...]]:
    """Return the files that may run, and those that are only read.

    A program may load any file that lies beside it, whatever the name of the file. So
    where anything is started, every file of the bundle counts as code, texts for agents
    among them; and where nothing is, none does.
    """
    every = sorted((path, hash_) for path, hash_ in files.items() if path != MANIFEST)
    if not any(surface.starts_program for surface in found):
        return (), tuple(every)
    fragments = {word.path for word in words}
    texts = [
        (path, hash_)
        for path, hash_ in every
        if path in fragments or path.partition("/")[0] in _TEXT_FOLDERS
    ]
    return tuple(every), tuple(texts)


def _missing(
    found: tuple[Surface, ...], words: tuple[Instruction, ...]
) -> Iterator[Blocker]:
    for surface in found:
        if isinstance(surface, Hook):
            place = f"{surface.place}/script"
            if surface.script is None:
                yield _blocker("missing-file", place, "names no script")
                continue
            reason = script_reason(surface.script)
            if reason is not None:
                yield _blocker("unsafe-path", place, f"the script's path {reason}")
                continue
        elif isinstance(surface, CommandModule):
            place = f"{surface.place}/module"
        else:
            continue
        for use in surface.files:
            if use.content_hash is None:
                yield _blocker("missing-file", place, "names a file that is not there")
    for word in words:
        if word.path is not None and word.content_hash is None:
            place = f"{word.place}/path"
            yield _blocker("missing-file", place, "names a file that is not there")


def _too_much(
    found: tuple[Surface, ...], switch: ConfigKeyUse | None
) -> Iterator[Blocker]:
    if len(found) > MAX_SURFACES:
        yield _blocker(
            "too-much", "", f"declares more than {MAX_SURFACES} things that run"
        )
    # With the keys that decide about them, whose defaults are shown in full too.
    uses = [use for surface in found for use in surface.uses]
    uses += [switch] if switch is not None and found else []
    length = sum(len(surface.declared) for surface in found)
    length += sum(len(use.key) + len(use.default or "") for use in uses)
    if length > MAX_DECLARED:
        yield _blocker(
            "too-much",
            "",
            f"declares what runs in more than {MAX_DECLARED:,} characters",
        )
