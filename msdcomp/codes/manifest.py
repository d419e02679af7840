"""Codes of a manifest that is JSON but breaks a rule of the format."""

from __future__ import annotations

from msdcomp.codes._code import Code

_PAGE = "docs/reference/manifest.md"
_ENVELOPE = f'{_PAGE}, "Envelope fields"'
_FEATURE = f'{_PAGE}, "Feature body"'
_CONFIG = f'{_PAGE}, "Federated config-key schema slice"'
_STEPS = f'{_PAGE}, "Steps"'
_GATES = f'{_PAGE}, "Gates"'
_RUNTIME = f'{_PAGE}, "Runtime body"'
_REVIEWER = f'{_PAGE}, "Reviewer body"'
_INVARIANTS = f'{_PAGE}, "Conformance invariants"'
_UNKNOWN = f'{_PAGE}, "Unknown fields"'

MANIFEST: tuple[Code, ...] = (
    # Shapes, wherever they occur.
    Code(
        "missing-field",
        "A required field is not there.",
        "Add the field.",
        _PAGE,
    ),
    Code(
        "wrong-type",
        "A value has another JSON type than its field takes.",
        "Give a value of the type named.",
        _PAGE,
    ),
    Code(
        "empty-string",
        "A string is empty where some text is needed.",
        "Write some text, or leave the field out if it is optional.",
        _PAGE,
    ),
    Code(
        "empty-array",
        "An array is empty where at least one entry is needed.",
        "Add an entry.",
        _PAGE,
    ),
    Code(
        "duplicate-entry",
        "An array names the same entry twice.",
        "Delete one of the two.",
        _PAGE,
    ),
    Code(
        "not-in-vocabulary",
        "A value is outside the closed set its field takes.",
        "Use one of the values listed for the field in the manifest reference.",
        _PAGE,
    ),
    Code(
        "bad-format",
        "A string does not match the grammar of its field.",
        "Rewrite the string to the grammar named.",
        _PAGE,
    ),
    Code(
        "control-character",
        "A string holds a control character where only printable text is safe.",
        "Remove line breaks, tabs and other control characters.",
        _PAGE,
    ),
    Code(
        "out-of-range",
        "A number lies outside the range its field takes.",
        "Use a number within the range named.",
        _PAGE,
    ),
    Code(
        "reserved-name",
        "`__proto__`, `constructor` or `prototype` is used as a name; a JavaScript "
        "host would lose or misread it.",
        "Choose another name.",
        _PAGE,
    ),
    Code(
        "unsafe-path",
        "A path is absolute, leaves the capability's folder, or holds characters that "
        "are not safe in a shell.",
        "Use a relative path inside the capability's folder.",
        _INVARIANTS,
    ),
    Code(
        "forbidden-field",
        "A field is present that this role, or this form of the object, refuses.",
        "Delete the field, or change what makes it forbidden.",
        _PAGE,
    ),
    # The envelope.
    Code(
        "bad-id",
        "The id is not kebab-case.",
        "Use lower-case letters, digits and hyphens, starting with a letter.",
        _ENVELOPE,
    ),
    Code(
        "id-folder-mismatch",
        "The id differs from the name of the folder the manifest lies in.",
        "Rename the folder, or set the id to the folder's name.",
        _ENVELOPE,
    ),
    Code(
        "bad-version",
        "The version is not a semantic version.",
        "Write major.minor.patch, such as 1.0.0, without a leading v.",
        _ENVELOPE,
    ),
    Code(
        "bad-range",
        "The text cannot be a version range.",
        "Write an npm range, such as >=1.6.0 <3.0.0.",
        _ENVELOPE,
    ),
    Code(
        "bad-integrity",
        "The integrity text is not a SHA-512 digest in base64.",
        "Write sha512- followed by the 88 base64 characters of the digest.",
        _ENVELOPE,
    ),
    Code(
        "wildcard-mixed",
        "The wildcard stands beside other entries, which it already covers.",
        'Write ["*"] alone, or list the runtimes without it.',
        _ENVELOPE,
    ),
    Code(
        "wildcard-forbidden",
        "The wildcard is used where only concrete runtime ids are allowed.",
        "List the runtimes that are not supported, or leave the array empty.",
        _ENVELOPE,
    ),
    # Configuration slices.
    Code(
        "default-type-mismatch",
        "The default of a configuration key is not of the key's type.",
        "Make the default fit the type, or change the type.",
        _CONFIG,
    ),
    Code(
        "default-not-in-values",
        "The default of an enum key is not one of its values.",
        "Use one of the values as the default, or add it to the values.",
        _CONFIG,
    ),
    # Feature bodies.
    Code(
        "undeclared-skill",
        "A step dispatches to a skill that this capability does not own.",
        "Add the stem to the capability's skills, or name one it owns.",
        _STEPS,
    ),
    Code(
        "undeclared-agent",
        "A step dispatches to an agent that this capability does not own.",
        "Add the stem to the capability's agents, or name one it owns.",
        _STEPS,
    ),
    Code(
        "prefixed-skill",
        "A step names a skill with the `msd-` prefix, which is added when it is "
        "dispatched.",
        "Name the stem without the prefix.",
        _STEPS,
    ),
    Code(
        "ref-not-exactly-one",
        "A step's ref does not name exactly one of skill, agent and command.",
        "Keep exactly one of skill, agent and command.",
        _STEPS,
    ),
    Code(
        "check-not-exactly-one",
        "A gate's check does not take exactly one of its three forms.",
        "Keep exactly one of query, predicate and agentVerdict.",
        _GATES,
    ),
    Code(
        "blocking-verdict",
        "A gate decided by an agent is declared blocking; such checks may only advise.",
        "Set blocking to false, or decide the gate by a query or a predicate.",
        _GATES,
    ),
    Code(
        "unknown-predicate",
        "A gate's predicate is of a kind no known host evaluates.",
        "Check the spelling of the kind; the gate errs at hosts that do not know it.",
        _GATES,
    ),
    Code(
        "unexpanded-value",
        "A gate's command names a value of the phase where no shell would expand it.",
        'Put it in double quotes: "${PHASE_DIR}".',
        'docs/reference/predicates.md, "Values in a command"',
    ),
    Code(
        "fragment-without-content",
        "A fragment gives neither a path nor inline text.",
        "Add inline text, or the path of a file in the capability's folder.",
        _FEATURE,
    ),
    Code(
        "undeclared-config-key",
        "activationKey names a key that this capability's config does not declare.",
        "Declare the key in config, or name one that is declared.",
        _FEATURE,
    ),
    Code(
        "placeholder-missing",
        "The resolver's arguments never carry the task's id.",
        "Put {{id}} into one of the arguments.",
        f'{_PAGE}, "taskContentResolver"',
    ),
    # Runtime bodies.
    Code(
        "surface-mismatch",
        "The install surface cannot carry the hooks surface declared.",
        "Use a hooks surface that the install surface allows.",
        _RUNTIME,
    ),
    Code(
        "format-mismatch",
        "The install surface writes another config format than the one declared.",
        "Set configFormat to the format of the install surface.",
        _RUNTIME,
    ),
    Code(
        "dialect-mismatch",
        "An extended hook event belongs to another dialect than hookEvents names.",
        "Set hookEvents to the event's dialect, or drop the event.",
        _RUNTIME,
    ),
    # Reviewer lanes.
    Code(
        "wrong-transport-field",
        "invoke has a field of the other transport.",
        "Delete the field, or change the transport.",
        _REVIEWER,
    ),
    Code(
        "denied-variable",
        "env sets a variable that makes the child run other code.",
        "Name the executable by an absolute binary instead of reshaping the child.",
        _REVIEWER,
    ),
    Code(
        "effort-without-key",
        "defaultEffort is given without the key that could change it.",
        "Add effortConfigKey, or delete defaultEffort.",
        _REVIEWER,
    ),
    # What is reported and accepted.
    Code(
        "unknown-field",
        "A field is not known, and ignored.",
        "Check the spelling, or delete the field.",
        _UNKNOWN,
    ),
    Code(
        "unknown-fields",
        "More fields are unknown than are listed.",
        "Correct the ones listed and check again.",
        _UNKNOWN,
    ),
    Code(
        "ignored-field",
        "A field is present that has no effect where it stands.",
        "Delete the field, or change what makes it without effect.",
        _UNKNOWN,
    ),
    Code(
        "removed-field",
        "A field is set that this version no longer reads.",
        "Declare a reviewer body instead.",
        f'{_PAGE}, "hostBehaviors"',
    ),
    Code(
        "odd-type",
        "A field that no rule depends on has another type than documented; it is kept.",
        "Give a value of the type named.",
        _ENVELOPE,
    ),
)
