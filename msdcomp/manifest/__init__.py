"""Manifest records: the typed, frozen reading of one `capability.json`."""

from __future__ import annotations

from msdcomp.manifest.envelope import (
    CommandModule,
    ConfigSlice,
    Engines,
    Manifest,
    Provenance,
)
from msdcomp.manifest.feature import (
    Contribution,
    Feature,
    Fragment,
    Gate,
    GateCheck,
    LifecycleHook,
    Ref,
    ResolverInvoke,
    RuntimeCompat,
    Step,
    TaskContentResolver,
)
from msdcomp.manifest.names import (
    AgentStem,
    CapabilityId,
    ConfigKey,
    Json,
    Point,
    Scalar,
    SkillStem,
)
from msdcomp.manifest.reviewer import HttpInvoke, Lane, Probe, SpawnInvoke
from msdcomp.manifest.runtime import (
    ArtifactKind,
    ArtifactLayout,
    ConfigHome,
    Dispatch,
    HostIntegration,
    OrchestratorExec,
    Runtime,
)

__all__ = [
    "AgentStem",
    "ArtifactKind",
    "ArtifactLayout",
    "CapabilityId",
    "CommandModule",
    "ConfigHome",
    "ConfigKey",
    "ConfigSlice",
    "Contribution",
    "Dispatch",
    "Engines",
    "Feature",
    "Fragment",
    "Gate",
    "GateCheck",
    "HostIntegration",
    "HttpInvoke",
    "Json",
    "Lane",
    "LifecycleHook",
    "Manifest",
    "OrchestratorExec",
    "Point",
    "Probe",
    "Provenance",
    "Ref",
    "ResolverInvoke",
    "Runtime",
    "RuntimeCompat",
    "Scalar",
    "SkillStem",
    "SpawnInvoke",
    "Step",
    "TaskContentResolver",
]
