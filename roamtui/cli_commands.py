"""The commands: a class for each, whose fields are its arguments and whose docstring is its help.

A command's code is imported when it runs, so that other commands stay fast.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from roamtui.document.counts import format_count
from roamtui.document.library import Library
from roamtui.document.library_source import LibrarySource
from roamtui.document.loader import Loader
from roamtui.document.plain import sanitise_line
from roamtui.errors import RoamtuiError, UsageError
from roamtui.evaluation.options import EvalOptions
from roamtui.headless.output import warn, write_notices, write_text
from roamtui.library_loader import (
    list_watched_paths,
    open_added_source,
    open_lazily,
    open_library,
    open_pages,
    reopen_source,
)
from roamtui.option_fields import (
    FILES_HELP,
    JSON_HELP,
    SEARCH,
    SOURCE_HELP,
    ConversationArguments,
    WebArguments,
    add_argument_group,
    declare_overrides,
    decode_argument,
    list_options,
    option,
)
from roamtui.paths import (
    cache_path,
    config_path,
    conversations_path,
    conversions_path,
    indexes_path,
    pages_path,
    summaries_path,
)
from roamtui.search.options import RetrievalOptions
from roamtui.settings import Settings, load_settings, load_settings_and_warn
from roamtui.sources.file_sources import split_sources
from roamtui.table_command import TableCommand

_LIMIT_DEFAULT = 10
"""Default number of hits of `search`."""
_MCP_PORT = 8001
_PORT_MAX = 65_535


class Command(Protocol):
    """A command of the command line."""

    def run(self) -> int:
        """Run the command and return the exit status.

        Raises:
            RoamtuiError: The command failed. Its message is shown to the person.
        """
        ...


def _open_and_report(
    sources: Sequence[str], web: WebArguments, index: str | None = None
) -> tuple[Library, Loader | None]:
    """Open sources with all their files, and write what went wrong to stderr."""
    library, loader = open_lazily(sources, load_all=True, web=web, index=index)
    write_notices(library.notes)
    return library, loader


@dataclass(frozen=True, slots=True, kw_only=True)
class OutlineCommand:
    """Print the outline exactly as the model reads it, or every section as JSON."""

    sources: tuple[str, ...] = option(..., f"{FILES_HELP}, or - for standard input", name="SOURCE", nargs="+")
    web: WebArguments = add_argument_group(WebArguments)
    as_json: bool = option(False, "every section, with ids and lines", name="--json")
    budget_tokens: int | None = option(
        None, "maximum size in tokens (default: what the model gets, about 1000)", name="--budget", kind=int, low=1
    )

    def run(self) -> int:
        from roamtui.headless.sections import print_outline

        library, _ = _open_and_report(self.sources, self.web, load_settings_and_warn().retrieval.index)
        print_outline(library, budget_tokens=self.budget_tokens, as_json=self.as_json)
        return 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowCommand:
    """Print the source text of sections and their subsections."""

    source: str = option(..., SOURCE_HELP, name="SOURCE")
    web: WebArguments = add_argument_group(WebArguments)
    section_ids: tuple[str, ...] = option(
        ...,
        "from the outline: a section, its page 2 (07f3277d:2) or a range below it (07f3277d:c2); or a title, its "
        "beginning, or a path such as 'Fees > Late fees'",
        name="ID",
        nargs="+",
    )

    def run(self) -> int:
        from roamtui.headless.sections import print_sections, resolve_title
        from roamtui.outline.structure import parse_reference

        library, loader = _open_and_report((self.source,), self.web)
        section_ids = [resolve_title(library, name) for name in self.section_ids]
        if loader is not None:
            reported = library.notes
            references = filter(None, map(parse_reference, section_ids))
            library = open_pages(library, loader, [reference.section_id for reference in references])
            write_notices(note for page in library.documents for note in page.notes if note not in reported)
        print_sections(library, section_ids)
        return 0


@dataclass(frozen=True, slots=True, kw_only=True)
class AskCommand:
    """Ask one question and print a cited answer."""

    source: str = option(..., SOURCE_HELP, name="SOURCE")
    question: str = option(..., "in your own words, as one argument", name="QUESTION")
    web: WebArguments = add_argument_group(WebArguments)
    overrides: Mapping[str, Any] = declare_overrides("model", "api_base", "max_cost_usd", "keep_open", SEARCH)
    conversation: ConversationArguments = add_argument_group(ConversationArguments)
    within: str | None = option(
        None, "limit the question to this section and its subsections", name="--within", metavar="ID"
    )
    as_json: bool = option(False, "print the answer and its metadata as JSON", name="--json", exclusive_group="form")
    as_events: bool = option(
        False, "stream events as JSON lines; the last line is the answer", name="--events", exclusive_group="form"
    )

    def run(self) -> int:
        import asyncio

        from roamtui.conversation.state import start_conversation
        from roamtui.headless.ask import run_ask
        from roamtui.wiring import build_agent

        settings = load_settings_and_warn(self.overrides)
        question = decode_argument(self.question)
        if not question.strip():
            raise UsageError("the question is empty.")
        library, loader = _open_and_report((self.source,), self.web, settings.retrieval.index)
        agent = build_agent(
            start_conversation(library, settings.open_section_options()),
            loader,
            settings,
            self.conversation,
            open_source=partial(open_added_source, web=self.web),
        )
        agent.session.is_one_shot = True
        within = self.within.strip("[]") if self.within is not None else None
        output_format = "json" if self.as_json else "text"
        output_format = "events" if self.as_events else output_format
        return asyncio.run(
            run_ask(
                agent,
                question,
                within=within,
                is_watched=sys.stderr.isatty(),
                output_format=output_format,
            )
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchCommand:
    """Print the sections that best match a query."""

    source: str = option(..., SOURCE_HELP, name="SOURCE")
    query: str = option(..., "words to find, as one argument", name="QUERY")
    web: WebArguments = add_argument_group(WebArguments)
    as_json: bool = option(False, JSON_HELP, name="--json")
    overrides: Mapping[str, Any] = declare_overrides("model", "api_base", SEARCH)

    def run(self) -> int:
        from roamtui.headless.hits import print_hits
        from roamtui.search.options import SearchMode
        from roamtui.search_setup import make_searcher_factory

        settings = load_settings_and_warn(self.overrides)
        search_options = settings.retrieval
        if search_options.mode is SearchMode.OFF:
            raise UsageError("search is off. Set --mode to keyword, vector or hybrid.")
        make_searcher = make_searcher_factory(settings)
        library, _ = _open_and_report((self.source,), self.web)
        searcher = make_searcher(library)
        assert searcher is not None
        hits = searcher.search(decode_argument(self.query), limit=search_options.limit or _LIMIT_DEFAULT)
        print_hits(library, hits, search_options.mode, as_json=self.as_json)
        return 0


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexCommand:
    """Build or update the search index of a source on disk."""

    sources: tuple[str, ...] = option(..., FILES_HELP, name="SOURCE", nargs="+")
    web: WebArguments = add_argument_group(WebArguments)
    delete: bool = option(False, "delete the index", name="--delete")
    uri: str | None = option(
        None,
        "write to a LanceDB database: a folder, s3://… or db://…; same as --index elsewhere",
        name="--to",
        metavar="URI",
    )
    summaries: str | None = option(
        None,
        "have the model summarise each document, or each longer section too; shows the cost first",
        name="--summaries",
        choices=("documents", "sections"),
        nargs="?",
    )
    assume_yes: bool = option(False, "do not ask for confirmation", name="--yes")
    overrides: Mapping[str, Any] = declare_overrides("model", "api_base", SEARCH)

    def run(self) -> int:
        from roamtui.headless.index import add_summaries, update_database, update_index
        from roamtui.search.factory import make_searcher
        from roamtui.search.index import IndexLocation
        from roamtui.search_setup import make_search_services

        index_override = {} if self.uri is None else {"index": self.uri}
        search_overrides = {**self.overrides.get(SEARCH, {}), **index_override}
        settings = load_settings_and_warn({**self.overrides, SEARCH: search_overrides})
        library = open_library(self.sources, self.web)
        if self.summaries is not None and not self.delete:
            from roamtui.search.summary_store import SummaryStore
            from roamtui.wiring import build_model

            model, store = build_model(settings), SummaryStore(summaries_path(library.source))
            with_sections = self.summaries == "sections"
            library = add_summaries(library, model, store, with_sections=with_sections, assume_yes=self.assume_yes)
        search_options, location = settings.retrieval, IndexLocation(folder=indexes_path(), on_warning=warn)
        services = replace(make_search_services(settings, warn), needs_vectors=True)
        if search_options.index is not None:
            update_database(library, search_options, services, delete=self.delete)
            return 0
        update_index(library, location, delete=self.delete)
        if search_options.needs_vectors and not self.delete:
            searcher = make_searcher(library, search_options, services, location)
            assert searcher is not None
            searcher.search("")  # embeds what is new
        return 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationsCommand:
    """List, show, export or delete saved conversations."""

    action: str = option(
        "list",
        "list (default) all; show, export or delete the one with ID",
        name="{list,show,export,delete}",
        choices=("list", "show", "export", "delete"),
        nargs="?",
    )
    conversation_id: str | None = option(
        None, "from the list; to show or export, its beginning is enough", name="ID", nargs="?"
    )
    output_format: str = option(
        "md",
        "Markdown (default), JSON for other programs, or an HTML page that replays it",
        name="--format",
        choices=("md", "json", "html"),
    )

    def run(self) -> int:
        from roamtui.conversation.store import ConversationStore
        from roamtui.headless.conversations import print_conversation, print_conversations

        if (self.conversation_id is None) != (self.action == "list"):
            raise UsageError(f"{self.action} takes {'no' if self.action == 'list' else 'the'} ID of a conversation.")
        store = ConversationStore(conversations_path())
        write_notices(store.pop_warnings())
        if self.conversation_id is None:
            print_conversations(store, as_json=self.output_format == "json")
        elif self.action == "delete":
            store.delete(self.conversation_id)
            write_notices((f"Deleted {self.conversation_id}.", *store.pop_warnings()))
        else:  # show and export are the same: both write to stdout

            def open_source(source: str, added: tuple[LibrarySource, ...]) -> Library:
                return reopen_source(source, (), frozenset(), is_own=True, web=WebArguments(), added=added)

            print_conversation(store, self.conversation_id, self.output_format, open_source)
        return 0


@dataclass(frozen=True, slots=True, kw_only=True)
class NotesCommand:
    """Print your notes on a document as Markdown; without SOURCE, list documents with notes."""

    source: str | None = option(
        None, "the document; if it no longer exists, its name as listed", name="SOURCE", nargs="?"
    )
    web: WebArguments = add_argument_group(WebArguments)
    delete: bool = option(False, "delete all notes on it permanently", name="--delete")

    def run(self) -> int:
        from roamtui.agent.recheck import locate_notes
        from roamtui.conversation.library_sync import get_source_key
        from roamtui.conversation.notes import NoteStore, count_notes
        from roamtui.conversation.store import ConversationStore
        from roamtui.export.markdown import render_notes

        folder = ConversationStore(conversations_path()).notes_folder
        if self.source is None:
            if self.delete:
                raise UsageError("--delete needs a SOURCE.")
            counts = count_notes(folder)
            for name, count in counts.items():
                write_text(f"{sanitise_line(name)}  ({format_count(count, 'note')})\n")
            if not counts:
                write_text("No notes yet. In the app, b adds one.\n")
            if Path("notes").exists():
                write_notices(["To open the file or folder named notes: roamtui ./notes"])
            return 0
        store, library = NoteStore(folder, self.source), None
        try:
            library = open_library(split_sources(self.source), self.web)
            store = NoteStore(folder, get_source_key(library))
        except RoamtuiError as error:
            if not store.read():
                raise
            warn(f"showing notes as saved: {error}")
        notes = store.read()
        write_notices(filter(None, [store.damage]))
        if self.delete:
            store.delete([note.id for note in notes])
            write_notices([f"Deleted {format_count(len(notes), 'note')}."])
        elif notes:
            title = library.title if library is not None else notes[0].source
            write_text(render_notes(locate_notes(notes, library), notes[0].source, title))
        else:
            raise RoamtuiError("No notes on this document. In the app, b adds one.")
        return 0


@dataclass(frozen=True, slots=True, kw_only=True)
class RecheckCommand:
    """Check whether quotes in saved answers are still in their documents; exit 1 if one is not. Needs no model."""

    targets: tuple[str, ...] = option(
        (),
        "ids of conversations, Markdown files with quotes, such as exports, or folders of tables",
        name="ID|FILE",
        nargs="*",
    )
    all_conversations: bool = option(False, "every saved conversation", name="--all")
    source: str | None = option(
        None, "check against this source instead of the recorded one", name="--source", metavar="NEW"
    )
    as_json: bool = option(False, JSON_HELP, name="--json")
    web: WebArguments = add_argument_group(WebArguments)

    def run(self) -> int:
        from roamtui.conversation.store import ConversationStore
        from roamtui.headless.recheck import ClaimGroup, collect_claims, print_rows, recheck_claims

        if bool(self.targets) == self.all_conversations:
            raise UsageError("give conversation ids, Markdown files or tables, or --all.")
        groups = collect_claims(
            ConversationStore(conversations_path()), self.targets, all_conversations=self.all_conversations
        )

        def open_source(source: str, group: ClaimGroup) -> Library:
            is_replaced = source != group.source
            added = () if is_replaced else group.sources
            return reopen_source(source, group.links, group.approved, is_own=group.is_typed, web=self.web, added=added)

        rows = recheck_claims(groups, open_source, self.source)
        return print_rows(rows, as_json=self.as_json)


@dataclass(frozen=True, slots=True, kw_only=True)
class DoctorCommand:
    """Check the installation, file locations and available models."""

    overrides: Mapping[str, Any] = declare_overrides("model", "api_base")
    as_json: bool = option(False, JSON_HELP, name="--json")
    clear_cache: bool = option(False, "first delete cached pages and converted files", name="--clear-cache")

    def run(self) -> int:
        from roamtui.headless.doctor import clear_cache, collect_diagnostics, print_diagnosis

        if self.clear_cache:
            write_notices([clear_cache((pages_path(), conversions_path()))])

        model, model_options = self.overrides.get("model"), None
        try:
            settings = load_settings()
            problem = " ".join(settings.warnings)
            model_options = settings.model_options(model or "")
        except UsageError as error:
            problem = str(error)
        paths = {"settings": config_path(), "conversations": conversations_path(), "cache": cache_path()}
        diagnostics = collect_diagnostics(
            paths, problem, model, api_base=self.overrides.get("api_base"), model_options=model_options
        )
        return print_diagnosis(diagnostics, as_json=self.as_json)


@dataclass(frozen=True, slots=True, kw_only=True)
class EvalCommand:
    """Measure search, or with --model the whole agent, on questions with known sections."""

    options: EvalOptions = add_argument_group(EvalOptions)
    overrides: Mapping[str, Any] = declare_overrides("model", "api_base", SEARCH)

    def run(self) -> int:
        from roamtui.agent.options import AgentOptions
        from roamtui.headless.evaluate import run_evaluation
        from roamtui.search_setup import make_searcher_factory
        from roamtui.wiring import build_model

        settings = load_settings_and_warn(self.overrides)
        if settings.retrieval.index is not None and self.options.scope != "all":
            raise UsageError("an index by URI holds one library, so questions are asked of all of it: add --scope all.")
        make_model = partial(build_model, settings) if "model" in self.overrides else None
        make_searcher = make_searcher_factory(settings, needs_vectors=True)
        agent_options = AgentOptions(confident_start=settings.confident_start)
        return run_evaluation(self.options, make_searcher, settings.retrieval.mode, make_model, agent_options)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServeCommand:
    """Serve the app to a browser on this machine only."""

    source: str = option(..., "a document, a folder or a zip of documents, or an https:// address", name="SOURCE")
    web: WebArguments = add_argument_group(WebArguments)
    port: int = option(8000, "port (default 8000)", name="--port", low=1, high=_PORT_MAX)
    overrides: Mapping[str, Any] = declare_overrides("model", "api_base", SEARCH)

    def run(self) -> int:
        from roamtui.tui.web_server import run_server
        from roamtui.wiring import build_model

        if self.source == "-":
            raise UsageError("serve needs a file, not standard input.")
        # The browser starts the app with the same arguments. Errors in them must be reported here.
        _open_and_report((self.source,), self.web)
        build_model(load_settings(self.overrides))
        arguments = _to_flags(self.overrides)
        if self.web.is_offline:
            arguments.append("--no-network")
        arguments += [f"--allow-origin={origin}" for origin in self.web.allowed_origins]
        run_server([*arguments, "--", self.source], port=self.port, title=Path(self.source).name)
        return 0


@dataclass(frozen=True, slots=True, kw_only=True)
class McpCommand:
    """Serve the model's tools over the Model Context Protocol."""

    sources: tuple[str, ...] = option(..., FILES_HELP, name="SOURCE", nargs="+")
    web: WebArguments = add_argument_group(WebArguments)
    use_http: bool = option(False, "serve HTTP on this machine instead of stdio", name="--http")
    port: int | None = option(
        None, f"port for --http (default {_MCP_PORT})", name="--port", kind=int, low=1, high=_PORT_MAX
    )
    overrides: Mapping[str, Any] = declare_overrides(SEARCH)

    def run(self) -> int:
        from importlib.util import find_spec

        from roamtui.headless.mcp_session import SharedLibrary
        from roamtui.search.base import Searcher
        from roamtui.search.options import SearchMode
        from roamtui.search_setup import make_searcher_factory
        from roamtui.sources.file_sources import FileStamps

        if self.port is not None and not self.use_http:
            raise UsageError("--port needs --http.")
        if "-" in self.sources and not self.use_http:
            raise UsageError("cannot read the document from standard input over stdio. Give a file or use --http.")
        settings = load_settings_and_warn(self.overrides)
        if find_spec("mcp") is None:
            raise RoamtuiError("`roamtui mcp` needs an extra. Install it with: pip install 'roamtui[mcp]'")
        from roamtui.headless.mcp import serve_http, serve_stdio

        make_searcher = make_searcher_factory(settings)

        def make_required_searcher(library: Library) -> Searcher:
            searcher = make_searcher(library)
            assert searcher is not None
            return searcher

        shared = SharedLibrary(
            partial(open_lazily, self.sources, web=self.web, index=settings.retrieval.index),
            options=settings.open_section_options(),
            make_searcher=None if settings.retrieval.mode is SearchMode.OFF else make_required_searcher,
            read_stamps=FileStamps(list_watched_paths(self.sources)).read,
        )
        write_notices(shared.library.notes)
        if self.use_http:
            serve_http(shared, port=self.port or _MCP_PORT, title=shared.library.title)
        else:
            serve_stdio(shared)
        return 0


COMMANDS: Mapping[str, type[Command]] = {
    "outline": OutlineCommand,
    "show": ShowCommand,
    "ask": AskCommand,
    "search": SearchCommand,
    "index": IndexCommand,
    "table": TableCommand,
    "conversations": ConversationsCommand,
    "notes": NotesCommand,
    "recheck": RecheckCommand,
    "doctor": DoctorCommand,
    "eval": EvalCommand,
    "serve": ServeCommand,
    "mcp": McpCommand,
}


def _to_flags(overrides: Mapping[str, Any]) -> list[str]:
    """Convert settings that flags have overridden back to these flags."""
    options = {**list_options(Settings), **list_options(RetrievalOptions)}
    values = {**overrides, **overrides.get(SEARCH, {})}
    values.pop(SEARCH, None)
    flags = []
    for name, value in values.items():
        flag = options[name].name
        if isinstance(value, bool):
            flags.append(flag if value else f"--no-{flag.removeprefix('--')}")
        else:
            flags.append(f"{flag}={value}")
    return flags
