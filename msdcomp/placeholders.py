r"""What the text of a gate's command does with the values that a host hands over.

A command may name `${PHASE_NUMBER}`, `${PHASE_DIR}` and `${PHASE_REQ_IDS}`. Nothing is
put into its text: the three are environment variables, and it is the shell that
expands them, which never reads a value as a part of the command. Two things are left
to look for. Where the shell expands nothing, the text stands for itself, and the
command would check something else than its author meant. And some constructs read
what they are given as code once more, whoever expanded it.
Source: docs/reference/predicates.md, "Values in a command".
"""

from __future__ import annotations

import re

__all__ = ["PLACEHOLDERS", "is_plain", "reads_again", "unexpanded"]

#: The variables that a command finds in its environment.
PLACEHOLDERS: tuple[str, ...] = ("PHASE_NUMBER", "PHASE_DIR", "PHASE_REQ_IDS")

_NAMES = "|".join(PLACEHOLDERS)
_PLACEHOLDER = re.compile(rf"\$\{{(?:{_NAMES})\}}")
_NAME = re.compile(_NAMES)

_INTERPRETERS = "bun|deno|lua|node|osascript|perl|php|python|ruby"

#: Coarse on purpose. What is taken for one of these without being one is refused only
#: together with a value that is not plain.
_READS_AGAIN = re.compile(
    r"""\(\(|\[\[|\$\[         # arithmetic, also by way of a subscript
    |\$\{[\#!]?\w+[:\[]|\$\{!  # a subscript, an offset, a variable named by another
    |\b(?:alias|declare|eval|let|local|mapfile|read|readonly|source|trap|typeset|unset)\b
    |\s-v\b                    # test -v, printf -v
    |\b[gmn]?awk\b|\b(?:find|flock|parallel|ssh|su|watch|xargs)\b
    |\b(?:bc|dc|ed|ex|g?make|m4|g?sed|vim?)\b  # a script as an argument or on stdin
    |(?:^|[;&|({\n])\s*\.\s      # the shell's own reading of a script
    |<\(|<<<                   # a script from what is written in the command
    |\|[^;|&\n]*\b(?:\w*sh|INTERPRETERS)[\d.]*\b  # a script from a pipe
    |\b(?:\w*sh|INTERPRETERS)[\d.]*\b
     [^;|&\n]*\s--?[a-z]*[cepr]  # sh -c, node -p, php -r, perl --eval
    """.replace("INTERPRETERS", _INTERPRETERS),
    re.VERBOSE | re.IGNORECASE,
)

_PLAIN = re.compile(r"[A-Za-z0-9 _.,:/@%+=-]*")

_BLANK = " \t\n"
_DOUBLE, _BRACED = "double", "braced in double"
_CLOSES = {_DOUBLE: '"', _BRACED: "}"}
_CANNOT_FOLLOW = "stands in a command whose quotes cannot be followed"


def is_plain(value: str) -> bool:
    """Tell whether a value is harmless even to what reads it as code.

    >>> is_plain(".planning/phases/03-sea wall"), is_plain("a[$(touch x)]")
    (True, False)
    """
    return _PLAIN.fullmatch(value) is not None


def reads_again(command: str) -> bool:
    """Tell whether a command names a value and may read it as code.

    >>> reads_again('test $(( ${PHASE_NUMBER} + 1 )) -gt 3')
    True
    >>> reads_again('test -e "${PHASE_DIR}/PLAN.md"')
    False
    """
    if _NAME.search(command) is None:
        return False
    return _READS_AGAIN.search(command) is not None


def unexpanded(command: str) -> str | None:
    """Return why a placeholder would not be expanded, or None when each one is.

    In doubt there is a reason: a command that is refused can be written more plainly.

    >>> unexpanded('test -e "${PHASE_DIR}/PLAN.md"')
    >>> unexpanded("test -e '${PHASE_DIR}/PLAN.md'")
    'stands in single quotes, where a shell expands nothing'

    Cost: grows with the command.
    """
    if _PLACEHOLDER.search(command) is None:
        return None
    # What `case` writes has parentheses that close and never open.
    if "$(" in command and re.search(r"\bcase\b", command):
        return _CANNOT_FOLLOW
    return _Walk(command).reason()


class _Walk:
    """One walk along a command, from quote to quote."""

    def __init__(self, text: str) -> None:
        self.text = text
        #: What is open, the innermost last: what closes it, or a name of ours.
        self.open: list[str] = []
        self.at = 0
        #: Where the last escape ended.
        self.escaped = -1

    def reason(self) -> str | None:
        while self.at < len(self.text):
            inside = self.open[-1] if self.open else ""
            placeholder = _PLACEHOLDER.match(self.text, self.at)
            if placeholder:
                self.at = placeholder.end()
                continue
            char = self.text[self.at]
            if char == "\\":
                reason = self._escape()
            elif inside in {_DOUBLE, _BRACED}:
                reason = self._quoted(char, inside)
            else:
                reason = self._bare(char, inside)
            if reason:
                return reason
        return _CANNOT_FOLLOW if self.open else None

    def _escape(self) -> str | None:
        if _PLACEHOLDER.match(self.text, self.at + 1):
            return "stands behind a backslash, where a shell expands nothing"
        # Inside backquotes a backslash means one thing more than elsewhere.
        if "`" in self.open:
            return _CANNOT_FOLLOW
        # A line that goes on in the next may join two halves of a word, or of `$(`.
        if self.text.startswith("\n", self.at + 1) and not self._follows(_BLANK):
            return _CANNOT_FOLLOW
        self.at += 2
        self.escaped = self.at
        return None

    def _quoted(self, char: str, inside: str) -> str | None:
        # What quotes mean in `"${x...}"` depends on what is done with the variable.
        if inside == _BRACED and char in "'\"":
            return _CANNOT_FOLLOW
        if char == _CLOSES[inside]:
            self.open.pop()
        elif self._opens(char, _BRACED):
            return None
        elif char == "`":
            return self._tick()
        self.at += 1
        return None

    def _opens(self, char: str, brace: str) -> bool:
        if char != "$" or self.text[self.at + 1 : self.at + 2] not in {"(", "{"}:
            return False
        self.open.append(")" if self.text[self.at + 1] == "(" else brace)
        self.at += 2
        return True

    def _tick(self) -> str | None:
        if self.open and self.open[-1] == "`":
            self.open.pop()
        elif "`" in self.open:
            return _CANNOT_FOLLOW
        else:
            self.open.append("`")
        self.at += 1
        return None

    def _bare(self, char: str, inside: str) -> str | None:
        if char == "'":
            return self._single()
        if self.text.startswith(("<<", "$'"), self.at):
            return (
                "stands in a command with a here-document, which may expand nothing"
                if char == "<"
                else _CANNOT_FOLLOW
            )
        if char == "#" and (self.at == self.escaped or self._follows(")`")):
            # Only a parser of the whole can tell a comment from a word that goes on.
            return _CANNOT_FOLLOW
        if char == "#" and (self.at == 0 or self._follows(_BLANK + ";&|(")):
            return self._comment()
        if self._opens(char, "}"):
            return None
        if char == "`":
            return self._tick()
        if char == '"':
            self.open.append(_DOUBLE)
        elif char == "(":
            self.open.append(")")
        elif char == inside:
            self.open.pop()
        elif char == ")" and inside:
            return _CANNOT_FOLLOW
        self.at += 1
        return None

    def _single(self) -> str | None:
        end = self.text.find("'", self.at + 1)
        if end < 0:
            return _CANNOT_FOLLOW
        if _PLACEHOLDER.search(self.text, self.at, end):
            return "stands in single quotes, where a shell expands nothing"
        self.at = end + 1
        return None

    def _follows(self, characters: str) -> bool:
        """Tell whether the character before is one of some."""
        return self.at > 0 and self.text[self.at - 1] in characters

    def _comment(self) -> str | None:
        if self.open:
            return _CANNOT_FOLLOW
        end = self.text.find("\n", self.at)
        self.at = len(self.text) if end < 0 else end
        return None
