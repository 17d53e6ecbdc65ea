"""Parse the text of a source into a `Document`."""

import re
from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise
from urllib.parse import urlsplit

from msgspec.structs import replace

from roamtui.document.clauses import add_clauses
from roamtui.document.document import Document, NodeKind, NodeRow, make_columns
from roamtui.document.headings import restore_starts, scan_headings
from roamtui.markdown.inline import extract_words
from roamtui.sanitiser import sanitise_line
from roamtui.sources.read import SourceText
from roamtui.text import compute_body_start, measure_front_matter, normalise_line_ends, shorten

GROUP_LENGTH = 800
"""Approximate length of a group of paragraphs, in characters. Without headings, each group is a section."""
PIECE_LENGTH = 200
"""Approximate length of a piece, in characters. The first piece of a group is its own text, the others are
its children. A piece ends at a line end."""
_GROUP_TITLE_LENGTH = 60
_TITLE_SOURCE_LENGTH = 1_000
"""Number of characters at the start of a piece that are searched for its title."""
_FRONT_TITLE = re.compile(
    r"""^title:[ \t]*(?:[>|].*\n((?:[ \t]+\S.*\n)+)|"((?:[^"\\\n]|\\.)+)"|'((?:[^'\n]|'')+)'"""
    r"|([^\s>|#](?:[^#\n]|(?<=\S)#)*))",
    re.MULTILINE,
)
"""A title in YAML: indented lines below it, a text in quotes, or one that a comment ends."""
_YAML_ESCAPE = re.compile(r"\\(?:x([\da-fA-F]{2})|u((?![dD][89a-fA-F])[\da-fA-F]{4})|([nrt\W]))", re.ASCII)
"""A character in double quotes that is written as its number, or after a backslash."""
_SITE_FILE = re.compile(r"(?:[\w.-]+[-_.])?llms[\w.-]*\.(?:txt|mdx?)")
"""The name, in lower case, of a file that a site writes for models."""
_LINE = re.compile(r"[^\r\n]*(?:\r\n?|\n|\Z)")
_LOG_INDENT = "    "
_LINE_START = r"(?:^|(?<=\r))"
_FILLED_LINE = re.compile(rf"{_LINE_START}(?=[^\S\r\n]*\S)", re.MULTILINE)
_LINE_INDENT = re.compile(rf"{_LINE_START}{_LOG_INDENT}", re.MULTILINE)
_UNINDENTED_LINE = re.compile(rf"{_LINE_START}(?!{_LOG_INDENT})(?=[^\S\r\n]*\S)", re.MULTILINE)
_PRODUCT = re.compile(r"(?<=\d)\*+(?=\d)")
_WRAPPED_WIDTH_MIN = 50
"""Minimum width of wrapped prose. Shorter lines end where a person ended them."""
_WRAPPED_SHARE = 0.8
"""Minimum share of the lines of wrapped prose, without the last, that have no room for the next word."""
_NON_SPACE = re.compile(r"\S")
_LEADING_MARKS = re.compile(r"^(?:[\s>*|=_~`]|[+-](?!\d))+")
_TOO_DEEP = "Some lists or quotes are nested very deeply. Below about 50 levels, they are read as plain text."


def parse_document(
    text: str,
    *,
    key: str = "",
    name: str = "",
    url: str | None = None,
    notes: tuple[str, ...] = (),
    is_markdown: bool = True,
) -> Document:
    """Parse `text`, decoded and without byte order mark, into a document.

    The own texts of the nodes, one after the other, are exactly `text`. The title is the only H1. If there is
    none, or several, it comes from the front matter, or else is `name`. If `is_markdown` is false, ``#``
    starts no heading. Clauses whose numbers follow each other become sections.
    """
    normalised = normalise_line_ends(text)
    front_length = measure_front_matter(normalised) if is_markdown else 0
    rows, is_too_deep = scan_headings(normalised, front_length) if is_markdown else ([], False)
    rows = add_clauses(normalised, front_length, rows)
    sole_titles = [row.title.removesuffix(row.anchor) for row in rows if row.level == 1]
    if rows:
        rows = rows if text is normalised else restore_starts(text, normalised, rows)
        start = rows[0].start
    else:
        start = compute_body_start(text) if is_markdown else 0
        rows = group_paragraphs(text, start, is_markdown=is_markdown)
    if start:
        rows.insert(0, NodeRow(NodeKind.PREAMBLE, 0, "", 0))
    if is_too_deep:
        notes = (*notes, _TOO_DEEP)
    title = sole_titles[0] if len(sole_titles) == 1 else ""
    if front_title := _FRONT_TITLE.search(normalised, 0, front_length):
        indented, double_quoted, single_quoted, plain = front_title.groups("")
        quoted = _YAML_ESCAPE.sub(_read_escape, double_quoted) or single_quoted.replace("''", "'")
        title = title or " ".join((indented or quoted or plain).split())
    columns = make_columns(rows, len(text))
    return Document(key=key, title=title or name, text=text, columns=columns, url=url, notes=notes)


def _read_escape(escape: re.Match[str]) -> str:
    if sign := escape[3]:
        return " " if sign in "nrt" else sign
    return chr(int(escape[escape.lastindex or 0], 16))


def parse_source_text(
    source: SourceText, *, key: str = "", url: str | None = None, has_links: bool = True
) -> Document:
    """Parse the text of a source: an ordinary document, a list of links, or many pages in one file.

    `url` is the URL of a web page, against which its relative links are resolved. If `has_links` is false,
    the links of a list do not become nodes. The lines of a log are indented, which makes them code: each
    stays a line, without markup.
    """
    text = source.text if source.is_markdown else _FILLED_LINE.sub(_LOG_INDENT, source.text)
    # a site may redirect its list to another name
    places = (source.source, url) if url else ()
    paths = (source.name, *(urlsplit(place).path for place in places))
    names = [path.rpartition("/")[2].lower() for path in paths]
    is_site_file = any(map(_SITE_FILE.fullmatch, names)) and not source.is_converted
    if names[-1].endswith((".txt", ".text")) and not (source.is_converted or is_site_file):
        text = _keep_short_lines(_keep_products(text))
    named = source.source if url else key or source.name
    notes = tuple(f"{named}: {note}" for note in filter(None, (source.conversion_note, *source.notes)))
    document = parse_document(
        text, key=key, name=source.title or source.name, url=url, notes=notes, is_markdown=source.is_markdown
    )
    # The title in a PDF names the whole file, but its only H1 may name a chapter.
    title = (source.title if source.page_starts else "") or document.title
    document = replace(
        document,
        title=title,
        left_out=source.left_out,
        page_starts=source.page_starts,
        page_labels=source.page_labels,
        has_page_titles=source.has_page_titles,
    )
    if not (source.is_markdown and has_links and is_site_file):
        return document
    from roamtui.document.llms_txt import add_llms_txt_links  # noqa: PLC0415 - rarely needed

    return add_llms_txt_links(document, " ".join(names))


def strip_log_indent(text: str) -> str:
    """Remove the indent that `parse_source_text` gives to the lines of a log, if all lines have one."""
    return text if _UNINDENTED_LINE.search(text) else _LINE_INDENT.sub("", text)


def _keep_products(text: str) -> str:
    """Escape stars between digits, as in `5*3*2`, so that no number changes. Leave code alone."""
    if "```" in text or not _PRODUCT.search(text):
        return text
    return "".join(
        line
        if "`" in line or line.startswith((_LOG_INDENT, "\t"))
        else _PRODUCT.sub(lambda stars: r"\*" * len(stars[0]), line)
        for line in _LINE.findall(text)
    )


def _keep_short_lines(text: str) -> str:
    """Add Markdown's line break to each line that a person ended. Leave wrapped prose and lists alone."""
    kept: list[str] = []
    for is_blank, paragraph in groupby(_LINE.findall(text), key=lambda line: not line.strip()):
        rows = [*paragraph]
        is_kept = is_blank or _is_wrapped(rows)
        for row, after in pairwise(rows):
            end = len(row.rstrip())
            is_list = any(_LEADING_MARKS.match(line.lstrip()) for line in (row, after))
            kept.append(row if is_kept or is_list else f"{row[:end]}  {row[end:].lstrip(' ')}")
        kept.append(rows[-1])
    return "".join(kept)


def _is_wrapped(rows: Sequence[str]) -> bool:
    width = max(_WRAPPED_WIDTH_MIN, *(len(row.rstrip()) for row in rows))
    pairs = [*pairwise(rows)]
    full = sum(len(row.rstrip() + after.strip().partition(" ")[0]) >= width for row, after in pairs)
    return full >= _WRAPPED_SHARE * len(pairs)


def group_paragraphs(text: str, start: int, *, is_markdown: bool = True) -> list[NodeRow]:
    """Make rows that cover `text[start:]` without a gap: groups at level 1, their later pieces at level 2."""
    rows: list[NodeRow] = []
    group_start = start
    for piece_start, piece_end in _split_pieces(text, start):
        starts_group = not rows or piece_start - group_start >= GROUP_LENGTH - PIECE_LENGTH // 2
        if starts_group:
            group_start = piece_start
        opening = text[piece_start : min(piece_end, piece_start + _TITLE_SOURCE_LENGTH)]
        words = extract_words(opening) if is_markdown else _LEADING_MARKS.sub("", sanitise_line(opening))
        title = shorten(words, _GROUP_TITLE_LENGTH)
        rows.append(NodeRow(NodeKind.TEXT, 1 if starts_group else 2, title, piece_start))
    return rows


def _split_pieces(text: str, start: int) -> Iterator[tuple[int, int]]:
    """Yield ranges of whole lines. A range ends at a blank line if one comes in time."""
    piece_start = position = start
    while position < len(text):
        match = _LINE.match(text, position)
        line_end = match.end() if match else len(text)
        is_blank = _NON_SPACE.search(text, position, line_end) is None
        position = line_end
        length = position - piece_start
        if position < len(text) and (
            (is_blank and length >= PIECE_LENGTH and _NON_SPACE.search(text, piece_start, position))
            or length >= 2 * PIECE_LENGTH
        ):
            yield piece_start, position
            piece_start = position
    if piece_start < len(text):
        yield piece_start, len(text)
