"""Whose an overlay counts as, and what its user has agreed to."""

from __future__ import annotations

import enum

__all__ = ["Consent", "Scope"]


class Scope(enum.StrEnum):
    """Whose root a candidate was found under."""

    #: The user's own; trusted without a record.
    GLOBAL = "global"
    #: A repository's; inert until the user consents to its content.
    PROJECT = "project"


class Consent(enum.StrEnum):
    """What the consent store says about the content a project candidate has now."""

    #: A record for exactly this content.
    MATCHES = "matches"
    #: No record: the user never agreed.
    NONE = "none"
    #: A record, for other content, or content that cannot be hashed.
    CHANGED = "changed"
    #: The store itself cannot be read.
    UNREADABLE = "unreadable"
