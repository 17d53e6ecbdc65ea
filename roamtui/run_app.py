"""Opens the app: what its first screen shows is made at once, all else when that screen stands."""

from __future__ import annotations

import gc
import os
import sys
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from roamtui.app_arguments import ConversationArguments, ModelArguments
from roamtui.conversation.state import begin_conversation
from roamtui.document.build import is_address, suggest_address
from roamtui.document.node import NodeKind
from roamtui.document.plain import plain_line
from roamtui.errors import UsageError
from roamtui.libraries import (
    attach_remote_summaries,
    open_library,
    open_partly,
    read_changed,
    read_with_pages,
    shorten_notes,
)
from roamtui.locations import themes_path
from roamtui.search.options import RetrievalOptions
from roamtui.settings import Settings, load_settings

if TYPE_CHECKING:
    from collections.abc import Callable

    from roamtui.app_arguments import AppArguments
    from roamtui.conversation.state import ConversationState
    from roamtui.document.library import Library
    from roamtui.document.loader import Loader
    from roamtui.tui.context import AppContext

_OFFLINE = "offline"


def run_app(arguments: AppArguments) -> int:
    """Show the app until the person leaves it, and return the exit status.

    Raises:
        RoamtuiError: Something that was named cannot be used; told before the screen is touched.
    """
    settings = load_settings().retrieve_with(arguments.retrieval)
    arguments = _ask_for_address(arguments)
    if _is_plain_wanted(arguments) and not _is_in_browser():
        return _run_plain(arguments, settings)
    if not arguments.sources and _has_screen():
        from roamtui.run_start import choose_source  # noqa: PLC0415 - only where no document is named

        chosen = choose_source(arguments, settings)
        if chosen is None:
            return 0
        arguments, (library, loader) = chosen
    else:
        is_whole = _needs_whole_text(arguments, settings)
        library, loader = open_partly(arguments.sources, is_whole=is_whole, web=arguments.web)
    library = attach_remote_summaries(library, settings.retrieval.index)
    if "-" in arguments.sources:
        _read_keys_from_terminal()
    if not _has_screen():
        raise UsageError("the app needs a terminal. Elsewhere use `roamtui ask SOURCE QUESTION` or `roamtui outline`.")

    from roamtui.tui.app import run_app as show_app  # noqa: PLC0415 - Textual is imported for the app alone
    from roamtui.tui.context import FirstContext, TuiOptions  # noqa: PLC0415

    state = begin_conversation(library, settings.keep_options(arguments.conversation.keep_open))
    first = FirstContext(
        first_state=state,
        model_name=arguments.model.model or settings.model,
        options=TuiOptions(
            theme=settings.theme,
            keys={action: (keys,) for action, keys in settings.keys.items()},
            themes_dirs=(themes_path(),),
        ),
        make_whole=partial(_make_context, state, loader, arguments, settings),
    )
    if not _can_wait(arguments, settings):
        _ = first.whole
    exit_code = show_app(first)
    if first.is_whole and first.whole.agent.session.save_failure:
        from roamtui.headless.output import write_note  # noqa: PLC0415 - not for the first screen

        write_note(f"roamtui: {first.whole.agent.session.save_failure}")
    return exit_code


def _ask_for_address(arguments: AppArguments) -> AppArguments:
    """Return the arguments with an address in place of a bare name that is no file, where the person means that."""
    address = suggest_address(arguments.sources[0]) if len(arguments.sources) == 1 else None
    if address is None or not (sys.stdin.isatty() and sys.stdout.isatty()):
        return arguments
    question = f"There is no file {plain_line(arguments.sources[0])}. Open {plain_line(address)}? [y/N] "
    try:
        is_meant = input(question).strip().lower() in ("y", "yes")
    except EOFError:
        is_meant = False
    return replace(arguments, sources=(address,)) if is_meant else arguments


def _run_plain(arguments: AppArguments, settings: Settings) -> int:
    from roamtui.run_asking import run_plain  # noqa: PLC0415 - each command its own

    gc.enable()
    library, loader = open_partly(arguments.sources, is_whole=True, web=arguments.web)
    library = attach_remote_summaries(library, settings.retrieval.index)
    if "-" in arguments.sources:
        _read_keys_from_terminal()
    return run_plain(library, loader, arguments, settings)


def _is_plain_wanted(arguments: AppArguments) -> bool:
    """Return whether lines of text are wanted: asked for, or all that this terminal can show."""
    is_dumb = os.environ.get("TERM") == "dumb" and sys.stdin.isatty() and sys.stdout.isatty()
    return arguments.is_plain or is_dumb


def _has_screen() -> bool:
    """Return whether there is somewhere to show the app."""
    return _is_in_browser() or (sys.stdin.isatty() and sys.stdout.isatty())


def _is_in_browser() -> bool:
    """Return whether `roamtui serve` started this program, which then has no terminal of its own."""
    return "web_driver" in os.environ.get("TEXTUAL_DRIVER", "")


def _needs_whole_text(arguments: AppArguments, settings: Settings) -> bool:
    """Return whether a conversation, a trace's digest or a search by vectors needs the text before the app starts."""
    if settings.retrieval.needs_vectors:
        return True
    is_resumed = arguments.conversation.is_continued or arguments.conversation.conversation_id is not None
    return is_resumed or arguments.model.trace is not None or (arguments.model.model or "").startswith("recorded")


def _can_wait(arguments: AppArguments, settings: Settings) -> bool:
    """Return whether nothing was named that may have to be refused before the screen is touched."""
    conversation = ConversationArguments(keep_open=arguments.conversation.keep_open)
    model = ModelArguments(model=arguments.model.model, api_base=None, max_cost_usd=arguments.model.max_cost_usd)
    is_offline = (arguments.model.model or settings.model) == _OFFLINE
    is_search_plain = settings.retrieval == RetrievalOptions()
    return is_offline and is_search_plain and arguments.model == model and arguments.conversation == conversation


def _make_context(
    state: ConversationState, loader: Loader | None, arguments: AppArguments, settings: Settings
) -> AppContext:
    """Return all that the app works with."""
    from roamtui.app_options import choose_reader, make_tui_options  # noqa: PLC0415 - not for the first screen
    from roamtui.assembly import (  # noqa: PLC0415 - not for the first screen
        check_preferences,
        check_recording,
        make_agent,
        make_model_for,
        open_session,
        open_store,
        propose_examples,
    )
    from roamtui.headless.output import EmbeddingProgress  # noqa: PLC0415
    from roamtui.sources.watching import FileStamps  # noqa: PLC0415
    from roamtui.tui.context import AppContext  # noqa: PLC0415

    library = state.library
    model = make_model_for(arguments.model, settings)
    notes = [*settings.notes, *shorten_notes(library.notes), *check_recording(model, library), *check_preferences()]
    session = open_session(state, open_store(notes.append), arguments.conversation, loader)
    agent = make_agent(session, model, arguments.model, settings, notes.append, (progress := EmbeddingProgress()))
    if settings.retrieval.needs_vectors and agent.searcher is not None:
        agent.searcher.search("")  # embeds all sections while the terminal can still show how far that is
    progress.mute()
    is_of_many = library.root.columns.has_files
    context = AppContext(
        agent=agent,
        options=make_tui_options(settings, arguments.model, propose_examples(model, library)),
        read_again=choose_reader(library, partial(_read_again, arguments, settings)),
        read_changed=_choose_reading(library, arguments),
        look=FileStamps(arguments.sources).look if is_of_many else None,
        is_watching=arguments.is_watching,
        notes=tuple(notes),
    )
    gc.freeze()  # all that was loaded stays: the collector need not look at it
    gc.enable()
    return context


def _choose_reading(library: Library, arguments: AppArguments) -> Callable[[Library, frozenset[str]], Library] | None:
    """Return what reads a library once more that is more than one file: files that changed, or pages of the web."""
    if library.root.columns.has_files:
        return partial(read_changed, arguments.sources, arguments.web)
    if is_address(library.source) or NodeKind.LINK in library.root.columns.kinds:
        return partial(read_with_pages, arguments.sources, arguments.web)
    return None


def _read_again(arguments: AppArguments, settings: Settings) -> Library:
    """Return the library as it is now."""
    return attach_remote_summaries(open_library(arguments.sources, arguments.web), settings.retrieval.index)


def _read_keys_from_terminal() -> None:
    """Read the keyboard from the terminal once the document came through standard input."""
    try:
        terminal = os.open("/dev/tty", os.O_RDONLY)
    except OSError:
        raise UsageError("the app needs a terminal for its keys. Use `roamtui ask - QUESTION` without one.") from None
    os.dup2(terminal, 0)
    os.close(terminal)
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115 - open for the program's life
