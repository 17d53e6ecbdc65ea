"""Queries, parsed for the index."""

from __future__ import annotations

import pytest

from roamtui.search.query import correct_query, parse_query


def test_an_identifier_is_searched_as_a_phrase_and_by_its_words() -> None:
    assert parse_query("max_tokens").fts_terms == ('"max"', '"tokens"', '"max tokens"')


@pytest.mark.parametrize("text", ["", " ", "***", '""', "\0", "🙂"])
def test_no_word_no_expression(text: str) -> None:
    query = parse_query(text)
    assert (query.terms, query.fts_terms) == ((), ())


def test_corrections_are_searched_too() -> None:
    query = correct_query(parse_query("instalation gide"), {"gide": ["guide", "gilded"]})
    assert query.fts_terms == ('"instalation"', '"gide"', '"guide"', '"gilded"')
    assert query.stems == {"instal", "guid", "gild"}


def test_inflected_forms_are_searched_in_german() -> None:
    assert parse_query("Wer wählt den Rat?").prefixes == ('"wahl" *', '"gewahl" *')
    assert parse_query("Who elects the board?").prefixes == ()
