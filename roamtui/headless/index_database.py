"""`roamtui index --to URI`: the index of a source in a LanceDB database, written or deleted."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from roamtui.errors import UsageError
from roamtui.headless.indexing_progress import IndexingProgress
from roamtui.headless.output import write_notes, write_text
from roamtui.search.catalogue.entries import list_entries
from roamtui.search.choosing import make_keyword_searcher, make_searcher
from roamtui.search.lance.catalogue import LanceCatalogue
from roamtui.search.lance.database import Database
from roamtui.search.lance.layout import drop_tables

if TYPE_CHECKING:
    from roamtui.document.library import Library
    from roamtui.search.fused import SearchParts
    from roamtui.search.options import RetrievalOptions


def keep_database(library: Library, options: RetrievalOptions, parts: SearchParts, *, is_deleted: bool) -> None:
    """Bring the index of a library in a database up to date, or delete it, and say what was done.

    Args:
        library: All of it is loaded.
        options: Name the database, and say whether it holds vectors.
        parts: With the embedder, where vectors are wanted.
        is_deleted: Whether the index is deleted.

    Raises:
        UsageError: The library came by a pipe, or the database holds the index of other documents.
        RoamtuiError: The database or the embedder failed.
    """
    assert options.index is not None
    database = Database(options.index)
    if is_deleted:
        count = drop_tables(database)
        write_text(f"Deleted the index in {database.uri}\n" if count else f"There is no index in {database.uri}\n")
        return
    if library.source == "-":
        raise UsageError("what comes by a pipe has no index that could be kept. Name a file or a folder.")
    write_notes(library.notes)
    catalogue = LanceCatalogue(database)
    catalogue.save_summaries(library.summaries)
    library = replace(library, summaries=catalogue.load_summaries())
    progress = IndexingProgress()
    index = make_keyword_searcher(library, options).prepare(progress)
    if options.needs_vectors:
        searcher = make_searcher(library, options, parts)
        assert searcher is not None
        searcher.search("")  # embeds what is new
    catalogue.write(list_entries(library))
    count = len(catalogue.list_documents())
    documents = f"{count:,} document{'' if count == 1 else 's'}"
    size = database.measure()
    shown = f"; {size / 1e6:,.1f} MB" if size is not None else ""
    changed = f"{progress.total:,} of them new or changed"
    write_text(f"{documents}, {len(index):,} sections, {changed}{shown} in {database.uri}\n")
