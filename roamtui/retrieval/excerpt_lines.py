"""Write excerpts as lines, with what they leave out: ``[… (g) Sublicenses; (h) Term; 240 tokens]``."""

import re
from collections import Counter
from collections.abc import Sequence

from roamtui.document.library import Library
from roamtui.markdown.units import UnitKind, read_units
from roamtui.outline.expansion import insert_marks, list_id_marks
from roamtui.outline.missing_text import has_text
from roamtui.sanitiser import sanitise_line
from roamtui.text import Span, estimate_tokens, format_count

_GAP = "[…]"
_NAMED_TOKENS_MIN = 60
"""Minimum size of a gap whose parts are named. In a smaller gap, names would cost as much as the text."""
_NAMED_MAX = 4
"""Maximum number of paragraphs and list items that are named."""
_NAME = re.compile(
    r"\W*(?:[\w.]{1,6}[.)]\s+)?\w(?:.{0,32}?(?=[.:;,]\s|\s*\Z)|.{0,32}(?=\s)|.{0,32})", re.DOTALL
)
"""The number and first words of a paragraph, up to a mark or the end of a word."""
_COUNTED = {UnitKind.ROW: ("row", "rows"), UnitKind.CODE: ("line of code", "lines of code")}
_LINE_START = re.compile(r"(?:\A|\n)[^\w\n]*\Z")
_LINE_END = re.compile(r"[^\w\n]*(?:\n|\Z)")
_INDENT = " "
"""A single space costs no token: it belongs to the word after it."""


def render_excerpt(library: Library, section_id: str, spans: Sequence[Span]) -> tuple[list[str], list[Span]]:
    """Return the lines of an excerpt, and the document's words in the marks for what is left out.

    The lines are indented, so that they cannot be mistaken for lines of the list of sections.
    """
    if not spans:
        return [], []
    named: list[Span] = []
    own = library.node(section_id).own_content_span
    text = ""
    position = min(own.start, spans[0].start)
    end = max(own.end, spans[-1].end)
    after = Span(doc=own.doc, start=end, end=end)
    for span, header in zip((*spans, after), (*library.list_headers(spans), ""), strict=True):
        gap = Span(doc=own.doc, start=position, end=span.start)
        if has_text(library, gap):
            left_out = library.clean_text(gap)
            # an omission inside a line is marked in that line
            before = "\n" if _LINE_END.match(left_out) else " "
            is_mid_line = not _LINE_START.search(left_out) and (
                not text or before == "\n" or "\n" not in left_out
            )
            separator = " " if is_mid_line else "\n"
            mark, words = make_gap_mark(library, gap)
            named += words
            text += f"{before if text else ''}{mark}{separator}"
        elif text:
            text += "\n"
        text += header + insert_marks(library.clean_text(span), list_id_marks(library, span))
        position = span.end
    quoted = []
    for line in filter(str.strip, text.splitlines()):
        indent = line[: len(line) - len(line.lstrip())]  # indentation matters in code
        quoted.append(_INDENT + indent + sanitise_line(line))
    return quoted, named


def make_gap_mark(library: Library, gap: Span) -> tuple[str, tuple[Span, ...]]:
    """Return the mark for what an excerpt leaves out, and the words in this mark, which can be quoted."""
    text = library.clean_text(gap)
    tokens = estimate_tokens(text)
    if tokens < _NAMED_TOKENS_MIN:
        return _GAP, ()
    units = read_units(text).units
    parts = [unit for unit in units if unit.kind.has_sentences]
    if parts and text[parts[0].start].islower():  # it begins before the gap
        del parts[0]
    words: list[Span] = []
    for part in parts[:_NAMED_MAX]:
        name = _NAME.match(text, part.start, part.end)
        words.append(gap.get_part(part.start, part.end if name is None else name.end()))
    names = [sanitise_line(library.text_at(span)) for span in words]
    names += [f"+{len(parts) - _NAMED_MAX}"] if len(parts) > _NAMED_MAX else []
    counts = Counter(unit.kind for unit in units)
    names += [format_count(counts[kind], *nouns) for kind, nouns in _COUNTED.items() if counts[kind]]
    return f"[… {'; '.join([*names, f'{tokens:,} tokens'])}]", tuple(words)
