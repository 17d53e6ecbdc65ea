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
from pathlib import Path
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict
from typing_extensions import override

from roamtui.agent.citations import MARK, MARKED_ID
from roamtui.conversation.events import SectionsExpanded, SectionsSearched
from roamtui.conversation.notices import make_outcome_notices
from roamtui.conversation.state import ConversationState, Exchange
from roamtui.conversation.transcript import Citation
from roamtui.document.library import Library
from roamtui.document.plain import sanitise_line, sanitise_text
from roamtui.paths import display_path

_SIBLINGS_MAX = 40
"""With more siblings than this, the outline shows only those that the conversation touched."""
_TEXT_MAX = 40_000
"""Maximum characters per section."""
_STEP_TICKS = 8
"""Duration of a step of the replay, in ticks of the script."""
_TAG = re.compile(r"<[^>]*>")
_WORD = re.compile(r"&[#\w]+;|\w+|[^\w\s]", re.ASCII)


def render_html(saved: ConversationState, source: str, library: Library | None) -> str:
    """Render a conversation as a page that replays it.

    Args:
        saved: The conversation.
        source: Path or URL of the document.
        library: The current version of the document, or None if it cannot be read. Then the page shows no sections.
    """
    page = _ReplayPage(library)
    title = sanitise_line(saved.title) or "Conversation"
    articles = "".join(page.write_exchange(exchange) for exchange in saved.transcript.exchanges)
    style, script = (Path(__file__).with_suffix(ending).read_text("utf-8") for ending in (".css", ".js"))
    allowed = f"style-src {_sign(style)}; script-src {_sign(script)}"
    about = f"{escape(sanitise_line(display_path(source)))} · {escape(sanitise_line(saved.model))}"
    timeline = json.dumps(page.timeline).replace("<", "\\u003c")
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; {allowed}; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>{escape(title)} · roamtui</title>
<style>{style}</style>
</head>
<body>
<header><h1>{escape(title)}</h1><p>{about}</p></header>
<nav aria-label="Outline">{page.write_outline()}</nav>
<main>{articles}</main>
<section class="sections" aria-label="Sections that were opened">{page.write_sections()}</section>
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
    """The parts of a page, which share state."""

    library: Library | None
    timeline: list[dict[str, Any]] = field(default_factory=list)
    """Steps of the replay in order, each with its duration in ticks."""
    touched: dict[str, None] = field(default_factory=dict)
    """Sections that were found, opened or cited."""
    opened: dict[str, None] = field(default_factory=dict)
    """The touched sections that the page shows."""
    quotes: dict[str, list[tuple[str, str]]] = field(default_factory=dict)
    """Quotes by section, each with the id of its mark."""

    def write_exchange(self, exchange: Exchange) -> str:
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
                    self._open(opened)
                case _:
                    pass
        numbers: dict[str, int] = {}
        items = []
        for position, citation in enumerate(exchange.citations, 1):
            items.append(self._write_citation(f"c{number}-{position}", citation))
            numbers.setdefault(citation.section_id, position)
            self._open([citation.section_id])
        answer = _link_marks(_render(exchange.answer), number, numbers)
        self.timeline.append({"stream": f"a{number}", "say": "Answer"})
        notices = make_outcome_notices(exchange.outcome)
        ending = "".join(f"<p class=ending>{escape(notice.text)}</p>" for notice in notices)
        sources = f'<ol class="sources" aria-label="Sources">{"".join(items)}</ol>' if items else ""
        self.timeline.append({"show": [f"e{number}"], "ticks": _STEP_TICKS, "say": ""})
        return (
            f'<article id="q{number}"><h2>{escape(sanitise_text(exchange.question))}</h2>'
            f'<div class="answer" id="a{number}">{answer}</div><div id="e{number}">{ending}{sources}</div></article>'
        )

    def _mark_touched(self, section_ids: Iterable[str]) -> list[str]:
        known = [section_id for section_id in section_ids if self.library is not None and section_id in self.library]
        self.touched.update(dict.fromkeys(known))
        return known

    def _open(self, section_ids: Iterable[str]) -> None:
        new = [section_id for section_id in self._mark_touched(section_ids) if section_id not in self.opened]
        if new:
            self.opened.update(dict.fromkeys(new))
            self.timeline.append({"open": new, "ticks": _STEP_TICKS, "say": "Opened"})

    def _write_citation(self, name: str, citation: Citation) -> str:
        path = escape(" › ".join(map(sanitise_line, citation.path)) or citation.section_id)
        is_shown = self.library is not None and citation.section_id in self.library
        target = f"#m{name}" if is_shown and citation.quote and citation.is_verified else f"#s-{citation.section_id}"
        if citation.quote and citation.is_verified:
            self.quotes.setdefault(citation.section_id, []).append((citation.quote, f"m{name}"))
        link = f'<a href="{target}">{path}</a>' if is_shown else path
        quote = f"<q>{escape(_strip(_render(sanitise_text(citation.quote))))}</q>" if citation.quote else ""
        state = citation.state.value
        location = f"{escape(citation.place)} · <span class={state}>{citation.state.label}</span>"
        return f'<li id="{name}">{link} {quote} <small>{location}</small></li>'

    def write_outline(self) -> str:
        """Render the outline around the touched sections; long lists of siblings are shortened."""
        if self.library is None:
            return "<p>The source could not be read, so its outline is not shown.</p>"
        near = {self.library.root_id, *self.touched}
        for section_id in self.touched:
            near.update(self.library.ancestors(section_id))
        return self._write_branch(self.library, self.library.root_id, near)

    def _write_branch(self, library: Library, section_id: str, near: set[str]) -> str:
        children = library.children(section_id) if section_id in near else ()
        shown = children if len(children) <= _SIBLINGS_MAX else [child for child in children if child in near]
        items = []
        for child in shown:
            title = escape(sanitise_line(library.title_of(child)))
            label = f'<a href="#s-{child}">{title}</a>' if child in self.opened else f"<span>{title}</span>"
            items.append(f'<li id="o-{child}">{label}{self._write_branch(library, child, near)}</li>')
        if len(shown) < len(children):
            items.append(f"<li class=more>{len(children) - len(shown):,} more</li>")
        return f"<ul>{''.join(items)}</ul>" if items else ""

    def write_sections(self) -> str:
        """Render each opened section's own text in document order, with its quotes marked."""
        library, sections = self.library, list[str]()
        for section_id in library.walk() if library is not None and self.opened else ():
            if library is not None and section_id in self.opened:
                text = library.text_at(library.get_own_content_span(section_id), length_max=_TEXT_MAX)
                body = _render(sanitise_text(text))
                for quote, name in self.quotes.get(section_id, ()):
                    body = _mark(body, quote, name)
                title = escape(sanitise_line(library.title_of(section_id)))
                sections.append(f'<section id="s-{section_id}" aria-label="{title}">{body}</section>')
        return "".join(sections)


class _SafeRenderer(RendererHTML):
    """Renders Markdown as HTML that loads nothing: an image becomes its text, HTML stays visible as text."""

    @override
    def image(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        return f"<i>{escape(tokens[idx].content)}</i>"

    def link_open(self, tokens: Sequence[Token], idx: int, _options: OptionsDict, _env: EnvType) -> str:
        """Open a link, if it leads to the web: other targets do not exist outside the source."""
        url = str(tokens[idx].attrs.get("href", ""))
        if not re.match(r"https?://", url):
            return "<a>"
        return f'<a href="{escape(url)}" rel="noopener noreferrer nofollow" target="_blank">'


def _render(text: str) -> str:
    parser = MarkdownIt("commonmark", {"html": False, "maxNesting": 50}, renderer_cls=_SafeRenderer)
    return str(parser.enable(["table", "strikethrough"]).render(text))


def _strip(html: str) -> str:
    return unescape(_TAG.sub("", html)).strip()


def _link_marks(answer: str, number: int, numbers: dict[str, int]) -> str:
    # Each mark with a known id becomes numbered links to its sources.

    def link(mark: re.Match[str]) -> str:
        positions = [numbers[section_id] for section_id in MARKED_ID.findall(mark[0]) if section_id in numbers]
        return " ".join(f'<a class=cite href="#c{number}-{at}">{at}</a>' for at in positions) or mark[0]

    return MARK.sub(link, answer)


def _mark(body: str, quote: str, name: str) -> str:
    # Compares only words: tags and punctuation between them may differ.
    words = [word.casefold() for word in _WORD.findall(_strip(_render(quote))) if word[0].isalnum()]
    visible = _TAG.sub(lambda tag: "\0" * len(tag[0]), body)
    found = [(m.start(), m.end()) for m in _WORD.finditer(visible) if unescape(m[0])[0].isalnum()]
    texts = [visible[start:end].casefold() for start, end in found]
    for first in range(len(texts) - len(words) + 1) if words else ():
        if texts[first : first + len(words)] == words:
            start, end = found[first][0], found[first + len(words) - 1][1]
            inside = re.sub(r"((?:<[^>]*>)+)", r"</mark>\1<mark>", body[start:end])
            return f'{body[:start]}<mark id="{name}">{inside}</mark>{body[end:]}'
    return body


def _sign(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
