"""Fetching a bundle into a staging folder, without running or trusting any of it."""

from msdcomp.edge.sources.fetch import enumerates, fetch, latest, versions
from msdcomp.edge.sources.options import Fetched, Latest, Options

__all__ = [
    "Fetched",
    "Latest",
    "Options",
    "enumerates",
    "fetch",
    "latest",
    "versions",
]
