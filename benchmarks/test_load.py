"""Loading: overlay roots on a disk -> a composition.

Cold is without the cache of scanned manifests, warm with it.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from kit import HomeOf, Timed

from msdcomp import load_registry


@pytest.mark.parametrize("cache", ["cold", "warm"])
def test_load(
    timed: Timed,
    home_of: HomeOf,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    count: int,
    dirty: bool,
    cache: str,
) -> None:
    home = home_of(count, dirty=dirty)
    monkeypatch.delenv("MSD_NO_CACHE", raising=False)
    if cache == "cold":
        monkeypatch.setenv("MSD_NO_CACHE", "1")
    else:
        load_registry(home=home, project=tmp_path)
    composed = timed(lambda: load_registry(home=home, project=tmp_path))
    assert len(composed.accepted) + len(composed.warnings) == count
    assert bool(composed.warnings) is (dirty and count > 0)
