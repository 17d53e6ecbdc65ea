"""Mark what an excerpt leaves out, by its first words: ``[… (g) Sublicenses; (h) Term; 240 tokens]``."""

import re
from collections.abc import Iterator

from roamtui.document.library import Library
from roamtui.plain import sanitise_line
from roamtui.search.units import UnitKind, find_units
from roamtui.text import Bounds, Span, estimate_tokens

GAP = "[…]"
_NAMED_TOKENS_MIN = 60
"""Minimum size of a gap whose parts are named. Names would cost as much as a smaller one."""
_NAMED_MAX = 4
"""Maximum number of paragraphs and list items that are named."""
_NAME = re.compile(r"\W*\w.{0,32}?(?=[.:;,]\s|\s*\Z)|\W*\w.{0,32}(?=\s)|\W*\w.{0,32}", re.DOTALL)
"""The first words of a paragraph, up to a mark or the end of a word."""


def mark_gap(library: Library, gap: Span) -> tuple[str, tuple[Span, ...]]:
    """Return the mark for what an excerpt leaves out, and the words in this mark, which can be quoted."""
    text = library.clean_text(gap)
    tokens = estimate_tokens(text)
    if tokens < _NAMED_TOKENS_MIN:
        return GAP, ()
    parts = [*_list_parts(text)]
    words = [gap.get_part(*_cut_name(text, part)) for part in parts[:_NAMED_MAX]]
    names = [sanitise_line(library.text_at(span)) for span in words]
    names += [f"+{len(parts) - _NAMED_MAX}"] if len(parts) > _NAMED_MAX else []
    return f"[… {'; '.join([*names, f'{tokens:,} tokens'])}]", tuple(words)


def _list_parts(text: str) -> Iterator[Bounds]:
    """Yield the paragraphs and list items of a text, without one that begins before it."""
    for unit in find_units(text):
        if unit.kind in (UnitKind.PROSE, UnitKind.ITEM) and not text[unit.start].islower():
            yield unit.start, unit.end


def _cut_name(text: str, part: Bounds) -> Bounds:
    match = _NAME.match(text, *part)
    return (part[0], match.end() if match is not None else part[1])
