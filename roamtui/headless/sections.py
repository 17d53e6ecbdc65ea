"""`roamtui outline`, `show` and `search`: write sections of a library as text or JSON."""

import sys
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from roamtui.document.document import NodeKind
from roamtui.document.library import Library
from roamtui.errors import SourceError, UnknownSectionError
from roamtui.opening.loader import Loader, load_pages
from roamtui.outline.coverage import format_absence, measure_coverage
from roamtui.outline.delivered import PART_TOKENS
from roamtui.outline.ids import Reference
from roamtui.outline.labels import format_line_range, format_path
from roamtui.outline.references import resolve_section, suggest_unread_pages
from roamtui.outline.render import render_outline
from roamtui.outline.structure import ChildRanges
from roamtui.output import write_data, write_display, write_json, write_notice
from roamtui.program import qualify_commands
from roamtui.sanitiser import sanitise_line
from roamtui.search.base import RELATED_HEADING, Hit, SearchMode
from roamtui.search.searcher import Searcher
from roamtui.sources.listing import list_files
from roamtui.sources.source_names import split_sources
from roamtui.text import format_count, split_parts

_HIT_INDENT = "   "


def print_outline(library: Library, *, as_json: bool) -> None:
    """Write the outline exactly as a model reads it, or every node of the library as JSON."""
    if as_json:
        rows = [*map(partial(_describe_node, library), library.walk())]
        write_json({"source": library.source, "title": library.title, "sections": rows})
    else:
        write_data(render_outline(library))


def print_skipped(library: Library) -> None:
    """Write which files in a library's folders are left out, and why."""
    paths = [Path(name) for name in split_sources(library.source)]
    listing = list_files(paths) if library.root.columns.is_listing else None
    listed = {} if listing is None else listing.skipped
    skipped = {kind.plural: sorted(names) for kind, names in listed.items()}
    if problems := [document.problem for document in library.documents if document.problem]:
        skipped["files that cannot be read"] = problems
    if empty := library.empty_names:
        skipped["files without text"] = empty
    for kind, names in skipped.items():
        write_display("\n  ".join([f"{kind}:", *map(sanitise_line, names)]) + "\n")
    if not skipped:
        write_display("Nothing was skipped.\n")


def _describe_node(library: Library, section_id: str) -> dict[str, object]:
    node = library.node(section_id)
    own_tokens, tokens = library.count_tokens(section_id)
    lines = library.get_line_range(node.span)
    names = ("id", "kind", "level", "title", "path", "doc", "url", "parent")
    return {
        **{name: getattr(node, name) for name in names},
        "start_line": lines.first_line,
        "end_line": lines.last_line,
        "own_end_line": library.get_line_range(node.own_span).last_line,
        "page": lines.page,
        "page_end": lines.last_page,
        "tokens": tokens,
        "own_tokens": own_tokens,
    }


def search_with_pages(
    library: Library, loader: Loader | None, searcher: Searcher, query: str, *, limit: int
) -> tuple[Library, tuple[Hit, ...]]:
    """Search a library. If links are found, or nothing, load pages and search again.

    Return the library with the loaded pages, and the hits. Problems with pages are written to stderr.
    """
    hits = searcher.search(library, query, limit=limit, with_snippets=True)
    links = [hit.section_id for hit in hits if not library.node(hit.section_id).is_loaded]
    if loader is None or (hits and not links):
        return library, hits
    loaded = load_pages(library, loader, links or suggest_unread_pages(library, query))
    write_notice(*(note for note in loaded.notes if note not in library.notes))
    return loaded, searcher.search(loaded, query, limit=limit, with_snippets=True)


def print_hits(library: Library, hits: Sequence[Hit], mode: SearchMode, *, as_json: bool) -> None:
    """Write hits as JSON, or as lines with path, place, best sentence and id, wrapped for a terminal.

    In text, hits that have no word of the query are the last ones, below a heading.
    """
    from roamtui.headless.answer_lines import get_answer_width, wrap_line  # noqa: PLC0415 - it loads the quotes

    advice = "Try other words, or `roamtui outline`."
    absence = "" if hits else f"{format_absence(measure_coverage(library), 'Nothing was found')} {advice}"
    if as_json:
        write_json({"mode": mode, "hits": [_describe_hit(library, hit) for hit in hits]})
        write_notice(*filter(None, [absence]))
        return
    if absence:
        write_display(f"{qualify_commands(absence)}\n")
        return
    is_terminal = sys.stdout.isatty()
    width = get_answer_width()
    lines: list[str] = []
    for rank, hit in enumerate(sorted(hits, key=lambda hit: hit.is_related), start=1):
        if hit.is_related and RELATED_HEADING not in lines:
            lines.append(RELATED_HEADING)
        path = format_path(library, hit.section_id)
        place = format_line_range(library, library.node(hit.section_id).span)
        if is_terminal:
            heading = f"{rank}. [{hit.section_id}] {path} ({place})"
            lines.append(wrap_line(heading, width, _HIT_INDENT).removeprefix(_HIT_INDENT))
            lines.append(wrap_line(hit.snippet, width, _HIT_INDENT))
        else:
            lines.append(f"{path}, {place}: {hit.snippet} [{hit.section_id}]")
    write_display("\n".join(lines) + "\n")


def _describe_hit(library: Library, hit: Hit) -> dict[str, object]:
    node = library.node(hit.section_id)
    lines = library.get_line_range(node.span)
    return {
        "id": hit.section_id,
        "doc": node.doc,
        "path": node.path,
        "score": hit.score,
        "start_line": lines.first_line,
        "end_line": lines.last_line,
        "snippet": hit.snippet,
        "why": hit.why,
    }


def print_sections(library: Library, loader: Loader | None, names: Sequence[str]) -> None:
    """Write the source text of sections and their subsections, in order. `loader` fetches their pages.

    Raises:
        RoamtuiError: A name is unknown or ambiguous, or its text cannot be read. Then nothing is written.
    """
    references = [resolve_section(library, name) for name in names]
    reported = library.notes
    library = load_pages(library, loader, [reference.section_id for reference in references])
    write_notice(*(note for page in library.documents for note in page.notes if note not in reported))
    *texts, last = ("".join(_list_texts(library, reference)) for reference in references)
    write_data("".join([*map(_end_line, texts), last]))


def _end_line(text: str) -> str:
    return text if not text or text.endswith(("\n", "\r")) else f"{text}\n"


def _list_texts(library: Library, reference: Reference) -> list[str]:
    """Return the source text of a section, of its part, or of the sections of a range."""
    section_id = reference.section_id
    if section_id in library and (problem := library.node(section_id).problem):
        raise SourceError(problem)
    if reference.part is not None:
        own = library.node(section_id).own_content_span
        parts = split_parts(library.text_at(own), PART_TOKENS)
        if not 1 <= reference.part <= len(parts):
            problem = f'Section "{section_id}" has only {format_count(len(parts), "part")}.'
            raise UnknownSectionError(section_id, problem)
        part = own.get_part(*parts[reference.part - 1])
        texts = [*library.list_headers([part]), library.text_at(part)]
    elif reference.range_numbers or section_id == library.root_id:
        ranges = ChildRanges.for_section(library, section_id)
        shown = ranges.children[slice(*(ranges.get_bounds(reference.range_numbers) or (0, 0)))]
        texts = [text for child in shown for text in _iter_texts(library, child)]
    else:
        return [*_iter_texts(library, section_id)]
    if not texts and reference.range_numbers:
        problem = f'Section "{section_id}" has no such part. The outline lists the ids.'
        raise UnknownSectionError(section_id, problem)
    return texts


def _iter_texts(library: Library, section_id: str) -> Iterator[str]:
    """Yield the text of a section, or of each loaded file of a folder."""
    if library.node(section_id).kind is not NodeKind.FOLDER:
        yield library.text_at(library.node(section_id).content_span)
        return
    for node_id in library.walk(section_id):
        node = library.node(node_id)
        if node.kind is NodeKind.FILE and node.file is not None:
            yield _end_line(library.text_at(node.span))
