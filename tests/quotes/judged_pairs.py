"""Pairs of a quote and a text that people judged, as a file beside the real documents."""

from __future__ import annotations

import json

from tests.quotes.finder import find_quote
from tests.real_documents import find_data_dir


def read_pairs() -> list[dict[str, str]]:
    """Return the pairs, each with its name, its quote, its text and what is right; none if there is no file."""
    path = find_data_dir().parent / "cases" / "quotes.jsonl"
    return [json.loads(line) for line in path.read_text("utf-8").split("\n") if line] if path.is_file() else []


def find_wrong_pairs(pairs: list[dict[str, str]]) -> list[str]:
    """Describe each pair that the program judges otherwise than people did."""
    wrong = []
    for pair in pairs:
        told = "not_found" if find_quote(pair["quote"], pair["text"]) is None else "found"
        if told != pair["right"]:
            wrong.append(f"{pair['name']}: {told}, but {pair['right']}: {pair['quote']!r} in {pair['text']!r}")
    return wrong
