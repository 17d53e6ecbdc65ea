"""Fills the cells of a table: asks the questions without an answer, several at a time, and records each answer."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from roamtui.agent.loop import Agent
from roamtui.agent.options import AgentOptions
from roamtui.conversation.conversation import Conversation
from roamtui.conversation.log import ConversationStore
from roamtui.conversation.state import OpenSectionOptions, make_conversation_id, start_conversation
from roamtui.conversation.transcript import Usage
from roamtui.document.counts import format_count
from roamtui.document.library import Library
from roamtui.document.loader import Loader
from roamtui.errors import RoamtuiError
from roamtui.models.base import Model
from roamtui.search.base import Searcher
from roamtui.table.cells import CELL_INSTRUCTIONS, Cell, CellState, read_answer
from roamtui.table.columns import Column
from roamtui.table.pace import LimitedModel
from roamtui.table.rows import OpenSource
from roamtui.table.store import Row, TableContent, TableDefined, TableStore, read_table

_FAILURES_MAX = 5
"""The run stops after this many failures of the model in a row."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TablePlan:
    """The model, and the options for filling the cells of a table."""

    model: Model
    open_source: OpenSource
    make_searcher: Callable[[Library], Searcher | None]
    agent_options: AgentOptions = field(default_factory=AgentOptions)
    open_section_options: OpenSectionOptions = field(default_factory=OpenSectionOptions)
    jobs: int = 1
    """Number of cells at a time."""
    limit_usd: float | None = None
    """Spending limit of the run, or None for no limit."""


@dataclass(frozen=True, kw_only=True)
class TableJob:
    """A table that is ready to be filled."""

    store: TableStore
    defined: TableDefined
    plan: TablePlan


@dataclass(slots=True)
class TableRun:
    """The progress of a run."""

    total: int
    """Number of cells, including those that already have an answer."""
    kept: int = 0
    """Number of cells with an answer from an earlier run."""
    asked: int = 0
    """Number of cells that this run has answered."""
    usage: Usage = field(default_factory=Usage)
    counts: dict[CellState, int] = field(default_factory=lambda: dict.fromkeys(CellState, 0))
    """Number of answered cells by state, old and new."""
    stop_reason: str = ""
    """Why the run ended early; empty if it did not."""
    failures: int = 0
    """Number of consecutive failures of the model."""
    unread: list[str] = field(default_factory=list)
    """Documents with earlier answers that could not be read, each with the reason. The answers stay unchecked."""

    @property
    def done(self) -> int:
        """Number of cells with an answer, old and new."""
        return self.kept + self.asked

    @property
    def unread_note(self) -> str:
        """A warning about documents that could not be read; empty if there are none."""
        count = format_count(len(self.unread), "document")
        lead = f"{count} could not be read, so earlier answers stay unchecked, such as "
        return f"{lead}{self.unread[0]}" if self.unread else ""

    @property
    def expected_usd(self) -> float | None:
        """Estimated cost of the whole run, or None until a cell of the run has been answered."""
        if self.usage.cost_usd is None or not self.asked:
            return None
        return self.usage.cost_usd / self.asked * (self.total - self.kept)

    def keep(self, cell: Cell) -> None:
        """Count a cell that was answered in an earlier run."""
        self.kept += 1
        self.counts[cell.state] += 1


class _Question(NamedTuple):
    row: Row
    column: Column
    library: Library
    loader: Loader | None
    conversation_id: str
    searcher: Searcher | None


async def fill_table(
    store: TableStore, defined: TableDefined, plan: TablePlan, on_progress: Callable[[TableRun, Cell | None], None]
) -> TableRun:
    """Ask the questions that this model has not answered yet about the current text of a row.

    Each cell is on disk before the next question of its job is asked, and before `on_progress` receives it. If the task
    is cancelled, only the cells that are being asked are lost.

    Raises:
        StoreError: A cell cannot be saved.
    """
    run = TableRun(total=len(defined.rows) * len(defined.columns))
    with store.start_run() as conversations:
        content = store.define(defined, read_table(store.folder))
        filler = _Filler(store, content, plan, run, conversations, on_progress)
        pending = iter(defined.rows)
        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(plan.jobs):
                    group.create_task(filler.fill_rows(pending))
        except ExceptionGroup as errors:
            error: Exception = errors
            while isinstance(error, ExceptionGroup):
                error = error.exceptions[0]
            raise error from None
        finally:
            await plan.model.close()
    return run


class _Filler:
    def __init__(
        self,
        store: TableStore,
        content: TableContent,
        plan: TablePlan,
        run: TableRun,
        conversations: ConversationStore,
        on_progress: Callable[[TableRun, Cell | None], None],
    ) -> None:
        self._store = store
        self._content = content
        self._plan = plan
        self._run = run
        self._conversations = conversations
        self._on_progress = on_progress
        self._model = LimitedModel(plan.model, plan.limit_usd)
        self._slots = asyncio.Semaphore(plan.jobs)

    async def fill_rows(self, pending: Iterator[Row]) -> None:
        for row in pending:  # shared by all jobs
            if self._run.stop_reason:
                return
            await self._fill_row(row)

    async def _fill_row(self, row: Row) -> None:
        """Ask about one row: the first question by itself, so that the provider has cached the text for the others."""
        plan, run, model = self._plan, self._run, self._model.name
        try:
            library, loader = await asyncio.to_thread(plan.open_source, row.source)
        except RoamtuiError as error:
            has_answers = False
            for column in self._content.columns:
                known = [self._content.get_cell(row.key, column.key, name) for name in (model, "")]
                answered = [cell for cell in known if cell is not None and cell.state is not CellState.FAILED]
                has_answers = has_answers or bool(answered)
                if not answered:
                    failed = Cell(row=row.key, column=column.key, content="", model=model, state=CellState.FAILED)
                    self._finish(replace(failed, note=str(error)))
                elif answered[0].model == model:
                    run.keep(answered[0])
            run.unread += [f"{row.title}: {error}"] if has_answers else []
            self._on_progress(run, None)
            return
        missing = []
        for column in self._content.columns:
            cell = self._content.get_cell(row.key, column.key, model)
            if cell is None or cell.content != library.content_hash or cell.state is CellState.FAILED:
                missing.append(column)
            else:
                run.keep(cell)
        self._on_progress(run, None)
        if not missing:
            return
        searcher = await asyncio.to_thread(plan.make_searcher, library) if loader is None else None
        prefix = make_conversation_id()
        questions = [_Question(row, one, library, loader, prefix + os.urandom(3).hex(), searcher) for one in missing]
        await self._fill_cell(questions[0])
        async with asyncio.TaskGroup() as group:
            for question in questions[1:]:
                group.create_task(self._fill_cell(question))

    async def _fill_cell(self, question: _Question) -> None:
        async with self._slots:
            if self._run.stop_reason:
                return
            cell = await self._ask(question)
            if self._model.has_reached_limit and cell.state is CellState.FAILED:
                self._run.stop_reason = (
                    cell.note
                )  # the cell is not recorded, so that the next run asks its question again
                return
            self._finish(cell)
            has_failed = cell.state is CellState.FAILED
            self._run.failures = self._run.failures + 1 if has_failed else 0
            if self._run.failures >= _FAILURES_MAX:
                self._run.stop_reason = f"{_FAILURES_MAX} cells in a row have failed: {cell.note}"

    async def _ask(self, question: _Question) -> Cell:
        row, column, library, loader, conversation_id, searcher = question
        plan = self._plan
        state = replace(start_conversation(library, plan.open_section_options), id=conversation_id)
        conversation = Conversation(state, store=self._conversations, loader=loader)
        conversation.is_one_shot = True
        if loader is not None:  # each conversation loads pages of its own, so each needs an index of its own
            searcher = await asyncio.to_thread(plan.make_searcher, library)
        note = f"The value must be {column.type_description}." if column.type_description else ""
        options = replace(
            plan.agent_options,
            cost_usd_max=None,
            instructions=CELL_INSTRUCTIONS,
            question_note=note,
            needs_certainty=True,
        )
        agent = Agent(conversation, self._model, searcher, options)
        try:
            exchange = await agent.ask(column.question)
        finally:
            conversation.close()
        assert exchange is not None
        cell = Cell(
            row=row.key,
            column=column.key,
            content=library.content_hash,
            model=self._model.name,
            state=CellState.FAILED,
            conversation=conversation.state.id,
            usage=exchange.usage,
        )
        return read_answer(cell, exchange, column, conversation.state.library)

    def _finish(self, cell: Cell) -> None:
        cell = self._store.record(cell)
        self._run.asked += 1
        self._run.counts[cell.state] += 1
        self._run.usage += cell.usage
        self._on_progress(self._run, cell)
