"""Sets up search from the settings: embedder, reranker and index."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from dataclasses import replace
from functools import partial

from roamtui.document.library import Library
from roamtui.errors import UsageError
from roamtui.headless.index import update_database, update_index
from roamtui.headless.output import EmbeddingProgress, warn
from roamtui.models.recorded import RECORDED
from roamtui.models.registry import OFFLINE, make_model
from roamtui.models.search_models import EXAMPLES, BackgroundLoop, ModelReranker, make_embedder
from roamtui.paths import cache_path, indexes_path
from roamtui.search.base import Progress, Searcher, SearchServices
from roamtui.search.factory import make_searcher
from roamtui.search.index import IndexLocation
from roamtui.search.lance import LanceDatabase
from roamtui.search.options import SearchMode
from roamtui.settings import Settings


def make_searcher_factory(
    settings: Settings,
    on_warning: Callable[[str], None] = warn,
    progress: Progress | None = None,
    *,
    needs_vectors: bool = False,
    background: BackgroundLoop | None = None,
) -> Callable[[Library], Searcher | None]:
    """Return a function that creates a library's searcher, or returns None if search is off.

    Args:
        settings: The person's settings. The model that they name reranks.
        on_warning: Receives a sentence about each fallback and each rebuild.
        progress: Receives the progress of embedding, or None for lines on stderr.
        needs_vectors: Whether a hybrid search fails if its embedder fails, instead of falling back to keywords.
        background: Runs requests to providers, or None to make one.

    Raises:
        UsageError: A choice is unavailable. The message says what to choose or install.
        IndexLostError: The LanceDB database of the settings cannot be used.
    """
    options = settings.retrieval
    if options.index is not None and options.mode is not SearchMode.OFF:
        LanceDatabase(options.index)  # fails now instead of at the first search
    services = replace(make_search_services(settings, on_warning, progress, background), needs_vectors=needs_vectors)
    # Evaluation must not leave an index behind.
    location = None if needs_vectors else IndexLocation(folder=indexes_path(), on_warning=on_warning)
    return partial(make_searcher, options=options, services=services, location=location)


def _check_numpy(mode: SearchMode) -> None:
    if importlib.util.find_spec("numpy") is None:
        hint, install = f"{SearchMode.OFF} and {SearchMode.KEYWORD} work without", 'pip install "roamtui[vectors]"'
        raise UsageError(f"search mode {mode} needs numpy; {hint}. Install it with: {install}")


def make_search_services(
    settings: Settings,
    on_warning: Callable[[str], None] = warn,
    progress: Progress | None = None,
    background: BackgroundLoop | None = None,
) -> SearchServices:
    """Create the services that search needs in addition to a library. Nothing is loaded or requested yet.

    Arguments and errors are as in `make_searcher_factory`.
    """
    options = settings.retrieval
    needs_model = options.mode is not SearchMode.OFF and options.rerank == "on"
    if not options.needs_vectors and not needs_model:
        return SearchServices()
    background = background or BackgroundLoop()
    services = SearchServices(
        vector_folder=cache_path(), progress=progress or EmbeddingProgress(), on_warning=on_warning
    )
    if options.needs_vectors:
        _check_numpy(options.mode)
        if options.embedder is None:
            hint = f"{SearchMode.OFF} and {SearchMode.KEYWORD} work without"
            problem = f"search mode {options.mode} needs an embedder; {hint}"
            raise UsageError(f"{problem}. Name one with --embedder: {EXAMPLES}.")
        embedder = make_embedder(options.embedder, background, api_base=options.embedder_api_base)
        services = replace(services, embedder=embedder)
    if needs_model:
        name = settings.model
        if name == OFFLINE or name.startswith(RECORDED):
            raise UsageError(f"the model {OFFLINE} cannot rerank. Choose another with --model, or --rerank off.")
        model_options = settings.model_options(name)
        model = make_model(name, api_base=settings.api_base, options=model_options, worker=background.worker)
        services = replace(services, reranker=ModelReranker(model, background))
    return services


def update_search_index(library: Library, settings: Settings, *, delete: bool) -> None:
    """Build, update or delete the index of a library on this machine or in a database, and report the result.

    Raises:
        UsageError: The library came from standard input, or a choice is unavailable.
        RoamtuiError: The index cannot be written, or the embedder failed.
    """
    options, location = settings.retrieval, IndexLocation(folder=indexes_path(), on_warning=warn)
    services = replace(make_search_services(settings), needs_vectors=True)
    if options.index is not None:
        update_database(library, options, services, delete=delete)
        return
    update_index(library, location, delete=delete)
    if options.needs_vectors and not delete:
        searcher = make_searcher(library, options, services, location)
        assert searcher is not None
        searcher.search("")  # embeds what is new
