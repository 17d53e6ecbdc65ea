"""Opens the app: the first screen immediately, everything else once it is visible.

Without a document, the start screen comes first.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from roamtui.conversation.state import ConversationState, start_conversation
from roamtui.document.library import Library
from roamtui.document.loader import Loader, is_url, suggest_url
from roamtui.document.loading import LoadingOptions
from roamtui.document.plain import sanitise_line
from roamtui.errors import UsageError
from roamtui.library_loader import (
    fetch_picture,
    make_loading_options,
    open_lazily,
    reload_library,
)
from roamtui.paths import config_path, sites_path, themes_path
from roamtui.search.options import RetrievalOptions
from roamtui.settings import ConversationArguments, Settings, load_settings, save_settings
from roamtui.sources.file_sources import split_sources

if TYPE_CHECKING:
    from roamtui.models.base import Model
    from roamtui.sources.convert.converted import PageReport
    from roamtui.table.runner import TableJob
    from roamtui.tui.context import (  # Textual is imported only for the app
        AppContext,
        StartOffer,
        StartupContext,
        TuiOptions,
    )

_OFFLINE = "offline"
_NOTES_SHOWN = 5
_TABLE_JOBS = 4
"""Number of table cells that the app fills at a time."""
_NO_TERMINAL = "the app needs a terminal. Use `roamtui ask SOURCE QUESTION` or `roamtui outline` instead."


@dataclass(frozen=True, slots=True, kw_only=True)
class AppArguments:
    """What to open in the app, and how."""

    sources: tuple[str, ...] = ()
    loading: LoadingOptions = field(default_factory=make_loading_options)
    overrides: Mapping[str, object] = field(default_factory=dict)
    """Settings of the command line, by their keys."""
    conversation: ConversationArguments = field(default_factory=ConversationArguments)
    is_plain: bool = False
    is_watching: bool = False


def run_app(arguments: AppArguments) -> int:
    """Run the app until the person quits, and return the exit status.

    Raises:
        RoamtuiError: An argument cannot be used. The screen has not changed yet.
    """
    settings = load_settings(arguments.overrides)
    arguments = _confirm_url(arguments)
    if _should_run_plain(arguments) and not _is_in_browser():
        return _run_plain(arguments, settings)
    startup, table = None, arguments.sources[0] if _has_screen() and _is_table(arguments.sources) else ""
    if not table and (arguments.sources or not _has_screen()):
        startup = _open_initial_document(arguments, settings)
        if "-" in arguments.sources:
            _reattach_terminal()
        if not _has_screen():
            raise UsageError(_NO_TERMINAL)
        _validate_arguments_eagerly(startup, arguments, settings)
    from roamtui.tui.app import RoamApp
    from roamtui.tui.app import run_until_exit as show_app
    from roamtui.tui.context import DocumentOpener

    opener = DocumentOpener(
        list_offers=_list_offers,
        open_source=partial(_open_document, arguments, settings),
        suggest_url=suggest_url,
        save_settings=partial(save_settings, config_path()),
        open_table=partial(_open_table, arguments, settings),
    )
    app = RoamApp(startup, opener, _make_initial_options(settings), table)
    exit_code, failures = show_app(app)
    if failures:
        from roamtui.headless.output import write_notice

        for failure in failures:
            write_notice(f"roamtui: {failure}")
    return exit_code


def _open_initial_document(
    arguments: AppArguments, settings: Settings, model: Model | None = None, report: PageReport | None = None
) -> StartupContext:
    # `model` replaces the model of the settings.
    # A resumed conversation and vector search need the text before the app starts.
    load_all = settings.retrieval.needs_vectors or arguments.conversation != ConversationArguments()
    index = settings.retrieval.index
    library, loader = open_lazily(arguments.sources, arguments.loading, load_all=load_all, index=index, report=report)
    from roamtui.tui.context import StartupContext

    state = start_conversation(library, settings.open_section_options())
    return StartupContext(
        initial_state=state,
        model_name=settings.model if model is None else model.name,
        options=_make_initial_options(settings),
        make_app_context=partial(_make_context, state, loader, arguments, settings, model),
    )


def _validate_arguments_eagerly(startup: StartupContext, arguments: AppArguments, settings: Settings) -> None:
    # Builds the whole app context early if an argument may have to be rejected before the screen changes.
    is_new = arguments.conversation == ConversationArguments()
    is_offline = settings.model == _OFFLINE and "api_base" not in arguments.overrides
    if not (is_new and is_offline and settings.retrieval == RetrievalOptions()):
        _ = startup.app_context


def _open_document(
    arguments: AppArguments,
    settings: Settings,
    source: str,
    conversation_id: str | None,
    model: Model | None,
    report: PageReport,
) -> StartupContext:
    # Implements `DocumentOpener.open_source`.
    from roamtui.tui.screens import main  # noqa: F401 - loaded here, in a thread

    sources = split_sources(source)
    conversation = arguments.conversation
    if conversation_id is not None or model is not None or arguments.sources not in ((), sources):
        conversation = ConversationArguments(conversation_id=conversation_id)
    arguments = replace(arguments, sources=sources, conversation=conversation)
    startup = _open_initial_document(arguments, settings, model, report)
    _validate_arguments_eagerly(startup, arguments, settings)
    return startup


def _is_table(sources: tuple[str, ...]) -> bool:
    if len(sources) != 1 or not Path(sources[0]).is_dir():
        return False
    from roamtui.table.store import is_table

    return is_table(Path(sources[0]))


def _open_table(arguments: AppArguments, settings: Settings, sources: tuple[str, ...]) -> TableJob:
    # Implements `DocumentOpener.open_table`.
    from roamtui.table_setup import TableOptions, prepare_table

    return prepare_table(sources, (), settings, arguments.loading, TableOptions(jobs=_TABLE_JOBS))


def _confirm_url(arguments: AppArguments) -> AppArguments:
    # A name without a file may be a URL without its https://.
    url = suggest_url(arguments.sources[0]) if len(arguments.sources) == 1 else None
    if url is None or not (sys.stdin.isatty() and sys.stdout.isatty()):
        return arguments
    question = f"There is no file {sanitise_line(arguments.sources[0])}. Open {sanitise_line(url)}? [y/N] "
    try:
        is_confirmed = input(question).strip().lower() in ("y", "yes")
    except EOFError:
        is_confirmed = False
    return replace(arguments, sources=(url,)) if is_confirmed else arguments


def _run_plain(arguments: AppArguments, settings: Settings) -> int:
    gc.enable()
    index = settings.retrieval.index
    library, loader = open_lazily(arguments.sources, arguments.loading, load_all=True, index=index)
    if "-" in arguments.sources:
        _reattach_terminal()
    from roamtui.headless.plain_chat import PlainChat
    from roamtui.models.registry import make_model
    from roamtui.wiring import build_agent, choose_example_questions

    agent = build_agent(
        start_conversation(library, settings.open_section_options()),
        loader,
        settings,
        arguments.conversation,
        loading=arguments.loading,
    )
    chat = PlainChat(
        agent,
        choose_model=lambda name: make_model(name, options=settings.model_options(name)),
        notes=library.notes,
        examples=choose_example_questions(agent.model, library),
    )
    return chat.run()


def _list_offers() -> tuple[tuple[StartOffer, ...], str]:
    from roamtui.errors import StoreError
    from roamtui.tui.offers import list_offers
    from roamtui.wiring import open_store

    problems: list[str] = []
    store = open_store(problems.append)
    try:
        summaries = store.list()
    except StoreError as error:
        problems.append(str(error))
        summaries = ()
    offers, problem = list_offers(summaries, sites_path())
    return offers, " ".join([*problems, problem]).strip()


def _make_initial_options(settings: Settings) -> TuiOptions:
    from roamtui.tui.context import TuiOptions
    from roamtui.tui.image_mode import ImageMode

    return TuiOptions(
        theme=settings.theme,
        image_mode=ImageMode(settings.images),
        keys={action: (keys,) for action, keys in settings.keys.items()},
        themes_dirs=(themes_path(),),
        save_settings=partial(save_settings, config_path()),
    )


def _should_run_plain(arguments: AppArguments) -> bool:
    # Plain text is requested, or the terminal cannot show anything else.
    is_dumb = os.environ.get("TERM") == "dumb" and sys.stdin.isatty() and sys.stdout.isatty()
    return arguments.is_plain or is_dumb


def _has_screen() -> bool:
    return _is_in_browser() or (sys.stdin.isatty() and sys.stdout.isatty())


def _is_in_browser() -> bool:
    # `roamtui serve` starts this program without a terminal.
    return "web_driver" in os.environ.get("TEXTUAL_DRIVER", "")


def _make_context(
    state: ConversationState, loader: Loader | None, arguments: AppArguments, settings: Settings, model: Model | None
) -> AppContext:
    from roamtui.headless.output import EmbeddingProgress
    from roamtui.sources.file_sources import FileStamps
    from roamtui.tui.context import AppContext
    from roamtui.wiring import build_agent, choose_example_questions

    library = state.library
    notes = [*library.notes]
    if (more := len(library.notes) - _NOTES_SHOWN) > 1:
        notes[-more:] = [f"{more} more notes on the files."]
    progress = EmbeddingProgress()
    agent = build_agent(state, loader, settings, arguments.conversation, notes.append, progress, arguments.loading)
    if model is not None:
        agent.model = model
    if settings.retrieval.needs_vectors and agent.searcher is not None:
        agent.searcher.search("")  # embeds all sections while the terminal can still show progress
    progress.is_muted = True
    context = AppContext(
        agent=agent,
        options=replace(
            _make_options(settings, choose_example_questions(agent.model, library)),
            fetch_picture=partial(fetch_picture, arguments.loading),
        ),
        reload_library=_make_reloader(library, arguments),
        read_stamps=FileStamps(arguments.sources).read if library.root.columns.has_files else None,
        reload_on_change=arguments.is_watching,
        notices=tuple(notes),
    )
    gc.freeze()  # everything loaded so far stays, so collections need not scan it
    gc.enable()
    return context


def _make_options(settings: Settings, examples: tuple[str, ...]) -> TuiOptions:
    from roamtui.wiring import discover_local_models, list_model_offers, make_named_model

    return replace(
        _make_initial_options(settings),
        examples=examples,
        model_offers=list_model_offers(settings),
        discover_models=partial(discover_local_models, settings),
        make_model=partial(make_named_model, settings),
    )


def _make_reloader(library: Library, arguments: AppArguments) -> Callable[[Library, frozenset[str]], Library] | None:
    from roamtui.sources.file_sources import stamp_source

    if library.source == "-" or not (
        library.root.columns.has_files or is_url(library.source) or stamp_source(library.source)
    ):
        return None  # standard input cannot be read twice
    return partial(reload_library, sources=arguments.sources, options=arguments.loading)


def _reattach_terminal() -> None:
    # The document came through standard input, so the keyboard must come from the terminal.
    name, flags = ("CONIN$", os.O_RDWR) if os.name == "nt" else ("/dev/tty", os.O_RDONLY)
    try:
        terminal = os.open(name, flags)
    except OSError:
        raise UsageError("the app needs a terminal for its keys. Use `roamtui ask - QUESTION` without one.") from None
    os.dup2(terminal, 0)
    os.close(terminal)
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115 - open for the program's life
