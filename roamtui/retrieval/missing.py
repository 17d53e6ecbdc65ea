"""Find the words, names, numbers and quoted phrases of a query that stand nowhere in a library."""

import re
from collections.abc import Iterator
from itertools import chain

from roamtui.document.library import Library
from roamtui.search.lexicon import LIGHT_WORDS_BY_LANGUAGE, Language, get_synonyms, reduce_word
from roamtui.search.terms import TermMatcher, find_quoted_phrases, fold_term

_SCANNED_LENGTH_MAX = 20_000_000
"""Maximum length, in characters, of a library in which missing names are looked for."""
_PIECE_LENGTH = 200_000
_NAME = re.compile(r"(?P<inside>(?<=[\w,;:)] )(?=[A-Z]))?(?P<word>[^\W_]+(?:[-_.]?[^\W_]+)*)")
"""A word, number or identifier. The group `inside` matches before a capital letter inside a sentence."""
_WORD = re.compile(r"[^\W_]+")
_CAMEL_CASE = re.compile("[a-z][A-Z]")
_NAME_PARTS = re.compile(r"\d{2,}|(?<=-)[a-z]{3,}\b")
"""A part of a name that is enough to find it: 2022 of FY2022, or a lower-case word after a hyphen."""
_UNIT = re.compile(r"(?:[QH]\d|\d[QH])(?:FY)?(?:\d{4}|\d{2})?|FY|USD|EUR|GBP|CHF|JPY")
"""A part of a year or a currency, which texts name in many ways, such as `$`."""
_ENDING = re.compile(r"(?:e?s|est|ed|er|ing|ly)\Z")
_GROUPED_MIN = 1_000
_PLACEHOLDER = re.compile(r"(?:(?<=[={<])|(?=(?:my|your)[-_]))[^\W\d]+(?!\w)", re.IGNORECASE)
"""A word that the person made up: a value such as `batch_size=number_of_rows`, `<name>` or `your_key`."""


def list_missing_names(query: str, language: Language, library: Library) -> list[str]:
    """Return the names, numbers and quoted phrases of a query that no text of the library contains.

    Case, hyphens and the endings of words are ignored. The list is empty if the library is not fully loaded
    or too long to scan. It scans the whole library, so call it in a thread.
    """
    texts = _list_texts(library)
    if not texts:
        return []
    is_english = language is Language.ENGLISH  # German nouns have capitals too
    missing = {f'"{phrase}"': _compile_phrase(phrase) for phrase in find_quoted_phrases(query)}
    for match in _NAME.finditer(query):
        word = match["word"]
        is_name = (
            not word.isalpha() or _CAMEL_CASE.search(word) or (is_english and match["inside"] is not None)
        )
        is_spelt_otherwise = _UNIT.fullmatch(word) or _PLACEHOLDER.match(query, match.start())
        if is_name and not is_spelt_otherwise:
            missing[word] = _compile_name(word)
    for piece in chain.from_iterable(map(_iter_pieces, texts)):
        if not missing:
            break
        folded = _fold(piece)
        missing = {word: pattern for word, pattern in missing.items() if not pattern.search(folded)}
    return [*missing]


def list_missing_words(question: str, library: Library) -> list[str]:
    """Return the words of a question that no text of the library contains, as the question spells them.

    Words that say little of a subject, such as "happens", are left out. A word is not missing if a text has a
    synonym of it, or a German compound that contains it. The list is empty if the library is not fully loaded
    or too long to scan. Call it in a thread: it scans all texts.
    """
    asked = TermMatcher.for_question(question)
    light = {reduce_word(word, asked.language) for word in LIGHT_WORDS_BY_LANGUAGE[asked.language]}
    missing = {
        term: question[start:end]
        for start, end, term in asked.locate(question)
        if reduce_word(term, asked.language) not in light or not question[start:end].isalpha()
    }
    # "flies" and "fly" have different stems
    words = {term: {term, re.sub("ies$", "y", term), *get_synonyms(term, asked.language)} for term in missing}
    matcher = TermMatcher(sorted(set().union(*words.values())), asked.language)
    texts = _list_texts(library)
    for piece in chain.from_iterable(map(_iter_pieces, texts)):
        if not missing:
            break
        folded = fold_term(piece) if matcher.language is Language.GERMAN else ""
        found = {term for *_, term in matcher.locate(piece)}
        missing = {
            term: word
            for term, word in missing.items()
            if words[term].isdisjoint(found) and reduce_word(term, matcher.language) not in folded
        }
    return [*missing.values()] if texts else []


def _list_texts(library: Library) -> list[str]:
    """Return all texts of a library, or none if it is not fully loaded or too long to scan."""
    texts = [document.text for document in library.documents]
    is_scanned = not library.unloaded_files and sum(map(len, texts)) <= _SCANNED_LENGTH_MAX
    return texts if is_scanned else []


def _compile_phrase(phrase: str) -> re.Pattern[str]:
    return re.compile(r"[\W_]*".join(_WORD.findall(phrase.casefold())))


def _compile_name(word: str) -> re.Pattern[str]:
    """Compile a pattern for all forms in which a folded text may have a name."""
    forms = [re.escape(_ENDING.sub("", _fold(word))), *map(re.escape, _NAME_PARTS.findall(word))]
    if word.isupper() and word.isalpha():  # EBIT is not EBITDA, and PPNE is PP&E
        forms = [
            rf"{re.escape(form)}(?![^\W\d_]{{2}})" for form in (word.lower(), word.lower().replace("n", "&"))
        ]
    elif word.isdecimal() and int(word) >= _GROUPED_MIN:
        forms.append(f"{int(word):,}")
    elif word[0].isdigit() and word[-1].isdigit():  # a clause such as 2.5.1
        forms[0] = rf"(?<![\d.]){forms[0]}(?!\d)"
    return re.compile("|".join(forms))


def _iter_pieces(text: str) -> Iterator[str]:
    """Yield a text in pieces that end with a line. No other thread could run while a long text is folded."""
    start = 0
    while start < len(text):
        end = text.find("\n", start + _PIECE_LENGTH) + 1 or len(text)
        yield text[start:end]
        start = end


def _fold(text: str) -> str:
    return text.casefold().replace("-", "")
