"""The public names: all there, imported on first use, and nothing else."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import msdcomp


@pytest.mark.parametrize("name", msdcomp.__all__)
def test_every_public_name_is_there(name: str) -> None:
    assert getattr(msdcomp, name) is not None
    assert name in dir(msdcomp)


def test_any_other_name_is_no_attribute() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'nonsense'"):
        _ = msdcomp.nonsense


@pytest.mark.parametrize(
    "name",
    [
        module.name
        for module in pkgutil.walk_packages(msdcomp.__path__, "msdcomp.")
        if module.name != "msdcomp.__main__"
    ],
)
def test_the_examples_in_docstrings_hold(name: str) -> None:
    assert doctest.testmod(importlib.import_module(name)).failed == 0
