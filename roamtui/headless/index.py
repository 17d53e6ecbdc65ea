"""`roamtui index`: the search index of a source made before it is needed, or deleted."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial

from roamtui.agent.generated_texts import SummaryTask, estimate_summaries, plan_missing_summaries, write_summary
from roamtui.agent.tools.documents import list_files
from roamtui.conversation.transcript import Usage
from roamtui.document.library import Library
from roamtui.document.tokens import format_tokens
from roamtui.errors import ModelError, StoreError, UsageError
from roamtui.headless.output import write_note, write_notes, write_text
from roamtui.models.base import Model
from roamtui.models.litellm_model import LitellmModel
from roamtui.models.registry import OFFLINE
from roamtui.search.base import SearchServices
from roamtui.search.index import IndexLocation, delete_index
from roamtui.search.keyword import KeywordSearcher
from roamtui.search.lance import LanceDatabase, LanceSearcher, drop_tables, load_summaries, save_summaries
from roamtui.search.options import RetrievalOptions
from roamtui.search.summary_store import SummaryStore

_AT_ONCE = 4
"""Texts that are summarised side by side."""
_TOLD_TIMES = 20
_PIPED = "what comes by a pipe has no index that could be kept. Name a file or a folder."


class _WritingProgress:
    """Writes how far the words of sections are written, and remembers how many sections were new or changed."""

    def __init__(self) -> None:
        self.total = 0

    def __call__(self, done: int, total: int) -> None:
        self.total = total
        if sys.stderr.isatty():
            write_note(f"{done:,} of {total:,} sections")


def update_index(library: Library, place: IndexLocation, *, is_deleted: bool) -> None:
    """Bring the index of a library on disk up to date, or delete it, and say what was done.

    Raises:
        UsageError: It came by a pipe, so that no later run could use it.
        StoreError: It cannot be kept on disk, or not be deleted.
    """
    path = place.get_path(library)
    if is_deleted:
        try:
            was_there = path is not None and delete_index(path)
        except OSError as error:
            raise StoreError(f"The index {path} cannot be deleted: {error.strerror}.") from None
        write_text(f"Deleted {path}\n" if was_there else "There is no index of this source.\n")
        return
    write_notes(library.notes)
    if path is None:
        raise UsageError(_PIPED)
    progress = _WritingProgress()
    index = KeywordSearcher(library, place=replace(place, force=True)).prepare(progress)
    if index.store.path is None:
        raise StoreError(f"The index cannot be kept in {path}. Free some space there, or search without it.")
    size = path.stat().st_size
    write_text(f"{len(index):,} sections, {progress.total:,} of them new or changed; {size / 1e6:,.1f} MB in {path}\n")


def update_database(library: Library, options: RetrievalOptions, parts: SearchServices, *, is_deleted: bool) -> None:
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
    database = LanceDatabase(options.index)
    if is_deleted:
        count = drop_tables(database)
        write_text(f"Deleted the index in {database.uri}\n" if count else f"There is no index in {database.uri}\n")
        return
    if library.source == "-":
        raise UsageError(_PIPED)
    write_notes(library.notes)
    save_summaries(database, library.summaries)
    library = replace(library, summaries=load_summaries(database))
    progress = _WritingProgress()
    passages = LanceSearcher(library, options, parts).prepare(progress)
    count = len(list_files(library)) or 1
    documents = f"{count:,} document{'' if count == 1 else 's'}"
    size = database.measure()
    shown = f"; {size / 1e6:,.1f} MB" if size is not None else ""
    changed = f"{progress.total:,} of them new or changed"
    write_text(f"{documents}, {len(passages):,} sections, {changed}{shown} in {database.uri}\n")


def add_summaries(
    library: Library, model: Model, file: SummaryStore, *, with_sections: bool, is_agreed: bool
) -> Library:
    """Let a model write the summaries that are missing, and return the library with all of them.

    What is written is kept at once, so that a run that was stopped goes on where it was.

    Args:
        library: All of it is loaded.
        model: Who writes; it is closed in the end.
        file: Keeps what is written.
        with_sections: Whether each section of some length gets one, too.
        is_agreed: Whether the cost need not be asked about.

    Raises:
        UsageError: The model cannot write, or nobody agreed to the cost.
        ModelError: The model failed.
        StoreError: Summaries cannot be kept.
    """
    if model.name == OFFLINE:
        raise UsageError(f"the model {OFFLINE} writes no summaries. Choose another with --model.")
    plan = partial(plan_missing_summaries, library, file.load(model.name), with_sections=with_sections)
    asyncio.run(_add(plan, model, file, is_agreed=is_agreed))
    return replace(library, summaries=file.load())


async def _add(
    plan: Callable[..., tuple[SummaryTask, ...]], model: Model, file: SummaryStore, *, is_agreed: bool
) -> None:
    try:
        if not plan(window_tokens=model.window_tokens):
            write_note(f"All summaries by {model.name} are there.")
            return
        prices = await model.describe() if isinstance(model, LitellmModel) else None
        tasks = plan(window_tokens=model.window_tokens)
        estimate, cost = estimate_summaries(tasks), ""
        if prices is not None and prices.input_usd is not None and prices.output_usd is not None:
            usd = estimate.input_tokens * prices.input_usd + estimate.output_tokens * prices.output_usd
            cost = f", about ${usd:.2f}"
        sent, got = format_tokens(estimate.input_tokens), format_tokens(estimate.output_tokens)
        head = f"{estimate.texts:,} summaries by {model.name}: {estimate.requests:,} requests"
        write_note(f"{head}, about {sent} tokens to send and {got} to get{cost}.")
        if not is_agreed:
            _ask_person()
        await _write_all(tasks, model, file)
    finally:
        await model.close()


def _ask_person() -> None:
    """Go on only where a person says so.

    Raises:
        UsageError: There is none, or they do not want it.
    """
    if not sys.stdin.isatty():
        raise UsageError("nobody is there to agree to that. Add --yes to go on.")
    sys.stderr.write("Go on? [y/N] ")
    sys.stderr.flush()
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise UsageError("no summaries were written.")


async def _write_all(tasks: tuple[SummaryTask, ...], model: Model, file: SummaryStore) -> None:
    """Write summaries side by side. Where the model fails, those under way are finished and no others begun."""
    waiting, done, spent, failures = iter(tasks), 0, Usage(), list[ModelError]()

    async def work() -> None:
        nonlocal done, spent
        for task in waiting:
            if failures:
                return
            try:
                summary = await write_summary(model, task)
            except ModelError as error:
                failures.append(error)
                return
            file.save({task.digest: summary.text}, model.name)
            done += 1
            spent += summary.usage
            if done == len(tasks) or done % max(1, len(tasks) // _TOLD_TIMES) == 0:
                write_note(f"{done:,} of {len(tasks):,} summaries")

    await asyncio.gather(*(work() for _ in range(_AT_ONCE)))
    cost = f", ${spent.cost_usd:.4f}" if spent.cost_usd is not None else ""
    write_note(f"{format_tokens(spent.input_tokens)} tokens sent, {format_tokens(spent.output_tokens)} got{cost}.")
    if failures:
        kept = f"{done:,} of {len(tasks):,} summaries are kept; run it again to go on."
        raise ModelError(f"{failures[0]} {kept}")
