"""Render blocks of expanded sections, which a model reads when it opens a section.

A block consists of a line with id, path and line range, the text of the section between fences with a nonce,
and lines for the sections below it that are not included. Text that the model has already is not repeated,
but named. Text that is cut off is named too, with the way to get it. The text is the source plus ids, with
long targets of links shortened. Quotes are checked against the source, so nothing here may change words that
can be quoted. Ids are only at the ends of headings and links, because inside a sentence, a model would have
to leave them out of a quote.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from operator import attrgetter

from msgspec import Struct
from msgspec.structs import replace

from roamtui.document.document import LOADED_ON_DEMAND, NodeKind
from roamtui.document.library import Library, Node
from roamtui.outline.delivered import PART_TOKENS, WHOLE_TOKENS_MAX, SpanSet
from roamtui.outline.ids import Reference, parse_reference
from roamtui.outline.labels import (
    PLAIN_PATH_STEP,
    escape,
    format_library_title,
    format_line_range,
    format_node_title,
    format_path,
    list_titles,
    strip_heading,
)
from roamtui.outline.missing_text import count_span_tokens, has_all_text, has_text, list_missing_text
from roamtui.outline.references import explain_unresolved
from roamtui.outline.render import compute_outline_budget, fill_lines, render_outline
from roamtui.outline.structure import LISTED_MAX, ChildRanges, list_outline_children
from roamtui.text import (
    Span,
    estimate_tokens,
    format_count,
    format_tokens,
    replace_ranges,
    shorten,
    split_parts,
)

_LIST_TOKENS = 2_300
"""Maximum tokens of the list below a section that is not given whole. Two calls must lead to any of ten
thousand sections."""
_RANGE_LIST_TOKENS = 6_000
"""Maximum tokens of the lines of a range with at most `LISTED_MAX` nodes."""
_NAMES_MAX = 30
_FIRST_WORDS_LENGTH = 40
"""Number of characters of a part of a section that name it."""
_LINE_END = re.compile(r"[ \t]*(?:[\r\n]|\Z)")
_LONG_URL = re.compile(r"(?<=\]\()[^()<>\s]{121,}(?=\))")
"""A long target of a link. Other URLs are words that a reader sees, and a quote must have them whole."""
_URL_LENGTH_SHOWN = 60


class ExpandedBlock(Struct, frozen=True, kw_only=True):
    """The answer to a request for one id."""

    section_id: str | None = None
    """None if no section was found."""
    text: str
    spans: tuple[Span, ...] = ()
    """The section text that the model has with this block, and that no earlier block has delivered. Some of
    it is in excerpts above the block."""
    tokens: int = 0
    """Estimated tokens of the section text in the block."""
    is_listing: bool = False
    """Whether the block only lists children."""
    is_failed: bool = False
    """Whether the file or page of the section could not be read."""


def render_section(  # noqa: PLR0913 - most calls need only some
    library: Library,
    requested: str,
    *,
    delivered: SpanSet,
    excerpts: SpanSet = SpanSet(),
    nonce: str,
    nearest: Sequence[str] = (),
    part_tokens: int = PART_TOKENS,
) -> ExpandedBlock:
    """Render the block of a requested section, which must be loaded.

    The request is an id, a part ``id:2`` or a range ``id:c2``. If it is anything else, the block says so, and
    names the sections `nearest`. Text in `delivered`, and in the `excerpts` above the block, is not repeated.
    The fences contain `nonce`, which is different in each conversation. Of a text that has several parts, of
    `part_tokens` each, the block has the first, unless the request names another.
    """
    writer = _BlockWriter(
        library=library,
        delivered=delivered,
        excerpts=excerpts,
        nonce=nonce,
        part_tokens=part_tokens,
    )
    reference = parse_reference(requested)
    if reference is not None and reference.section_id == library.root_id:
        if reference.range_numbers:
            return writer.make_range_block(reference)
        tokens = min(compute_outline_budget(library, None), part_tokens)
        outline = render_outline(library, budget_tokens=tokens).rstrip()
        return ExpandedBlock(text=outline, is_listing=True)
    if reference is None or reference.section_id not in library:
        suggested = "; ".join(f"[{i}] {format_path(library, i)}" for i in nearest if i in library)
        reason = explain_unresolved(library, requested)
        problem = reason[:1].upper() + reason[1:]
        return ExpandedBlock(text=f"{problem} Nearest: {suggested}." if suggested else problem)
    reference = replace(reference, section_id=library.resolve_alias(reference.section_id))
    node = library.node(reference.section_id)
    if reference.range_numbers or node.kind is NodeKind.FOLDER:
        return writer.make_range_block(reference)
    if not node.is_loaded:
        text = f"[{node.id}] {format_path(library, node.id)}: {node.problem or 'It is not loaded.'}"
        return ExpandedBlock(section_id=node.id, text=text, is_failed=True)
    return writer.make_section_block(node, reference)


def estimate_delivery_tokens(library: Library, section_id: str, part_tokens: int) -> int:
    """Estimate how many tokens are delivered when a section is opened.

    These are its whole subtree if it is small, or else the first part of its own text.
    """
    own_tokens, tokens = library.count_tokens(section_id)
    return tokens if _opens_whole(library, section_id, part_tokens) else min(own_tokens, part_tokens)


def get_opened_span(library: Library, section_id: str, part_tokens: int) -> Span:
    """Return the span that is delivered when a section is opened; see `estimate_delivery_tokens`."""
    node = library.node(section_id)
    if _opens_whole(library, section_id, part_tokens):
        return node.content_span
    own = node.own_content_span
    return own.get_part(*split_parts(library.text_at(own), part_tokens)[0])


def _opens_whole(library: Library, section_id: str, part_tokens: int) -> bool:
    """Return whether a section is so small that opening it gives all below it too."""
    return library.count_tokens(section_id)[1] <= min(WHOLE_TOKENS_MAX, part_tokens)


def render_open_section(
    library: Library,
    section_id: str,
    spans: Sequence[Span],
    *,
    delivered: SpanSet,
    nonce: str,
    part_tokens: int = PART_TOKENS,
) -> str:
    """Render the block of an open section again, with the text in `spans`. See `render_section`."""
    node = library.node(section_id)
    own = node.own_content_span
    wanted = node.content_span if spans and spans[-1].end > own.end else own
    writer = _BlockWriter(library=library, delivered=delivered, nonce=nonce, part_tokens=part_tokens)
    return "\n".join(writer.render_block(node, wanted, spans))


def format_no_room(library: Library, section_id: str | None, requested: str, tokens: int) -> str:
    """Say to a model that there is no room for a section, or for a range of the whole library."""
    name = format_library_title(library) if section_id is None else format_path(library, section_id)
    size = format_tokens(tokens)
    advice = "Ask for a smaller subsection, or answer with what is open."
    return f"[{section_id or requested}] {name}: no room for its ~{size} tokens now. {advice}"


class _BlockWriter(Struct, frozen=True, kw_only=True, dict=True):
    library: Library
    delivered: SpanSet
    """Text of open sections, which is not repeated."""
    excerpts: SpanSet = SpanSet()
    """Text that is repeated only if naming it takes more tokens."""
    nonce: str
    part_tokens: int

    @cached_property
    def given(self) -> SpanSet:
        """All text that the model has."""
        return self.delivered | self.excerpts

    def make_section_block(self, node: Node, reference: Reference) -> ExpandedBlock:
        """Make the block of a section: all of it if it is small, or else a part of its own text."""
        part_note = ""
        own = node.own_content_span
        tokens = self.library.count_tokens(node.id)[1]
        if reference.part is None and _opens_whole(self.library, node.id, self.part_tokens):
            wanted = node.content_span
        else:
            parts = split_parts(self.library.text_at(own), self.part_tokens)
            number = 1 if reference.part is None else reference.part
            count = len(parts)
            if not 1 <= number <= count:
                parts_there = f"{format_count(count, 'part')}, [{node.id}:1] to [{node.id}:{count}]"
                return ExpandedBlock(text=f"[{node.id}] has no such part. It has {parts_there}.")
            wanted = own.get_part(*parts[number - 1])
            if count > 1:
                rest = f"The next is [{node.id}:{number + 1}]." if number < count else "It is the last."
                part_note = f"(Part {number} of {count} of this section's own text. {rest})"
        new = self._list_new_text(wanted)
        is_blank = not self.library.text_at(wanted).strip()
        if is_blank and node.kind in LOADED_ON_DEMAND and tokens:
            return self.make_range_block(reference)
        if new:
            lines = self.render_block(node, wanted, new)
        else:
            where = "it has no text of its own" if is_blank else "its text stands above"
            lines = [f"{_format_place(self.library, node.id)}: {where}."]
            if wanted.end <= own.end:
                lines += self._list_below(node.id, SpanSet())
        return self._make_block(node.id, [*lines, part_note] if part_note else lines, wanted, new)

    def make_range_block(self, reference: Reference) -> ExpandedBlock:
        """Make the block of a range of children, with their texts if small, or else with lines for them."""
        library = self.library
        parent_id = reference.section_id
        range_numbers = reference.range_numbers
        ranges = ChildRanges.for_section(library, parent_id)
        children = ranges.children
        bounds = ranges.get_bounds(range_numbers)
        if not children:
            return ExpandedBlock(text=f"[{parent_id}] has nothing below it.")
        if bounds is None:
            count = len(ranges.split(0, len(children)))
            ends = f"[{parent_id}:c1] to [{parent_id}:c{count}]"
            return ExpandedBlock(
                text=f"[{parent_id}] has no such range of subsections. It has {count}: {ends}."
            )
        is_root = parent_id == library.root_id
        name = format_library_title(library) if is_root else format_path(library, parent_id)
        start, end = bounds
        head = f"[{parent_id}] {name}: {start + 1} to {end} of {len(children)} below it"
        size = ranges.tokens_before[end] - ranges.tokens_before[start]
        is_small = size <= min(WHOLE_TOKENS_MAX, self.part_tokens)
        if (
            range_numbers
            and not is_root
            and is_small
            and library.node(children[start]).kind is NodeKind.SECTION
        ):
            documents = {library.node(child).span.doc for child in children[start:end] if library.grafts}
            first = library.node(children[start]).span
            whole = replace(first, end=library.node(children[end - 1]).span.end)
            if len(documents) <= 1 and (new := self._list_new_text(whole)):
                text = self._render_text(parent_id, whole, new)
                return self._make_block(parent_id, [head, *text], whole, new)
        if end - start > LISTED_MAX:
            lines = ranges.describe(parent_id, range_numbers)
        else:
            tokens = _RANGE_LIST_TOKENS if range_numbers else _LIST_TOKENS
            tokens = tokens if self.part_tokens == PART_TOKENS else min(tokens, self.part_tokens)
            lines = fill_lines(library, children[start:end], tokens, parent_id=parent_id)
        listing = "\n".join([head, *lines])
        return ExpandedBlock(section_id=None if is_root else parent_id, text=listing, is_listing=True)

    def render_block(self, node: Node, wanted: Span, spans: Sequence[Span]) -> list[str]:
        """Render the block of a section as lines. Of the range `wanted`, it has the text in `spans`."""
        head = f"{_format_place(self.library, node.id)} ({format_line_range(self.library, wanted)})"
        lines = [head, *self._render_text(node.id, wanted, spans)]
        own = node.own_content_span
        if wanted.end <= own.end and wanted.start <= own.start:  # the first part lists the subsections
            lines += self._list_below(node.id, self.given | spans)
        return lines

    def _make_block(
        self, section_id: str, lines: Sequence[str], wanted: Span, new: Sequence[Span]
    ) -> ExpandedBlock:
        others = (self.delivered | new).subtract_from(wanted)
        spans = [span for span in (*new, *others) if self.library.text_at(span).strip()]
        return ExpandedBlock(
            section_id=section_id,
            text="\n".join(lines),
            spans=tuple(sorted(spans, key=attrgetter("start"))),
            tokens=count_span_tokens(self.library, new),
        )

    def _list_new_text(self, wanted: Span) -> tuple[Span, ...]:
        """Return the parts of a span to write: what the model lacks, and excerpts that are short."""
        library = self.library
        named: list[Span] = []
        starts = library.documents_by_key[wanted.doc].columns.starts
        for start, end in self.excerpts.bounds.get(wanted.doc, ()):
            heading = replace(wanted, start=starts[bisect_right(starts, start) - 1], end=start)
            first = start if has_text(library, heading) else heading.start  # its heading is named with it
            excerpt = replace(wanted, start=max(first, wanted.start), end=min(end, wanted.end))
            if excerpt.start < excerpt.end:
                line = f"{self.nonce}>>>\n{_format_given(library, excerpt)}\n<<<{self.nonce}"
                if estimate_tokens(library.text_at(excerpt)) > estimate_tokens(line):
                    named.append(excerpt)
        spans = list_missing_text(library, wanted, self.delivered | named)
        return tuple(span for span in spans if library.text_at(span).strip())

    def _render_text(self, section_id: str, wanted: Span, spans: Sequence[Span]) -> list[str]:
        lines: list[str] = []
        position = wanted.start
        for span, header in zip(spans, self.library.list_headers(spans), strict=True):
            lines += self._render_gap(replace(wanted, start=position, end=span.start))
            text = header + annotate_with_ids(self.library, span, section_id=section_id)
            lines += [f"<<<{self.nonce}", text, f"{self.nonce}>>>"]
            position = span.end
        return lines + self._render_gap(replace(wanted, start=position))

    def _render_gap(self, gap: Span) -> list[str]:
        """Render a line for each part of a gap between texts: text given above, and text not given at all."""
        missing = [span for span in self.given.subtract_from(gap) if has_text(self.library, span)]
        given = SpanSet.from_spans(missing).subtract_from(gap)
        lines = []
        for part in sorted([*given, *missing], key=attrgetter("start")):
            if has_text(self.library, part):
                lines.append(_format_given(self.library, part, is_given=part not in missing))
        return lines

    def _list_below(self, section_id: str, delivered: SpanSet) -> list[str]:
        """Render lines for the sections below a section. Sections that are `delivered` are only named."""
        library = self.library
        children = list_outline_children(library, section_id)
        if not children:
            return []
        named = children[:LISTED_MAX] if delivered else ()
        given = [child for child in named if _has_text_of(library, child, delivered)]
        closed = [child for child in children if child not in given]
        lines = fill_lines(library, closed, min(_LIST_TOKENS, self.part_tokens), parent_id=section_id)
        if given:
            lines.append(format_given_sections(library, given))
        return ["Below it:", *lines] if lines else []


def _format_place(library: Library, section_id: str) -> str:
    """Format the id and the path of a section, without the title of the document, which the outline has."""
    titles = list_titles(library, section_id)
    is_titled = library.node(section_id).ancestors[:1] == (library.title_id,)
    return f"[{section_id}] {PLAIN_PATH_STEP.join(titles[is_titled:])}"


def format_given_sections(library: Library, section_ids: Iterable[str]) -> str:
    """Say in a line that the model has the text of some sections already."""
    titles = ((each, format_node_title(library.node(each), length_max=60)) for each in section_ids)
    return f"(Given above: {'; '.join(f'[{each}] {title}' for each, title in titles)})"


def _has_text_of(library: Library, section_id: str, delivered: SpanSet) -> bool:
    """Return whether the model has the whole text of a section and its subsections."""
    span = library.node(section_id).content_span
    if not has_all_text(library, span, delivered):
        return False
    below = (node_id for node_id in library.walk(section_id) if node_id != section_id)
    return not (library.grafts and any(library.node(node_id).own_span.doc != span.doc for node_id in below))


def _format_given(library: Library, span: Span, *, is_given: bool = True) -> str:
    """Name the largest sections that are in a span, and parts of others by the first words of the part."""
    document = library.documents_by_key[span.doc]
    starts = document.columns.starts
    held = SpanSet.from_spans([span])
    names = []
    position = span.start
    for row in range(bisect_right(starts, span.start) - 1, bisect_left(starts, span.end)):
        node = library.node(document.ids[row])
        part = node.own_content_span
        part = replace(part, start=max(part.start, position), end=min(part.end, span.end))
        if part.start >= part.end or not has_text(library, part):
            continue
        whole = node.content_span if has_all_text(library, node.content_span, held) else node.own_content_span
        if has_all_text(library, whole, held):
            names.append(f"[{node.id}] {format_node_title(node)}")
            position = whole.end
        else:
            words = escape(" ".join(strip_heading(library.clean_text(part)).split()))
            names.append(f'"{shorten(words, _FIRST_WORDS_LENGTH)}"')
    more = [f"+{len(names) - _NAMES_MAX} more"] if len(names) > _NAMES_MAX else []
    state = "Given above" if is_given else "Not given here, open it by id"
    return f"({state}: {'; '.join([*names[:_NAMES_MAX], *more])})"


def annotate_with_ids(library: Library, span: Span, *, section_id: str | None = None) -> str:
    """Render a span as a model reads it, with ids after headings and links, except `section_id`."""
    marks = list_id_marks(library, span, skipped_id=section_id)
    text = insert_marks(library.clean_text(span).rstrip(), marks).lstrip("\r\n")
    return _LONG_URL.sub(lambda match: f"{match.group()[:_URL_LENGTH_SHOWN]}…", text)


def list_id_marks(library: Library, span: Span, *, skipped_id: str | None = None) -> dict[int, str]:
    """Return the marks to insert into the text of a span at the ends of headings and links, by offset."""
    document = library.documents_by_key[span.doc]
    starts = document.columns.starts
    kinds = document.columns.kinds
    marks: dict[int, str] = {}
    for row in range(bisect_left(starts, span.start, hi=len(kinds)), len(kinds)):
        if starts[row] >= span.end:
            break
        line_end = _LINE_END.search(document.text[starts[row] : min(span.end, starts[row + 1])])
        is_marked = kinds[row] in (NodeKind.SECTION, NodeKind.LINK) and document.ids[row] != skipped_id
        if line_end is not None and is_marked:
            offset = starts[row] + line_end.start() - span.start
            marks[offset] = f"{marks.get(offset, '')} [{document.ids[row]}]"
    return marks


def insert_marks(text: str, marks: Mapping[int, str]) -> str:
    """Insert marks into a text at their offsets."""
    return replace_ranges(text, ((offset, offset, mark) for offset, mark in sorted(marks.items())))
