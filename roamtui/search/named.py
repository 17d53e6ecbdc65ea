"""Find the sections that a question names: "the balance sheet", "Table 4", "section 12.3", "the installation page".

Such a section often shares no other word with the question: a balance sheet does not contain "quick ratio".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import partial

from roamtui.search.index import SectionIndex, stem_title
from roamtui.search.lexicon import list_lines, list_words, make_pattern, stem
from roamtui.search.query import Query
from roamtui.search.segments import title_of
from roamtui.search.terms import tokenise

_TITLES_MAX = 500
"""Maximum number of titles that are compared with a name."""
_TEXTS_MAX = 100
"""Maximum number of texts that are searched for a caption, if no title matches."""
_NAMED_MAX = 4
"""Maximum number of sections that are returned for a question."""
_DOCUMENT_SHARE = 0.5
"""A document's sections count as named only if the best of them has at least this share of the best score of all."""
_DOCUMENT_SECTIONS_MIN = 30
"""Minimum mean number of sections per document for a question to name a document. Web pages have 3 to 10."""
_OTHER_YEAR_SHARE = 0.5
_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_MENTIONS_MAX = 2_000
"""Maximum number of sections with a word that are counted to find out whether the word is a name."""
_MENTIONS_SHARE = 0.5
"""A word names documents if more than this share of the sections that contain it are in these documents."""
_ROWS_MIN = 8
"""Minimum number of table rows of a financial statement. A section with fewer only mentions it."""
_READ_SECTIONS_MAX = 8_000
"""Maximum number of sections in which statements are found by their row labels too. This is slow, because any question
may contain a label."""
_CAPTIONED_LENGTH_MAX = 5_000
"""Maximum length of the text that a caption belongs to, in characters."""
_TITLE_LENGTH_MAX = 200
_STATEMENTS = ("income", "balance", "cash")


def _compile(list_name: str) -> re.Pattern[str]:
    return re.compile(make_pattern(list_name), re.IGNORECASE)


_STATEMENT_NAMES = {kind: _compile(f"statement {kind} names") for kind in _STATEMENTS}
_ANY_STATEMENT = re.compile("|".join(names.pattern for names in _STATEMENT_NAMES.values()), re.IGNORECASE)
_STATEMENT_LINES = {
    kind: re.compile(f"{_STATEMENT_NAMES[kind].pattern}|{make_pattern(f'statement {kind} lines')}", re.IGNORECASE)
    for kind in _STATEMENTS
}
_STATEMENT_NOISE = _compile("statement title noise")
_STATEMENT_TITLES = "title : (statement OR sheet OR (profit AND loss))"
_ROW_LABEL = re.compile(r"^\| ?([^\W\d_]+ [^|,(:\n]+)", re.MULTILINE)
"""The label of a table row, if it has several words."""
_PART_KINDS = list_lines("numbered parts")
"""Kinds of parts, each with its names. A title may also have the number of a part without its kind."""
_ITEM_KINDS = list_lines("numbered items")
_KINDS = tuple(line.split() for line in (*_PART_KINDS, *_ITEM_KINDS))
_NUMBER = r"(?:\d+[A-Za-z]?(?:[.-]\d+[A-Za-z]?)*|[A-Z](?:[.-]?\d+(?:[.-]\d+)*)?|[IVXL]+)(?!\w)"
_ANY_KIND = "|".join(f"(?P<kind{number}>{'|'.join(names)})" for number, names in enumerate(_KINDS))
_NUMBERED = re.compile(
    rf"(?<!\w)(?i:(?:{_ANY_KIND})s?)\.?\s*(?P<numbers>{_NUMBER}(?:(?:\s*[,&]\s*|\s+(?:and|or|und|et|y)\s+){_NUMBER})*)"
)
_NEXT_CAPTION = re.compile(rf"[ \t>*_]*(?:(?i:{_ANY_KIND})\W*{_NUMBER}|\d+(?:\.\d+)+(?!\w))")
_MARKS = r"[ \t>*_|(\[]*"
_CAPTION_END = r"(?=[*_)\]\s]*(?:[.:|\u2013\u2014-]|[^\W\d_a-z]|$))"
"""The characters after the number of a caption. In a sentence about a table, a verb follows the number."""
_TITLED = _compile("titled parts")
_PART_WORDS = frozenset(map(stem, list_words("part words")))
_RELEASE = _compile("release words")
_RELEASE_STEMS = frozenset(map(stem, list_words("release titles")))
_VERSION = re.compile(r"(?<![\w.])v?(\d+(?:\.\d+)+)(?!\w)", re.IGNORECASE)
_ROMAN_SIGNS = ((50, "L"), (40, "XL"), (10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I"))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Name:
    """A name by which a question refers to sections."""

    expression: str
    """FTS5 expression that the sections match."""
    matches: Callable[[str], object] = bool
    """Checks whether a title fits."""
    caption: re.Pattern[str] | None = None
    """Pattern of the start of a line in the text, such as "Table 4"; None if the name is a title."""
    above: frozenset[str] = frozenset()
    """Stems. The title, a title above it or the path of the file must contain one of them."""
    is_statement: bool = False
    question_stems: str = ""
    """Stems of the question. If they are not empty, they must contain the label of a row of the statement."""


def find_named_sections(
    index: SectionIndex, question: str, within: range, scores: Mapping[int, float], documents: Collection[range] = ()
) -> dict[int, tuple[int, int]]:
    """Return the sections that a question names, best first, each with the span of its own text that is named.

    For each name, at most one section of each document is returned: preferably one inside another named section, then
    one at the highest level, then one with the best score. `scores` has the scores of sections for the words of the
    question. If the question names `documents` too, only their sections are returned.
    """
    best_scores: dict[int, float] = {}
    for number, score in scores.items():
        key = id(index.layout.locate(number)[0])
        best_scores[key] = max(score, best_scores.get(key, 0.0))
    score_min = _DOCUMENT_SHARE * max(best_scores.values(), default=0.0)
    matches = [
        next(filter(None, (_match_name(index, name, within) for name in names)), {})
        for names in _list_names(question, reads_rows=len(within) <= _READ_SECTIONS_MAX)
    ]
    found: dict[int, tuple[int, int]] = {}
    for named in matches:
        others = frozenset(number for other in matches if other is not named for number in other)
        best: dict[int, tuple[bool, int, float, int]] = {}
        for number in named:
            document, row = index.layout.locate(number)
            is_meant = not documents or any(number in inside for inside in documents)
            if is_meant and best_scores.get(id(document), 0.0) >= score_min:
                is_outside = others.isdisjoint(
                    _iter_ancestors(index, number)
                )  # prefer Section 8 inside Article 1 for "Article 1, Section 8"
                order = (is_outside, document.columns.levels[row], -scores.get(number, 0.0), number)
                best[id(document)] = min(order, best.get(id(document), order))
        found |= {order[-1]: named[order[-1]] for order in sorted(best.values(), key=lambda order: order[2:])}
    containing = {ancestor for number in found for ancestor in _iter_ancestors(index, number)}
    return {number: found[number] for number in [number for number in found if number not in containing][:_NAMED_MAX]}


def _match_name(index: SectionIndex, name: _Name, within: range) -> dict[int, tuple[int, int]]:
    found = {}
    for number in index.list_matches(name.expression, within, _TITLES_MAX if name.caption is None else _TEXTS_MAX):
        if name.caption is not None:
            text = index.own_text(number)
            if (caption := name.caption.search(text)) is not None:
                found[number] = (caption.start(), _find_end(text, caption.start()))
        elif (
            name.matches(title_of(*index.layout.locate(number)))
            and (not name.above or name.above & index.path_stems(number))
            and (not name.is_statement or _has_statement_table(index, number, name.question_stems))
        ):
            found[number] = (0, len(index.own_text(number)))
    return found


def _iter_ancestors(index: SectionIndex, number: int) -> Iterator[int]:
    while (number := index.layout.parent(number)) >= 0:
        yield number


def find_named_documents(index: SectionIndex, question: str, query: Query) -> dict[range, float]:
    """Return the ranges of the documents that a question names by title or file name, each with a factor up to 1.

    The factor is for the bonus of its sections. It is lower for documents of another year than the question.

    This is for folders of long documents. The pages of a site are named after topics, not after companies or products.
    A word is a name only if most sections that contain it are in these documents: "Boeing", not "report".
    """
    names = index.document_names
    if len(names) < 2 or len(index) < _DOCUMENT_SECTIONS_MIN * len(names):
        return {}
    capitals = frozenset(tokenise(" ".join(word for word in question.split() if not word.islower())))
    pairs = [tuple(tokenise(pair)) for pair in query.neighbours]
    found: dict[range, str] = {}
    # a lower-case word counts as a name only if no capitalised word does
    for words in sorted((*((word,) for word in query.words), *pairs), key=capitals.isdisjoint):
        if found and capitals.isdisjoint(words):
            break
        forms = (f" {' '.join(words)} ", f" {''.join(words)} ")
        named = {numbers: name for numbers, name in names if any(form in name for form in forms)}
        if 0 < len(named) < len(names) and not found.keys() >= named.keys() and not "".join(words).isdigit():
            matches = index.list_matches(f'body : "{" ".join(words)}"', range(len(index)), _MENTIONS_MAX)
            inside = sum(any(number in numbers for numbers in named) for number in matches)
            if inside > _MENTIONS_SHARE * len(matches):
                found |= named
    years = _YEAR.findall(question)
    dated = {numbers for numbers, name in found.items() if any(year in name for year in years)}
    return {numbers: 1.0 if numbers in dated or not dated else _OTHER_YEAR_SHARE for numbers in found}


def _list_names(question: str, *, reads_rows: bool) -> Iterator[tuple[_Name, ...]]:
    """Yield the names in a question, each as a tuple of its possible meanings, likeliest first."""
    kinds = [kind for kind in _STATEMENTS if _STATEMENT_LINES[kind].search(question)]
    for names in [_STATEMENT_NAMES[kind] for kind in kinds] or [_ANY_STATEMENT] * reads_rows:
        question_stems = "" if kinds else _join_stems(question)
        is_title = partial(_is_statement, names)
        yield (_Name(expression=_STATEMENT_TITLES, matches=is_title, is_statement=True, question_stems=question_stems),)
    for match in _NUMBERED.finditer(question):
        index = next(index for index in range(len(_KINDS)) if match[f"kind{index}"])
        yield from (_list_numbered_meanings(index, number) for number in re.findall(_NUMBER, match["numbers"]))
    for match in _TITLED.finditer(question):
        title = match[match.lastgroup or 0]
        stems = _stem_bare(title)
        words = [f'"{word}"' for word in tokenise(title) if stem(word) in stems]
        if words:
            yield (_Name(expression=f"title : ({' AND '.join(words)})", matches=partial(_has_stems, stems)),)
    for version in _VERSION.findall(question) if _RELEASE.search(question) else ():
        spaced = version.replace(".", " ")
        exact = re.compile(rf"(?<![\w.])v?{re.escape(version)}(?:\.0)*(?!\w|\.\d)", re.IGNORECASE)
        expression = f'title : ("{spaced}" OR "v{spaced}")'
        yield (_Name(expression=expression, matches=exact.search, above=_RELEASE_STEMS),)


def _is_statement(names: re.Pattern[str], title: str) -> bool:
    return names.fullmatch(" ".join(_STATEMENT_NOISE.sub(" ", title[:_TITLE_LENGTH_MAX]).split())) is not None


def _has_statement_table(index: SectionIndex, number: int, question_stems: str) -> bool:
    """Check whether a section has the table of a statement.

    The table may also be in the first subsection, whose title is then the name of the company.
    """
    text = "".join(map(index.own_text, index.layout.subtree(number)[:2]))
    if text.count("\n|") < _ROWS_MIN:
        return False
    return not question_stems or any(_join_stems(label) in question_stems for label in _ROW_LABEL.findall(text))


def _join_stems(text: str) -> str:
    return f" {' '.join(map(stem, tokenise(text)))} "


def _has_stems(stems: frozenset[str], title: str) -> bool:
    return _stem_bare(title) == stems


def _stem_bare(title: str) -> frozenset[str]:
    """Return the stems of a title without its number and words such as "section"."""
    return frozenset(word for word in stem_title(title) if not word.isdigit()) - _PART_WORDS


def _list_numbered_meanings(kind_index: int, number: str) -> tuple[_Name, ...]:
    """Return the possible meanings of a name such as "section 12.3", likeliest first.

    The number may be in a title with this kind of part, without a kind, or with another kind; or in a caption.
    """
    is_part = kind_index < len(_PART_KINDS)
    names, others = _KINDS[kind_index], [name for kind in _KINDS[: len(_PART_KINDS)] for name in kind]
    forms = [number, *_convert_roman(number)]
    numbers = f"(?:{'|'.join(map(re.escape, forms))})(?!\\w|[.-]?\\d)"
    phrases = [" ".join(tokenise(form)) for form in forms]
    either = " OR ".join(f'"{phrase}"' for phrase in phrases)
    words = " OR ".join(filter(str.isalpha, others if is_part else names))
    first = "".join(f' OR ^"{phrase}"' for phrase in phrases) if is_part else ""
    patterns = [rf"\W*(?i:{'|'.join(names)})\W*{numbers}"]
    if is_part:
        patterns += [rf"[^\w§]*{numbers}", rf"\W*(?i:{'|'.join(others)})\W*{numbers}"]
    titles = (
        _Name(expression=f"title : ((({words}) AND ({either})){first})", matches=re.compile(pattern).match)
        for pattern in patterns
    )
    is_dotted = is_part and "." in number
    captions = (
        either if is_dotted else " OR ".join(f'"{n} {phrase}"' for n in names if n.isalpha() for phrase in phrases)
    )
    caption = rf"(?m)^{_MARKS}(?:(?i:{'|'.join(names)})\W*){'?' if is_dotted else ''}{numbers}{_CAPTION_END}"
    return (*titles, _Name(expression=f"body : ({captions})", caption=re.compile(caption)))


def _convert_roman(number: str) -> tuple[str, ...]:
    """Convert an Arabic number up to 50 to a Roman one, or the other way round. Return nothing for other numbers."""
    for value in range(1, 51) if number.isalnum() else ():
        roman, rest = "", value
        for amount, sign in _ROMAN_SIGNS:
            roman += sign * (rest // amount)
            rest %= amount
        if number in (roman, str(value)):
            return (roman if number == str(value) else str(value),)
    return ()


def _find_end(text: str, start: int) -> int:
    """Return the end of the text that a caption belongs to, which is the end of a table or before the next caption."""
    end = start
    for block in re.compile(r"(?:[^\n]+(?:\n|$))+").finditer(text, start, start + _CAPTIONED_LENGTH_MAX):
        if end > start and _NEXT_CAPTION.match(text, block.start()):
            break
        end = block.end()
        if text[block.start()] == "|":
            break
    return end
