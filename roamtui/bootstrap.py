"""The one place where settings become libraries, conversations, models, searchers, agents and tables.

Agents, models, searchers and tables are imported when a command needs them: `roamtui outline` needs none.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct, field
from msgspec.structs import replace

from roamtui.conversation.budget import OpenSectionOptions
from roamtui.conversation.library_sync import NOT_KEPT, get_source_key, is_source_missing
from roamtui.conversation.log import open_store
from roamtui.conversation.messages import OFFLINE, RECORDED
from roamtui.conversation.state import ConversationState
from roamtui.convert.converted import ProgressCallback
from roamtui.document.document import SMALL_SITE_PAGES_MAX, NodeKind
from roamtui.document.library import Library, LibrarySource
from roamtui.errors import SourceError, UsageError
from roamtui.models.redaction import strip_keys
from roamtui.models.usage import UsageMeter
from roamtui.opening.added_sources import list_sources_of, open_all, restore_sources
from roamtui.opening.loader import (
    Loader,
    LoadingOptions,
    OpenedSource,
    is_url,
    load_pages,
    load_pending,
    open_sources,
    reload_documents,
)
from roamtui.output import ProgressLine, report_opening, warn
from roamtui.paths import get_cache_path, get_table_path, is_standard_input
from roamtui.search.base import IndexLostError, SearchMode, SearchServices
from roamtui.search.index import IndexLocation
from roamtui.search.searcher import Searcher, make_searcher
from roamtui.search.section_store import load_summaries
from roamtui.settings import Settings, load_settings
from roamtui.sources.conversion_cache import ConversionOptions
from roamtui.sources.listing import estimate_load_cost
from roamtui.sources.source_names import assign_keys, make_short_name, split_sources
from roamtui.web.page import FetchOptions
from roamtui.web.urls import origin_of

if TYPE_CHECKING:
    from roamtui.agent.agent import Agent
    from roamtui.agent.options import AgentOptions
    from roamtui.models.base import Model
    from roamtui.table.runner import TablePlan
    from roamtui.table.store import ResultTable

EMBEDDING_FORM = "embedded {:,} of {:,} sections with text"
_LOADED_AT_START_BYTES = 1_000_000
"""A smaller folder is loaded before the app shows it, because nobody notices the time."""


class Bootstrap(Struct, frozen=True, kw_only=True):
    """Opens sources, and makes models, searchers, agents and tables, as a person's settings say."""

    settings: Settings = field(default_factory=load_settings)
    overridden_keys: frozenset[str] = frozenset()
    """Keys of the settings that were given on the command line."""
    is_offline: bool = False
    """Whether to use cached pages only."""
    allowed_origins: tuple[str, ...] = ()
    """Sites to fetch from without asking, in addition to the source's site and the sites in the settings."""
    reads_scans: bool = False
    """Whether tesseract reads scanned pages of PDFs."""
    on_warning: Callable[[str], None] = warn
    """Receives a sentence about each fallback and each failure."""
    on_progress: ProgressCallback | None = None
    """Receives the progress of embedding, or None for lines on stderr."""

    @property
    def has_typed_model(self) -> bool:
        """Whether the model or its server was typed on the command line."""
        return not self.overridden_keys.isdisjoint({"model", "api_base"})

    @property
    def loading(self) -> LoadingOptions:
        """The options for reading sources."""
        web = self.settings.web
        languages = self.settings.ocr.languages
        return LoadingOptions(
            cache_dir=get_cache_path("pages"),
            fetching=FetchOptions(is_offline=self.is_offline, proxy=web.proxy),
            allowed=(*self.allowed_origins, *web.allow),
            conversion=ConversionOptions(
                cache_dir=get_cache_path("converted"), ocr_languages=languages, reads_scans=self.reads_scans
            ),
        )

    def open(
        self, sources: Sequence[str], *, load_all: bool = False, on_progress: ProgressCallback | None = None
    ) -> OpenedSource:
        """Open sources as a library, with a loader. The files of a large folder are loaded later, if needed.

        `on_progress` receives the progress of a conversion. Without it, progress is written to stderr. Raise
        `SourceError` or `UsageError` if sources cannot be read or combined.
        """
        if not sources:
            raise UsageError("no document was given. Try `roamtui handbook.md` or `roamtui --help`.")
        is_page = is_url(sources[0])
        with report_opening(sources[0], is_url=is_page) as write_progress:
            on_progress = on_progress or write_progress
            if is_page:
                on_progress(0, 0)
            library, loader = open_sources(sources, self.loading, on_progress=on_progress)
        library = self._add_summaries(library)
        if loader is not None:
            cost = estimate_load_cost(file.path for file in loader.files.values())
            if load_all or (loader.files and cost <= _LOADED_AT_START_BYTES):
                library = load_pending(library, loader)
        return OpenedSource(library, loader)

    def _add_summaries(self, library: Library) -> Library:
        path = IndexLocation(folder=get_cache_path("indexes")).get_path(library)
        if path is None or not path.exists():
            return library
        try:
            return replace(library, summaries={**library.summaries, **load_summaries(path)})
        except IndexLostError as error:
            self.on_warning(
                f"The index with the summaries cannot be read ({error}). Unless another program is writing"
                " to it, build it again with `roamtui index`."
            )
            return library

    def open_added(self, name: str) -> OpenedSource:
        """Open a source that is added to a conversation, with all its files."""
        if is_standard_input(name):
            raise UsageError("a document from standard input cannot be added. Save it as a file.")
        return self.open(split_sources(name), load_all=True, on_progress=lambda *_: None)

    def reopen_conversation(self, source: str, state: ConversationState) -> Library:
        """Open the current version of a saved conversation's source, with its added sources and its pages.

        `source` is where it is now. For the errors, see `reopen_file`.
        """
        library, loader = self._reopen(source, [each for each in state.sources if each.key])
        if state.sources and not library.sources:
            library, loader = restore_sources(library, loader, state.sources, self.open_added)
        return load_pages(library, loader, state.pages, state.approved_origins)

    def reopen_file(self, source: str, added: Sequence[str] = (), *, is_trusted: bool = True) -> Library:
        """Open the current version of the source of an exported file, with the `added` sources.

        Of a small site, all pages are opened: the file does not say which ones its answers had. Unless
        `is_trusted`, a URL must be allowed. If one of several sources cannot be read, an empty document says
        why.

        Raises:
            SourceError: The source cannot be read, nor any other of several.
            UsageError: The source is not supported, or an allowed URL is invalid.
        """
        for name in (source, *added):
            if is_url(name) and not is_trusted and origin_of(name) not in self.loading.parse_allowed():
                raise SourceError(
                    "This URL was not fetched, because it comes from a file and not from you."
                    f" To allow it, add --allow-origin {origin_of(name)}."
                )
        others = [LibrarySource(name=name, key=make_short_name(name)) for name in added]
        library, loader = self._reopen(source, others)
        if others and not library.sources:
            wanted = (*list_sources_of(library), *others)
            library, loader = restore_sources(library, loader, wanted, self.open_added)
        links = [each for each in library.walk() if library.node(each).kind is NodeKind.LINK]
        return load_pages(library, loader, links if len(links) <= SMALL_SITE_PAGES_MAX else ())

    def _reopen(self, source: str, others: Sequence[LibrarySource]) -> OpenedSource:
        """Open a source. If it cannot be read, open what can be of its parts and of the `others`."""
        if is_standard_input(source):
            raise SourceError(NOT_KEPT)
        names = split_sources(source)
        try:
            return self.open(names, load_all=True)
        except SourceError:
            all_names = (*names, *(other.name for other in others))
            if len(all_names) == 1 or all(map(is_source_missing, all_names)):
                raise
        keys = assign_keys([Path(name) for name in names]) if len(names) > 1 else {"": source}
        parts = [LibrarySource(name=str(name), key=key) for key, name in keys.items()]
        return open_all([*parts, *others], self.open_added, source)

    def reload(self, previous: Library, changed: frozenset[str]) -> Library:
        """Reload a library with the files and pages that were loaded before.

        If there are several files, only new ones and those with the keys in `changed` are read again. Each
        page is requested again, and downloaded if it has changed. A page that cannot be read shows an error
        if the cache has no old version. Raise `SourceError` if a source cannot be read.
        """
        if previous.sources:
            return open_all(previous.sources, self.open_added, previous.source)[0]
        loading = self.loading
        fetching = replace(loading.fetching, always_fetch=True)
        sources = split_sources(previous.source)
        library, loader = open_sources(sources, replace(loading, fetching=fetching))
        library = self._add_summaries(replace(library, summaries=previous.summaries))
        if loader is None:
            return library
        return reload_documents(library, loader, previous, changed)

    def make_model(self, name: str = "", api_base: str | None = None, *, is_test: bool = False) -> Model:
        """Make the model `name`, or the model of the settings if it is empty; see `registry.make_model`."""
        from roamtui.models.registry import make_model

        if not name:
            name = self.settings.model
            api_base = self.settings.api_base
        options = self.settings.model_options(name)
        return make_model(name, api_base=api_base, options=options, is_test=is_test)

    @property
    def agent_options(self) -> AgentOptions:
        """The options of every agent."""
        from roamtui.agent.options import AgentOptions

        limit = self.settings.limits.max_cost_usd
        return AgentOptions(instructions=self.settings.instructions, cost_usd_max=limit)

    def make_agent(
        self,
        library: Library,
        loader: Loader | None,
        conversation_id: str | None = None,
        model: Model | None = None,
        *,
        with_one_shots: bool = False,
    ) -> Agent:
        """Make the agent for a new conversation about a library or, with a `conversation_id`, a saved one.

        An empty id means the latest conversation. Those of `roamtui ask` count only `with_one_shots`.
        Without a `model`, a conversation keeps its own, unless another was typed on the command line.

        Raises:
            RoamtuiError: There is no such conversation, it cannot be read or is about another source, or the
                model, embedder or reranker in the settings cannot be used.
        """
        from roamtui.agent.agent import Agent
        from roamtui.conversation.conversation import Conversation

        store = open_store()
        conversation = Conversation(
            library,
            store=store,
            options=OpenSectionOptions(mode=self.settings.keep_open.mode),
            source_loader=loader,
            open_source=self.open_added,
        )
        if conversation_id is not None:
            source = get_source_key(library)
            latest = None if conversation_id else store.get_latest(source, with_one_shots=with_one_shots)
            conversation.resume(conversation_id if latest is None else latest.id)
        # such as a note that a source of the conversation is gone
        for note in conversation.state.library.notes:
            if note not in library.notes:
                self.on_warning(note)
        bootstrap = self
        if model is None:
            bootstrap = replace(self, settings=self._adapt_settings(conversation.state))
        searcher = bootstrap.make_searcher_factory()(conversation.state.library)
        return Agent(conversation, model or bootstrap.make_model(), searcher, self.agent_options)

    def _adapt_settings(self, state: ConversationState) -> Settings:
        """Return the settings with the model and the server of a conversation, except for what was typed."""
        settings = self.settings
        if state.model in ("", RECORDED):
            return settings
        if "model" not in self.overridden_keys:
            settings = replace(settings, model=state.model)
        is_kept = settings.model == state.model and "api_base" not in self.overridden_keys
        configured = strip_keys(settings.api_base or "", os.environ)
        if is_kept and state.server not in (None, configured):
            settings = replace(settings, api_base=state.server or None)
        return settings

    def make_searcher_factory(
        self, *, needs_all_vectors: bool = False
    ) -> Callable[[Library], Searcher | None]:
        """Return a function that creates a library's searcher, or returns None if search is off.

        With `needs_all_vectors`, all sections are embedded before the first search. Raise `UsageError` if the
        model, embedder or reranker in the settings cannot be used.
        """
        services = self.make_search_services(needs_all_vectors=needs_all_vectors)
        location = IndexLocation(folder=get_cache_path("indexes"), on_warning=self.on_warning)
        return partial(make_searcher, options=self.settings.retrieval, services=services, location=location)

    def make_search_services(
        self, meter: UsageMeter | None = None, *, needs_all_vectors: bool = False
    ) -> SearchServices:
        """Make the models that search needs. Nothing is loaded or requested yet.

        `meter` counts the requests of tasks that have no meter. For the rest, see `make_searcher_factory`.

        Raises:
            UsageError: The model, embedder or reranker in the settings cannot be used. The message says which
                to choose, or what to install.
        """
        from roamtui.models.registry import make_model
        from roamtui.models.search_models import BackgroundLoop, make_embedder, make_reranker

        settings = self.settings
        options = settings.retrieval
        background = BackgroundLoop(meter)
        reranker = None
        if options.mode is not SearchMode.OFF and options.rerank == "on":
            if settings.model in (OFFLINE, RECORDED):
                raise UsageError(
                    f'the model "{OFFLINE}" cannot rerank search results.'
                    ' Choose another model, or set retrieval.rerank to "off".'
                )
            own = settings.model_options(settings.model)
            model = make_model(
                settings.model, api_base=settings.api_base, options=own, worker=background.worker
            )
            reranker = make_reranker(model, background)
        embedder = None
        if options.mode in (SearchMode.VECTOR, SearchMode.HYBRID):
            embedder = make_embedder(options.embedder, background, api_base=options.embedder_api_base)
        return SearchServices(
            embedder=embedder,
            reranker=reranker,
            on_progress=self.on_progress or ProgressLine(EMBEDDING_FORM),
            on_warning=self.on_warning,
            needs_all_vectors=needs_all_vectors,
        )

    def make_table(
        self,
        sources: Sequence[str],
        questions: Sequence[str] = (),
        file: Path | None = None,
        *,
        folder: Path | None = None,
        jobs: int,
    ) -> tuple[ResultTable, TablePlan]:
        """Return a table, and the plan for filling its cells, of at most `jobs` documents at a time.

        A table that exists is continued. With neither `questions` nor a `file` of questions, it asks all
        questions of earlier runs. If `sources` is only its folder, its rows stay. Otherwise, the documents
        are listed again, and the table is kept in `folder` or in the default folder of its sources.

        Raises:
            RoamtuiError: A source or the folder of the table cannot be read, or the model, embedder or
                reranker in the settings cannot be used.
        """
        from roamtui.table.columns import keep_names, parse_column, read_columns
        from roamtui.table.runner import TablePlan
        from roamtui.table.store import is_table, list_rows, read_table

        if len(sources) == 1 and is_table(Path(sources[0])):
            table = read_table(Path(sources[0]))
        else:
            paths = [path for name in sources for path in split_sources(name)]
            if any(map(is_standard_input, paths)):
                raise UsageError("a table cannot read a document from standard input. Name a file.")
            sources = tuple(path if is_url(path) else os.path.abspath(path) for path in paths)  # noqa: PTH100 - links are kept
            table = read_table(folder or get_table_path(sources))
            notes: list[str] = []
            rows = list_rows(sources, table.outputs, notes.append)
            if rows != table.rows:  # the notes of the same files have been told
                for note in notes:
                    self.on_warning(note)
            table.rows = rows
        columns = [*map(parse_column, questions), *(read_columns(file) if file is not None else ())]
        table.columns = keep_names(columns, table.columns) or table.columns
        plan = TablePlan(
            model=self.make_model(),
            open_source=lambda source: self.open(split_sources(source), load_all=True),
            make_searcher=self.make_searcher_factory(),
            agent_options=self.agent_options,
            jobs=jobs,
        )
        return table, plan


def open_library(sources: Sequence[str]) -> Library:
    """Return the library of some sources, with all its files loaded, as the person's settings say.

    Raises:
        RoamtuiError: A source cannot be read, sources cannot be combined, or the settings are invalid.
    """
    return Bootstrap().open(sources, load_all=True)[0]
