"""Render search hits for the model, and choose the hits and the open section that come with a question."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain

from msgspec import Struct
from msgspec.structs import replace

from roamtui.agent.answer import replies_with_passages
from roamtui.conversation.events import SearchHit, SectionsSearched
from roamtui.conversation.state import ConversationState, Exchange
from roamtui.conversation.update import estimate_delivery_tokens
from roamtui.document.document import NodeKind
from roamtui.document.library import Library
from roamtui.document.text import Bounds, Span, add_delivered, estimate_tokens, subtract_bounds, subtract_delivered
from roamtui.errors import RoamtuiError
from roamtui.outline.expansion import insert_marks, list_id_marks
from roamtui.outline.labels import WHOLE_TOKENS_MAX, escape, format_node_title, format_size
from roamtui.outline.structure import get_canonical_id
from roamtui.search.base import Hit, Searcher
from roamtui.search.lexicon import Language, list_words, make_pattern
from roamtui.search.passages import select_excerpt
from roamtui.search.terms import TermMatcher, extract_query_terms, tokenise
from roamtui.search.units import UnitKind, find_units

_FOLLOW_UP = re.compile(rf"\W*(?:{make_pattern('follow-up')})\b", re.IGNORECASE)
_FOLLOW_UP_TERMS_MAX = 3
"""A longer question names its subject itself."""
_ASKING = frozenset((*list_words("asking en"), *list_words("asking de")))
"""Words that start a question with a verb. After "and", they tell "and how do I pay?" from "and for a car?"."""
_ASKING_WORDS_MIN = 3
"""Minimum number of words after "and". "And what else?" has no verb."""
_OWN_HITS_MAX = 3
"""Maximum number of hits for a follow-up alone."""
_START_HITS_MAX = 9
"""Maximum number of hits sent with a question. More hits and a shorter outline save tool calls."""
_EXCERPT_TOKENS = (500, 350, 250, 200, 200, 120, 80)
"""Size of the excerpt of each hit, by rank. The last number applies to all later hits."""
_WHOLE_TOKENS = (1_000, 560, 400, 250, 150)
"""Maximum size, by rank, of a section that is shown with its whole subtree. A call to open it would cost more."""
_WHOLES_TOKENS_MAX = 1_500
"""Once all excerpts together exceed this, no further section is shown whole merely because it is small."""
_NAMED_EXCERPT_TOKENS, _NAMED_WHOLE_TOKENS = 700, 2_000
"""The same two limits for a section that the query names: for its excerpt, and for showing it whole. They apply at
every rank."""
_BESIDE_NAMED_MAX = 3
"""Maximum number of hits besides those that the query names."""
_BESIDE_OPENED_MAX = 2
"""Maximum number of hits besides a section that opens with the question, which nearly always holds the answer."""
_SCORE_SHARE_MIN = 0.6
"""Minimum share of the best score. A hit with a lower score is about something else."""
_EXCERPT_TOKENS_MIN = 40
_HEADINGS_LENGTH_MAX = 2_000
"""Maximum length, in characters, of a part of a section that is parsed to see if it has only headings."""
_SCANNED_LENGTH_MAX = 20_000_000
"""Maximum length of a library in which missing names are looked for, in characters. More would take too long."""
_PIECE_LENGTH = 200_000
_NAME = re.compile(r"(?P<inside>(?<=[\w,;:)] )(?=[A-Z]))?(?P<word>[^\W_]+(?:[-_.]?[^\W_]+)*)")
"""A word, number or identifier. The group `inside` matches before a capital letter inside a sentence."""
_CAMEL_CASE = re.compile("[a-z][A-Z]")
_NAME_PARTS = re.compile(r"\d{2,}|(?<=-)[a-z]{3,}\b")
"""A part of a name that is enough to find it: 2022 of FY2022, or a lower-case word after a hyphen."""
_PERIOD = re.compile(r"[QH]\d|\d[QH]")
"""A part of a year, which texts name in many ways."""
_ENDING = re.compile(r"(?:e?s|est|ed|er|ing|ly)\Z")
_KNOWN_MARK = "its text stands above"
_PATH_TITLES_MAX = 3
"""Maximum number of titles in a section's path, including its own title."""
RUNNER_UP_MAX = 0.8
"""The best hit is clear if the second score is at most this share of the best."""
COVERED_SHARE_MIN = 0.75
"""Minimum share of the question's content words in the section's text. A title or one mention is not enough."""
_OPENED_TOKENS_MAX = 1_000
_PROSE_WORDS_MIN = 12
"""A text with fewer words is a bare link or a label."""
_TERMS_MIN = 2
"""Minimum number of content words in a question. With fewer, a clear hit means little: a greeting may have one."""

_GAP = "[…]"
_LINE_START, _LINE_END = re.compile(r"(?:\A|\n)[^\w\n]*\Z"), re.compile(r"[^\w\n]*(?:\n|\Z)")
_ID_SIGN = "\ufdd0"
"""Replaces the brackets of an id mark while the text is escaped. A noncharacter, which no text needs."""
_MARKED_ID = re.compile(r"\[([0-9a-f]{8})\]")
_SIGNED_ID = re.compile(rf"{_ID_SIGN}([0-9a-f]{{8}})")
_INDENT = "    "


class HitList(Struct, frozen=True, kw_only=True):
    """Search hits, rendered for the model, and the section that opens with the question."""

    text: str = ""
    """Empty if nothing was found."""
    excerpts: tuple[Span, ...] = ()
    """Document text in the list. The model may quote it."""
    section_ids: tuple[str, ...] = ()
    """Sections that have a line in the list, in order."""
    hits: tuple[Hit, ...] = ()
    """All hits of a question."""
    auto_opened: tuple[str, ...] = ()
    """Sections to open together with a question. The list does not have them."""


def list_whole_document(library: Library, room_tokens: int | None) -> tuple[str, ...]:
    """List the top sections of a document that is small enough to be sent whole; empty if it is not."""
    tokens_max = WHOLE_TOKENS_MAX if room_tokens is None else min(WHOLE_TOKENS_MAX, room_tokens)
    if library.grafts or sum(library.root.own_tokens) > tokens_max or library.root.columns.has_files:
        return ()
    hidden = library.root.hidden_ids
    return tuple(section_id for section_id in library.children(library.root_id) if section_id not in hidden)


async def retrieve_context(
    searcher: Searcher | None, state: ConversationState, question: str, within: str | None, *, room_tokens: int | None
) -> HitList:
    """Choose what comes with a question: all of a small document, or what search finds, if it finds something.

    Args:
        searcher: Searches the library of the conversation, if there is a searcher.
        state: The conversation before the question.
        question: The person's question.
        within: Id of the section that the question is about, or None for the whole document.
        room_tokens: Maximum tokens of what comes with it, or None if the model's context window is unknown.
    """
    if whole := list_whole_document(state.library, room_tokens):
        return HitList(auto_opened=tuple(one for one in whole if one not in state.open_sections))
    if searcher is None:
        return HitList()
    searcher.refresh(state.library)
    earlier = list_history_texts(state.exchanges)
    try:
        hits = await asyncio.to_thread(searcher.search, question, limit=_START_HITS_MAX, within=within, earlier=earlier)
    except RoamtuiError:
        return HitList()
    return await asyncio.to_thread(_choose_context, state, trim_weak_hits(hits), question, room_tokens)


def _choose_context(state: ConversationState, hits: Sequence[Hit], question: str, room_tokens: int | None) -> HitList:
    """Choose the section that opens with a question, and the hits that are sent with it."""
    opened = pick_confident_hit(state, hits, question, room_tokens)
    if room_tokens is not None:
        page_tokens = state.options.page_tokens
        room_tokens -= sum(estimate_delivery_tokens(state.library, one, page_tokens) for one in opened)
    others = [hit for hit in hits if hit.section_id not in opened]
    if opened:
        others = others[:_BESIDE_OPENED_MAX]
    listed = format_hits(state, others, question, room_tokens=room_tokens, opened=opened)
    return replace(listed, hits=tuple(hits), auto_opened=opened)


def pick_confident_hit(
    state: ConversationState, hits: Sequence[Hit], question: str, room_tokens: int | None = None
) -> tuple[str, ...]:
    """Return the id of the first hit if it is far ahead, short and has most terms of the question; else nothing."""
    matcher = TermMatcher.for_question(question)
    if not hits or len(matcher.terms) < _TERMS_MIN:
        return ()
    runner_up = hits[1].score / hits[0].score if len(hits) > 1 else 0.0
    library, section_id = state.library, hits[0].section_id
    tokens_max = _OPENED_TOKENS_MAX if room_tokens is None else min(_OPENED_TOKENS_MAX, room_tokens)
    tokens = estimate_delivery_tokens(library, section_id, state.options.page_tokens)
    if runner_up > RUNNER_UP_MAX or tokens > tokens_max:
        return ()
    text = library.text_at(library.node(section_id).own_content_span)
    covered_terms = {term for *_, term in matcher.locate(text)}
    is_text = len(text.split()) >= _PROSE_WORDS_MIN and estimate_tokens(text) <= _OPENED_TOKENS_MAX
    return (section_id,) if is_text and len(covered_terms) >= COVERED_SHARE_MIN * len(matcher.terms) else ()


def list_history_texts(exchanges: Iterable[Exchange]) -> tuple[str, ...]:
    """List earlier questions and answers, oldest first.

    Passages are left out: they name many topics, and the person may have meant none of these.
    """
    texts = ((one.question, "" if replies_with_passages(one) else one.answer) for one in exchanges)
    return tuple(filter(None, chain.from_iterable(texts)))


def complete_follow_up(exchanges: Iterable[Exchange]) -> str:
    """Return the last question. If it is a short follow-up, the last question that is not one comes before it."""
    full, question = "", ""
    for question in (exchange.question for exchange in exchanges):
        if not _FOLLOW_UP.match(question) or len(extract_query_terms(question)) > _FOLLOW_UP_TERMS_MAX:
            full = question
    return question if full == question else f"{full} {question}".strip()


def search_question(searcher: Searcher, exchanges: Sequence[Exchange], question: str, *, limit: int) -> tuple[Hit, ...]:
    """Search for a question that `complete_follow_up` returned.

    A follow-up such as "and how do I pay?" is also searched alone, and its own hits come first. Otherwise all hits
    might be about the question before it.
    """
    last = exchanges[-1]
    search = partial(searcher.search, limit=limit, within=last.within, earlier=list_history_texts(exchanges[:-1]))
    words = tokenise(_FOLLOW_UP.sub("", last.question, count=1))
    is_asking = question != last.question and len(words) >= _ASKING_WORDS_MIN and words[0] in _ASKING
    own = search(last.question)[:_OWN_HITS_MAX] if is_asking else ()
    own_ids = {hit.section_id for hit in own}
    return (*own, *(hit for hit in search(question) if hit.section_id not in own_ids))[:limit]


def make_search_event(library: Library, query: str, hits: Sequence[Hit]) -> SectionsSearched:
    """Make the event that records a search."""
    search_hits = (
        SearchHit(section_id=hit.section_id, path=library.node(hit.section_id).path, score=hit.score, why=hit.why)
        for hit in hits
    )
    return SectionsSearched(query=query, hits=tuple(search_hits))


def trim_weak_hits(hits: Sequence[Hit]) -> tuple[Hit, ...]:
    """Drop hits that score far below the best one. If the query names sections, keep only a few other hits."""
    if (named := sum(hit.is_named for hit in hits)) > 0:
        hits = hits[: named + _BESIDE_NAMED_MAX]
    return tuple(hit for hit in hits if hit.score >= _SCORE_SHARE_MIN * hits[0].score)


def format_hits(
    state: ConversationState,
    hits: Sequence[Hit],
    query: str,
    *,
    room_tokens: int | None = None,
    opened: Sequence[str] = (),
    shown: Sequence[Span] = (),
) -> HitList:
    """Render hits as lines with excerpts. Call this in a thread, because it looks for names in the whole library.

    What the model has already is not repeated.

    Args:
        state: The conversation.
        hits: Best first.
        query: The search query.
        room_tokens: Maximum tokens of all excerpts, or None for no limit.
        opened: Sections that are about to open, above the list.
        shown: Text that earlier calls of the same step have shown.
    """
    library = state.library
    matcher = TermMatcher.for_question(query)
    hits_by_id: dict[str, Hit] = {}
    for hit in hits:
        hits_by_id.setdefault(get_canonical_id(library, hit.section_id), hit)
    chosen = _choose_spans(library, hits_by_id, matcher, room_tokens)
    if not chosen:
        return HitList()
    known = state.collect_delivered()
    add_delivered(known, shown)
    if state.is_asking and state.rebuilt.preface is None:  # else the search results may have been left out
        add_delivered(known, state.exchanges[-1].iter_excerpts())
    for section_id in opened:
        node, is_whole = library.node(section_id), library.count_tokens(section_id)[1] <= WHOLE_TOKENS_MAX
        span = node.content_span if is_whole else node.own_content_span
        add_delivered(known, (span,))
    lines: list[str] = []
    excerpts: list[Span] = []
    for section_id, spans in chosen.items():
        page = library.get_place(library.node(section_id).span).page
        is_known = bool(spans) and not any(subtract_delivered(span, known) for span in spans)
        quoted: list[str] = []
        if not is_known:
            excerpts += spans
            add_delivered(known, spans)
            quoted = _quote_spans(library, section_id, spans)
        note = _KNOWN_MARK if is_known else "complete" if spans and _is_complete(library, section_id, spans) else ""
        size = format_size(library, section_id)
        marks = ", ".join(filter(None, (size, "" if page is None else f"p. {page}", note)))
        lines += [f"- [{section_id}] {_format_short_path(library, section_id)} ({marks})", *quoted]
    if missing := _list_missing_names(query, matcher.language, library):
        lines.append(f"(Nowhere in the text: {', '.join(missing)}.)")
    return HitList(text="\n".join(lines), excerpts=tuple(excerpts), section_ids=tuple(chosen))


def _list_missing_names(query: str, language: Language, library: Library) -> list[str]:
    """Return the names, numbers and identifiers of a query that no text of the library contains.

    Case, hyphens and the endings of words are ignored. The list is empty if the library is not fully loaded or too
    long to scan.
    """
    texts = [document.text for document in library.documents]
    if library.unloaded_files or sum(map(len, texts)) > _SCANNED_LENGTH_MAX:
        return []
    is_english = language is Language.ENGLISH  # German nouns have capitals too
    words = dict.fromkeys(
        match["word"]
        for match in _NAME.finditer(query)
        if not _PERIOD.fullmatch(match["word"])
        and (
            not match["word"].isalpha()
            or _CAMEL_CASE.search(match["word"])
            or (is_english and match["inside"] is not None)
        )
    )
    missing = {word: (_ENDING.sub("", _fold(word)), *_NAME_PARTS.findall(word)) for word in words}
    for piece in chain.from_iterable(map(_iter_pieces, texts)):
        if not missing:
            break
        folded = _fold(piece)
        missing = {word: parts for word, parts in missing.items() if not any(part in folded for part in parts)}
    return [*missing]


def _iter_pieces(text: str) -> Iterator[str]:
    """Yield a text in pieces that end with a line. No other thread could run while a long text is folded."""
    start = 0
    while start < len(text):
        end = text.find("\n", start + _PIECE_LENGTH) + 1 or len(text)
        yield text[start:end]
        start = end


def _fold(text: str) -> str:
    return text.casefold().replace("-", "")


def _is_complete(library: Library, section_id: str, spans: Sequence[Span]) -> bool:
    """Return whether an excerpt has all the text of a section."""
    whole = library.node(section_id).content_span
    left = _subtract(whole, spans)
    return left != [(whole.start, whole.end)] and not any(
        end - start > _HEADINGS_LENGTH_MAX or _has_text(library, Span(doc=whole.doc, start=start, end=end))
        for start, end in left
    )


def _subtract(span: Span, shown: Sequence[Span]) -> list[Bounds]:
    return subtract_bounds(span.start, span.end, ((other.start, other.end) for other in shown if other.doc == span.doc))


def _format_short_path(library: Library, section_id: str) -> str:
    """Format the last titles down to a section, after its file or page."""
    above = [node_id for node_id in library.node(section_id).ancestors if node_id != library.title_id]
    path = [*above, section_id]
    files = [one for one in path[:-_PATH_TITLES_MAX] if library.node(one).kind in (NodeKind.FILE, NodeKind.LINK)]
    shown = (*files[-1:], *path[-_PATH_TITLES_MAX:])
    return " > ".join(format_node_title(library.node(one), length_max=80) for one in shown)


def _choose_spans(
    library: Library, hits: Mapping[str, Hit], matcher: TermMatcher, room_tokens: int | None
) -> dict[str, tuple[Span, ...]]:
    """Choose the excerpt of each hit: a small section whole while there is room, otherwise its best part.

    A hit whose excerpt is part of another one is left out. Hits are left out once `room_tokens` is used up.
    """
    chosen: dict[str, tuple[Span, ...]] = {}
    used = wholes = rank = 0
    for section_id, hit in hits.items():
        tokens_max = _EXCERPT_TOKENS[min(rank, len(_EXCERPT_TOKENS) - 1)]
        whole_max = min(_WHOLE_TOKENS[min(rank, len(_WHOLE_TOKENS) - 1)], _WHOLES_TOKENS_MAX - wholes)
        if hit.is_named:
            tokens_max, whole_max = _NAMED_EXCERPT_TOKENS, _NAMED_WHOLE_TOKENS
        if room_tokens is not None:
            tokens_max, whole_max = (min(tokens, room_tokens - used) for tokens in (tokens_max, whole_max))
            if tokens_max < _EXCERPT_TOKENS_MIN:
                break
        rank += not hit.is_named
        previous = [span for spans in chosen.values() for span in spans]
        excerpted, whole = library.node(section_id).own_content_span, library.node(section_id).content_span
        overlaps = any(map(whole.overlaps, previous))
        is_bare_chapter = hit.is_named and not _has_text(library, excerpted)
        if not overlaps and (library.count_tokens(section_id)[1] <= whole_max or is_bare_chapter):
            excerpted = whole
        text = library.clean_text(excerpted)
        bounds = select_excerpt(text, matcher, tokens_max=tokens_max, whole_max=whole_max)
        spans = tuple(excerpted.get_part(start, end) for start, end in bounds)
        if not spans or any(_subtract(span, previous) for span in spans):
            chosen[section_id] = spans
            cost = sum(estimate_tokens(text[start:end]) for start, end in bounds)
            used += cost
            if not hit.is_named:
                wholes += cost
    if not any(chosen.values()):
        return chosen
    kinds = {section_id: library.node(section_id).kind for section_id in chosen}
    # a heading without text answers nothing, but a page may still be loaded
    return {one: spans for one, spans in chosen.items() if spans or kinds[one] is not NodeKind.SECTION}


def _has_text(library: Library, span: Span) -> bool:
    """Return whether a span contains text other than headings."""
    return any(unit.kind is not UnitKind.HEADING for unit in find_units(library.clean_text(span)))


def _quote_spans(library: Library, section_id: str, spans: Sequence[Span]) -> list[str]:
    """Return the lines of an excerpt.

    The lines are indented, so that they cannot be mistaken for lines of the list of sections. Omissions are marked.
    """
    if not spans:
        return []
    own = library.node(section_id).own_content_span
    text = ""
    position = min(own.start, spans[0].start)
    end = max(own.end, spans[-1].end)
    for span in (*spans, Span(doc=own.doc, start=end, end=end)):
        gap = Span(doc=own.doc, start=position, end=span.start)
        if _has_text(library, gap):
            left_out = library.clean_text(gap)
            before = "\n" if _LINE_END.match(left_out) else " "  # an omission inside a line is marked in that line
            is_mid_line = not _LINE_START.search(left_out) and (not text or before == "\n" or "\n" not in left_out)
            after = " " if is_mid_line else "\n"
            text += f"{before if text else ''}{_GAP}{after}"
        elif text:
            text += "\n"
        marks = {at: _MARKED_ID.sub(rf"{_ID_SIGN}\1", mark) for at, mark in list_id_marks(library, span).items()}
        text += insert_marks(library.clean_text(span).replace(_ID_SIGN, " "), marks)
        position = span.end
    quoted = []
    for line in filter(str.strip, text.splitlines()):
        indent = line[: len(line) - len(line.lstrip())]  # indentation matters in code
        quoted.append(_INDENT + indent + _SIGNED_ID.sub(r"[\1]", escape(line)))
    return quoted
