"""Makes what a command works with, from arguments and settings: model, store, session, agent."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from roamtui.agent.examples import propose_questions
from roamtui.agent.loop import Agent
from roamtui.agent.options import AgentOptions
from roamtui.agent.tracing import TracedAgent
from roamtui.conversation.session import Session
from roamtui.conversation.store import Store, identify_source, is_gone
from roamtui.document.plain import plain_line
from roamtui.errors import RoamtuiError, UsageError
from roamtui.headless.output import write_note
from roamtui.locations import data_path, preferences_path
from roamtui.models.choose import make_model
from roamtui.models.recorded import RecordedModel
from roamtui.models.trace import TraceWriter
from roamtui.retrieval import prepare_search

if TYPE_CHECKING:
    from collections.abc import Callable

    from roamtui.app_arguments import ConversationArguments, ModelArguments
    from roamtui.conversation.state import ConversationState
    from roamtui.document.library import Library
    from roamtui.document.loader import Loader
    from roamtui.models.base import Model
    from roamtui.search.base import Progress
    from roamtui.settings import Settings

_EXAMPLES_MAX = 3
"""Questions of a recording that the empty screen proposes."""


def warn(text: str) -> None:
    """Write a sentence about what the program goes on without."""
    write_note(f"roamtui: {text}")


def make_model_for(arguments: ModelArguments, settings: Settings) -> Model:
    """Return the model that was named on the command line, else in the settings, else `offline`."""
    name = arguments.model or settings.model
    has_cap = settings.cost_cap(arguments.max_cost_usd) is not None
    return make_model(
        name,
        api_base=arguments.api_base or settings.api_base,
        options=settings.model_options(name, has_spending_cap=has_cap),
    )


def make_agent(
    session: Session,
    model: Model,
    arguments: ModelArguments,
    settings: Settings,
    tell: Callable[[str], None] | None = None,
    progress: Progress | None = None,
) -> Agent:
    """Return what answers questions in a session, and writes a trace where the person wants one.

    Args:
        session: The conversation.
        model: Who answers.
        arguments: What was said about the model, and where a trace goes.
        settings: The person's.
        tell: Is told in a sentence what search does without.
        progress: Is told while search embeds sections.

    Raises:
        UsageError: The file of the trace cannot be written, or holds something else.
    """
    options = AgentOptions(
        cost_usd_max=settings.cost_cap(arguments.max_cost_usd),
        confident_start=settings.confident_start,
        read_preferences=read_preferences,
    )
    searcher = prepare_search(settings, arguments, tell, progress)(session.state.library)
    if arguments.trace is None:
        return Agent(session, model, searcher, options)
    writer = TraceWriter(Path(arguments.trace), os.environ)
    return TracedAgent(session, model, searcher, options, writer=writer)


def open_store(tell: Callable[[str], None] = warn) -> Store:
    """Return the store of conversations; where it cannot be opened the program goes on, and says so by `tell`."""
    store = Store(data_path(), is_patient=True)
    for report in store.take_reports():
        tell(report)
    if store.problem:
        tell(f"{store.problem} This conversation will not be saved until that changes.")
    return store


def open_session(
    first: ConversationState,
    store: Store,
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
    if store.problem:
        raise UsageError("no conversation can be continued, because saved ones cannot be read.")
    summaries = store.list(identify_source(first))
    conversation_id = arguments.conversation_id
    if conversation_id is None:
        if not summaries:
            raise UsageError("there is no conversation about this document yet. Ask without --continue.")
        conversation_id = summaries[0].id
    elif all(summary.id != conversation_id for summary in summaries):
        store.load(conversation_id)
        _check_moved(store, conversation_id)
    return Session.resume(first.library, conversation_id, store=store, options=first.options, loader=loader)


def _check_moved(store: Store, conversation_id: str) -> None:
    """Let a conversation go on with another document only where its own is gone: it was moved or renamed, then.

    Raises:
        UsageError: Its document is still there, or came from elsewhere.
    """
    source = next(summary.source for summary in store.list() if summary.id == conversation_id)
    if source.startswith("-"):
        raise UsageError(f"the conversation {conversation_id} is about another document, which came by a pipe.")
    if not is_gone(source):
        opening = f'roamtui "{plain_line(source)}" --conversation {conversation_id}'
        raise UsageError(f"the conversation {conversation_id} is about another document. Open it with {opening}")


def propose_examples(model: Model, library: Library) -> tuple[str, ...]:
    """Return questions for the empty screen: those that a recording answers, else some of the headings'."""
    if isinstance(model, RecordedModel) and model.questions:
        return tuple(dict.fromkeys(model.questions))[:_EXAMPLES_MAX]
    return propose_questions(library)


def check_recording(model: Model, library: Library) -> tuple[str, ...]:
    """Return what a person should know before a trace is replayed over a document."""
    if not isinstance(model, RecordedModel) or model.is_about(library.content_hash):
        return ()
    return (f"{model.name} was recorded over another text than {library.source} has now. Its replies may not fit.",)


def read_preferences() -> str:
    """Return what the person wrote of how they want to be answered, nothing where that cannot be read."""
    from roamtui.headless.preferences import load_preferences  # noqa: PLC0415 - not for every command

    try:
        return load_preferences(preferences_path()).text
    except RoamtuiError:
        return ""


def check_preferences() -> tuple[str, ...]:
    """Return what a person should know of their preferences before they count."""
    from roamtui.headless.preferences import load_preferences  # noqa: PLC0415 - not for every command

    try:
        note = load_preferences(preferences_path()).note
    except RoamtuiError as error:
        note = str(error)
    return (note,) if note else ()
