"""By what form an answer is known: a question for a number, an age, a time or a price, in some languages."""

from __future__ import annotations

import re

from roamtui.search.words import make_pattern

MONTHS = make_pattern("months")
"""Names of months, as alternatives of a pattern in lower case."""
_AGE_WORDS = ("age", "lebensjahr", "alter", "edad", "岁", "歳")
_FORMS = tuple(
    (re.compile(make_pattern(f"asks for {form}"), re.IGNORECASE), re.compile(make_pattern(form), re.IGNORECASE))
    for form in ("age", "duration", "time", "price", "number")
)
"""By what a question is known, and by what the sentence that answers it; the more exact first."""


def find_answer_form(question: str) -> re.Pattern[str] | None:
    """Return what a sentence should hold that answers a question for a number, an age, a time or a price.

    Returns:
        A pattern to search sentences for; None where the question asks for nothing of the kind.
    """
    return next((answered for asked, answered in _FORMS if asked.search(question)), None)


def list_implied(question: str) -> tuple[str, ...]:
    """Return the words that a question asks for without saying them: a text says age where one asks how old."""
    return _AGE_WORDS if _FORMS[0][0].search(question) else ()
