"""Runs `roamtui index`: summaries where they are wanted, then the index, on this machine or in a database."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from roamtui.assembly import make_model_for, warn
from roamtui.headless.output import EmbeddingProgress
from roamtui.libraries import open_library
from roamtui.locations import cache_path, indexes_path
from roamtui.retrieval import find_index_place, make_parts
from roamtui.search.choosing import make_searcher
from roamtui.search.index_name import SUMMARIES, name_index

if TYPE_CHECKING:
    from roamtui.command_arguments import IndexArguments
    from roamtui.document.library import Library
    from roamtui.search.base import SearchParts
    from roamtui.settings import Settings


def run_index(arguments: IndexArguments, settings: Settings) -> int:
    """Carry out `roamtui index` and return the exit status.

    Raises:
        RoamtuiError: The index or a summary could not be written.
    """
    library = open_library(arguments.sources, arguments.web)
    if arguments.summaries is not None and not arguments.is_deleted:
        library = _add_summaries(library, arguments, settings)
    options = settings.retrieval
    parts = replace(_make_parts(settings), needs_vectors=True)
    if options.index is not None:
        from roamtui.headless.index import keep_database  # noqa: PLC0415 - LanceDB is an extra

        keep_database(library, options, parts, is_deleted=arguments.is_deleted)
        return 0
    from roamtui.headless.index import keep_index  # noqa: PLC0415 - each command its own

    keep_index(library, find_index_place(warn), is_deleted=arguments.is_deleted)
    if options.needs_vectors and not arguments.is_deleted:
        searcher = make_searcher(library, options, parts, find_index_place(warn))
        assert searcher is not None
        searcher.search("")  # embeds what is new
    return 0


def _make_parts(settings: Settings) -> SearchParts:
    model = (settings.model, settings.api_base, settings.model_options(settings.model))
    return make_parts(settings.retrieval, model=model, cache=cache_path(), tell=warn, progress=EmbeddingProgress())


def _add_summaries(library: Library, arguments: IndexArguments, settings: Settings) -> Library:
    from roamtui.headless.index import SummaryOptions, add_summaries  # noqa: PLC0415 - few want them
    from roamtui.search.catalogue.summary_file import SummaryFile  # noqa: PLC0415 - likewise

    wanted = SummaryOptions(with_sections=arguments.summaries == "sections", is_agreed=arguments.is_agreed)
    file = SummaryFile(indexes_path() / f"{name_index(library.source)}{SUMMARIES}")
    return add_summaries(library, make_model_for(arguments.model, settings), file, wanted)
