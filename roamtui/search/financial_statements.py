"""Find the financial statements that a question names."""

import re
from collections.abc import Iterator, Mapping
from functools import cache

from roamtui.search.index import SectionIndex
from roamtui.search.lexicon import make_pattern

_TITLES_MAX = 500
"""Maximum number of titles that are compared with a name."""
_NAMED_MAX = 4
_DOCUMENT_SHARE = 0.5
"""A document's sections count as asked for only if its best has this share of the best score of all."""
_ROWS_MIN = 8
"""Minimum number of table rows of a financial statement. A section with fewer only mentions it."""
_TITLE_LENGTH_MAX = 200
_STATEMENTS = ("income", "balance", "cash")
_STATEMENT_TITLES = "title : (statement OR sheet OR (profit AND loss))"


def find_financial_statements(
    index: SectionIndex, question: str, within: range, scores: Mapping[int, float]
) -> list[int]:
    """Return the statements that a question names by title, or by a line such as "gross margin", best first.

    A statement often shares no other word with the question: a balance sheet does not contain "quick ratio".
    With the statements, 13 instead of 11 of 16 first requests for which they were not tuned have the
    evidence, and 12 instead of 4 of 14 others.

    For each kind of statement, at most one section of each document is returned: one at the highest level,
    and of these, the one with the best score. `scores` are those of sections for the question's words.
    """
    best_scores: dict[int, float] = {}
    for number, score in scores.items():
        key = id(index.numbering.locate(number)[0])
        best_scores[key] = max(score, best_scores.get(key, 0.0))
    score_min = _DOCUMENT_SHARE * max(best_scores.values(), default=0.0)
    numbers: dict[int, None] = {}
    for kind in _STATEMENTS:
        if not _compile(f"statement {kind} names", f"statement {kind} lines").search(question):
            continue
        best: dict[int, tuple[int, float, int]] = {}
        for number in _list_statements(index, kind, within):
            document, row = index.numbering.locate(number)
            if best_scores.get(id(document), 0.0) >= score_min:
                order = (document.columns.levels[row], -scores.get(number, 0.0), number)
                best[id(document)] = min(order, best.get(id(document), order))
        numbers |= dict.fromkeys(number for *_, number in sorted(best.values(), key=lambda order: order[1:]))
    return [*numbers][:_NAMED_MAX]


def _list_statements(index: SectionIndex, kind: str, within: range) -> Iterator[int]:
    """Yield the sections with the title and the table of a kind of statement.

    The table may also be in the first subsection, whose title is then the name of the company.
    """
    names = _compile(f"statement {kind} names")
    noise = _compile("statement title noise")
    for number, _ in index.rank(_STATEMENT_TITLES, within, _TITLES_MAX):
        title = index.title(number)[:_TITLE_LENGTH_MAX]
        if names.fullmatch(" ".join(noise.sub(" ", title).split())):
            text = "".join(map(index.own_text, index.numbering.subtree(number)[:2]))
            if text.count("\n|") >= _ROWS_MIN:
                yield number


@cache
def _compile(*list_names: str) -> re.Pattern[str]:
    return re.compile("|".join(map(make_pattern, list_names)), re.IGNORECASE)
