"""`roamtui index --summaries`: says what summaries cost, asks, and has the model write those that are missing."""

from __future__ import annotations

import asyncio
import sys
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from roamtui.agent.summarising import estimate_summaries, plan_summaries, write_summary
from roamtui.conversation.transcript import Usage
from roamtui.document.tokens import format_tokens
from roamtui.errors import ModelError, UsageError
from roamtui.headless.output import write_note
from roamtui.models.choose import OFFLINE

if TYPE_CHECKING:
    from roamtui.agent.summarising import SummaryEstimate, SummaryTask
    from roamtui.document.library import Library
    from roamtui.models.base import Model
    from roamtui.models.worker.jobs import Description
    from roamtui.search.catalogue.summary_file import SummaryFile

_AT_ONCE = 4
"""Texts that are summarised side by side."""
_TOLD_TIMES = 20


@runtime_checkable
class _Described(Protocol):
    async def describe(self) -> Description: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryOptions:
    """What a person wants of summaries."""

    with_sections: bool
    is_agreed: bool
    """Whether the cost need not be asked about."""


def add_summaries(library: Library, model: Model, file: SummaryFile, options: SummaryOptions) -> Library:
    """Let a model write the summaries that are missing, and return the library with all of them.

    What is written is kept at once, so that a run that was stopped goes on where it was.

    Args:
        library: All of it is loaded.
        model: Who writes; it is closed in the end.
        file: Keeps what is written.
        options: What is wanted.

    Raises:
        UsageError: The model cannot write, or nobody agreed to the cost.
        ModelError: The model failed.
        StoreError: Summaries cannot be kept.
    """
    if model.name == OFFLINE:
        raise UsageError(f"the model {OFFLINE} writes no summaries. Choose another with --model.")
    asyncio.run(_add(library, model, file, options))
    return replace(library, summaries=file.load())


async def _add(library: Library, model: Model, file: SummaryFile, options: SummaryOptions) -> None:
    known = file.load(model.name)
    plan = partial(plan_summaries, library, known, with_sections=options.with_sections)
    try:
        if not plan(window_tokens=model.window_tokens):
            write_note(f"All summaries by {model.name} are there.")
            return
        description = await model.describe() if isinstance(model, _Described) else None
        tasks = plan(window_tokens=description.window_tokens if description is not None else model.window_tokens)
        write_note(describe_estimate(estimate_summaries(tasks), model.name, description))
        if not options.is_agreed:
            _ask_person()
        await _write_all(tasks, model, file)
    finally:
        await model.close()


def describe_estimate(estimate: SummaryEstimate, model_name: str, description: Description | None) -> str:
    """Return in a line what summaries will cost, in dollars where the prices are known."""
    cost = ""
    if description is not None and description.input_usd is not None and description.output_usd is not None:
        usd = estimate.input_tokens * description.input_usd + estimate.output_tokens * description.output_usd
        cost = f", about ${usd:.2f}"
    sent, got = format_tokens(estimate.input_tokens), format_tokens(estimate.output_tokens)
    head = f"{estimate.texts:,} summaries by {model_name}: {estimate.requests:,} requests"
    return f"{head}, about {sent} tokens to send and {got} to get{cost}."


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


async def _write_all(tasks: tuple[SummaryTask, ...], model: Model, file: SummaryFile) -> None:
    """Write summaries side by side. Where the model fails, those under way are finished and no others begun."""
    work = _Work(model, file, tasks)
    await asyncio.gather(*(work.run() for _ in range(_AT_ONCE)))
    spent = work.spent
    cost = f", ${spent.cost_usd:.4f}" if spent.cost_usd is not None else ""
    write_note(f"{format_tokens(spent.input_tokens)} tokens sent, {format_tokens(spent.output_tokens)} got{cost}.")
    if work.failure is not None:
        kept = f"{work.done:,} of {len(tasks):,} summaries are kept; run it again to go on."
        raise ModelError(f"{work.failure} {kept}")


class _Work:
    """What is written of a list of texts."""

    def __init__(self, model: Model, file: SummaryFile, tasks: tuple[SummaryTask, ...]) -> None:
        self._model = model
        self._file = file
        self._waiting = iter(tasks)
        self._total = len(tasks)
        self.done = 0
        self.spent = Usage()
        self.failure: ModelError | None = None

    async def run(self) -> None:
        """Write one after another while there are any."""
        for task in self._waiting:
            if self.failure is not None:
                return
            try:
                summary = await write_summary(self._model, task)
            except ModelError as error:
                self.failure = self.failure or error
                return
            self._file.save({task.digest: summary.text}, self._model.name)
            self.done += 1
            self.spent += summary.usage
            if self.done == self._total or self.done % max(1, self._total // _TOLD_TIMES) == 0:
                write_note(f"{self.done:,} of {self._total:,} summaries")
