"""`msd capability enable`: put a capability on the surface."""

from __future__ import annotations

import argparse

from msdcomp.cli.switching import configure_switch, run_switch

__all__ = ["configure", "run"]

configure = configure_switch


def run(options: argparse.Namespace) -> int:
    """Enable it; the exit code says whether that could be written."""
    return run_switch(options, on=True)
