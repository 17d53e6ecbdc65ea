"""What is not in a library, said in every place: only of what was read, and with what was not."""

import asyncio
import io
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pytest

from roamtui.agent.agent import Agent
from roamtui.agent.options import AgentOptions
from roamtui.cli import main
from roamtui.conversation.conversation import Conversation
from roamtui.export.markdown import render_markdown
from roamtui.export.table import render_csv
from roamtui.headless.ask import run_ask
from roamtui.headless.mcp import McpSession
from roamtui.headless.plain_chat import PlainChat
from roamtui.models.base import Model
from roamtui.models.registry import NoModel
from roamtui.opening.loader import OpenedSource, load_pending, open_sources
from roamtui.search.searcher import Searcher
from roamtui.table.columns import parse_column
from roamtui.table.runner import TablePlan, fill_table
from roamtui.table.store import ResultRow, ResultTable
from tests.convert.sample_pdf import lay_out, make_pdf
from tests.fakes.scripted_model import ScriptedModel, ScriptedReply
from tests.fakes.services import app_over, session_of
from tests.fakes.site import FakeSite
from tests.table.filling import agree
from tests.tui.driving import running
from tests.tui.screens.test_find import find

_QUESTION = "Which quokka did Fabrikam buy?"
_LINES = [f"Heron {number} eats fish {number} of the lake." for number in range(400)]
_PARTS = [_LINES[start : start + 40] for start in range(0, 400, 40)]
_TITLES = ("Quokka one", "Quokka two", "Quokka three", "Prices", "Rules")
_BOUGHT = "Fabrikam bought a zebra.\n"
_REPLY = ScriptedReply(text="Not found: nothing on it.")
_ABSENT = re.compile(r"in the (?:document(?!')|\d+ (?:pages|files))\b")
"""Says that all was read."""
_GAP = re.compile(r"read so far|(?:was|were) not read|could not be read|Left out of the text")


@dataclass(kw_only=True)
class Source:
    """A source that has the word of the question where nobody has read, or nowhere."""

    name: str
    scope: str
    """Pattern of where something is said not to be."""
    gaps: str = ""
    """Pattern of what is said to be unread; empty if all was read."""

    @cached_property
    def opened(self) -> OpenedSource:
        library, loader = open_sources([self.name])
        return OpenedSource(library if loader is None else load_pending(library, loader), loader)

    def make_agent(self, model: Model | None = None) -> Agent:
        library, loader = self.opened
        conversation = Conversation(library, source_loader=loader)
        options = AgentOptions(sends_hits=True)
        return Agent(conversation, model or ScriptedModel([_REPLY]), Searcher(library), options)


@pytest.fixture(scope="module", params=["unread page", "failed file", "page without text", "hidden part", "all read"])
def source(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Source]:
    folder = tmp_path_factory.mktemp("sources")
    text = "# Birds\n\n" + "".join(f"## Part\n\n{' '.join(lines)}\n\n" for lines in _PARTS)
    path = folder / "birds"
    match request.param:
        case "unread page":
            pages = {f"/{number}.md": f"# {title}\n\nHerons eat fish.\n" for number, title in enumerate(_TITLES)}
            links = "".join(f"- [{title}](/{number}.md)\n" for number, title in enumerate(_TITLES))
            pages |= {"/llms.txt": f"{text}## Pages\n\n{links}", "/3.md": f"# Prices\n\n{_BOUGHT}"}
            with FakeSite(dict(pages)) as site:
                scope = "in the (?:[1-3] of 5 pages read so far|list of pages)"
                gaps = r"[2-5] pages were not read.*?\. To search one too, name it or open it\."
                yield Source(name=site.url("/llms.txt"), scope=scope, gaps=gaps)
            return
        case "failed file":
            path.mkdir()
            (path / "birds.md").write_text(text)
            (path / "prices.pdf").write_bytes(b"%PDF-1.7\n" + _BOUGHT.encode())
            scope = "in the 1 of 2 files read so far"
            gaps = r"1 file could not be read: prices\.pdf is a damaged PDF"
        case "page without text":
            path = folder / "birds.pdf"
            first, *others = (lay_out(*lines) for lines in _PARTS)
            path.write_bytes(make_pdf([first, [], *others], empty="0 0 m 9 9 l S"))
            scope = "in the text that was read"
            gaps = r"Left out of the text: pages without text \(2; try `?--ocr`?\)"
        case "hidden part":
            path = folder / "birds.html"
            parts = "".join(f"<h2>Part</h2><p>{' '.join(lines)}" for lines in _PARTS)
            path.write_text(f"<h1>Birds</h1>{parts}<p hidden>{_BOUGHT}")
            scope = "in the text that was read"
            gaps = "Left out of the text: .*?hidden text"
        case _:
            path = folder / "birds.md"
            path.write_text(text)
            scope = "in the document(?!')"
            gaps = ""
    yield Source(name=str(path), scope=scope, gaps=gaps)


Capture = pytest.CaptureFixture[str]


def _run(capture: Capture, *arguments: str) -> str:
    """Run a command that finds nothing."""
    assert main([*arguments]) == 1
    return capture.readouterr().out


def _ask(source: Source, capture: Capture) -> str:
    return _run(capture, "ask", source.name, _QUESTION)


def _ask_model(source: Source, capture: Capture) -> str:
    assert asyncio.run(run_ask(source.make_agent(), _QUESTION)) == 1
    return capture.readouterr().out


def _search(source: Source, capture: Capture) -> str:
    return _run(capture, "search", source.name, "quagga")


def _chat_in_lines(source: Source, capture: Capture) -> str:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.stdin", io.StringIO(f"{_QUESTION}\n"))
        PlainChat(source.make_agent(NoModel())).run()
    return capture.readouterr().out


def _fill_table(source: Source, model: Model, folder: Path) -> str:
    row = ResultRow(title="birds", source=source.name)
    table = ResultTable(folder=folder, rows=(row,), columns=(parse_column(_QUESTION),))
    plan = TablePlan(model=model, open_source=lambda _: source.opened, make_searcher=Searcher)
    asyncio.run(fill_table(table, plan, lambda _run, _cell: None, agree))
    return render_csv(table, folder / "table.csv")


def _table(source: Source, _capture: Capture) -> str:
    return _fill_table(source, NoModel(), Path("table"))


def _table_of_model(source: Source, _capture: Capture) -> str:
    return _fill_table(source, ScriptedModel([_REPLY]), Path("table"))


def _call_mcp(source: Source, tool: str, **arguments: str) -> str:
    session = McpSession(lambda: source.opened, Searcher)
    return asyncio.run(session.call(tool, arguments))


def _mcp_search(source: Source, _capture: Capture) -> str:
    return _call_mcp(source, "search_sections", query="quagga")


def _mcp_quotes(source: Source, _capture: Capture) -> str:
    return _call_mcp(source, "check_quotes", text="“Fabrikam bought a zebra and ten herons”")


def _note_to_model(source: Source, _capture: Capture) -> str:
    agent = source.make_agent()
    asyncio.run(agent.ask("Does heron 17 eat fish, or did Fabrikam matter?"))
    assert isinstance(agent.model, ScriptedModel)
    return "\n".join(message.text for message in agent.model.requests[0].messages)


def _export_markdown(source: Source, _capture: Capture) -> str:
    agent = source.make_agent(NoModel())
    asyncio.run(agent.ask(_QUESTION))
    return render_markdown(agent.conversation.state, "birds")


def _app_chat_and_find(source: Source, _capture: Capture) -> str:
    async def ask() -> str:
        async with running(app_over(session_of(source.make_agent(NoModel()))), (62, 60)) as ui:
            await ui.ask(_QUESTION)
            chat = ui.words
            await find(ui, "quagga")
            return f"{chat} {ui.words}"

    return asyncio.run(ask())


def _app_chat_of_model(source: Source, _capture: Capture) -> str:
    async def ask() -> str:
        async with running(app_over(session_of(source.make_agent())), (62, 60)) as ui:
            await ui.ask(_QUESTION)
            return ui.words

    return asyncio.run(ask())


_PLACES = (
    *(_ask, _ask_model, _search, _chat_in_lines, _table, _table_of_model, _mcp_search, _mcp_quotes),
    *(_note_to_model, _export_markdown, _app_chat_and_find, _app_chat_of_model),
)


@pytest.mark.parametrize("place", _PLACES, ids=lambda place: place.__name__[1:])
def test_nothing_is_called_absent_but_from_what_was_read(
    source: Source,
    place: Callable[[Source, Capture], str],
    capsys: Capture,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    said = " ".join(place(source, capsys).split())
    finds = 2 if place is _app_chat_and_find else 1
    assert len(re.findall(source.gaps, said)) >= finds or not source.gaps, said
    if place not in (_ask_model, _table_of_model, _app_chat_of_model):  # else it is the model who says it
        assert re.search(source.scope, said), said
    if source.gaps:
        assert _ABSENT.search(said) is None, said
    else:
        assert _GAP.search(said) is None, said
