"""`roamtui outline` and `show`: sections of a library as text or JSON."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from roamtui.document.library import Library
from roamtui.document.node import NodeKind
from roamtui.document.plain import sanitise_line, strip_anchor
from roamtui.errors import SourceError, UnknownSectionError, UsageError
from roamtui.headless.output import write_json_with_rows, write_note, write_notes, write_text
from roamtui.outline.labels import format_path
from roamtui.outline.render import render_outline
from roamtui.outline.spans import split_pages
from roamtui.outline.structure import ChildRanges, Reference, parse_reference

_NODE_FIELDS = (
    *("id", "kind", "level", "title", "path", "doc", "url", "parent", "start_line", "end_line", "own_end_line"),
    *("page", "page_end", "tokens", "own_tokens"),
)
"""Fields of a node in the command line's JSON, in this order."""
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


def resolve_titles(library: Library, names: Sequence[str]) -> tuple[str, ...]:
    """Return ids for names, which may be ids, titles or paths: a whole one, or the beginning of only one.

    Raises:
        UsageError: Several sections have a name.
    """
    return tuple(_resolve_title(library, name) for name in names)


def _resolve_title(library: Library, name: str) -> str:
    """Return the id of a section, or the name itself if it is no title."""
    reference = parse_reference(name)
    if reference is not None and (reference.section_id == library.root_id or reference.section_id in library):
        return name
    for separator in (None, _PATH_STEP, _FOLDER_STEP):
        wanted = [_fold(title) for title in (separator.split(name) if separator is not None else [name])]
        exact: list[str] = []
        begun: list[str] = []
        for section_id in library.walk() if any(wanted) else ():
            title = _fold(library.title_of(section_id))
            if title.startswith(wanted[-1]) and _has_ancestors(library, section_id, wanted[:-1]):
                (exact if title == wanted[-1] else begun).append(section_id)
        found = exact or begun
        if len(found) > 1:
            write_notes(f"[{section_id}] {format_path(library, section_id)}" for section_id in found[:_LISTED_MAX])
            more = f", the first {_LISTED_MAX} of them above" if len(found) > _LISTED_MAX else ", listed above"
            raise UsageError(f'{len(found):,} sections match "{sanitise_line(name)}"{more}. Give an id.')
        if found:
            return found[0]
    return name


def _has_ancestors(library: Library, section_id: str, wanted: Sequence[str]) -> bool:
    """Return whether the nearest ancestors of a section have these titles."""
    if not wanted:
        return True
    titles = [_fold(library.title_of(ancestor)) for ancestor in library.ancestors(section_id)]
    return titles[-len(wanted) :] == wanted


def _fold(title: str) -> str:
    return strip_anchor(sanitise_line(title)).casefold()


def print_sections(library: Library, section_ids: Sequence[str]) -> None:
    """Write the source text of sections and their subsections, in the given order.

    The ids are as in an outline: of sections, pages (``07f3277d:2``) or ranges (``07f3277d:c2``).

    Raises:
        UnknownSectionError: An id is unknown; nothing was written.
        SourceError: A file or page could not be read; nothing was written.
    """
    references = []
    for text in section_ids:
        reference = parse_reference(text)
        if reference is None or not (reference.section_id == library.root_id or reference.section_id in library):
            raise UnknownSectionError(text)
        if reference.section_id in library and (problem := library.problem_of(reference.section_id)):
            raise SourceError(problem)
        is_part = reference.page is not None or reference.steps
        if is_part and next(_read_part(library, reference), None) is None:
            raise UnknownSectionError(text)
        references.append(reference)
    for reference in references:
        section_id = reference.section_id
        page = library.page_of(library.span(section_id)) if section_id in library and not reference.steps else None
        if page is not None and reference.page is None:
            write_note(f"[{section_id}] starts on p. {page}.")
        for text in _read_part(library, reference):
            write_text(text)


def _read_part(library: Library, reference: Reference) -> Iterator[str]:
    section_id = reference.section_id
    if reference.page is not None:
        own = library.text_at(library.get_own_content_span(section_id)) if section_id in library else ""
        for start, end in split_pages(own)[reference.page - 1 : reference.page] if own and reference.page else ():
            yield own[start:end]
    elif reference.steps or section_id == library.root_id:
        ranges = ChildRanges.for_section(library, section_id)
        for child in ranges.children[slice(*(ranges.get_bounds(reference.steps) or (0, 0)))]:
            yield from _read_texts(library, child)
    else:
        yield from _read_texts(library, section_id)


def _read_texts(library: Library, section_id: str) -> Iterator[str]:
    """Yield the text of a section, or of each file in a folder, ended by a line end."""
    if library.node(section_id).kind is not NodeKind.FOLDER:
        yield library.text_at(library.get_content_span(section_id))
        return
    for node_id in library.walk(section_id):
        if library.get_label(node_id).kind is NodeKind.FILE and library.file(node_id) is not None:
            text = library.text(node_id)
            yield text if not text or text.endswith(("\n", "\r")) else f"{text}\n"
