"""Codes of a host contract that no loop could follow."""

from __future__ import annotations

from msdcomp.codes._code import Code

_FILE = 'docs/reference/host-contract.md, "A contract of your own"'

CONTRACT: tuple[Code, ...] = (
    Code(
        "contract-incomplete",
        "A host contract leaves out one of the phases or points of the loop.",
        "Add it; a point that dispatches nothing has an empty list of kinds.",
        _FILE,
    ),
    Code(
        "contract-order",
        "The phases of a host contract, or the points of a phase, are not in the "
        "order of the loop.",
        "List them in the order in which they are reached.",
        _FILE,
    ),
    Code(
        "point-of-other-phase",
        "A phase lists a point that belongs to another phase.",
        "Move the point to its own phase.",
        _FILE,
    ),
    Code(
        "role-of-other-family",
        "A phase publishes an agent role of a family that is not its own.",
        "Publish roles of the phase's own family only.",
        _FILE,
    ),
    Code(
        "artefact-left-twice",
        "Two phases of a host contract leave the same artefact.",
        "Let one phase leave it, and the others read it.",
        _FILE,
    ),
    Code(
        "artefact-not-left",
        "A phase of a host contract reads an artefact that no earlier phase leaves.",
        "Let an earlier phase leave it, or drop it from what the phase reads.",
        _FILE,
    ),
)
