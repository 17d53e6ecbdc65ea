"""Prepares tables from arguments and settings: what a table is about, its folder, and how its cells are filled."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from roamtui.document.loader import is_url
from roamtui.document.loading import LoadingOptions
from roamtui.library_loader import open_lazily
from roamtui.paths import table_path
from roamtui.search_setup import make_searcher_factory
from roamtui.settings import Settings
from roamtui.sources.file_sources import split_sources
from roamtui.table.columns import Column, drop_repeated_columns
from roamtui.table.rows import list_rows
from roamtui.table.runner import TableJob, TablePlan
from roamtui.table.store import TableDefined, TableStore, is_table, read_table
from roamtui.wiring import build_model, make_agent_options


@dataclass(frozen=True, slots=True, kw_only=True)
class TableOptions:
    """Where a table is kept, and how it is filled."""

    folder: Path | None = None
    """The folder of the table, or None for the default folder of its sources."""
    jobs: int = 1


def prepare_table(
    sources: Sequence[str],
    columns: Sequence[Column],
    settings: Settings,
    loading: LoadingOptions | None = None,
    options: TableOptions | None = None,
) -> TableJob:
    """Return the definition of a table, the store for its folder, and the plan for filling its cells.

    An existing table is continued if its folder is the only source, or if its sources are given without columns.
    With its folder, it keeps its rows; with its sources, their documents are listed again.

    Raises:
        SourceError: A source cannot be read.
        UsageError: A choice is unavailable.
        StoreError: The folder of the table cannot be read.
    """
    options = options or TableOptions()
    folder, rows = options.folder, None
    is_folder = len(sources) == 1 and is_table(Path(sources[0]))
    if is_folder:
        folder = Path(sources[0])
    else:
        paths = [path for name in sources for path in split_sources(name)]
        sources = tuple(path if path == "-" or is_url(path) else os.path.abspath(path) for path in paths)  # noqa: PTH100 - links are kept
        folder = folder or table_path(sources)
    if is_folder or (not columns and options.folder is None and is_table(folder)):
        known = read_table(folder)
        sources, columns = known.sources, columns or known.columns
        rows = known.rows if is_folder else None
    plan = TablePlan(
        model=build_model(settings),
        open_source=lambda source: open_lazily(split_sources(source), loading, load_all=True),
        make_searcher=make_searcher_factory(settings),
        agent_options=make_agent_options(settings),
        open_section_options=settings.open_section_options(),
        jobs=options.jobs,
        limit_usd=settings.limits.max_cost_usd,
    )
    defined = TableDefined(
        sources=tuple(sources),
        rows=rows or list_rows(sources),
        columns=drop_repeated_columns(columns),
    )
    return TableJob(store=TableStore(folder), defined=defined, plan=plan)
