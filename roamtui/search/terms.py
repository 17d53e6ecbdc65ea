"""Split queries and texts into terms, in the same way for the index and for the sentences of a section.

A term is a folded word (``gradient``), an identifier (``max_tokens``, ``--flag-name``, ``c++``, ``4.2``) or, in
scripts without spaces between words, a pair of adjacent characters.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from types import MappingProxyType

from roamtui.search.lexicon import (
    STOP_WORDS_BY_LANGUAGE,
    Language,
    detect_language,
    get_synonyms,
    reduce_to_root,
    stem,
)
from roamtui.sources.decode import replace_surrogates

TERMS_MAX = 64
"""Maximum number of terms of a query. A longer one is pasted text, whose first terms are enough."""

_MARKS = "\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0670\u0900-\u0963\u0966-\u0dff"
"""Accents, points and vowel signs, which Python's ``\\w`` does not match, and the scripts of India."""
_WORD = re.compile(rf"(?:[^\W_]|[{_MARKS}])+")
_CAMEL_CASE = re.compile(r"[a-z][A-Z]")
_CONTRACTION = re.compile(r"\b\w+n['’]t\b|['’](?:s|re|ve|ll|d|m)\b", re.IGNORECASE)
_UNSPACED = (
    "\u0e00-\u0fff"  # Thai, Lao, Tibetan
    "\u1000-\u109f\u1780-\u17ff"  # Burmese, Khmer
    "\u1100-\u11ff\uac00-\ud7af"  # Korean has spaces, but joins particles to words
    "\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff"  # Japanese
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Chinese
)
# Not compiled here: that takes 2 ms for each, and few texts need them.
_UNSPACED_RUN = f"[{_UNSPACED}]+"
_UNSPACED_CHARACTER = f"([{_UNSPACED}])"
_IDENTIFIER = re.compile(
    r"(?<![\w-])--?[^\W\d_][\w-]*+"  # --flag-name
    r"|(?<!\w)[.@$][^\W\d]\w*+"  # .env, @property, $HOME
    r"|\b\w++(?:(?:\.|::|->)\w++)++(?:\+\+|\#)?"  # a.b.c, std::vector, 4.2
    r"|\b[^\W_]*+_\w*+"  # max_tokens, __call__
    r"|\b[^\W\d_]\w*+(?:\+\+|\#)(?!\w)"  # C++, C#
)
_ACCENT = re.compile("[\u0300-\u036f]")


def normalise_unicode(text: str) -> str:
    """Return `text` with variants of characters, such as full-width letters and ligatures, as ordinary characters."""
    if text.isascii():
        return text
    return unicodedata.normalize("NFKC", replace_surrogates(text))


def fold_term(text: str) -> str:
    """Return `text` in the form used to compare terms: normalised, lower case, without accents."""
    if text.isascii():
        return text.lower()
    decomposed = unicodedata.normalize("NFD", normalise_unicode(text).casefold())
    return unicodedata.normalize("NFC", _ACCENT.sub("", decomposed))


def tokenise(text: str) -> list[str]:
    """Return the folded words of a text in order. In scripts without spaces, each run of characters is a word."""
    return _WORD.findall(fold_term(text))


def is_unspaced(term: str) -> bool:
    """Check whether a term starts with a character of a script without spaces between words."""
    return not term.isascii() and re.match(_UNSPACED_RUN, term) is not None


def space_unspaced_scripts(text: str) -> str:
    """Put spaces around each character of a script without spaces, so that each becomes a word."""
    return text if text.isascii() else re.sub(_UNSPACED_CHARACTER, r" \1 ", text)


def extract_identifiers(text: str) -> list[str]:
    """Return the identifiers in a text, as written, except for plain words.

    After a dotted identifier come those of its parts that contain an underscore.
    """
    found: list[str] = []
    for identifier in _IDENTIFIER.findall(text):
        if not identifier.strip("_"):
            continue
        found.append(identifier)
        if "." in identifier or ":" in identifier:
            found += [part for part in re.split(r"\.|::|->", identifier) if "_" in part]
    return found


def extract_code_names(text: str) -> frozenset[str]:
    """Return the folded names in a text that look like code: identifiers and camel-case words."""
    camel = (word for word in _WORD.findall(text) if _CAMEL_CASE.search(word))
    return frozenset(map(fold_term, (*extract_identifiers(text), *camel)))


def extract_query_terms(text: str) -> tuple[str, ...]:
    """Return the content words and identifiers of a question, folded, each once, in order.

    Stop words are left out, unless the question contains nothing else.
    """
    terms = dict.fromkeys(_iter_terms(normalise_unicode(text)))
    stopped = STOP_WORDS_BY_LANGUAGE[detect_language(tokenise(text))]
    content = [term for term in terms if term not in stopped]
    return tuple((content or list(terms))[:TERMS_MAX])


def _iter_terms(text: str) -> Iterator[str]:
    text = _CONTRACTION.sub(" ", text) if "'" in text or "’" in text else text
    position = 0
    for match in _IDENTIFIER.finditer(text):
        yield from split_words(text[position : match.start()])
        yield from map(fold_term, extract_identifiers(match.group()))
        position = match.end()
    yield from split_words(text[position:])


def split_words(text: str) -> Iterator[str]:
    """Yield the folded words of a text in order, and pairs of characters for scripts without spaces."""
    for word in tokenise(text):
        if word.isascii():
            yield word
            continue
        yield from tokenise(re.sub(_UNSPACED_RUN, " ", word))
        for run in re.findall(_UNSPACED_RUN, word):
            yield from (run[start : start + 2] for start in range(max(1, len(run) - 1)))


def locate_terms(
    text: str, terms: Iterable[str], forms: Mapping[str, str] = MappingProxyType({})
) -> list[tuple[int, str]]:
    """Return the occurrences of terms in a text, as (offset, term), in order. Words match by their stem.

    `terms` comes from `extract_query_terms`. `forms` maps inflected forms to the term that each counts as.
    """
    by_stem: dict[str, str] = {}
    found: list[tuple[int, str]] = []
    for term in terms:
        if _is_plain_word(term):
            by_stem.setdefault(stem(term), term)
        else:
            found += [(match.start(), term) for match in _compile_whole(term).finditer(text)]
    for form, term in forms.items():
        by_stem.setdefault(stem(form), term)
    terms_by_word: dict[str, str | None] = {}  # most words of a text occur often
    for match in _WORD.finditer(text) if by_stem else ():
        word = match.group()
        if word not in terms_by_word:
            terms_by_word[word] = by_stem.get(stem(fold_term(word)))
        if (matched := terms_by_word[word]) is not None:
            found.append((match.start(), matched))
    return sorted(found)


def measure_term(text: str, start: int, term: str) -> int:
    """Return the length of an occurrence that `locate_terms` found."""
    pattern = _WORD if _is_plain_word(term) else _compile_whole(term)
    match = pattern.match(text, start)
    return len(match.group()) if match is not None else 0


def _is_plain_word(term: str) -> bool:
    """Check whether a term matches by its stem: one word of a script with spaces, not an identifier."""
    return tokenise(term) == [term] and not is_unspaced(term)


@lru_cache(maxsize=512)
def _compile_whole(term: str) -> re.Pattern[str]:
    """Return a pattern for a whole identifier, or for a pair of characters in a script without spaces."""
    if is_unspaced(term):
        return re.compile(r"\W?".join(map(re.escape, term)))
    return re.compile(rf"(?<!\w){re.escape(term)}(?!\w)", re.IGNORECASE)


def list_inflected_forms(
    text: str, terms: Iterable[str], language: Language, *, with_synonyms: bool = False
) -> dict[str, str]:
    """Map the words of a text that are other forms or synonyms of a term to this term. Empty for English."""
    if language is Language.ENGLISH:
        return {}
    words = [term for term in terms if term.isalpha() and not is_unspaced(term)]
    roots = {reduce_to_root(word, language): word for word in words}
    for word in words if with_synonyms else ():
        for synonym in get_synonyms((word,), language):
            roots.setdefault(reduce_to_root(synonym, language), word)
    found = {word: roots.get(reduce_to_root(word, language)) for word in set(tokenise(text))}
    return {word: term for word, term in found.items() if term is not None and word != term}
