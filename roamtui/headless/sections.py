"""`roamtui outline` and `show`: sections of a library as text or JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from roamtui.document.library import Library
from roamtui.document.loader import Loader, load_pages
from roamtui.document.node import NodeKind
from roamtui.document.plain import sanitise_line, shorten
from roamtui.errors import SourceError, UnknownSectionError, UsageError
from roamtui.headless.output import write_json, write_notice, write_notices, write_text
from roamtui.outline.labels import format_path
from roamtui.outline.render import render_outline
from roamtui.outline.spans import split_pages
from roamtui.outline.structure import ChildRanges, Reference, resolve_reference, suggest_ids

_NODE_FIELDS = (
    *("id", "kind", "level", "title", "path", "doc", "url", "parent", "start_line", "end_line", "own_end_line"),
    *("page", "page_end", "tokens", "own_tokens"),
)
"""Fields of a node in the command's JSON, in this order."""


def print_outline(library: Library, *, as_json: bool) -> None:
    """Write the outline exactly as a model reads it, or every node of a library as JSON."""
    if as_json:
        rows = [
            {name: getattr(node, name) for name in _NODE_FIELDS} | {"kind": node.kind.value, "path": list(node.path)}
            for node in map(library.node, library.walk())
        ]
        write_json({"source": library.source, "title": library.title, "sections": rows})
    else:
        write_text(render_outline(library))


def find_reference(library: Library, name: str) -> Reference:
    """Return what a person's name for a section refers to: an id of any form, a title, or ``Fees > Late fees``.

    Raises:
        UnknownSectionError: The library has no section with this id.
        UsageError: No section, or more than one, has this name. The message names the nearest.
    """
    reference = resolve_reference(library, name.replace(" › ", " > "))
    if reference is not None and (reference.section_id == library.root_id or reference.section_id in library):
        return reference
    if reference is not None:
        raise UnknownSectionError(name)
    nearest = ", ".join(f"[{node_id}] {format_path(library, node_id)}" for node_id in suggest_ids(library, name))
    hint = f" Did you mean {nearest}?" if nearest else ""
    raise UsageError(f'no single section is called "{shorten(sanitise_line(name), 80)}".{hint}')


def print_sections(library: Library, loader: Loader | None, names: Sequence[str]) -> None:
    """Write the source text of sections and their subsections, in the given order. `loader` fetches their pages.

    Raises:
        UnknownSectionError: There is no such section, page or range. Nothing was written.
        UsageError: A name is not clear. Nothing was written.
        SourceError: A file or page could not be read. Nothing was written.
    """
    references = [find_reference(library, name) for name in names]
    if loader is not None:
        reported = library.notes
        library = load_pages(library, loader, [reference.section_id for reference in references])
        write_notices(note for page in library.documents for note in page.notes if note not in reported)
    texts: list[str] = []
    for reference in references:
        section_id = reference.section_id
        if section_id in library and (problem := library.node(section_id).problem):
            raise SourceError(problem)
        found = [*iter_texts(library, reference)]
        if not found and (reference.page is not None or reference.steps):
            raise UnknownSectionError(section_id)
        texts += found
    for reference in references:
        section_id = reference.section_id
        page = library.node(section_id).page if section_id in library and not reference.steps else None
        if page is not None and reference.page is None:
            write_notice(f"[{section_id}] starts on p. {page}.")
    write_text("".join(texts))


def iter_texts(library: Library, reference: Reference) -> Iterator[str]:
    """Yield the source text of a section, its page, or the sections of a range. Nothing if there is no such part."""
    section_id = reference.section_id
    if reference.page is not None:
        text = library.text_at(library.get_own_content_span(section_id)) if section_id in library else ""
        for start, end in split_pages(text)[reference.page - 1 : reference.page] if text and reference.page else ():
            yield text[start:end]
        return
    shown: Sequence[str] = [section_id]
    if reference.steps or section_id == library.root_id:
        ranges = ChildRanges.for_section(library, section_id)
        shown = ranges.children[slice(*(ranges.get_bounds(reference.steps) or (0, 0)))]
    for each in shown:
        if library.node(each).kind is not NodeKind.FOLDER:
            yield library.text_at(library.get_content_span(each))
            continue
        for node_id in library.walk(each):
            if library.get_label(node_id).kind is NodeKind.FILE and library.loaded_document(node_id) is not None:
                text = library.text_at(library.span(node_id))
                yield text if not text or text.endswith(("\n", "\r")) else f"{text}\n"
