"""Says which texts are figures: numbers as tables write them."""

import re

FIGURE = (
    r"(?:(?:[A-Z]{1,2}\s?)?[$€£¥]\s?)?[(\[]?\s?[-–—−+~<>±]?\s?[$€£¥]?\s?"
    r"(?:\d{1,3}(?:[\s'’]\d{3})+(?:[.,]\d+)?|\d[\d.,]*|[.,]\d+)(?:[eE][-+]?\d+)?\s?[)\]]?\s?[%$€£¥]?\s?[)\]]?"
)
"""Pattern for a number with its currency, sign, brackets and percent sign, without a unit in letters."""
_FIGURE = re.compile(FIGURE)


def is_figure(text: str) -> bool:
    """Return whether a text is only a number. A year is one too, but it may be the head of a column."""
    return _FIGURE.fullmatch(text) is not None
