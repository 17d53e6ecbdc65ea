"""`roamtui outline` and `show`: sections of a library as text or JSON."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from roamtui.document.library import Library
from roamtui.document.node import NodeKind
from roamtui.document.plain import sanitise_line, strip_anchor
from roamtui.errors import SourceError, UnknownSectionError, UsageError
from roamtui.headless.output import write_json_with_rows, write_notice, write_notices, write_text
from roamtui.outline.labels import format_path
from roamtui.outline.render import render_outline
from roamtui.outline.spans import split_pages
from roamtui.outline.structure import ChildRanges, Reference, parse_reference

_NODE_FIELDS = (
    *("id", "kind", "level", "title", "path", "doc", "url", "parent", "start_line", "end_line", "own_end_line"),
    *("page", "page_end", "tokens", "own_tokens"),
)
"""Fields of a node in the command's JSON, in this order."""
_PATH_STEP = re.compile(r"\s[>›]\s")
_FOLDER_STEP = re.compile(r"\s[>›]\s|/")
_LISTED_MAX = 20


def print_outline(library: Library, *, budget_tokens: int | None, as_json: bool) -> None:
    """Write the outline exactly as a model reads it, or every node of a library as JSON."""
    if as_json:
        nodes = map(library.node, library.walk())
        rows = (
            {name: getattr(node, name) for name in _NODE_FIELDS} | {"kind": node.kind.value, "path": list(node.path)}
            for node in nodes
        )
        write_json_with_rows({"source": library.source, "title": library.title}, "sections", rows)
    else:
        write_text(render_outline(library, budget_tokens=budget_tokens))


def resolve_title(library: Library, name: str) -> str:
    """Convert a title, or a path such as ``Fees > Late fees``, to an id. Return ids and unknown names as they are.

    The last title may be cut short if only one section matches.

    Raises:
        UsageError: Several sections match the name.
    """
    reference = parse_reference(name)
    if reference is not None and (reference.section_id == library.root_id or reference.section_id in library):
        return name
    for separator in (None, _PATH_STEP, _FOLDER_STEP):
        *above, last = [_normalise(title) for title in (separator.split(name) if separator is not None else [name])]
        exact: list[str] = []
        begin_with: list[str] = []
        for section_id in library.walk() if last or any(above) else ():
            title = _normalise(library.title_of(section_id))
            if not title.startswith(last):
                continue
            ancestors = [_normalise(library.title_of(node_id)) for node_id in library.ancestors(section_id) if above]
            if ancestors[-len(above) :] == above:
                (exact if title == last else begin_with).append(section_id)
        matches = exact or begin_with
        if len(matches) > 1:
            write_notices(f"[{section_id}] {format_path(library, section_id)}" for section_id in matches[:_LISTED_MAX])
            more = f", the first {_LISTED_MAX} of them above" if len(matches) > _LISTED_MAX else ", listed above"
            raise UsageError(f'{len(matches):,} sections match "{sanitise_line(name)}"{more}. Give an id.')
        if matches:
            return matches[0]
    return name


def _normalise(title: str) -> str:
    return strip_anchor(sanitise_line(title)).casefold()


def print_sections(library: Library, section_ids: Sequence[str]) -> None:
    """Write the source text of sections and their subsections, in the given order.

    `section_ids` are ids of sections, of pages (``07f3277d:2``) or of ranges (``07f3277d:c2``), as in an outline.

    Raises:
        UnknownSectionError: An id is unknown. Nothing was written.
        SourceError: A file or page could not be read. Nothing was written.
    """
    references = []
    for text in section_ids:
        reference = parse_reference(text)
        if reference is None or not (reference.section_id == library.root_id or reference.section_id in library):
            raise UnknownSectionError(text)
        if reference.section_id in library and (problem := library.problem_of(reference.section_id)):
            raise SourceError(problem)
        is_part = reference.page is not None or reference.steps
        if is_part and next(_iter_texts(library, reference), None) is None:
            raise UnknownSectionError(text)
        references.append(reference)
    for reference in references:
        section_id = reference.section_id
        page = library.page_of(library.span(section_id)) if section_id in library and not reference.steps else None
        if page is not None and reference.page is None:
            write_notice(f"[{section_id}] starts on p. {page}.")
        for text in _iter_texts(library, reference):
            write_text(text)


def _iter_texts(library: Library, reference: Reference) -> Iterator[str]:
    section_id = reference.section_id
    if reference.page is not None:
        text = library.text_at(library.get_own_content_span(section_id)) if section_id in library else ""
        for start, end in split_pages(text)[reference.page - 1 : reference.page] if text and reference.page else ():
            yield text[start:end]
    elif reference.steps or section_id == library.root_id:
        ranges = ChildRanges.for_section(library, section_id)
        for child in ranges.children[slice(*(ranges.get_bounds(reference.steps) or (0, 0)))]:
            yield from _iter_section_texts(library, child)
    else:
        yield from _iter_section_texts(library, section_id)


def _iter_section_texts(library: Library, section_id: str) -> Iterator[str]:
    """Yield the text of a section, or of each file in a folder, which then ends with a line end."""
    if library.node(section_id).kind is not NodeKind.FOLDER:
        yield library.text_at(library.get_content_span(section_id))
        return
    for node_id in library.walk(section_id):
        if library.get_label(node_id).kind is NodeKind.FILE and library.loaded_document(node_id) is not None:
            text = library.text(node_id)
            yield text if not text or text.endswith(("\n", "\r")) else f"{text}\n"
