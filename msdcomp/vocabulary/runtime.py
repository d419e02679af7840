"""Closed sets of the runtime body and of host integration.

Sources are the sections of docs/reference/manifest.md.
"""

from __future__ import annotations

from pyrsistent import PMap, pmap

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

#: A value of every axis: the host's documentation does not say.
#: Source: "Host integration".
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
