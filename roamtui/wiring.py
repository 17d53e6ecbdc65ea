"""Wires the objects that answer questions, from the settings: model, store, conversation, searcher, agent."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

from roamtui.agent.generated_texts import suggest_questions
from roamtui.agent.loop import Agent
from roamtui.agent.options import AgentOptions
from roamtui.conversation.conversation import Conversation, start_log
from roamtui.conversation.library_sync import get_source_key, is_source_missing
from roamtui.conversation.line_file import LOG_SUFFIX
from roamtui.conversation.log import ConversationStore
from roamtui.conversation.state import ConversationState
from roamtui.document.added_sources import SourceOpener
from roamtui.document.counts import format_count
from roamtui.document.library import Library
from roamtui.document.loader import Loader
from roamtui.document.loading import LoadingOptions
from roamtui.document.plain import sanitise_line
from roamtui.errors import UsageError
from roamtui.headless.output import EmbeddingProgress, warn
from roamtui.library_loader import open_added_source
from roamtui.models.base import Model
from roamtui.models.recorded import RECORDED, RecordedModel
from roamtui.models.registry import (
    LOCAL_SERVERS,
    OFFLINE,
    OLLAMA_URL,
    LocalServer,
    ModelOffer,
    is_loopback,
    list_usable_models,
    make_model,
    probe_server,
)
from roamtui.paths import conversations_path, get_resource_dir
from roamtui.search_setup import make_searcher_factory
from roamtui.settings import ConversationArguments, Settings
from roamtui.sources.file_sources import split_sources

_EXAMPLES_MAX = 3
"""Maximum number of recorded questions that are suggested on the empty screen."""


def build_model(settings: Settings) -> Model:
    """Create the model of the settings. Nothing is started or requested yet."""
    return make_model(settings.model, api_base=settings.api_base, options=settings.model_options(settings.model))


def make_agent_options(settings: Settings) -> AgentOptions:
    """Return the options of an agent without a spending limit."""
    return AgentOptions(sends_hits=True, instructions=settings.instructions)


def build_agent(  # noqa: PLR0913, PLR0917 - wires everything
    initial_state: ConversationState,
    loader: Loader | None,
    settings: Settings,
    conversation: ConversationArguments | None = None,
    on_warning: Callable[[str], None] = warn,
    progress: EmbeddingProgress | None = None,
    loading: LoadingOptions | None = None,
) -> Agent:
    """Create the agent for a document. Without `conversation`, nothing is saved.

    Raises:
        UsageError: A choice is unavailable, or there is no conversation to resume.
        StoreError: The conversation cannot be read.
    """
    model = build_model(settings)
    if conversation is None:
        chosen = Conversation(start_log(initial_state, None, loader))
    else:
        store = open_store(on_warning)
        open_source = partial(open_added_source, options=loading)
        chosen = start_or_resume(initial_state, store, conversation, loader, open_source)
        known = initial_state.library.notes
        for note in chosen.state.library.notes:  # for instance that a source of the conversation is gone
            if note not in known:
                on_warning(note)
    searcher = make_searcher_factory(settings, on_warning, progress)(chosen.state.library)
    options = replace(make_agent_options(settings), cost_usd_max=settings.limits.max_cost_usd)
    return Agent(chosen, model, searcher, options)


def open_store(on_warning: Callable[[str], None]) -> ConversationStore:
    """Open the conversation store. If that fails, warn the person and continue without saving."""
    store = ConversationStore(conversations_path())
    if store.problem:
        on_warning(f"{store.problem} This conversation is not being saved.")
    return store


def start_or_resume(
    initial_state: ConversationState,
    store: ConversationStore,
    arguments: ConversationArguments,
    loader: Loader | None,
    open_source: SourceOpener | None = None,
) -> Conversation:
    """Start a conversation, or resume an earlier one.

    For the conversation of a table cell, the path of its log takes the place of an id.

    Raises:
        UsageError: There is no such conversation about this document.
        StoreError: The conversation cannot be read.
    """
    if arguments.conversation_id is not None and arguments.conversation_id.endswith(LOG_SUFFIX):
        path = Path(arguments.conversation_id)
        store = ConversationStore(path.parent, is_listed=False)
        resumed = Conversation.resume(
            initial_state.library,
            path.stem,
            store=store,
            options=initial_state.options,
            loader=loader,
            open_source=open_source,
        )
        resumed.state = replace(resumed.state, needs_rebuild=True)  # later answers need not have the form of a cell
        return resumed
    if not arguments.resume_latest and arguments.conversation_id is None:
        return Conversation(start_log(initial_state, store, loader), store, open_source)
    if store.problem:
        raise UsageError("cannot resume: saved conversations are unreadable.")
    library = initial_state.library
    summaries = store.list(get_source_key(library))
    conversation_id = arguments.conversation_id
    if conversation_id is None:
        conversation_id = next((summary.id for summary in summaries if summary.is_answered), None)
        if conversation_id is None:
            raise UsageError("no answered conversation about this document. Omit --continue.")
    elif all(summary.id != conversation_id for summary in summaries):
        store.load(conversation_id)
        source = next(summary.source for summary in store.list() if summary.id == conversation_id)
        if source.startswith("-"):
            raise UsageError(f"conversation {conversation_id} is about a document from standard input.")
        if not is_source_missing(source):  # a missing one may be this document, moved or renamed
            paths = " ".join(f'"{sanitise_line(path)}"' for path in split_sources(source))
            command = f"roamtui {paths} --conversation {conversation_id}"
            raise UsageError(f"conversation {conversation_id} is about another document. Run: {command}")
    return Conversation.resume(
        library,
        conversation_id,
        store=store,
        options=initial_state.options,
        loader=loader,
        open_source=open_source,
    )


def choose_example_questions(model: Model, library: Library) -> tuple[str, ...]:
    """Suggest questions: those of a recording or of a bundled example, otherwise some derived from the document."""
    if isinstance(model, RecordedModel) and model.questions:
        return tuple(dict.fromkeys(model.questions))[:_EXAMPLES_MAX]
    source, folder = Path(library.source).absolute(), get_resource_dir("examples")
    if source.parent == folder:
        questions = json.loads((folder / "first_questions.json").read_text("utf-8"))
        return tuple(questions.get(source.name, ()))
    return suggest_questions(library)


def list_model_offers(settings: Settings) -> tuple[ModelOffer, ...]:
    """List the selected model, then the other usable models."""
    is_local = settings.model == OFFLINE or settings.model.startswith(RECORDED)
    selected = ModelOffer(
        name=settings.model,
        note="chosen by you",
        make_model=partial(build_model, settings),
        api_base=settings.api_base or "",
        needs_test=not is_local,
        is_known_to_work=is_local,
    )
    usable = list_usable_models(choose_options=settings.model_options)
    return (selected, *(offer for offer in usable if offer.name != settings.model))


def make_named_model(settings: Settings, name: str, api_base: str | None, *, is_test: bool) -> Model:
    """Create a model that a person named in the app. With `is_test`, a reply is one token long, and not retried.

    Raises:
        UsageError: The name or URL is invalid.
    """
    options = settings.model_options(name)
    if is_test:
        options = replace(options, output_tokens=1, retries=0)
    return make_model(name, api_base=api_base, options=options)


def discover_local_models(settings: Settings) -> tuple[tuple[ModelOffer, ...], str]:
    """List the models of the servers on this machine, and describe the result. No other machine is contacted."""
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(len(LOCAL_SERVERS)) as pool:
        results = [*pool.map(partial(_probe_local_server, settings), LOCAL_SERVERS)]
    offers = tuple(offer for offers, _ in results for offer in offers)
    summaries = [summary for _, summary in results if summary]
    names = ", ".join(server.title for server in LOCAL_SERVERS)
    return offers, " · ".join(summaries) or f"No local model server found ({names})"


def _probe_local_server(settings: Settings, server: LocalServer) -> tuple[tuple[ModelOffer, ...], str]:
    # Returns the models and a summary, which is empty if nothing runs at the usual URL.
    set_by_person = os.environ.get(server.variable, "").strip()
    url = set_by_person or server.default_url
    if not is_loopback(url):
        return (), f"{server.title} runs on another machine; choose “other model…” and type a name"
    status = probe_server(url)
    if status.problem:
        return (), f"{server.title} at {status.url}: {status.problem}" if set_by_person else ""
    names = [f"{server.provider}/{model}" for model in status.models if "embed" not in model]
    offers = tuple(
        ModelOffer(
            name=name,
            note=f"{server.title}, nothing leaves this machine",
            make_model=partial(make_model, name, api_base=status.url, options=settings.model_options(name)),
            # litellm knows Ollama's usual URL, and the URL in the person's variable.
            api_base="" if set_by_person or server.default_url == OLLAMA_URL else status.url,
            needs_test=True,
            is_known_to_work=True,
        )
        for name in names
        if name.isprintable() and " " not in name  # `make_model` accepts no other names
    )
    return offers, f"{server.title} at {status.url}: {format_count(len(offers), 'model')}"
