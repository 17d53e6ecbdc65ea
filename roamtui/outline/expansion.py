"""Blocks of expanded sections: what a model reads when it opens one.

A block is a line with id, breadcrumb and line range; the section's text between fences with a nonce, exactly as in the
source; its subsections as stubs with scent. Text that was delivered before is named, not repeated; nothing is cut
without saying so and how to get the rest.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from roamtui.document.node import Node, NodeKind, Span
from roamtui.document.plain import plain_line, shorten
from roamtui.document.tokens import estimate_tokens, format_tokens
from roamtui.outline.labels import (
    TITLE_LENGTH_MAX,
    defuse,
    name_lines,
    name_node,
    name_path,
)
from roamtui.outline.nearest import find_nearest
from roamtui.outline.pages import split_pages
from roamtui.outline.ranges import (
    LISTED_MAX,
    Reference,
    find_range,
    list_ranges,
    name_parts,
    parse_reference,
)
from roamtui.outline.spans import subtract_bounds
from roamtui.outline.surroundings import Delivered, list_subsections, make_stub, name_gap, name_sections
from roamtui.outline.tops import list_below

if TYPE_CHECKING:
    from collections.abc import Sequence

    from roamtui.document.library import Library

_FETCHED = frozenset({NodeKind.FILE, NodeKind.LINK})
WHOLE_TOKENS_MAX = 1_500
"""A subtree up to this size is given whole."""


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
    """Return the block for one id.

    Args:
        library: Holds the section, loaded.
        requested: An id, a page ``id:2`` or a range ``id:c2``.
        delivered: What the model was given already.
        nonce: Marks the fences of this conversation.
    """
    reference = parse_reference(requested)
    if reference is not None and reference.section_id == library.root_id:
        return _list_range(library, reference)
    if reference is None or reference.section_id not in library:
        return Block(section_id=None, text=_describe_unknown(library, requested))
    reference = replace(reference, section_id=library.find_host(reference.section_id))
    node = library.node(reference.section_id)
    if reference.steps or node.kind is NodeKind.FOLDER:
        return _list_range(library, reference)
    if node.kind in _FETCHED and not node.is_loaded:
        reason = node.problem or "It is not loaded."
        return Block(section_id=node.id, text=f"[{node.id}] {name_path(library, node.id)}: {reason}", is_failed=True)
    return _deliver(library, node, reference, delivered, nonce)


def _deliver(library: Library, node: Node, reference: Reference, delivered: Delivered, nonce: str) -> Block:
    wanted, page_note = _choose_spans(library, node, reference)
    if wanted is None:
        return Block(section_id=None, text=f"[{node.id}] has no such page. {page_note}")
    pieces = subtract_bounds(wanted.start, wanted.end, delivered.get(wanted.doc, ()))
    spans = tuple(Span(doc=wanted.doc, start=start, end=end) for start, end in pieces)
    new = tuple(span for span in spans if library.text_at(span).strip())
    if not new and node.kind in _FETCHED and not library.text_at(wanted).strip() and node.tokens:
        return _list_range(library, reference)
    if not new:
        return Block(section_id=node.id, text=_describe_repeated(library, node, wanted, page_note))
    tokens = sum(estimate_tokens(library.text_at(span)) for span in new)
    text = "\n".join(_render(library, node, wanted, new, nonce, delivered) + ([page_note] if page_note else []))
    return Block(section_id=node.id, text=text, spans=new, tokens=tokens)


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


def _choose_spans(library: Library, node: Node, reference: Reference) -> tuple[Span | None, str]:
    """Return the range to deliver, and a line on the pages that are left."""
    own = library.shown_own_span(node.id)
    if reference.page is None and node.tokens <= WHOLE_TOKENS_MAX:
        return library.shown_span(node.id), ""
    pages = split_pages(library.text_at(own))
    if len(pages) == 1 and reference.page in (None, 1):
        return own, ""
    number = 1 if reference.page is None else reference.page
    if not 1 <= number <= len(pages):
        return (
            None,
            f"It has {len(pages)} page{'s' if len(pages) > 1 else ''}, [{node.id}:1] to [{node.id}:{len(pages)}].",
        )
    start, end = pages[number - 1]
    rest = f" The next is [{node.id}:{number + 1}]." if number < len(pages) else " It is the last."
    return (
        Span(doc=own.doc, start=own.start + start, end=own.start + end),
        f"(Page {number} of {len(pages)} of this section's own text.{rest})",
    )


def _render(
    library: Library, node: Node, wanted: Span, spans: Sequence[Span], nonce: str, delivered: Delivered
) -> list[str]:
    lines = [f"[{node.id}] {name_path(library, node.id)} ({name_lines(library, wanted)})"]
    position = wanted.start
    for span in spans:
        lines += name_gap(library, Span(doc=wanted.doc, start=position, end=span.start), delivered)
        lines += [f"<<<{nonce}", library.text_at(span).rstrip("\r\n"), f"{nonce}>>>"]
        position = span.end
    lines += name_gap(library, Span(doc=wanted.doc, start=position, end=wanted.end), delivered)
    given = {**delivered, wanted.doc: [*delivered.get(wanted.doc, ()), *((span.start, span.end) for span in spans)]}
    lines += list_subsections(library, node, wanted, given)
    return lines


def _list_range(library: Library, reference: Reference) -> Block:
    children = list_below(library, reference.section_id)
    bounds = find_range(len(children), reference.steps)
    is_root = reference.section_id == library.root_id
    name = shorten(defuse(library.title), TITLE_LENGTH_MAX) if is_root else name_path(library, reference.section_id)
    section_id = None if is_root else reference.section_id
    if bounds is None or not children:
        return Block(section_id=None, text=_describe_missing_range(library, reference.section_id, len(children)))
    start, end = bounds
    head = f"[{reference.section_id}] {name}: subsections {start + 1} to {end} of {len(children)}"
    if end - start > LISTED_MAX:
        lines = list_ranges(library, reference.section_id, reference.steps)
    else:
        lines = [make_stub(library, child) for child in children[start:end]]
    return Block(section_id=section_id, text="\n".join([head, *lines]), is_listing=True)


def _describe_missing_range(library: Library, section_id: str, count: int) -> str:
    if not count:
        return f"[{section_id}] {name_path(library, section_id)} has no subsections."
    parts = name_parts(section_id, (0, count))
    ends = f"[{parts[0]}] to [{parts[-1]}]" if len(parts) > 1 else f"[{parts[0]}]"
    return f"[{section_id}] has no such range of subsections. It has {len(parts)}: {ends}."


def _describe_unknown(library: Library, requested: str) -> str:
    nearest = [f"[{i}] {name_node(library.heading(i), length_max=60)}" for i in find_nearest(library, requested)]
    shown = shorten(plain_line(requested), 40)
    return f'"{shown}" is no section id. Nearest: {"; ".join(nearest)}.' if nearest else f'"{shown}" is no section id.'


def _describe_repeated(library: Library, node: Node, wanted: Span, page_note: str) -> str:
    first, last = library.lines_of(wanted)
    if not library.text_at(wanted).strip():
        text = f"[{node.id}] {name_path(library, node.id)} is empty."
    else:
        name = name_path(library, node.id)
        text = f"[{node.id}] {name} (lines {first}-{last}) is open already: its text stands above."
    children = list_below(library, node.id)
    if children:
        text += f"\nSubsections: {name_sections(library, node.id, children)}"
    return f"{text}\n{page_note}" if page_note else text


def describe_no_room(library: Library, section_id: str, tokens: int) -> str:
    """Return what a model is told where a section does not fit any more."""
    name = name_path(library, section_id)
    size = format_tokens(tokens)
    advice = "Ask for a smaller subsection, or answer with what is open."
    return f"[{section_id}] {name}: no room for its ~{size} tokens now. {advice}"
