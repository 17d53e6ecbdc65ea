"""Conversations as one HTML page that can be read, printed and replayed without any request.

All text from the document, the model or the person is escaped here. The page's Content Security Policy (level 3) allows
only the script and the style next to this file, and no images or requests.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterable, Sequence
from html import escape
from itertools import groupby
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from roamtui.agent.passages import format_proof, match_proof, replies_with_passages
from roamtui.conversation.events import SectionsExpanded, SectionsSearched
from roamtui.conversation.notices import make_outcome_notices
from roamtui.conversation.state import ConversationState, Exchange
from roamtui.conversation.transcript import Citation
from roamtui.document.library import Library
from roamtui.document.plain import sanitise_line, sanitise_text
from roamtui.markdown.blocks import (
    LINE_BREAK,
    Block,
    Code,
    Emphasis,
    Heading,
    Inline,
    Link,
    List,
    Paragraph,
    Quote,
    Table,
    ThematicBreak,
    Words,
)
from roamtui.markdown.layout import CHECKBOXES
from roamtui.paths import display_path
from roamtui.quotes.answer_markdown import read_answer_markdown
from roamtui.quotes.recheck import PASSAGE_LABEL
from roamtui.quotes.source_list import describe_place, find_quote_section, strip_links
from roamtui.quotes.verdicts import AnswerProof, JudgedMark


def render_html(state: ConversationState, source: str, library: Library | None) -> str:
    """Render a conversation about `source` as a page that replays it.

    `library` is the current version of the document. If it is None, the page shows no sections.
    """
    page = _ReplayPage(library)
    title = sanitise_line(state.title) or "Conversation"
    articles = "".join(page.render_exchange(exchange) for exchange in state.transcript.exchanges)
    style, script = (Path(__file__).with_suffix(ending).read_text("utf-8") for ending in (".css", ".js"))
    policy = f"style-src {_make_csp_hash(style)}; script-src {_make_csp_hash(script)}"
    subtitle = f"{escape(sanitise_line(display_path(source)))} · {escape(sanitise_line(state.model))}"
    timeline = json.dumps(page.timeline).replace("<", "\\u003c")
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; {policy}; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>{escape(title)} · roamtui</title>
<style>{style}</style>
</head>
<body>
<header><h1>{escape(title)}</h1><p>{subtitle}</p></header>
<nav aria-label="Outline">{page.render_outline()}</nav>
<main>{articles}</main>
<div class="player" hidden role="group" aria-label="Replay">
<button id="play" aria-pressed="false">Play</button><button id="back" aria-label="Step back">◂</button>\
<button id="step" aria-label="Step on">▸</button><input id="place" type="range" min="0" value="0" aria-label="Place">\
<span id="told" role="status"></span>
</div>
<script type="application/json" id="timeline">{timeline}</script>
<script>{script}</script>
</body>
</html>
"""


class _ReplayPage(Struct):
    """Renders the parts of a page: each exchange, then the outline and the sections that the exchanges touched."""

    library: Library | None
    timeline: list[dict[str, Any]] = field(default_factory=list)
    """Steps of the replay in order."""
    touched: set[str] = field(default_factory=set)
    """Sections that were found, opened or cited."""

    def render_exchange(self, exchange: Exchange) -> str:
        """Render a question with its answer and sources, and add its events to the timeline."""
        number, is_passage = exchange.number, replies_with_passages(exchange)
        self.timeline.append({"show": [f"q{number}"], "say": "Question"})
        for event in exchange.events:
            match event:
                case SectionsSearched(query=query, hits=hits):
                    ids = self._mark_touched(hit.section_id for hit in hits)
                    self.timeline.append({"find": ids, "say": f"Searched: {sanitise_line(query)}"})
                case SectionsExpanded(opened_ids=opened) if opened:
                    self.timeline.append({"open": self._mark_touched(opened), "say": "Opened"})
                case _:
                    pass
        items = [
            self._render_citation(f"c{number}-{position}", citation, is_passage=is_passage)
            for position, citation in enumerate(exchange.citations, 1)
        ]
        proof = match_proof(exchange)
        markdown = read_answer_markdown(exchange.answer, proof)
        answer = _AnswerRenderer(markdown.links, proof, f"c{number}-").render(markdown.blocks)
        self.timeline += [{"stream": f"a{number}", "say": "Answer"}, {"show": [f"e{number}"], "say": ""}]
        endings = [notice.text for notice in make_outcome_notices(exchange.outcome)]
        endings += filter(None, [format_proof(exchange)] if items else ())
        return (
            f'<article id="q{number}"><h2>{escape(sanitise_text(exchange.question))}</h2>'
            f'<div class="answer" id="a{number}">{answer}</div><div id="e{number}">'
            f'<ol class="sources" aria-label="Sources">{"".join(items)}</ol>'
            f'<p class="ending">{escape(" · ".join(endings))}</p></div></article>'
        )

    def _mark_touched(self, section_ids: Iterable[str]) -> list[str]:
        known = [section_id for section_id in section_ids if self.library is not None and section_id in self.library]
        self.touched.update(known)
        return known

    def _render_citation(self, name: str, citation: Citation, *, is_passage: bool) -> str:
        library, state, quote = self.library, citation.state, citation.quote
        path = escape(" › ".join(map(sanitise_line, citation.path)) or citation.section_id)
        label = PASSAGE_LABEL if is_passage else state.label
        place = f"{citation.place} · {label}"
        if library is not None and (section_id := find_quote_section(citation, library)) in library:
            self.touched.add(section_id)
            place = describe_place(citation, sanitise_line(library.title_of(section_id)))
        sign = f'<b class="{state.value}">{state.sign}</b> ' if state.sign and not is_passage else ""
        words = f"<q>{escape(strip_links(quote))}</q>" if quote else ""
        location = f'<span class="{state.value}">{escape(place)}</span>'
        return f'<li id="{name}" title="{escape(label)}">{sign}{path} {words} <small>{location}</small></li>'

    def render_outline(self) -> str:
        """Render the outline of the touched sections."""
        if self.library is None:
            return "<p>The source was not read, so its outline is not shown.</p>"
        library, shown = self.library, {*self.touched}
        for section_id in self.touched:
            shown.update(library.ancestors(section_id))

        def render_below(section_id: str) -> str:
            items = []
            for child in filter(shown.__contains__, library.children(section_id)):
                title = escape(sanitise_line(library.title_of(child)))
                items.append(f'<li id="o-{child}"><span>{title}</span>{render_below(child)}</li>')
            return f"<ul>{''.join(items)}</ul>" if items else ""

        return render_below(library.root_id)


_TAGS = {Emphasis.CODE: "code", Emphasis.STRUCK: "s", Emphasis.ITALIC: "em", Emphasis.STRONG: "strong"}
"""HTML element for each emphasis, innermost first."""


class _AnswerRenderer(Struct, frozen=True):
    """Renders the blocks of an answer as HTML that loads nothing: an image becomes its description."""

    links: Sequence[Link]
    proof: AnswerProof
    prefix: str
    """What the ids of sources begin with, before their numbers."""

    def render(self, blocks: Sequence[Block]) -> str:
        return "".join(map(self._render_block, blocks))

    def _render_block(self, block: Block) -> str:  # noqa: PLR0911 - one for each kind
        match block:
            case Paragraph(words=words):
                return f"<p>{self._render_words(words)}</p>"
            case Heading(level=level, words=words):
                return f"<h{level}>{self._render_words(words)}</h{level}>"
            case Code(text=text):
                return f"<pre><code>{escape(sanitise_text(text))}\n</code></pre>"
            case Table(rows=rows):
                texts = []
                for row in rows:
                    tag = "th" if row.is_head else "td"
                    cells = "".join(f"<{tag}>{self._render_words(cell)}</{tag}>" for cell in row.cells)
                    texts.append(f"<tr>{cells}</tr>")
                return f"<table>{''.join(texts)}</table>"
            case List(items=items, number=number):
                boxes = ("" if item.is_done is None else CHECKBOXES[item.is_done] for item in items)
                listed = [f"<li>{box}{self.render(item.blocks)}</li>" for box, item in zip(boxes, items, strict=True)]
                start, end = ("<ul>", "</ul>") if number is None else (f'<ol start="{number}">', "</ol>")
                return f"{start}{''.join(listed)}{end}"
            case Quote(blocks=blocks, alert=alert, title=title):
                label = f"<p><strong>{escape(alert.capitalize())}</strong> {self._render_words(title)}</p>"
                return f"<blockquote>{label if alert else ''}{self.render(blocks)}</blockquote>"
            case ThematicBreak():
                return "<hr/>"

    def _render_words(self, inline: Inline) -> str:
        """Render words. The words of a quote become one element, and in it the words of each link."""
        parts = []
        for group, quoted in groupby(inline, key=lambda words: words.group):
            linked = groupby(quoted, key=lambda words: words.link)
            text = "".join(self._render_link(index, "".join(map(_render_emphasis, words))) for index, words in linked)
            if group is not None:
                state = self.proof.quotes[group].state
                text = f'<span class="quote {state.value}" title="{escape(state.label)}">{text}</span>'
            parts.append(text)
        return "".join(parts)

    def _render_link(self, index: int | None, text: str) -> str:
        if index is None:
            return text
        link = self.links[index]
        if link.is_reference_mark:
            return self._render_mark(self.proof.marks[int(link.href)])
        if not re.match(r"https?://", link.href):  # other targets do not exist outside the source
            return f"<a>{text}</a>"
        return f'<a href="{escape(link.href)}" rel="noopener noreferrer nofollow" target="_blank">{text}</a>'

    def _render_mark(self, mark: JudgedMark) -> str:
        """Render a citation mark as on the screen, with a link for each of its numbers."""
        if not mark.numbers:
            return f"[{mark.section_id}]"
        numbers = ",".join(f'<a href="#{self.prefix}{number}">{number}</a>' for number in mark.numbers)
        sign = f" {mark.verdict.sign}" if mark.verdict.sign else ""
        return f'<span class="cite {mark.verdict.value}" title="{escape(mark.verdict.label)}">[{numbers}{sign}]</span>'


def _render_emphasis(words: Words) -> str:
    if words is LINE_BREAK:
        return "<br/>"
    text = escape(sanitise_text(words.text))
    for emphasis, tag in _TAGS.items():
        if emphasis in words.emphasis:
            text = f"<{tag}>{text}</{tag}>"
    return text


def _make_csp_hash(text: str) -> str:
    """Return the expression of a Content Security Policy that allows exactly this script or style."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
