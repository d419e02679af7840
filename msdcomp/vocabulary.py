"""Every closed set of the manifest format, one named constant each, with its source.

Sources are the sections of docs/reference/manifest.md unless said otherwise.
"""

from __future__ import annotations

import re

from pyrsistent import PMap, pmap

#: The twelve loop extension points, in loop order. Source: "Valid point values".
POINTS: tuple[str, ...] = (
    "discuss:pre",
    "discuss:post",
    "plan:pre",
    "plan:post",
    "execute:pre",
    "execute:wave:pre",
    "execute:wave:post",
    "execute:post",
    "verify:pre",
    "verify:post",
    "ship:pre",
    "ship:post",
)

#: Kinds of hook a capability declares at a point.
HOOK_KINDS: tuple[str, ...] = ("step", "contribution", "gate")

#: Phase, points, agent roles, artefacts left, artefacts read.
#: Source: docs/reference/host-contract.md.
HOST_PHASES: tuple[
    tuple[str, tuple[str, ...], tuple[str, ...], tuple[str, ...], tuple[str, ...]], ...
] = (
    ("discuss", POINTS[0:2], ("orchestrator",), ("CONTEXT.md",), ()),
    (
        "plan",
        POINTS[2:4],
        ("researcher", "planner", "checker"),
        ("PLAN.md",),
        ("CONTEXT.md",),
    ),
    ("execute", POINTS[4:8], ("executor", "verifier"), ("SUMMARY.md",), ("PLAN.md",)),
    ("verify", POINTS[8:10], ("orchestrator",), ("UAT.md",), ("SUMMARY.md",)),
    ("ship", POINTS[10:12], ("orchestrator",), (), ("UAT.md",)),
)

_ALL_KINDS = frozenset(HOOK_KINDS)

#: Point -> kinds its workflow dispatches. Source: docs/reference/host-contract.md.
POINT_KINDS: PMap[str, frozenset[str]] = pmap(
    {
        "discuss:pre": _ALL_KINDS,
        "discuss:post": _ALL_KINDS,
        "plan:pre": _ALL_KINDS,
        "plan:post": _ALL_KINDS,
        "execute:pre": frozenset(),
        "execute:wave:pre": frozenset({"step", "contribution"}),
        "execute:wave:post": _ALL_KINDS,
        "execute:post": frozenset({"step", "gate"}),
        "verify:pre": _ALL_KINDS,
        "verify:post": frozenset({"step"}),
        "ship:pre": frozenset({"gate"}),
        "ship:post": frozenset({"step"}),
    }
)

#: Id prefixes kept for the host's own releases. Source: "Conformance invariants".
RESERVED_PREFIXES: tuple[str, ...] = ("msd-", "msd-core-", "anthropic-")

#: Install profiles and tiers, smallest first. Source: "Envelope fields".
TIERS: tuple[str, ...] = ("core", "standard", "full")

#: Roles, each with its own body. Source: "Envelope fields".
ROLES: tuple[str, ...] = ("feature", "runtime", "reviewer")

#: Names a JavaScript host would lose or misread as object keys.
#: Source: "Envelope fields".
RESERVED_NAMES: frozenset[str] = frozenset({"__proto__", "constructor", "prototype"})

#: What a hook does when it fails. Source: "Feature body".
ON_ERROR: tuple[str, ...] = ("skip", "halt")

#: Types of a configuration slice. Source: "Federated config-key schema slice".
SLICE_TYPES: tuple[str, ...] = ("boolean", "string", "number", "enum")

#: What a step may dispatch to. Source: "Steps".
REF_KINDS: tuple[str, ...] = ("skill", "agent", "command")

#: Forms of a gate check. Source: "Gates".
CHECK_FORMS: tuple[str, ...] = ("query", "predicate", "agentVerdict")

#: Predicate kinds with a known evaluator; others are reported, not refused.
#: Source: "Gates".
PREDICATE_KINDS: frozenset[str] = frozenset(
    {
        "artifact-exists",
        "config-equals",
        "command-exit-zero",
        "artifact-frontmatter-equals",
    }
)

#: What a task-content resolver must pass on. Source: "taskContentResolver".
ID_PLACEHOLDER = "{{id}}"

#: Longest run of a task-content resolver, in milliseconds.
#: Source: "taskContentResolver".
MAX_RESOLVER_MS = 120_000

#: Fields of features that the other roles refuse. Source: "Runtime body".
FEATURE_ONLY_FIELDS: tuple[str, ...] = (
    "skills",
    "agents",
    "steps",
    "contributions",
    "gates",
    "hooks",
    "activationKey",
    "taskContentResolver",
)

#: Folders a hook script may not lie in. Source: "Hooks".
CACHE_FOLDERS: frozenset[str] = frozenset({"__pycache__", ".pytest_cache"})

# Runtime descriptors.

#: `runtime.configFormat`. Source: "Runtime body".
CONFIG_FORMATS: tuple[str, ...] = (
    "settings-json",
    "toml",
    "markdown",
    "markdown-dir",
    "none",
)

#: `runtime.configHome.kind`. Source: "Runtime body".
CONFIG_HOME_KINDS: tuple[str, ...] = (
    "dot-home",
    "dot-home-nested",
    "xdg",
    "generic-agents-root",
    "none",
)

#: `runtime.commandStyle`. Source: "Runtime body".
COMMAND_STYLES: tuple[str, ...] = ("slash-hyphen", "shell-var")

#: `runtime.hooksSurface`. Source: "Runtime body".
HOOKS_SURFACES: tuple[str, ...] = (
    "settings-json",
    "codex-hooks-json",
    "cursor-hooks-json",
    "copilot-inline",
    "cline-rules",
    "kimi-hooks-toml",
    "windsurf-hooks-json",
    "none",
)

#: `runtime.hookEvents`. Source: "Runtime body".
HOOK_EVENT_DIALECTS: tuple[str, ...] = ("claude", "gemini")

#: `runtime.extensionEvents`. Source: "Runtime body".
EXTENSION_EVENTS: tuple[str, ...] = ("opencode", "pi", "hermes", "kilo", "none")

#: `runtime.sandboxTier`. Source: "Runtime body".
SANDBOX_TIERS: tuple[str, ...] = ("none", "codex-agent-sandbox")

#: `runtime.installSurface`. Source: "Runtime body".
INSTALL_SURFACES: tuple[str, ...] = (
    "settings-json",
    "codex-toml",
    "copilot-instructions",
    "cline-rules",
    "cursor-hooks-json",
    "profile-marker-only",
    "none",
)

#: `runtime.extendedHookEvents`. Source: "Runtime body".
EXTENDED_HOOK_EVENTS: tuple[str, ...] = (
    "SubagentStop",
    "Stop",
    "PreCompact",
    "FileChanged",
    "BeforeAgent",
    "AfterAgent",
    "BeforeModel",
    "SubagentStart",
)

#: `runtime.artifactLayout.kind`. Source: "Runtime body".
ARTIFACT_KINDS: tuple[str, ...] = ("commands", "agents", "skills", "kimi-agents")

#: `runtime.artifactLayout.nesting`. Source: "Runtime body".
ARTIFACT_NESTINGS: tuple[str, ...] = ("flat", "nested")

#: `runtime.triggerPrecedence`. Source: "Runtime body".
TRIGGER_SOURCES: tuple[str, ...] = ("commands", "skills")

#: `runtime.triggerPrecedenceDefault`, default order. Source: "Runtime body".
DEFAULT_TRIGGER_PRECEDENCE: tuple[str, ...] = ("skills", "commands")

#: `runtime.supportTier`. Source: "Runtime body".
SUPPORT_TIERS: tuple[int, ...] = (1, 2)

#: `runtime.permissionWriter`, null left out. Source: "Runtime body".
PERMISSION_WRITERS: tuple[str, ...] = ("opencode", "kilo", "antigravity")

#: `runtime.artifactLayout` converters, null left out. Source: "Runtime body".
ARTIFACT_CONVERTERS: tuple[str, ...] = (
    "convertClaudeCommandToAntigravitySkill",
    "convertClaudeCommandToAugmentSkill",
    "convertClaudeCommandToClineSkill",
    "convertClaudeCommandToClaudeSkill",
    "convertClaudeCommandToCodebuddyCommand",
    "convertClaudeCommandToCodebuddySkill",
    "convertClaudeCommandToCodexSkill",
    "convertClaudeCommandToCopilotSkill",
    "convertClaudeCommandToCursorSkill",
    "convertClaudeCommandToKiloSkill",
    "convertClaudeCommandToKimiSkill",
    "convertClaudeCommandToKimiCodeSkill",
    "convertClaudeCommandToOpencodeSkill",
    "convertClaudeCommandToTraeSkill",
    "convertClaudeCommandToWindsurfSkill",
    "convertClaudeCommandToWindsurfWorkflow",
    "convertClaudeAgentToCopilotAgent",
    "convertClaudeAgentToAntigravityAgent",
    "convertClaudeAgentToCursorAgent",
    "convertClaudeAgentToWindsurfAgent",
    "convertClaudeAgentToAugmentAgent",
    "convertClaudeAgentToTraeAgent",
    "convertClaudeAgentToCodebuddyAgent",
    "convertClaudeAgentToClineAgent",
    "convertClaudeAgentToCodexAgent",
    "convertClaudeAgentToQwenAgent",
    "convertClaudeAgentToZcodeAgent",
    "convertClaudeAgentToHermesAgent",
    "convertClaudeToKiloFrontmatter",
    "convertClaudeToOpencodeFrontmatter",
)

#: Switches of `runtime.hostBehaviors`. Source: "hostBehaviors".
HOST_BEHAVIORS: frozenset[str] = frozenset(
    {
        "agentFileExtension",
        "agentFrontmatterExtensions",
        "agentManifestStyle",
        "agentTomlFiles",
        "attributionConfigResolver",
        "attributionSource",
        "authorsCanonicalWorkflow",
        "brandingRewrites",
        "cleanupSkillSidecars",
        "clineRulesSurface",
        "combinedFamilyInstall",
        "commandBodyConverter",
        "doneBannerStyle",
        "flatCommandDir",
        "frontmatterDialect",
        "globalDirResolver",
        "hookPathStyle",
        "hooksJsonSurface",
        "hyphenNameAgentBody",
        "installsCommandBodiesForWorkflowDelegation",
        "legacyCommandsMsdCleanup",
        "legacyCommandsMsdInstallMigration",
        "legacyCommandsMsdUninstall",
        "legacyDevinSkillsCleanup",
        "localCommandsViaRules",
        "localInstallDeferred",
        "localInstallStyle",
        "localTargetIsProjectRoot",
        "managedHookEvents",
        "mcpCompanion",
        "namedSubagentsSupported",
        "nativeModelAliases",
        "nativePlugin",
        "noPathRewrite",
        "ownsClaudePaths",
        "permissionsSchema",
        "pluginOnlyInstall",
        "projectInstructionFile",
        "reapplyCommand",
        "reportCommandsDir",
        "reportSkillsCount",
        "retiredArtifacts",
        "settingsFileByScope",
        "sharedHooksDirName",
        "skillFrontmatterVersion",
        "skillPriorityFrontmatter",
        "skillsGlobalOnboarding",
        "skillsManifestPrefix",
        "skipCodexSkillsManifest",
        "skipHomePrefixSubstitution",
        "skipSettingsUi",
        "skipSharedHooksInstall",
        "skipUpdateBannerCommand",
        "soloStageMetadata",
        "sourceMarkerFile",
        "tomlConfigInstall",
        "trackCategoryDescription",
        "verificationStyle",
        "writeCategoryDescription",
    }
)

#: Switch of the same object that is no longer read. Source: "hostBehaviors".
REMOVED_HOST_BEHAVIOR = "reviewerCli"

#: Extended events of the `gemini` dialect. Source: "Runtime body".
GEMINI_EVENTS: frozenset[str] = frozenset({"BeforeAgent", "AfterAgent", "BeforeModel"})

#: Extended events of the `claude` dialect. Source: "Runtime body".
CLAUDE_EVENTS: frozenset[str] = frozenset(
    {"SubagentStop", "Stop", "PreCompact", "FileChanged", "SubagentStart"}
)

#: Install surface -> hook surfaces it can carry. Source: "Runtime body".
HOOKS_SURFACES_FOR: PMap[str, tuple[str, ...]] = pmap(
    {
        "settings-json": (
            "settings-json",
            "none",
        ),
        "codex-toml": ("codex-hooks-json",),
        "copilot-instructions": ("copilot-inline",),
        "cline-rules": ("cline-rules",),
        "cursor-hooks-json": ("cursor-hooks-json",),
        "profile-marker-only": (
            "none",
            "kimi-hooks-toml",
            "windsurf-hooks-json",
        ),
        "none": ("none",),
    }
)

#: Install surface -> the one config format it writes. Source: "Runtime body".
CONFIG_FORMAT_FOR: PMap[str, str] = pmap(
    {
        "settings-json": "settings-json",
        "codex-toml": "toml",
        "copilot-instructions": "markdown",
        "cline-rules": "markdown-dir",
        "cursor-hooks-json": "none",
        "profile-marker-only": "none",
        "none": "none",
    }
)

# Host integration.

#: A value of every axis: the host's documentation does not say. Source: "Host integration".
UNDOCUMENTED = "undocumented"

#: `hostIntegration.embeddingMode`. Source: "Host integration".
EMBEDDING_MODES: tuple[str, ...] = ("imperative", "declarative")

#: `hostIntegration.commandSurface`. Source: "Host integration".
COMMAND_SURFACES: tuple[str, ...] = (
    "slash-file",
    "slash-programmatic",
    "slash-toml",
    "palette",
    "prose-only",
)

#: `hostIntegration.modelMode`. Source: "Host integration".
MODEL_MODES: tuple[str, ...] = ("active", "passive")

#: `hostIntegration.hookBus`. Source: "Host integration".
HOOK_BUSES: tuple[str, ...] = ("host", "engine", "none")

#: `hostIntegration.stateIO`. Source: "Host integration".
STATE_STORES: tuple[str, ...] = (
    "filesystem",
    "sandboxed-storage",
    "session-log-append",
)

#: `hostIntegration.transport`. Source: "Host integration".
HOST_TRANSPORTS: tuple[str, ...] = ("mcp", "native-extension")

#: `hostIntegration.runtime`. Source: "Host integration".
HOST_RUNTIMES: tuple[str, ...] = (
    "node",
    "bun",
    "sandboxed-web",
    "python",
    "go",
    "rust",
    "electron",
    "other",
)

#: `hostIntegration.effortSurface`. Source: "Host integration".
EFFORT_SURFACES: tuple[str, ...] = ("argv", "none")

#: `hostIntegration.dispatch.subagentToolkit`. Source: "Host integration".
SUBAGENT_TOOLKITS: tuple[str, ...] = ("full", "read-only", "built-in-only")

#: `hostIntegration.dispatch.isolation`. Source: "Host integration".
ISOLATIONS: tuple[str, ...] = ("harness-worktree", "orchestrator-worktree", "none")

# Reviewer lanes.

#: `reviewer` transport. Source: "Reviewer body".
LANE_TRANSPORTS: tuple[str, ...] = ("spawn", "openai-http")

#: `reviewer` probe.kind. Source: "Reviewer body".
PROBE_KINDS: tuple[str, ...] = (
    "command-exists",
    "command-capability",
    "http-reachable",
)

#: `reviewer` promptChannel. Source: "Reviewer body".
PROMPT_CHANNELS: tuple[str, ...] = ("stdin", "argv", "argv-file-ref", "none")

#: `reviewer` outputChannel. Source: "Reviewer body".
OUTPUT_CHANNELS: tuple[str, ...] = ("stdout", "file-arg")

#: `reviewer` effortChannel. Source: "Reviewer body".
EFFORT_CHANNELS: tuple[str, ...] = ("none", "argv", "env")

#: `reviewer` modelDiscovery. Source: "Reviewer body".
MODEL_DISCOVERIES: tuple[str, ...] = ("none", "first-from-models-endpoint")

#: `reviewer` emptyOutput. Source: "Reviewer body".
EMPTY_OUTPUTS: tuple[str, ...] = ("stub-with-stderr", "handler-owned")

#: `reviewer` evidenceClass. Source: "Reviewer body".
EVIDENCE_CLASSES: tuple[str, ...] = ("source-grounded", "diff-only")

#: `reviewer` effortLevels. Source: "Reviewer body".
EFFORT_LEVELS: tuple[str, ...] = ("minimal", "low", "medium", "high", "xhigh", "max")

#: `reviewer` knownFields. Source: "Reviewer body".
LANE_FIELDS: tuple[str, ...] = (
    "slug",
    "flags",
    "transport",
    "probe",
    "invoke",
    "timeoutFloorMs",
    "emptyOutput",
    "reviewsSection",
    "evidenceClass",
    "requiresBinaries",
    "promptBudgetKey",
    "modelConfigKey",
    "timeoutConfigKey",
    "effortConfigKey",
    "defaultEffort",
    "handler",
)

#: `reviewer` spawnOnly. Source: "Reviewer body".
SPAWN_ONLY_FIELDS: tuple[str, ...] = (
    "binary",
    "args",
    "promptChannel",
    "outputChannel",
    "outputArg",
    "modelArg",
    "env",
)

#: `reviewer` httpOnly. Source: "Reviewer body".
HTTP_ONLY_FIELDS: tuple[str, ...] = (
    "hostConfigKey",
    "defaultHost",
    "path",
    "modelDiscovery",
    "fallbackModel",
)

#: `reviewer` knownProbeFields. Source: "Reviewer body".
PROBE_FIELDS: tuple[str, ...] = (
    "kind",
    "binary",
    "needle",
    "timeoutMs",
    "hostConfigKey",
    "path",
)

#: `reviewer.handler`, null left out. Source: "Reviewer body".
HANDLERS: tuple[str, ...] = ("antigravity", "openai-compatible", "opencode")

#: Probe kind -> the fields it takes beside `kind`. Source: "Reviewer body".
PROBE_FIELDS_OF: PMap[str, tuple[str, ...]] = pmap(
    {
        "command-exists": ("binary",),
        "command-capability": ("binary", "needle", "timeoutMs"),
        "http-reachable": ("hostConfigKey", "path", "timeoutMs"),
    }
)

#: Variables that make a child run other code, in upper case. Source: "Reviewer body".
DENIED_ENV: frozenset[str] = frozenset(
    {
        "PATH",
        "NODE_OPTIONS",
        "NODE_REPL_EXTERNAL_MODULE",
        "NODE_PATH",
        "LD_PRELOAD",
        "LD_AUDIT",
        "LD_LIBRARY_PATH",
        "DYLD_INSERT_LIBRARIES",
        "DYLD_LIBRARY_PATH",
        "PYTHONSTARTUP",
        "PYTHONPATH",
        "BASH_ENV",
        "ENV",
        "PERL5OPT",
        "RUBYOPT",
        "JAVA_TOOL_OPTIONS",
        "_JAVA_OPTIONS",
        "CLASSPATH",
        "GIT_SSH_COMMAND",
        "GIT_EXTERNAL_DIFF",
    }
)

# Grammars. Each is matched against the whole text, never with `$`.

#: Capability ids and tracker prefixes. Source: "Envelope fields".
ID_GRAMMAR = re.compile(r"[a-z][a-z0-9-]*")

#: Characters a version range may hold. Source: "Envelope fields".
RANGE_SHAPE_GRAMMAR = re.compile(r"[0-9A-Za-z.\-+ |<>=~^*()]+")

#: `integrity`. Source: "Envelope fields".
INTEGRITY_GRAMMAR = re.compile(r"sha512-[A-Za-z0-9+/]{86}==")

#: `reviewer.slug`. Source: "Reviewer body".
LANE_SLUG_GRAMMAR = re.compile(r"[a-z0-9][a-z0-9_-]*")

#: `reviewer.flags` entries. Source: "Reviewer body".
LANE_FLAG_GRAMMAR = re.compile(r"--[a-z0-9][a-z0-9-]*")

#: Names in `reviewer.invoke.env`. Source: "Reviewer body".
ENV_NAME_GRAMMAR = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")

#: Characters of a hook script path. Source: "Hooks".
HOOK_SCRIPT_GRAMMAR = re.compile(r"[A-Za-z0-9._/-]+")

#: Module of a command family. Source: "Commands".
COMMAND_MODULE_GRAMMAR = re.compile(r"[A-Za-z0-9._-]+\.cjs")
