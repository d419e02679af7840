"""Codes of a capability, or a set of them, that does not fit into a registry."""

from __future__ import annotations

from msdcomp.codes._code import Code

_PAGE = "docs/explanation/composition.md"
_GATES = f'{_PAGE}, "When a single overlay fails"'
_FIRST = f'{_PAGE}, "First-party always wins"'
_SCAN = f'{_PAGE}, "Where overlays come from"'
_SET = f'{_PAGE}, "When the whole set fails"'
_INVARIANTS = 'docs/reference/manifest.md, "Conformance invariants"'
_CONTRACT = "docs/reference/host-contract.md"
_FRAGMENT = 'docs/reference/manifest.md, "Contributions"'
_CONFIGURATION = "docs/reference/configuration.md"
_ACTIVATION = "docs/reference/activation.md"

COMPOSITION: tuple[Code, ...] = (
    # Why a candidate was skipped: one of these for each.
    Code(
        "pending",
        "An installation or upgrade of the capability has not finished.",
        "Run `msd capability reconcile`.",
        _GATES,
    ),
    Code(
        "unconsented",
        "A capability inside the project has never been agreed to on this machine.",
        "Look at what it would do, then run `msd capability trust`.",
        _GATES,
    ),
    Code(
        "consent-changed",
        "A capability inside the project differs from what was agreed to.",
        "Look at what changed, then run `msd capability trust` again.",
        _GATES,
    ),
    Code(
        "consent-unreadable",
        "The record of what was agreed to cannot be read, so nothing counts as agreed.",
        "Move the damaged consent store away, then agree again where it is wanted.",
        _GATES,
    ),
    Code(
        "unreadable",
        "The manifest is missing, not a regular file, larger than 8 MiB or cannot be "
        "read.",
        "Put a readable capability.json into the folder, or remove the capability.",
        _GATES,
    ),
    Code(
        "not-json",
        "The manifest is not strict JSON holding one object.",
        "Correct the text at the places named.",
        'docs/reference/wire-format.md, "Strict JSON"',
    ),
    Code(
        "linked-folder",
        "A capability folder inside the project is a symbolic link.",
        "Replace the link by the folder itself.",
        _SCAN,
    ),
    Code(
        "reserved-prefix",
        "The id starts with a prefix kept for the host's own capabilities.",
        "Choose an id that does not start with msd- or anthropic-.",
        _FIRST,
    ),
    Code(
        "invalid-manifest",
        "The manifest breaks a rule of the format.",
        "Correct the manifest at the places named.",
        _GATES,
    ),
    Code(
        "shadowed",
        "Another overlay of the same id was accepted before this one.",
        "Remove one of the two.",
        _FIRST,
    ),
    Code(
        "collision",
        "The capability claims a name that already has an owner.",
        "Rename what collides; an overlay can add but never override.",
        _FIRST,
    ),
    Code(
        "incompatible-engine",
        "The running host version lies outside the range the capability declares.",
        "Install a version of the capability made for this host.",
        _GATES,
    ),
    Code(
        "bad-fragment",
        "A prompt fragment cannot be taken from the capability's folder.",
        "Correct the fragments named.",
        _GATES,
    ),
    Code(
        "invariant",
        "The capability breaks a rule that holds across all capabilities.",
        "Correct what is named, or remove the capability.",
        _INVARIANTS,
    ),
    Code(
        "internal-error",
        "msdcomp failed while it looked at this capability; nothing else is affected.",
        "Report the defect together with the manifest.",
        _GATES,
    ),
    Code(
        "set-build-failed",
        "The accepted overlays cannot be combined, so all of them were dropped.",
        "Remove or correct one of the capabilities named.",
        _SET,
    ),
    # Collisions.
    Code(
        "id-taken",
        "The id belongs to a first-party capability.",
        "Choose another id, and rename the folder to it.",
        _FIRST,
    ),
    Code(
        "skill-taken",
        "Another capability owns the skill stem.",
        "Rename the skill.",
        _FIRST,
    ),
    Code(
        "agent-taken",
        "Another capability owns the agent stem.",
        "Rename the agent.",
        _FIRST,
    ),
    Code(
        "config-key-taken",
        "The host or another capability owns the configuration key.",
        "Rename the key, for instance by starting it with the capability's id.",
        _FIRST,
    ),
    Code(
        "config-key-overlap",
        "A configuration key lies below another one, which holds a value.",
        "Rename one of the two keys, so that neither has the other one in it.",
        'docs/reference/configuration.md, "A key within a key"',
    ),
    Code(
        "command-family-taken",
        "Another capability answers the command family.",
        "Rename the family.",
        _FIRST,
    ),
    # Invariants.
    Code(
        "requires-missing",
        "A required capability is not there at all.",
        "Install it, or drop it from requires.",
        _INVARIANTS,
    ),
    Code(
        "requires-not-loaded",
        "A required capability is there but was itself left out.",
        "Put that capability right first; its own warning says how.",
        _INVARIANTS,
    ),
    Code(
        "requires-cycle",
        "Capabilities require each other in a circle.",
        "Drop one of the requirements named.",
        _INVARIANTS,
    ),
    Code(
        "tier-violation",
        "A capability requires one of a larger tier than its own.",
        "Raise the tier of this capability, or drop the requirement.",
        _INVARIANTS,
    ),
    Code(
        "unknown-runtime",
        "runtimeCompat names a runtime that no capability describes.",
        "Check the spelling, or install the runtime capability.",
        _INVARIANTS,
    ),
    Code(
        "consumes-never-produced",
        "A step consumes an artefact that nothing produces.",
        "Drop the artefact, or require a capability that produces it.",
        _INVARIANTS,
    ),
    Code(
        "consumes-produced-later",
        "A step consumes an artefact that is only produced after it has run.",
        "Move the step to a later point.",
        _INVARIANTS,
    ),
    Code(
        "consumes-not-loaded",
        "A step consumes an artefact whose producer was itself left out.",
        "Put that capability right first; its own warning says how.",
        _INVARIANTS,
    ),
    Code(
        "artefact-produced-twice",
        "Two steps produce the same artefact at the same point.",
        "Rename the artefact of one of them, or move it to another point.",
        _INVARIANTS,
    ),
    Code(
        "claimed-twice",
        "One capability claims the same name twice.",
        "Delete one of the two.",
        _INVARIANTS,
    ),
    Code(
        "lane-slug-taken",
        "Another reviewer lane has the slug.",
        "Choose another slug.",
        _INVARIANTS,
    ),
    Code(
        "lane-flag-taken",
        "Another reviewer lane is selected by the flag.",
        "Choose another flag.",
        _INVARIANTS,
    ),
    Code(
        "lane-section-taken",
        "Another reviewer lane renders under the heading; their reviews would merge.",
        "Choose another reviewsSection.",
        _INVARIANTS,
    ),
    Code(
        "tracker-prefix-taken",
        "Another capability resolves tasks with the tracker prefix.",
        "Choose another trackerPrefix.",
        _INVARIANTS,
    ),
    Code(
        "ordering-cycle",
        "Hooks at one point wait for each other's artefacts in a circle.",
        "Drop one of the artefacts named from consumes.",
        _SET,
    ),
    # The host contract.
    Code(
        "role-not-published",
        "A contribution addresses an agent role that its point does not publish.",
        "Address a role the point publishes, or move the contribution.",
        _CONTRACT,
    ),
    Code(
        "when-undeclared",
        "A hook is switched by a key that its capability does not declare.",
        "Declare the key in config, or drop when.",
        _CONTRACT,
    ),
    Code(
        "point-from-undeclared",
        "pointFrom names a key that the capability does not declare.",
        "Declare the key in config as an enum of points, or drop pointFrom.",
        _CONTRACT,
    ),
    Code(
        "point-from-not-enum",
        "pointFrom names a key that is not an enum.",
        "Make the key an enum of points.",
        _CONTRACT,
    ),
    Code(
        "point-from-missing-point",
        "The enum behind pointFrom does not offer the step's own point.",
        "Add the step's point to the values of the key.",
        _CONTRACT,
    ),
    Code(
        "kind-not-dispatched",
        "A point does not dispatch hooks of this kind, so the hook would never run.",
        "Move the hook to a point that dispatches its kind.",
        _CONTRACT,
    ),
    Code(
        "unknown-point",
        "The text is none of the twelve loop extension points.",
        "Use one of the points of the host contract.",
        _CONTRACT,
    ),
    # Fragments.
    Code(
        "fragment-unreadable",
        "A fragment file is missing, not a regular file, or not UTF-8 text.",
        "Add the file, or correct the path.",
        _FRAGMENT,
    ),
    Code(
        "fragment-empty",
        "A fragment file has no text.",
        "Write some text into it, or drop the hook.",
        _FRAGMENT,
    ),
    Code(
        "fragment-too-large",
        "A fragment file is larger than 8 MiB.",
        "Shorten it.",
        _FRAGMENT,
    ),
    Code(
        "fragment-escapes",
        "A fragment path leads out of the capability's folder, maybe through a link.",
        "Keep the file inside the capability's folder.",
        _FRAGMENT,
    ),
    # Activation.
    Code(
        "config-unreadable",
        "A configuration file cannot be read, so what depends on it is unknown.",
        "Correct the file; nothing falls back to a default silently.",
        _ACTIVATION,
    ),
    Code(
        "config-type-mismatch",
        "A configured value is not of the type its key declares.",
        "Set the key to a value of the type named.",
        _ACTIVATION,
    ),
    # Configuration.
    Code(
        "unknown-config-key",
        "A configuration file or a command names a key that nobody declares.",
        "Check the spelling; it may belong to a capability that is not composed here.",
        _CONFIGURATION,
    ),
    Code(
        "config-unwritable",
        "A configuration file could not be changed, and is as it was.",
        "Mend what the message names, and give the command again.",
        'docs/reference/configuration.md, "How a file is edited"',
    ),
    Code(
        "bad-config-key",
        "A text is no dotted key, or has a part that no host would find.",
        "Write the names of the objects and of the value, with dots between them.",
        _CONFIGURATION,
    ),
    Code(
        "foreign-config-key",
        "A switch was named that belongs to another capability, or to the host.",
        "Name the capability that owns it.",
        _CONFIGURATION,
    ),
    Code(
        "unknown-capability",
        "A command names a capability that is not composed here.",
        "Check the spelling; `msd explain` tells what became of one that was left out.",
        _CONFIGURATION,
    ),
)
