"""The one place that states the version of the library."""

__version__ = "0.1.0"
