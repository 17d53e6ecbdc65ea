"""Words that were torn or lost a letter on the way into a PDF, mended where the file's own words show how."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from roamtui.sources.convert.pdf.rows import Row

HYPHEN = "\x02"
"""What pdfium gives for a hyphen at the end of a line."""
_WORD = re.compile(r"[^\W\d_]{2,}")
_RARE_MAX = 3
"""How often a piece of a torn word stands alone at most; words do so more often."""
_SINGLE_F = re.compile(r"(?<!f)f(?!f)")


class Mender:
    """Mends rows by the words of all of them."""

    def __init__(self, pages: Sequence[Sequence[Row]]) -> None:
        self._counts: Counter[str] = Counter()
        for rows in pages:
            for row in rows:
                self._counts.update(row.text.lower().split())
        self._lost = dict(self._find_lost())

    def mend(self, rows: Sequence[Row]) -> None:
        """Mend the words inside rows."""
        for row in rows:
            is_changed = False
            for cell in row.cells:
                words = cell.text.split(" ")
                mended = self._join(self._restore(words))
                if len(mended) < len(words) or mended != words:
                    cell.text = " ".join(mended)
                    is_changed = True
            if is_changed:
                row.refresh()

    def join(self, start: str, end: str) -> str:
        """Return a word that was divided at the end of a line; its hyphen stays where other lines have it."""
        first, last = _trim(start.rpartition(" ")[2]), _trim(end.partition(" ")[0])
        whole, hyphened = f"{first}{last}", f"{first}-{last}"
        keeps = self._counts[hyphened] > self._counts[whole] or not end[:1].islower()
        return f"{start}-{end}" if keeps else start + end

    def _restore(self, words: list[str]) -> list[str]:
        if not self._lost:
            return words
        return [self._lost[word.lower()] if word.lower() in self._lost and word.islower() else word for word in words]

    def _join(self, words: list[str]) -> list[str]:
        """Return words of which those pairs are one that are a word elsewhere, and of which one never stands alone."""
        counts = self._counts
        if len(words) < 2 or all(counts[word.lower()] > _RARE_MAX or not word.isalpha() for word in words):
            return words
        joined = words[:1]
        for word in words[1:]:
            before = joined[-1]
            whole = counts[(before + word).lower()]
            is_torn = (
                before.isalpha()
                and word.isalpha()
                and whole > _RARE_MAX * min(counts[before.lower()], counts[word.lower()])
                and min(counts[before.lower()], counts[word.lower()]) <= _RARE_MAX
                and (before.isupper() == word.isupper() or word.islower())
            )
            if is_torn:
                joined[-1] = before + word
            else:
                joined.append(word)
        return joined

    def _find_lost(self) -> Iterator[tuple[str, str]]:
        """Yield words that lost one of two f, with what the file has more often."""
        for word, count in self._counts.items():
            match = _SINGLE_F.search(word) if len(word) > 3 else None
            if match is not None:
                whole = f"{word[: match.start()]}f{word[match.start() :]}"
                if self._counts[whole] > count:
                    yield word, whole


def _trim(word: str) -> str:
    return word.strip(".,;:()[]\"'“”‘’").lower()
