"""Fills a table: asks the questions that have no answer, and records each answer."""

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import closing
from functools import partial
from itertools import islice
from pathlib import Path

from msgspec import Struct, field
from msgspec.structs import replace

from roamtui.agent.agent import Agent
from roamtui.agent.approvals import SpendingLimit
from roamtui.agent.options import AgentOptions
from roamtui.conversation.conversation import Conversation
from roamtui.conversation.events import StopReason
from roamtui.conversation.messages import OFFLINE, Usage
from roamtui.conversation.notices import format_cost, format_usage
from roamtui.conversation.state import make_conversation_id
from roamtui.conversation.update import AskOptions
from roamtui.document.library import Library
from roamtui.errors import RoamtuiError, SourceError, StoreError
from roamtui.models.base import Model
from roamtui.models.usage import add_cost
from roamtui.opening.loader import Loader, OpenedSource
from roamtui.outline.coverage import measure_coverage
from roamtui.outline.delivered import WHOLE_TOKENS_MAX
from roamtui.parallel import call_in_thread, open_in_thread
from roamtui.search.searcher import Searcher
from roamtui.sources.listing import stamp_path
from roamtui.sources.read import is_path
from roamtui.table.cells import CELL_INSTRUCTIONS, Cell, CellState, complete_cell, recheck_cell
from roamtui.table.columns import Column
from roamtui.table.store import ResultRow, ResultTable, TableLog
from roamtui.text import BYTES_PER_TOKEN, format_count, format_token_count

_FAILURES_MAX = 5
"""The run stops after this many failures of the model in a row."""
_UNREADABLE_SHOWN_MAX = 5
"""Maximum number of documents that a warning names."""
_CELL_USAGE = Usage(input_tokens=9_000, output_tokens=300, cost_usd=None)
"""Expected usage of the first cell: 2.6 requests of 3,400 tokens (docs/benchmarks.md)."""
_REQUEST_TOKENS = 1_000
"""System text, tools, instructions and question of one request. A short document comes whole with them."""


class TablePlan(Struct, frozen=True, kw_only=True):
    """The model, and the options for filling the cells of a table."""

    model: Model
    open_source: Callable[[str], OpenedSource]
    """Opens a source by its path or URL, with all its files, or raises SourceError."""
    make_searcher: Callable[[Library], Searcher | None]
    agent_options: AgentOptions = field(default_factory=AgentOptions)
    """The spending limit holds for the whole run."""
    jobs: int = 1
    """Number of documents at a time."""


class TableRun(Struct, kw_only=True):
    """A run that fills the cells of a table, and its progress."""

    table: ResultTable
    columns: tuple[Column, ...]
    """The columns to fill."""
    plan: TablePlan
    log: TableLog
    on_progress: "OnProgress"
    confirm: "Confirm"
    spending: SpendingLimit
    is_approved: bool | None = None
    """Whether the person agreed; None before they are asked."""
    approval_lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    pending: int = 0
    """Number of cells still to ask. It grows if a document that is opened has changed."""
    estimate: Usage = Usage()
    """Expected usage of the pending cells. It is computed when `fill_table` asks for approval."""
    asked: int = 0
    """Number of cells that this run has finished, with or without an answer."""
    usage: Usage = Usage()
    """Usage of all requests of the run, also of those for failed cells."""
    stop_reason: str = ""
    """Why the run ended early; empty if it did not."""
    failures: int = 0
    """Number of consecutive failures of the model."""
    unreadable: dict[str, str] = field(default_factory=dict)
    """By source: the document that could not be opened, and why. Its earlier answers stay."""
    unanswered: list[str] = field(default_factory=list)
    """The questions of this run that failed: the document and the reason of each."""

    @property
    def kept(self) -> int:
        """Number of cells that an earlier run finished."""
        return self.table.states.total() - self.asked

    @property
    def problems(self) -> tuple[str, ...]:
        """Sentences that say why the run ended early, what could not be read, and which questions failed."""
        problems: list[str] = []
        if self.stop_reason:
            left = f" {format_count(self.pending, 'cell')} left to fill." if self.pending else ""
            problems.append(f"Stopped. {self.stop_reason}{left}")
        if self.unreadable:
            count = format_count(len(self.unreadable), "document")
            reasons = islice(self.unreadable.values(), _UNREADABLE_SHOWN_MAX)
            cells = self.table.cells.values()
            has_answers = any(
                cell.row in self.unreadable and cell.state is not CellState.FAILED for cell in cells
            )
            stay = ["Earlier answers stay."] if has_answers else []
            problems.append(" ".join([f"{count} could not be read.", *stay, *reasons]))
        if self.unanswered:
            questions = format_count(len(self.unanswered), "question")
            problems.append(f"{questions} failed. {self.unanswered[-1]}")
        return tuple(problems)

    async def request_approval(self) -> bool:
        """Return whether the person agrees to asking the model. They are asked once in a run."""
        async with self.approval_lock:
            if self.is_approved is None:
                model = self.plan.model
                self.estimate = _estimate_usage(self.table, model, self.pending)
                self.is_approved = model.name == OFFLINE or await self.confirm(self)
            return self.is_approved

    def must_ask(self, cell: Cell | None, text_hash: str | None = None) -> bool:
        """Return whether to ask for a cell. With `text_hash`, also ask if the cell is about another text.

        A passage never replaces a model's answer. The same model on another server counts as another model.
        """
        if cell is None or cell.state is CellState.FAILED:
            return True
        model = self.plan.model.name
        if model == OFFLINE != cell.model:
            return False
        server = self.plan.model.facts.server
        is_moved = None not in (server, cell.server) and server != cell.server
        return cell.model != model or is_moved or text_hash not in (None, cell.text_hash)

    async def fill_rows(self, rows: Iterator[ResultRow]) -> None:
        """Fill row after row. All jobs take their rows from the same iterator `rows`."""
        for row in rows:
            if self.stop_reason or self.is_approved is False:
                return
            try:
                library, loader = await self._open(row)
            except Exception as error:  # noqa: BLE001 - a defect ends one row, not the table
                reason = _format_failure(error)
                lead = "" if reason.startswith(row.title) else f"{row.title}: "
                self.unreadable[row.source] = f"{lead}{reason}"
                for column in self.columns:
                    cell = self.table.get_cell(row, column)
                    if cell is None or cell.state is CellState.FAILED:
                        self._record(replace(self._make_failed(row.source, column), note=reason))
            else:
                await self._fill_row(row, library, loader)

    async def _open(self, row: ResultRow) -> OpenedSource:
        opened = await asyncio.to_thread(self.plan.open_source, row.source)
        if not opened.library.has_text:
            raise SourceError("The document has no text.")
        return opened

    def _make_failed(self, source: str, column: Column, text_hash: str = "") -> Cell:
        model = self.plan.model.name
        return Cell(row=source, column=column.key, text_hash=text_hash, model=model, state=CellState.FAILED)

    async def _fill_row(self, row: ResultRow, library: Library, loader: Loader | None) -> None:
        """Ask about one document, one question after the other, so that the provider caches the text."""
        cells = [(column, self.table.get_cell(row, column)) for column in self.columns]
        async for again in _recheck_row(self.table, row, library):
            self.on_progress(self, again)
        missing = [column for column, cell in cells if self.must_ask(cell, library.files_hash)]
        self.pending += len(missing) - sum(self.must_ask(cell) for _, cell in cells)
        if missing and not await self.request_approval():
            return
        # providers cache the start of a prompt, and it depends on the start of the conversation's id
        prompt_id = make_conversation_id()
        searcher: Searcher | None = None
        for column in missing:
            if self.stop_reason:
                return
            cell = self._make_failed(row.source, column, library.files_hash)
            new_id = prompt_id + os.urandom(3).hex()
            conversation = Conversation(library, source_loader=loader, new_id=new_id)
            try:
                searcher = searcher or await asyncio.to_thread(self.plan.make_searcher, library)
                answered = await self._ask(conversation, searcher, column, cell)
            except Exception as error:  # noqa: BLE001 - a defect ends one cell, not the table
                answered = replace(cell, note=_format_failure(error))
            if answered is None:
                continue
            self._record(answered)
            has_failed = answered.state is CellState.FAILED
            self.failures = self.failures + 1 if has_failed else 0
            if has_failed:
                self.unanswered.append(f"{row.title}: {answered.note}")
            if self.failures >= _FAILURES_MAX:
                self.stop_reason = f"The last {_FAILURES_MAX} questions failed: {answered.note}"

    async def _ask(
        self, conversation: Conversation, searcher: Searcher | None, column: Column, cell: Cell
    ) -> Cell | None:
        """Ask one question, and return its cell, or None if it would cost too much."""
        note = f"The value must be {column.type_description}." if column.type_description else ""
        options = replace(self.plan.agent_options, instructions=CELL_INSTRUCTIONS, question_note=note)
        agent = Agent(conversation, self.plan.model, searcher, options, self.spending)
        try:
            exchange = await agent.ask(column.question, AskOptions(is_one_shot=True))
        finally:
            conversation.close()
            spent = conversation.state.spent
            self.usage += spent
        assert exchange is not None
        if exchange.stopped is StopReason.COST:  # the next run asks the question again
            limit = self.spending.usd_max
            self.stop_reason = f"The next question could exceed your spending limit of ${limit:,.10g}."
            return None
        cell = replace(cell, usage=spent)
        coverage = await asyncio.to_thread(measure_coverage, conversation.state.library)
        return complete_cell(cell, exchange, column, coverage)

    def _record(self, cell: Cell) -> None:
        try:
            self.log.record(cell)
        except StoreError as error:
            self.stop_reason = str(error)
            return
        self.asked += 1
        self.pending -= 1
        self.on_progress(self, cell)


OnProgress = Callable[[TableRun, Cell | None], None]
Confirm = Callable[[TableRun], Awaitable[bool]]


async def fill_table(
    table: ResultTable,
    plan: TablePlan,
    on_progress: OnProgress,
    confirm: Confirm,
    columns: tuple[Column, ...] | None = None,
) -> TableRun:
    """Ask the questions of `columns`, or of all, that the model has not answered about the current texts.

    A model is asked only if `confirm` agrees to the estimate. The offline model only fills cells that have no
    model's answer. Each cell is on disk before `on_progress` receives it. If the task is cancelled, only
    unfinished cells are lost. Raise `StoreError` if the table cannot be used.
    """
    log = await open_in_thread(partial(TableLog, table), TableLog.close)
    with closing(log):
        log.begin_run()
        run = TableRun(
            table=table,
            columns=columns or table.columns,
            plan=plan,
            log=log,
            on_progress=on_progress,
            confirm=confirm,
            spending=SpendingLimit(plan.agent_options.cost_usd_max, is_shared=True),
        )
        for row in table.gone_rows:
            run.unreadable[row.source] = f"{row.title} cannot be found, so it is left out."
        rows = iter(table.rows)
        try:
            await plan.model.start()  # before this, its server and prices are unknown
            cells = [table.get_cell(row, column) for row in table.rows for column in run.columns]
            run.pending = sum(map(run.must_ask, cells))
            is_approved = not run.pending or await run.request_approval()
            on_progress(run, None)
            if not is_approved:
                return run
            async with asyncio.TaskGroup() as group:
                for _ in range(plan.jobs):
                    group.create_task(run.fill_rows(rows))
        finally:
            await plan.model.close()
    return run


async def recheck_cells(table: ResultTable, plan: TablePlan) -> AsyncIterator[Cell]:
    """Look up quotes in the files that have changed since, and yield each cell with another result.

    It is not saved, because the next run asks the question again. Pages of the web are not fetched for this.
    """
    for row in table.rows:
        if is_path(row.source) and any(cell is not None for cell in table.list_cells(row)):
            try:
                library, _ = await call_in_thread(plan.open_source, row.source)  # quitting does not wait
            except RoamtuiError:  # the next run says so
                continue
            async for cell in _recheck_row(table, row, library):
                yield cell


async def _recheck_row(table: ResultTable, row: ResultRow, library: Library) -> AsyncIterator[Cell]:
    for column in table.columns:
        if (cell := table.get_cell(row, column)) is not None:
            again = await asyncio.to_thread(recheck_cell, cell, column, library)
            if again is not cell and table.get_cell(row, column) is cell:  # nobody has answered it meanwhile
                table.put(again)
                yield again


def _estimate_usage(table: ResultTable, model: Model, count: int) -> Usage:
    """Estimate the usage of `count` cells, by the average of the cells that the model has answered.

    If it has answered none, the sizes of the files tell which documents come whole, in one request.
    """
    cells = table.cells.values()
    used = [cell.usage for cell in cells if cell.model == model.name and cell.usage.input_tokens]
    used = used or [_expect_usage(row) for row in table.rows]
    usage = Usage(
        input_tokens=count * sum(each.input_tokens for each in used) // len(used),
        output_tokens=count * sum(each.output_tokens for each in used) // len(used),
        cost_usd=None,
    )
    return add_cost(usage, model.facts.prices)


def _expect_usage(row: ResultRow) -> Usage:
    stamp = stamp_path(Path(row.source)) if is_path(row.source) else None
    tokens = WHOLE_TOKENS_MAX + 1 if stamp is None else stamp[1] // BYTES_PER_TOKEN
    if tokens > WHOLE_TOKENS_MAX:
        return _CELL_USAGE
    return replace(_CELL_USAGE, input_tokens=_REQUEST_TOKENS + tokens)


def format_estimate(run: TableRun) -> str:
    """Format how many cells a run will ask, and their expected tokens and cost."""
    tokens = f"~{format_token_count(run.estimate.input_tokens)}"
    more = "more if a document has changed" if run.kept else ""
    parts = [format_count(run.pending, "cell"), tokens, format_cost(run.estimate), more]
    return " · ".join(filter(None, parts))


def _format_failure(error: Exception) -> str:
    return str(error) if isinstance(error, RoamtuiError) else f"Internal error ({type(error).__name__})."


def format_progress(run: TableRun) -> str:
    """Format how many cells are finished, by state, and the usage of the run."""
    counts = run.table.states
    counted = [(state, counts[state]) for state in CellState if counts[state]]
    states = ", ".join(
        format_count(count, state.label) if state is CellState.PASSAGE else f"{count:,} {state.label}"
        for state, count in counted
    )
    total = len(run.table.rows) * len(run.table.columns)
    parts = [f"{counts.total():,} of {total:,} cells{': ' if states else ''}{states}"]
    if run.pending:
        parts.append(f"{format_count(run.pending, 'cell')} left to fill")
    if usage := format_usage(run.usage):
        parts.append(f"this run read {usage}")
    return " · ".join(parts)
