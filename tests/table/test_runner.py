"""Filling tables: what is asked, what each cell becomes, and what a second run asks again."""

import asyncio
import json
from contextlib import closing
from pathlib import Path

import pytest
from msgspec.structs import replace

from roamtui.conversation.log import open_store
from roamtui.conversation.messages import Usage
from roamtui.document.library import Library
from roamtui.errors import StoreError
from roamtui.export.table import render_json_table, render_markdown_table
from roamtui.models.base import ModelRequest
from roamtui.models.registry import NoModel
from roamtui.opening.loader import OpenedSource
from roamtui.table.runner import TableRun, fill_table, format_estimate
from roamtui.table.store import TableLog, list_rows, read_table
from tests.fakes.scripted_model import ScriptedModel, ScriptedReply
from tests.table.filling import (
    PERIOD,
    PETS,
    agree,
    answer,
    answering_model,
    define,
    fill,
    list_questions,
    list_states,
    list_values,
    make_plan,
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


async def test_each_cell_has_a_value_and_a_proof(leases: Path, folder: Path) -> None:
    run, table = await fill(define(folder, leases, PERIOD, PETS, "Who pays for heating?"), answering_model())
    assert list_values(table) == [["60 days", "no", ""], ["three months", "one cat", ""]]
    assert list_states(table) == [["found", "found", "not_found"], ["found", "partly", "not_found"]]
    assert [row.title for row in table.rows] == ["anna.md", "bert.md"]
    cell = table.list_cells(table.rows[1])[1]
    assert cell is not None
    assert cell.note == "expected yes or no"
    proof = cell.best_citation
    assert proof is not None
    assert (proof.quote, proof.start_line, proof.is_verified) == ("One cat is allowed", 9, True)
    assert (run.table.states.total(), run.kept) == (6, 0)
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
    assert (run.kept, run.table.states.total(), len(second.requests)) == (2, 4, 2)
    assert list_states(table) == [["found", "found"], ["found", "partly"]]


async def test_the_same_model_at_another_server_is_asked_again(leases: Path, folder: Path) -> None:
    for server, count in (("", 2), ("http://localhost:1", 2), ("http://localhost:1", 0), (None, 0)):
        model = answering_model()
        model.facts = replace(model.facts, server=server)
        await fill(define(folder, leases, PERIOD), model)
        assert len(model.requests) == count
    _, table = await fill(define(folder, leases, PERIOD), NoModel())
    assert list_states(table) == [["found"], ["found"]]


async def test_a_defect_in_one_cell_does_not_end_the_table(leases: Path, folder: Path) -> None:
    table = define(folder, leases, PERIOD, PETS)
    plan = make_plan(answering_model())
    open_source = plan.open_source
    broken = [KeyError("a defect")]

    def make_searcher(library: Library) -> None:
        if "Anna" in library.title and broken:
            raise broken.pop()

    run = await fill_table(table, replace(plan, make_searcher=make_searcher), lambda _run, _cell: None, agree)
    assert list_states(table) == [["failed", "found"], ["found", "partly"]]
    failed = table.list_cells(table.rows[0])[0]
    assert failed is not None
    assert failed.note == "Internal error (KeyError)."
    assert run.stop_reason == ""

    def open_broken(source: str) -> OpenedSource:
        if "bert" in source:
            raise KeyError(source)
        return open_source(source)

    run = await fill_table(table, replace(plan, open_source=open_broken), lambda _run, _cell: None, agree)
    assert list_states(table)[0] == ["found", "found"]
    assert [*run.unreadable.values()] == ["bert.md: Internal error (KeyError)."]
    assert run.problems == ("1 document could not be read. Earlier answers stay. bert.md: Internal error (KeyError).",)


def test_a_file_and_its_folder_are_listed_once(leases: Path) -> None:
    assert [row.title for row in list_rows((str(leases / "bert.md"), str(leases)))] == ["bert.md", "anna.md"]


def test_a_table_says_what_it_leaves_out_of_a_folder(leases: Path) -> None:
    (leases / "plan.png").write_bytes(b"")
    notes: list[str] = []
    list_rows((str(leases),), on_note=notes.append)
    assert [note.partition(".")[0] for note in notes] == ["Skipped: 1 file of another kind"]


async def test_a_document_that_is_gone_is_told_and_its_answers_come_back_with_it(leases: Path, folder: Path) -> None:
    await fill(define(folder, leases, PERIOD), answering_model(2))
    away = (leases / "bert.md").rename(leases / "bert.away")
    run, _ = await fill(define(folder, leases, PERIOD), answering_model(0))
    assert run.problems == (
        "1 document could not be read. Earlier answers stay. bert.md cannot be found, so it is left out.",
    )
    assert run.table.states.total() == 1
    away.rename(leases / "bert.md")
    run, _ = await fill(define(folder, leases, PERIOD), answering_model(0))
    assert (run.problems, run.kept) == ((), 2)


async def test_a_spending_limit_stops_before_it_is_passed(leases: Path, folder: Path) -> None:
    gate = asyncio.Event()
    usage = Usage(input_tokens=100, cost_usd=0.3)
    replies = [ScriptedReply(text="Not found: x.", usage=usage, gate=gate) for _ in range(12)]
    model = ScriptedModel(replies)
    model.facts = replace(model.facts, prices=(0.0, 0.0001))  # 4,000 tokens are reserved for the reply
    task = asyncio.create_task(fill(define(folder, leases, *_NUMBERED), model, jobs=4, limit_usd=1.1))
    await wait_until(lambda: len(model.requests) == 2)
    gate.set()
    run, _ = await task
    assert len(model.requests) == 3, "the two before cost less than was estimated"
    assert run.usage.cost_usd == pytest.approx(0.9)
    assert run.stop_reason == "The next question could exceed your spending limit of $1.1."
    run, _ = await fill(define(folder, leases, *_NUMBERED), ScriptedModel(replies), limit_usd=10.0)
    assert (run.kept, run.table.states.total()) == (3, 12)


async def test_a_run_estimates_what_it_will_use_before_it_asks_and_by_what_was_used_before(
    leases: Path, folder: Path
) -> None:
    told: list[str] = []

    async def hear(run: TableRun) -> bool:
        told.append(format_estimate(run))
        return len(told) > 1

    (leases / "bert.md").write_text(f"# Lease\n\n{'The tenant pays for heating. ' * 500}\n", "utf-8")
    usage = Usage(input_tokens=2_000, output_tokens=100, cost_usd=0.001, source="provider")
    model = ScriptedModel([ScriptedReply(text="Not found: x.", usage=usage)] * 12)
    model.facts = replace(model.facts, prices=(1e-6, 1e-5))
    for questions, requests in (([PERIOD], 0), ([PERIOD], 2), ([PERIOD, *_NUMBERED[:2]], 6)):
        await fill_table(define(folder, leases, *questions), make_plan(model), lambda *_: None, hear)
        assert len(model.requests) == requests
    assert told == [
        *["2 cells · ~10k tokens · ~$0.0160"] * 2,  # the short document comes whole, in one request
        "4 cells · ~8k tokens · ~$0.0120 · more if a document has changed",
    ]
    await fill_table(define(folder, leases, PERIOD), make_plan(model), lambda *_: None, hear)
    assert len(told) == 3, "nothing is left to ask"


async def test_the_questions_of_changed_documents_need_consent_too(leases: Path, folder: Path) -> None:
    await fill(define(folder, leases, PERIOD), answering_model())
    for name in ("anna.md", "bert.md"):
        (leases / name).write_text(f"# Lease\n\nIt changed: {name}.\n", "utf-8")
    told: list[str] = []
    model = answering_model()

    async def hear(run: TableRun) -> bool:
        told.append(format_estimate(run))
        return len(told) > 1

    for requests in (0, 2):
        await fill_table(define(folder, leases, PERIOD), make_plan(model), lambda *_: None, hear)
        assert len(model.requests) == requests
    assert all(words.startswith("1 cell · ") and words.endswith("if a document has changed") for words in told)


async def test_with_the_offline_model_a_cell_is_its_best_passage(leases: Path, folder: Path) -> None:
    (leases / "carl.md").write_text("# C\n\nRent is due on Mondays. The **notice period** is a week.\n", "utf-8")
    _, table = await fill(define(folder, leases, PERIOD, "Who won the 1998 cup?"), NoModel())
    assert list_states(table)[0] == ["passage", "none_close"]
    values = [row[0] for row in list_values(table)]
    assert values[:2] == ["The notice period is 60 days.", "The notice period is three months."]
    assert values[2].endswith("The notice period is a week.")
    cell = json.loads(render_json_table(table, Path()))["rows"][0]["cells"][0]
    assert (cell["state"], cell["note"]) == ("passage", "no model has read it")
    assert [(each["state"], each["verified"]) for each in cell["citations"]] == [("passage", False)]
    assert "· passage: The notice period is 60 days." in render_markdown_table(table, Path("table.md"))


async def test_the_offline_model_replaces_no_answer_of_a_model(leases: Path, folder: Path) -> None:
    _, table = await fill(define(folder, leases, PERIOD), answering_model())
    answered = list_values(table)
    (leases / "anna.md").write_text("# Lease of Anna\n\nThe notice period is 90 days.\n", "utf-8")
    run, table = await fill(define(folder, leases, PERIOD, PETS), NoModel())
    assert [row[:1] for row in list_values(table)] == answered
    assert run.asked == 2, "only the new question"


async def test_a_second_run_of_the_same_table_is_refused_at_once(leases: Path, folder: Path) -> None:
    refusal = "another window or program is using it"
    with closing(TableLog(read_table(folder))), pytest.raises(StoreError, match=refusal):
        await fill(define(folder, leases, PERIOD), answering_model())
    assert read_table(folder).rows == ()
