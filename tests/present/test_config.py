"""What a person is told of a change that did not come to what was wished."""

from __future__ import annotations

from msdcomp.configlayers import ConfigLayers, Origin, Unreadable
from msdcomp.configreading import read
from msdcomp.configschema import ConfigSchema
from msdcomp.configwriting import ConfigChange, ConfigEdit, effect
from msdcomp.present.config import change_wire, render_change, render_origin
from msdcomp.present.page import Screen

FILE = ".planning/config.json"
EDIT = ConfigEdit(key="mode", value=1)


def _change(layers: ConfigLayers) -> ConfigChange:
    one = effect(EDIT, read("mode", layers, ConfigSchema()), Origin.PROJECT)
    return ConfigChange(file=FILE, written=True, effects=(one,))


def test_a_layer_above_is_said_to_decide() -> None:
    layers = ConfigLayers(
        workstream={"mode": 2}, project={"mode": 1}, workstream_file="w.json"
    )
    change = _change(layers)
    assert render_change(change, Screen()) == (
        "mode is now 2, from w.json\n  w.json decides before .planning/config.json\n"
    )
    (wire,) = change_wire(change)["effects"]
    assert (wire["took"], wire["value"], wire["file"]) == (False, 2, "w.json")


def test_a_layer_above_that_cannot_be_read_is_named() -> None:
    layers = ConfigLayers(
        workstream=Unreadable("line 1"), project={"mode": 1}, workstream_file="w.json"
    )
    assert render_change(_change(layers), Screen()) == (
        "mode is now could not check: w.json cannot be read (line 1)\n"
        "  nobody can know whether it counts\n"
    )


def test_no_word_of_a_file_reaches_the_terminal_as_it_is() -> None:
    hostile = "a\x1b[31m\u202e`\n"
    layers = ConfigLayers(
        explicit={"mode": hostile}, project=Unreadable(hostile), project_file=hostile
    )
    told = render_origin(read("mode", layers, ConfigSchema()), Screen())
    other = render_origin(
        read(hostile, ConfigLayers(project={hostile: 1}), ConfigSchema()), Screen()
    )
    for text in (told, other):
        assert all(char.isprintable() or char == "\n" for char in text)


def test_a_long_value_is_cut() -> None:
    layers = ConfigLayers(project={"mode": "x" * 500})
    line = render_origin(read("mode", layers, ConfigSchema()), Screen())
    assert line.startswith(f'mode: "{"x" * 56}..., from .planning/config.json')
