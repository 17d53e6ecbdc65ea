"""Resolve links in documents to a section of the library, a web page, or nothing. Find the links to a section."""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass
from urllib.parse import unquote, urljoin, urlsplit

from roamtui.document.document import make_anchor
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


_LINK = re.compile(
    r"\]\([ \t]*<?(?P<href>[^()\s<>]+)|\[\[(?P<wiki>[^\[\]\n]+)\]\]"
    r"|^ {0,3}\[[^\]\n]+\]:[ \t]*<?(?P<defined>[^\s<>]+)|\bhref=[\"'](?P<html>[^\"'\s]+)",
    re.MULTILINE,
)


def list_backlinks(library: Library, section_id: str) -> list[str]:
    """List the other sections that link to a section, in the order of the documents."""
    target = library.get_content_span(section_id)
    document, row = library.locate(section_id)
    anchors = {anchor for anchor, other in document.anchors.items() if other == row}
    names = {_get_name(library.title_of(section_id)), _get_name(target.doc)}
    if _get_name(target.doc) in INDEX_NAMES:  # a link to the folder leads to it too
        names |= {_get_name(posixpath.dirname(target.doc)), "", ".", ".."}
    linking_ids: dict[str, None] = {}
    for source in library.documents:
        is_in_target = source.key == target.doc
        leads_to_target: dict[tuple[str, str], bool] = {}
        for match in _LINK.finditer(source.text[:]):
            href = match["href"] or match["defined"] or match["html"] or match["wiki"]
            path, _, fragment = href.partition("|")[0].partition("#")
            # Resolving takes long in a large library, so links to other names are skipped.
            name, anchor = _get_name(unquote(path)), unquote(fragment).lower()
            may_match = name in names if path else is_in_target and (anchor in anchors or bool(match["wiki"]))
            if not may_match:
                continue
            origin_id = library.section_at(source.key, match.start())
            if origin_id is None or origin_id == section_id:
                continue
            if match["wiki"]:  # names a heading, or else a whole file, whose first row is 0
                is_link = (make_anchor(fragment) in anchors) if fragment else row == 0 or make_anchor(path) in anchors
            else:
                key = (href, library.node(origin_id).doc)
                if key not in leads_to_target:
                    link = resolve_link(href, library, origin_id)
                    span = library.get_content_span(link.section_id) if isinstance(link, SectionLink) else None
                    leads_to_target[key] = span is not None and (span.doc, span.start) == (target.doc, target.start)
                is_link = leads_to_target[key]
            if is_link:
                linking_ids[origin_id] = None
    return list(linking_ids)


def _get_name(path: str) -> str:
    """Return the last part of a path without its ending, in lower case."""
    return posixpath.splitext(posixpath.basename(path.rstrip("/")))[0].strip().casefold()
