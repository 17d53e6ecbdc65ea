"""Split queries and texts into terms, in the same way for the index and for the sentences of a section.

A term is a normalised word (``gradient``), an identifier (``max_tokens``, ``--flag``, ``c++``, ``4.2``) or,
in scripts without spaces between words, a pair of adjacent characters.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence

from roamtui.convert.decode import replace_surrogates
from roamtui.search.lexicon import (
    ASKING_WORDS,
    STOP_WORDS_BY_LANGUAGE,
    Language,
    get_synonyms,
    get_word_list,
    reduce_word,
)
from roamtui.text import INVISIBLE, UNSPACED

TERMS_MAX = 64
"""Maximum number of terms of a query. A longer one is pasted text, whose first terms are enough."""

_MARKS = "\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0670\u0900-\u0963\u0966-\u0dff"
"""Accents, points and vowel signs, which Python's ``\\w`` does not match, and the scripts of India."""
_WORD = re.compile(rf"(?:[^\W_]|[{_MARKS}])+")
_INVISIBLE = re.compile(f"[{INVISIBLE}]+")
_MARK_AFTER_LETTER = re.compile(rf"[*~`\[\]<{INVISIBLE}](?<=[^\W_].)")
_HIDDEN_RUN = re.compile(
    rf"(?:[*~`\[{INVISIBLE}]|\]\([^()\s]{{0,500}}\)|</?[A-Za-z][^<>\n]{{0,500}}>)+(?=[^\W_])"
)
"""What may be unseen inside a word: marks of emphasis, code and links, tags and invisible characters."""
_WORD_PART_MAX = 60
_CONTRACTION = re.compile(r"\b\w+n['’]t\b|['’](?:s|re|ve|ll|d|m)\b", re.IGNORECASE)
_UNSPACED = f"{UNSPACED}\u0f00-\u0fff\u1100-\u11ff\uac00-\ud7af"
"""Also Tibetan, and Korean, which has spaces but joins particles to words."""
# Not compiled here: that takes 2 ms for each, and few texts need them.
_UNSPACED_RUN = f"[{_UNSPACED}]+"
_UNSPACED_CHARACTER = f"([{_UNSPACED}])"
_IDENTIFIER = re.compile(
    r"(?<![\w-])--?[^\W\d_][\w-]*+"  # --flag-name
    r"|(?<!\w)[.@$][^\W\d]\w*+"  # .env, @property, $HOME
    r"|\b\w++(?>(?:(?:\.|::|->)\w++)+)(?:\+\+|\#)?"  # a.b.c, std::vector, 4.2
    r"|\b[^\W_]*+_\w*+"  # max_tokens, __call__
    r"|\b[^\W\d_]\w*+(?:\+\+|\#)(?!\w)"  # C++, C#
)
_PHRASE = re.compile(r"[\"“„«](?=\S)([^\"“”„«»\n]{3,120}?)(?<=\S)[\"”“»]")
"""Text in double quotation marks."""
_PHRASE_WORDS_MAX = 12
MONEY = "¤"
"""Stands for any amount of money: a number with the sign of a currency."""
_CURRENCY = "[$¢-¥₠-⃀]"
_AMOUNT = re.compile(rf"{_CURRENCY}\s?\d|\d\s?{_CURRENCY}")
_MISTYPED_LENGTH_MIN = 4
"""Minimum length of a word that is corrected. Shorter ones are too similar to each other."""
_SIMILARITY_MIN = 0.79
"""Minimum similarity of a correction: one slip in five letters. Rounding would make 0.8 exclude it."""
_SIMILAR_MAX = 3
_PLAIN_LETTERS = dict(zip("øłđħŧðþıæœ", ["o", "l", "d", "h", "t", "d", "th", "i", "ae", "oe"], strict=True))
"""How people write letters that Unicode does not take apart, if their keyboard lacks them."""
_MARKED = re.compile(f"[\u0300-\u036f{''.join(_PLAIN_LETTERS)}]")
"""An accent, or one of these letters."""
_GERMAN_QUESTION_WORDS = frozenset(get_word_list("asking de"))
"""Words that start questions and do not exist in English. One of them is enough to detect German."""
_GERMAN_STOP_WORDS_MIN = 2
"""Minimum number of German stop words, without those that are English too, to detect German."""


def normalise_unicode(text: str) -> str:
    """Return `text` without invisible characters, and with variants of letters as ordinary characters."""
    if text.isascii():
        return text
    return unicodedata.normalize("NFKC", _INVISIBLE.sub("", replace_surrogates(text)))


def normalise_term(text: str) -> str:
    """Return `text` in the form used to compare terms: normalised, in lower case and plain letters."""
    if text.isascii():
        return text.lower()
    decomposed = unicodedata.normalize("NFD", normalise_unicode(text).casefold())
    plain = _MARKED.sub(lambda match: _PLAIN_LETTERS.get(match[0], ""), decomposed)
    return unicodedata.normalize("NFC", plain)


def tokenise(text: str) -> list[str]:
    """Return a text's normalised words in order. In scripts without spaces, each run is a word."""
    return _WORD.findall(normalise_term(text))


def space_unspaced_scripts(text: str) -> str:
    """Put spaces around each character of a script without spaces, so that each becomes a word."""
    return text if text.isascii() else re.sub(_UNSPACED_CHARACTER, r" \1 ", text)


def iter_marked_words(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield start, end and letters of each word with something unseen inside, such as `**un**important`.

    Unseen characters between two digits separate them, as a space would.
    """
    start = end = 0
    letters = ""
    for mark in _MARK_AFTER_LETTER.finditer(text):
        hidden = _HIDDEN_RUN.match(text, mark.start())
        if hidden is None or hidden.end() <= end:
            continue
        if text[hidden.start() - 1].isdigit() and text[hidden.end()].isdigit():
            continue
        if hidden.start() != end:
            if letters:
                yield start, end, letters
            head = text[max(0, hidden.start() - _WORD_PART_MAX) : hidden.start()]
            letters = next(reversed(_WORD.findall(head)), "")
            start = hidden.start() - len(letters)
        tail = _WORD.match(text, hidden.end(), hidden.end() + _WORD_PART_MAX)
        letters += tail[0] if tail else ""
        end = tail.end() if tail else hidden.end()
    if letters:
        yield start, end, letters


def detect_language(text: str) -> Language:
    """Detect the language of a question by its words. It is English unless it is clearly German."""
    ordered = [word for word in tokenise(text) if len(word) > 1]
    words = frozenset(ordered)
    english, german = (STOP_WORDS_BY_LANGUAGE[language] for language in Language)
    only_english = (words & english) - german
    distinctive = (words & german) - english
    if ordered[:1] == ["was"] and not only_english:  # else it is the English verb
        distinctive |= {"was"}
    is_clear = len(distinctive) >= _GERMAN_STOP_WORDS_MIN or bool(distinctive & _GERMAN_QUESTION_WORDS)
    return Language.GERMAN if is_clear and len(distinctive) > len(only_english) else Language.ENGLISH


def extract_quoted_phrases(text: str, words_min: int = 2) -> tuple[str, ...]:
    """Return the phrases of at least `words_min` words in double quotation marks, normalised, each once."""
    phrases = dict.fromkeys(match[1] for match in _PHRASE.finditer(normalise_unicode(text)))
    return tuple(phrase for phrase in phrases if words_min <= len(tokenise(phrase)) <= _PHRASE_WORDS_MAX)


def extract_phrases(text: str) -> tuple[str, ...]:
    """Return the normalised words of the phrases in double quotation marks, each once."""
    return tuple(dict.fromkeys(" ".join(tokenise(phrase)) for phrase in extract_quoted_phrases(text)))


def extract_query_terms(text: str) -> tuple[str, ...]:
    """Return the content words, identifiers and quoted phrases of a question, normalised, each once.

    Stop words are left out, unless they are abbreviations, or the question contains nothing else. In German,
    so is a word between "wie" and a verb that asks, as in "wie lange ist" and "wie hoch darf".
    """
    terms = dict.fromkeys((*extract_phrases(text), *_iter_terms(normalise_unicode(text))))
    language = detect_language(text)
    stopped = STOP_WORDS_BY_LANGUAGE[language] - find_abbreviations(text)
    if language is Language.GERMAN:
        words = tokenise(text)
        triples = zip(words, words[1:], words[2:], strict=False)
        stopped |= {word for how, word, verb in triples if how == "wie" and verb in _GERMAN_QUESTION_WORDS}
    content = [term for term in terms if term not in stopped]
    return tuple((content or list(terms))[:TERMS_MAX])


def find_abbreviations(text: str) -> frozenset[str]:
    """Return the words in capitals, such as "IT" and "US", or none if the whole text is in capitals."""
    if text.isupper():
        return frozenset()
    capitals = (word for word in _WORD.findall(text) if len(word) > 1 and word.isupper())
    return frozenset(map(normalise_term, capitals))


def _iter_terms(text: str) -> Iterator[str]:
    """Yield words and identifiers. The parts of a dotted identifier that have an underscore follow it."""
    text = _CONTRACTION.sub(" ", text) if "'" in text or "’" in text else text
    position = 0
    for match in _IDENTIFIER.finditer(text):
        yield from split_words(text[position : match.start()])
        identifier = normalise_term(match.group())
        yield from [identifier] if identifier.strip("_") else []
        parts = re.split(r"\.|::|->", identifier) if "." in identifier or ":" in identifier else []
        yield from (part for part in parts if "_" in part)
        position = match.end()
    yield from split_words(text[position:])


def split_words(text: str) -> Iterator[str]:
    """Yield the normalised words of a text in order, and pairs of characters for scripts without spaces."""
    for word in tokenise(text):
        if word.isascii():
            yield word
            continue
        yield from tokenise(re.sub(_UNSPACED_RUN, " ", word))
        for run in re.findall(_UNSPACED_RUN, word):
            yield from (run[start : start + 2] for start in range(max(1, len(run) - 1)))


def list_similar_words(word: str, words: Sequence[str]) -> list[str]:
    """Return up to three of the `words` that a mistyped word may mean, most similar first."""
    from rapidfuzz import distance, process  # noqa: PLC0415

    if len(word) < _MISTYPED_LENGTH_MIN or not word.isalpha():
        return []
    measure = distance.OSA.normalized_similarity
    similar = process.extract(word, words, scorer=measure, score_cutoff=_SIMILARITY_MIN, limit=_SIMILAR_MAX)
    return [other for other, *_ in similar]


class TermMatcher:
    """Finds the terms of a question in texts: words in all their forms, and other terms as they are.

    A stop word never counts as a form of another word, although "us" has the stem of "use".
    """

    def __init__(self, terms: Iterable[str], language: Language, *, finds_synonyms: bool = True) -> None:
        """Find `terms`, which come from `extract_query_terms`.

        With `finds_synonyms`, German synonyms count as their terms.
        """
        self.terms = tuple(terms)
        self.language = language
        self._terms_by_form: dict[str, str] = {}
        self._terms_by_word: dict[str, str | None] = {}
        """Cache of the words met so far, most of which are no terms."""
        self._patterns: dict[str, re.Pattern[str]] = {}
        for term in self.terms:
            if re.match(_UNSPACED_RUN, term):  # a script without spaces between words
                self._patterns[term] = re.compile(r"\W?".join(map(re.escape, term)))
            elif term == MONEY:
                self._patterns[term] = _AMOUNT
            elif tokenise(term) != [term]:
                words = r"[\W_]+".join(map(re.escape, term.split(" ")))
                self._patterns[term] = re.compile(rf"(?<!\w){words}(?!\w)", re.IGNORECASE)
            else:
                self._terms_by_form.setdefault(reduce_word(term, language), term)
        is_german = language is Language.GERMAN
        for term in [*self._terms_by_form.values()] if is_german and finds_synonyms else ():
            for synonym in get_synonyms(term, language):
                self._terms_by_form.setdefault(reduce_word(synonym, language), term)

    @classmethod
    def for_question(cls, question: str, *, finds_synonyms: bool = True) -> TermMatcher:
        """Make a matcher for the terms of a question."""
        terms = extract_query_terms(question)
        return cls(terms, detect_language(question), finds_synonyms=finds_synonyms)

    @property
    def content_terms(self) -> tuple[str, ...]:
        """The terms that are neither stop words nor words with which a question starts."""
        others = STOP_WORDS_BY_LANGUAGE[self.language] | ASKING_WORDS
        return tuple(term for term in self.terms if term not in others)

    @property
    def is_vague(self) -> bool:
        """Whether no term is a content word, as in "who is it for?"."""
        return STOP_WORDS_BY_LANGUAGE[self.language].issuperset(self.terms)

    def list_occurrences(self, text: str) -> list[tuple[int, int, str]]:
        """Return the start and end of each occurrence of a term in a text, and the term, in order."""
        places = [
            (*match.span(), term)
            for term, pattern in self._patterns.items()
            for match in pattern.finditer(text)
        ]
        terms_by_word = self._terms_by_word
        for match in _WORD.finditer(text) if self._terms_by_form else ():
            word = match.group()
            if word not in terms_by_word:
                terms_by_word[word] = self._get_term(word)
            term = terms_by_word[word]
            if term is not None:
                places.append((*match.span(), term))
        for start, end, letters in iter_marked_words(text) if self._terms_by_form else ():
            term = self._get_term(letters)
            if term is not None:
                places.append((start, end, term))
        return sorted(places)

    def _get_term(self, word: str) -> str | None:
        word = normalise_term(word)
        is_other = word in STOP_WORDS_BY_LANGUAGE[self.language] and word not in self.terms
        return None if is_other else self._terms_by_form.get(reduce_word(word, self.language))

    def find_terms(self, text: str) -> frozenset[str]:
        """Return the terms that a text has."""
        return frozenset(term for *_, term in self.list_occurrences(text))
