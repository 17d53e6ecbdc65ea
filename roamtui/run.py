"""Runs a command: builds what it needs from settings and arguments, and hands over."""

from __future__ import annotations

import asyncio
import os
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, assert_never

from roamtui.agent.examples import propose_questions
from roamtui.agent.loop import Agent
from roamtui.agent.options import AgentOptions
from roamtui.agent.tracing import TracedAgent
from roamtui.arguments import (
    AskArguments,
    CommandArguments,
    ConversationsArguments,
    DoctorArguments,
    EvalArguments,
    OutlineArguments,
    SearchArguments,
    ServeArguments,
    ShowArguments,
)
from roamtui.conversation.beginning import begin_conversation
from roamtui.conversation.session import Session
from roamtui.conversation.store import Store, identify_source
from roamtui.errors import StoreError, UsageError
from roamtui.headless.output import write_note, write_notes
from roamtui.libraries import open_library
from roamtui.models.choose import make_model
from roamtui.models.recorded import RecordedModel
from roamtui.models.trace import TraceWriter
from roamtui.outline.budget import OUTLINE_TOKENS_MAX
from roamtui.search.base import Searcher, SearchMode
from roamtui.search.keyword import make_searcher
from roamtui.settings import Settings, cache_path, config_path, data_path, load_settings

if TYPE_CHECKING:
    from collections.abc import Callable

    from roamtui.app_arguments import AppArguments, ConversationArguments, ModelArguments
    from roamtui.conversation.state import ConversationState
    from roamtui.document.library import Library
    from roamtui.document.loader import Loader
    from roamtui.models.base import Model

_EXAMPLES_MAX = 3
"""Questions of a recording that the empty screen proposes."""


def run_command(arguments: CommandArguments) -> int:  # noqa: PLR0911 - one case a command
    """Carry out one command and return the exit status.

    Raises:
        RoamtuiError: It failed; the message is for the person.
    """
    match arguments:
        case OutlineArguments():
            return _run_outline(arguments)
        case ShowArguments():
            return _run_show(arguments)
        case AskArguments():
            return _run_ask(arguments, load_settings())
        case SearchArguments():
            return _run_search(arguments, load_settings())
        case ConversationsArguments():
            return _run_conversations(arguments)
        case DoctorArguments():
            return _run_doctor(arguments)
        case EvalArguments():
            return _run_eval(arguments, load_settings())
        case ServeArguments():
            return _run_serve(arguments)
        case _:
            assert_never(arguments)


def _run_outline(arguments: OutlineArguments) -> int:
    from roamtui.headless.outline import print_outline, print_outline_json  # noqa: PLC0415 - each command its own

    library = open_library(arguments.sources)
    write_notes(library.notes)
    if arguments.as_json:
        print_outline_json(library)
    else:
        print_outline(library, budget_tokens=arguments.budget_tokens or OUTLINE_TOKENS_MAX)
    return 0


def _run_show(arguments: ShowArguments) -> int:
    from roamtui.headless.outline import print_sections  # noqa: PLC0415 - each command its own

    library = open_library((arguments.source,))
    write_notes(library.notes)
    print_sections(library, arguments.section_ids)
    return 0


def _run_search(arguments: SearchArguments, settings: Settings) -> int:
    from roamtui.headless.search import print_hits, print_hits_json  # noqa: PLC0415 - each command its own

    mode = parse_mode(arguments.mode) if arguments.mode is not None else settings.search_mode
    library = open_library((arguments.source,))
    searcher = make_searcher(library, mode)
    if searcher is None:
        raise UsageError("search is off. Choose a mode with --mode: keyword.")
    write_notes(library.notes)
    hits = searcher.search(arguments.query, limit=arguments.limit)
    if arguments.as_json:
        print_hits_json(library, hits, mode)
    else:
        print_hits(library, hits)
    return 0


def _run_eval(arguments: EvalArguments, settings: Settings) -> int:
    from roamtui.headless.evaluate import run_evaluation  # noqa: PLC0415 - each command its own

    mode = parse_mode(arguments.mode) if arguments.mode is not None else settings.search_mode
    make = partial(make_model_for, arguments.model, settings) if arguments.model.model else None
    return run_evaluation(arguments.options, lambda library: make_searcher(library, mode), mode, make)


def parse_mode(name: str) -> SearchMode:
    """Return the search mode with this name.

    Raises:
        UsageError: There is none, or it is not available; the message names those that are.
    """
    if name in (SearchMode.OFF, SearchMode.KEYWORD):
        return SearchMode(name)
    raise UsageError(f'"{name}" is no search mode. The modes are off and keyword.')


def _run_ask(arguments: AskArguments, settings: Settings) -> int:
    from roamtui.headless.ask import ask_question, is_failure, print_answer, print_answer_json  # noqa: PLC0415

    if not arguments.question.strip():
        raise UsageError("the question is empty.")
    library = open_library((arguments.source,))
    write_notes(library.notes)
    model = make_model_for(arguments.model, settings)
    write_notes(check_recording(model, library))
    options = settings.keep_options(arguments.conversation.keep_open)
    session = open_session(begin_conversation(library, options), open_store(), arguments.conversation)
    agent = make_agent(session, model, arguments.model, settings)
    within = arguments.within.strip("[]") if arguments.within is not None else None

    async def ask() -> int:
        try:
            is_quiet = not sys.stderr.isatty()
            record = await ask_question(agent, arguments.question, within=within, is_quiet=is_quiet)
        finally:
            await model.close()
        if arguments.as_json:
            print_answer_json(agent, record)
        else:
            print_answer(agent, record)
        if record.final is not None and record.final.error:
            write_note(f"roamtui: {record.final.error}")
        return 1 if is_failure(record) else 0

    return asyncio.run(ask())


def make_model_for(arguments: ModelArguments, settings: Settings) -> Model:
    """Return the model that was named on the command line, else in the settings, else `offline`."""
    return make_model(arguments.model or settings.model, api_base=arguments.api_base or settings.api_base)


def make_agent(session: Session, model: Model, arguments: ModelArguments, settings: Settings) -> Agent:
    """Return what answers questions in a session, and writes a trace where the person wants one.

    Raises:
        UsageError: The file of the trace cannot be written, or holds something else.
    """
    options = AgentOptions(cost_usd_max=arguments.max_cost_usd or settings.max_cost_usd)
    searcher = open_searcher(session.state.library, settings)
    if arguments.trace is None:
        return Agent(session, model, searcher, options)
    writer = TraceWriter(Path(arguments.trace), os.environ)
    return TracedAgent(session, model, searcher, options, writer=writer)


def check_recording(model: Model, library: Library) -> tuple[str, ...]:
    """Return what a person should know before a trace is replayed over a document."""
    if not isinstance(model, RecordedModel) or model.is_about(library.content_hash):
        return ()
    return (f"{model.name} was recorded over another text than {library.source} has now. Its replies may not fit.",)


def open_searcher(library: Library, settings: Settings) -> Searcher | None:
    """Return the searcher that the settings ask for, None where search is off."""
    return make_searcher(library, settings.search_mode)


def warn(text: str) -> None:
    """Write a sentence about what the program goes on without."""
    write_note(f"roamtui: {text}")


def open_store(tell: Callable[[str], None] = warn) -> Store | None:
    """Return the store of conversations; without one the program goes on, and says so by `tell`."""
    try:
        return Store(data_path())
    except StoreError as error:
        tell(f"{error} This conversation will not be saved.")
        return None


def open_session(
    first: ConversationState,
    store: Store | None,
    arguments: ConversationArguments,
    loader: Loader | None = None,
) -> Session:
    """Return a conversation that begins with `first`, or the one to go on with.

    Raises:
        UsageError: There is nothing to go on with.
        StoreError: The conversation cannot be read.
    """
    if not arguments.is_continued and arguments.conversation_id is None:
        return Session(first, store, loader=loader)
    if store is None:
        raise UsageError("no conversation can be continued, because saved ones cannot be read.")
    summaries = store.list(identify_source(first))
    conversation_id = arguments.conversation_id
    if conversation_id is None:
        if not summaries:
            raise UsageError("there is no conversation about this document yet. Ask without --continue.")
        conversation_id = summaries[0].id
    elif all(summary.id != conversation_id for summary in summaries):
        store.load(conversation_id)
        raise UsageError(f"the conversation {conversation_id} is about another document.")
    return Session.resume(first.library, conversation_id, store=store, options=first.options, loader=loader)


def _run_conversations(arguments: ConversationsArguments) -> int:
    from roamtui.headless.conversations import print_conversation, print_list  # noqa: PLC0415 - each command its own

    store = Store(data_path())
    if arguments.conversation_id is None:
        print_list(store, as_json=arguments.as_json)
    elif arguments.action == "delete":
        store.delete(arguments.conversation_id)
        write_note(f"Deleted {arguments.conversation_id}.")
    else:
        print_conversation(store, arguments.conversation_id, as_json=arguments.as_json)
    return 0


def run_plain(library: Library, arguments: AppArguments, settings: Settings) -> int:
    """Hold the conversation in lines of text, and return the exit status.

    Raises:
        RoamtuiError: Something that was named cannot be used.
    """
    from roamtui.headless.plain_chat import PlainContext, run_plain_chat  # noqa: PLC0415 - each command its own

    model = make_model_for(arguments.model, settings)
    options = settings.keep_options(arguments.conversation.keep_open)
    session = open_session(begin_conversation(library, options), open_store(), arguments.conversation)
    context = PlainContext(
        agent=make_agent(session, model, arguments.model, settings),
        choose_model=make_model,
        notes=(*library.notes, *check_recording(model, library)),
        examples=propose_examples(model, library),
    )
    return run_plain_chat(context)


def _run_serve(arguments: ServeArguments) -> int:
    from roamtui.tui.serving import serve_app  # noqa: PLC0415 - each command its own

    if arguments.source == "-":
        raise UsageError("name a file to serve: each page in the browser reads it anew.")
    write_notes(open_library((arguments.source,)).notes)
    make_model_for(arguments.model, load_settings())
    given = {"--model": arguments.model.model, "--api-base": arguments.model.api_base}
    options = [f"{name}={value}" for name, value in given.items() if value is not None]
    serve_app([*options, "--", arguments.source], port=arguments.port, title=Path(arguments.source).name)
    return 0


def propose_examples(model: Model, library: Library) -> tuple[str, ...]:
    """Return questions for the empty screen: those that a recording answers, else some of the headings'."""
    if isinstance(model, RecordedModel) and model.questions:
        return tuple(dict.fromkeys(model.questions))[:_EXAMPLES_MAX]
    return propose_questions(library)


def _run_doctor(arguments: DoctorArguments) -> int:
    from roamtui.headless.doctor import diagnose, print_diagnosis, print_diagnosis_json  # noqa: PLC0415 - its own

    problem = ""
    try:
        load_settings()
    except UsageError as error:
        problem = str(error)
    places = {"settings": config_path(), "conversations": data_path(), "cache": cache_path()}
    diagnosis = diagnose(places, problem, arguments.model.model, api_base=arguments.model.api_base)
    if arguments.as_json:
        print_diagnosis_json(diagnosis)
    else:
        print_diagnosis(diagnosis)
    return 0 if diagnosis.is_fine else 1
