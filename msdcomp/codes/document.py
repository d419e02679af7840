"""Codes of a text that is no strict JSON, or of a value that could not be JSON."""

from __future__ import annotations

from msdcomp.codes._code import Code

_STRICT = 'docs/reference/wire-format.md, "Strict JSON"'

DOCUMENT: tuple[Code, ...] = (
    Code(
        "json-syntax",
        "The text stops being JSON at the place named.",
        "Correct the text there; comments, single quotes and trailing commas are not "
        "JSON.",
        _STRICT,
    ),
    Code(
        "invalid-utf8",
        "The bytes are not UTF-8, so a character cannot be read with certainty.",
        "Save the file as UTF-8 without a byte order mark.",
        _STRICT,
    ),
    Code(
        "byte-order-mark",
        "The text starts with a byte order mark, which JSON does not allow.",
        "Save the file as UTF-8 without a byte order mark.",
        _STRICT,
    ),
    Code(
        "duplicate-key",
        "An object names the same key twice, and readers disagree about which counts.",
        "Keep one of the two and delete the other.",
        _STRICT,
    ),
    Code(
        "not-finite",
        "A number is NaN or infinite, or too large for a double.",
        "Write a finite number, or a string if no number is meant.",
        _STRICT,
    ),
    Code(
        "integer-too-large",
        "An integer lies beyond 2^53, where a JavaScript host would round it.",
        "Use a smaller number, or write the digits as a string.",
        _STRICT,
    ),
    Code(
        "lone-surrogate",
        "A string holds half of a surrogate pair, which is no character.",
        "Write the whole character, or its complete pair of \\u escapes.",
        _STRICT,
    ),
    Code(
        "too-deep",
        "The document nests deeper than 200 levels.",
        "Flatten the document; no field of a manifest needs more than ten levels.",
        _STRICT,
    ),
    Code(
        "too-large",
        "The document is larger than 8 MiB.",
        "Move long text into fragment files; a manifest takes a few kilobytes.",
        _STRICT,
    ),
    Code(
        "not-an-object",
        "The document is JSON, but not one object.",
        "Put the fields of the manifest between one pair of braces.",
        _STRICT,
    ),
    Code(
        "not-json-value",
        "A value given in memory has no counterpart in JSON.",
        "Use dict, list, str, int, float, bool and None only.",
        _STRICT,
    ),
    Code(
        "key-not-string",
        "A key given in memory is not a string.",
        "Make every key a string.",
        _STRICT,
    ),
    Code(
        "cyclic-value",
        "A value given in memory contains itself.",
        "Break the cycle; JSON can only hold trees.",
        _STRICT,
    ),
    Code(
        "too-many-problems",
        "The document has more faults than are listed.",
        "Correct the faults listed and check again.",
        _STRICT,
    ),
)
