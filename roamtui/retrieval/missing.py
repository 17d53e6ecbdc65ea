"""Find the names and numbers of a query that stand nowhere in a library."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain

from roamtui.document.library import Library
from roamtui.search.lexicon import Language

_SCANNED_LENGTH_MAX = 20_000_000
"""Maximum length of a library in which missing names are looked for, in characters. More would take too long."""
_PIECE_LENGTH = 200_000
_NAME = re.compile(r"(?P<inside>(?<=[\w,;:)] )(?=[A-Z]))?(?P<word>[^\W_]+(?:[-_.]?[^\W_]+)*)")
"""A word, number or identifier. The group `inside` matches before a capital letter inside a sentence."""
_CAMEL_CASE = re.compile("[a-z][A-Z]")
_NAME_PARTS = re.compile(r"\d{2,}|(?<=-)[a-z]{3,}\b")
"""A part of a name that is enough to find it: 2022 of FY2022, or a lower-case word after a hyphen."""
_PERIOD = re.compile(r"[QH]\d|\d[QH]")
"""A part of a year, which texts name in many ways."""
_ENDING = re.compile(r"(?:e?s|est|ed|er|ing|ly)\Z")


def list_missing_names(query: str, language: Language, library: Library) -> list[str]:
    """Return the names, numbers and identifiers of a query that no text of the library contains.

    Case, hyphens and the endings of words are ignored. The list is empty if the library is not fully loaded or too
    long to scan. It scans the whole library, so call it in a thread.
    """
    texts = [document.text for document in library.documents]
    if library.unloaded_files or sum(map(len, texts)) > _SCANNED_LENGTH_MAX:
        return []
    is_english = language is Language.ENGLISH  # German nouns have capitals too
    words = dict.fromkeys(
        match["word"]
        for match in _NAME.finditer(query)
        if not _PERIOD.fullmatch(match["word"])
        and (
            not match["word"].isalpha()
            or _CAMEL_CASE.search(match["word"])
            or (is_english and match["inside"] is not None)
        )
    )
    missing = {word: (_ENDING.sub("", _fold(word)), *_NAME_PARTS.findall(word)) for word in words}
    for piece in chain.from_iterable(map(_iter_pieces, texts)):
        if not missing:
            break
        folded = _fold(piece)
        missing = {word: parts for word, parts in missing.items() if not any(part in folded for part in parts)}
    return [*missing]


def _iter_pieces(text: str) -> Iterator[str]:
    """Yield a text in pieces that end with a line. No other thread could run while a long text is folded."""
    start = 0
    while start < len(text):
        end = text.find("\n", start + _PIECE_LENGTH) + 1 or len(text)
        yield text[start:end]
        start = end


def _fold(text: str) -> str:
    return text.casefold().replace("-", "")
