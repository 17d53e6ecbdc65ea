"""Blocks of expanded sections: what a model reads when it opens one.

A block is a line with id, breadcrumb and place; the section's text between fences with a nonce; what stands below it
and is not given. Text that was delivered before is named, not repeated; nothing is cut without saying so and how to get
the rest. Its text is the source, with ids added, long addresses shortened and repeats named: quotes are checked against
the source itself, so nothing here may change words that somebody could quote.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from roamtui.document.library import Library
from roamtui.document.link_targets import SectionLink, resolve_link
from roamtui.document.node import Node, NodeKind, Span
from roamtui.document.plain import sanitise_line, shorten
from roamtui.document.text import blank_footers
from roamtui.document.tokens import estimate_tokens, format_tokens
from roamtui.outline.labels import (
    MARKABLE_ID,
    TITLE_LENGTH_MAX,
    WHOLE_TOKENS_MAX,
    escape,
    format_line_range,
    format_node_title,
    format_path,
)
from roamtui.outline.render import fill_lines
from roamtui.outline.spans import Bounds, split_pages, subtract_bounds
from roamtui.outline.structure import (
    LISTED_MAX,
    ChildRanges,
    Reference,
    get_canonical_id,
    list_outline_children,
    resolve_reference,
    suggest_ids,
)

_FETCHED = frozenset({NodeKind.FILE, NodeKind.LINK})
_LIST_TOKENS = ((2_000, 2_300), (500, 1_800), (0, 700))
"""Of the lines for what stands below a section that is not given whole, by the sections of the library: two calls shall
lead to any of ten thousand."""
_RANGE_LIST_TOKENS = 6_000
"""Of the lines of a range, which is one of at most `LISTED_MAX` nodes."""
_NAMED_MAX = 30

_LINK = re.compile(
    r"(?<!!)\[(?:[^\[\]\n]|\[[^\[\]\n]*\])*\]"
    r"\((?P<target>[^()\s]*(?:\([^()\s]*\)[^()\s]*)*)(?:\s+\"[^\"\n]*\")?\)"
)
_CITED = re.compile(
    r"\b(?:[Ss]ection|SECTION|[Aa]rticle|ARTICLE|[Pp]aragraph|[Cc]lause)[Ss]?\s+(?P<number>\d+(?:\.\d+)*)(?!\w|\.\d)"
    r"(?:\([^()\n]{1,6}\))*+(?!\s*(?:\([^()\n]{1,6}\)\s*)*of\s(?!this\b))"  # another text's
    r"(?![^\[\]\n]{0,500}\])"  # the words of a link
)
_LONG_ADDRESS = re.compile(r"(?<=\]\()[^()\s]{121,}(?=[)\s])|(?<=<)https?://[^<>\s]{113,}(?=>)")
_ADDRESS_KEPT = 60
_PARAGRAPH = re.compile(r"^(?:[^\n]*\S[^\n]*(?:\n|\Z))+", re.MULTILINE)
_REPEAT_LENGTH_MIN = 160
"""Characters of a paragraph that is named where it stands a second time."""
_REPEATED = "(repeats what stands above)\n"
_LINE_END = re.compile(r"[ \t]*(?:[\r\n]|\Z)")
_TITLED = (NodeKind.SECTION, NodeKind.LINK)

Delivered = Mapping[str, Sequence[Bounds]]
"""Ranges of characters that the model has, by document key."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpandedBlock:
    """The answer to one requested id."""

    section_id: str | None
    """The section it is about, None where the id names none."""
    text: str
    """What the model reads."""
    spans: tuple[Span, ...] = ()
    """Section text that this block newly delivers."""
    tokens: int = 0
    """Estimated tokens of that text."""
    is_listing: bool = False
    """Whether it only lists children."""
    is_failed: bool = False
    """Whether its file or page could not be read."""


def render_section(library: Library, requested: str, *, delivered: Delivered, nonce: str) -> ExpandedBlock:
    """Return the block for what was asked for.

    Args:
        library: Holds the section, loaded.
        requested: An id, a page ``id:2``, a range ``id:c2``, a path or an exact title.
        delivered: What the model was given already.
        nonce: Marks the fences of this conversation.
    """
    reference = resolve_reference(library, requested)
    if reference is not None and reference.section_id == library.root_id:
        return _make_range_block(library, reference, delivered, nonce)
    if reference is None or reference.section_id not in library:
        nearest = "; ".join(f"[{i}] {format_path(library, i)}" for i in suggest_ids(library, requested))
        name = shorten(sanitise_line(requested), 80)
        said = f'"{name}" is no section id, and no path or title that one section alone has.'
        return ExpandedBlock(section_id=None, text=f"{said} Nearest: {nearest}." if nearest else said)
    reference = replace(reference, section_id=library.get_canonical_link(reference.section_id))
    node = library.node(reference.section_id)
    if reference.steps or node.kind is NodeKind.FOLDER:
        return _make_range_block(library, reference, delivered, nonce)
    if node.kind in _FETCHED and not node.is_loaded:
        reason = node.problem or "It is not loaded."
        return ExpandedBlock(
            section_id=node.id, text=f"[{node.id}] {format_path(library, node.id)}: {reason}", is_failed=True
        )
    return _make_section_block(library, node, reference, delivered, nonce)


def _make_section_block(
    library: Library, node: Node, reference: Reference, delivered: Delivered, nonce: str
) -> ExpandedBlock:
    wanted, page_note = _choose_span(library, node, reference.page)
    if wanted is None:
        return ExpandedBlock(section_id=None, text=f"[{node.id}] has no such page. {page_note}")
    new = _compute_undelivered_spans(library, wanted, delivered)
    has_text = bool(new) or bool(library.text_at(wanted).strip())
    if not has_text and node.kind in _FETCHED and node.tokens:
        return _make_range_block(library, reference, delivered, nonce)
    if new:
        lines = _render(library, node, wanted, new, nonce, delivered)
    else:
        place = f" ({format_line_range(library, wanted)}) is open already: its text stands above."
        lines = [f"[{node.id}] {format_path(library, node.id)}{place if has_text else ': it has no text of its own.'}"]
        if wanted.end <= library.get_own_content_span(node.id).end:
            lines += _list_below(library, node.id, {})
    return _make_block(library, node.id, [*lines, page_note] if page_note else lines, new)


def render_open_section(
    library: Library, section_id: str, spans: Sequence[Span], *, delivered: Delivered, nonce: str
) -> str:
    """Return the block of a section that is open already, with the given ranges of its text.

    Args:
        library: Holds the section.
        section_id: The open section.
        spans: Its text that the model is given again.
        delivered: What stands above this block.
        nonce: Marks the fences of this conversation.
    """
    node = library.node(section_id)
    own = library.get_own_content_span(section_id)
    wanted = library.get_content_span(section_id) if spans and spans[-1].end > own.end else own
    return "\n".join(_render(library, node, wanted, spans, nonce, delivered))


def format_no_room(library: Library, section_id: str, tokens: int) -> str:
    """Return what a model is told where a section does not fit any more."""
    name = format_path(library, section_id)
    size = format_tokens(tokens)
    advice = "Ask for a smaller subsection, or answer with what is open."
    return f"[{section_id}] {name}: no room for its ~{size} tokens now. {advice}"


def _compute_undelivered_spans(library: Library, wanted: Span, delivered: Delivered) -> tuple[Span, ...]:
    pieces = subtract_bounds(wanted.start, wanted.end, delivered.get(wanted.doc, ()))
    spans = (Span(doc=wanted.doc, start=start, end=end) for start, end in pieces)
    return tuple(span for span in spans if library.text_at(span).strip())


def _make_block(library: Library, section_id: str, lines: Sequence[str], new: tuple[Span, ...]) -> ExpandedBlock:
    tokens = sum(estimate_tokens(library.text_at(span)) for span in new)
    return ExpandedBlock(section_id=section_id, text="\n".join(lines), spans=new, tokens=tokens)


def _choose_span(library: Library, node: Node, page: int | None) -> tuple[Span | None, str]:
    """Return the range to deliver, and a line on the pages that are left."""
    own = library.get_own_content_span(node.id)
    if page is None and node.tokens <= WHOLE_TOKENS_MAX:
        return library.get_content_span(node.id), ""
    pages = split_pages(library.text_at(own))
    number = 1 if page is None else page
    if not 1 <= number <= len(pages):
        plural = "s" if len(pages) > 1 else ""
        return None, f"It has {len(pages)} page{plural}, [{node.id}:1] to [{node.id}:{len(pages)}]."
    if len(pages) == 1:
        return own, ""
    start, end = pages[number - 1]
    rest = f"The next is [{node.id}:{number + 1}]." if number < len(pages) else "It is the last."
    span = Span(doc=own.doc, start=own.start + start, end=own.start + end)
    return span, f"(Page {number} of {len(pages)} of this section's own text. {rest})"


def _render(
    library: Library, node: Node, wanted: Span, spans: Sequence[Span], nonce: str, delivered: Delivered
) -> list[str]:
    head = f"[{node.id}] {format_path(library, node.id)} ({format_line_range(library, wanted)})"
    lines = [head, *_render_text(library, node.id, wanted, spans, nonce, delivered)]
    own = library.get_own_content_span(node.id)
    if wanted.end > own.end:
        return lines
    if own.start < wanted.start:
        note = f"(Its subsections are listed with its first page, [{node.id}:1].)"
        return [*lines, note] if list_outline_children(library, node.id) else lines
    given = {doc: [*bounds] for doc, bounds in delivered.items()}
    for span in spans:
        given.setdefault(span.doc, []).append((span.start, span.end))
    return [*lines, *_list_below(library, node.id, given)]


def _render_text(
    library: Library, section_id: str, wanted: Span, spans: Sequence[Span], nonce: str, delivered: Delivered
) -> list[str]:
    lines: list[str] = []
    position = wanted.start
    for span in spans:
        lines += _name_gap(library, Span(doc=wanted.doc, start=position, end=span.start), delivered)
        lines += [f"<<<{nonce}", annotate_with_ids(library, span, section_id=section_id), f"{nonce}>>>"]
        position = span.end
    return lines + _name_gap(library, Span(doc=wanted.doc, start=position, end=wanted.end), delivered)


def _list_below(library: Library, section_id: str, given: Delivered) -> list[str]:
    """Return lines for what stands below a section: what was given is named alone."""
    children = list_outline_children(library, section_id)
    open_ids = [child for child in children[:LISTED_MAX] if _is_given(library, child, given)] if given else []
    closed = [child for child in children if child not in open_ids] if open_ids else children
    lines = fill_lines(library, closed, _limit_list(library), parent_id=section_id) if closed else []
    if open_ids:
        named = "; ".join(
            f"[{child}] {format_node_title(library.get_label(child), length_max=60)}" for child in open_ids
        )
        lines.append(f"(Given above: {named})")
    return ["Below it:", *lines] if lines else []


def _limit_list(library: Library) -> int:
    return next(tokens for count_min, tokens in _LIST_TOKENS if len(library) >= count_min)


def _is_given(library: Library, section_id: str, given: Delivered) -> bool:
    """Return whether the model has the whole text of a section's subtree."""
    span = library.get_content_span(section_id)
    if not len(span):
        return False
    below = (i for i in library.walk(section_id) if i != section_id)
    if library.grafts and any(library.own_span(i).doc != span.doc for i in below):
        return False
    return not subtract_bounds(span.start, span.end, given.get(span.doc, ()))


def _name_gap(library: Library, gap: Span, delivered: Delivered) -> list[str]:
    """Return a line for each part of a gap between texts: what stands above, and what is given nowhere."""
    missing = subtract_bounds(gap.start, gap.end, delivered.get(gap.doc, ()))
    lines = []
    for start, end in sorted([*subtract_bounds(gap.start, gap.end, missing), *missing]):
        part = Span(doc=gap.doc, start=start, end=end)
        if library.text_at(part).strip():
            is_given = (start, end) not in missing
            first, last = library.lines_of(part)
            names = "; ".join(_name_parts_of(library, part, is_given=is_given))
            state = "given above" if is_given else "not given here, open it by its id"
            lines.append(f"(lines {first}-{last}, {names}: {state})")
    return lines


def _name_parts_of(library: Library, part: Span, *, is_given: bool) -> list[str]:
    """Return ids and titles of the sections that a range of text touches; of a long one those of its pages."""
    document = library.document(part.doc)
    starts = document.columns.starts
    first = bisect_right(starts, part.start) - 1
    rows = list(takewhile(lambda row: starts[row] < part.end, range(first, len(document.columns))))
    if len(rows) == 1 and not is_given:
        section_id = document.ids[rows[0]]
        offset = starts[rows[0]]
        pages = enumerate(split_pages(library.own_text(section_id)), start=1)
        inside = [n for n, (low, high) in pages if offset + low < part.end and offset + high > part.start]
        if max(inside) > 1:
            return [f"[{section_id}:{number}]" for number in inside]
    named = [
        f"[{document.ids[row]}] {format_node_title(library.get_label(document.ids[row]))}" for row in rows[:_NAMED_MAX]
    ]
    return [*named, f"+{len(rows) - _NAMED_MAX} more"] if len(rows) > _NAMED_MAX else named


def _make_range_block(library: Library, reference: Reference, delivered: Delivered, nonce: str) -> ExpandedBlock:
    """Return the block for a range of children: their texts where they are small, else lines for them."""
    above_id, steps = reference.section_id, reference.steps
    ranges = ChildRanges.for_section(library, above_id)
    children, bounds = ranges.children, ranges.get_bounds(steps)
    if not children:
        return ExpandedBlock(section_id=None, text=f"[{above_id}] has nothing below it.")
    if bounds is None:
        count = len(ranges.split(0, len(children)))
        ends = f"[{above_id}:c1] to [{above_id}:c{count}]"
        return ExpandedBlock(
            section_id=None, text=f"[{above_id}] has no such range of subsections. It has {count}: {ends}."
        )
    is_root = above_id == library.root_id
    name = shorten(escape(library.title), TITLE_LENGTH_MAX) if is_root else format_path(library, above_id)
    start, end = bounds
    head = f"[{above_id}] {name}: {start + 1} to {end} of {len(children)} below it"
    is_small = bool(steps) and not is_root and ranges.sums[end] - ranges.sums[start] <= WHOLE_TOKENS_MAX
    if is_small and library.get_label(children[start]).kind is NodeKind.SECTION:
        is_one = not library.grafts or len({library.span(one).doc for one in children[start:end]}) == 1
        first, last = library.span(children[start]), library.span(children[end - 1])
        whole = Span(doc=first.doc, start=first.start, end=last.end)
        if is_one and (new := _compute_undelivered_spans(library, whole, delivered)):
            text = _render_text(library, above_id, whole, new, nonce, delivered)
            return _make_block(library, above_id, [head, *text], new)
    if end - start > LISTED_MAX:
        lines = ranges.describe(above_id, steps)
    else:
        tokens = _RANGE_LIST_TOKENS if steps else _limit_list(library)
        lines = fill_lines(library, children[start:end], tokens, parent_id=above_id)
    return ExpandedBlock(section_id=None if is_root else above_id, text="\n".join([head, *lines]), is_listing=True)


def annotate_with_ids(library: Library, span: Span, *, section_id: str | None = None) -> str:
    """Return the text of a span as a model reads it.

    Args:
        library: Holds the text.
        span: What is delivered.
        section_id: The section that it is delivered for, whose id is said elsewhere.
    """
    marks = {offset: f" [{node_id}]" for offset, node_id in list_heading_ends(library, span) if node_id != section_id}
    text = blank_footers(library.document(span.doc).text, span.start, span.end).rstrip("\r\n")
    for offset, target in list_references(library, span):
        if target != section_id:
            marks[offset] = f" [{target}]" + marks.get(offset, "")
    text = _LONG_ADDRESS.sub(lambda match: f"{match.group()[:_ADDRESS_KEPT]}…", insert_marks(text, marks))
    seen: set[str] = set()

    def name_repeated(match: re.Match[str]) -> str:
        paragraph = match.group().strip()
        if len(paragraph) < _REPEAT_LENGTH_MIN or paragraph not in seen:
            seen.add(paragraph)
            return match.group()
        return _REPEATED

    return _PARAGRAPH.sub(name_repeated, text) if len(text) > 2 * _REPEAT_LENGTH_MIN else text


def insert_marks(text: str, marks: Mapping[int, str]) -> str:
    """Return a text with marks at their offsets."""
    parts = []
    position = 0
    for offset in sorted(marks):
        parts += [text[position:offset], marks[offset]]
        position = offset
    return "".join([*parts, text[position:]])


def strip_ids(quote: str) -> str:
    """Return words that a model copied without the ids that stand in what it read."""
    return MARKABLE_ID.sub("", quote)


def list_heading_ends(library: Library, span: Span) -> list[tuple[int, str]]:
    """Return where the lines of headings and links end within the text of a span, with the id of each."""
    document = library.document(span.doc)
    starts, kinds = document.columns.starts, document.columns.kinds
    ends = []
    for row in range(bisect_left(starts, span.start, hi=len(kinds)), len(kinds)):
        if starts[row] >= span.end:
            break
        if kinds[row] not in _TITLED:
            continue
        line_end = _LINE_END.search(document.text[starts[row] : min(span.end, starts[row + 1])])
        if line_end is not None:
            ends.append((starts[row] + line_end.start() - span.start, get_canonical_id(library, document.ids[row])))
    return ends


def list_references(library: Library, span: Span) -> Iterator[tuple[int, str]]:
    """Yield where links and numbers of sections end within the text of a span, with the id of what they lead to.

    Of a number ("Section 12.1") the first mention counts, unless the text stands in that section or holds it.
    """
    document = library.document(span.doc)
    text = library.text_at(span)
    for match in _LINK.finditer(text):
        source_id = library.section_at(span.doc, span.start + match.start())
        if source_id is not None and match["target"]:
            link = resolve_link(match["target"], library, source_id)
            if isinstance(link, SectionLink) and (found := get_canonical_id(library, link.section_id)) != source_id:
                yield match.end(), found
    said: set[int] = set()
    for match in _CITED.finditer(text):
        row = document.rows_by_number.get(match["number"])
        if row is None or row in said:
            continue
        said.add(row)
        start, end = document.columns.starts[row], document.columns.starts[document.columns.ends[row]]
        if end <= span.start or start >= span.end:
            yield match.end(), document.ids[row]
