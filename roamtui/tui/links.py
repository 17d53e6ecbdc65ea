"""Where a link in a document leads."""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import unquote, urljoin, urlsplit

from roamtui.document.node import NodeKind, Span
from roamtui.sources.web.address import resolve_link as parse_link
from roamtui.tui.reader.text_search import TextSearch

if TYPE_CHECKING:
    from roamtui.document.library import Library

_NOTE_INDENT_MAX = 3
_DROPPED = re.compile(r"[^\w\- ]")


@dataclass(frozen=True, slots=True)
class SectionLink:
    """Leads to a section of the library."""

    section_id: str
    span: Span | None = None
    """What in it the link means, None for its beginning."""


@dataclass(frozen=True, slots=True)
class WebLink:
    """Leads to a web page, which a person must agree to open."""

    url: str


@dataclass(frozen=True, slots=True)
class DeadLink:
    """Leads nowhere that can be opened."""

    reason: str
    """One sentence."""


LinkEnd = SectionLink | WebLink | DeadLink


def resolve_link(href: str, library: Library, section_id: str) -> LinkEnd:
    """Return where `href`, written in the section `section_id`, leads."""
    resolve = _resolve_note if href.startswith("[^") else _resolve_written
    return resolve(href, library, section_id)


def _resolve_written(href: str, library: Library, section_id: str) -> LinkEnd:
    try:
        parts = urlsplit(href.strip())
    except ValueError:
        return DeadLink("This link is not a valid address.")
    base = library.locate(section_id)[0].url
    is_whole = parts.scheme in ("http", "https") and bool(parts.netloc)
    if is_whole or (base and parts.path and not parts.scheme and not parts.netloc):
        return _resolve_address(urljoin(base or "", href.strip()), parts.fragment, library)
    if parts.scheme or parts.netloc:
        return DeadLink(f'Links with "{parts.scheme or "//"}" are not opened, only http and https.')
    if parts.path:
        return _resolve_path(unquote(parts.path), unquote(parts.fragment), library, section_id)
    target = find_anchor(library, section_id, unquote(parts.fragment))
    if target is None:
        return DeadLink(f'No heading here has the anchor "#{unquote(parts.fragment)}".')
    return SectionLink(target)


def _resolve_note(mark: str, library: Library, section_id: str) -> LinkEnd:
    """Return where the note of a mark such as `[^1]` stands, or for a note's own mark, `[^1]:`, where it is used."""
    document, _ = library.locate(section_id)
    name = mark.removesuffix(":")
    text = document.text
    for start in TextSearch(text, 0, len(text)).find(name):
        end = start + len(name)
        line = text[max(0, start - _NOTE_INDENT_MAX - 1) : start].replace("\r", "\n").rpartition("\n")
        is_note = text[end : end + 1] == ":" and not line[2].strip() and (bool(line[1]) or start <= _NOTE_INDENT_MAX)
        found = library.section_at(document.key, start) if is_note != mark.endswith(":") else None
        if found is not None:
            return SectionLink(found, Span(doc=document.key, start=start, end=end))
    return DeadLink(f"Nothing here uses the footnote {name}." if name != mark else f"There is no footnote {name} here.")


def _resolve_address(url: str, fragment: str, library: Library) -> LinkEnd:
    """Return the node that stands for a page, where one of the links in the library leads there too."""
    page_id = find_page(library, url)
    if page_id is None:
        return WebLink(url)
    page = library.file(page_id)
    found = find_anchor(library, page.ids[0], unquote(fragment)) if fragment and page is not None and page.ids else None
    return SectionLink(found or page_id)


def find_page(library: Library, url: str) -> str | None:
    """Return the first link of the library that leads to an address, None where none does."""
    wanted = parse_link("", url)
    for document in library.documents if wanted is not None else ():
        columns = document.columns
        if NodeKind.LINK in columns.kinds and wanted in columns.urls:
            row = columns.urls.index(wanted)
            if columns.kinds[row] is NodeKind.LINK:
                return library.find_host(document.ids[row])
    return None


def _resolve_path(path: str, fragment: str, library: Library, section_id: str) -> LinkEnd:
    file_id = find_file(library, section_id, path)
    if file_id is None:
        return DeadLink(f'This link leads to another file, "{path}", which is not open here.')
    file = library.file(file_id)
    found = find_anchor(library, file.ids[0], fragment) if fragment and file is not None and file.ids else None
    return SectionLink(found or file_id)


def find_file(library: Library, section_id: str, path: str) -> str | None:
    """Return the file of a folder that a relative path in a section names, also where it leaves out the ending."""
    if not library.root.columns.has_files:
        return None
    node = library.node(section_id)
    folder = node.doc if node.kind is NodeKind.FOLDER else posixpath.dirname(node.doc)
    name = posixpath.normpath(posixpath.join("/", folder, path)).lstrip("/")
    ids = {"/".join(one): node_id for one, node_id in zip(library.root.columns.paths(), library.root.ids, strict=True)}
    stem = name.removesuffix(".html")
    candidates = (f"{name}/README.md", f"{name}/index.md", name, f"{stem}.md", f"{stem}.mdx")
    return next((ids[candidate] for candidate in candidates if candidate in ids), None)


def find_anchor(library: Library, section_id: str, fragment: str) -> str | None:
    """Return the section of the same document whose heading has this anchor, as GitHub makes them."""
    document, _ = library.locate(section_id)
    counts: dict[str, int] = {}
    for title, node_id in zip(document.columns.titles, document.ids, strict=True):
        slug = make_slug(title)
        count = counts.get(slug, 0)
        counts[slug] = count + 1
        if fragment.lower() == (f"{slug}-{count}" if count else slug):
            return node_id
    return None


def make_slug(title: str) -> str:
    """Return the anchor of a heading: small letters, no punctuation, hyphens for spaces."""
    return _DROPPED.sub("", title.lower()).strip().replace(" ", "-")
