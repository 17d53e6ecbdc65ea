"""What is said about a question that has no answer."""

import re

from roamtui.search.lexicon import make_pattern

NOT_FOUND_START = "Not found:"
"""How the prompt asks a model to begin if the text has no answer."""


def is_not_found(answer: str, *, has_source: bool = True) -> bool:
    """Return whether an answer says that nothing was found, in the words of the prompt or translated.

    In an answer with a source, these words count only if no word follows in the same line: "Not found errors
    are logged" is a sentence about something else.
    """
    ending = r"(?![^\S\n]*[^\W_])" if has_source else ""
    start = re.compile(rf"(?:{make_pattern('not found')}){ending}", re.IGNORECASE)
    return start.match(answer.lstrip("*_#> \n")) is not None
