"""Every construct of Markdown through every way out of the program.

Whatever a document or an answer contains, each exit takes it, shows every word that a page of it shows, in the same
order, and lets no control character through. markdown-it-py's own rendering says what a page shows.
"""

import io
import json
import re
from collections.abc import Callable
from contextlib import redirect_stdout
from functools import lru_cache
from html.parser import HTMLParser
from pathlib import Path

import pytest
from markdown_it import MarkdownIt
from typing_extensions import override

from roamtui.agent.agent import Agent
from roamtui.conversation.conversation import Conversation
from roamtui.conversation.events import StopReason
from roamtui.conversation.state import Exchange
from roamtui.document.library import Library
from roamtui.document.parse import parse_document
from roamtui.export.html import render_html
from roamtui.export.json import render_json
from roamtui.export.markdown import render_markdown
from roamtui.headless.answer_lines import render_answer
from roamtui.headless.ask import OutputFormat, run_ask
from roamtui.headless.mcp import McpSession
from roamtui.opening.loader import OpenedSource
from roamtui.outline.delivered import PART_TOKENS
from roamtui.quotes.verdicts import make_proof
from roamtui.text import split_parts
from roamtui.tui.actions import make_keymap
from roamtui.tui.chat.exchange_view import ExchangeView
from roamtui.tui.reader.document_view import DocumentView
from roamtui.tui.reader.lazy_lines import LazyLines
from tests.anomalies.terminal_output import use_every_command
from tests.fakes.scripted_model import ScriptedModel, ScriptedReply
from tests.matrices.constructs import LONG, OWN_CONSTRUCTS, list_constructs
from tests.search.libraries import make_library

QUESTION = "What does it say?"
_WORD = re.compile(r"[^\W_]+")
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_ID_MARK = re.compile(r" ?\[[0-9a-f]{8}\]")
_CHOPPED = re.compile(r"\S{30}")
"""Text without a space that a narrow exit cuts, maybe inside a word."""
_INLINE_TAG = re.compile(
    "a|abbr|b|bdi|big|cite|code|data|del|dfn|em|font|i|ins|kbd|mark|nobr|q|s|samp|small|span|strike|strong|sub|sup|tt|u|"
    "var|img|wbr"
)
_HIDDEN_TAGS = frozenset({"script", "style", "template", "title", "noscript", "iframe", "svg"})


class _VisibleText(HTMLParser):
    """Collects the words that a browser shows of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.parts: list[str] = []
        self._hidden = 0

    @override
    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._hidden += tag in _HIDDEN_TAGS
        self.parts.append("" if _INLINE_TAG.fullmatch(tag) else " ")
        self.parts += [value or "" for name, value in attrs if tag == "img" and name == "alt"]

    @override
    def handle_endtag(self, tag: str) -> None:
        self._hidden -= tag in _HIDDEN_TAGS and self._hidden > 0
        self.parts.append("" if _INLINE_TAG.fullmatch(tag) else " ")

    @override
    def handle_data(self, data: str) -> None:
        self.parts += [] if self._hidden else [data]


def read_page(html: str) -> str:
    """Return the text that a browser shows."""
    parser = _VisibleText()
    parser.feed(html)
    return "".join(parser.parts)


@lru_cache(maxsize=1)
def _get_parser() -> MarkdownIt:
    return MarkdownIt("commonmark").enable(["table", "strikethrough"])


def render_page(markdown: str) -> str:
    """Return the text that markdown-it-py's rendering shows."""
    return read_page(_get_parser().render(markdown))


def _show_reader(text: str, width: int) -> str:
    lines = LazyLines(DocumentView(document=parse_document(text)), width)
    chunks = [lines.get_chunk_lines(number) for number in range(len(lines.chunks))]
    return "\n".join(line.text for chunk in chunks for line in chunk.lines)


def _show_chat(text: str, width: int) -> str:
    exchange = Exchange(number=1, question="What?", answer=text, stopped=StopReason.ANSWERED)
    lines = ExchangeView(exchange, make_library("# Manual\n"), make_keymap()).draw(width)
    return "\n".join(line.plain for line in lines)


def _show_answer(text: str, width: int) -> str:
    return render_answer(make_proof(text, (), ()), width=width, is_styled=False)


_LAID_OUT: dict[str, Callable[[str, int], str]] = {
    "reader": _show_reader,
    "chat": _show_chat,
    "answer in a terminal": _show_answer,
}
_WIDTHS = (40, 160)
_SOURCE_EXITS = frozenset({"json", "pipe", "Markdown", "JSON export", "MCP tools"})
"""The exits that give Markdown as it was written. All its words must be there, not only those that a page shows."""


async def _ask(text: str, output_format: OutputFormat) -> tuple[Conversation, str]:
    """Ask a model that says a text. Return the session, and what `ask` writes into a pipe."""
    session = Conversation(make_library("# Manual\n"))
    written = io.StringIO()
    with redirect_stdout(written):
        model = ScriptedModel([ScriptedReply(text=text, chunk_size=LONG)] * 2)
        await run_ask(Agent(session, model), QUESTION, output_format=output_format)
    return session, written.getvalue()


async def _call_mcp(library: Library) -> str:
    """Read everything as a program would: the outline, then each part, page by page if it is long."""
    client = McpSession(lambda: OpenedSource(library, None))
    replies = [await client.call("outline", {})]
    for section_id in library.children(library.root_id):
        replies.append(await client.call("expand_sections", {"section_ids": [section_id]}))
        if count := len(split_parts(library.text_at(library.node(section_id).own_span), PART_TOKENS)) - 1:
            pages = [f"{section_id}:{page}" for page in range(1, count + 2)]
            replies.append(await client.call("expand_sections", {"section_ids": pages}))
    return "\n".join(replies)


async def list_exits(text: str) -> list[tuple[str, str, str]]:
    """List each exit by name, with what it writes, and this as a person or a program reads it."""
    shown = {f"{name}, {width}": show(text, width) for name, show in _LAID_OUT.items() for width in _WIDTHS}
    exits = [(name, written, written) for name, written in shown.items()]
    session, written = await _ask(text, OutputFormat.JSON)
    answer = json.loads(written)["answer"]
    exits.append(("json", written, answer))
    _, written = await _ask(text, OutputFormat.TEXT)
    exits.append(("pipe", written, written))
    written = render_html(session.state, "manual.md")
    exits.append(("HTML", written, read_page(written)))
    written = render_markdown(session.state, "manual.md")
    exits.append(("Markdown", written, written))
    written = render_json(session.state, "manual.md")
    exits.append(("JSON export", written, json.loads(written)["exchanges"][0]["answer"]))
    library = make_library(text)
    written = await _call_mcp(library)
    exits.append(("MCP tools", written, _ID_MARK.sub("", written)))
    return exits


def find_missing_word(words: list[str], shown: str, *, is_chopped: bool) -> str:
    """Return the first word that does not come in its turn; empty if all do."""
    found = _WORD.findall(shown.casefold())
    if is_chopped:
        joined = "".join(found)
        position = 0
        for word in words:
            position = joined.find(word, position) + len(word)
            if position < len(word):
                return word
        return ""
    rest = iter(found)
    return next((word for word in words if word not in rest), "")


async def test_every_construct_leaves_through_every_exit() -> None:
    faults = []
    for construct in list_constructs():
        page = construct.words or render_page(construct.text)
        source = construct.text
        is_chopped = _CHOPPED.search(source) is not None
        for name, written, shown in await list_exits(source):
            if (control := _CONTROL.search(written)) is not None:
                faults.append(f"{construct.name}: {name}: writes {control[0]!r}")
            words = _WORD.findall((source if name in _SOURCE_EXITS else page).casefold())
            if name == "MCP tools":  # a page may end inside a word
                words = [word for word in words if len(word) < LONG // 2]
            if missing := find_missing_word(words, shown, is_chopped=is_chopped):
                faults.append(f"{construct.name}: {name}: lacks {missing[:50]!r}")
    assert not faults, "\n".join(faults)


@pytest.mark.parametrize("columns", _WIDTHS)
def test_every_command_takes_a_document_of_all_constructs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, columns: int
) -> None:
    path = tmp_path / "all.md"
    text = "\n".join(f"\n\n# {construct.name}\n\n{construct.text}" for construct in OWN_CONSTRUCTS)
    path.write_text(text, "utf-8")
    monkeypatch.setenv("COLUMNS", str(columns))
    use_every_command(str(path), "What water do I pour into the pump?")
