"""What is said about a question that has no answer."""

import re

NOT_FOUND_START = "Not found:"
"""How the prompt asks a model to begin if the text has no answer."""


def is_not_found(answer: str) -> bool:
    """Return whether an answer says that nothing was found, in the words of the prompt or translated.

    If a word follows in the same line, as in "Not found errors are logged", these words begin a sentence.
    """
    from roamtui.search.lexicon import make_pattern  # noqa: PLC0415

    start = re.compile(rf"(?:{make_pattern('not found')})(?![^\S\n]*[^\W_])", re.IGNORECASE)
    return start.match(answer.lstrip("*_#> \n")) is not None
