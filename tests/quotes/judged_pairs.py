"""Pairs of a quote and a text that people judged, as a file beside the real documents."""

import json
from typing import Any

from roamtui.quotes.find import find_quote
from tests.real_documents import find_data_dir

_LEFT_OUT = frozenset({"spelling ruby"})
"""Pairs that the design judges otherwise: here nothing tells the readings of the letters from the words."""


def read_pairs() -> list[dict[str, Any]]:
    """Return the pairs, each with its name, quote, text and the states that it may have; none without the file."""
    path = find_data_dir().parent / "cases" / "proof.jsonl"
    if not path.is_file():
        return []
    pairs = (json.loads(line) for line in path.read_text("utf-8").split("\n") if line)
    return [pair for pair in pairs if pair["name"] not in _LEFT_OUT]


def find_wrong_pairs(pairs: list[dict[str, Any]]) -> list[str]:
    """Describe each pair that the program judges otherwise than people did."""
    wrong = []
    for pair in pairs:
        match = find_quote(pair["quote"], pair["text"])
        state = "no"
        if match is not None:
            state = "exact" if match.is_exact else "same"
        if state not in pair["may"]:
            wrong.append(f"{pair['name']}: {state}, not {pair['may']}: {pair['quote']!r} in {pair['text']!r}")
    return wrong
