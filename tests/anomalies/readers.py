"""Odd texts, and everything that reads the text of a document, a query or an answer, to see how its time grows."""

import time
from collections.abc import Callable
from contextlib import suppress

from msgspec.structs import replace

from roamtui.agent.tools import parse_section_ids
from roamtui.conversation.citations import Citation, QuoteState
from roamtui.conversation.events import StopReason
from roamtui.conversation.state import ConversationState, Exchange
from roamtui.convert.epub import convert_epub
from roamtui.convert.html import convert_html
from roamtui.convert.html_tree import read_style_sheet
from roamtui.convert.pdf.right_to_left import to_logical_order
from roamtui.convert.rst import convert_rst
from roamtui.convert.separated import convert_separated
from roamtui.convert.subtitles import convert_subtitles
from roamtui.document.parse import parse_document, parse_source_text
from roamtui.errors import SourceError
from roamtui.export.markdown import render_markdown
from roamtui.markdown.layout import MarkdownLayout, View
from roamtui.markdown.parser import parse_markdown
from roamtui.markdown.passages import split_passages
from roamtui.markdown.units import split_sentences
from roamtui.models.reply_reader import ReplyReader
from roamtui.outline.delivered import SpanSet
from roamtui.outline.expansion import render_section
from roamtui.outline.ids import disguise_id_marks, iter_id_marks, strip_id_marks
from roamtui.outline.render import render_outline
from roamtui.quotes.claims import read_claims, read_quotations
from roamtui.quotes.current_text import find_cited_passage
from roamtui.quotes.find import find_quote
from roamtui.quotes.read import replace_verdict_marks
from roamtui.quotes.verdicts import QuoteChecker
from roamtui.quotes.words import read_words
from roamtui.retrieval.excerpt import cut_excerpt
from roamtui.search.keyword import parse_query
from roamtui.search.terms import TermMatcher
from roamtui.sources.read import SourceText
from tests.conversation.conversations import ask, make_state
from tests.convert.samples import make_epub_parts, pack
from tests.search.libraries import make_library

SECONDS_MIN = 0.0003
"""Less counts as this much: it is what does not depend on the length."""
PIECES = (
    *' \n1.…-_*`"[(<|#&漢',
    *(" \n", "\n\n", "a ", "a. ", "a, ", "漢。", "… a ", "1. a\n", "- a\n", "\n> "),
    *("::: tip\n\n", "!!! a\n    b\n\n", "``` ", "```\n", "---\na: b\n", "export const x = {\n\n"),
    *("|a", "| a | b |\n", "**a", "`a", '"a ', '"a b c" [12345678] ', "[12345678] ", "Section 1 ", "{#a"),
    *("[a", "[a](", "[a](b ", "![a](", "![", "](", "[^1", "[^1]: ", "http://a", "a_b", "a-\n"),
    *("<a ", '<a b="', "<Foo>\n", "<Note>\n\n", "<Note a={", "<Tab>a</Tab>\n", "a <!-- ", "<? ", "<!-- a\n", "&a"),
    *("$a_", "\\(a^b ", "a^b^"),
)
"""What the odd texts are made of: one of these, repeated."""


def _name(name: str, text: str) -> SourceText:
    return SourceText(source=name, name=name, text=text)


def _answer(quote: str) -> ConversationState:
    citation = Citation(section_id="12345678", quote=quote, state=QuoteState.NOT_FOUND)
    exchange = Exchange(number=1, question="Why?", answer="So.", stopped=StopReason.ANSWERED, citations=(citation,))
    return replace(_STATE, exchanges=(exchange,))


def _read_reply(text: str) -> object:
    reader = ReplyReader(("expand_sections",))
    return [reader.feed(text[start : start + 8]) for start in range(0, len(text), 8)], reader.finish()


def _render(text: str) -> None:
    library = make_library(text)
    render_outline(library, budget_tokens=700)
    for section_id in [*library.walk()][:3]:
        render_section(library, section_id, delivered=SpanSet(), nonce="ghjkmnpq")


def _lay_out(text: str) -> None:
    markdown = parse_markdown(text)
    MarkdownLayout(width=80, view=View.TERMINAL, links=markdown.links).lay_out(markdown.blocks)


def _find_passage(text: str) -> None:
    state = make_state(f"# A\n\na {text} b\n")
    quote = Citation(section_id=next(state.library.walk()), quote=f"a {text} c", state=QuoteState.NOT_FOUND)
    find_cited_passage(quote, state)


_STATE = ask(make_state(), "Alpha", "Beta")
READERS: dict[str, Callable[[str], object]] = {
    "citations of an answer": lambda text: QuoteChecker(_STATE).list_citations(f"a {text} b"),
    "quote": lambda text: find_quote(f"a b {text} c", "Alpha beta. " * 50),
    "quoted text": lambda text: find_quote("words that are … nowhere", f"a {text} b"),
    "nearest passage": _find_passage,
    "quotations": lambda text: read_quotations(f"a {text} b", "a.md"),
    "claims of a file": lambda text: read_claims(f"Source: a {text} b", "a.md"),
    "exported quote": lambda text: render_markdown(_answer(f"a {text} b"), "a.md"),
    "signs in an answer": replace_verdict_marks,
    "reply": lambda text: [_read_reply(start + text) for start in ("", "<tool_call>", "<think>")],
    "arguments of a call": lambda text: parse_section_ids({"id": f"a {text} b"}, _STATE.library),
    "document": parse_document,
    "llms.txt": lambda text: [
        parse_source_text(_name("llms.txt", f"# A\n\n{start}{text}")) for start in ("> b\n\n", "- http://a")
    ],
    "Markdown": parse_markdown,
    "layout": _lay_out,
    "ids": lambda text: (strip_id_marks(text, ()), disguise_id_marks(text), [*iter_id_marks(text, (), lambda _: True)]),
    "outline and sections": _render,
    "words": read_words.__wrapped__,
    "sentences": split_sentences,
    "passages": split_passages,
    "excerpt": lambda text: cut_excerpt(text, TermMatcher.for_question("alpha b"), tokens_max=100, whole_max=10),
    "query": parse_query,
    "line from right to left": lambda text: [
        to_logical_order(part + text) for part in ("\u05d0", "\u05d07", f"\u05d07{text}")
    ],
    "web page": convert_html,
    "style sheet": lambda text: read_style_sheet(f".a{{{text}}}"),
    "table of cells": lambda text: convert_separated(f"a,b\n{text}\n1,2\n".encode(), "a.csv"),
    "subtitles": lambda text: [
        convert_subtitles(f"1\n00:00:01,000 --> 00:00:02,000\n{start}{text}\na\n".encode(), "a.srt")
        for start in ("", "\n5\n")
    ],
    "EPUB": lambda text: convert_epub(
        pack(make_epub_parts({"a": f"a {text}</p><p><a{text} id='b'>"}, nav="<ol><li><a href='text/a#b'>A</a></ol>")),
        "a",
    ),
    "reStructuredText": lambda text: [
        convert_rst(part.encode(), "a") for part in (text, f".. {text}a::", f"`a{text}<b")
    ],
}


def measure_reading(name: str, piece: str, length: int) -> float:
    """Return the seconds of processor time that a reader takes for a text of one repeated piece."""
    text = piece * (length // len(piece))
    started = time.process_time()
    with suppress(SourceError):  # a page that is nested without end is refused
        READERS[name](text)
    return max(SECONDS_MIN, time.process_time() - started)
