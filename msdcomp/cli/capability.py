"""`msd capability`: what is there, and every change of what is installed."""

from __future__ import annotations

import argparse
import importlib

from msdcomp.cli.common import Parser

__all__ = ["VERBS", "configure", "run"]

#: Verb -> the module of this package that does it, and one line about it.
VERBS = {
    "list": ("listing", "list every capability, composed or left out"),
    "state": ("state", "tell how far each capability gets, and what stops it"),
    "install": ("install", "fetch a capability, show it, ask, and put it in place"),
    "update": ("update", "fetch what is installed once more"),
    "remove": ("remove", "remove a capability, whatever state it is in"),
    "enable": ("enable", "put a capability on the surface"),
    "disable": ("disable", "hold a capability back without removing it"),
    "set": ("setting", "set the switches of a capability, and whether it is shown"),
    "trust": ("trust", "agree to an overlay of this project, list, take it back"),
    "outdated": ("outdated", "compare what is installed with what its source offers"),
    "doctor": ("doctor", "look for what is not as it should be, and say what to do"),
    "reconcile": ("reconcile", "finish or undo what a killed command has left"),
}


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the verb and whatever follows it.

    Only the module of the verb that was asked for is imported, so the arguments are
    read by a parser of its own.
    """
    width = max(map(len, VERBS))
    listing = "\n".join(
        f"  {verb:{width}}  {line}" for verb, (_, line) in VERBS.items()
    )
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = f"verbs:\n{listing}\n\n`msd capability VERB --help` tells more."
    # All that follows is the verb's, a `--` before a name with a dash included.
    parser.add_argument(
        "words", nargs=argparse.PARSER, choices=VERBS, metavar="VERB", help="see below"
    )


def run(options: argparse.Namespace) -> int:
    """Do what the verb says."""
    verb, *rest = options.words
    name, line = VERBS[verb]
    module = importlib.import_module(f"msdcomp.cli.{name}")
    own = Parser(
        prog=f"msd capability {verb}",
        description=f"{line[0].upper()}{line[1:]}.",
        allow_abbrev=False,
    )
    module.configure(own)
    return int(module.run(own.parse_args(rest)))
