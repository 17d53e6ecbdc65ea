"""Filling tables: what is asked, what each cell becomes, and what a second run asks again."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

import pytest

from roamtui.agent.loop import Agent
from roamtui.agent.token_budget import estimate_request_tokens
from roamtui.conversation.conversation import Conversation
from roamtui.conversation.events import QuestionAnswered
from roamtui.conversation.log import ConversationStore
from roamtui.conversation.transcript import StopReason, Usage
from roamtui.document.tokens import estimate_tokens
from roamtui.errors import ModelError, SourceError, StoreError
from roamtui.export.table import RENDERERS
from roamtui.models.base import ModelRequest, Prices
from roamtui.models.registry import NoModel
from roamtui.paths import conversations_path
from roamtui.search.keyword import KeywordSearcher
from roamtui.table.cells import Cell, CellState
from roamtui.table.rows import list_rows
from roamtui.table.store import TableStore, read_table
from tests.agent.asking import collect_events
from tests.fakes.scripted_model import Reply, ScriptedModel, ScriptedReply
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
    open_one,
    share_start,
    wait_until,
    write_leases,
)


async def test_each_cell_has_a_value_a_proof_and_a_state(tmp_path: Path) -> None:
    leases, table = write_leases(tmp_path / "leases"), tmp_path / "table"
    run, content = await fill(table, define(leases, PERIOD, PETS, "Who pays for heating?"), answering_model())
    assert list_values(content) == [["60 days", "no", ""], ["three months", "one cat", ""]]
    assert list_states(content) == [["found", "found", "not_found"], ["found", "partly", "not_found"]]
    assert [row.title for row in content.rows] == ["anna.md", "bert.md"]
    cell = content.list_cells(content.rows[1])[1]
    assert cell is not None
    assert cell.note == "not yes or no"
    assert cell.proof is not None
    assert (cell.proof.quote, cell.proof.start_line, cell.proof.is_verified) == ("One cat is allowed", 9, True)
    assert (run.done, run.asked, run.kept, run.total) == (6, 6, 0, 6)
    assert run.counts[CellState.FOUND] == 3


async def test_conversations_of_cells_stand_beside_the_table_alone(tmp_path: Path) -> None:
    leases, table = write_leases(tmp_path / "leases"), tmp_path / "table"
    _, content = await fill(table, define(leases, PERIOD), answering_model())
    for row in content.rows:
        cell = content.list_cells(row)[0]
        assert cell is not None
        state = ConversationStore(table / "conversations").load(cell.conversation)
        assert state.transcript.exchanges[0].question == PERIOD
    assert ConversationStore(conversations_path()).list() == ()


async def test_only_what_is_new_or_changed_is_asked_again(tmp_path: Path) -> None:
    leases, table = write_leases(tmp_path / "leases"), tmp_path / "table"
    await fill(table, define(leases, PERIOD, PETS), answering_model())
    model = answering_model()
    run, _ = await fill(table, define(leases, PERIOD, PETS), model)
    assert (model.requests, run.kept, run.asked) == ([], 4, 0)
    (leases / "bert.md").write_text((leases / "bert.md").read_text("utf-8").replace("cat", "dog"), "utf-8")
    model = answering_model()
    await fill(table, define(leases, PERIOD, PETS), model)
    assert list_questions(model.requests) == [PERIOD, "Are pets allowed?"]
    assert all("Lease of Bert" in request.messages[1].text for request in model.requests)
    model = answering_model()
    _, content = await fill(table, define(leases, "Who pays for heating?", PERIOD), model)
    assert list_questions(model.requests) == ["Who pays for heating?"] * 2
    assert list_values(content) == [["", "60 days"], ["", "three months"]]
    model = answering_model(name="other")
    run, _ = await fill(table, define(leases, PERIOD), model)
    assert (len(model.requests), run.kept) == (2, 0)


async def test_an_interrupted_run_keeps_what_is_done(tmp_path: Path) -> None:
    leases, table = write_leases(tmp_path / "leases"), tmp_path / "table"
    gate = asyncio.Event()

    def answer_once(request: ModelRequest) -> ScriptedReply:
        reply = answer(request)
        return reply if len(first.requests) < 3 else ScriptedReply(text=reply.text, gate=gate)

    first = ScriptedModel([answer_once] * 10)
    done: list[Cell] = []
    task = asyncio.create_task(fill(table, define(leases, PERIOD, PETS), first, done.append))
    await wait_until(lambda: len(first.requests) == 3)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert len(done) == 2
    assert first.is_closed
    second = answering_model()
    run, content = await fill(table, define(leases, PERIOD, PETS), second)
    assert (run.kept, run.asked, len(second.requests)) == (2, 2, 2)
    assert list_states(content) == [["found", "found"], ["found", "partly"]]


async def test_a_failed_cell_says_why_and_is_asked_again(tmp_path: Path) -> None:
    leases, table = write_leases(tmp_path / "leases"), tmp_path / "table"
    failing: list[Reply] = [ScriptedReply(error=ModelError("The provider is gone; ask again.")), *[answer] * 5]
    run, content = await fill(table, define(leases, PERIOD), ScriptedModel(failing))
    assert list_states(content) == [["failed"], ["found"]]
    cell = content.list_cells(content.rows[0])[0]
    assert cell is not None
    assert cell.note == "The provider is gone; ask again."
    model = answering_model()
    run, content = await fill(table, define(leases, PERIOD), model)
    assert (len(model.requests), list_states(content)) == (1, [["found"], ["found"]])
    assert run.stop_reason == ""


async def test_a_run_stops_when_every_cell_fails(tmp_path: Path) -> None:
    leases, table = write_leases(tmp_path / "leases"), tmp_path / "table"
    model = ScriptedModel([ScriptedReply(error=ModelError("No key."))] * 20)
    run, _ = await fill(table, define(leases, *(f"What is {number}?" for number in range(6))), model)
    assert len(model.requests) == 5
    assert run.stop_reason == "5 cells in a row have failed: No key."


async def test_a_document_that_cannot_be_read_fails_alone(tmp_path: Path) -> None:
    leases, table = write_leases(tmp_path / "leases"), tmp_path / "table"
    defined = define(leases, PERIOD)
    (leases / "anna.md").unlink()
    _, content = await fill(table, defined, answering_model())
    assert list_states(content) == [["failed"], ["found"]]


async def test_a_document_that_can_no_longer_be_read_keeps_its_answers(tmp_path: Path) -> None:
    leases, table = write_leases(tmp_path / "leases"), tmp_path / "table"
    await fill(table, define(leases, PERIOD), answering_model())
    defined = define(leases, PERIOD, PETS)
    (leases / "anna.md").unlink()
    run, content = await fill(table, defined, answering_model())
    assert list_states(content) == [["found", "failed"], ["found", "partly"]]
    assert run.unread_note.startswith(
        "1 document could not be read, so earlier answers stay unchecked, such as anna.md: "
    )
    assert (run.kept, run.asked) == (2, 2)
    run, content = await fill(table, defined, answering_model(name="other"))
    assert list_states(content)[0][0] == "found", "the newest answer of any model"
    assert run.unread


def test_a_source_that_is_not_there_is_no_row(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"none\.md"):
        define(tmp_path / "none.md", PERIOD)


def test_a_file_and_its_folder_are_listed_once(tmp_path: Path) -> None:
    leases = write_leases(tmp_path / "leases")
    assert [row.key for row in list_rows((str(leases / "bert.md"), str(leases)))] == ["bert.md", "anna.md"]


async def test_the_first_cell_of_a_row_comes_before_its_others(tmp_path: Path) -> None:
    leases, table = write_leases(tmp_path / "leases"), tmp_path / "table"
    questions = [f"What is {number}?" for number in range(4)]
    gate = asyncio.Event()
    replies = [ScriptedReply(text="Not found: x.", gate=gate) for _ in range(8)]
    model = ScriptedModel(replies)
    task = asyncio.create_task(fill(table, define(leases, *questions), model, jobs=8))
    await wait_until(lambda: len(model.requests) == 2)
    for _ in range(50):
        await asyncio.sleep(0)
    assert list_questions(model.requests) == ["What is 0?"] * 2, "one of each row"
    gate.set()
    await task
    assert len(model.requests) == 8


async def test_prompts_of_a_row_share_more_than_45_percent(tmp_path: Path) -> None:
    """A long document, so that sections and hits differ from question to question."""
    chapters = [
        f"## Part {number}\n\n{f'Rule {number} says that item {number} costs {number} euros. ' * 60}\n"
        for number in range(30)
    ]
    folder = tmp_path / "long"
    folder.mkdir()
    (folder / "rules.md").write_text("# Rules\n\n" + "\n".join(chapters), "utf-8")
    questions = [f"What does item {number} cost?" for number in range(3, 9)]
    model = ScriptedModel([ScriptedReply(text="Not found: x.")] * 6)
    await fill(tmp_path / "table", define(folder, *questions), model)
    texts = ["\n".join(message.text for message in request.messages) for request in model.requests]
    tools = estimate_request_tokens(model.requests[0]) - estimate_tokens(texts[0])
    shared = [estimate_tokens(share_start(texts[0], text)) + tools for text in texts[1:]]
    total = [estimate_request_tokens(request) for request in model.requests[1:]]
    assert sum(shared) >= 0.45 * sum(total)
    marks = {mark for text in texts for mark in re.findall(r"<<<([g-z]{8})", text)}
    assert len(marks) == 1


async def test_a_spending_limit_stops_before_it_is_passed(tmp_path: Path) -> None:
    leases, table = write_leases(tmp_path / "leases"), tmp_path / "table"
    replies = [ScriptedReply(text="Not found: x.", usage=Usage(input_tokens=100, cost_usd=0.3)) for _ in range(12)]
    questions = [f"What is {number}?" for number in range(6)]
    model = ScriptedModel(replies)
    model.prices = Prices(input_usd=0.0, output_usd=0.0001)  # 4,000 tokens are reserved for the reply
    run, _ = await fill(table, define(leases, *questions), model, jobs=4, limit_usd=0.8)
    assert len(model.requests) == 2
    assert run.asked == 2
    assert run.usage.cost_usd == pytest.approx(0.6)
    assert run.stop_reason == "The next request could exceed the spending limit of $0.8."
    run, _ = await fill(table, define(leases, *questions), ScriptedModel(replies), limit_usd=10.0)
    assert (run.kept, run.asked) == (2, 10)


async def test_with_the_offline_model_a_cell_is_its_best_passage(tmp_path: Path) -> None:
    leases, table = write_leases(tmp_path / "leases"), tmp_path / "table"
    _, content = await fill(table, define(leases, PERIOD, "Who won the 1998 cup?"), NoModel())
    cell, missing = content.list_cells(content.rows[0])
    assert cell is not None
    assert missing is not None
    assert (cell.value, cell.state) == ("The notice period is 60 days.", CellState.PASSAGE)
    assert missing.state is CellState.NOT_FOUND
    for render in RENDERERS.values():
        assert not re.search("✓|found in the text|verdict", render(content, "", tmp_path))


async def test_a_passage_in_a_cell_begins_with_the_sentence_that_holds_the_words_of_the_question(
    tmp_path: Path,
) -> None:
    (tmp_path / "leases").mkdir()
    lead = "The flat is on the third floor. Its windows face the yard, and the stairs are swept each Friday. "
    end = "The notice period for either party is 60 days. It begins on the first of a month."
    (tmp_path / "leases" / "lease.md").write_text(f"# Lease\n\n{lead}{end}\n", "utf-8")
    _, content = await fill(tmp_path / "table", define(tmp_path / "leases", PERIOD), NoModel())
    cell = content.list_cells(content.rows[0])[0]
    assert cell is not None
    assert cell.proof is not None
    assert (cell.value, cell.proof.quote) == (end, end)


async def test_with_the_offline_model_a_doubtful_passage_is_an_answer_but_no_cell(tmp_path: Path) -> None:
    question = (
        "Is a party restricted from contesting the validity of the counterparty's ownership of intellectual property "
        "or otherwise bringing a claim against the counterparty for matters unrelated to the contract?"
    )
    folder = tmp_path / "deals"
    folder.mkdir()
    (folder / "deal.md").write_text(
        "# Deal\n\n## Marks\n\nGoods that arrive late are sent back. Each item stays in the ownership of its maker "
        "until it is paid. Payment is due in May. A party may write a letter to the other about it. Nobody has to "
        "answer such a letter at once. A claim is made by the end of June. The contract is written in English. What is "
        "otherwise agreed is valid in the long run. Any other matter is discussed by phone.\n\n"
        "## Notice\n\nThe notice period is 60 days.\n",
        "utf-8",
    )
    _, content = await fill(tmp_path / "table", define(folder, question, PERIOD), NoModel())
    assert list_states(content) == [["not_found", "passage"]]
    library, _ = open_one(str(folder / "deal.md"))
    agent = Agent(Conversation.start(library), NoModel(), KeywordSearcher(library))
    answered = (await collect_events(agent, question))[-1]
    assert isinstance(answered, QuestionAnswered)
    assert answered.stopped is StopReason.ANSWERED


async def test_a_second_run_of_the_same_rows_is_refused_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("roamtui.conversation.line_file._BUSY_SECONDS", 1e9)  # waiting would freeze the app
    leases, table = write_leases(tmp_path / "leases"), tmp_path / "table"
    store = TableStore(table)
    with store.start_run(), pytest.raises(StoreError, match="another run"):
        await fill(table, define(leases, PERIOD), answering_model())
    assert read_table(table).rows == ()
