"""Queries, parsed for the index."""

from __future__ import annotations

import pytest

from roamtui.search.query import correct_query, parse_query


def test_an_identifier_is_searched_whole_and_in_parts() -> None:
    assert parse_query("max_tokens").expression == '"max" OR "tokens" OR names : "maxx5ftokens0" OR "max tokens"'


@pytest.mark.parametrize("text", ['"load balancing" rules', "“load balancing” rules", "„load balancing“ rules"])
def test_quoted_words_are_a_phrase(text: str) -> None:
    query = parse_query(text)
    assert query.phrases == '"load balancing"'
    assert query.expression == '"load" OR "balancing" OR "rules"'


@pytest.mark.parametrize("text", ["", " ", "***", '""', "\0", "🙂"])
def test_no_word_no_expression(text: str) -> None:
    query = parse_query(text)
    assert (query.terms, query.expression, query.phrases) == ((), "", "")


def test_corrections_are_searched_too() -> None:
    query = correct_query(parse_query("instalation gide"), {"gide": ["guide", "gilded"]})
    assert query.expression == '"instalation" OR "gide" OR "guide" OR "gilded"'
    assert query.stems == {"instal", "guid", "gild"}


def test_inflected_forms_are_searched_in_german() -> None:
    assert parse_query("Wer wählt den Rat?").prefixes == ('"wahl" *', '"gewahl" *')
    assert parse_query("Who elects the board?").prefixes == ()
