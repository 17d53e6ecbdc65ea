"""Each export says who answered, when, at what cost, from what document, and what was not read."""

import asyncio
import csv
import io
import json
from pathlib import Path

import pytest
from lxml import html
from msgspec.structs import replace

from roamtui.conversation.log import ConversationStore
from roamtui.conversation.messages import Usage
from roamtui.conversation.state import ConversationState, Exchange
from roamtui.export.html import render_html
from roamtui.export.json import render_json
from roamtui.export.markdown import render_markdown
from roamtui.export.table import TABLE_RENDERERS
from roamtui.outline.coverage import measure_coverage
from roamtui.search.base import Hit
from roamtui.table.cells import Cell, CellState, complete_cell
from roamtui.table.columns import Column
from roamtui.table.store import ResultRow, ResultTable
from tests.agent.asking import FakeSearcher, ask, expanding, ids, make_agent, model_of
from tests.fakes.scripted_model import ScriptedReply

SERVER = "http://127.0.0.1:9"
WATER = "Water runs through the pipe. " * 400
PUMPS = "# Pumps\n\n" + "".join(f"## Pump {n} {{#p{n}}}\n\nIt needs {n} litres. {WATER}\n\n" for n in range(10))
COLUMN = Column(question="How much?")


def _ask(store: ConversationStore | None = None) -> tuple[ConversationState, Exchange]:
    """Ask about ten long sections: the model reads one, and search finds all."""
    agent = make_agent(text=PUMPS, store=store)
    found = ids(agent, *(f"Pump {n}" for n in range(10)))
    first = found[0]
    agent.search.searcher = FakeSearcher(*(Hit(section_id=each, score=1.0, why="") for each in found))
    model_of(agent).facts = replace(model_of(agent).facts, server=SERVER)
    usage = Usage(input_tokens=900, output_tokens=20, cost_usd=0.0123, source="provider")
    search = ScriptedReply(calls=(("search_sections", {"queries": ["litres"]}),))
    answer = f'It needs "0 litres" [{first}], "no water" [{first}], "x" [ffffffff].'
    model_of(agent).add_replies(
        expanding(first), search, ScriptedReply(text=answer, usage=usage), ScriptedReply(text=answer, usage=usage)
    )
    asyncio.run(ask(agent, "How much?"))
    agent.conversation.close()
    return agent.conversation.state, agent.conversation.state.exchanges[0]


def _make_table(state: ConversationState, exchange: Exchange, folder: Path) -> ResultTable:
    row = ResultRow(title="pumps.md", source=str(folder / "pumps.md"))
    cell = Cell(row=row.source, column=COLUMN.key, text_hash="", model=exchange.model, state=CellState.FAILED)
    cell = replace(cell, usage=exchange.usage)
    coverage = measure_coverage(state.library)
    cell = complete_cell(cell, exchange, COLUMN, coverage)
    return ResultTable(folder=folder, rows=(row,), columns=(COLUMN,), cells={(row.source, COLUMN.key): cell})


@pytest.mark.parametrize("form", ["md", "html", "table.md", "table.csv"])
def test_every_text_says_who_answered_when_and_from_what(form: str, tmp_path: Path) -> None:
    state, exchange = _ask()
    assert exchange.content_hash
    if form.startswith("table"):
        path = tmp_path / form
        text = TABLE_RENDERERS[path.suffix](_make_table(state, exchange, tmp_path), path)
        if path.suffix == ".csv":
            text = "\n".join(next(iter(list(csv.reader(io.StringIO(text)))[1:])))
    elif form == "html":
        page = html.document_fromstring(render_html(state, "pumps.md").encode())
        text = page.xpath("//article")[0].text_content()
    else:
        text = render_markdown(state, "pumps.md")
    day = exchange.asked_at[:10]
    for fact in (exchange.model, f"{day} ", " UTC", "$0.01", exchange.content_hash):
        assert fact in text
    assert SERVER not in text, "whoever gets the text need not know it"
    assert "not read: Pump " in text
    assert "{#" not in text


def test_json_has_the_same_facts_as_fields_that_a_reader_understands(tmp_path: Path) -> None:
    state, exchange = _ask()
    (answer,) = json.loads(render_json(state, "pumps.md"))["exchanges"]
    table = _make_table(state, exchange, tmp_path)
    ((cell,),) = [row["cells"] for row in json.loads(TABLE_RENDERERS[".json"](table, tmp_path))["rows"]]
    for given in (answer, cell):
        names = ("model", "server", "asked_at")
        assert [given[name] for name in names] == [getattr(exchange, name) for name in names]
        assert given["digest"] == exchange.content_hash
        assert given["usage"]["cost_usd"] > 0
        assert ["Pumps", "Pump 8"] in [hit["path"] for hit in given["reading"]["unread"]]
        assert [each["sign"] for each in given["citations"]] == ["✓", "✗", "✗"]
        assert given["citations"][0]["path"] == ["Pumps", "Pump 0"]
    internal = {"is_stale", "earlier", "later", "excerpts", "closed", "open_before"}
    assert not internal & answer.keys()


def test_no_source_is_an_id_alone() -> None:
    state, _ = _ask()
    assert "3. ✗ [ffffffff] no such section (" in render_markdown(state, "pumps.md")
    text = render_html(state, "pumps.md")
    assert "{#p" not in text, "no anchor of a heading is on the page"
    page = html.document_fromstring(text.encode())
    assert page.xpath("//ol[@class='sources']/li")[2].text_content().startswith("✗ no such section")


def test_other_answers_to_a_question_are_in_json() -> None:
    state, exchange = _ask()
    two = replace(state, exchanges=(replace(exchange, earlier=(replace(exchange, answer="Less."),)),))
    (answer,) = json.loads(render_json(two, "pumps.md"))["exchanges"]
    assert [other["answer"] for other in answer["other_answers"]] == ["Less."]
