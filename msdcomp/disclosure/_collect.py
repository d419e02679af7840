"""The surfaces of a document, taken from its JSON before anything is validated."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TypeAlias

import attrs

from msdcomp.diagnostics import pointer
from msdcomp.disclosure._fields import Fields, json_text
from msdcomp.disclosure._hosts import is_local
from msdcomp.disclosure._records import (
    CommandModule,
    CommandStep,
    ConfigKeyUse,
    Egress,
    EnvPair,
    FileUse,
    Hook,
    OtherSurface,
    Program,
    Resolver,
    ReviewerLane,
    ShellGate,
    Surface,
)
from msdcomp.hookcommand import script_parts
from msdcomp.vocabulary import DECLARATIVE_KINDS
from msdcomp.vocabulary.reviewer import DENIED_ENV

__all__ = ["PAYLOAD", "Bundle", "config_use", "surfaces"]

#: What a reviewer lane is given.
PAYLOAD: tuple[str, ...] = (
    "plan text",
    "requirements",
    "research findings",
    "CONTEXT.md decisions",
)

_Json: TypeAlias = "dict[str, object]"
#: Reads one declaration: it, its pointer, and what it is looked up in.
_Make: TypeAlias = "Callable[[_Json, str, Bundle], Surface | None]"


@attrs.frozen(kw_only=True)
class Bundle:
    """What surfaces are looked up in.

    Attributes:
        files: Relative path -> content hash.
        config: The manifest's own slices.
        id: Its id, if it has one.
        hosts: Configuration key -> host that is configured here.
    """

    files: Mapping[str, str]
    config: _Json
    id: str | None
    hosts: Mapping[str, str]

    def file(self, path: str) -> FileUse | None:
        """Return a file by a path from the root of the bundle, or None."""
        if path.startswith("/") or path.endswith("/") or ".." in path.split("/"):
            return None
        name = "/".join(script_parts(path))
        found = self.files.get(name)
        return None if found is None else FileUse(path=name, content_hash=found)

    def named(self, *texts: str | None) -> tuple[FileUse, ...]:
        """Return the files that whole words name, from the bundle or its install."""
        installed = f".msd/capabilities/{self.id}/"
        found: dict[str, FileUse] = {}
        for text in texts:
            # A bare word is looked for elsewhere: in the search path, in the project.
            if text is None or "/" not in text:
                continue
            use = self.file(text.rpartition(installed)[2])
            if use is not None:
                found[use.path] = use
        return tuple(found.values())

    def uses(self, *objects: object) -> tuple[ConfigKeyUse, ...]:
        """Return the manifest's own keys that fields of some objects hold."""
        keys = {
            value
            for one in objects
            if isinstance(one, dict)
            for value in one.values()
            if isinstance(value, str) and value in self.config
        }
        return tuple(config_use(key, self.config) for key in sorted(keys))


def config_use(key: str, config: _Json) -> ConfigKeyUse:
    """Return a key with the type and the default that the manifest gives it."""
    slice_ = config.get(key)
    if not isinstance(slice_, dict):
        return ConfigKeyUse(key=key)
    type_ = slice_.get("type")
    return ConfigKeyUse(
        key=key,
        type=type_ if type_ is None or isinstance(type_, str) else json_text(type_),
        default=json_text(slice_["default"]) if "default" in slice_ else None,
    )


def surfaces(document: _Json, bundle: Bundle) -> Iterator[Surface]:
    """Yield everything that runs or sends, kind by kind, each in document order."""
    yield from _listed(document, "hooks", bundle, _hook)
    yield from _listed(document, "commands", bundle, _command)
    yield from _single(document, "reviewer", bundle, _lane)
    yield from _single(document, "taskContentResolver", bundle, _resolver)
    yield from _listed(document, "gates", bundle, _shell_gate)
    yield from _listed(document, "steps", bundle, _command_step)
    runtime = document.get("runtime")
    if isinstance(runtime, dict):
        yield from _single(
            runtime, "orchestratorExec", bundle, _program, before=("runtime",)
        )
    yield from _servers(document.get("mcpServers"))


def _odd(field: str, value: object, *place: str | int) -> OtherSurface:
    return OtherSurface(
        field=field, place=pointer(*place), declared=json_text([field, value])
    )


def _listed(
    document: _Json, field: str, bundle: Bundle, make: _Make
) -> Iterator[Surface]:
    value = document.get(field)
    if value is not None and not isinstance(value, list):
        yield _odd(field, value, field)
    for index, entry in enumerate(value if isinstance(value, list) else ()):
        if not isinstance(entry, dict):
            yield _odd(field, entry, field, index)
            continue
        made = make(entry, pointer(field, index), bundle)
        if made is not None:
            yield made


def _single(
    document: _Json,
    field: str,
    bundle: Bundle,
    make: _Make,
    *,
    before: tuple[str, ...] = (),
) -> Iterator[Surface]:
    value = document.get(field)
    if isinstance(value, dict):
        made = make(value, pointer(*before, field), bundle)
        if made is not None:
            yield made
    elif value is not None:
        yield _odd(field, value, *before, field)


def _hook(entry: _Json, place: str, bundle: Bundle) -> Surface:
    fields = Fields(entry)
    script = fields.text("script")
    return Hook(
        event=fields.text("event"),
        script=script,
        matcher=fields.text("matcher"),
        place=place,
        declared=json_text(entry),
        residual=fields.rest(),
        files=_expected(script, bundle),
    )


def _expected(path: str | None, bundle: Bundle) -> tuple[FileUse, ...]:
    """Return the file that must be there, without a hash when it is not."""
    if path is None:
        return ()
    return (bundle.file(path) or FileUse(path=path),)


def _command(entry: _Json, place: str, bundle: Bundle) -> Surface:
    fields = Fields(entry)
    module = fields.text("module")
    return CommandModule(
        family=fields.text("family"),
        module=module,
        router=fields.text("router"),
        subcommands=fields.texts("subcommands"),
        place=place,
        declared=json_text(entry),
        residual=fields.rest(),
        files=_expected(module, bundle),
    )


def _env(pairs: Iterable[tuple[str, str]]) -> tuple[EnvPair, ...]:
    # Lookup ignores the case on some systems, so the warning does on all of them.
    return tuple(
        EnvPair(name=name, value=value, denied=name.strip().upper() in DENIED_ENV)
        for name, value in pairs
    )


def _lane(entry: _Json, place: str, bundle: Bundle) -> Surface:
    fields = Fields(entry)
    invoke, probe = fields.inner("invoke"), fields.inner("probe")
    raw_invoke, raw_probe = dict(invoke.left), dict(probe.left)
    transport, binary = fields.text("transport"), invoke.text("binary")
    args, requires = invoke.texts("args"), fields.texts("requiresBinaries")
    asked = [probe.text(name) for name in ("kind", "binary", "hostConfigKey", "path")]
    return ReviewerLane(
        slug=fields.text("slug"),
        transport=transport,
        binary=binary,
        args=args,
        env=_env(invoke.pairs("env")),
        probe=tuple(word for word in asked if word is not None),
        requires_binaries=requires,
        handler=fields.text("handler"),
        egress=_egress(invoke, raw_invoke, bundle),
        place=place,
        declared=json_text(entry),
        residual=tuple(sorted((*fields.rest(), *invoke.rest(), *probe.rest()))),
        files=bundle.named(binary, *args, *asked[1:2], *requires),
        uses=bundle.uses(entry, raw_invoke, raw_probe),
    )


def _egress(invoke: Fields, raw: _Json, bundle: Bundle) -> Egress:
    key, default = invoke.text("hostConfigKey"), invoke.text("defaultHost")
    configured = bundle.hosts.get(key) if key is not None else None
    own = bundle.config.get(key) if key is not None else None
    own_default = own.get("default") if isinstance(own, dict) else None
    candidates = (configured, own_default, default)
    host = next((h for h in candidates if isinstance(h, str) and h.strip()), None)
    # A program that takes no prompt is sent nothing; it may still read the project.
    silent = raw.get("promptChannel") == "none" and key is None and default is None
    return Egress(
        config_key=key,
        default_host=default,
        configured_host=configured,
        host=host,
        is_local=host is not None and is_local(host),
        payload=() if silent else PAYLOAD,
    )


def _resolver(entry: _Json, place: str, bundle: Bundle) -> Surface:
    fields = Fields(entry)
    invoke = fields.inner("invoke")
    binary, args = invoke.text("binary"), invoke.texts("args")
    return Resolver(
        prefix=fields.text("trackerPrefix"),
        binary=binary,
        args=args,
        timeout_ms=invoke.number("timeoutMs"),
        place=place,
        declared=json_text(entry),
        residual=tuple(sorted((*fields.rest(), *invoke.rest()))),
        files=bundle.named(binary, *args),
    )


def _shell_gate(entry: _Json, place: str, bundle: Bundle) -> Surface | None:
    check = entry.get("check")
    predicate = check.get("predicate") if isinstance(check, dict) else None
    if predicate is None:
        return None
    fields = Fields(entry)
    inner = fields.inner("check").inner("predicate")
    kind, command = inner.text("kind"), inner.text("command")
    if kind in DECLARATIVE_KINDS and command is None and "command" not in inner.left:
        return None
    return ShellGate(
        point=fields.text("point"),
        predicate=kind,
        command=command,
        when=fields.text("when"),
        place=place,
        declared=json_text(entry),
        residual=inner.rest()
        if command is not None
        else (("check", json_text(check)),),
        files=bundle.named(*(command or "").split()),
        uses=bundle.uses(entry),
    )


def _command_step(entry: _Json, place: str, bundle: Bundle) -> Surface | None:
    ref = entry.get("ref")
    if not isinstance(ref, dict) or ref.get("command") is None:
        return None
    # Its fragment is text for an agent and is disclosed as such.
    declared = {key: value for key, value in entry.items() if key != "fragment"}
    fields = Fields(declared)
    inner = fields.inner("ref")
    point, command = fields.text("point"), inner.text("command")
    when = fields.text("when")
    shown = {"produces", "consumes", "onError", "supportsReviewerLanes"}
    return CommandStep(
        point=point,
        command=command,
        when=when,
        place=place,
        declared=json_text(declared),
        residual=(
            *((name, text) for name, text in fields.rest() if name not in shown),
            *inner.rest(),
        ),
        uses=bundle.uses(entry),
    )


def _program(entry: _Json, place: str, bundle: Bundle) -> Surface:
    fields = Fields(entry)
    binary, args = fields.text("command"), fields.texts("args")
    return Program(
        binary=binary,
        args=args,
        place=place,
        declared=json_text(entry),
        residual=fields.rest(),
        files=bundle.named(binary, *args),
    )


def _servers(value: object) -> Iterator[Surface]:
    """Yield servers, which the format does not know and this version never starts.

    Another host that reads the same bundle may.
    """
    if isinstance(value, dict):
        for name, server in value.items():
            yield _odd("mcpServers", {name: server}, "mcpServers", name)
    elif isinstance(value, list):
        for index, server in enumerate(value):
            yield _odd("mcpServers", server, "mcpServers", index)
    elif value is not None:
        yield _odd("mcpServers", value, "mcpServers")
