"""Records as text for a person: pure, from record to string.

A renderer is told what the terminal can do and asks nobody. Whatever comes from an
overlay passes `msdcomp.safetext.safe` on its way out.
"""

from __future__ import annotations

__all__: list[str] = []
