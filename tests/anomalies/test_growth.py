"""However odd a text is, reading one that is eight times as long takes about eight times as long."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress

import pytest
from msgspec.structs import replace

from roamtui.agent.answer import choose_reminder
from roamtui.agent.tools import parse_section_ids
from roamtui.conversation.events import Citation, QuoteState, StopReason
from roamtui.conversation.state import ConversationState, Exchange
from roamtui.document.library import Library
from roamtui.document.parse import parse_document, parse_source_text
from roamtui.document.plain import strip_anchor
from roamtui.errors import SourceError
from roamtui.export.markdown import render_markdown
from roamtui.markdown.parser import read_markdown
from roamtui.models.search_models import parse_choice
from roamtui.outline.expansion import render_section, strip_ids
from roamtui.outline.labels import LINK, escape
from roamtui.outline.render import render_outline
from roamtui.quotes.find import find_quote
from roamtui.quotes.recheck import find_cited_passage, read_claims
from roamtui.quotes.verdicts import QuoteChecker
from roamtui.search.keyword import parse_query
from roamtui.search.passages import select_excerpt
from roamtui.search.terms import TermMatcher, extract_code_names, extract_identifiers
from roamtui.search.units import split_sentences
from roamtui.sources.convert.epub import convert_epub
from roamtui.sources.convert.html import convert_html
from roamtui.sources.convert.rst import convert_rst
from roamtui.sources.read import RawText
from tests.conversation.conversations import ask, make_state
from tests.sources.convert.samples import make_epub_parts, pack

_COUNT = 1_000
"""Characters of the shorter text."""
_TIMES = 12
"""How many times longer the longer one is."""
_GROWTH_MAX = 40
"""Time by the length grows twelvefold, time by its square by 144."""
_SECONDS_MIN = 0.001
"""Less counts as this much: it is what does not depend on the length."""
_PIECES = (
    "export const x = {\n\n",
    *" \n\r1.…!-_*`\"'[({<>|#&“«",
    *(
        " \n",
        "\n\n",
        "a ",
        "a. ",
        "1. a\n",
        "- a\n",
        "\n> ",
        "# a\n",
        "::: tip\n\n",
        ":::\n",
        "!!! a\n    b\n\n",
        "|a",
        "**a",
        "`a",
        "``` ",
        "```\n",
        '"a ',
        "[a",
    ),
    *(
        "[a](",
        "[a](b ",
        "![a](",
        "![",
        "](",
        "[^1",
        "[^1]: ",
        "<a ",
        '<a b="',
        "<Foo>\n",
        "<Note>\n\n",
        "<Note a={",
        "<Tab>a</Tab>\n",
        "$a_",
        "\\(a^b ",
        "a^b^",
        "a <!-- ",
        "<? ",
        "<!-- a\n",
        "&a",
    ),
    *("http://a", "a_b", "a-\n", "[12345678] ", "[1234567", '"a b c" [12345678] ', "a: ", "{#a", "Section 1 "),
)
"""What a text is made of."""


def _make_library(text: str) -> Library:
    return Library(source="a.md", root=parse_document(text))


def _name(name: str, text: str) -> RawText:
    return RawText(source=name, name=name, text=text)


def _answer(quote: str) -> ConversationState:
    citation = Citation(section_id="12345678", quote=quote, state=QuoteState.NOT_FOUND)
    exchange = Exchange(number=1, question="Why?", answer="So.", stopped=StopReason.ANSWERED, citations=(citation,))
    return replace(_STATE, exchanges=(exchange,))


def _render(text: str) -> None:
    library = _make_library(text)
    render_outline(library, budget_tokens=700)
    for section_id in [*library.walk()][:3]:
        render_section(library, section_id, delivered={}, nonce="ghjkmnpq")


def _find_passage(text: str) -> None:
    state = make_state(f"# A\n\na {text} b\n")
    quote = Citation(section_id=next(state.library.walk()), quote=f"a {text} c", state=QuoteState.NOT_FOUND)
    find_cited_passage(quote, state)


_STATE = ask(make_state(), "Alpha", "Beta")
_READERS: dict[str, Callable[[str], object]] = {
    "citations of an answer": lambda text: QuoteChecker(_STATE).cite(f"a {text} b"),
    "reminder": lambda text: choose_reminder(_STATE, f"a {text} b", "stop"),
    "quote": lambda text: find_quote(f"a b {text} c", "Alpha beta. " * 50),
    "quoted text": lambda text: find_quote("words that are … nowhere", f"a {text} b"),
    "nearest passage": _find_passage,
    "claims of a file": lambda text: read_claims(f"Source: a {text} b", "a.md"),
    "exported quote": lambda text: render_markdown(_answer(f"a {text} b"), "a.md"),
    "arguments of a call": lambda text: parse_section_ids({"id": f"a {text} b"}, _STATE.library),
    "rerank": lambda text: parse_choice(text, 5),
    "document": parse_document,
    "llms.txt": lambda text: parse_source_text(_name("llms.txt", f"# A\n\n> b\n\n{text}")),
    "llms-full.txt": lambda text: parse_source_text(_name("llms-full.txt", text)),
    "front matter": lambda text: parse_document(f"---\ntitle: a{text}b\n---\n# C\n"),
    "Markdown": read_markdown,
    "HTML": lambda text: read_markdown(f"<div>\n{text}"),
    "names": lambda text: (strip_anchor(f"a{text}{{}}"), LINK.sub("", text), strip_ids(text), escape(text)),
    "outline and sections": _render,
    "sentences": split_sentences,
    "excerpt": lambda text: select_excerpt(text, TermMatcher.for_question("alpha b"), tokens_max=100, whole_max=10),
    "query": lambda text: (parse_query(text), extract_code_names(text), extract_identifiers(text)),
    "web page": convert_html,
    "EPUB": lambda text: convert_epub(
        pack(make_epub_parts({"a": f"a {text}</p><p><a{text} id='b'>"}, nav="<ol><li><a href='text/a#b'>A</a></ol>")),
        "a",
    ),
    "reStructuredText": lambda text: [
        convert_rst(part.encode(), "a") for part in (text, f".. {text}a::", f"`a{text}<b")
    ],
}


def _measure(read: Callable[[str], object], text: str) -> float:
    started = time.process_time()
    with suppress(SourceError):  # a page that is nested without end is refused
        read(text)
    return max(_SECONDS_MIN, time.process_time() - started)


@pytest.mark.parametrize("name", _READERS)
def test_reading_takes_time_by_the_length_of_a_text_not_by_its_square(name: str) -> None:
    for piece in _PIECES:
        short = piece * (_COUNT // len(piece))
        for may_retry in (True, True, False):  # other programs can slow anything down once
            growth = _measure(_READERS[name], short * _TIMES) / _measure(_READERS[name], short)
            if growth <= _GROWTH_MAX:
                break
            assert may_retry, f"{growth:.0f} times the time for {_TIMES} times as many {piece!r}"
