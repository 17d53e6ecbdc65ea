"""Find a phrase in the text of a library, and words in its titles, exactly as a person typed them."""

import asyncio
import re
from bisect import bisect_right
from collections.abc import Sequence
from itertools import islice

from roamtui.document.library import Library
from roamtui.text import Span

MATCHES_MAX = 1_000
"""Maximum number of matches of a phrase. Nobody steps through more."""
_WINDOW_LENGTH = 1 << 18
"""Number of characters to search before other tasks have their turn: a millisecond of work."""
_GAP_LENGTH_MAX = 16
"""Maximum number of characters between two words of a phrase: a line end and the margin of a quote."""
_MARKS = "*_`"
"""Marks of emphasis and code, which a person does not see."""


class TitleList:
    """The titles of a library, the shortest first."""

    def __init__(self, library: Library) -> None:
        self.library = library
        runs = library.iter_runs()
        texts = [title for document, first, end in runs for title in document.columns.titles[first:end]]
        self._titles = sorted(enumerate(map(str.casefold, texts)), key=lambda title: len(title[1]))
        """The number of each section, with its title in lower case."""

    def find(self, phrase: str, limit: int) -> tuple[Sequence[str], int]:
        """Return the ids of at most `limit` sections whose titles have every word, and how many have them.

        Titles that start with the phrase come first, then short ones. A section precedes its subsections.
        """
        words = phrase.casefold().split()
        titles = self._titles
        for word in sorted(words, key=len, reverse=True):
            titles = [title for title in titles if word in title[1]]
        starting = (title for title in titles if title[1].startswith(" ".join(words)))
        best = dict.fromkeys([*islice(starting, limit), *titles[:limit]])
        found: dict[str, None] = {}
        for number, _ in best if words else ():
            section_id = self.library.numbering.id_of(number)
            for family_id in (*self.library.node(section_id).ancestors, section_id):
                title = self.library.node(family_id).title.casefold()
                if all(word in title for word in words):
                    found[family_id] = None
        return [*islice(found, limit)], len(titles)


async def find_phrase(library: Library, phrase: str) -> tuple[Span, ...]:
    """Find a phrase, ignoring case, line ends, and marks that a person does not see. No matches overlap."""
    phrase = phrase.replace("İ", "i").lower()
    shown = _drop_marks(phrase)
    phrase = shown or phrase
    if not phrase.strip():
        return ()
    spans = list[Span]()
    pattern = re.compile(_make_pattern(phrase))
    length_max = sum(_GAP_LENGTH_MAX if character.isspace() else 1 for character in " ".join(phrase.split()))
    # A run is a part of a document. Each document has one run that starts at row 0.
    for document in [document for document, row, _ in library.iter_runs() if row == 0]:
        start = 0
        while start < len(document.text) and len(spans) < MATCHES_MAX:
            # The window has room for the longest match and as many marks beyond its end, so that a match may
            # end there. Lower case is found in a fifth of the time. Without İ, it does not change lengths.
            end = start + _WINDOW_LENGTH
            window = document.text[start : end + 2 * length_max].replace("İ", "i").lower()
            seen = _drop_marks(window) if shown else window
            matches = [*islice(pattern.finditer(seen), MATCHES_MAX - len(spans))]
            marks = re.finditer(f"[{_MARKS}]", window) if matches and shown else ()
            before = [mark.start() - index for index, mark in enumerate(marks)]
            for match in matches:
                first = start + match.start() + bisect_right(before, match.start())
                last = start + match.end() - 1 + bisect_right(before, match.end() - 1)
                spans.append(Span(doc=document.key, start=first, end=last + 1))
                end = max(end, spans[-1].end)
            start = end
            await asyncio.sleep(0)
    return tuple(spans)


def _drop_marks(text: str) -> str:
    for mark in _MARKS:
        text = text.replace(mark, "")
    return text


def match_ranges(text: str, words: Sequence[str]) -> list[tuple[int, int]]:
    """Return the bounds of words or phrases in a text, in order, ignoring case and line ends."""
    patterns = map(_make_pattern, filter(str.strip, words))
    return sorted(match.span() for pattern in patterns for match in re.finditer(pattern, text, re.IGNORECASE))


def _make_pattern(phrase: str) -> str:
    """Return a pattern for the words of a phrase. Between them, a line of a list or quote may end."""
    gap = rf"\s[\s>]{{,{_GAP_LENGTH_MAX - 1}}}"
    return gap.join(map(re.escape, phrase.split()))
