"""Plain JSON of a checked manifest to frozen records.

One function for each record, written out: ten thousand manifests go through here, and
so does the shipped set at every start of the command. Nothing is converted and nothing
is checked twice: after a clean check every value has its type. That the functions read
every field by its derived name and agree with the types of the records is held against
cattrs, which derives all of it, by tests/properties/test_structuring.py.
Source: docs/reference/wire-format.md.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias, cast

from pyrsistent import PMap, pmap

from msdcomp.manifest import (
    ArtifactKind,
    ArtifactLayout,
    CommandModule,
    ConfigHome,
    ConfigSlice,
    Contribution,
    Dispatch,
    Engines,
    Feature,
    Fragment,
    Gate,
    GateCheck,
    HostIntegration,
    HttpInvoke,
    Json,
    Lane,
    LifecycleHook,
    Manifest,
    OrchestratorExec,
    Probe,
    Provenance,
    Ref,
    ResolverInvoke,
    Runtime,
    RuntimeCompat,
    SpawnInvoke,
    Step,
    TaskContentResolver,
)
from msdcomp.vocabulary import RESERVED_NAMES

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["structure"]

_Object: TypeAlias = "dict[str, Any]"


# Values.


def _freeze(value: object) -> Json:
    """Return plain JSON in immutable form: persistent maps and tuples."""
    if isinstance(value, dict):
        return pmap({key: _freeze(entry) for key, entry in value.items()})
    if isinstance(value, list):
        return tuple(_freeze(entry) for entry in value)
    return cast(Json, value)


def _texts(value: object) -> tuple[str, ...]:
    """Return the texts of a list that no rule looks at."""
    entries = value if isinstance(value, list) else ()
    return tuple([entry for entry in entries if isinstance(entry, str)])


def _text(value: object) -> str | None:
    """Return a field that no rule looks at: text, or nothing usable."""
    return value if isinstance(value, str) else None


def _whole(value: float) -> int:
    # Beyond 2^53 an integral JSON number is a float.
    return int(value)


def _whole_or_text(value: float | str) -> int | str:
    return value if isinstance(value, str) else int(value)


# The envelope.


def _slice(value: _Object) -> ConfigSlice:
    return ConfigSlice(
        type=value["type"],
        default=value["default"],
        description=value["description"],
        # Looked at by a rule only where the type is an enum.
        values=_texts(value["values"]) if "values" in value else (),
    )


def _slices(value: _Object, role: str) -> PMap[Any, ConfigSlice]:
    config = value.get("config")
    if not isinstance(config, dict):
        return pmap()
    # The rules of features refuse reserved keys; the others pass them over.
    return pmap(
        {
            key: _slice(entry)
            for key, entry in config.items()
            if role == "feature" or key not in RESERVED_NAMES
        }
    )


def _command(value: _Object) -> CommandModule:
    return CommandModule(
        family=value["family"],
        module=_text(value.get("module")),
        router=_text(value.get("router")),
        subcommands=_texts(value.get("subcommands")),
    )


def _commands(value: object) -> tuple[CommandModule, ...]:
    """Return command families.

    Only features are held to their full shape; elsewhere a family is still claimed.
    """
    if not isinstance(value, list):
        return ()
    return tuple(
        [
            _command(entry)
            for entry in value
            if isinstance(entry, dict)
            and isinstance(entry.get("family"), str)
            and entry["family"]
        ]
    )


def _provenance(value: _Object) -> Provenance:
    return Provenance(source_repo=value["sourceRepo"], commit=value["commit"])


# Features.


#: What nearly every feature says; a record that cannot change may be shared.
_EVERYWHERE = RuntimeCompat(supported=("*",))


def _compat(value: _Object) -> RuntimeCompat:
    if value == {"supported": ["*"], "unsupported": []}:
        return _EVERYWHERE
    return RuntimeCompat(
        supported=tuple(value["supported"]),
        unsupported=tuple(value["unsupported"]),
        notes=pmap(value.get("notes", {})),
    )


def _hook(value: _Object) -> LifecycleHook:
    return LifecycleHook(
        event=value["event"], script=value["script"], matcher=value.get("matcher")
    )


def _fragment(value: _Object) -> Fragment:
    return Fragment(inline=value.get("inline"), path=value.get("path"))


def _ref(value: _Object) -> Ref:
    return Ref(
        skill=value.get("skill"),
        agent=value.get("agent"),
        command=value.get("command"),
    )


def _step(value: _Object) -> Step:
    return Step(
        point=value["point"],
        ref=_ref(value["ref"]),
        produces=tuple(value["produces"]),
        consumes=tuple(value["consumes"]),
        on_error=value["onError"],
        when=value.get("when"),
        point_from=value.get("pointFrom"),
        fragment=_fragment(value["fragment"]) if "fragment" in value else None,
        supports_reviewer_lanes=value.get("supportsReviewerLanes", False),
    )


def _aliases(value: object) -> PMap[str, Any]:
    """Return the aliases of a contribution, leaving out what names no key."""
    if not isinstance(value, dict):
        return pmap()
    return pmap({name: key for name, key in value.items() if isinstance(key, str)})


def _contribution(value: _Object) -> Contribution:
    return Contribution(
        point=value["point"],
        into=value["into"],
        fragment=_fragment(value["fragment"]),
        produces=tuple(value["produces"]),
        consumes=tuple(value["consumes"]),
        when=value.get("when"),
        on_error=value.get("onError"),
        config_values=_aliases(value.get("configValues")),
    )


def _check(value: _Object) -> GateCheck:
    return GateCheck(
        query=value.get("query"),
        predicate=_freeze(value.get("predicate")),
        agent_verdict=_freeze(value.get("agentVerdict")),
    )


def _gate(value: _Object) -> Gate:
    return Gate(
        point=value["point"],
        check=_check(value["check"]),
        blocking=value["blocking"],
        on_error=value["onError"],
        when=value.get("when"),
    )


def _resolver(value: _Object) -> TaskContentResolver:
    invoke = value["invoke"]
    return TaskContentResolver(
        tracker_prefix=value["trackerPrefix"],
        invoke=ResolverInvoke(
            binary=invoke["binary"],
            args=tuple(invoke["args"]),
            timeout_ms=_whole(invoke["timeoutMs"]),
        ),
    )


def _feature(value: _Object) -> Feature:
    resolver = value.get("taskContentResolver")
    return Feature(
        runtime_compat=_compat(value["runtimeCompat"]),
        skills=tuple(value["skills"]),
        agents=tuple(value["agents"]),
        hooks=tuple([_hook(entry) for entry in value.get("hooks", ())]),
        steps=tuple([_step(entry) for entry in value["steps"]]),
        contributions=tuple([_contribution(entry) for entry in value["contributions"]]),
        gates=tuple([_gate(entry) for entry in value["gates"]]),
        activation_key=value.get("activationKey"),
        task_content_resolver=_resolver(resolver) if resolver is not None else None,
    )


# Reviewers.


def _probe(value: _Object) -> Probe:
    return Probe(
        kind=value["kind"],
        binary=value.get("binary"),
        needle=value.get("needle"),
        host_config_key=value.get("hostConfigKey"),
        path=value.get("path"),
        timeout_ms=_whole(value["timeoutMs"]) if "timeoutMs" in value else None,
    )


def _http(value: _Object) -> HttpInvoke:
    return HttpInvoke(
        host_config_key=value["hostConfigKey"],
        path=value["path"],
        model_discovery=value["modelDiscovery"],
        effort_channel=value["effortChannel"],
        default_host=_text(value.get("defaultHost")),
        fallback_model=_text(value.get("fallbackModel")),
    )


def _spawn(value: _Object) -> SpawnInvoke:
    return SpawnInvoke(
        binary=value["binary"],
        args=tuple(value["args"]),
        prompt_channel=value["promptChannel"],
        output_channel=value["outputChannel"],
        effort_channel=value["effortChannel"],
        output_arg=value.get("outputArg"),
        model_arg=value["modelArg"],
        env=pmap(value.get("env", {})),
    )


def _lane(value: _Object) -> Lane:
    invoke = value["invoke"]
    return Lane(
        slug=value["slug"],
        flags=tuple(value["flags"]),
        transport=value["transport"],
        probe=_probe(value["probe"]),
        # The rules keep the fields of the two transports apart.
        invoke=_http(invoke) if "hostConfigKey" in invoke else _spawn(invoke),
        timeout_floor_ms=_whole(value["timeoutFloorMs"]),
        empty_output=value["emptyOutput"],
        reviews_section=value["reviewsSection"],
        evidence_class=value["evidenceClass"],
        requires_binaries=tuple(value["requiresBinaries"]),
        prompt_budget_key=value["promptBudgetKey"],
        handler=value["handler"],
        model_config_key=value.get("modelConfigKey"),
        timeout_config_key=value.get("timeoutConfigKey"),
        effort_config_key=value.get("effortConfigKey"),
        default_effort=value.get("defaultEffort"),
    )


# Runtimes.


def _home(value: _Object) -> ConfigHome:
    inner = value.get("skillsHome")
    return ConfigHome(
        kind=value["kind"],
        name=value.get("name"),
        parent=_text(value.get("parent")),
        env=tuple(value["env"]),
        probe=tuple(value.get("probe", ())),
        probe_exists=value.get("probeExists"),
        skills_home=_home(inner) if inner is not None else None,
    )


def _artefact(value: _Object) -> ArtifactKind:
    return ArtifactKind(
        kind=value["kind"],
        dest_subpath=value["destSubpath"],
        nesting=value["nesting"],
        prefix=value["prefix"],
        converter=value["converter"],
        recursive=value.get("recursive"),
        home=_text(value.get("home")),
    )


def _layout(value: _Object) -> ArtifactLayout:
    return ArtifactLayout(
        global_=tuple([_artefact(entry) for entry in value["global"]]),
        local=tuple([_artefact(entry) for entry in value["local"]]),
    )


def _dispatch(value: _Object) -> Dispatch:
    most = value.get("maxConcurrency")
    return Dispatch(
        named_dispatch=value["namedDispatch"],
        nested=value["nested"],
        background=value["background"],
        background_dispatch=value["backgroundDispatch"],
        subagent_toolkit=value["subagentToolkit"],
        max_depth=_whole_or_text(value["maxDepth"]),
        isolation=value.get("isolation"),
        max_concurrency=_whole_or_text(most) if most is not None else None,
    )


def _integration(value: _Object) -> HostIntegration:
    return HostIntegration(
        embedding_mode=value["embeddingMode"],
        command_surface=value["commandSurface"],
        dispatch=_dispatch(value["dispatch"]),
        model_mode=value["modelMode"],
        hook_bus=value["hookBus"],
        state_io=value["stateIO"],
        transport=value["transport"],
        runtime=value["runtime"],
        effort_surface=value.get("effortSurface"),
    )


def _orchestrator(value: _Object) -> OrchestratorExec:
    return OrchestratorExec(
        command=value["command"],
        args=tuple(value.get("args", ())),
        cwd_flag=value.get("cwdFlag"),
        prompt_flag=value.get("promptFlag"),
        model_flag=value.get("modelFlag"),
    )


def _switches(value: object) -> PMap[str, Json]:
    frozen = _freeze(value) if isinstance(value, dict) else pmap()
    return cast(PMap[str, Json], frozen)


def _runtime(value: _Object) -> Runtime:
    # Rules that only some runtimes have a use for leave their fields out.
    given: _Object = {}
    if "triggerPrecedence" in value:
        given["trigger_precedence"] = tuple(value["triggerPrecedence"])
    if "orchestratorExec" in value:
        given["orchestrator_exec"] = _orchestrator(value["orchestratorExec"])
    return Runtime(
        config_home=_home(value["configHome"]),
        local_config_dir=value.get("localConfigDir"),
        config_format=value["configFormat"],
        artifact_layout=_layout(value["artifactLayout"]),
        command_style=value["commandStyle"],
        hooks_surface=value["hooksSurface"],
        sandbox_tier=value["sandboxTier"],
        support_tier=_whole(value["supportTier"]),
        install_surface=value["installSurface"],
        writes_shared_settings=value["writesSharedSettings"],
        permission_writer=value["permissionWriter"],
        extended_hook_events=tuple(value["extendedHookEvents"]),
        host_integration=_integration(value["hostIntegration"]),
        hook_events=value.get("hookEvents"),
        extension_events=value.get("extensionEvents"),
        harness_isolation_flag=value.get("harnessIsolationFlag"),
        host_behaviors=_switches(value.get("hostBehaviors")),
        **given,
    )


def structure(value: _Object, document: bytes | Callable[[], bytes]) -> Manifest:
    """Return the records of a manifest that has no fault.

    Args:
        value: The manifest as plain JSON, checked; not changed.
        document: The same as canonical bytes, or what makes them when asked.
    """
    role = value["role"]
    lane = value.get("reviewer")
    engines = value.get("engines")
    origin = value.get("provenance")
    return Manifest(
        document=document,
        id=value["id"],
        role=role,
        version=value["version"],
        title=value["title"],
        description=value["description"],
        tier=value["tier"],
        requires=tuple(value["requires"]),
        engines=Engines(msd=engines.get("msd")) if engines is not None else Engines(),
        compat_versions=pmap(value.get("compatVersions", {})),
        integrity=value.get("integrity"),
        provenance=_provenance(origin) if origin is not None else None,
        config=_slices(value, role),
        commands=_commands(value.get("commands")),
        # The body of a feature lies beside the envelope; the others have a field.
        feature=_feature(value) if role == "feature" else None,
        runtime=_runtime(value["runtime"]) if role == "runtime" else None,
        reviewer=_lane(lane) if lane is not None else None,
    )
