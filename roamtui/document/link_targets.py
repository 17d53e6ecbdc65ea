"""Resolve links in documents to a section of the library, a web page, or nothing. Find the links to a section."""

from __future__ import annotations

import posixpath
from dataclasses import dataclass
from urllib.parse import unquote, urljoin, urlsplit

from roamtui.document.library import Library
from roamtui.document.node import NodeKind, Span
from roamtui.sources.web.urls import resolve_href

_INDEX_FILES = ("README.md", "index.md", "index.mdx")
INDEX_NAMES = frozenset({"readme", "index"})
"""Names of pages that stand for their folder, in lower case and without a suffix."""
_OPTIONAL_SUFFIXES = (".md", ".mdx", ".markdown", ".txt")
"""Suffixes that a link may leave out, or replace by `.html`."""


@dataclass(frozen=True, slots=True)
class SectionLink:
    """A link to a section of the library."""

    section_id: str
    span: Span | None = None
    """The text that it leads to, or None for the start of the section."""


@dataclass(frozen=True, slots=True)
class WebLink:
    """A link to a web page. It is opened only if the person agrees."""

    url: str


@dataclass(frozen=True, slots=True)
class DeadLink:
    """A link that cannot be opened."""

    reason: str
    """One sentence for the person."""


ResolvedLink = SectionLink | WebLink | DeadLink


def resolve_link(href: str, library: Library, section_id: str) -> ResolvedLink:
    """Resolve `href`, a link written in the section `section_id`."""
    try:
        parts = urlsplit(href.strip())
    except ValueError:
        return DeadLink("This link is not a valid address.")
    base = library.locate(section_id)[0].url
    is_absolute = parts.scheme in ("http", "https") and bool(parts.netloc)
    if is_absolute or (base and parts.path and not parts.scheme and not parts.netloc):
        url = urljoin(base or "", href.strip())
        page_id = _find_link_to_url(library, url)
        return WebLink(url) if page_id is None else _resolve_in_file(page_id, unquote(parts.fragment), library)
    if parts.scheme or parts.netloc:
        return DeadLink(f'Links with "{parts.scheme or "//"}" are not opened, only http and https.')
    fragment = unquote(parts.fragment)
    if parts.path:
        path = unquote(parts.path)
        file_id = _resolve_relative_path(library, section_id, path)
        if file_id is None:
            return DeadLink(f'This link leads to another file, "{path}", which is not open here.')
        return _resolve_in_file(file_id, fragment, library)
    target = find_anchored_section(library, section_id, fragment)
    return SectionLink(target) if target is not None else DeadLink(f'No heading with the anchor "#{fragment}".')


def _resolve_in_file(file_id: str, fragment: str, library: Library) -> SectionLink:
    """Return the link to the section with an anchor in a file or page, or to its start if there is no such section."""
    file = library.loaded_document(file_id) if fragment else None
    target = find_anchored_section(library, file.ids[0], fragment) if file is not None and file.ids else None
    return SectionLink(file_id if target is None else target)


def _find_link_to_url(library: Library, url: str) -> str | None:
    """Find the first link to a URL in the library, and return its id."""
    wanted = resolve_href("", url)
    for document in library.documents if wanted is not None else ():
        columns = document.columns
        if NodeKind.LINK in columns.kinds and wanted in columns.urls:
            row = columns.urls.index(wanted)
            if columns.kinds[row] is NodeKind.LINK:
                return library.get_canonical_link(document.ids[row])
    return None


def _resolve_relative_path(library: Library, section_id: str, path: str) -> str | None:
    """Find the file that a relative path in a section leads to, and return its id."""
    if not library.root.columns.has_files:
        return None
    node = library.node(section_id)
    folder = node.doc if node.kind is NodeKind.FOLDER else posixpath.dirname(node.doc)
    name = posixpath.normpath(posixpath.join("/", folder, path)).lstrip("/")
    paths = map("/".join, library.root.columns.paths())
    ids = dict(zip(paths, library.root.ids, strict=True))
    return next((ids[candidate] for candidate in list_candidate_paths(name) if candidate in ids), None)


def list_candidate_paths(path: str) -> list[str]:
    """List the files that the path in a link may lead to, best first: it may leave out an index page or a suffix."""
    stem = path.removesuffix(".html")
    return [
        *(posixpath.join(path, name) for name in _INDEX_FILES),
        path,
        *(stem + suffix for suffix in _OPTIONAL_SUFFIXES),
    ]


def find_anchored_section(library: Library, section_id: str, fragment: str) -> str | None:
    """Find the section of the same document whose heading has this anchor (in GitHub's style), and return its id."""
    document, _ = library.locate(section_id)
    row = document.anchors.get(fragment.lower())
    return None if row is None else document.ids[row]
