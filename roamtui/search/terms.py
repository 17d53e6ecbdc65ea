"""Terms: what a query looks for in a text, the same for the index as for the sentences quoted from a section.

A term is a folded word (``gradient``), a whole identifier (``max_tokens``, ``--flag-name``, ``c++``, ``4.2``) or, in
writing without spaces between words, a pair of neighbouring characters. A `Query` is what was typed, as terms and as
FTS5 expressions: whatever is typed is data, and only quoted strings made here reach FTS5.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from types import MappingProxyType

from roamtui.search.lexicon import (
    STOP_WORDS,
    STOP_WORDS_BY_LANGUAGE,
    Language,
    detect_language,
    get_implied_words,
    list_words,
    make_pattern,
    reduce_to_root,
    stem,
    strip_question_words,
)

TERMS_MAX = 64
"""A longer query is a pasted text; its first terms say enough, and each term costs time."""

_MARKS = "\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0670\u0900-\u0963\u0966-\u0dff"
"""Accents, points and vowel signs, which Python's ``\\w`` leaves out, and with them the scripts of India."""
_WORD = re.compile(rf"(?:[^\W_]|[{_MARKS}])+")
_CAMEL_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\d_]+|\d+")
_NEGATION = re.compile(r"\b\w+n['’]t\b|['’](?:s|re|ve|ll|d|m)\b", re.IGNORECASE)
_UNSPACED = (
    "\u0e00-\u0fff"  # Thai, Lao, Tibetan
    "\u1000-\u109f\u1780-\u17ff"  # Burmese, Khmer
    "\u1100-\u11ff\uac00-\ud7af"  # Korean has spaces, but joins particles to words
    "\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff"  # Japanese
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Chinese
)
_KANA_ALONE = re.compile("[\u3041-\u309f]+")
"""Japanese small words and endings; what is looked for is mostly written in other signs."""
_UNSPACED_RUN = re.compile(f"[{_UNSPACED}]+")
_UNSPACED_CHARACTER = re.compile(f"([{_UNSPACED}])")
_IDENTIFIER = re.compile(
    r"(?<![\w-])--?[^\W\d_][\w-]*+"  # --flag-name
    r"|(?<!\w)[.@$][^\W\d]\w*+"  # .env, @property, $HOME
    r"|\b\w++(?:(?:\.|::|->)\w++)++(?:\+\+|\#)?"  # a.b.c, std::vector, 4.2
    r"|\b[^\W_]*+_\w*+"  # max_tokens, __call__
    r"|\b[^\W\d_]\w*+(?:\+\+|\#)(?!\w)"  # C++, C#
)
_ACCENT = re.compile("[\u0300-\u036f]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_ROOT_MIN = 4
_PART_MIN = 4
_JOINTS = ("", "s", "n", "es", "en")
"""What German puts between the parts of a compound."""


def normalise_unicode(text: str) -> str:
    """Return `text` with compatible characters unified (full-width letters, ligatures), case and accents kept."""
    if text.isascii():
        return text
    return unicodedata.normalize("NFKC", _SURROGATE.sub("\N{REPLACEMENT CHARACTER}", text))


def fold_term(text: str) -> str:
    """Return `text` in the form in which terms are compared: normalised, lower case, without accents."""
    if text.isascii():
        return text.lower()
    decomposed = unicodedata.normalize("NFD", normalise_unicode(text).casefold())
    return unicodedata.normalize("NFC", _ACCENT.sub("", decomposed))


def tokenise(text: str) -> list[str]:
    """Return the words of a text in order, folded; writing without spaces counts as one word a run."""
    return _WORD.findall(fold_term(text))


def is_unspaced(term: str) -> bool:
    """Whether a term comes from writing that sets no spaces between words."""
    return not term.isascii() and _UNSPACED_RUN.match(term) is not None


def space_cjk(text: str) -> str:
    """Return `text` with a space around each character of writing without spaces, so that each is a word."""
    return text if text.isascii() else _UNSPACED_CHARACTER.sub(r" \1 ", text)


def extract_identifiers(text: str) -> list[str]:
    """Return the identifiers of a text that its words alone would not show, as written.

    A dotted one is followed by its parts that are identifiers themselves.
    """
    found: list[str] = []
    for identifier in _IDENTIFIER.findall(text):
        if not identifier.strip("_"):
            continue
        found.append(identifier)
        if "." in identifier or ":" in identifier:
            found += [part for part in re.split(r"\.|::|->", identifier) if "_" in part]
    return found


def split_camel_case(word: str) -> list[str]:
    """Return the parts of a word in camel case (``getUserById``), nothing for any other word."""
    if word.islower() or word.isupper() or word[1:].islower():
        return []
    parts = [part for part in _CAMEL_PART.findall(word) if len(part) > 1]
    return parts if len(parts) > 1 else []


def extract_names(text: str) -> frozenset[str]:
    """Return what in a text looks like names from code, folded: identifiers, and words in camel case."""
    camel = (word for word in _WORD.findall(text) if split_camel_case(word))
    return frozenset(map(fold_term, (*extract_identifiers(text), *camel)))


def query_terms(text: str) -> tuple[str, ...]:
    """Return what a question asks for: content words and whole identifiers, folded, each once, in order.

    Small words and those that only ask go, unless the question has nothing else.
    """
    text = normalise_unicode(text)
    terms = dict.fromkeys(_find_terms(strip_question_words(text)))
    stopped = STOP_WORDS_BY_LANGUAGE[detect_language(tokenise(text))]
    content = [term for term in terms if term not in stopped and not _KANA_ALONE.fullmatch(term)]
    return tuple((content or list(terms) or list(dict.fromkeys(_find_terms(text))))[:TERMS_MAX])


def _find_terms(text: str) -> Iterator[str]:
    text = _NEGATION.sub(" ", text) if "'" in text or "’" in text else text
    position = 0
    for match in _IDENTIFIER.finditer(text):
        yield from split_words(text[position : match.start()])
        yield from map(fold_term, extract_identifiers(match.group()))
        position = match.end()
    yield from split_words(text[position:])


def split_words(text: str) -> Iterator[str]:
    """Yield the words of a text in order, folded; pairs of characters where writing sets no spaces."""
    for word in tokenise(text):
        if word.isascii():
            yield word
            continue
        yield from tokenise(_UNSPACED_RUN.sub(" ", word))
        for run in _UNSPACED_RUN.findall(word):
            yield from (run[start : start + 2] for start in range(max(1, len(run) - 1)))


def split_pair(pair: str) -> tuple[str, ...]:
    """Return the characters of a pair that may mean something alone, which Japanese endings do not."""
    return tuple(character for character in pair if not _KANA_ALONE.fullmatch(character))


def locate_terms(
    text: str, terms: Iterable[str], forms: Mapping[str, str] = MappingProxyType({})
) -> list[tuple[int, str]]:
    """Return where terms occur in a text, as (offset, term), in order; words match by their stem.

    Args:
        text: Any text.
        terms: As `query_terms` gives them.
        forms: Other words that count as one of the terms, each with that term.
    """
    words: dict[str, str] = {}
    found: list[tuple[int, str]] = []
    for term in terms:
        if tokenise(term) == [term] and not is_unspaced(term):
            words.setdefault(stem(term), term)
        else:
            pattern = _compile_whole(term)
            found += [(match.start(), term) for match in pattern.finditer(text)]
    for form, term in forms.items():
        words.setdefault(stem(form), term)
    if words:
        found += _find_stems(text, words) if text.isascii() else _find_stems_folded(text, words)
    return sorted(found)


@lru_cache(maxsize=512)
def _compile_whole(term: str) -> re.Pattern[str]:
    """Return what finds an identifier as a whole, or a pair of characters of writing without spaces."""
    if is_unspaced(term):
        return re.compile(r"\W?".join(map(re.escape, term)))
    return re.compile(rf"(?<!\w){re.escape(term)}(?!\w)", re.IGNORECASE)


def _find_stems(text: str, words: dict[str, str]) -> Iterator[tuple[int, str]]:
    """Yield the words of an ASCII text with one of these stems; parts of words in camel case too."""
    lowered = text.lower()
    for match in _compile_starts(frozenset(words)).finditer(lowered):
        start = match.start()
        if start == 0 or not text[start - 1].isalnum():
            term = words.get(stem(match.group()))
            if term is not None:
                yield start, term
                continue
        elif not (text[start].isupper() and text[start - 1].islower()):
            continue
        part = _CAMEL_PART.match(text, start)
        term = words.get(stem(part.group().lower())) if part else None
        if term is not None:
            yield start, term


@lru_cache(maxsize=64)
def _compile_starts(stems: frozenset[str]) -> re.Pattern[str]:
    """Return what finds every word that may have one of these stems: a stem's last e, i or l may not be in the word."""
    starts = {re.escape(stem[:-1] if len(stem) > 1 and stem[-1] in "eil" else stem) for stem in stems}
    return re.compile(f"(?:{'|'.join(sorted(starts))})[^\\W_]*")


def _find_stems_folded(text: str, words: dict[str, str]) -> Iterator[tuple[int, str]]:
    for match in _WORD.finditer(text):
        word = match.group()
        for part in (word, *split_camel_case(word)):
            term = words.get(stem(fold_term(part)))
            if term is not None:
                yield match.start(), term
                break


def list_inflected_forms(text: str, terms: Iterable[str], language: Language) -> dict[str, str]:
    """Return the words of a text that are other forms of a term, each with its term; none in English."""
    if language is Language.ENGLISH:
        return {}
    roots = {reduce_to_root(term, language): term for term in terms if term.isalpha() and not is_unspaced(term)}
    found = {word: roots.get(reduce_to_root(word, language)) for word in set(tokenise(text))}
    return {word: term for word, term in found.items() if term is not None and word != term}


def list_starts(words: Iterable[str], language: Language) -> list[str]:
    """Return how other forms of words, and compounds that begin with them, begin; none for English."""
    if language is Language.ENGLISH:
        return []
    starts: dict[str, None] = {}
    for word in words:
        root = reduce_to_root(word, language)
        if len(root) < _ROOT_MIN or not root.isalpha():
            continue
        starts[root] = None
        if language is Language.GERMAN:
            starts[f"ge{root}"] = None
    return list(starts)


def list_compounds(word: str) -> Iterator[tuple[str, str]]:
    """Yield the two words that a German compound may be made of, the longer first part first."""
    for end in range(len(word) - _PART_MIN, _PART_MIN - 1, -1):
        for joint in _JOINTS:
            if word[:end].endswith(joint) and end - len(joint) >= _PART_MIN:
                yield word[: end - len(joint)], word[end:]


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
    stems: frozenset[str]
    """Of these words; of what it may have meant, where one was mistyped."""
    names: frozenset[str]
    """Names from code, as `find_names` gives them."""
    is_follow_up: bool
    """Whether it points to what was said before it."""
    last_prefix: str
    """The word with which it ends, which may go on while it is typed; empty where it ends otherwise."""
    fts_terms: tuple[str, ...]
    """FTS5 expressions of which any hit satisfies one."""
    language: Language
    prefixes: tuple[str, ...]
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
        return " OR ".join(self.fts_terms)


def parse_query(text: str) -> Query:
    """Return any text as a query."""
    text = normalise_unicode(text)
    terms = query_terms(text)
    pieces: dict[str, None] = {}
    words: dict[str, None] = {}
    for term in terms:
        if tokenise(term) == [term]:
            words[term] = None
        else:
            pieces[build_term_expression(term)] = None
            _add_parts(tokenise(term), pieces, words)
    for match in _CAMEL_WORD.finditer(text):
        _add_parts([fold_term(part) for part in split_camel_case(match.group())], pieces, words)
    by_stem = {stem(word): _quote(word) for word in words}
    alternatives = [*by_stem.values(), *pieces, *(f"{_quote(prefix)} *" for prefix in _PREFIX.findall(text))]
    language = detect_language(tokenise(text))
    phrases = [_quote(phrase) for phrase in _PHRASE.findall(text) if len(tokenise(space_cjk(phrase))) > 1]
    return Query(
        terms=terms,
        words=tuple(words),
        stems=frozenset(by_stem),
        names=extract_names(text),
        is_follow_up=is_continuation(text) or has_pronoun(text),
        last_prefix=words_at_end[0] if (words_at_end := tokenise("".join(_LAST_WORD.findall(text)))) else "",
        fts_terms=tuple(alternatives[: 2 * TERMS_MAX]),
        language=language,
        prefixes=tuple(f"{_quote(start)} *" for start in list_starts(words, language))[:TERMS_MAX],
        neighbours=_list_neighbours(text, terms),
        implied=" OR ".join(_quote(word) for word in get_implied_words(text)),
        phrases=" AND ".join(phrases[:TERMS_MAX]),
    )


def build_prefix_expression(query: Query) -> str:
    """Return the FTS5 expression for words that begin like the last one of a query."""
    return f"{_quote(query.last_prefix)} *"


def correct_query(query: Query, corrections: Mapping[str, Iterable[str]]) -> Query:
    """Return a query that other spellings satisfy too."""
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
    """Return whether a question begins, or ends, like one that goes on from another."""
    return _GOING_ON.match(text.strip()) is not None or text.rstrip("?？ ").endswith("呢")


def has_pronoun(text: str) -> bool:
    """Return whether a question has a pronoun."""
    return not _POINTING_WORDS.isdisjoint(_CAMEL_WORD.findall(text.lower()))


def build_term_expression(term: str) -> str:
    """Return the FTS5 expression for one of `query_terms`."""
    return _quote(term) if tokenise(term) == [term] else f"names : {_quote(code_identifier(term))}"


def code_identifier(identifier: str) -> str:
    """Return an identifier as the one token under which the index has it."""
    return fold_term(identifier).translate(_CODES) + _CODE_END


def _add_parts(parts: list[str], pieces: dict[str, None], words: dict[str, None]) -> None:
    """Let the parts of an identifier be found side by side, and each alone."""
    if len(parts) > 1:
        pieces[_quote(" ".join(parts))] = None
    words.update(
        dict.fromkeys(part for part in parts if len(part) > 1 and part not in STOP_WORDS and not part.isdigit())
    )


def _list_neighbours(text: str, terms: tuple[str, ...]) -> tuple[str, ...]:
    """Return phrases of two words of a query that follow one another."""
    words = tokenise(text)
    return tuple(
        dict.fromkeys(
            _quote(f"{left} {right}")
            for left, right in pairwise(words)
            if left in terms and right in terms and not is_unspaced(left)
        )
    )[:TERMS_MAX]


def _quote(text: str) -> str:
    """Return words as one FTS5 string; they hold no quotation mark, so that nothing needs escaping."""
    return f'"{" ".join(tokenise(space_cjk(text))[:_PHRASE_WORDS_MAX])}"'
