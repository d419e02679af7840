"""The one place that states the version of the library, and that of its host."""

__version__ = "0.1.0"

#: Version of the host that the shipped capabilities belong to.
DEFAULT_HOST_VERSION = "1.11.0"
