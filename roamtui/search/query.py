"""A query as typed into an FTS5 expression. Whatever is typed is data: only quoted strings made here reach FTS5."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise

from roamtui.search.terms import (
    TERMS_MAX,
    find_names,
    find_words,
    fold,
    is_unspaced,
    list_starts,
    normalise,
    query_terms,
    space_out,
    split_camel_case,
)
from roamtui.search.words import STOP_WORDS, Language, find_language, list_implied, list_words, make_pattern, stem

_PHRASE = re.compile(r'["“”„]([^"“”„]+)["“”„]')
_PREFIX = re.compile(r"(?<!\w)([^\W_]{2,})\*")
_CAMEL_WORD = re.compile(r"[^\W_]+")
_PHRASE_WORDS_MAX = 32
_GOING_ON = re.compile(make_pattern("going on"), re.IGNORECASE)
_POINTING_WORDS = frozenset(list_words("pointing"))
_LAST_WORD = re.compile(r"(?<![\w.-])[^\W\d_]{2,}\Z")
_CODES = {ord(sign): f"x{ord(sign):x}" for sign in "_.:-+#@$>"}
_CODE_END = "0"
"""Ends a coded identifier with a digit, so that no stemmer touches it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """What a person or a model looks for, ready for an index."""

    terms: tuple[str, ...]
    """As `query_terms` gives them."""
    words: tuple[str, ...]
    """Words of the terms that may stand in a title, those inside identifiers included."""
    groups: tuple[frozenset[str], ...]
    """The stem of each word; those of what it may have meant, where it was mistyped."""
    stems: frozenset[str]
    """All of these."""
    names: frozenset[str]
    """Names from code, as `find_names` gives them."""
    leans_back: bool
    """Whether it points to what was said before it."""
    unfinished: str
    """The word with which it ends, which may go on while it is typed; empty where it ends otherwise."""
    pieces: tuple[str, ...]
    """FTS5 expressions of which any hit satisfies one."""
    language: Language
    starts: tuple[str, ...]
    """FTS5 expressions for other forms of the words, where the language is not English."""
    neighbours: tuple[str, ...]
    """FTS5 expressions for words of the query that stand side by side."""
    implied: str
    """FTS5 expression for words that it asks for without saying them, as "how old" does; empty without."""
    phrases: str
    """FTS5 expression for what stands in double quotes, of more than one word; empty without."""

    @property
    def expression(self) -> str:
        """FTS5 expression that any hit satisfies; empty where the query holds no word."""
        return " OR ".join(self.pieces)


def parse_query(text: str) -> Query:
    """Return any text as a query."""
    text = normalise(text)
    terms = query_terms(text)
    pieces: dict[str, None] = {}
    words: dict[str, None] = {}
    for term in terms:
        if find_words(term) == [term]:
            words[term] = None
        else:
            pieces[make_piece(term)] = None
            _add_parts(find_words(term), pieces, words)
    for match in _CAMEL_WORD.finditer(text):
        _add_parts([fold(part) for part in split_camel_case(match.group())], pieces, words)
    by_stem = {stem(word): _quote(word) for word in words}
    alternatives = [*by_stem.values(), *pieces, *(f"{_quote(prefix)} *" for prefix in _PREFIX.findall(text))]
    language = find_language(find_words(text))
    phrases = [_quote(phrase) for phrase in _PHRASE.findall(text) if len(find_words(space_out(phrase))) > 1]
    return Query(
        terms=terms,
        words=tuple(words),
        groups=tuple(frozenset({stem(word)}) for word in words),
        stems=frozenset(by_stem),
        names=find_names(text),
        leans_back=leans_back(text),
        unfinished=words_at_end[0] if (words_at_end := find_words("".join(_LAST_WORD.findall(text)))) else "",
        pieces=tuple(alternatives[: 2 * TERMS_MAX]),
        language=language,
        starts=tuple(f"{_quote(start)} *" for start in list_starts(words, language))[:TERMS_MAX],
        neighbours=_list_neighbours(text, terms),
        implied=" OR ".join(_quote(word) for word in list_implied(text)),
        phrases=" AND ".join(phrases[:TERMS_MAX]),
    )


def complete_query(query: Query) -> Query:
    """Return a query that words are enough for which begin like its last one."""
    words = tuple(word for word in query.words if word != query.unfinished)
    return replace(query, words=words, pieces=(*query.pieces, make_start(query)))


def make_start(query: Query) -> str:
    """Return the FTS5 expression for words that begin like the last one of a query."""
    return f"{_quote(query.unfinished)} *"


def correct_query(query: Query, corrections: Mapping[str, Iterable[str]]) -> Query:
    """Return a query that other spellings satisfy too."""
    if not corrections:
        return query
    added = dict.fromkeys(found for similar in corrections.values() for found in similar)
    groups = tuple(
        frozenset(map(stem, corrections[word])) if word in corrections else group
        for word, group in zip(query.words, query.groups, strict=True)
    )
    return replace(
        query,
        terms=(*query.terms, *(word for word in added if word not in query.terms)),
        groups=groups,
        stems=frozenset().union(*groups),
        pieces=(*query.pieces, *(_quote(word) for word in added if stem(word) not in query.stems)),
    )


def leans_back(text: str) -> bool:
    """Return whether a question points to what was said before it, by a pronoun or by how it begins."""
    return goes_on(text) or points_back(text)


def goes_on(text: str) -> bool:
    """Return whether a question begins, or ends, like one that goes on from another."""
    return _GOING_ON.match(text.strip()) is not None or text.rstrip("?？ ").endswith("呢")


def points_back(text: str) -> bool:
    """Return whether a question has a pronoun."""
    return not _POINTING_WORDS.isdisjoint(_CAMEL_WORD.findall(text.lower()))


def make_piece(term: str) -> str:
    """Return the FTS5 expression for one of `query_terms`."""
    return _quote(term) if find_words(term) == [term] else f"names : {_quote(code_identifier(term))}"


def code_identifier(identifier: str) -> str:
    """Return an identifier as the one token under which the index has it."""
    return fold(identifier).translate(_CODES) + _CODE_END


def _add_parts(parts: list[str], pieces: dict[str, None], words: dict[str, None]) -> None:
    """Let the parts of an identifier be found side by side, and each alone."""
    if len(parts) > 1:
        pieces[_quote(" ".join(parts))] = None
    words.update(
        dict.fromkeys(part for part in parts if len(part) > 1 and part not in STOP_WORDS and not part.isdigit())
    )


def _list_neighbours(text: str, terms: tuple[str, ...]) -> tuple[str, ...]:
    """Return phrases of two words of a query that follow one another."""
    words = find_words(text)
    return tuple(
        dict.fromkeys(
            _quote(f"{left} {right}")
            for left, right in pairwise(words)
            if left in terms and right in terms and not is_unspaced(left)
        )
    )[:TERMS_MAX]


def _quote(text: str) -> str:
    """Return words as one FTS5 string; they hold no quotation mark, so that nothing needs escaping."""
    return f'"{" ".join(find_words(space_out(text))[:_PHRASE_WORDS_MAX])}"'
