"""Find the words of a query that are nowhere in the text of a library.

A text can say the same in other words. A model is told only of names, numbers, codes and quoted words,
because it may conclude from a missing word that the answer is "no". A person is told of every word, and
can judge what that means.
"""

import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from os.path import commonprefix
from pathlib import PurePath

from roamtui.document.library import Library
from roamtui.search.lexicon import STOP_WORDS, Language, get_synonyms, stem
from roamtui.search.terms import (
    MONEY,
    TermMatcher,
    detect_language,
    extract_query_terms,
    extract_quoted_phrases,
    find_abbreviations,
    list_similar_words,
    normalise_term,
    normalise_unicode,
    tokenise,
)

_SCANNED_LENGTH_MAX = 20_000_000
"""Maximum length, in characters, of a library in which words are looked for."""
_PIECE_LENGTH = 200_000
_NAMED_MAX = 6
"""Maximum number of words that a sentence names."""
_NAME = re.compile(
    r"(?P<inside>(?<=[\w,;)] )(?=[A-Z]))?(?P<word>\d{1,3}(?:,\d{3})+(?:\.\d+)?|[^\W_]+(?:[-_.]?[^\W_]+)*)"
)
"""A number, word or identifier. The group `inside` matches before a capital letter inside a sentence."""
_CODE = re.compile(r"[\d_.]|[a-z][A-Z]")
"""What no ordinary word has: a digit, an underscore, a dot, or a capital after a small letter."""
_VARIED = re.compile(r"[A-Z]+|\d{1,3}(?:-?[a-z]+)?|(?:[QH]\d|\d[QH])\w*")
"""A word with many spellings: an abbreviation, a number below 1,000, perhaps with a unit, or a quarter."""
_PARTS = re.compile(r"(?<![-\d])\d{2,}|(?<=-)[a-z]{3,}\b")
"""A part of a name that is enough to find it: 2022 of FY2022 (but not 409 of T-409), or a lower-case word
after a hyphen."""
_ABBREVIATION = re.compile(r"[a-z]{3,6}")
"""Shorter words often have the initials of neighbouring words by chance."""
_TAG = re.compile(r"</?[a-zA-Z][^<>\n]*>")
_UNSPOKEN = re.compile(r"[\W_]+|(?<=[aou])e")
"""What is neither letter nor digit, and an e that may stand for the two dots of ä, ö and ü."""


def format_absence_clause(words: Sequence[str]) -> str:
    """Return the clause for `format_absence` that these words are absent; empty without words."""
    if not words:
        return ""
    *others, last = [f"“{word}”" for word in words[:_NAMED_MAX]]
    return f"{', '.join(others)} and {last} do not occur" if others else f"{last} does not occur"


def list_absent_names(query: str, library: Library) -> list[str]:
    """Return the names, numbers, codes and quoted words of a query that no text of a library contains.

    Only letters and digits count, without case, accents and the endings of words. The list is empty if the
    library is too long to scan. It scans all texts, so call it in a thread.
    """
    return _keep_absent(_list_forms(query, ()), library)


def list_absent_words(question: str, library: Library) -> list[str]:
    """Return what `list_absent_names` returns, and the other content words of a question that no text has.

    A text has a word if it has one of its forms or synonyms, or the words that it abbreviates.
    """
    absent = _keep_absent(_list_forms(question, TermMatcher.for_question(question).content_terms), library)
    return [word for word in absent if not _is_written_otherwise(word, library)]


def _is_written_otherwise(word: str, library: Library) -> bool:
    """Return whether a text has what a word abbreviates or, for a word such as "price", an amount."""
    if expand_abbreviations(word, library) != word:
        return True
    amounts = TermMatcher((MONEY,), Language.ENGLISH)
    is_price = MONEY in get_synonyms(normalise_term(word))
    return is_price and any(amounts.find_terms(document.text) for document in library.documents)


def _keep_absent(forms_by_word: Mapping[str, Sequence[str]], library: Library) -> list[str]:
    """Return the words, given with their forms, that no text of a library has in any form."""
    texts = [document.text for document in library.documents]
    if not _is_scannable(texts):
        return []
    titles = [title for document in library.documents for title in (document.title, *document.columns.titles)]
    absent = forms_by_word
    for text in ("\n".join((library.source, *titles)), *texts):
        for piece in _iter_normalised(text) if absent else ():
            absent = {
                word: forms for word, forms in absent.items() if not any(form in piece for form in forms)
            }
    return [*absent]


def expand_abbreviations(question: str, library: Library) -> str:
    """Add the words of abbreviations to a question: "agm annual general meeting", if a text has this phrase.

    An abbreviation is a word that no text has, but whose letters are the first ones of words in a row without
    stop words. Either it or these words must have capitals. The word itself stays, because a phrase may fit
    by chance, as "Customer Agreement Terms" fits "cat". All texts are scanned, unless the library is too
    long, so call this in a thread: 5 MB take 0.1 s for each such word.
    """
    texts = [document.text for document in library.documents]
    pieces = [*chain.from_iterable(map(_iter_pieces, texts))] if _is_scannable(texts) else []
    in_capitals = find_abbreviations(question)
    for word in filter(_ABBREVIATION.fullmatch, extract_query_terms(question)):
        whole = re.compile(rf"\b{word}\b", re.IGNORECASE)
        if any(map(whole.search, pieces)):
            continue
        first, *others = [
            f"[{letter}{letter.upper()}]" if word in in_capitals else letter.upper() for letter in word
        ]
        rest = "".join(rf"[\s-]+{initial}[^\W\d_]+" for initial in others)
        # It is faster to look at what is before the first letter only after that letter is found.
        pattern = re.compile(rf"{first}(?<![^\W_]{first})[^\W\d_]+{rest}")
        found = {phrase.lower() for piece in pieces for phrase in pattern.findall(piece)}
        phrases = {" ".join(words) for words in map(str.split, found) if STOP_WORDS.isdisjoint(words)}
        if len(phrases) == 1:
            question = whole.sub(rf"\g<0> {phrases.pop()}", question)
    return question


def leave_out_subject(question: str, library: Library) -> str:
    """Return an English question without the name of the document's subject, if other words are left.

    "How many employees does Best Buy have?" would find what repeats "Best Buy" in its annual report. A name
    is in the title or in the file name, perhaps without its space, and the text mostly writes it with a
    capital. Several documents are told apart by their names, so these stay. The text is scanned for each word
    of the title that the question has, unless it is too long, so call this in a thread.
    """
    text = library.root.text
    is_english = detect_language(question) is Language.ENGLISH
    if len(library.documents) > 1 or not is_english or not _is_scannable([text]):
        return question
    rest = question
    named = f"{library.title} {PurePath(library.source).stem}".replace("_", " ")
    for word in filter(str.isalpha, {*tokenise(named)} - STOP_WORDS):
        name = re.compile(rf"\b{' ?'.join(word)}\b", re.IGNORECASE)
        if name.search(rest):
            places = name.findall(text)
            if sum(place[0].isupper() for place in places) > len(places) / 2:
                rest = re.sub(rf"{name.pattern}(?:['’]s)?", "", rest, flags=re.IGNORECASE)
    matcher = TermMatcher.for_question(rest)
    return question if matcher.is_vague or not matcher.content_terms else " ".join(rest.split())


def find_similar_words(question: str, library: Library) -> dict[str, str]:
    """Return the most similar word of all texts for each word of a question that may be mistyped.

    Such a word is in no text, in any form. If the library is too long to scan, return nothing. Call this in a
    thread.
    """
    texts = [document.text for document in library.documents]
    if not _is_scannable(texts):
        return {}
    words = sorted({word for text in texts for word in tokenise(text)})
    matcher = TermMatcher.for_question(question, finds_synonyms=False)
    present = matcher.find_terms(" ".join(words))
    absent = (term for term in matcher.content_terms if term not in present)
    return {term: similar[0] for term in absent if (similar := list_similar_words(term, words))}


def _list_forms(query: str, terms: Collection[str]) -> dict[str, list[str]]:
    """Return each word of a query that may be called absent: names, numbers, codes, quoted words and `terms`.

    A text that has one of its forms has the word. The synonyms of a term count as its forms.
    """
    query = normalise_unicode(query)
    quoted = extract_quoted_phrases(query, words_min=1)
    forms = {phrase: [_normalise(phrase)] for phrase in quoted}
    for phrase in quoted:
        query = query.replace(phrase, " ")
    matches = [*_NAME.finditer(query)]
    inside = [match["word"] for match in matches if match["inside"] is not None]
    # German nouns have capitals too, and in a headline such as "What Is a Fee?" each word has one
    titled = (normalise_term(word) for word in inside if word.istitle())
    is_headline = query.isupper() or not STOP_WORDS.isdisjoint(titled)
    language = detect_language(query)
    has_names = not is_headline and language is Language.ENGLISH
    for match in matches:
        word = match["word"]
        term = normalise_term(word)
        is_name = has_names and match["inside"] is not None and term not in STOP_WORDS
        if (is_name or term in terms or _CODE.search(word)) and not _VARIED.fullmatch(word):
            synonyms = get_synonyms(term, language) if term in terms else ()
            parts = _PARTS.findall(word.replace(",", ""))
            forms[word] = [*filter(None, map(_cut_ending, (word, *synonyms))), *map(_normalise, parts)]
    return forms


def _cut_ending(word: str) -> str:
    """Return the letters with which all forms of a word begin."""
    letters = _normalise(word)
    # the stem may end with an i for y, or with an e
    start = commonprefix((letters, stem(letters)))  # noqa: RUF071 - these are letters, not paths
    return start.removesuffix("e").removesuffix("i")


def _is_scannable(texts: Iterable[str]) -> bool:
    """Return whether some texts are short enough to look for words in all of them."""
    return sum(map(len, texts)) <= _SCANNED_LENGTH_MAX


def _iter_pieces(text: str) -> Iterator[str]:
    """Yield a text in pieces that end with a line. A search of all at once would block other threads."""
    start = 0
    while start < len(text):
        end = text.find("\n", start + _PIECE_LENGTH) + 1 or len(text)
        yield text[start:end]
        start = end


def _iter_normalised(text: str) -> Iterator[str]:
    """Yield the pieces of a text, normalised."""
    from html import unescape  # noqa: PLC0415

    for piece in map(unescape, _iter_pieces(text)):
        yield _normalise(piece)
        if _TAG.search(piece):  # what looks like a tag may be code, and so a name itself
            yield _normalise(_TAG.sub("", piece))


def _normalise(text: str) -> str:
    """Return the plain letters and digits of a text, without case. 10 MB take half a second."""
    return _UNSPOKEN.sub("", unicodedata.normalize("NFD", normalise_term(text)))
