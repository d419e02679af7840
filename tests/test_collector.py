"""Composing leaves the garbage collector as it found it."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from msdcomp.collector import collector_paused
from msdcomp.fold import compose
from msdcomp.registry import Registry


@pytest.fixture
def collector() -> Iterator[None]:
    yield
    gc.unfreeze()
    gc.enable()


@pytest.mark.usefixtures("collector")
@pytest.mark.parametrize("running", [True, False])
def test_it_is_off_meanwhile_and_as_it_was_afterwards(running: bool) -> None:
    (gc.enable if running else gc.disable)()

    with collector_paused():
        assert not gc.isenabled()
        with collector_paused():
            assert not gc.isenabled()
        assert not gc.isenabled()

    assert gc.isenabled() is running
    compose(Registry(), [])
    assert gc.isenabled() is running


@pytest.mark.usefixtures("collector")
def test_it_comes_back_when_something_raises() -> None:
    gc.enable()

    with pytest.raises(ZeroDivisionError), collector_paused():
        raise ZeroDivisionError

    assert gc.isenabled()


@pytest.mark.usefixtures("collector")
def test_objects_that_somebody_froze_stay_frozen() -> None:
    gc.enable()
    gc.freeze()
    frozen = gc.get_freeze_count()
    assert frozen

    with collector_paused():
        made = [[number] for number in range(1000)]

    assert len(made) == 1000
    assert gc.get_freeze_count() >= frozen - 1000
    assert gc.get_freeze_count() > 0


@pytest.mark.usefixtures("collector")
def test_what_was_made_counts_as_old() -> None:
    gc.enable()
    gc.collect()

    with collector_paused():
        made = [[number] for number in range(50_000)]

    assert sum(gc.get_count()) < len(made) / 10
