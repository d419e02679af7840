"""`msd capability trust`: agree to an overlay of a project, list, take it back."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from msdcomp.canonical import pretty
from msdcomp.cli.asking import agrees
from msdcomp.cli.common import (
    add_json,
    announce,
    complain,
    screen_options,
    show,
    show_json,
    tell,
)
from msdcomp.cli.here import add_roots, are_folders
from msdcomp.edge.roots import Places, find_places
from msdcomp.safetext import is_capability_id, safe

if TYPE_CHECKING:
    from msdcomp.composition import Composition
    from msdcomp.edge.trusting import Offer

__all__ = ["configure", "run"]


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    parser.add_argument(
        "words",
        nargs="+",
        metavar="ID",
        help="the overlay to agree to; instead, `list` shows every agreement, and "
        "`revoke ID` takes the one about an overlay of this project back",
    )
    parser.add_argument(
        "--yes",
        action="store_true",
        help="agree without being asked, after it is shown",
    )
    add_roots(parser, "the consent store")
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    """Do what the words say."""
    if not are_folders(options):
        return 2
    places = find_places(None, options.home, options.project)
    if places.home is None:
        complain("there is no home to keep agreements in; name one with --home")
        return 2
    match options.words:
        case ["list"]:
            return _list(places.home, as_json=options.json)
        case ["revoke", capability_id]:
            return _revoke(places, places.home, capability_id, as_json=options.json)
        case [capability_id]:
            return _trust(places, places.home, capability_id, options)
        case _:
            complain("expected ID, `list` or `revoke ID`")
            return 2


def _is_id(text: str) -> bool:
    if is_capability_id(text):
        return True
    complain(f"{safe(text)} is no capability id")
    return False


def _trust(
    places: Places, home: str, capability_id: str, options: argparse.Namespace
) -> int:
    from msdcomp.edge.files import FileFault  # noqa: PLC0415 - only for this verb
    from msdcomp.edge.load import load_places  # noqa: PLC0415
    from msdcomp.edge.trusting import agree, look  # noqa: PLC0415

    if not _is_id(capability_id):
        return 2
    offer = look(places, capability_id)
    if isinstance(offer, FileFault):
        complain(f"{capability_id}: {offer.reason}")
        return 1
    _show(offer, as_json=options.json)
    if offer.disclosure.blockers:
        complain(f"{capability_id}: not agreed to, since the folder is not complete")
        return 1
    question = f"Agree to {capability_id} as it is now, in this project?"
    # A program was given no page that anybody could have read.
    if not (options.yes or (not options.json and agrees(question))):
        complain(
            f"{capability_id}: not agreed to; say --yes to agree where nobody is asked"
        )
        return 1
    record = agree(home, offer)
    if isinstance(record, FileFault):
        complain(f"the consent store was not changed: {record.reason}")
        return 2
    tell(f"msd: {_effect(load_places(places), capability_id)}")
    return 0


def _show(offer: Offer, *, as_json: bool) -> None:
    from msdcomp.present.disclosure import (  # noqa: PLC0415
        disclosure_wire,
        render_disclosure,
    )
    from msdcomp.present.page import Screen  # noqa: PLC0415

    if as_json:
        about = {
            "id": offer.capability_id,
            "path": offer.path,
            "contentHash": offer.content_hash,
        }
        wire = {**about, "disclosure": disclosure_wire(offer.disclosure)}
        announce(pretty(wire))
    else:
        announce(render_disclosure(offer.disclosure, Screen(**screen_options())))


def _effect(composition: Composition, capability_id: str) -> str:
    """Say what the agreement has changed, by looking again."""
    if capability_id in composition.accepted:
        return f"{capability_id} is agreed to, and takes part from now on"
    warnings = composition.warnings.get(("project", capability_id), ())
    reason = (
        safe(warnings[0].reason, 300) if warnings else "another one of that id does"
    )
    return f"{capability_id} is agreed to, but does not take part: {reason}"


def _list(home: str, *, as_json: bool) -> int:
    from msdcomp.edge.consent import list_consents  # noqa: PLC0415
    from msdcomp.edge.files import FileFault  # noqa: PLC0415
    from msdcomp.present.page import Page, Screen  # noqa: PLC0415

    found = list_consents(home)
    if isinstance(found, FileFault):
        complain(f"the consent store cannot be read: {found.reason}")
        return 2
    if as_json:
        show_json(
            [
                {
                    "id": record.id,
                    "scope": record.scope.value,
                    "projectRoot": record.project_root,
                    "contentHash": record.content_hash,
                    "consentedAt": record.consented_at,
                }
                for record in found
            ]
        )
        return 0
    page = Page(Screen(**screen_options()))
    if found:
        page.table(
            ("id", "scope", "project", "agreed"),
            [(r.id, r.scope.value, r.project_root, r.consented_at) for r in found],
        )
    else:
        page.line("nothing is agreed to")
    show(page.render())
    return 0


def _revoke(places: Places, home: str, capability_id: str, *, as_json: bool) -> int:
    from msdcomp.edge.consent import revoke_consent  # noqa: PLC0415
    from msdcomp.edge.files import FileFault  # noqa: PLC0415

    if not _is_id(capability_id):
        return 2
    if places.project is None:
        complain("there is no project here; name one with --project")
        return 2
    found = revoke_consent(home, places.project, capability_id)
    if isinstance(found, FileFault):
        complain(f"the consent store was not changed: {found.reason}")
        return 2
    if as_json:
        show_json({"id": capability_id, "revoked": found})
    elif found:
        show(f"{capability_id} is no longer agreed to in this project\n")
    else:
        show(f"{capability_id} was not agreed to in this project\n")
    return 0
