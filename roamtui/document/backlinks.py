"""Finds the sections whose links lead to a section."""

from __future__ import annotations

import posixpath
import re
from urllib.parse import unquote

from roamtui.document.document import make_anchor
from roamtui.document.library import Library
from roamtui.document.link_targets import SectionLink, resolve_link

_LINK = re.compile(
    r"\]\([ \t]*<?(?P<href>[^()\s<>]+)|\[\[(?P<wiki>[^\[\]\n]+)\]\]"
    r"|^ {0,3}\[[^\]\n]+\]:[ \t]*<?(?P<defined>[^\s<>]+)|\bhref=[\"'](?P<html>[^\"'\s]+)",
    re.MULTILINE,
)
_INDEX_NAMES = frozenset({"readme", "index"})


def list_backlinks(library: Library, section_id: str) -> list[str]:
    """List the sections with a link to a section, in the order of the documents, without the section itself."""
    target = library.get_content_span(section_id)
    document, row = library.locate(section_id)
    anchors = {anchor for anchor, other in document.anchors.items() if other == row}
    names = {_get_name(library.title_of(section_id)), _get_name(target.doc)}
    if _get_name(target.doc) in _INDEX_NAMES:
        names.add(_get_name(posixpath.dirname(target.doc)))
    found: dict[str, None] = {}
    for source in library.documents:
        is_same = source.key == target.doc
        resolved: dict[tuple[str, str], bool] = {}
        for match in _LINK.finditer(source.text[:]):
            href = match["href"] or match["defined"] or match["html"] or match["wiki"]
            path, _, fragment = href.partition("|")[0].partition("#")
            # Resolving takes long in a large library, so links to other names are skipped.
            name, anchor = _get_name(unquote(path)), unquote(fragment).lower()
            if not (name in names if path else is_same) or (not path and anchor not in anchors and not match["wiki"]):
                continue
            origin_id = library.section_at(source.key, match.start())
            if origin_id is None or origin_id == section_id:
                continue
            if match["wiki"]:
                is_link = (make_anchor(fragment) in anchors) if fragment else row == 0 or make_anchor(path) in anchors
            else:
                key = (href, library.node(origin_id).doc)
                if key not in resolved:
                    link = resolve_link(href, library, origin_id)
                    span = library.get_content_span(link.section_id) if isinstance(link, SectionLink) else None
                    resolved[key] = span is not None and (span.doc, span.start) == (target.doc, target.start)
                is_link = resolved[key]
            if is_link:
                found[origin_id] = None
    return list(found)


def _get_name(path: str) -> str:
    """Return the last part of a path without its ending, in lower case."""
    return posixpath.splitext(posixpath.basename(path.rstrip("/")))[0].strip().casefold()
