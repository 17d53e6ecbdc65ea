"""What search found, as a model reads it: each file named once, its sections below it, with what answers in them."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TypeVar

from roamtui.conversation.state import ConversationState
from roamtui.document.library import Library
from roamtui.document.node import NodeKind, Span
from roamtui.document.page_footers import blank_footers
from roamtui.document.tokens import estimate_tokens
from roamtui.outline.expansion import list_heading_ends, list_references
from roamtui.outline.labels import WHOLE_TOKENS_MAX, describe_size, escape, name_node, name_shown
from roamtui.outline.render import LIMITING
from roamtui.outline.spans import Bounds, subtract_bounds
from roamtui.outline.structure import find_canonical
from roamtui.search.base import Hit
from roamtui.search.excerpts import find_excerpt
from roamtui.search.sentences import UnitKind, find_units
from roamtui.search.terms import find_terms, query_terms

HITS_MAX = 5
"""Of a search that the model asks for."""
_EXCERPT_TOKENS = (350, 180, 150, 120)
"""Of the excerpt of each hit, the last one's for all that follow."""
_WHOLE_TOKENS = (1_000, 400, 350, 350, 350, 250)
"""Sections up to this size come with all below them, likewise: a call to open one would cost far more."""
_WHOLES_TOKENS_MAX = 1_500
"""Of all excerpts together, beyond which none is whole only for being small."""
_NOISE_SHARES = (0.35,) * 5 + (0.5,)
"""Of the best score, likewise; what is found with less is about something else."""
_SMALL_FILE_TOKENS = 1_000
"""A file up to this size of which several sections are found is one hit."""
_CONDITION = re.compile(
    r"(?i)\b(?:except|limited|notwithstanding|other than|subject to|unless|vorbehaltlich)\b[^,;\n]{0,80}\Z"
)
"""What stands before a reference to what limits a rule."""
_LIMITED_MAX = 3
"""Hits, the best, whose limits come with them."""
_LIMIT_TOKENS = 120
_EXCERPT_TOKENS_MIN = 40
_SIBLINGS_MAX = 12
_SHOWN_MARK = "excerpt above"
_OPEN_MARK = "open: its text stands above"
_GAP = "\n[…]\n"
_LINK = re.compile(
    r"!?\[(?P<words>(?:[^\[\]\n]|\[[^\[\]\n]*\])*)\]"
    r"\((?P<target>[^()\s]*(?:\([^()\s]*\)[^()\s]*)*)(?:\s+\"[^\"\n]*\")?\)"
)
_LINK_SIGN = "\N{LINK SYMBOL}"
_LINKED = re.compile(rf"{_LINK_SIGN}([0-9a-f]{{8}})")
_ID = r" [\1]"
_INDENT = "    "
_PATH_TITLES_MAX = 3
"""Titles with which a section is named, its own the last."""
_Number = TypeVar("_Number", int, float)


@dataclass(frozen=True, slots=True, kw_only=True)
class HitList:
    """Hits in words, and what of the document they show."""

    text: str
    """Empty where nothing was found."""
    excerpts: tuple[Span, ...] = ()
    """Ranges that the model may quote from."""
    section_ids: tuple[str, ...] = ()
    """Sections with a line, in order."""


NO_HITS = HitList(text="")


@dataclass(frozen=True, slots=True)
class _Found:
    section_id: str
    """Whose line it is."""
    source_id: str
    """Whose text is shown."""
    is_limit: bool = False
    """Whether it was not found, but limits what was."""


def drop_noise(hits: Sequence[Hit]) -> tuple[Hit, ...]:
    """Return hits up to where the score breaks off; fused ranks are too flat to tell."""
    if not hits or hits[0].rival is not None:
        return tuple(hits)
    best = hits[0].score
    return tuple(hit for rank, hit in enumerate(hits) if hit.score >= _at(_NOISE_SHARES, rank) * best)


def _at(values: Sequence[_Number], rank: int) -> _Number:
    """Return the value of a rank, the last one for all that follow."""
    return values[min(rank, len(values) - 1)]


def describe_hits(
    state: ConversationState,
    hits: Sequence[Hit],
    query: str,
    *,
    room_tokens: int | None = None,
    opened: Sequence[str] = (),
) -> HitList:
    """Return hits as lines with excerpts, grouped by file, in the order of the best hit of each.

    Args:
        state: Holds the library, and what of it the model has.
        hits: The best first.
        query: What was looked for.
        room_tokens: Of all excerpts, None where the window is no matter.
        opened: Sections that the model gets with them, whose words are not missing.
    """
    library = state.library
    lines: list[str] = []
    excerpts: list[Span] = []
    shown = _list_shown(state)
    groups: dict[str, list[_Found]] = {}
    terms = query_terms(query)
    chosen = _choose_spans(library, _join_small(library, hits), terms, room_tokens)
    for one in chosen:
        groups.setdefault(_find_file(library, one.section_id), []).append(one)
    for file_id, members in groups.items():
        has_head = bool(file_id) and (len(members) > 1 or not _is_whole(library, members[0], file_id))
        if has_head:
            lines.append(f"{_name_file(library, file_id)}:")
        for one in members:
            spans = chosen[one]
            is_open = bool(spans) and not any(_is_missing(state, span) for span in spans)
            name = _name_below(library, one.section_id) if has_head or not file_id else _name_file(library, file_id)
            is_shown = bool(spans) and not any(_subtract(span, shown) for span in spans)
            is_complete = not is_open and _is_complete(library, one.section_id, spans)
            mark = _OPEN_MARK if is_open else _SHOWN_MARK if is_shown else "complete" if is_complete else ""
            lines.append(_describe_line(library, one.section_id, name, mark))
            if not (is_open or is_shown):
                excerpts += spans
                shown += spans
                lines += _quote(library, one.source_id, spans)
    named = (_find_span(library, section_id) for section_id in (*opened, *(one.section_id for one in chosen)))
    lines += _name_missing(library, (*named, *shown), terms) if chosen else []
    ids = tuple(one.section_id for members in groups.values() for one in members)
    return HitList(text="\n".join(lines), excerpts=tuple(excerpts), section_ids=ids)


def _find_span(library: Library, section_id: str) -> Span:
    """Return a section with what is below it where opening it gives that too, else its own text."""
    is_whole = library.node(section_id).tokens <= WHOLE_TOKENS_MAX
    return library.shown_span(section_id) if is_whole else library.shown_own_span(section_id)


def _name_missing(library: Library, spans: Iterable[Span], terms: Sequence[str]) -> list[str]:
    """Return a line with the words that were looked for and stand in none of these ranges."""
    held = {term for span in spans for _, term in find_terms(_read(library, span), terms)}
    missing = [term for term in terms if term not in held]
    return [f"(In none of these: {', '.join(missing)}.)"] if missing else []


def _list_shown(state: ConversationState) -> list[Span]:
    """Return what hits for the question under way have shown already."""
    if not state.is_asking:
        return []
    exchange = state.transcript.exchanges[-1]
    uses = (use for step in exchange.steps for use in step.uses)
    return [*exchange.excerpts, *(span for use in uses for span in use.excerpts)]


def _subtract(span: Span, shown: Sequence[Span]) -> list[Bounds]:
    """Return what of a span none of the others holds."""
    return subtract_bounds(span.start, span.end, ((one.start, one.end) for one in shown if one.doc == span.doc))


def _join_small(library: Library, hits: Sequence[Hit]) -> list[_Found]:
    """Return what has a line: a small file with several hits has one, with the text of its best."""
    counts: dict[str, int] = {}
    for hit in hits:
        file_id = _find_file(library, hit.section_id)
        counts[file_id] = counts.get(file_id, 0) + 1
    found: dict[str, _Found] = {}
    texts: set[str] = set()
    for hit in hits:
        text = library.text_at(library.shown_own_span(hit.section_id)).strip()
        if text in texts:
            continue  # the same page twice, as sites have them
        texts.add(text)
        file_id = _find_file(library, hit.section_id)
        is_small = bool(file_id) and counts[file_id] > 1 and library.node(file_id).tokens <= _SMALL_FILE_TOKENS
        shown_id = find_canonical(library, file_id if is_small else hit.section_id)
        found.setdefault(shown_id, _Found(shown_id, find_canonical(library, hit.section_id)))
    return list(found.values())


def _list_limits(library: Library, section_id: str, spans: Sequence[Span]) -> Iterator[str]:
    """Yield the small sections that limit what an excerpt says: those that it refers to, those below and beside it."""
    for span in spans:
        text = library.text_at(span)
        for end, target in list_references(library, span):
            if _CONDITION.search(text, max(0, end - 150), end) or LIMITING.search(library.title_of(target)):
                yield target
    parent = library.parent(section_id)
    beside = library.children(parent) if parent is not None else ()
    near = (*library.children(section_id)[:_SIBLINGS_MAX], *(beside if len(beside) <= _SIBLINGS_MAX else ()))
    yield from (node_id for node_id in near if LIMITING.search(library.title_of(node_id)))


def _find_file(library: Library, section_id: str) -> str:
    """Return the file or page that a section stands in, empty outside all."""
    for node_id in (section_id, *reversed(library.ancestors(section_id))):
        if library.heading(node_id).kind in (NodeKind.FILE, NodeKind.LINK):
            return node_id
    return ""


def _name_file(library: Library, file_id: str) -> str:
    folders = (name_node(library.heading(node_id)) for node_id in library.ancestors(file_id))
    return "/".join((*folders, name_shown(library, library.heading(file_id))))


def _is_whole(library: Library, found: _Found, file_id: str) -> bool:
    return found.section_id in (file_id, find_canonical(library, file_id))


def _name_below(library: Library, section_id: str) -> str:
    """Return the titles from below its file, or below the title of the whole document, down to a section."""
    path = [*library.ancestors(section_id), section_id]
    file_id = _find_file(library, section_id)
    start = path.index(file_id) + 1 if file_id in path[:-1] else 0
    titles = {library.title_id(), find_canonical(library, file_id) if file_id else None}
    shown = [node_id for node_id in path[start:] if node_id not in titles or node_id == section_id]
    return " > ".join(name_node(library.heading(node_id), length_max=80) for node_id in shown[-_PATH_TITLES_MAX:])


def _describe_line(library: Library, section_id: str, name: str, mark: str) -> str:
    size = describe_size(library, library.node(section_id))
    page = library.page_of(library.span(section_id))
    marks = ", ".join(filter(None, (size, "" if page is None else f"p. {page}", mark)))
    return f"- [{section_id}] {name} ({marks})"


def _choose_spans(
    library: Library, found: Sequence[_Found], terms: Sequence[str], room_tokens: int | None
) -> dict[_Found, tuple[Span, ...]]:
    """Return the excerpt of each hit: a small section with all below it while there is room, else its best part.

    Those that stand in the excerpt of another one are left out.
    """
    chosen: dict[_Found, tuple[Span, ...]] = {}
    used = rank = 0
    waiting = deque(found)
    while waiting:
        one = waiting.popleft()
        tokens_max, whole_max = _at(_EXCERPT_TOKENS, rank), min(_at(_WHOLE_TOKENS, rank), _WHOLES_TOKENS_MAX - used)
        if room_tokens is not None:
            tokens_max, whole_max = (min(tokens, room_tokens - used) for tokens in (tokens_max, whole_max))
            if tokens_max < _EXCERPT_TOKENS_MIN:
                break
        rank += not one.is_limit
        given = [span for spans in chosen.values() for span in spans]
        source = library.shown_own_span(one.source_id)
        for section_id in (one.source_id, one.section_id):
            whole = library.shown_span(section_id)
            if library.node(section_id).tokens <= whole_max and not any(_overlaps(whole, span) for span in given):
                source = whole
        text = _read(library, source)
        bounds = find_excerpt(text, terms, tokens_max=tokens_max, whole_max=whole_max)
        spans = tuple(Span(doc=source.doc, start=source.start + start, end=source.start + end) for start, end in bounds)
        if not spans or any(_subtract(span, given) for span in spans):
            chosen[one] = spans
            used += sum(estimate_tokens(text[start:end]) for start, end in bounds)
            if not one.is_limit and rank <= _LIMITED_MAX:
                limits = dict.fromkeys(_list_limits(library, one.source_id, spans))
                small = (node_id for node_id in limits if library.node(node_id).tokens <= _LIMIT_TOKENS)
                waiting.extendleft(_Found(node_id, node_id, is_limit=True) for node_id in reversed([*small]))
    return chosen


def _overlaps(one: Span, other: Span) -> bool:
    return one.doc == other.doc and one.start < other.end and other.start < one.end


def _read(library: Library, span: Span) -> str:
    return blank_footers(library.document(span.doc).text, span.start, span.end)


def _is_missing(state: ConversationState, span: Span) -> bool:
    return bool(subtract_bounds(span.start, span.end, state.delivered.get(span.doc, ())))


def _is_complete(library: Library, section_id: str, spans: Sequence[Span]) -> bool:
    """Return whether an excerpt leaves out nothing of a section and of what is below it."""
    whole = library.shown_span(section_id)
    if not spans or library.node(section_id).tokens > _WHOLES_TOKENS_MAX:
        return False
    left = (Span(doc=whole.doc, start=start, end=end) for start, end in _subtract(whole, spans))
    return not any(_says_something(library, span) for span in left)


def _says_something(library: Library, span: Span) -> bool:
    """Return whether more than headings and marks stand in a span."""
    return any(unit.kind is not UnitKind.HEADING for unit in find_units(_read(library, span)))


def _quote(library: Library, section_id: str, spans: Sequence[Span]) -> list[str]:
    """Return the lines of an excerpt, each indented and none of which can be taken for one of ours.

    What is left out is marked, and a link to a section carries its id in place of its address.
    """
    if not spans:
        return []
    own = library.shown_own_span(section_id)
    before = Span(doc=own.doc, start=min(own.start, spans[0].start), end=spans[0].start)
    after = Span(doc=own.doc, start=spans[-1].end, end=max(own.end, spans[-1].end))
    parts = [_add_ids(library, span) for span in spans]
    edges = [_says_something(library, edge) for edge in (before, after)]
    text = _GAP.join([*([""] if edges[0] else []), *parts, *([""] if edges[1] else [])])
    lines = (line for line in text.splitlines() if line.strip())
    once = (next(same) for _, same in groupby(lines, key=str.strip))
    return [f"{_INDENT}{_escape(line)}" for line in once]


def _escape(line: str) -> str:
    """Return a line with its indent, which says something in code, and with our ids alone between brackets."""
    return line[: len(line) - len(line.lstrip())] + _LINKED.sub(_ID, escape(line))


def _add_ids(library: Library, span: Span) -> str:
    """Return a text with a sign and an id behind headings and what leads to sections; no link has its address."""
    marks = {offset: f"{_LINK_SIGN}{node_id}" for offset, node_id in list_references(library, span)}
    marks |= {offset: f"{_LINK_SIGN}{node_id}" for offset, node_id in list_heading_ends(library, span)}
    text, position = _read(library, span), 0
    parts: list[str] = []
    for offset, mark in [*sorted(marks.items()), (len(text), "")]:
        parts += [_LINK.sub(r"\g<words>", text[position:offset]), mark]
        position = offset
    return "".join(parts)
