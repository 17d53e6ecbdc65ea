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
from dataclasses import dataclass, field
from html import escape, unescape
from itertools import groupby
from pathlib import Path
from typing import Any

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
    Details,
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
    flatten_blocks,
)
from roamtui.markdown.layout import CHECKBOXES
from roamtui.markdown.parser import read_markdown
from roamtui.paths import display_path
from roamtui.quotes.answer_markdown import read_answer_markdown
from roamtui.quotes.recheck import PASSAGE_LABEL, format_quote
from roamtui.quotes.source_list import find_quote_section, format_place
from roamtui.quotes.verdicts import AnswerProof, JudgedMark, make_proof

_SIBLINGS_MAX = 40
"""In a longer list of siblings, the outline shows only those that the conversation touched, and their ancestors."""
_SECTION_LENGTH_MAX = 40_000
"""Maximum number of characters of a section that the page shows."""
_STEP_TICKS = 8
"""Duration of a step of the replay, in ticks of the script."""
_TAG = re.compile(r"<[^>]*>")
_WORD = re.compile(r"&[#\w]+;|\w+|[^\w\s]", re.ASCII)


def render_html(state: ConversationState, source: str, library: Library | None) -> str:
    """Render a conversation about `source` as a page that replays it.

    `library` is the current version of the document. If it is None, the page shows no sections.
    """
    page = _ReplayPage(library, source)
    title = sanitise_line(state.title) or "Conversation"
    articles = "".join(page.render_exchange(exchange) for exchange in state.transcript.exchanges)
    style, script = (Path(__file__).with_suffix(ending).read_text("utf-8") for ending in (".css", ".js"))
    policy = f"style-src {make_csp_hash(style)}; script-src {make_csp_hash(script)}"
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
<section class="sections" aria-label="Sections that were opened">{page.render_sections()}</section>
<div class="player" hidden role="group" aria-label="Replay">
<button id="play" aria-pressed="false">Play</button><button id="back" aria-label="Step back">◂</button>\
<button id="step" aria-label="Step on">▸</button><input id="place" type="range" min="0" value="0" aria-label="Place">\
<label>Speed <select id="speed"><option value="0.5">½</option><option value="1" selected>1</option>\
<option value="2">2</option><option value="4">4</option></select></label><span id="told" role="status"></span>
</div>
<script type="application/json" id="timeline">{timeline}</script>
<script>{script}</script>
</body>
</html>
"""


@dataclass(slots=True)
class _ReplayPage:
    """Renders the parts of a page: each exchange, then the outline and the sections that the exchanges touched."""

    library: Library | None
    source: str
    timeline: list[dict[str, Any]] = field(default_factory=list)
    """Steps of the replay in order, each with its duration in ticks."""
    touched: dict[str, None] = field(default_factory=dict)
    """Sections that were found, opened or cited."""
    opened: dict[str, None] = field(default_factory=dict)
    """The touched sections that the page shows."""
    quotes: dict[str, list[tuple[str, str]]] = field(default_factory=dict)
    """Quotes by section, each with the id of its highlight in the page."""

    def render_exchange(self, exchange: Exchange) -> str:
        """Render a question with its answer and sources, and add its events to the timeline."""
        number = exchange.number
        self.timeline.append({"show": [f"q{number}"], "ticks": _STEP_TICKS, "say": "Question"})
        for event in exchange.events:
            match event:
                case SectionsSearched(query=query, hits=hits):
                    ids = self._mark_touched(hit.section_id for hit in hits)
                    self.timeline.append(
                        {"find": ids, "ticks": _STEP_TICKS, "say": f"Searched: {sanitise_line(query)}"}
                    )
                case SectionsExpanded(opened_ids=opened) if opened:
                    self._add_sections(opened)
                case _:
                    pass
        items = []
        is_passage = replies_with_passages(exchange)
        for position, citation in enumerate(exchange.citations, 1):
            items.append(self._render_citation(f"c{number}-{position}", citation, is_passage=is_passage))
        proof = match_proof(exchange)
        markdown = read_answer_markdown(exchange.answer, proof)
        renderer = _BlockRenderer(markdown.links, proof, f"c{number}-", self.opened)
        self.timeline.append({"stream": f"a{number}", "say": "Answer"})
        endings = [notice.text for notice in make_outcome_notices(exchange.outcome)]
        endings += filter(None, [format_proof(exchange), "" if is_passage else proof.summary] if items else ())
        ending = f'<p class="ending">{escape(" · ".join(endings))}</p>' if endings else ""
        sources = f'<ol class="sources" aria-label="Sources">{"".join(items)}</ol>' if items else ""
        self.timeline.append({"show": [f"e{number}"], "ticks": _STEP_TICKS, "say": ""})
        return (
            f'<article id="q{number}"><h2>{escape(sanitise_text(exchange.question))}</h2>'
            f'<div class="answer" id="a{number}">{renderer.render(markdown.blocks)}</div>'
            f'<div id="e{number}">{sources}{ending}</div></article>'
        )

    def _mark_touched(self, section_ids: Iterable[str]) -> list[str]:
        known = [section_id for section_id in section_ids if self.library is not None and section_id in self.library]
        self.touched.update(dict.fromkeys(known))
        return known

    def _add_sections(self, section_ids: Iterable[str]) -> None:
        new = [section_id for section_id in self._mark_touched(section_ids) if section_id not in self.opened]
        if new:
            self.opened.update(dict.fromkeys(new))
            self.timeline.append({"open": new, "ticks": _STEP_TICKS, "say": "Opened"})

    def _render_citation(self, name: str, citation: Citation, *, is_passage: bool) -> str:
        library, state, quote = self.library, citation.state, citation.quote
        path = escape(" › ".join(map(sanitise_line, citation.path)) or citation.section_id)
        place, label = citation.place, PASSAGE_LABEL if is_passage else state.label
        place = f"{place} · {label}"
        if library is not None and (section_id := find_quote_section(citation, library)) in library:
            self._add_sections([citation.section_id, section_id])
            place = format_place(citation, library)
            target = f"s-{section_id}"
            if quote and (citation.is_verified or section_id != citation.section_id):
                target = f"m{name}"
                self.quotes.setdefault(section_id, []).append((quote, target))
            path = f'<a href="#{target}">{path}</a>'
        sign = f'<b class="{state.value}">{state.sign}</b> ' if state.sign and not is_passage else ""
        words = _render_quote(citation, self.source) if quote else ""
        location = f'<span class="{state.value}">{escape(place)}</span>'
        return f'<li id="{name}" title="{escape(label)}">{sign}{path} {words} <small>{location}</small></li>'

    def render_outline(self) -> str:
        """Render the outline around the touched sections. Long lists of siblings are shortened."""
        if self.library is None:
            return "<p>The source was not read, so its outline is not shown.</p>"
        near_ids = {self.library.root_id, *self.touched}
        for section_id in self.touched:
            near_ids.update(self.library.ancestors(section_id))
        return self._render_branch(self.library, self.library.root_id, near_ids)

    def _render_branch(self, library: Library, section_id: str, near_ids: set[str]) -> str:
        children = library.children(section_id) if section_id in near_ids else ()
        shown = children if len(children) <= _SIBLINGS_MAX else [child for child in children if child in near_ids]
        items = []
        for child in shown:
            title = escape(sanitise_line(library.title_of(child)))
            label = f'<a href="#s-{child}">{title}</a>' if child in self.opened else f"<span>{title}</span>"
            items.append(f'<li id="o-{child}">{label}{self._render_branch(library, child, near_ids)}</li>')
        if len(shown) < len(children):
            items.append(f"<li class=more>{len(children) - len(shown):,} more</li>")
        return f"<ul>{''.join(items)}</ul>" if items else ""

    def render_sections(self) -> str:
        """Render each opened section's own text in document order, with its quotes marked."""
        library, sections = self.library, list[str]()
        if library is None:
            return ""
        for section_id in library.walk() if self.opened else ():
            if section_id in self.opened:
                text = library.text_at(library.get_own_content_span(section_id), length_max=_SECTION_LENGTH_MAX)
                markdown = read_markdown(sanitise_text(text))
                body = _BlockRenderer(markdown.links).render(markdown.blocks)
                for quote, name in self.quotes.get(section_id, ()):
                    highlighted = _highlight_quote(body, quote, name)
                    body = highlighted if highlighted != body else f'<span id="{name}"></span>{body}'
                title = escape(sanitise_line(library.title_of(section_id)))
                sections.append(f'<section id="s-{section_id}" aria-label="{title}">{body}</section>')
        return "".join(sections)


def _render_quote(citation: Citation, source: str) -> str:
    """Render a quote, and if it was found, the attributes that `recheck` reads."""
    data, quote = "", citation.quote or ""
    if citation.is_verified:
        section, words = escape(citation.section_id), escape(format_quote(quote))
        data = f' data-source="{escape(source)}" data-section="{section}" data-quote="{words}"'
    return f"<q{data}>{escape(_to_plain_text(quote))}</q>"


_TAGS = {Emphasis.CODE: "code", Emphasis.STRUCK: "s", Emphasis.ITALIC: "em", Emphasis.STRONG: "strong"}
"""HTML element for each emphasis, innermost first."""
_EMPTY_PROOF = make_proof("", ())


@dataclass(slots=True)
class _BlockRenderer:
    """Renders blocks as HTML that loads nothing: an image becomes its description."""

    links: Sequence[Link]
    proof: AnswerProof = _EMPTY_PROOF
    """The verdicts of the answer. The blocks refer to its quotes and marks by their numbers."""
    source_prefix: str = ""
    """Prefix of the ids of sources in the page. The number of the source follows it."""
    shown_ids: Iterable[str] = ()
    """The sections that the page shows."""

    def render(self, blocks: Sequence[Block], *, is_tight: bool = False) -> str:
        return "".join(self._render_block(block, is_tight=is_tight) for block in blocks)

    def _render_block(self, block: Block, *, is_tight: bool) -> str:  # noqa: PLR0911 - one for each kind
        match block:
            case Paragraph(words=words):
                text = self._render_words(words)
                return text if is_tight else f"<p>{text}</p>"
            case Heading(level=level, words=words):
                return f"<h{level}>{self._render_words(words)}</h{level}>"
            case Code(text=text):
                return f"<pre><code>{escape(sanitise_text(text))}\n</code></pre>"
            case Table(rows=rows, alignments=alignments):
                texts = []
                for row in rows:
                    tag, padded = "th" if row.is_head else "td", (*alignments, *[""] * len(row.cells))
                    cells = zip(row.cells, padded, strict=False)
                    cell_texts = [f'<{tag} class="{side}">{self._render_words(cell)}</{tag}>' for cell, side in cells]
                    texts.append(f"<tr>{''.join(cell_texts)}</tr>")
                return f"<table>{''.join(texts)}</table>"
            case List(items=items, number=number):
                texts = []
                for item in items:
                    box = "" if item.is_done is None else CHECKBOXES[item.is_done]
                    texts.append(f"<li>{box}{self.render(item.blocks, is_tight=block.is_tight)}</li>")
                start, end = ("<ul>", "</ul>") if number is None else (f'<ol start="{number}">', "</ol>")
                return f"{start}{''.join(texts)}{end}"
            case Quote(blocks=blocks, alert=alert, title=title):
                kind = (
                    f"<p><strong>{escape(alert.capitalize())}</strong> {self._render_words(title)}</p>" if alert else ""
                )
                return f"<blockquote>{kind}{self.render(blocks)}</blockquote>"
            case Details(summary=summary, blocks=blocks):  # open, since it may hold a quote
                return (
                    f'<details open=""><summary>{self._render_words(summary)}</summary>{self.render(blocks)}</details>'
                )
            case ThematicBreak():
                return "<hr/>"

    def _render_words(self, inline: Inline) -> str:
        """Render words. The words of a quote become one element, and in it the words of each link."""
        parts = []
        for group, quoted in groupby(inline, key=lambda words: words.group):
            text = "".join(
                self._render_link(index, linked) for index, linked in groupby(quoted, key=lambda words: words.link)
            )
            if group is not None:
                state = self.proof.quotes[group].state
                text = f'<span class="quote {state.value}" title="{escape(state.label)}">{text}</span>'
            parts.append(text)
        return "".join(parts)

    def _render_link(self, index: int | None, inline: Iterable[Words]) -> str:
        text = "".join(map(_render_emphasis, inline))
        if index is None:
            return text
        link = self.links[index]
        if link.is_reference_mark:
            return self._render_mark(self.proof.marks[int(link.href)]) if self.proof.marks else f"<sup>{text}</sup>"
        if not re.match(r"https?://", link.href):  # other targets do not exist outside the source
            return f"<a>{text}</a>"
        return f'<a href="{escape(link.href)}" rel="noopener noreferrer nofollow" target="_blank">{text}</a>'

    def _render_mark(self, mark: JudgedMark) -> str:
        """Render a citation mark as on the screen, with a link for each of its numbers."""
        if not mark.numbers:
            text = f"[{mark.section_id}]"
            return (
                f'<a class="cite" href="#s-{mark.section_id}">{text}</a>' if mark.section_id in self.shown_ids else text
            )
        numbers = ",".join(f'<a href="#{self.source_prefix}{number}">{number}</a>' for number in mark.numbers)
        sign = f" {mark.verdict.sign}" if mark.verdict.sign else ""
        return f'<span class="cite {mark.verdict.value}" title="{escape(mark.verdict.label)}">[{numbers}{sign}]</span>'


def _render_emphasis(words: Words) -> str:
    if words is LINE_BREAK:
        return "<br/>"
    text = escape(sanitise_text(words.text))
    if words.is_image:
        text = f"<i>{text}</i>"
    for emphasis, tag in _TAGS.items():
        if emphasis in words.emphasis:
            text = f"<{tag}>{text}</{tag}>"
    return text


def _to_plain_text(markdown: str) -> str:
    """Return the words of Markdown, one line for each paragraph, item and row."""
    words = flatten_blocks(read_markdown(sanitise_text(markdown)).blocks)
    return sanitise_text("".join(piece.text for piece in words)).strip()


def _highlight_quote(body: str, quote: str, name: str) -> str:
    # Puts the quote in <mark> elements. Compares only words: tags and punctuation between them may differ.
    words = [word.casefold() for word in _WORD.findall(_to_plain_text(quote)) if word[0].isalnum()]
    visible = _TAG.sub(lambda tag: "\0" * len(tag[0]), body)
    spans = [(m.start(), m.end()) for m in _WORD.finditer(visible) if unescape(m[0])[0].isalnum()]
    texts = [visible[start:end].casefold() for start, end in spans]
    for first in range(len(texts) - len(words) + 1) if words else ():
        if texts[first : first + len(words)] == words:
            start, end = spans[first][0], spans[first + len(words) - 1][1]
            marked = re.sub(r"((?:<[^>]*>)+)", r"</mark>\1<mark>", body[start:end])
            return f'{body[:start]}<mark id="{name}">{marked}</mark>{body[end:]}'
    return body


def make_csp_hash(text: str) -> str:
    """Return the expression of a Content Security Policy that allows exactly this script or style."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
