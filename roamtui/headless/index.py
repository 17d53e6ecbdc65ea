"""`roamtui index`: builds, updates or deletes the search index of a source."""

import asyncio

from msgspec.structs import replace

from roamtui.agent.approvals import SpendingLimit, format_embedding
from roamtui.agent.introductions import SUMMARY_PROMPT, SummaryTask, plan_missing_summaries, request_summary
from roamtui.conversation.messages import OFFLINE, Usage
from roamtui.conversation.notices import format_cost, format_usage
from roamtui.document.library import Library
from roamtui.errors import ModelError, StoreError, UsageError
from roamtui.models.base import Model
from roamtui.models.usage import UsageMeter, add_cost
from roamtui.output import ProgressLine, require_confirmation, warn, write_display, write_notice
from roamtui.paths import get_cache_path
from roamtui.search.base import RetrievalOptions, SearchServices
from roamtui.search.index import IndexLocation
from roamtui.search.keyword import KeywordRanker
from roamtui.search.lance import LanceStore
from roamtui.search.searcher import make_searcher
from roamtui.search.section_store import SUMMARIES, SectionStore, delete_index
from roamtui.text import estimate_tokens, format_count, format_tokens

_REQUESTS_AT_ONCE = 4
_SUMMARY_TOKENS = 90


def delete_source_index(library: Library, options: RetrievalOptions) -> None:
    """Delete the index of a library on disk and in the database of the options. Say what was deleted.

    Raises:
        OSError: The file cannot be deleted.
        IndexLostError: The database cannot be used.
    """
    path = IndexLocation(folder=get_cache_path("indexes")).get_path(library)
    deleted = [str(path)] if path is not None and delete_index(path) else []
    if options.index is not None and LanceStore(options.index).delete():
        deleted.append(options.index)
    write_display(f"Deleted {' and '.join(deleted)}\n" if deleted else "There is no index of this source.\n")


def run_index(
    library: Library,
    options: RetrievalOptions,
    services: SearchServices,
    model: Model | None,
    spending: SpendingLimit,
    *,
    assume_yes: bool,
) -> None:
    """Build or update the index of a library: words on disk, vectors there or in the database of the options.

    All files of the library must be loaded. `model`, if any, writes the missing summaries, and is closed at
    the end. Unless `assume_yes`, the person must agree to their cost. The cost counts against `spending`.

    Raises:
        RoamtuiError: The source is standard input, the model failed, the person declined, or the index or the
            database cannot be used.
    """
    location = IndexLocation(folder=get_cache_path("indexes"), stores_small=True, on_warning=warn)
    path = location.get_path(library)
    if path is None:
        raise UsageError("standard input cannot be indexed. Name a file or a folder.")
    if model is not None:
        library = add_summaries(library, model, location, spending, assume_yes=assume_yes)
    progress = ProgressLine("{:,} of {:,} sections")
    had_file = path.exists()
    index = KeywordRanker(location).update_index(library, progress)
    if had_file and not path.exists():  # the file was damaged, so it has been deleted
        index = KeywordRanker(location).update_index(library, progress)
    if index.store.path is None:
        advice = "Free some space there, allow writing, or search without an index."
        raise StoreError(f"could not write the index to {path}. {advice}")
    place = f"{path} ({path.stat().st_size / 1e6:,.1f} MB)"
    size = format_count(library.section_count, "section")
    entries = format_count(progress.count, "entry", "entries")
    write_display(f"{size}; {entries} new or changed, in {place}\n")
    if services.embedder is not None and (searcher := make_searcher(library, options, services, location)):
        if (plan := searcher.plan_embedding()) is not None:
            write_notice(format_embedding(plan))
        searcher.embed_all()
        coverage = searcher.vector_coverage
        compared = coverage.format()
        if not searcher.knows_language:
            compared = "The model for search by meaning does not compare German text. Its words are searched."
        elif coverage.is_complete:
            compared = "All sections that have text are compared by meaning."
        write_display(f"{compared}\n")


def add_summaries(
    library: Library, model: Model, location: IndexLocation, spending: SpendingLimit, *, assume_yes: bool
) -> Library:
    """Let a model write the missing summaries into the index. Return the library with all summaries.

    Each summary is saved at once, so that a later run can continue an interrupted one.
    """
    if model.name == OFFLINE:
        raise UsageError(f'the model "{OFFLINE}" cannot write summaries. Choose another with --model.')
    store = SectionStore(location.get_path(library))
    try:
        if tasks := plan_missing_summaries(library, store.load(SUMMARIES)):
            asyncio.run(_write_summaries(tasks, model, store, spending, assume_yes=assume_yes))
        else:
            write_notice("All summaries exist already.")
        return replace(library, summaries=store.load(SUMMARIES))
    finally:
        store.close()


async def _write_summaries(
    tasks: tuple[SummaryTask, ...],
    model: Model,
    store: SectionStore,
    spending: SpendingLimit,
    *,
    assume_yes: bool,
) -> None:
    done = 0
    total = Usage()
    progress = ProgressLine("{:,} of {:,} summaries")

    async def write_one(task: SummaryTask) -> None:
        nonlocal done, total
        release = spending.reserve(task.digest, Usage(), _estimate(model, task))
        if release is None:
            limit = f"${spending.usd_max:,.10g}"
            raise ModelError(f"The next summary could exceed your spending limit of {limit}.")
        meter = UsageMeter()
        try:
            store.save(SUMMARIES, {task.digest: await request_summary(model, task, meter)})
        finally:
            usage = meter.take()
            release(usage)
            total += usage
        done += 1
        progress(done, len(tasks))

    try:
        await model.start()
        planned = sum((_estimate(model, task) for task in tasks), Usage())
        sent, written = format_tokens(planned.input_tokens), format_tokens(planned.output_tokens)
        cost = format_cost(planned)
        work = f"read about {sent} tokens and write about {written}{f' ({cost})' if cost else ''}"
        write_notice(f"For {format_count(len(tasks), 'summary', 'summaries')}, {model.name} will {work}.")
        require_confirmation("Continue?", "no summaries were written", assume_yes=assume_yes)
        for start in range(0, len(tasks), _REQUESTS_AT_ONCE):
            batch = map(write_one, tasks[start : start + _REQUESTS_AT_ONCE])
            errors = [error for error in await asyncio.gather(*batch, return_exceptions=True) if error]
            if errors:
                raise errors[0]
    except ModelError as error:
        saved = f"{done:,} of {len(tasks):,} summaries are saved; run it again to continue."
        raise ModelError(f"{error} {saved}") from None
    finally:
        if used := format_usage(total):
            write_notice(f"{model.name} read {used}.")
        await model.close()


def _estimate(model: Model, task: SummaryTask) -> Usage:
    sent = estimate_tokens(SUMMARY_PROMPT) + estimate_tokens(task.text)
    usage = Usage(input_tokens=sent, output_tokens=_SUMMARY_TOKENS, cost_usd=None)
    return add_cost(usage, model.facts.prices)
