"""`msd capability disable`: hold a capability back without removing it."""

from __future__ import annotations

import argparse

from msdcomp.cli.switching import configure_switch, run_switch

__all__ = ["configure", "run"]

configure = configure_switch


def run(options: argparse.Namespace) -> int:
    """Disable it; the exit code says whether that could be written."""
    return run_switch(options, on=False)
