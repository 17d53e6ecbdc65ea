"""`Query`: the words of a query, and the FTS5 expressions that search for them.

Queries are untrusted, so FTS5 receives only strings that this module has quoted.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from msgspec import Struct
from msgspec.structs import replace

from roamtui.search.lexicon import (
    ROOT_LENGTH_MIN,
    STOP_WORDS,
    Language,
    detect_language,
    get_implied_words,
    get_synonyms,
    list_words,
    make_pattern,
    reduce_to_root,
    stem,
)
from roamtui.search.terms import (
    TERMS_MAX,
    extract_query_terms,
    is_unspaced,
    normalise_unicode,
    space_unspaced_scripts,
    tokenise,
)

_ALNUM_RUN = re.compile(r"[^\W_]+")
_PHRASE_WORDS_MAX = 32
_CONTINUATION_START = re.compile(make_pattern("going on"), re.IGNORECASE)
_POINTING_WORDS = frozenset(list_words("pointing"))
_LAST_WORD = re.compile(r"(?<![\w.-])[^\W\d_]{2,}\Z")


class Query(Struct, frozen=True, kw_only=True):
    """A query, parsed for the index."""

    terms: tuple[str, ...]
    """The result of `extract_query_terms`."""
    words: tuple[str, ...]
    """Words that may occur in a title: the terms that are words, and the words inside identifiers."""
    stems: frozenset[str]
    """Stems of the words, or of their corrections."""
    is_follow_up: bool
    """Whether the query refers to earlier messages."""
    last_prefix: str
    """Last word, which may be incomplete while the person types; empty if the query does not end with a word."""
    fts_terms: tuple[str, ...]
    """FTS5 expressions. Every hit matches at least one of them."""
    language: Language
    prefixes: tuple[str, ...]
    """FTS5 expressions for other forms of the words; empty for English."""
    implied: str
    """FTS5 expression for words that the query implies, as "how old" implies "age"; may be empty."""

    @property
    def completions(self) -> str:
        """FTS5 expression for words that start with `last_prefix`."""
        return f"{quote(self.last_prefix)} *"


def parse_query(text: str) -> Query:
    """Parse a query, which may be any text."""
    text = normalise_unicode(text)
    terms = extract_query_terms(text)
    identifiers: list[str] = []
    words: dict[str, None] = {}
    for term in terms:
        parts = tokenise(term)
        if parts == [term]:
            words[term] = None
        else:
            identifiers.append(quote(term))
            words |= dict.fromkeys(part for part in parts if len(part) > 1 and part not in STOP_WORDS)
    by_stem = {stem(word): quote(word) for word in words}
    language = detect_language(tokenise(text))
    prefixes: dict[str, None] = {}
    for root in (reduce_to_root(word, language) for word in words):
        if language is Language.GERMAN and len(root) >= ROOT_LENGTH_MIN and not is_unspaced(root):
            prefixes |= dict.fromkeys((f"{quote(root)} *", f"{quote(f'ge{root}')} *"))  # "ge" starts a participle
    last_word = _LAST_WORD.search(text)
    return Query(
        terms=terms,
        words=tuple(words),
        stems=frozenset(by_stem),
        is_follow_up=_CONTINUATION_START.match(text.strip()) is not None
        or not _POINTING_WORDS.isdisjoint(_ALNUM_RUN.findall(text.lower())),
        last_prefix=next(iter(tokenise(last_word[0])), "") if last_word is not None else "",
        fts_terms=tuple(dict.fromkeys((*by_stem.values(), *identifiers)))[: 2 * TERMS_MAX],
        language=language,
        prefixes=tuple(prefixes)[:TERMS_MAX],
        implied=" OR ".join(quote(word) for word in get_implied_words(text)),
    )


def correct_query(query: Query, corrections: Mapping[str, Iterable[str]]) -> Query:
    """Return a query with corrections of its misspelt words.

    Its terms keep the misspelt words and gain the corrections. Its stems have only the corrections.
    """
    if not corrections:
        return query
    added = dict.fromkeys(found for similar in corrections.values() for found in similar)
    known = (word for word in query.words if word not in corrections)
    return replace(
        query,
        terms=(*query.terms, *(word for word in added if word not in query.terms)),
        stems=frozenset(map(stem, (*known, *added))),
        fts_terms=(*query.fts_terms, *(quote(word) for word in added if stem(word) not in query.stems)),
    )


def build_synonym_expressions(words: Iterable[str], language: Language) -> list[str]:
    """Return the FTS5 expressions for the synonyms of words, with their inflected forms and compounds."""
    synonyms = get_synonyms(words, language)
    if language is Language.ENGLISH:
        return [quote(word) for word in synonyms]
    roots = (reduce_to_root(word, language) for word in synonyms)
    return [f"{quote(root)} *" if len(root) >= ROOT_LENGTH_MIN else quote(root) for root in dict.fromkeys(roots)]


def quote(text: str) -> str:
    """Return words as one FTS5 string. Words contain no quotation marks, so nothing needs escaping."""
    return f'"{" ".join(tokenise(space_unspaced_scripts(text))[:_PHRASE_WORDS_MAX])}"'
