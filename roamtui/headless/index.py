"""`roamtui index`: builds, updates or deletes the search index of a source."""

from __future__ import annotations

import asyncio
import sys
from dataclasses import replace
from pathlib import Path

from roamtui.agent.generated_texts import SummaryTask, estimate_summaries, plan_missing_summaries, write_summary
from roamtui.agent.tools.documents import list_file_ids
from roamtui.document.counts import format_count
from roamtui.document.library import Library
from roamtui.document.tokens import format_tokens
from roamtui.errors import ModelError, StoreError, UsageError, format_reason
from roamtui.headless.output import ProgressLine, write_notice, write_notices, write_text
from roamtui.models.base import Model
from roamtui.models.litellm_model import LitellmModel
from roamtui.models.registry import OFFLINE
from roamtui.search.base import SearchServices
from roamtui.search.index import IndexLocation, SectionStore, StoreProvider, delete_index
from roamtui.search.keyword import KeywordSearcher
from roamtui.search.lance import LanceDatabase, LanceSearcher, drop_tables, load_summaries, save_summaries
from roamtui.search.options import RetrievalOptions

_REQUESTS_AT_ONCE = 4
_SECTIONS = "{:,} of {:,} sections"


def update_index(library: Library, location: IndexLocation, *, delete: bool) -> None:
    """Build, update or delete the index of a library on disk, and report the result.

    Raises:
        UsageError: The library came from standard input, so no later run could use the index.
        StoreError: The index cannot be written or deleted.
    """
    path = location.get_path(library)
    if delete:
        try:
            existed = path is not None and delete_index(path)
        except OSError as error:
            raise StoreError(f"could not delete the index {path}: {format_reason(error)}.") from None
        write_text(f"Deleted {path}\n" if existed else "There is no index of this source.\n")
        return
    _check_source(library)
    write_notices(library.notes)
    progress = ProgressLine(_SECTIONS)
    index = KeywordSearcher(library, location=replace(location, force=True)).prepare(progress)
    path = _check_path(index.store.path, location, library)
    size = path.stat().st_size
    write_text(f"{len(index):,} sections, {progress.count:,} of them new or changed; {size / 1e6:,.1f} MB in {path}\n")


def update_database(library: Library, options: RetrievalOptions, services: SearchServices, *, delete: bool) -> None:
    """Build, update or delete the index of a library in a database, and report the result.

    Raises:
        UsageError: The library came from standard input, or the database contains another library's index.
        RoamtuiError: The database or the embedder failed.
    """
    assert options.index is not None
    database = LanceDatabase(options.index)
    if delete:
        count = drop_tables(database)
        write_text(f"Deleted the index in {database.uri}\n" if count else f"There is no index in {database.uri}\n")
        return
    _check_source(library)
    write_notices(library.notes)
    save_summaries(database, library.summaries)
    library = replace(library, summaries=load_summaries(database))
    progress = ProgressLine(_SECTIONS)
    passages = LanceSearcher(library, options, services).prepare(progress)
    documents = format_count(len(list_file_ids(library)) or 1, "document")
    changed = f"{progress.count:,} of them new or changed"
    write_text(f"{documents}, {len(passages):,} sections, {changed} in {database.uri}\n")


def _check_source(library: Library) -> None:
    if library.source == "-":
        raise UsageError("cannot index standard input. Give a file or a folder.")


def _check_path(path: Path | None, location: IndexLocation, library: Library) -> Path:
    if path is None:
        place = location.get_path(library)
        raise StoreError(f"could not write the index to {place}. Free some space there, or search without an index.")
    return path


def add_summaries(library: Library, model: Model, location: IndexLocation, *, assume_yes: bool) -> Library:
    """Have a model write the missing summaries into the index, and return the library with all of them.

    Each summary is saved immediately, so that an interrupted run can be resumed. The model is closed at the end.

    Args:
        library: All its files must be loaded.
        model: Writes the summaries.
        location: Where the index is.
        assume_yes: Whether to skip the question about the cost.

    Raises:
        UsageError: The model cannot write summaries, the person declined, or the library came from standard input.
        ModelError: The model failed.
        StoreError: The index cannot be written.
    """
    if model.name == OFFLINE:
        raise UsageError(f"the model {OFFLINE} cannot write summaries. Choose another with --model.")
    _check_source(library)
    store = StoreProvider(replace(location, force=True)).open(library)
    _check_path(store.path, location, library)
    tasks = plan_missing_summaries(library, store.load_summaries())
    if tasks:
        asyncio.run(_write_summaries(tasks, model, store, assume_yes=assume_yes))
    else:
        write_notice("All summaries exist already.")
    summaries = store.load_summaries()
    store.close()
    return replace(library, summaries=summaries)


async def _write_summaries(
    tasks: tuple[SummaryTask, ...], model: Model, store: SectionStore, *, assume_yes: bool
) -> None:
    done, progress = 0, ProgressLine("{:,} of {:,} summaries")

    async def write_one(task: SummaryTask) -> None:
        nonlocal done
        summary = await write_summary(model, task)
        store.save_summaries({task.digest: summary.text})
        done += 1
        progress(done, len(tasks))

    try:
        await _announce_cost(tasks, model)
        if not assume_yes and not sys.stdin.isatty():
            raise UsageError("confirmation needed. Add --yes to continue without a terminal.")
        if not assume_yes and not _confirm():
            raise UsageError("no summaries were written.")
        for start in range(0, len(tasks), _REQUESTS_AT_ONCE):
            batch = map(write_one, tasks[start : start + _REQUESTS_AT_ONCE])
            for error in filter(None, await asyncio.gather(*batch, return_exceptions=True)):
                raise error
    except ModelError as error:
        saved = f"{done:,} of {len(tasks):,} summaries are saved; run it again to continue."
        raise ModelError(f"{error} {saved}") from None
    finally:
        await model.close()


async def _announce_cost(tasks: tuple[SummaryTask, ...], model: Model) -> None:
    prices = await model.describe() if isinstance(model, LitellmModel) else None
    estimate, cost = estimate_summaries(tasks), ""
    if prices is not None and prices.input_usd is not None and prices.output_usd is not None:
        usd = estimate.input_tokens * prices.input_usd + estimate.output_tokens * prices.output_usd
        cost = f", about ${usd:.2f}"
    sent, received = format_tokens(estimate.input_tokens), format_tokens(estimate.output_tokens)
    head = f"{format_count(len(tasks), 'summary', 'summaries')} by {model.name}"
    write_notice(f"{head}: about {sent} input and {received} output tokens{cost}.")


def _confirm() -> bool:
    sys.stderr.write("Continue? [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")
