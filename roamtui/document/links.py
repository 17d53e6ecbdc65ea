"""Resolve the links of a document: to a section, a web page, a file on this machine, or nothing."""

import posixpath
import re
from contextlib import suppress
from itertools import chain, pairwise
from pathlib import Path
from urllib.parse import unquote, urljoin, urlsplit

from msgspec import Struct

from roamtui.document.document import Document, NodeKind
from roamtui.document.library import Library
from roamtui.markdown.anchors import make_anchor
from roamtui.markdown.units import read_units
from roamtui.sources.listing import DocumentFile, locate_document
from roamtui.text import Span
from roamtui.web.urls import resolve_href

_INDEX_FILES = ("README.md", "index.md", "index.mdx")
_OPTIONAL_SUFFIXES = (".md", ".mdx", ".markdown", ".txt")
"""Suffixes that a link may leave out, or replace by `.html`."""
_ANCHOR_PREFIX = "user-content-"
"""What GitHub writes before the anchors in its HTML."""
_AFTER_ANCHOR = re.compile(r"[\"']?\s*/?>(?:\s|</?\w+/?>)*")
"""Text that may be between the name of an HTML element and the heading that the element is for."""


class SectionLink(Struct, frozen=True):
    """A link to a section of the library."""

    section_id: str
    span: Span | None = None
    """The text that it leads to, or None for the start of the section."""


class WebLink(Struct, frozen=True):
    """A link to a web page. It is opened only if the person agrees."""

    url: str


class FileLink(Struct, frozen=True):
    """A link to a file on this machine that is not part of the library."""

    path: Path
    """With symbolic links resolved."""
    fragment: str
    is_outside: bool
    """Whether it is outside the folder that was opened, or the folder of the file that was opened."""


class DeadLink(Struct, frozen=True):
    """A link that cannot be opened."""

    reason: str
    """One sentence for the person."""


def resolve_link(
    href: str, library: Library, node_id: str, *, with_files: bool = False
) -> SectionLink | WebLink | FileLink | DeadLink:
    """Resolve a link, a wikilink such as `[[Name#Part]]` or a footnote mark in a section.

    `with_files` allows links to files that are not part of the library. Without it, no file is looked for.
    """
    if href.startswith("[^"):
        return _resolve_footnote(href, library, node_id)
    if href.startswith("[["):
        return _resolve_wikilink(href, library, node_id)
    try:
        parts = urlsplit(href.strip())
    except ValueError:
        return DeadLink("This link is not a valid URL.")
    fragment = unquote(parts.fragment)
    path = unquote(parts.path)
    base = library.node(node_id).document.url
    is_relative = not parts.scheme and not parts.netloc
    if (parts.scheme in ("http", "https") and parts.netloc) or (base and path and is_relative):
        return _resolve_url(urljoin(base or "", href.strip()), fragment, library, node_id)
    if is_relative:
        return _resolve_path(path, fragment, library, node_id, with_files=with_files)
    return DeadLink(f'Links with "{parts.scheme or "//"}" are not opened, only http and https.')


def find_fragment(library: Library, document: Document, fragment: str) -> SectionLink | None:
    """Find the heading or HTML element that a fragment names in a document of the library."""
    fragment = fragment.removeprefix(_ANCHOR_PREFIX)
    # Wikis write an underscore for a space.
    names = (fragment.lower(), make_anchor(fragment), make_anchor(fragment.replace("_", " ")))
    row = next((document.anchors[name] for name in names if name in document.anchors), None)
    if row is not None:
        return SectionLink(document.ids[row])
    start = document.marked_offsets.get(fragment)
    target_id = library.find_node_at(document.key, start) if start is not None else None
    if start is None or target_id is None:
        return None
    end = library.node(target_id).own_span.end
    if _AFTER_ANCHOR.fullmatch(document.text, start + len(fragment), end) and end < len(document.text):
        return SectionLink(library.find_node_at(document.key, end) or target_id)
    return SectionLink(target_id, Span(doc=document.key, start=start, end=start + len(fragment)))


def locate_section(library: Library, node_id: str) -> DocumentFile | None:
    """Return the file on this machine that contains a section, or None, for instance for a web page."""
    source = library.source_of(node_id)
    doc = library.node(node_id).doc
    if source is None:
        return locate_document(library.source, doc)
    if doc == source.title:  # the row of a source that is a single file
        doc = ""
    return locate_document(source.name, doc.removeprefix(f"{source.key}/") if source.key else doc)


def _enter_document(library: Library, node_id: str, fragment: str) -> SectionLink:
    document = library.node(node_id).file if fragment else None
    place = None if document is None else find_fragment(library, document, fragment)
    return place or SectionLink(node_id)


def _resolve_url(url: str, fragment: str, library: Library, node_id: str) -> SectionLink | WebLink:
    """Resolve a URL: to a page of the library, or to a place in the page that the section is part of."""
    wanted = resolve_href("", url)
    page_id = _find_link_to_url(library, wanted)
    if page_id is not None:
        return _enter_document(library, page_id, fragment)
    is_own = wanted is not None and wanted == library.node(node_id).document.url
    place = _find_own_place(library, node_id, fragment) if is_own else None
    return place or WebLink(url)


def _find_link_to_url(library: Library, wanted: str | None) -> str | None:
    for document in library.documents if wanted is not None else ():
        columns = document.columns
        if NodeKind.LINK in columns.kinds and wanted in columns.urls:
            row = columns.urls.index(wanted)
            if columns.kinds[row] is NodeKind.LINK:
                return library.resolve_alias(document.ids[row])
    return None


def _find_listed_file(library: Library, node_id: str, path: str) -> str | None:
    """Find the file of the library that a relative path in a section leads to, and return its id."""
    ids = library.root.ids_by_path
    node = library.node(node_id)
    folder = node.doc if node.kind is NodeKind.FOLDER else posixpath.dirname(node.doc)
    target = posixpath.normpath(posixpath.join("/", folder, path))
    candidates = (candidate.removeprefix("/") for candidate in _list_candidate_paths(target))
    return next((ids[candidate] for candidate in candidates if candidate in ids), None)


def _list_candidate_paths(path: str) -> list[str]:
    """List the files that a link's path may lead to, best first: it may lack an index page or a suffix."""
    stem = path.removesuffix(".html")
    indexes = (posixpath.join(path, name) for name in _INDEX_FILES)
    return [*indexes, path, *(stem + suffix for suffix in _OPTIONAL_SUFFIXES)]


def _resolve_path(
    path: str, fragment: str, library: Library, node_id: str, *, with_files: bool
) -> SectionLink | FileLink | DeadLink:
    if not path:
        place = _find_own_place(library, node_id, fragment)
        return place or DeadLink(f'No heading with the anchor "#{fragment}".')
    if (file_id := _find_listed_file(library, node_id, path)) is not None:
        return _enter_document(library, file_id, fragment)
    if not with_files:
        return DeadLink(f'This link leads to another file, "{path}", which is not open here.')
    own = locate_section(library, node_id)
    file = _find_file(own, path) if own is not None else None
    if own is not None and file == own.path.resolve():
        return _find_own_place(library, node_id, fragment) or SectionLink(node_id)
    if own is not None and file is not None:
        return FileLink(file, fragment, is_outside=not file.is_relative_to(own.root.resolve()))
    return DeadLink(f'No file "{path}" here.')


def _find_own_place(library: Library, node_id: str, fragment: str) -> SectionLink | None:
    """Find a fragment in the document of a section. As in HTML, "" and "top" mean the document's start."""
    document = library.node(node_id).document
    place = find_fragment(library, document, fragment) if fragment else None
    if place is None and fragment.lower() in ("", "top"):
        return SectionLink(document.ids[0])
    return place


def _find_file(own: DocumentFile, path: str) -> Path | None:
    r"""Find the file or folder that a path in a document leads to, with symbolic links resolved.

    On Windows, ``\\server\share`` is a drive, and looking there tells the server the name of the person.
    """
    folder = own.root if path.startswith("/") else own.path.parent
    target = folder / path.lstrip("/")
    if target.drive != folder.drive:
        return None
    with suppress(OSError, ValueError, RuntimeError):  # a name that is too long, a NUL, a loop of links
        files = map(Path, _list_candidate_paths(str(target)))
        found = next(filter(Path.is_file, files), target if target.is_dir() else None)
        return None if found is None else found.resolve()
    return None


def _resolve_wikilink(href: str, library: Library, node_id: str) -> SectionLink | DeadLink:
    """Resolve a link such as `[[Name#Part]]`: to any file of the library, or a heading of this document."""
    name, _, part = href.strip("[]").partition("#")
    name = name.strip()
    part = part.rpartition("#")[2].strip()
    wanted = name.casefold()
    for path, row_id in library.root.ids_by_path.items() if name else ():
        whole = path.casefold()
        stem = posixpath.splitext(whole)[0]
        if wanted in (whole, stem, posixpath.basename(whole), posixpath.basename(stem)):
            return _enter_document(library, row_id, part)
    place = find_fragment(library, library.node(node_id).document, part or name)
    return place or DeadLink(f'No file or heading "{name or part}" here.')


def _resolve_footnote(mark: str, library: Library, node_id: str) -> SectionLink | DeadLink:
    """Resolve the mark `[^1]` to its footnote, and `[^1]:`, which starts the footnote, to the first mark."""
    document = library.node(node_id).document
    name = mark.removesuffix(":")
    wanted = (f"{name}:" if name == mark else name).casefold()
    for row, (start, end) in enumerate(pairwise(document.columns.starts)):
        own_text = document.text[start:end]
        for unit in read_units(own_text).units if name.casefold() in own_text.casefold() else ():
            for words in chain.from_iterable(unit.inlines):
                if words.link_number is not None and unit.links[words.link_number].href.casefold() == wanted:
                    first = start + words.start
                    span = Span(doc=document.key, start=first, end=first + len(name))
                    return SectionLink(document.ids[row], span)
    return DeadLink(f"Footnote {name} is not referenced." if name != mark else f"No footnote {name}.")
