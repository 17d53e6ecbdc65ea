"""Runs the commands that search, or ask a model: they load far more than one that only reads a document."""

from __future__ import annotations

import asyncio
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from roamtui.agent.options import AgentOptions
from roamtui.app_arguments import ModelArguments
from roamtui.assembly import (
    check_preferences,
    check_recording,
    make_agent,
    make_model_for,
    open_session,
    open_store,
    propose_examples,
    warn,
)
from roamtui.conversation.state import begin_conversation
from roamtui.errors import UsageError
from roamtui.headless.output import EmbeddingProgress, write_note, write_notes
from roamtui.libraries import attach_remote_summaries, open_library, open_partly
from roamtui.locations import preferences_path
from roamtui.models.choose import make_model
from roamtui.retrieval import prepare_search
from roamtui.search.base import Searcher
from roamtui.search.options import SearchMode
from roamtui.settings import load_settings

if TYPE_CHECKING:
    from roamtui.app_arguments import AppArguments
    from roamtui.command_arguments import AskArguments, EvalArguments, McpArguments, SearchArguments, ServeArguments
    from roamtui.document.library import Library
    from roamtui.document.loader import Loader
    from roamtui.settings import Settings

_LIMIT_DEFAULT = 10
"""Hits that `search` prints."""


def run_search(arguments: SearchArguments, settings: Settings) -> int:
    """Print ranked sections, and return the exit status.

    Raises:
        RoamtuiError: It failed; the message is for the person.
    """
    from roamtui.headless.sections import print_hits, print_hits_json  # noqa: PLC0415 - each command its own

    options = settings.retrieval
    if options.mode is SearchMode.OFF:
        raise UsageError("search is off. Choose a mode with --mode: keyword, vector or hybrid.")
    make = prepare_search(settings, arguments.model, warn, EmbeddingProgress())
    library = open_library((arguments.source,), arguments.web)
    searcher = make(library)
    assert searcher is not None
    write_notes(library.notes)
    hits = searcher.search(arguments.query, limit=options.limit or _LIMIT_DEFAULT)
    if arguments.as_json:
        print_hits_json(library, hits, options.mode)
    else:
        print_hits(library, hits)
    return 0


def run_eval(arguments: EvalArguments, settings: Settings) -> int:
    """Measure search and answers on questions whose sections are known, and return the exit status.

    Raises:
        RoamtuiError: It failed; the message is for the person.
    """
    from roamtui.headless.evaluate import run_evaluation  # noqa: PLC0415 - each command its own

    is_asked = arguments.options.questions is not None
    if is_asked and settings.retrieval.index is not None and arguments.options.scope != "all":
        raise UsageError("an index by URI holds one library, so questions are asked of all of it: add --scope all.")
    make = partial(make_model_for, arguments.model, settings) if arguments.model.model else None
    make_searcher = prepare_search(settings, arguments.model, warn, EmbeddingProgress(), needs_vectors=True)
    options = AgentOptions(confident_start=settings.confident_start)
    return run_evaluation(arguments.options, make_searcher, settings.retrieval.mode, make, options)


def run_ask(arguments: AskArguments, settings: Settings) -> int:
    """Ask one question and print its answer, and return the exit status.

    Raises:
        RoamtuiError: It failed; the message is for the person.
    """
    from roamtui.headless.ask import ask_question, find_exit_code, print_answer, print_answer_json  # noqa: PLC0415

    if not arguments.question.strip():
        raise UsageError("the question is empty.")
    library, loader = open_partly((arguments.source,), is_whole=True, web=arguments.web)
    library = attach_remote_summaries(library, settings.retrieval.index)
    write_notes(library.notes)
    model = make_model_for(arguments.model, settings)
    write_notes((*check_recording(model, library), *check_preferences()))
    options = settings.keep_options(arguments.conversation.keep_open)
    session = open_session(begin_conversation(library, options), open_store(), arguments.conversation, loader)
    agent = make_agent(session, model, arguments.model, settings, warn, EmbeddingProgress())
    within = arguments.within.strip("[]") if arguments.within is not None else None

    async def ask() -> int:
        try:
            is_quiet = arguments.as_events or not sys.stderr.isatty()
            record = await ask_question(
                agent, arguments.question, within=within, is_quiet=is_quiet, as_events=arguments.as_events
            )
        finally:
            await model.close()
        if arguments.as_json or arguments.as_events:
            print_answer_json(agent, record, as_events=arguments.as_events)
        else:
            print_answer(agent, record)
        if record.final is not None and record.final.error:
            write_note(f"roamtui: {record.final.error}")
        return find_exit_code(record)

    return asyncio.run(ask())


def run_plain(library: Library, loader: Loader | None, arguments: AppArguments, settings: Settings) -> int:
    """Hold the conversation in lines of text, and return the exit status.

    Raises:
        RoamtuiError: Something that was named cannot be used.
    """
    from roamtui.headless.plain_chat import PlainContext, run_plain_chat  # noqa: PLC0415 - each command its own
    from roamtui.headless.preferences import add_preference  # noqa: PLC0415 - likewise

    model = make_model_for(arguments.model, settings)
    options = settings.keep_options(arguments.conversation.keep_open)
    session = open_session(begin_conversation(library, options), open_store(), arguments.conversation, loader)
    has_cap = settings.cost_cap(arguments.model.max_cost_usd) is not None
    context = PlainContext(
        agent=make_agent(session, model, arguments.model, settings, warn, EmbeddingProgress()),
        choose_model=lambda name: make_model(name, options=settings.model_options(name, has_spending_cap=has_cap)),
        notes=(*settings.notes, *library.notes, *check_recording(model, library), *check_preferences()),
        examples=propose_examples(model, library),
        remember=partial(add_preference, preferences_path()),
    )
    return run_plain_chat(context)


def run_serve(arguments: ServeArguments) -> int:
    """Show the app in a browser, and return the exit status.

    Raises:
        RoamtuiError: It failed; the message is for the person.
    """
    from roamtui.tui.serving import serve_app  # noqa: PLC0415 - each command its own

    if arguments.source == "-":
        raise UsageError("name a file to serve: each page in the browser reads it anew.")
    write_notes(open_library((arguments.source,), arguments.web).notes)
    settings = load_settings()
    make_model_for(arguments.model, settings)
    given = {"--model": arguments.model.model, "--api-base": arguments.model.api_base}
    options = [f"{name}={value}" for name, value in given.items() if value is not None]
    options += ["--no-network"] * arguments.web.is_offline
    options += [f"--allow-origin={address}" for address in arguments.web.allowed]
    serve_app([*options, "--", arguments.source], port=arguments.port, title=Path(arguments.source).name)
    return 0


def run_mcp(arguments: McpArguments, settings: Settings) -> int:
    """Give the tools to other programs, and return the exit status.

    Raises:
        RoamtuiError: It failed; the message is for the person.
    """
    from roamtui.headless.mcp.serving import check_extra, serve_http, serve_stdio  # noqa: PLC0415 - each its own
    from roamtui.headless.mcp.shared_library import SharedLibrary  # noqa: PLC0415 - each command its own
    from roamtui.sources.stamp import stamp_sources  # noqa: PLC0415 - each command its own

    check_extra()
    make_searcher = prepare_search(settings, ModelArguments(model=None, api_base=None), warn, EmbeddingProgress())

    def make(whole: Library) -> Searcher:
        searcher = make_searcher(whole)
        assert searcher is not None
        return searcher

    def read() -> tuple[Library, Loader | None]:
        library, loader = open_partly(arguments.sources, web=arguments.web)
        return attach_remote_summaries(library, settings.retrieval.index), loader

    is_off = settings.retrieval.mode is SearchMode.OFF
    shared = SharedLibrary(
        read,
        options=settings.keep_options(None),
        make_searcher=None if is_off else make,
        look=partial(stamp_sources, arguments.sources),
    )
    write_notes(shared.library.notes)
    if arguments.is_http:
        serve_http(shared, port=arguments.port, title=shared.library.title)
    else:
        serve_stdio(shared)
    return 0
