"""`Query`: the terms of a query, and the FTS5 expressions that search for them.

Queries are untrusted, so FTS5 receives only strings that this module has quoted.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise

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
    encode_identifier,
    extract_code_names,
    extract_query_terms,
    fold_term,
    is_unspaced,
    normalise_unicode,
    space_unspaced_scripts,
    split_camel_case,
    tokenise,
)

_PHRASE = re.compile(r'["“”„]([^"“”„]+)["“”„]')
_PREFIX = re.compile(r"(?<!\w)([^\W_]{2,})\*")
_ALNUM_RUN = re.compile(r"[^\W_]+")
_PHRASE_WORDS_MAX = 32
_CONTINUATION_START = re.compile(make_pattern("going on"), re.IGNORECASE)
_POINTING_WORDS = frozenset(list_words("pointing"))
_LAST_WORD = re.compile(r"(?<![\w.-])[^\W\d_]{2,}\Z")


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """A query, parsed for the index."""

    terms: tuple[str, ...]
    """The result of `extract_query_terms`."""
    words: tuple[str, ...]
    """Words that may occur in a title: the terms that are words, and the words inside identifiers."""
    stems: frozenset[str]
    """Stems of the words, or of their corrections."""
    names: frozenset[str]
    """The result of `extract_code_names`."""
    is_follow_up: bool
    """Whether the query refers to earlier messages."""
    last_prefix: str
    """Last word, which may be incomplete while the person types; empty if the query does not end with a word."""
    fts_terms: tuple[str, ...]
    """FTS5 expressions. Every hit matches at least one of them."""
    language: Language
    prefixes: tuple[str, ...]
    """FTS5 expressions for other forms of the words; empty for English."""
    neighbours: tuple[str, ...]
    """FTS5 expressions for adjacent words of the query."""
    implied: str
    """FTS5 expression for words that the query implies, as "how old" implies "age"; may be empty."""
    phrases: str
    """FTS5 expression for any of the quoted phrases of more than one word; may be empty."""

    @property
    def expression(self) -> str:
        """FTS5 expression that every hit matches; empty if the query has no words."""
        return " OR ".join(self.fts_terms)

    @property
    def completions(self) -> str:
        """FTS5 expression for words that start with `last_prefix`."""
        return f"{_quote(self.last_prefix)} *"


def parse_query(text: str) -> Query:
    """Parse a query, which may be any text."""
    text = normalise_unicode(text)
    terms = extract_query_terms(text)
    expressions: dict[str, None] = {}
    words: dict[str, None] = {}
    for term in terms:
        if tokenise(term) == [term]:
            words[term] = None
        else:
            expressions[build_term_expression(term)] = None
            _add_parts(tokenise(term), expressions, words)
    for match in _ALNUM_RUN.finditer(text):
        _add_parts([fold_term(part) for part in split_camel_case(match.group())], expressions, words)
    by_stem = {stem(word): _quote(word) for word in words}
    fts_terms = [*by_stem.values(), *expressions, *(f"{_quote(prefix)} *" for prefix in _PREFIX.findall(text))]
    tokens = tokenise(text)
    language = detect_language(tokens)
    prefixes: dict[str, None] = {}
    for root in (reduce_to_root(word, language) for word in words):
        if language is not Language.ENGLISH and len(root) >= ROOT_LENGTH_MIN and root.isalpha():
            prefixes[f"{_quote(root)} *"] = None
            if language is Language.GERMAN:
                prefixes[f"{_quote(f'ge{root}')} *"] = None  # the start of a participle
    neighbours = dict.fromkeys(
        _quote(f"{left} {right}")
        for left, right in pairwise(tokens)
        if left in terms and right in terms and not is_unspaced(left)
    )
    phrases = [_quote(phrase) for phrase in list_phrases(text)]
    last_word = _LAST_WORD.search(text)
    return Query(
        terms=terms,
        words=tuple(words),
        stems=frozenset(by_stem),
        names=extract_code_names(text),
        is_follow_up=is_continuation(text) or has_pronoun(text),
        last_prefix=next(iter(tokenise(last_word[0])), "") if last_word is not None else "",
        fts_terms=tuple(fts_terms[: 2 * TERMS_MAX]),
        language=language,
        prefixes=tuple(prefixes)[:TERMS_MAX],
        neighbours=tuple(neighbours)[:TERMS_MAX],
        implied=" OR ".join(_quote(word) for word in get_implied_words(text)),
        phrases=" OR ".join(phrases[:TERMS_MAX]),
    )


def list_phrases(text: str) -> list[str]:
    """Return the quoted phrases of a query that have more than one word."""
    return [phrase for phrase in _PHRASE.findall(text) if len(tokenise(space_unspaced_scripts(phrase))) > 1]


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
        fts_terms=(*query.fts_terms, *(_quote(word) for word in added if stem(word) not in query.stems)),
    )


def is_continuation(text: str) -> bool:
    """Check whether the start or the end of a question shows that it continues another one."""
    return _CONTINUATION_START.match(text.strip()) is not None or text.rstrip("?？ ").endswith("呢")


def has_pronoun(text: str) -> bool:
    """Check whether a question contains a pronoun or another word that refers back."""
    return not _POINTING_WORDS.isdisjoint(_ALNUM_RUN.findall(text.lower()))


def build_term_expression(term: str) -> str:
    """Return the FTS5 expression for a term from `extract_query_terms`."""
    return _quote(term) if tokenise(term) == [term] else f"names : {_quote(encode_identifier(term))}"


def build_synonym_expressions(words: Iterable[str], language: Language) -> list[str]:
    """Return the FTS5 expressions for the synonyms of words, with their inflected forms and compounds."""
    synonyms = get_synonyms(words, language)
    if language is Language.ENGLISH:
        return [_quote(word) for word in synonyms]
    roots = (reduce_to_root(word, language) for word in synonyms)
    return [f"{_quote(root)} *" if len(root) >= ROOT_LENGTH_MIN else _quote(root) for root in dict.fromkeys(roots)]


def _add_parts(parts: list[str], expressions: dict[str, None], words: dict[str, None]) -> None:
    """Add the parts of an identifier: to `expressions` as adjacent words, and to `words` one by one."""
    if len(parts) > 1:
        expressions[_quote(" ".join(parts))] = None
    words.update(
        dict.fromkeys(part for part in parts if len(part) > 1 and part not in STOP_WORDS and not part.isdigit())
    )


def _quote(text: str) -> str:
    """Return words as one FTS5 string. Words contain no quotation marks, so nothing needs escaping."""
    return f'"{" ".join(tokenise(space_unspaced_scripts(text))[:_PHRASE_WORDS_MAX])}"'
