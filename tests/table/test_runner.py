"""Filling tables: what is asked, what each cell becomes, and what a second run asks again."""

import asyncio
import re
from pathlib import Path

import pytest
from msgspec.structs import replace

from roamtui.agent.loop import Agent
from roamtui.bootstrap import open_library
from roamtui.conversation.conversation import Conversation
from roamtui.conversation.events import StopReason, Usage
from roamtui.conversation.log import ConversationStore, open_store
from roamtui.document.library import Library
from roamtui.document.loader import Loader
from roamtui.errors import ModelError, StoreError
from roamtui.models.base import ModelRequest
from roamtui.models.registry import NoModel
from roamtui.search.base import RetrievalOptions
from roamtui.search.hybrid import make_searcher
from roamtui.table.runner import TableRun, fill_table, format_estimate, format_progress
from roamtui.table.store import hold_table, list_rows, read_table
from roamtui.text import estimate_tokens
from tests.fakes.scripted_model import Reply, ScriptedModel, ScriptedReply, estimate_request_tokens
from tests.real_documents import PROJECT_DIR
from tests.table.filling import (
    PERIOD,
    PETS,
    answer,
    answering_model,
    define,
    fill,
    list_questions,
    list_states,
    list_values,
    make_plan,
    share_start,
    wait_until,
    write_leases,
)

_NUMBERED = [f"What is {number}?" for number in range(6)]


@pytest.fixture
def leases(tmp_path: Path) -> Path:
    return write_leases(tmp_path / "leases")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "table"


async def test_each_cell_has_a_value_a_proof_and_a_conversation_of_its_own(leases: Path, folder: Path) -> None:
    run, table = await fill(define(folder, leases, PERIOD, PETS, "Who pays for heating?"), answering_model())
    assert list_values(table) == [["60 days", "no", ""], ["three months", "one cat", ""]]
    assert list_states(table) == [["found", "found", "not_found"], ["found", "partly", "not_found"]]
    assert [row.title for row in table.rows] == ["anna.md", "bert.md"]
    cell = table.list_cells(table.rows[1])[1]
    assert cell is not None
    assert cell.note == "not yes or no"
    assert cell.proof is not None
    assert (cell.proof.quote, cell.proof.start_line, cell.proof.is_verified) == ("One cat is allowed", 9, True)
    assert (run.done, run.kept, run.total) == (6, 0, 6)
    state = ConversationStore(table.conversations).load(cell.conversation)
    assert state.exchanges[0].question == "Are pets allowed?"
    assert open_store().list() == ()


async def test_only_what_is_new_or_changed_is_asked_again(leases: Path, folder: Path) -> None:
    await fill(define(folder, leases, PERIOD, PETS), answering_model())
    model = answering_model()
    run, _ = await fill(define(folder, leases, PERIOD, PETS), model)
    assert (model.requests, run.kept) == ([], 4)
    (leases / "bert.md").write_text((leases / "bert.md").read_text("utf-8").replace("cat", "dog"), "utf-8")
    model = answering_model()
    await fill(define(folder, leases, PERIOD, PETS), model)
    assert list_questions(model.requests) == [PERIOD, "Are pets allowed?"]
    assert all("Lease of Bert" in request.messages[1].text for request in model.requests)
    model = answering_model()
    _, table = await fill(define(folder, leases, "Who pays for heating?", PERIOD), model)
    assert list_questions(model.requests) == ["Who pays for heating?"] * 2
    assert list_values(table) == [["60 days", "no", ""], ["three months", "one cat", ""]]
    model = answering_model(name="other")
    run, _ = await fill(define(folder, leases, PERIOD), model)
    assert (len(model.requests), run.kept) == (2, 0)


async def test_an_interrupted_run_keeps_what_is_done(leases: Path, folder: Path) -> None:
    gate = asyncio.Event()

    def answer_once(request: ModelRequest) -> ScriptedReply:
        reply = answer(request)
        return reply if len(first.requests) < 3 else ScriptedReply(text=reply.text, gate=gate)

    first = ScriptedModel([answer_once] * 10)
    task = asyncio.create_task(fill(define(folder, leases, PERIOD, PETS), first))
    await wait_until(lambda: len(first.requests) == 3)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert first.is_closed
    second = answering_model()
    run, table = await fill(define(folder, leases, PERIOD, PETS), second)
    assert (run.kept, run.done, len(second.requests)) == (2, 4, 2)
    assert list_states(table) == [["found", "found"], ["found", "partly"]]


async def test_a_stopped_run_counts_the_answers_of_rows_that_it_did_not_reach(leases: Path, folder: Path) -> None:
    await fill(define(folder, leases, PERIOD), answering_model())
    model, runs = ScriptedModel([ScriptedReply(text="Not found: x.", gate=asyncio.Event())]), list[TableRun]()
    table = define(folder, leases, PERIOD, PETS)
    task = asyncio.create_task(fill_table(table, make_plan(model), lambda run, _cell: runs.append(run)))
    await wait_until(lambda: bool(model.requests))
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    progress = format_progress(runs[-1])
    assert progress.startswith("2 of 4 cells: 2 found · 2 cells left to fill · read ~")
    assert progress.endswith(" tokens"), "the request that was stopped counts"
    assert runs[-1].kept == 2


async def test_a_failed_cell_says_why_and_is_asked_again(leases: Path, folder: Path) -> None:
    failing: list[Reply] = [ScriptedReply(error=ModelError("The provider is gone; ask again.")), *[answer] * 5]
    run, table = await fill(define(folder, leases, PERIOD), ScriptedModel(failing))
    assert list_states(table) == [["failed"], ["found"]]
    assert run.problems == ("1 question failed: The provider is gone; ask again.",)
    cell = table.list_cells(table.rows[0])[0]
    assert cell is not None
    assert cell.note == "The provider is gone; ask again."
    model = answering_model()
    run, table = await fill(define(folder, leases, PERIOD), model)
    assert (len(model.requests), list_states(table)) == (1, [["found"], ["found"]])
    assert run.stop_reason == ""


async def test_a_defect_in_one_cell_does_not_end_the_table(leases: Path, folder: Path) -> None:
    table = define(folder, leases, PERIOD, PETS)
    plan = make_plan(answering_model())
    open_source = plan.open_source
    broken = [KeyError("a defect")]

    def make_searcher(library: Library) -> None:
        if "Anna" in library.title and broken:
            raise broken.pop()

    run = await fill_table(table, replace(plan, make_searcher=make_searcher), lambda _run, _cell: None)
    assert list_states(table) == [["failed", "found"], ["found", "partly"]]
    failed = table.list_cells(table.rows[0])[0]
    assert failed is not None
    assert failed.note == "Internal error (KeyError)."
    assert run.stop_reason == ""

    def open_broken(source: str) -> tuple[Library, Loader | None]:
        if "bert" in source:
            raise KeyError(source)
        return open_source(source)

    run = await fill_table(table, replace(plan, open_source=open_broken), lambda _run, _cell: None)
    assert list_states(table)[0] == ["found", "found"]
    assert run.unread == ["bert.md: Internal error (KeyError)."]


async def test_a_run_stops_when_every_cell_fails(leases: Path, folder: Path) -> None:
    model = ScriptedModel([ScriptedReply(error=ModelError("No key."))] * 20)
    run, _ = await fill(define(folder, leases, *_NUMBERED), model)
    assert len(model.requests) == 5
    assert run.stop_reason == "The last 5 questions failed: No key."


async def test_a_document_that_can_no_longer_be_read_keeps_its_answers(leases: Path, folder: Path) -> None:
    await fill(define(folder, leases, PERIOD), answering_model())
    table = define(folder, leases, PERIOD, PETS)
    (leases / "anna.md").unlink()
    run, table = await fill(table, answering_model())
    assert list_states(table) == [["found", "failed"], ["found", "partly"]]
    assert run.problems[0].startswith("1 document could not be read. Earlier answers stay. anna.md: ")
    assert (run.kept, run.done) == (2, 4)


def test_a_file_and_its_folder_are_listed_once(leases: Path) -> None:
    assert [row.title for row in list_rows((str(leases / "bert.md"), str(leases)))] == ["bert.md", "anna.md"]


async def test_prompts_of_a_row_share_more_than_45_percent(tmp_path: Path, folder: Path) -> None:
    """A long document, so that sections and hits differ from question to question."""
    chapters = [
        f"## Part {number}\n\n{f'Rule {number} says that item {number} costs {number} euros. ' * 60}\n"
        for number in range(30)
    ]
    path = tmp_path / "rules.md"
    path.write_text("# Rules\n\n" + "\n".join(chapters), "utf-8")
    questions = [f"What does item {number} cost?" for number in range(3, 9)]
    model = ScriptedModel([ScriptedReply(text="Not found: x.")] * 6)
    await fill(define(folder, path, *questions), model)
    texts = ["\n".join(message.text for message in request.messages) for request in model.requests]
    tools = estimate_request_tokens(model.requests[0]) - estimate_tokens(texts[0])
    shared = [estimate_tokens(share_start(texts[0], text)) + tools for text in texts[1:]]
    total = [estimate_request_tokens(request) for request in model.requests[1:]]
    assert sum(shared) >= 0.45 * sum(total)
    marks = {mark for text in texts for mark in re.findall(r"<<<([g-z]{8})", text)}
    assert len(marks) == 1


async def test_a_spending_limit_stops_before_it_is_passed(leases: Path, folder: Path) -> None:
    gate = asyncio.Event()
    usage = Usage(input_tokens=100, cost_usd=0.3)
    replies = [ScriptedReply(text="Not found: x.", usage=usage, gate=gate) for _ in range(12)]
    model = ScriptedModel(replies)
    model.prices = (0.0, 0.0001)  # 4,000 tokens are reserved for the reply
    task = asyncio.create_task(fill(define(folder, leases, *_NUMBERED), model, jobs=4, limit_usd=1.1))
    await wait_until(lambda: len(model.requests) == 2)
    gate.set()
    run, _ = await task
    assert len(model.requests) == 3, "the two before cost less than was estimated"
    assert run.usage.cost_usd == pytest.approx(0.9)
    assert run.stop_reason == "The next question could exceed your spending limit of $1.1."
    run, _ = await fill(define(folder, leases, *_NUMBERED), ScriptedModel(replies), limit_usd=10.0)
    assert (run.kept, run.done) == (3, 12)


async def test_a_run_estimates_what_it_will_use_before_it_asks_and_by_what_was_used_before(
    leases: Path, folder: Path
) -> None:
    told: list[str] = []

    async def hear(run: TableRun) -> bool:
        told.append(format_estimate(run))
        return len(told) > 1

    usage = Usage(input_tokens=2_000, output_tokens=100, cost_usd=0.001, source="provider")
    model = ScriptedModel([ScriptedReply(text="Not found: x.", usage=usage)] * 12)
    model.prices = (1e-6, 1e-5)
    for questions, requests in (([PERIOD], 0), ([PERIOD], 2), ([PERIOD, *_NUMBERED[:2]], 6)):
        await fill_table(define(folder, leases, *questions), make_plan(model), lambda *_: None, hear)
        assert len(model.requests) == requests
    assert told == [
        *["2 cells · ~18k tokens · ~$0.0240"] * 2,
        "4 cells · ~8k tokens · ~$0.0120",
    ]
    await fill_table(define(folder, leases, PERIOD), make_plan(model), lambda *_: None, hear)
    assert len(told) == 3, "nothing is left to ask"


async def test_with_the_offline_model_a_cell_is_its_best_passage(leases: Path, folder: Path) -> None:
    (leases / "carl.md").write_text("# C\n\nRent is due on Mondays. The **notice period** is a week.\n", "utf-8")
    _, table = await fill(define(folder, leases, PERIOD, "Who won the 1998 cup?"), NoModel())
    assert list_states(table)[0] == ["passage", "not_found"]
    values = ["The notice period is 60 days.", "The notice period is three months.", "The notice period is a week."]
    assert [row[0] for row in list_values(table)] == values


async def test_a_cell_without_a_model_judges_passages_as_an_answer_does(folder: Path) -> None:
    handbook = PROJECT_DIR / "examples" / "handbook.md"
    questions = (
        "Can I bring my dog?",
        "What happens if I lose a tool?",
        "Is there a wheelchair ramp?",
        "Who won the cup?",
    )
    stopped: list[StopReason | None] = []
    for question in questions:
        library = open_library([str(handbook)])
        conversation = Conversation(library)
        exchange = await Agent(conversation, NoModel(), make_searcher(library, RetrievalOptions())).ask(question)
        assert exchange is not None
        stopped.append(exchange.stopped)
    _, table = await fill(define(folder, handbook, *questions), NoModel())
    assert stopped[:2] == [StopReason.ANSWERED] * 2
    nearest = [state == "nearest" for state in list_states(table)[0]]
    assert all(value for value, is_nearest in zip(list_values(table)[0], nearest, strict=True) if is_nearest)
    assert nearest == [reason is StopReason.NEAREST for reason in stopped]
    assert list_states(table)[0][:2] == ["passage"] * 2


async def test_a_second_run_of_the_same_table_is_refused_at_once(leases: Path, folder: Path) -> None:
    with hold_table(read_table(folder)), pytest.raises(StoreError, match="another program is using it"):
        await fill(define(folder, leases, PERIOD), answering_model())
    assert read_table(folder).rows == ()
