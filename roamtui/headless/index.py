"""`roamtui index`: builds, updates or deletes the search index of a source."""

from __future__ import annotations

import asyncio
import sys
from dataclasses import replace

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
from roamtui.search.base import IndexLostError
from roamtui.search.index import IndexLocation, SectionStore, delete_index
from roamtui.search.keyword import KeywordSearcher
from roamtui.search.lance import LanceDatabase, LanceWords

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
    if path is None or index.store.path is None:
        raise StoreError(f"could not write the index to {path}. Free some space there, or search without an index.")
    changed = f"{progress.count:,} of them new or changed"
    write_text(f"{len(index):,} sections, {changed}; {path.stat().st_size / 1e6:,.1f} MB in {path}\n")


def update_database(library: Library, uri: str, chunk_size: int, *, delete: bool) -> Library:
    """Build, update or delete the index of a library in a database, report the result, and return what was indexed.

    Raises:
        UsageError: The library came from standard input, or the database contains another library's index.
        IndexLostError: The database cannot be used.
    """
    database = LanceDatabase(uri)
    if delete:
        count = database.drop_index()
        write_text(f"Deleted the index in {database.uri}\n" if count else f"There is no index in {database.uri}\n")
        return library
    _check_source(library)
    write_notices(library.notes)
    database.save_summaries(library.summaries)
    library = replace(library, summaries=database.load_summaries())
    progress = ProgressLine(_SECTIONS)
    LanceWords(uri, library, chunk_size).prepare(progress)
    documents = format_count(len(list_file_ids(library)) or 1, "document")
    changed = f"{progress.count:,} of them new or changed"
    write_text(f"{documents}, {len(library):,} sections, {changed} in {database.uri}\n")
    return library


def _check_source(library: Library) -> None:
    if library.source == "-":
        raise UsageError("cannot index standard input. Give a file or a folder.")


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
    path = location.get_path(library)
    try:
        store = SectionStore(path)
    except IndexLostError as error:
        raise StoreError(f"could not use the index {path}: {error}. Delete it, or free some space there.") from None
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
