"""Divide files that have all pages of a site, such as llms-full.txt.

A boundary between pages is not read as Markdown. Each page is parsed as the separate file that it once was,
so front matter in the middle makes no heading, and a fence that a page leaves open ends with the page.
"""

import re
from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from roamtui.document.document import Document, NodeKind, NodeRow, build_columns
from roamtui.document.headings import parse_title, restore_starts, scan_headings
from roamtui.text import measure_front_matter
from roamtui.web.urls import resolve_href

_PAGES_MIN = 3
"""Minimum number of boundaries. Fewer may be examples or ordinary text."""
_CODE = re.compile(
    r"^ {0,3}(?P<fence>`{3,}+|~{3,}+)[^`\n]*\n(?:(?! {0,3}(?:```|~~~))[^\n]*\n)*"
    r" {0,3}(?P=fence)[`~]*+[ \t]*+$",
    re.MULTILINE,
)
"""A block of code. One that a page leaves open ends with the page, so it is not taken for code here."""
# Spaces and closing marks around a title are stripped later: a pattern that did so would backtrack for hours.
_TITLE_LINE = r"#{1,6}[ \t](?P<title>[^\n]+)\n"
_URL_LINE = (
    r"(?:>[ \t]*)?\**(?:Source|URL|Url|source|url)(?: URL)?:\**[ \t]*"
    r"<?(?P<url>(?:https?://|/)[^\s<>]*)>?[ \t]*\n"
)
_RULE_LINE = r"-{3,}[ \t]*\n"
_YAML_LINE = re.compile(
    r"^(title|url|source|source_url|canonical_url|permalink|slug)[ \t]*:[ \t]*((?:\S.*)?)$", re.MULTILINE
)
_URL_NAMES = ("url", "source_url", "canonical_url", "source", "permalink", "slug")
_NO_LINE_END = re.compile(r"[^\n]")
_KEY_LINE = r"[A-Za-z_][\w.-]*[ \t]*:(?:[ \t][^\n]*)?\n"
_FRONT_MATTER = re.compile(
    r"^---[ \t]*\n"
    rf"(?P<yaml>{_KEY_LINE}(?:{_KEY_LINE}|[ \t]+\S[^\n]*\n|- [^\n]*\n|\#[^\n]*\n)*?)"
    r"(?:---|\.\.\.)[ \t]*\n",
    re.MULTILINE,
)
_BOUNDARIES = (
    re.compile(
        rf"^(?:{_RULE_LINE}\n?)?(?P<marks>{_TITLE_LINE})\n?{_URL_LINE}(?:{_RULE_LINE})?", re.MULTILINE
    ),
    re.compile(rf"^{_RULE_LINE}\n?{_URL_LINE}(?:\n?{_RULE_LINE})?", re.MULTILINE),
    re.compile(
        rf"^(?P<marks>{_TITLE_LINE})\n?\[Skip to (?:main )?content\]\((?P<url>[^)\s#]++)[^)\n]*\)[^\n]*\n",
        re.MULTILINE,
    ),
    _FRONT_MATTER,
)
"""Boundaries that programs write between pages: a title, a rule or both, with the URL, or front matter."""


class PageBoundary(Struct, frozen=True, kw_only=True):
    """The start of a page."""

    start: int
    body_start: int
    """Offset of the first character of the page's own Markdown."""
    level: int
    """Level of the title if it is written as a heading, else 0."""
    title: str
    """Markdown source; empty if the boundary has no title."""
    url: str
    """URL or path on the site; empty if the boundary has none."""


def detect_page_boundaries(text: str) -> list[PageBoundary]:
    """Find where the pages of a text start. Return an empty list if the text does not consist of pages."""
    outside_code = _CODE.sub(lambda block: _NO_LINE_END.sub(" ", block[0]), text)
    matches = (match for pattern in _BOUNDARIES for match in pattern.finditer(outside_code))
    boundaries = [boundary for boundary in map(_parse_boundary, matches) if boundary.title or boundary.url]
    separate: list[PageBoundary] = []
    # If boundaries overlap, the first one counts, or the longest one if they start together.
    for boundary in sorted(boundaries, key=lambda boundary: (boundary.start, -boundary.body_start)):
        if not separate or boundary.start >= separate[-1].body_start:
            separate.append(boundary)
    return separate if len(separate) >= _PAGES_MIN else []


def _parse_boundary(match: re.Match[str]) -> PageBoundary:
    groups = match.groupdict(default="")
    attributes = {
        name: value.rstrip().strip("\"'") for name, value in _YAML_LINE.findall(groups.get("yaml", ""))
    }
    marks = groups.get("marks", "")
    title = groups.get("title", "").strip(" \t").rstrip("#").rstrip(" \t")
    return PageBoundary(
        start=match.start(),
        body_start=match.end(),
        level=len(marks) - len(marks.lstrip("#")),
        title=title or attributes.get("title", ""),
        url=groups.get("url") or next((attributes[name] for name in _URL_NAMES if attributes.get(name)), ""),
    )


def split_into_pages(document: Document, normalised: str, boundaries: Sequence[PageBoundary]) -> Document:
    """Make a section for each page of a document, and rows for the text before the first page."""
    ends = [*(boundary.start for boundary in boundaries[1:]), len(normalised)]
    pages = [_read_page(normalised, boundary, end) for boundary, end in zip(boundaries, ends, strict=True)]
    levels = [page.level for page, _ in pages if page.level]
    level = max(sorted(set(levels)), key=levels.count, default=1)
    opening = normalised[: boundaries[0].start]
    rows, _ = scan_headings(opening, measure_front_matter(opening))
    title = next((row.title for row in rows if row.level == 1), "")
    if opening and not (rows and rows[0].start == 0):
        rows.insert(0, NodeRow(NodeKind.PREAMBLE, 0, "", 0))
    for page, headings in pages:
        url = resolve_href(document.url or "", page.url) or page.url
        rows.append(replace(page, level=level, url=url))
        deeper = max(0, level + 1 - min((heading.level for heading in headings), default=level))
        rows.extend(replace(heading, level=heading.level + deeper, url=url) for heading in headings)
    if len(normalised) != len(document.text):
        rows = restore_starts(document.text, normalised, rows)
    return replace(document, title=title or document.title, columns=build_columns(rows, len(document.text)))


def _read_page(normalised: str, boundary: PageBoundary, end: int) -> tuple[NodeRow, list[NodeRow]]:
    """Return the row of a page, and the rows of its other headings. Level 0 means a title without heading."""
    found, _ = scan_headings(normalised[boundary.body_start : end])
    headings = [replace(heading, start=heading.start + boundary.body_start) for heading in found]
    title = parse_title(boundary.title, {})
    level = boundary.level
    if headings and not normalised[boundary.body_start : headings[0].start].strip():
        first = headings[0]
        if not level or first.title.casefold() == title.casefold():
            level = level or first.level
            title = first.title
            headings = headings[1:]
    if not title:
        title = headings[0].title if headings else boundary.url.rstrip("/").rpartition("/")[2]
    return NodeRow(NodeKind.SECTION, level, title, boundary.start, boundary.url), headings
