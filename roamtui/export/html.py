"""Conversations as one HTML page that can be read, printed and replayed without any request.

All text from the document, the model or the person is escaped here. The page's Content Security Policy (level
3) allows only the script and the style next to this file, and no images or requests.
"""

import base64
import hashlib
from collections.abc import Container, Iterator, Mapping, Sequence
from html import escape
from itertools import groupby
from pathlib import Path

from msgspec import Struct

from roamtui.answer_report import AnswerReport
from roamtui.conversation.citations import Citation, QuoteState
from roamtui.conversation.events import ConversationEvent, SectionsOpened, SectionsSearched
from roamtui.conversation.notices import format_usage, iter_notices
from roamtui.conversation.state import ConversationState, Exchange
from roamtui.document.document import NodeKind
from roamtui.document.library import Library
from roamtui.markdown.anchors import strip_anchor
from roamtui.markdown.blocks import (
    Block,
    BlockQuote,
    Code,
    Emphasis,
    Heading,
    Inline,
    Item,
    Link,
    List,
    Paragraph,
    Table,
    ThematicBreak,
    Words,
)
from roamtui.markdown.quoted_sentence import QuotedSentence
from roamtui.outline.labels import PATH_STEP, format_node_title
from roamtui.quotes.find import find_quote
from roamtui.quotes.verdicts import AnswerProof, Unsourced, VerdictMark
from roamtui.quotes.wording import (
    NO_SECTION,
    PASSAGE_LABEL,
    describe_citation,
    describe_nearest,
    simplify_quote,
)
from roamtui.sanitiser import sanitise_line, sanitise_text
from roamtui.sources.source_names import format_sources


def render_html(state: ConversationState, source: str) -> str:
    """Render a conversation about `source` as a page that replays it."""
    page = _ReplayPage(state.exchanges, state.library)
    title = sanitise_line(state.title) or "Conversation"
    style, script = (Path(__file__).with_suffix(suffix).read_text("utf-8") for suffix in (".css", ".js"))
    hashes = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in (style, script)]
    own_parts = f"style-src 'sha256-{hashes[0]}'; script-src 'sha256-{hashes[1]}'"
    usage = format_usage(state.spent)
    facts = [format_sources(source), state.model, *([f"read {usage}"] if usage else [])]
    subtitle = " · ".join(escape(sanitise_line(fact)) for fact in facts)
    policy = f"default-src 'none'; {own_parts}; base-uri 'none'; form-action 'none'"
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(title)} · roamtui</title>
<style>{style}</style>
</head>
<body>
<header><h1>{escape(title)}</h1><p>{subtitle}</p></header>
<nav aria-label="Outline">{page.render_outline()}</nav>
<main>{page.articles}</main>
<div class="player" hidden role="region" aria-label="Replay"><button id="play">Play</button>
<input id="place" type="range" min="0" value="0" aria-label="Place"></div>
<script type="module">{script}</script>
</body>
</html>
"""


class _ReplayPage:
    """The articles of a page, one for each exchange, and the outline of the sections that they name."""

    def __init__(self, exchanges: Sequence[Exchange], library: Library) -> None:
        self._library = library
        self._touched: set[str] = set()
        """Sections that were found or opened. Rendering an exchange adds those of its steps."""
        self._quotes: dict[str, dict[tuple[int, int], str]] = {}
        """By cited section: the offsets of its quotes in its text, and the ids of the quotes on the page.

        Rendering an exchange adds those of its answer.
        """
        self.articles = "".join(map(self._render_exchange, exchanges))

    def _render_exchange(self, exchange: Exchange) -> str:
        """Render a question with its steps, answer and sources. The page replays them in this order."""
        report = AnswerReport(exchange, self._library)
        proof = report.proof
        names = {citation.start: self._name_quote(citation) for citation in proof.citations}
        sources = "".join(map(self._render_citation, proof.citations))
        label = PASSAGE_LABEL if exchange.has_passages else QuoteState.NO_QUOTE.label
        answer = _AnswerRenderer(proof, names, label).render(proof.markdown.blocks)
        endings = [*(text for text, _ in report.endings), *report.closing_sentences]
        return (
            f'<article id="q{exchange.number}"><h2>{escape(sanitise_text(exchange.question))}</h2>'
            f'<ul class="steps" aria-label="Steps">{"".join(map(self._render_step, exchange.events))}</ul>'
            f'<div class="answer">{answer}</div>'
            f'<footer><ol class="sources" aria-label="Sources">{sources}</ol>'
            f'<p class="ending">{escape(sanitise_line(" · ".join(endings)))}</p></footer></article>'
        )

    def _render_step(self, event: ConversationEvent) -> str:
        """Render a search or an opening, with the ids of the sections that it highlights in the outline."""
        match event:
            case SectionsSearched(hits=hits):
                kind = "searched"
                ids = tuple(hit.section_id for hit in hits)
            case SectionsOpened(opened_ids=ids):
                kind = "opened"
            case _:
                return ""
        self._touched.update(ids)
        text = " · ".join(notice.format() for notice in iter_notices(event, self._library))
        return f'<li data-{kind}="{escape(" ".join(ids))}">{escape(sanitise_line(text))}</li>'

    def _name_quote(self, citation: Citation) -> str:
        """Add the section of a quote to the outline. Return the id of the quote, or "" if it is not found."""
        section_id = describe_citation(citation, self._library).section_id
        if section_id not in self._library:
            return ""
        quotes = self._quotes.setdefault(section_id, {})
        text = self._library.text_at(self._library.node(section_id).own_content_span)
        match = find_quote(citation.quote, text) if citation.quote else None
        bounds = None if match is None else (match.start, match.end)
        return quotes.setdefault(bounds, f"{section_id}-{len(quotes) + 1}") if bounds is not None else ""

    def _render_citation(self, citation: Citation) -> str:
        state = citation.state
        source = describe_citation(citation, self._library)
        titles = filter(None, [source.document, *map(sanitise_line, citation.path)])
        path = escape(PATH_STEP.join(titles) or NO_SECTION)
        place = f'<small class="{state.value}">{escape(source.place)}</small>'
        sign = f'<b class="{state.value}">{state.sign}</b> ' if state.sign else ""
        words = f"<q>{escape(sanitise_text(simplify_quote(citation.quote)))}</q>" if citation.quote else ""
        details = "".join(self._render_nearest(citation)) + _render_sentence(citation.surroundings)
        return f"<li>{sign}{path} {words} {place}{details}</li>"

    def _render_nearest(self, citation: Citation) -> Iterator[str]:
        """Render the words nearest to a false quote, with their place and with the differences marked."""
        place, parts = describe_nearest(citation)
        if not place:
            return
        yield f"<br/><small>{escape(sanitise_line(place))}"
        for part in parts:
            words = escape(sanitise_line(part.words))
            if part.is_in_quote and part.is_in_text:
                yield f" {words}"
            else:
                tag = "del" if part.is_in_quote else "ins"
                yield f" <{tag}>{words}</{tag}>"
        yield "</small>"

    def render_outline(self) -> str:
        """Render the outline of the touched sections, with the texts of the cited ones."""
        shown: set[str] = set()
        for section_id in self._touched | self._quotes.keys():
            if section_id in self._library:
                shown.update((section_id, *self._library.node(section_id).ancestors))
        return self._render_below(self._library.root_id, shown)

    def _render_below(self, section_id: str, shown: Container[str]) -> str:
        items = []
        for child in self._library.children(section_id):
            if child in shown:
                title = escape(sanitise_line(format_node_title(self._library.node(child))))
                if child in self._quotes:
                    title = f"<details><summary>{title}</summary>{self._render_text(child)}</details>"
                items.append(f'<li id="o-{child}"><div>{title}</div>{self._render_below(child, shown)}</li>')
        return f"<ul>{''.join(items)}</ul>" if items else ""

    def _render_text(self, section_id: str) -> str:
        node = self._library.node(section_id)
        text = self._library.text_at(node.own_content_span)
        heading = text.partition("\n")[0] if node.kind is NodeKind.SECTION else ""
        shown_end = len(strip_anchor(heading))

        def render(start: int, end: int) -> str:
            """Render a part of the text without the anchor of its heading."""
            shown = text[start : min(end, shown_end)] + text[max(start, len(heading)) : end]
            return escape(sanitise_text(shown))

        html = ""
        position = 0
        for (start, end), name in sorted(self._quotes[section_id].items()):
            first = max(start, position)  # two quotes may share words
            html += f'{render(position, first)}<mark id="{name}">{render(first, end)}</mark>'
            position = max(position, end)
        return f"<pre>{html}{render(position, len(text))}</pre>"


_TAGS = {Emphasis.CODE: "code", Emphasis.STRUCK: "s", Emphasis.ITALIC: "em", Emphasis.STRONG: "strong"}
"""HTML element for each emphasis, innermost first."""


class _AnswerRenderer(Struct, frozen=True):
    """Renders the blocks of an answer as HTML that loads nothing: an image becomes its description."""

    proof: AnswerProof
    names: Mapping[int, str]
    """By offset of a quote in the answer: its id in the outline, or "" if it is not found there."""
    no_quote_label: str
    """The words for a citation that has no verdict."""

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
                    tag = "th" if row.is_header else "td"
                    cells = "".join(f"<{tag}>{self._render_words(cell)}</{tag}>" for cell in row.cells)
                    texts.append(f"<tr>{cells}</tr>")
                return f"<table>{''.join(texts)}</table>"
            case List(items=items):
                tag = "ol" if items[0].number else "ul"
                listed = "".join(self._render_item(item) for item in items)
                return f"<{tag}>{listed}</{tag}>"
            case BlockQuote(blocks=blocks, alert=alert, title=title):
                label = f"<p><strong>{escape(alert.capitalize())}</strong> {self._render_words(title)}</p>"
                return f"<blockquote>{label if alert else ''}{self.render(blocks)}</blockquote>"
            case ThematicBreak():
                return "<hr/>"

    def _render_item(self, item: Item) -> str:
        value = f' value="{item.number}"' if item.number else ""
        return f"<li{value}>{self.render(item.blocks)}</li>"

    def _render_words(self, inline: Inline) -> str:
        """Render words. The words of a quote become one link to the quote in the outline."""
        parts = []
        for (group, index), words in groupby(inline, key=lambda words: (words.group, words.link_number)):
            text = "".join(map(_render_emphasis, words))
            match self.proof.judge(group, index):
                case VerdictMark(label=label, verdict=verdict):
                    text = f"<b {self._render_verdict('cite', verdict)}>{label}</b>"
                case Citation(start=start, state=state):
                    name = self.names.get(start)
                    href = f' href="#{name}"' if name else ""
                    text = f"<a{href} {self._render_verdict('quote', state)}>{text}</a>"
                case Unsourced():
                    text = f'<span class="unsourced" title="no source">{text}</span>'
                case None:
                    text = (
                        text if index is None else self._render_link(text, self.proof.markdown.links[index])
                    )
            parts.append(text)
        return "".join(parts)

    def _render_link(self, text: str, link: Link) -> str:
        """Render the words of a link. Only a web link stays a link."""
        if not link.href.startswith(("http://", "https://")):
            return text
        href = escape(sanitise_text(link.href))
        return f'<a href="{href}" rel="noopener noreferrer nofollow" target="_blank">{text}</a>'

    def _render_verdict(self, kind: str, verdict: QuoteState) -> str:
        label = self.no_quote_label if verdict is QuoteState.NO_QUOTE else verdict.label
        return f'class="{kind} {verdict.value}" title="{escape(label)}"'


def _render_emphasis(words: Words) -> str:
    text = escape(sanitise_text(words.text)).replace("\n", "<br/>")
    for emphasis, tag in _TAGS.items():
        if emphasis in words.emphasis:
            text = f"<{tag}>{text}</{tag}>"
    return text


def _render_sentence(surroundings: QuotedSentence | None) -> str:
    html = ""
    for part in surroundings.list_parts() if surroundings is not None else ():
        words = escape(part.text)
        words = f"<s>{words}</s>" if part.is_struck else words
        words = f"<em>{words}</em>" if part.is_left_out else words
        html += f"<b>{words}</b>" if part.is_quoted else words
    return f'<p class="sentence"><bdi>{html}</bdi></p>' if html else ""
