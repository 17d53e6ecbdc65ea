"""Blocks of expanded sections: what a model reads when it opens one.

A block is a line with id, breadcrumb and place; the section's text between fences with a nonce; what stands below it
and is not given. Text that was delivered before is named, not repeated; nothing is cut without saying so and how to get
the rest.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from roamtui.document.library import Library
from roamtui.document.node import Node, NodeKind, Span
from roamtui.document.plain import plain_line, shorten
from roamtui.document.tokens import estimate_tokens, format_tokens
from roamtui.outline.annotation import annotate
from roamtui.outline.labels import TITLE_LENGTH_MAX, WHOLE_TOKENS_MAX, escape, name_lines, name_node, name_path
from roamtui.outline.pages import split_pages
from roamtui.outline.references import (
    LISTED_MAX,
    Ranges,
    Reference,
    find_nearest,
    find_reference,
)
from roamtui.outline.render import fill_lines
from roamtui.outline.spans import Bounds, subtract_bounds
from roamtui.outline.structure import list_below

_FETCHED = frozenset({NodeKind.FILE, NodeKind.LINK})
_LIST_TOKENS = ((2_000, 2_300), (500, 1_800), (0, 700))
"""Of the lines for what stands below a section that is not given whole, by the sections of the library: two calls shall
lead to any of ten thousand."""
_RANGE_LIST_TOKENS = 6_000
"""Of the lines of a range, which is one of at most `LISTED_MAX` nodes."""
_NAMED_MAX = 30

Delivered = Mapping[str, Sequence[Bounds]]
"""Ranges of characters that the model has, by document key."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
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


def expand(library: Library, requested: str, *, delivered: Delivered, nonce: str) -> Block:
    """Return the block for what was asked for.

    Args:
        library: Holds the section, loaded.
        requested: An id, a page ``id:2``, a range ``id:c2``, a path or an exact title.
        delivered: What the model was given already.
        nonce: Marks the fences of this conversation.
    """
    reference = find_reference(library, requested)
    if reference is not None and reference.section_id == library.root_id:
        return _give_range(library, reference, delivered, nonce)
    if reference is None or reference.section_id not in library:
        return Block(section_id=None, text=_describe_unknown(library, requested))
    reference = replace(reference, section_id=library.find_host(reference.section_id))
    node = library.node(reference.section_id)
    if reference.steps or node.kind is NodeKind.FOLDER:
        return _give_range(library, reference, delivered, nonce)
    if node.kind in _FETCHED and not node.is_loaded:
        reason = node.problem or "It is not loaded."
        return Block(section_id=node.id, text=f"[{node.id}] {name_path(library, node.id)}: {reason}", is_failed=True)
    return _give_section(library, node, reference, delivered, nonce)


def render_open(library: Library, section_id: str, spans: Sequence[Span], *, delivered: Delivered, nonce: str) -> str:
    """Return the block of a section that is open already, with the given ranges of its text.

    Args:
        library: Holds the section.
        section_id: The open section.
        spans: Its text that the model is given again.
        delivered: What stands above this block.
        nonce: Marks the fences of this conversation.
    """
    node = library.node(section_id)
    own = library.shown_own_span(section_id)
    wanted = library.shown_span(section_id) if spans and spans[-1].end > own.end else own
    return "\n".join(_render(library, node, wanted, spans, nonce, delivered))


def describe_no_room(library: Library, section_id: str, tokens: int) -> str:
    """Return what a model is told where a section does not fit any more."""
    name = name_path(library, section_id)
    size = format_tokens(tokens)
    advice = "Ask for a smaller subsection, or answer with what is open."
    return f"[{section_id}] {name}: no room for its ~{size} tokens now. {advice}"


def _give_section(library: Library, node: Node, reference: Reference, delivered: Delivered, nonce: str) -> Block:
    wanted, page_note = _choose_span(library, node, reference)
    if wanted is None:
        return Block(section_id=None, text=f"[{node.id}] has no such page. {page_note}")
    new = _find_new(library, wanted, delivered)
    if not new and node.kind in _FETCHED and not library.text_at(wanted).strip() and node.tokens:
        return _give_range(library, reference, delivered, nonce)
    if not new:
        return Block(section_id=node.id, text=_describe_repeated(library, node, wanted, page_note))
    lines = _render(library, node, wanted, new, nonce, delivered) + ([page_note] if page_note else [])
    return _make_block(library, node.id, lines, new)


def _find_new(library: Library, wanted: Span, delivered: Delivered) -> tuple[Span, ...]:
    pieces = subtract_bounds(wanted.start, wanted.end, delivered.get(wanted.doc, ()))
    spans = (Span(doc=wanted.doc, start=start, end=end) for start, end in pieces)
    return tuple(span for span in spans if library.text_at(span).strip())


def _make_block(library: Library, section_id: str, lines: Sequence[str], new: tuple[Span, ...]) -> Block:
    tokens = sum(estimate_tokens(library.text_at(span)) for span in new)
    return Block(section_id=section_id, text="\n".join(lines), spans=new, tokens=tokens)


def _choose_span(library: Library, node: Node, reference: Reference) -> tuple[Span | None, str]:
    """Return the range to deliver, and a line on the pages that are left."""
    own = library.shown_own_span(node.id)
    if reference.page is None and node.tokens <= WHOLE_TOKENS_MAX:
        return library.shown_span(node.id), ""
    pages = split_pages(library.text_at(own))
    if len(pages) == 1 and reference.page in (None, 1):
        return own, ""
    number = 1 if reference.page is None else reference.page
    if not 1 <= number <= len(pages):
        plural = "s" if len(pages) > 1 else ""
        return None, f"It has {len(pages)} page{plural}, [{node.id}:1] to [{node.id}:{len(pages)}]."
    start, end = pages[number - 1]
    rest = f" The next is [{node.id}:{number + 1}]." if number < len(pages) else " It is the last."
    return (
        Span(doc=own.doc, start=own.start + start, end=own.start + end),
        f"(Page {number} of {len(pages)} of this section's own text.{rest})",
    )


def _render(
    library: Library, node: Node, wanted: Span, spans: Sequence[Span], nonce: str, delivered: Delivered
) -> list[str]:
    head = f"[{node.id}] {name_path(library, node.id)} ({name_lines(library, wanted)})"
    lines = [head, *_render_text(library, node.id, wanted, spans, nonce, delivered)]
    own = library.shown_own_span(node.id)
    if wanted.end > own.end or not list_below(library, node.id):
        return lines
    if own.start < wanted.start:
        return [*lines, f"(Its subsections are listed with its first page, [{node.id}:1].)"]
    return [*lines, *_list_below(library, node.id, _add_spans(delivered, spans))]


def _render_text(
    library: Library, section_id: str, wanted: Span, spans: Sequence[Span], nonce: str, delivered: Delivered
) -> list[str]:
    lines: list[str] = []
    position = wanted.start
    for span in spans:
        lines += _name_gap(library, Span(doc=wanted.doc, start=position, end=span.start), delivered)
        lines += [f"<<<{nonce}", annotate(library, span, section_id=section_id), f"{nonce}>>>"]
        position = span.end
    return lines + _name_gap(library, Span(doc=wanted.doc, start=position, end=wanted.end), delivered)


def _add_spans(delivered: Delivered, spans: Sequence[Span]) -> Delivered:
    added = {doc: [*bounds] for doc, bounds in delivered.items()}
    for span in spans:
        added.setdefault(span.doc, []).append((span.start, span.end))
    return added


def _list_below(library: Library, section_id: str, given: Delivered) -> list[str]:
    """Return lines for what stands below a section: what was given is named alone."""
    children = list_below(library, section_id)
    open_ids = [child for child in children[:LISTED_MAX] if _is_given(library, child, given)] if given else []
    closed = [child for child in children if child not in open_ids] if open_ids else children
    lines = fill_lines(library, closed, _limit_list(library), parent_id=section_id) if closed else []
    if open_ids:
        named = "; ".join(f"[{child}] {name_node(library.heading(child), length_max=60)}" for child in open_ids)
        lines.append(f"(Given above: {named})")
    return ["Below it:", *lines] if lines else []


def _limit_list(library: Library) -> int:
    return next(tokens for count_min, tokens in _LIST_TOKENS if len(library) >= count_min)


def _is_given(library: Library, section_id: str, given: Delivered) -> bool:
    """Return whether the model has the whole text of a section's subtree."""
    span = library.shown_span(section_id)
    if not len(span):
        return False
    below = (i for i in library.walk(section_id) if i != section_id)
    if library.grafts and any(library.own_span(i).doc != span.doc for i in below):
        return False
    return not subtract_bounds(span.start, span.end, given.get(span.doc, ()))


def _name_gap(library: Library, gap: Span, delivered: Delivered) -> list[str]:
    """Return a line for each part of a gap between texts: what stands above, and what is given nowhere."""
    missing = subtract_bounds(gap.start, gap.end, delivered.get(gap.doc, ()))
    parts = [(start, end, True) for start, end in subtract_bounds(gap.start, gap.end, missing)]
    lines = []
    for start, end, is_given in sorted([*parts, *((start, end, False) for start, end in missing)]):
        part = Span(doc=gap.doc, start=start, end=end)
        if library.text_at(part).strip():
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
    named = [f"[{document.ids[row]}] {name_node(library.heading(document.ids[row]))}" for row in rows[:_NAMED_MAX]]
    return [*named, f"+{len(rows) - _NAMED_MAX} more"] if len(rows) > _NAMED_MAX else named


def _give_range(library: Library, reference: Reference, delivered: Delivered, nonce: str) -> Block:
    """Return the block for a range of children: their texts where they are small, else lines for them."""
    ranges = Ranges.of(library, reference.section_id)
    children, bounds = ranges.children, ranges.find(reference.steps)
    is_root = reference.section_id == library.root_id
    name = shorten(escape(library.title), TITLE_LENGTH_MAX) if is_root else name_path(library, reference.section_id)
    section_id = None if is_root else reference.section_id
    if bounds is None or not children:
        return Block(section_id=None, text=_describe_missing_range(reference.section_id, ranges))
    start, end = bounds
    head = f"[{reference.section_id}] {name}: {start + 1} to {end} of {len(children)} below it"
    is_small = reference.steps and ranges.count_tokens(start, end) <= WHOLE_TOKENS_MAX
    whole = _join(library, children[start:end]) if section_id is not None and is_small else None
    if whole is not None and section_id is not None:
        new = _find_new(library, whole, delivered)
        if new:
            return _make_block(
                library, section_id, [head, *_render_text(library, section_id, whole, new, nonce, delivered)], new
            )
    if end - start > LISTED_MAX:
        lines = ranges.describe(reference.section_id, reference.steps)
    else:
        tokens = _RANGE_LIST_TOKENS if reference.steps else _limit_list(library)
        lines = fill_lines(library, children[start:end], tokens, parent_id=reference.section_id)
    return Block(section_id=section_id, text="\n".join([head, *lines]), is_listing=True)


def _join(library: Library, section_ids: Sequence[str]) -> Span | None:
    """Return the text of neighbours as one range, None where they are no sections of one document."""
    first, last = library.span(section_ids[0]), library.span(section_ids[-1])
    is_one = not library.grafts or len({library.span(section_id).doc for section_id in section_ids}) == 1
    if not is_one or library.heading(section_ids[0]).kind is not NodeKind.SECTION:
        return None
    return Span(doc=first.doc, start=first.start, end=last.end)


def _describe_missing_range(section_id: str, ranges: Ranges) -> str:
    if not ranges.children:
        return f"[{section_id}] has nothing below it."
    count = len(ranges.split(0, len(ranges.children)))
    ends = f"[{section_id}:c1] to [{section_id}:c{count}]"
    return f"[{section_id}] has no such range of subsections. It has {count}: {ends}."


def _describe_unknown(library: Library, requested: str) -> str:
    nearest = [f"[{i}] {name_path(library, i)}" for i in find_nearest(library, requested)]
    shown = shorten(plain_line(requested), 80)
    said = f'"{shown}" is no section id, and no path or title that one section alone has.'
    return f"{said} Nearest: {'; '.join(nearest)}." if nearest else said


def _describe_repeated(library: Library, node: Node, wanted: Span, page_note: str) -> str:
    name = f"[{node.id}] {name_path(library, node.id)}"
    if not library.text_at(wanted).strip():
        lines = [f"{name}: it has no text of its own."]
    else:
        lines = [f"{name} ({name_lines(library, wanted)}) is open already: its text stands above."]
    if wanted.end <= library.shown_own_span(node.id).end and list_below(library, node.id):
        lines += _list_below(library, node.id, {})
    return "\n".join([*lines, page_note] if page_note else lines)
