"""Lets a person who named no document choose one on the start screen."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from roamtui.document.build import suggest_address
from roamtui.libraries import open_partly
from roamtui.locations import sites_path, themes_path

if TYPE_CHECKING:
    from roamtui.app_arguments import AppArguments
    from roamtui.document.library import Library
    from roamtui.document.loader import Loader
    from roamtui.settings import Settings
    from roamtui.tui.start.offers import StartOffer

Opened = tuple["Library", "Loader | None"]


def choose_source(arguments: AppArguments, settings: Settings) -> tuple[AppArguments, Opened] | None:
    """Return the arguments with what the person chose, and that opened; None where they left."""
    from roamtui.tui.context import TuiOptions  # noqa: PLC0415 - Textual is imported for the app alone
    from roamtui.tui.start.start_app import StartActions, choose_start  # noqa: PLC0415

    def open_source(source: str, is_whole: bool) -> Opened:  # noqa: FBT001 - as the start screen calls it
        return open_partly((source,), is_whole=is_whole or settings.retrieval.needs_vectors, web=arguments.web)

    options = TuiOptions(
        theme=settings.theme,
        keys={action: (keys,) for action, keys in settings.keys.items()},
        themes_dirs=(themes_path(),),
    )
    actions = StartActions(list_offers=_list_offers, open_source=open_source, suggest_address=suggest_address)
    started = choose_start(actions, options)
    if started is None:
        return None
    conversation = arguments.conversation
    if started.conversation_id is not None:
        conversation = replace(conversation, conversation_id=started.conversation_id, is_continued=False)
    return replace(arguments, sources=(started.source,), conversation=conversation), started.opened


def _list_offers() -> tuple[tuple[StartOffer, ...], str]:
    from roamtui.assembly import open_store  # noqa: PLC0415 - not for the first screen
    from roamtui.errors import StoreError  # noqa: PLC0415 - likewise
    from roamtui.tui.start.offers import list_offers  # noqa: PLC0415 - likewise

    problems: list[str] = []
    store = open_store(problems.append)
    try:
        summaries = store.list()
    except StoreError as error:
        problems.append(str(error))
        summaries = ()
    finally:
        store.close()
    offers, problem = list_offers(summaries, sites_path())
    return offers, " ".join([*problems, problem]).strip()
