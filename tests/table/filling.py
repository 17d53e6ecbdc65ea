"""Tables over small documents, filled by a scripted model that answers by the words of its request."""

import asyncio
import re
from collections.abc import Callable, Sequence
from pathlib import Path

from roamtui.agent.options import AgentOptions
from roamtui.models.base import Model, ModelRequest
from roamtui.opening.loader import open_sources
from roamtui.search.searcher import Searcher
from roamtui.table.columns import parse_column
from roamtui.table.runner import TablePlan, TableRun, fill_table
from roamtui.table.store import ResultTable, list_rows, read_table
from tests.fakes.scripted_model import ScriptedModel, ScriptedReply

LEASES = {
    "anna.md": "# Lease of Anna\n\n## Notice\n\nThe notice period is 60 days.\n\n## Pets\n\nNo pets are allowed.\n",
    "bert.md": "# Lease of Bert\n\n## Notice\n\nThe notice period is three months.\n\n## Pets\n\nOne cat is allowed.\n",
}
PERIOD = "How long is the notice period?"
PETS = "Are pets allowed? [yes/no]"


def write_leases(folder: Path) -> Path:
    folder.mkdir(exist_ok=True)
    for name, text in LEASES.items():
        (folder / name).write_text(text, "utf-8")
    return folder


def find_id(request: ModelRequest, title: str) -> str:
    """Return the id that stands behind a heading in a request, or in its outline."""
    text = "\n".join(message.text for message in request.messages)
    match = re.search(rf"## {title} \[([0-9a-f]{{8}})\]|\[([0-9a-f]{{8}})\] {title}", text)
    assert match is not None
    return match[1] or match[2]


def answer(request: ModelRequest) -> ScriptedReply:
    """Answer as a model that does what it is told."""
    text = request.messages[-1].text
    if PERIOD in text:
        value = "60 days" if "period is 60 days" in text else "three months"
        return ScriptedReply(
            text=f'{value}\nThe lease says "The notice period is {value}" [{find_id(request, "Notice")}].'
        )
    if "Are pets allowed" in text:
        quote = "No pets are allowed" if "No pets" in text else "One cat is allowed"
        value = "no" if "No pets" in text else "one cat"
        return ScriptedReply(text=f'{value}\nIt says "{quote}" [{find_id(request, "Pets")}].')
    return ScriptedReply(text="Not found: I looked for it everywhere.")


def answering_model(count: int = 100, name: str = "scripted") -> ScriptedModel:
    return ScriptedModel([answer] * count, name=name)


def define(folder: Path, documents: Path, *questions: str) -> ResultTable:
    """Return the table in `folder` about the documents of another folder, as `roamtui table` would."""
    table = read_table(folder)
    table.rows = list_rows((str(documents),))
    table.columns = tuple(map(parse_column, questions))
    return table


def make_plan(model: Model, *, jobs: int = 1, limit_usd: float | None = None) -> TablePlan:
    options = AgentOptions(sends_hits=True, cost_usd_max=limit_usd)
    open_one = lambda source: open_sources((source,))  # noqa: E731 - it stands for a service
    return TablePlan(model=model, open_source=open_one, make_searcher=Searcher, agent_options=options, jobs=jobs)


async def agree(_run: TableRun) -> bool:
    return True


async def fill(
    table: ResultTable, model: Model, *, jobs: int = 1, limit_usd: float | None = None
) -> tuple[TableRun, ResultTable]:
    """Fill a table and return the run and the table as it is on disk."""
    run = await fill_table(table, make_plan(model, jobs=jobs, limit_usd=limit_usd), lambda _run, _cell: None, agree)
    return run, read_table(table.folder)


def list_values(content: ResultTable) -> list[list[str]]:
    return [[cell.value if cell is not None else "" for cell in content.list_cells(row)] for row in content.rows]


def list_states(content: ResultTable) -> list[list[str]]:
    return [[cell.state.value if cell is not None else "" for cell in content.list_cells(row)] for row in content.rows]


def list_questions(requests: Sequence[ModelRequest]) -> list[str]:
    return [request.messages[-1].text.rpartition("Question: ")[2] for request in requests]


async def wait_until(is_met: Callable[[], bool]) -> None:
    """Let other tasks run until a condition is met."""
    async with asyncio.timeout(120):
        while not is_met():  # noqa: ASYNC110 - what is waited for sets no event
            await asyncio.sleep(0)
