"""Pairs of a quote and a text that people judged, as a file beside the real documents."""

import json

from roamtui.quotes.find import find_quote
from tests.real_documents import find_data_dir

_LEFT_OUT = frozenset({"spelling ruby"})
"""Pairs that the design judges otherwise: in this text, nothing tells the readings of the letters from its words."""


def read_pairs() -> list[dict[str, str]]:
    """Return the pairs, each with its name, its quote, its text and what is right; none if there is no file."""
    path = find_data_dir().parent / "cases" / "quotes.jsonl"
    if not path.is_file():
        return []
    pairs = (json.loads(line) for line in path.read_text("utf-8").split("\n") if line)
    return [pair for pair in pairs if pair["name"] not in _LEFT_OUT]


def find_wrong_pairs(pairs: list[dict[str, str]]) -> list[str]:
    """Describe each pair that the program judges otherwise than people did."""
    wrong = []
    for pair in pairs:
        told = "not_found" if find_quote(pair["quote"], pair["text"]) is None else "found"
        if told != pair["right"]:
            wrong.append(f"{pair['name']}: {told}, but {pair['right']}: {pair['quote']!r} in {pair['text']!r}")
    return wrong
