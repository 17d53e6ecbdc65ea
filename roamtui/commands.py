"""The commands beside the app: a class for each, whose fields are its arguments and whose docstring is its help.

What a command needs is imported when it runs, so that a quick one stays quick.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from roamtui.document.library import Library
from roamtui.document.loader import Loader
from roamtui.errors import RoamtuiError, UsageError
from roamtui.evaluation.options import EvalOptions
from roamtui.headless.output import warn, write_notes
from roamtui.libraries import open_again, open_all_pages, open_library, open_pages, open_partly
from roamtui.locations import (
    cache_path,
    config_path,
    conversions_path,
    data_path,
    indexes_path,
    pages_path,
    preferences_path,
    summaries_path,
)
from roamtui.options import (
    FILES_HELP,
    SEARCH,
    SOURCE_HELP,
    ConversationArguments,
    WebArguments,
    option,
    part,
    settings_given,
)
from roamtui.settings import Settings, load_settings
from roamtui.sources.file_sources import split_sources

_LIMIT_DEFAULT = 10
"""Hits that `search` prints."""
_MCP_PORT = 8001
_PORT_MAX = 65_535
_CHECK_FORMS = ("text", "json", "github")
_JSON_HELP = "as JSON, for other programs"


class Command(Protocol):
    """What the command line can be asked for."""

    def run(self) -> int:
        """Carry it out and return the exit status.

        Raises:
            RoamtuiError: It failed; the message is for the person.
        """
        ...


def _load_settings(given: Mapping[str, Any] | None = None) -> Settings:
    """Return the settings, and tell what of the file was passed over."""
    settings = load_settings(given)
    write_notes(settings.notes)
    return settings


def _open(sources: Sequence[str], web: WebArguments, index: str | None = None) -> tuple[Library, Loader | None]:
    """Return a library with all of its files and what loads its pages, and tell what is to be known of it."""
    library, loader = open_partly(sources, is_whole=True, web=web, index=index)
    write_notes(library.notes)
    return library, loader


@dataclass(frozen=True, slots=True, kw_only=True)
class OutlineCommand:
    """Print the outline: the very text that the model reads, or every section as JSON."""

    sources: tuple[str, ...] = option(..., f"{FILES_HELP}, or - for standard input", name="SOURCE", many="+")
    web: WebArguments = part(WebArguments)
    as_json: bool = option(False, "every section, with ids and lines", name="--json")
    budget_tokens: int | None = option(
        None,
        "tokens that the text may have (default: what the model gets, about 1000)",
        name="--budget",
        kind=int,
        low=1,
    )

    def run(self) -> int:
        from roamtui.headless.sections import print_outline

        library, _ = _open(self.sources, self.web, _load_settings().retrieval.index)
        print_outline(library, budget_tokens=self.budget_tokens, as_json=self.as_json)
        return 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowCommand:
    """Print the raw text of sections, with all below them."""

    source: str = option(..., SOURCE_HELP, name="SOURCE")
    web: WebArguments = part(WebArguments)
    section_ids: tuple[str, ...] = option(
        ...,
        "from the outline: of a section, of its page 2 (07f3277d:2), of a range below it (07f3277d:c2)",
        name="ID",
        many="+",
    )

    def run(self) -> int:
        from roamtui.headless.sections import print_sections
        from roamtui.outline.structure import parse_reference

        library, loader = _open((self.source,), self.web)
        if loader is not None:
            told = library.notes
            references = filter(None, map(parse_reference, self.section_ids))
            library = open_pages(library, loader, [reference.section_id for reference in references])
            write_notes(note for page in library.documents for note in page.notes if note not in told)
        print_sections(library, self.section_ids)
        return 0


@dataclass(frozen=True, slots=True, kw_only=True)
class AskCommand:
    """Ask one question and print a cited answer."""

    source: str = option(..., SOURCE_HELP, name="SOURCE")
    question: str = option(..., "in your own words, as one argument", name="QUESTION")
    web: WebArguments = part(WebArguments)
    given: Mapping[str, Any] = settings_given("model", "api_base", "max_cost_usd", "keep_open", SEARCH)
    conversation: ConversationArguments = part(ConversationArguments)
    within: str | None = option(
        None, "ask about this section and what lies below it alone", name="--within", metavar="ID"
    )
    as_json: bool = option(False, "the answer with all about it as JSON", name="--json", instead="form")
    as_events: bool = option(
        False, "what happens as JSON lines, as it happens; the last one is the answer", name="--events", instead="form"
    )

    def run(self) -> int:
        import asyncio

        from roamtui.app import open_agent
        from roamtui.conversation.state import begin_conversation
        from roamtui.headless.ask import run_ask

        settings = _load_settings(self.given)
        question = _read_words(self.question)
        if not question.strip():
            raise UsageError("the question is empty.")
        library, loader = _open((self.source,), self.web, settings.retrieval.index)
        agent = open_agent(begin_conversation(library, settings.keep_options()), loader, settings, self.conversation)
        agent.session.is_one_shot = True
        within = self.within.strip("[]") if self.within is not None else None
        form = "events" if self.as_events else "json" if self.as_json else "text"
        return asyncio.run(run_ask(agent, question, within=within, is_watched=sys.stderr.isatty(), form=form))


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchCommand:
    """Print the sections that fit a query best."""

    source: str = option(..., SOURCE_HELP, name="SOURCE")
    query: str = option(..., "words to find, as one argument", name="QUERY")
    web: WebArguments = part(WebArguments)
    as_json: bool = option(False, _JSON_HELP, name="--json")
    given: Mapping[str, Any] = settings_given("model", "api_base", SEARCH)

    def run(self) -> int:
        from roamtui.headless.hits import print_hits
        from roamtui.retrieval import prepare_search
        from roamtui.search.options import SearchMode

        settings = _load_settings(self.given)
        options = settings.retrieval
        if options.mode is SearchMode.OFF:
            raise UsageError("search is off. Choose a mode with --mode: keyword, vector or hybrid.")
        make = prepare_search(settings)
        library, _ = _open((self.source,), self.web)
        searcher = make(library)
        assert searcher is not None
        hits = searcher.search(_read_words(self.query), limit=options.limit or _LIMIT_DEFAULT)
        print_hits(library, hits, options.mode, as_json=self.as_json)
        return 0


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexCommand:
    """Keep the search index of a source on disk; only what changed is written."""

    sources: tuple[str, ...] = option(..., FILES_HELP, name="SOURCE", many="+")
    web: WebArguments = part(WebArguments)
    is_deleted: bool = option(False, "delete it", name="--delete")
    uri: str | None = option(
        None,
        "keep it in a LanceDB database: a folder, s3://… or db://…; the same as --index elsewhere",
        name="--to",
        metavar="URI",
    )
    summaries: str | None = option(
        None,
        "let the model describe each document, or each longer section too; it says first what that costs",
        name="--summaries",
        choices=("documents", "sections"),
        many="?",
    )
    is_agreed: bool = option(False, "do not ask before the model is asked", name="--yes")
    given: Mapping[str, Any] = settings_given("model", "api_base", SEARCH)

    def run(self) -> int:
        from roamtui.headless.index import add_summaries, keep_database, keep_index
        from roamtui.retrieval import make_parts
        from roamtui.search.choosing import make_searcher
        from roamtui.search.index import IndexPlace

        named = {} if self.uri is None else {"index": self.uri}
        settings = _load_settings({**self.given, SEARCH: {**self.given.get(SEARCH, {}), **named}})
        library = open_library(self.sources, self.web)
        if self.summaries is not None and not self.is_deleted:
            from roamtui.app import open_model
            from roamtui.search.summary_file import SummaryFile

            model, file = open_model(settings), SummaryFile(summaries_path(library.source))
            with_sections = self.summaries == "sections"
            library = add_summaries(library, model, file, with_sections=with_sections, is_agreed=self.is_agreed)
        options, place = settings.retrieval, IndexPlace(folder=indexes_path(), tell=warn)
        parts = replace(make_parts(settings, warn), needs_vectors=True)
        if options.index is not None:
            keep_database(library, options, parts, is_deleted=self.is_deleted)
            return 0
        keep_index(library, place, is_deleted=self.is_deleted)
        if options.needs_vectors and not self.is_deleted:
            searcher = make_searcher(library, options, parts, place)
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
        many="?",
    )
    conversation_id: str | None = option(None, "from the list", name="ID", many="?")
    form: str = option(
        "md",
        "Markdown (default), JSON for other programs, or a page for a browser that replays it",
        name="--format",
        choices=("md", "json", "html"),
    )

    def run(self) -> int:
        from roamtui.conversation.store import Store
        from roamtui.headless.saved import print_conversation, print_list

        if (self.conversation_id is None) != (self.action == "list"):
            raise UsageError(f"{self.action} takes {'no' if self.action == 'list' else 'the'} ID of a conversation.")
        store = Store(data_path())
        write_notes(store.take_reports())
        if self.conversation_id is None:
            print_list(store, as_json=self.form == "json")
        elif self.action == "delete":
            store.delete(self.conversation_id)
            write_notes((f"Deleted {self.conversation_id}.", *store.take_reports()))
        else:
            print_conversation(store, self.conversation_id, self.form, lambda one: open_library(split_sources(one)))
        return 0


@dataclass(frozen=True, slots=True, kw_only=True)
class NotesCommand:
    """Print what you kept of a document as Markdown; without SOURCE, of which documents you kept anything."""

    source: str | None = option(None, "the document; one that is gone as it is listed", name="SOURCE", many="?")
    web: WebArguments = part(WebArguments)
    is_deleted: bool = option(False, "delete all that is kept of it, for good", name="--delete")

    def run(self) -> int:
        from roamtui.conversation.store import Store
        from roamtui.headless.saved import run_notes

        folder = Store(data_path()).notes_folder
        run_notes(
            folder, self.source, lambda one: open_library(split_sources(one), self.web), is_deleted=self.is_deleted
        )
        return 0


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordCommand:
    """Ask questions in the app and make a picture that moves of it, for a README or a talk. Nothing else is saved."""

    source: str = option(..., SOURCE_HELP, name="SOURCE")
    questions: tuple[str, ...] = option(..., "asked one after the other", name="QUESTION", many="+")
    file: Path = option(..., "an animated .svg, or a .cast for asciinema", name="-o", kind=Path, metavar="FILE")
    web: WebArguments = part(WebArguments)
    given: Mapping[str, Any] = settings_given("model", "api_base", "max_cost_usd", SEARCH)

    def run(self) -> int:
        import asyncio

        from roamtui.app import open_agent
        from roamtui.conversation.state import begin_conversation
        from roamtui.tui.context import AppContext, TuiOptions
        from roamtui.tui.recording import FORMS, record

        if self.file.suffix not in FORMS:
            raise UsageError(f"-o takes a file whose name ends with {' or '.join(FORMS)}.")
        settings = _load_settings(self.given)
        library, loader = _open((self.source,), self.web)
        agent = open_agent(begin_conversation(library, settings.keep_options()), loader, settings)
        context = AppContext(agent=agent, options=TuiOptions(theme=settings.theme))
        questions = [_read_words(question) for question in self.questions]
        text, is_answered = asyncio.run(record(context, questions, self.file.suffix))
        try:
            self.file.write_text(text, "utf-8")
        except OSError as error:
            raise RoamtuiError(f"{self.file} cannot be written: {error.strerror}.") from None
        warn(f"Wrote {self.file}." if is_answered else f"Wrote {self.file}, where a question has no answer.")
        return 0 if is_answered else 1


@dataclass(frozen=True, slots=True, kw_only=True)
class RecheckCommand:
    """Say of each quote of an answer whether it still stands; exit 1 where one does not. Needs no model."""

    targets: tuple[str, ...] = option(
        (), "ids of conversations, or Markdown files with quotes, such as exports", name="ID|FILE", many="*"
    )
    is_all: bool = option(False, "every saved conversation", name="--all")
    source: str | None = option(None, "look in this instead of what it was taken from", name="--source", metavar="NEW")
    as_json: bool = option(False, _JSON_HELP, name="--json")
    web: WebArguments = part(WebArguments)

    def run(self) -> int:
        from roamtui.conversation.store import Store
        from roamtui.headless.recheck import ClaimGroup, collect_claims, print_rows, recheck_claims

        if bool(self.targets) == self.is_all:
            raise UsageError("name conversations or Markdown files, or say --all.")
        groups = collect_claims(Store(data_path()), self.targets, is_all=self.is_all)

        def open_source(source: str, group: ClaimGroup) -> Library:
            return open_again(source, group.links, group.approved, is_own=group.is_own, web=self.web)

        rows = recheck_claims(groups, open_source, self.source)
        return print_rows(rows, as_json=self.as_json)


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheCommand:
    """Say how much is kept that can be had again, such as pages of the web, or drop it."""

    action: str = option(
        "show", "show (default) how much is kept, or clear it", name="{show,clear}", choices=("show", "clear"), many="?"
    )
    as_json: bool = option(False, _JSON_HELP, name="--json")

    def run(self) -> int:
        from roamtui.headless.saved import run_cache

        return run_cache(
            self.action,
            pages_path=pages_path(),
            converted_path=conversions_path(),
            indexes_path=indexes_path(),
            as_json=self.as_json,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class PreferencesCommand:
    """Print what the model is told of how you want to be answered."""

    is_editing: bool = option(False, "open it in $EDITOR", name="--edit")

    def run(self) -> int:
        from roamtui.headless.preferences import edit_preferences, print_preferences

        if self.is_editing:
            edit_preferences(preferences_path())
        else:
            print_preferences(preferences_path())
        return 0


@dataclass(frozen=True, slots=True, kw_only=True)
class DoctorCommand:
    """Say what is installed, where files lie, and which models are usable and why not."""

    given: Mapping[str, Any] = settings_given("model", "api_base")
    as_json: bool = option(False, _JSON_HELP, name="--json")

    def run(self) -> int:
        from roamtui.headless.doctor import diagnose, print_diagnosis

        model, options = self.given.get("model"), None
        try:
            settings = load_settings()
            problem = " ".join(settings.notes)
            options = settings.model_options(model or "")
        except UsageError as error:
            problem = str(error)
        places = {"settings": config_path(), "conversations": data_path(), "cache": cache_path()}
        found = diagnose(places, problem, model, api_base=self.given.get("api_base"), model_options=options)
        return print_diagnosis(found, as_json=self.as_json)


@dataclass(frozen=True, slots=True, kw_only=True)
class EvalCommand:
    """Measure search, or with --model the whole agent, on questions with known sections."""

    options: EvalOptions = part(EvalOptions)
    given: Mapping[str, Any] = settings_given("model", "api_base", SEARCH)

    def run(self) -> int:
        from roamtui.agent.options import AgentOptions
        from roamtui.app import open_model
        from roamtui.headless.evaluate import run_evaluation
        from roamtui.retrieval import prepare_search

        settings = _load_settings(self.given)
        if settings.retrieval.index is not None and self.options.scope != "all":
            raise UsageError("an index by URI holds one library, so questions are asked of all of it: add --scope all.")
        make_model = partial(open_model, settings) if "model" in self.given else None
        make_searcher = prepare_search(settings, needs_vectors=True)
        options = AgentOptions(confident_start=settings.confident_start)
        return run_evaluation(self.options, make_searcher, settings.retrieval.mode, make_model, options)


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckCommand:
    """Say what makes a document hard to roam, for a person and for a model; exit 1 where anything does."""

    source: str = option(..., SOURCE_HELP, name="SOURCE")
    web: WebArguments = part(WebArguments)
    selected: tuple[str, ...] = option(
        (),
        "only these rules: codes, beginnings of codes or names, with commas between them",
        name="--select",
        metavar="R",
    )
    ignored: tuple[str, ...] = option((), "not these rules", name="--ignore", metavar="R")
    questions: Path | None = option(
        None,
        "ask these too, in the form that eval takes, and say to which no way leads",
        name="--questions",
        kind=Path,
        metavar="FILE",
    )
    is_fetching: bool = option(False, "fetch the pages of an llms.txt, and say which fail", name="--fetch")
    form: str = option("text", "text (default), json, or github for annotations", name="--format", choices=_CHECK_FORMS)

    def run(self) -> int:
        from roamtui.checking.rules import choose_rules
        from roamtui.headless.check import run_check
        from roamtui.retrieval import prepare_search

        rules = choose_rules(self.selected, self.ignored)
        library, loader = open_partly((self.source,), is_whole=True, web=self.web)
        if self.is_fetching and loader is not None:
            library, notes = open_all_pages(library, loader)
            write_notes(notes)
        searcher = prepare_search(_load_settings())(library) if self.questions is not None else None
        return run_check(library, rules, self.form, self.questions, searcher)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServeCommand:
    """Show the app in a browser on this machine, and nowhere else."""

    source: str = option(..., "a document, a folder or a zip of documents, or an https:// address", name="SOURCE")
    web: WebArguments = part(WebArguments)
    port: int = option(8000, "port (default 8000)", name="--port", low=1, high=_PORT_MAX)
    given: Mapping[str, Any] = settings_given("model", "api_base", SEARCH)

    def run(self) -> int:
        from roamtui.app import open_model
        from roamtui.tui.serving import serve_app

        if self.source == "-":
            raise UsageError("name a file to serve: each page in the browser reads it anew.")
        _open((self.source,), self.web)
        open_model(load_settings(self.given))
        words = []
        for name, value in {**self.given, **self.given.get(SEARCH, {})}.items():
            flag = name.replace("_", "-")
            if isinstance(value, bool):
                words.append(f"--{flag}" if value else f"--no-{flag}")
            elif name != SEARCH:
                words.append(f"--{flag}={value}")
        words += ["--no-network"] * self.web.is_offline
        words += [f"--allow-origin={address}" for address in self.web.allowed]
        serve_app([*words, "--", self.source], port=self.port, title=Path(self.source).name)
        return 0


@dataclass(frozen=True, slots=True, kw_only=True)
class McpCommand:
    """Give other programs the tools that the model has, by the Model Context Protocol."""

    sources: tuple[str, ...] = option(..., FILES_HELP, name="SOURCE", many="+")
    web: WebArguments = part(WebArguments)
    is_http: bool = option(False, "serve HTTP on this machine in place of stdin and stdout", name="--http")
    port: int | None = option(
        None, f"port for --http (default {_MCP_PORT})", name="--port", kind=int, low=1, high=_PORT_MAX
    )
    given: Mapping[str, Any] = settings_given(SEARCH)

    def run(self) -> int:
        from roamtui.headless.mcp import check_extra, serve_http, serve_stdio
        from roamtui.headless.mcp_session import SharedLibrary
        from roamtui.retrieval import prepare_search
        from roamtui.search.base import Searcher
        from roamtui.search.options import SearchMode
        from roamtui.sources.file_sources import FileStamps

        if self.port is not None and not self.is_http:
            raise UsageError("--port needs --http.")
        if "-" in self.sources and not self.is_http:
            raise UsageError("- cannot be read, because standard input is the client's. Name a file, or choose --http.")
        settings = _load_settings(self.given)
        check_extra()
        make_searcher = prepare_search(settings)

        def make(whole: Library) -> Searcher:
            searcher = make_searcher(whole)
            assert searcher is not None
            return searcher

        shared = SharedLibrary(
            partial(open_partly, self.sources, web=self.web, index=settings.retrieval.index),
            options=settings.keep_options(),
            make_searcher=None if settings.retrieval.mode is SearchMode.OFF else make,
            look=FileStamps(self.sources).look,
        )
        write_notes(shared.library.notes)
        if self.is_http:
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
    "conversations": ConversationsCommand,
    "notes": NotesCommand,
    "record": RecordCommand,
    "recheck": RecheckCommand,
    "cache": CacheCommand,
    "preferences": PreferencesCommand,
    "doctor": DoctorCommand,
    "eval": EvalCommand,
    "check": CheckCommand,
    "serve": ServeCommand,
    "mcp": McpCommand,
}


def _read_words(text: str) -> str:
    """Return words that a person typed; what the locale cannot read is UTF-8, or is replaced."""
    return os.fsencode(text).decode("utf-8", "replace")
